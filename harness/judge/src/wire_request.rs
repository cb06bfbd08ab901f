//! A request as it goes over the wire.

/// A request as bytes: what is digested, signed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    /// HTTP method.
    pub method: String,
    /// Whole URL.
    pub url: String,
    /// Header fields in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// Body; empty for none.
    pub body: Vec<u8>,
    /// Whether the header section must go out exactly so.
    pub exact: bool,
}
