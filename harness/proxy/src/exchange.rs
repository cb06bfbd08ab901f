//! Sightings of the traffic between a client and a bank.

use std::time::Duration;

use crate::budget::Kept;

/// A sighting.
#[derive(Debug)]
pub enum Sighting {
    /// A request and its result.
    Exchange(Box<Exchange>),
    /// The rest of a connection is forwarded without being read.
    Unread {
        /// Number of the connection, from 1.
        connection: u64,
        /// The reason.
        why: String,
    },
    /// The bank is unreachable, so the connection of the client was closed.
    Unreachable {
        /// Number of the connection, from 1.
        connection: u64,
        /// The reason.
        why: String,
    },
}

/// A request and its result.
#[derive(Debug)]
pub struct Exchange {
    /// Number of the connection, from 1.
    pub connection: u64,
    /// Arrival of its first byte, since the start of the proxy.
    pub at: Duration,
    /// Time from its first byte to the last byte of the response.
    pub took: Duration,
    /// The request.
    pub request: Request,
    /// The response, as far as it was received.
    pub answer: Option<Answer>,
    /// Reason why the response is missing or incomplete.
    pub failure: Option<String>,
}

/// A request as received from the client.
#[derive(Debug)]
pub struct Request {
    /// Method.
    pub method: String,
    /// Target, as in the request line.
    pub target: String,
    /// Headers in the order and case of the wire. Invalid UTF-8 is replaced with U+FFFD.
    pub headers: Vec<(String, String)>,
    /// Body, without chunk framing.
    pub body: Kept,
    /// True if the body is complete.
    pub is_whole: bool,
}

/// A response as received from the bank.
#[derive(Debug)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Headers in the order and case of the wire. Invalid UTF-8 is replaced with U+FFFD.
    pub headers: Vec<(String, String)>,
    /// Body, without chunk framing but still with its content coding.
    pub body: Kept,
    /// True if the body is complete.
    pub is_whole: bool,
}
