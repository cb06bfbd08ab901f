//! The header fields of a request.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::table::Header;

/// The headers of one request. Names are matched without regard to case (RFC 9110 section 5.1).
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a HeaderMap);

impl<'a> Fields<'a> {
    /// The lines of a field, in their order.
    pub fn lines(self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> + use<'a> {
        self.0.get_all(name).iter().map(HeaderValue::as_bytes)
    }

    /// The value of a field, or `None` where the request has no such field. Lines of the same name are joined
    /// with `, ` in their order (RFC 9110 section 5.3), and white space around each is dropped.
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

    /// The value of the first line of a field, with what stands around it.
    pub(crate) fn as_it_came(self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).map(|line| line.as_bytes().to_vec())
    }

    /// The value as text; bytes that are not UTF-8 become replacement characters, which no closed format
    /// allows.
    pub fn text(self, header: Header) -> Option<String> {
        let bytes = self.bytes(header.name())?;
        Some(
            String::from_utf8(bytes)
                .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()),
        )
    }

    /// Whether the field is there and says something.
    pub fn has(self, header: Header) -> bool {
        self.bytes(header.name()).is_some_and(|value| !value.is_empty())
    }
}
