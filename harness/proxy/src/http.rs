//! HTTP/1.1 in one direction (RFC 9112), read piece by piece as it passes.

mod body;
mod head;
mod lines;
mod reader;

pub(crate) use self::body::Framing;
pub(crate) use self::head::RequestHead;
pub use self::head::ResponseHead;
pub(crate) use self::reader::{Part, Reader};

/// Why a message cannot be read, in words that follow on `the request` or `the answer`.
pub(crate) type Broken = &'static str;
