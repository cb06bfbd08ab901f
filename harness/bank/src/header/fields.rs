//! The header fields of a request.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::table::Header;

/// The headers of one request. Names are case-insensitive (RFC 9110 section 5.1).
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a HeaderMap);

impl<'a> Fields<'a> {
    /// Returns the values of all lines of a header, in their order.
    pub fn lines(self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> + use<'a> {
        self.0.get_all(name).iter().map(HeaderValue::as_bytes)
    }

    /// Returns the value of a header, or None if the request does not have it. Lines of the same name are
    /// trimmed and joined with `, ` in their order (RFC 9110 section 5.3).
    pub fn bytes(self, name: &str) -> Option<Vec<u8>> {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut lines = self.0.get_all(name).iter().map(|line| line.as_bytes().trim_ascii());
        let mut value = lines.next()?.to_vec();
        for line in lines {
            value.extend_from_slice(b", ");
            value.extend_from_slice(line);
        }
        Some(value)
    }

    /// Returns the value of the first line, with the white space around it.
    pub(crate) fn as_it_came(self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).map(|line| line.as_bytes().to_vec())
    }

    /// Returns the value as a string. Invalid UTF-8 is replaced with U+FFFD, which no closed format allows.
    pub fn text(self, header: Header) -> Option<String> {
        let bytes = self.bytes(header.name())?;
        Some(
            String::from_utf8(bytes)
                .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()),
        )
    }

    /// Returns true if the header is present and not empty.
    pub fn has(self, header: Header) -> bool {
        self.bytes(header.name()).is_some_and(|value| !value.is_empty())
    }
}
