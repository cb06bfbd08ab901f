//! The runner from outside: answers judged, and messages sent over real sockets.

mod response_clauses;
mod response_mutations;
mod response_rows;
mod transport;
