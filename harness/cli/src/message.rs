//! A request in a file, in the format of HTTP/1.1 (RFC 9112, section 2.1). Lines may end with LF or CRLF when
//! read, and end with CRLF when written.

use std::path::Path;

use xs2aspec_signing::RequestTarget;

use crate::Failure;

/// A request to sign or to verify.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) fields: Vec<(String, String)>,
    /// The names of the headers whose values are not UTF-8 in the file, and were read as ISO-8859-1.
    pub(crate) latin_1: Vec<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) target: Option<RequestTarget>,
}

impl Request {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Parses the bytes of a file.
    pub(crate) fn read(bytes: &[u8], path: &Path) -> Result<Self, Failure> {
        let wrong =
            |line: usize, what: &str| Failure::input(format!("{}:{line}: expected {what}", path.display()));
        let (head, body) = [&b"\r\n\r\n"[..], b"\n\n"]
            .into_iter()
            .filter_map(|end| {
                bytes.windows(end.len()).position(|part| part == end).map(|at| (at, at + end.len()))
            })
            .min()
            .map_or((bytes, &[][..]), |(end, body)| (&bytes[..end], &bytes[body..]));
        let mut lines =
            head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let start = lines.next().and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
        let words: Vec<&str> = start.split(' ').collect();
        let [method, target, version] = words[..] else { return Err(wrong(1, "METHOD PATH HTTP/1.1")) };
        if !is_token(method) || !version.starts_with("HTTP/") {
            return Err(wrong(1, "METHOD PATH HTTP/1.1"));
        }
        let mut request = Self {
            target: Some(RequestTarget { method: method.to_owned(), path: target.to_owned() }),
            body: body.to_owned(),
            ..Self::default()
        };
        for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            let (text, is_latin_1) = match std::str::from_utf8(line) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (line.iter().map(|byte| char::from(*byte)).collect(), true),
            };
            let field = text.split_once(':').filter(|(name, _)| is_token(name));
            let (name, value) = field.ok_or_else(|| wrong(number + 2, "`Name: value`"))?;
            if is_latin_1 {
                request.latin_1.push(name.to_owned());
            }
            request.fields.push((name.to_owned(), value.trim().to_owned()));
        }
        Ok(request)
    }

    /// Returns the bytes of a file. Returns `None` if method and path are unknown.
    pub(crate) fn write(&self) -> Option<Vec<u8>> {
        let target = self.target.as_ref()?;
        let mut bytes = format!("{} {} HTTP/1.1\r\n", target.method, target.path).into_bytes();
        for (name, value) in &self.fields {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        Some(bytes)
    }
}

/// Returns true if a string can be a method or a header name (RFC 9110, section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    let special = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || special(byte))
}
