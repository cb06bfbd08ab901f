//! The proxy between real sockets: what passes is what was sent, whatever it is.

mod bytes;
