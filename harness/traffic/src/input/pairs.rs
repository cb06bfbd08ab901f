//! Requests and answers as they go over the wire (RFC 9112): each request, as `xs2aspec sign --out` writes
//! it, and then its answer, if it had one. Lines end with LF or CRLF. A body has as many bytes as its
//! Content-Length says; the body of an answer without one ends at a line `###`, before the next request or at
//! the end of the file, and a request without one has none, nor has an answer that never has one (section
//! 6.3). Interim answers (RFC 9110, section 15.2) are passed over. Lines that are empty or begin with `###`
//! may stand between messages.

use std::io::{BufRead, Read};

use chrono::{DateTime, Utc};
use xs2aspec_record::lines::{LONGEST, LONGEST_WORDS};

use super::{InputError, Piece};
use xs2aspec_judge::traffic::{Payload, Received, Sent, Traffic};

/// The longest line that is read.
const MOST_LINE: u64 = 1 << 20;

/// What stands between exchanges.
const SEPARATOR: &[u8] = b"###";

/// Whether a text begins as a request does, or with what may stand before one.
pub(super) fn begins(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with("###") || start_of_request(line).is_some()
}

/// Reads such a file.
pub fn read(
    name: &str,
    file: &mut dyn BufRead,
    now: DateTime<Utc>,
    take: &mut dyn FnMut(Piece) -> bool,
) -> Result<(), InputError> {
    let mut lines = Lines { file, number: 0, left: LONGEST };
    let mut number = 0;
    let mut next = lines.start().map_err(|what| wrong(name, 1, what))?;
    while let Some(line) = next {
        number += 1;
        lines.left = LONGEST;
        let fail = |what: String| wrong(name, number, what);
        let (method, target) = start_of_request(&line)
            .ok_or_else(|| fail(format!("line {}: expected `METHOD PATH HTTP/1.1`", lines.number)))?;
        let (method, target) = (method.to_owned(), target.to_owned());
        let headers = lines.fields().map_err(fail)?;
        let length = length(&headers).map_err(fail)?;
        let body = Payload::Bytes(lines.body(length.unwrap_or_default()).map_err(fail)?);
        next = lines.start().map_err(fail)?;
        let mut answer = None;
        while let Some(status) = next.as_deref().and_then(start_of_answer) {
            let status =
                status.map_err(|()| fail(format!("line {}: expected `HTTP/1.1 STATUS`", lines.number)))?;
            let headers = lines.fields().map_err(fail)?;
            let mut behind = None;
            let body = if method == "HEAD" || matches!(status, 100..=199 | 204 | 304) {
                Vec::new()
            } else if let Some(length) = self::length(&headers).map_err(fail)? {
                lines.body(length).map_err(fail)?
            } else {
                let (body, next) = lines.rest().map_err(fail)?;
                behind = next;
                body
            };
            next = match behind {
                Some(line) => Some(line),
                None => lines.start().map_err(fail)?,
            };
            if status >= 200 {
                answer = Some(crate::decoded(Received { status, headers, body: Payload::Bytes(body) }));
                break;
            }
        }
        let url = url(&target, &headers);
        let request = Sent { method, url, headers, body, is_restored: false };
        let began = dated(request.header("date")).or_else(|| dated(answer.as_ref()?.header("date")));
        let failure = answer.is_none().then(|| "the file has no answer".to_owned());
        let began = began.unwrap_or(now);
        let traffic = Traffic { number, label: None, began, micros: 0, request, answer, failure };
        if !take(Piece::Traffic(Box::new(traffic))) {
            break;
        }
    }
    Ok(())
}

fn wrong(file: &str, number: u64, what: String) -> InputError {
    InputError::Entry { file: file.to_owned(), number, what }
}

fn start_of_request(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let [method, target, version] = words[..] else { return None };
    let is_method =
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_method && version.starts_with("HTTP/") && !target.is_empty()).then_some((method, target))
}

/// The status of an answer, if a line begins one.
fn start_of_answer(line: &str) -> Option<Result<u16, ()>> {
    let rest = line.strip_prefix("HTTP/")?;
    let status = rest.split(' ').nth(1).and_then(|word| word.trim().parse().ok());
    Some(status.filter(|status| (100..=999).contains(status)).ok_or(()))
}

fn length(headers: &[(String, String)]) -> Result<Option<u64>, String> {
    let field = |name: &str| headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    if field("transfer-encoding").is_some() {
        return Err(
            "expected Content-Length, found Transfer-Encoding: write the body as it was before it".to_owned()
        );
    }
    let Some((_, text)) = field("content-length") else { return Ok(None) };
    let length = text.trim().parse().ok().filter(|length| *length <= LONGEST);
    length
        .map(Some)
        .ok_or_else(|| format!("expected a Content-Length of at most {LONGEST}, found another text"))
}

/// The URL of a request: its target, or that at its host. Traffic with banks is encrypted.
fn url(target: &str, headers: &[(String, String)]) -> String {
    if target.contains("://") {
        return target.to_owned();
    }
    let host = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = host.map_or("localhost", |(_, host)| host.as_str());
    format!("https://{host}{target}")
}

/// A time as a Date header has it (RFC 9110, section 5.6.7).
fn dated(text: Option<&str>) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc2822(text?.trim()).ok()?.with_timezone(&Utc))
}

struct Lines<'a> {
    file: &'a mut dyn BufRead,
    /// Number of the line that was read last.
    number: u64,
    /// Bytes that this exchange may still have.
    left: u64,
}

impl Lines<'_> {
    /// The next line without its end; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        if self.left == 0 {
            return Err(format!("expected at most {LONGEST_WORDS}, found more"));
        }
        let mut line = Vec::new();
        let read = (&mut *self.file).take(MOST_LINE).read_until(b'\n', &mut line);
        let read = read.map_err(|error| format!("cannot be read: {error}"))?;
        if read == 0 {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(read as u64);
        self.number += 1;
        if read as u64 == MOST_LINE {
            return Err(format!("line {}: expected at most {MOST_LINE} bytes", self.number));
        }
        if line.ends_with(b"\n") {
            line.pop();
        }
        if line.ends_with(b"\r") {
            line.pop();
        }
        Ok(Some(line))
    }

    /// The first line of the next message.
    fn start(&mut self) -> Result<Option<String>, String> {
        while let Some(line) = self.line()? {
            if !line.is_empty() && !line.starts_with(SEPARATOR) {
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
        Ok(None)
    }

    fn fields(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut fields = Vec::new();
        loop {
            let Some(line) = self.line()? else {
                return Err(format!(
                    "line {}: expected an empty line after the header fields, found the end of the file",
                    self.number
                ));
            };
            if line.is_empty() {
                return Ok(fields);
            }
            let text = String::from_utf8_lossy(&line);
            let field = text.split_once(':').filter(|(name, _)| !name.is_empty() && !name.contains(' '));
            let Some((name, value)) = field else {
                return Err(format!("line {}: expected `Name: value`", self.number));
            };
            fields.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    fn body(&mut self, length: u64) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        self.left = self.left.saturating_sub(length);
        let read = (&mut *self.file).take(length).read_to_end(&mut body);
        let read = read.map_err(|error| format!("cannot be read: {error}"))?;
        if read as u64 != length {
            return Err(format!(
                "expected {length} bytes of a body after line {}, found {read}",
                self.number
            ));
        }
        self.number += body.split(|byte| *byte == b'\n').skip(1).count() as u64;
        Ok(body)
    }

    /// The bytes up to a separator or a request, without the end of the line before it; and the line that
    /// begins the request.
    fn rest(&mut self) -> Result<(Vec<u8>, Option<String>), String> {
        let (mut body, mut next) = (Vec::new(), None);
        while let Some(line) = self.line()? {
            if line.starts_with(SEPARATOR) {
                break;
            }
            let text = str::from_utf8(&line).ok().filter(|text| start_of_request(text).is_some());
            if let Some(text) = text {
                next = Some(text.to_owned());
                break;
            }
            body.extend_from_slice(&line);
            body.push(b'\n');
        }
        if body.ends_with(b"\n") {
            body.pop();
        }
        Ok((body, next))
    }
}
