//! Reads requests and responses as sent (RFC 9112). Each request, in the form that `xs2aspec sign --out`
//! writes, is followed by its response, if there is one. Lines end with LF or CRLF. Empty lines and lines
//! that start with `###` may separate messages. Interim responses (RFC 9110, section 15.2) are skipped.
//!
//! A body is chunked or has the length in Content-Length (section 6.3). Without either, a request has no
//! body. A response then ends at a line `###`, before the next request or at the end of the file. After an
//! unreadable message, reading continues at the next line `###` or request.

use std::io::{self, BufRead, Read};

use chrono::{DateTime, Utc};
use xs2aspec_record::lines::{LONGEST, LONGEST_WORDS};

use super::{InputError, Piece, Unread, quirks};
use xs2aspec_judge::traffic::{Payload, Received, Sent, Traffic, header};

/// Maximum length of a line, in bytes.
const MOST_LINE: u64 = 1 << 20;

/// The separator between exchanges.
const SEPARATOR: &[u8] = b"###";

/// Returns true if the string starts with a request or a separator.
pub(super) fn begins(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with("###") || start_of_request(line).is_some()
}

/// Reads such a file.
pub(super) fn read(
    name: &str,
    file: &mut dyn BufRead,
    now: DateTime<Utc>,
    take: &mut dyn FnMut(Piece) -> bool,
) -> Result<(), InputError> {
    let mut lines = Lines { file, number: 0, left: LONGEST };
    let mut number = 0;
    let broken = |error| InputError::File(name.to_owned(), error);
    let mut next = lines.next_start().map_err(broken)?;
    while let Some(line) = next {
        number += 1;
        lines.left = LONGEST;
        let piece = match lines.exchange((number, &line), now) {
            Ok((traffic, line)) => {
                next = line;
                Piece::Traffic(Box::new(traffic))
            }
            Err(why) => {
                let (method, target) = start_of_request(&line).unwrap_or_default();
                let url = if target.is_empty() { String::new() } else { url(target, &[]) };
                next = lines.next_start().map_err(broken)?;
                Piece::Unread(Unread { number, method: method.to_owned(), url, why })
            }
        };
        if !take(piece) {
            break;
        }
    }
    Ok(())
}

fn start_of_request(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let [method, target, version] = words[..] else { return None };
    let is_method =
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_method && version.starts_with("HTTP/") && !target.is_empty()).then_some((method, target))
}

/// Returns the status of a response if the line starts one.
fn start_of_answer(line: &str) -> Option<Result<u16, ()>> {
    let rest = line.strip_prefix("HTTP/")?;
    let status = rest.split(' ').nth(1).and_then(|word| word.trim().parse().ok());
    Some(status.filter(|status| (100..=999).contains(status)).ok_or(()))
}

/// Returns true if the body is chunked and has no other transfer coding (RFC 9112, section 7).
fn is_chunked(headers: &[(String, String)]) -> Result<bool, String> {
    match header(headers, "transfer-encoding").map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "identity") => Ok(false),
        Some("chunked") => Ok(true),
        Some(_) => {
            Err("expected the Transfer-Encoding `chunked`, found another: write the body without it"
                .to_owned())
        }
    }
}

fn length(headers: &[(String, String)]) -> Result<Option<u64>, String> {
    let Some(text) = header(headers, "content-length") else { return Ok(None) };
    let length = text.parse().ok().filter(|length| *length <= LONGEST);
    length
        .map(Some)
        .ok_or_else(|| format!("expected a Content-Length of at most {LONGEST}, found something else"))
}

/// Returns the URL of a request, from its target and host. The scheme is https, as for any traffic with
/// banks.
fn url(target: &str, headers: &[(String, String)]) -> String {
    if target.contains("://") {
        return target.to_owned();
    }
    format!("https://{}{target}", header(headers, "host").unwrap_or("localhost"))
}

/// Parses the value of a Date header (RFC 9110, section 5.6.7).
fn dated(text: Option<&str>) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc2822(text?.trim()).ok()?.with_timezone(&Utc))
}

/// A body, and the first line of the next message if that ended the body.
type Body = (Vec<u8>, Option<String>);

struct Lines<'a> {
    file: &'a mut dyn BufRead,
    /// Number of the last line read.
    number: u64,
    /// Number of bytes that this exchange may still have.
    left: u64,
}

impl Lines<'_> {
    /// Reads an exchange whose request starts with `line`. Also returns the first line after it.
    fn exchange(
        &mut self,
        (number, line): (u64, &str),
        now: DateTime<Utc>,
    ) -> Result<(Traffic, Option<String>), String> {
        let (method, target) = start_of_request(line).ok_or_else(|| self.wrong("`METHOD PATH HTTP/1.1`"))?;
        let mut headers = self.fields()?;
        quirks::host_of_authority(&mut headers, "", None);
        let (body, has_length) = match length(&headers)? {
            _ if is_chunked(&headers)? => (self.chunks()?.0, true),
            length => (self.bytes(length.unwrap_or_default())?, length.is_some()),
        };
        let mut next = self.start()?;
        let is_start = |line: &str| start_of_answer(line).is_some() || start_of_request(line).is_some();
        if next.as_deref().is_some_and(|line| !is_start(line)) {
            return Err(if has_length {
                self.wrong("a response or a request after the number of bytes in Content-Length")
            } else {
                self.wrong("a response or a request") + ": a request with a body needs its Content-Length"
            });
        }
        let mut answer = None;
        while let Some(status) = next.as_deref().and_then(start_of_answer) {
            let status = status.map_err(|()| self.wrong("`HTTP/1.1 STATUS`"))?;
            let headers = self.fields()?;
            let (body, behind) = self.body_of_answer((method, status), &headers)?;
            next = match behind {
                Some(line) => Some(line),
                None => self.start()?,
            };
            if status >= 200 {
                let received = Received { status, headers, body: Payload::Bytes(body) };
                answer = Some(crate::coding::decoded_unless_json(received));
                break;
            }
        }
        let (method, url) = (method.to_owned(), url(target, &headers));
        let request = Sent { method, url, headers, body: Payload::Bytes(body), changed: None };
        let began = dated(request.header("date")).or_else(|| dated(answer.as_ref()?.header("date")));
        let failure = answer.is_none().then(|| "the file has no response".to_owned());
        let began = began.unwrap_or(now);
        Ok((Traffic { number, label: None, began, micros: 0, request, answer, failure }, next))
    }

    /// Returns an error about the last line read.
    fn wrong(&self, expected: &str) -> String {
        format!("line {}: expected {expected}, found something else", self.number)
    }

    fn body_of_answer(
        &mut self,
        (method, status): (&str, u16),
        headers: &[(String, String)],
    ) -> Result<Body, String> {
        if method == "HEAD" || matches!(status, 100..=199 | 204 | 304) {
            return Ok((Vec::new(), None));
        }
        match length(headers)? {
            _ if is_chunked(headers)? => self.chunks(),
            Some(length) => Ok((self.bytes(length)?, None)),
            None => self.rest(Vec::new()),
        }
    }

    /// Reads a chunked body (RFC 9112, section 7.1). Some tools decode the chunks and keep the header.
    fn chunks(&mut self) -> Result<Body, String> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?.unwrap_or_default();
            let text = String::from_utf8_lossy(&line);
            let digits = text.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(digits, 16).ok().filter(|size| *size <= LONGEST);
            match size {
                Some(0) => {
                    // Trailer fields.
                    while self.line()?.is_some_and(|line| !line.is_empty()) {}
                    return Ok((body, None));
                }
                Some(size) => {
                    body.extend(self.bytes(size)?);
                    if self.line()?.is_none_or(|line| !line.is_empty()) {
                        return Err(self.wrong("the end of a chunk"));
                    }
                }
                None if body.is_empty() => return self.rest(line),
                None => return Err(self.wrong("the size of a chunk")),
            }
        }
    }

    /// Returns the next line that starts a request or that follows a line `###`.
    fn next_start(&mut self) -> io::Result<Option<String>> {
        let mut is_behind = self.number == 0;
        loop {
            let mut line = Vec::new();
            let read = (&mut *self.file).take(MOST_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += u64::from(line.ends_with(b"\n"));
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            let is_between = text.is_empty() || text.starts_with("###");
            if !is_between && (is_behind || start_of_request(&text).is_some()) {
                return Ok(Some(text));
            }
            is_behind |= line.starts_with(SEPARATOR);
        }
    }

    /// Returns the next line without its line ending. Returns `None` at the end of the file.
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

    /// Returns the first line of the next message.
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
                    "line {}: expected an empty line after the headers, found the end of the file",
                    self.number
                ));
            };
            if line.is_empty() {
                return Ok(fields);
            }
            let text = String::from_utf8_lossy(&line);
            // Dumps of HTTP/2 start with pseudo-headers such as `:authority` (RFC 9113, section 8.3).
            let colon = text.match_indices(':').map(|(at, _)| at).find(|at| *at > 0);
            let field = colon.map(|at| text.split_at(at)).filter(|(name, _)| !name.contains(' '));
            let Some((name, value)) = field else {
                return Err(self.wrong("`Name: value`"));
            };
            fields.push((name.to_owned(), value[1..].trim().to_owned()));
        }
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, String> {
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

    /// Reads up to a separator or a request, without the preceding line ending. Also returns the line that
    /// starts the request.
    fn rest(&mut self, begin: Vec<u8>) -> Result<Body, String> {
        let (mut body, mut next) = (begin, None);
        if !body.is_empty() {
            body.push(b'\n');
        }
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
