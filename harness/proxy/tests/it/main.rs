//! The proxy between real sockets: it forwards every byte, loses nothing that it saw, and does not wait forever.

mod bytes;
mod loss;
mod patience;
mod support;
