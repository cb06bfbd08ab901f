//! One HTTP/1.1 message (RFC 9112), as far as a gateway parses it.

use std::io;

use httparse::{EMPTY_HEADER, Request, Response};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const MOST_HEADERS: usize = 256;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A header as it was sent.
pub(super) type Header = (String, Vec<u8>);

/// A message with its body decoded from the transfer coding.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// The first line without its end.
    pub(super) start: String,
    pub(super) headers: Vec<Header>,
    pub(super) body: Vec<u8>,
    /// The message byte for byte.
    pub(super) raw: Vec<u8>,
}

impl Message {
    /// Returns the first value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }

    /// Replaces a header, or adds it.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.as_bytes().to_vec()));
    }

    /// Removes every header of this name.
    pub(super) fn remove(&mut self, name: &str) {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    }

    /// Returns the status code of a response.
    pub(super) fn status(&self) -> u16 {
        self.start.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default()
    }

    /// Returns true if the sender ends the connection after this message (RFC 9112 section 9.6).
    pub(super) fn closes(&self) -> bool {
        self.header("connection").is_some_and(|value| value.to_ascii_lowercase().contains("close"))
    }

    /// Returns true if the message has a body, or declares an empty one.
    fn has_length(&self) -> bool {
        self.header("content-length").is_some() || self.header("transfer-encoding").is_some()
    }

    /// Renders the message with a Content-Length instead of a transfer coding.
    pub(super) fn render(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.start).into_bytes();
        let framing = ["content-length", "transfer-encoding"];
        for (name, value) in &self.headers {
            if !framing.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
                bytes.extend_from_slice(name.as_bytes());
                bytes.extend_from_slice(b": ");
                bytes.extend_from_slice(value);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        if self.has_length() || !self.body.is_empty() {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// One end of a connection, with the bytes that were read and not used yet.
pub(super) struct End {
    pub(super) stream: TcpStream,
    buffer: Vec<u8>,
}

/// The side of a message: a request, or the response to a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Request,
    Response { to_head: bool },
}

impl End {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// Returns the bytes that were read but do not belong to a message yet.
    pub(super) fn unused(&self) -> &[u8] {
        &self.buffer
    }

    /// Reads a message. Returns None if the connection ends before one begins.
    ///
    /// Fails with `InvalidData` if the bytes are not HTTP. They are still [`unused`](Self::unused) then.
    pub(super) async fn message(&mut self, side: Side) -> io::Result<Option<Message>> {
        let (start, headers, length) = loop {
            if let Some(head) = head(&self.buffer, side)? {
                break head;
            }
            if !self.read_more().await? {
                return if self.buffer.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        };
        let mut message = Message { start, headers, body: Vec::new(), raw: Vec::new() };
        if message.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let end = self.body(&mut message, length, side).await?;
        message.raw = self.buffer.drain(..end).collect();
        Ok(Some(message))
    }

    /// Reads the body of a message whose head ends at `start`, and returns where the message ends.
    async fn body(&mut self, message: &mut Message, start: usize, side: Side) -> io::Result<usize> {
        let is_bodiless = match side {
            Side::Request => false,
            Side::Response { to_head } => to_head || matches!(message.status(), 100..=199 | 204 | 304),
        };
        if is_bodiless {
            return Ok(start);
        }
        if message.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return self.chunks(message, start).await;
        }
        let length = match (message.header("content-length"), side) {
            (Some(length), _) => length.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?,
            (None, Side::Request) => 0,
            (None, Side::Response { .. }) => {
                while self.read_more().await? {}
                self.buffer.len() - start
            }
        };
        let end = start + length;
        while self.buffer.len() < end {
            self.need_more().await?;
        }
        message.body = self.buffer[start..end].to_vec();
        Ok(end)
    }

    /// Reads a chunked body (RFC 9112 section 7.1) and returns where the message ends.
    async fn chunks(&mut self, message: &mut Message, mut at: usize) -> io::Result<usize> {
        loop {
            let line_end = self.line_end(at).await?;
            let line = String::from_utf8_lossy(&self.buffer[at..line_end]).into_owned();
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            at = line_end + 2;
            if size == 0 {
                break;
            }
            while self.buffer.len() < at + size + 2 {
                self.need_more().await?;
            }
            message.body.extend_from_slice(&self.buffer[at..at + size]);
            at += size + 2;
        }
        // The trailers end with an empty line.
        loop {
            let line_end = self.line_end(at).await?;
            let is_last = line_end == at;
            at = line_end + 2;
            if is_last {
                return Ok(at);
            }
        }
    }

    /// Returns the end of the line that starts at `at`, without its CR LF.
    async fn line_end(&mut self, at: usize) -> io::Result<usize> {
        loop {
            let line = self.buffer.get(at..).unwrap_or_default();
            if let Some(end) = line.windows(2).position(|pair| pair == b"\r\n") {
                return Ok(at + end);
            }
            self.need_more().await?;
        }
    }

    async fn need_more(&mut self) -> io::Result<()> {
        if self.read_more().await? { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads more bytes. Returns false at the end of the connection.
    async fn read_more(&mut self) -> io::Result<bool> {
        if self.buffer.len() > MOST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }
}

/// Parses a head. Returns None if its end is not there yet, and else its first line, its headers and its
/// length.
fn head(bytes: &[u8], side: Side) -> io::Result<Option<(String, Vec<Header>, usize)>> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let invalid = |error: httparse::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let parsed = match side {
        Side::Request => Request::new(&mut headers).parse(bytes),
        Side::Response { .. } => Response::new(&mut headers).parse(bytes),
    };
    let httparse::Status::Complete(length) = parsed.map_err(invalid)? else { return Ok(None) };
    let start = bytes.split(|byte| *byte == b'\n').find(|line| line.len() > 1).unwrap_or_default();
    let start = String::from_utf8_lossy(start).trim_end().to_owned();
    let headers = headers.iter().take_while(|header| !header.name.is_empty());
    let headers = headers.map(|header| (header.name.to_owned(), header.value.to_vec())).collect();
    Ok(Some((start, headers, length)))
}
