//! Reads HTTP/1.1 in one direction (RFC 9112), piece by piece as it passes.

mod body;
mod head;
mod lines;
mod reader;

pub(crate) use self::body::Framing;
pub(crate) use self::head::RequestHead;
pub use self::head::ResponseHead;
pub(crate) use self::reader::{Part, Reader};

/// The reason why a message cannot be read, as a phrase that follows `a request` or `the response`.
pub(crate) type Broken = &'static str;
