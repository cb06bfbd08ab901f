//! What was seen between a client and a bank.

use std::time::Duration;

use crate::budget::Kept;

/// Something that was seen.
#[derive(Debug)]
pub enum Sighting {
    /// A request and what came of it.
    Exchange(Box<Exchange>),
    /// From here on nothing of a connection is read; its bytes pass.
    Unread {
        /// Number of the connection, from 1.
        connection: u64,
        /// Why.
        why: String,
    },
    /// There is no connection to the bank, so that the client's was closed.
    Unreachable {
        /// Number of the connection, from 1.
        connection: u64,
        /// Why.
        why: String,
    },
}

/// A request and what came of it.
#[derive(Debug)]
pub struct Exchange {
    /// Number of the connection, from 1.
    pub connection: u64,
    /// When its first byte came, since the proxy began.
    pub at: Duration,
    /// From its first byte to the last one of the answer.
    pub took: Duration,
    /// The request.
    pub request: Request,
    /// The answer, as far as it was seen.
    pub answer: Option<Answer>,
    /// Why there is no whole answer.
    pub failure: Option<String>,
}

/// A request, as it came from the client.
#[derive(Debug)]
pub struct Request {
    /// Method.
    pub method: String,
    /// Target, as the first line has it.
    pub target: String,
    /// Header fields in the order and letter case of the wire; bytes that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// Body, out of its chunks.
    pub body: Kept,
    /// Whether the body came to its end.
    pub is_whole: bool,
}

/// An answer, as it came from the bank.
#[derive(Debug)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Header fields in the order and letter case of the wire; bytes that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// Body, out of its chunks; a content coding is still there.
    pub body: Kept,
    /// Whether the body came to its end.
    pub is_whole: bool,
}
