//! A request in the form in which it is sent.

/// A request as bytes, as it is digested, signed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    /// HTTP method.
    pub method: String,
    /// Whole URL.
    pub url: String,
    /// Headers in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// Body, empty if there is none.
    pub body: Vec<u8>,
    /// True if the headers must be sent byte by byte as given.
    pub exact: bool,
}
