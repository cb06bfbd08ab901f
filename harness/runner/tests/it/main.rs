//! The runner from outside: messages sent over real sockets.

mod transport;
