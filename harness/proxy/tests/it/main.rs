//! The proxy between real sockets: it forwards every byte, reports everything that it saw, and always stops
//! waiting.

mod bytes;
mod loss;
mod patience;
mod support;
