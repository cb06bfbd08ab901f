//! Incomplete heads of requests. HTTP libraries wait for the rest without an explanation. This bank responds
//! with what is missing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use xs2aspec_bank::refusal::{Code, Refusal};

use crate::log;
use crate::stream::{Connection, Stream};

/// The maximum length of a head to inspect. The HTTP library limits longer ones.
const HEAD_LIMIT: usize = 1 << 16;

/// The time limit for heads, and true to log a timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    pub(crate) patience: Duration,
    pub(crate) log: bool,
}

impl Waiter {
    /// Wraps a connection so that heads must arrive in time.
    pub(crate) fn over(self, stream: impl Stream + 'static) -> Connection {
        let timer = Box::pin(sleep_until(Instant::now()));
        Box::pin(Patient {
            stream: Box::pin(stream),
            waiter: self,
            stage: Stage::Between,
            timer,
            answer: None,
        })
    }
}

/// The position of a connection within a request.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// Before the first byte.
    Between,
    /// In the head, with the bytes received so far.
    Head(Vec<u8>),
    /// In the body, with the number of bytes to come.
    Body(u64),
    /// Unknown: another version of HTTP, or a chunked body.
    Beyond,
}

impl Stage {
    /// Returns the stage after these bytes.
    fn after(mut self, mut bytes: &[u8]) -> Self {
        while !bytes.is_empty() {
            self = match self {
                Self::Between => {
                    // Empty lines before a request are ignored (RFC 9112 section 2.2).
                    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
                    bytes = &bytes[start.unwrap_or(bytes.len())..];
                    if start.is_some() { Self::Head(Vec::new()) } else { Self::Between }
                }
                Self::Head(mut head) => {
                    let known = head.len();
                    head.extend_from_slice(bytes);
                    match end(&head, known) {
                        Some(end) => {
                            bytes = &bytes[end - known..];
                            head.truncate(end);
                            body(&head)
                        }
                        None if head.len() > HEAD_LIMIT => Self::Beyond,
                        None => return Self::Head(head),
                    }
                }
                Self::Body(left) => {
                    let now = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = &bytes[now..];
                    let left = left - now as u64;
                    if left == 0 { Self::Between } else { Self::Body(left) }
                }
                Self::Beyond => return Self::Beyond,
            };
        }
        self
    }
}

/// Returns the end of the head, including the empty line. Lines that end before `known` are skipped. A bare
/// LF also ends a line (RFC 9112 section 2.2).
fn end(head: &[u8], known: usize) -> Option<usize> {
    let start = known.saturating_sub(3);
    let lines = (start..head.len()).filter(|at| head[*at] == b'\n').map(|at| at + 1);
    lines.into_iter().find_map(|at| match &head[at..] {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}

/// Returns the stage after a complete head.
fn body(head: &[u8]) -> Stage {
    if head.starts_with(b"PRI * HTTP/2") {
        return Stage::Beyond;
    }
    let mut length = Some(0);
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") || name.eq_ignore_ascii_case(b"upgrade") {
            return Stage::Beyond;
        }
    }
    match length {
        Some(0) => Stage::Between,
        Some(length) => Stage::Body(length),
        None => Stage::Beyond,
    }
}

/// A connection that responds with 408 (RFC 9110 section 15.5.9) to an incomplete head, and closes.
struct Patient {
    stream: Connection,
    waiter: Waiter,
    stage: Stage,
    /// The deadline of the current head.
    timer: Pin<Box<Sleep>>,
    /// The unsent part of the response after the deadline.
    answer: Option<Vec<u8>>,
}

impl Patient {
    /// Writes the response.
    fn give_up(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.answer.is_none() {
            let refusal = unfinished(&self.stage, self.waiter.patience);
            if self.waiter.log {
                log::unfinished(&refusal.text());
            }
            self.answer = Some(written(&refusal));
        }
        while let Some(answer) = self.answer.as_mut().filter(|answer| !answer.is_empty()) {
            let sent = ready!(self.stream.as_mut().poll_write(context, answer))?;
            if sent == 0 {
                break;
            }
            answer.drain(..sent);
        }
        self.stream.as_mut().poll_flush(context)
    }
}

/// Rejects a request with an incomplete head.
fn unfinished(stage: &Stage, patience: Duration) -> Refusal {
    let came = if let Stage::Head(head) = stage { head.len() } else { 0 };
    let within = patience.as_secs_f64();
    let says =
        format!("expected the empty line that ends the head within {within} s, got {came} bytes without it");
    Refusal::new(StatusCode::REQUEST_TIMEOUT, Code::BadRequest, "http.head", says)
}

/// Formats a response in HTTP/1.1. The HTTP library has no request to respond to.
fn written(refusal: &Refusal) -> Vec<u8> {
    let body = refusal.body().to_string();
    let status = refusal.status;
    let reason = status.canonical_reason().unwrap_or_default();
    format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        status.as_u16(),
        body.len()
    )
    .into_bytes()
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.answer.is_some() {
            return self.give_up(context);
        }
        let before = buffer.filled().len();
        if self.stream.as_mut().poll_read(context, buffer)?.is_ready() {
            let stage = std::mem::replace(&mut self.stage, Stage::Beyond);
            let had_begun = matches!(stage, Stage::Head(_));
            self.stage = stage.after(&buffer.filled()[before..]);
            if matches!(self.stage, Stage::Head(_)) && !had_begun {
                let due = Instant::now() + self.waiter.patience;
                self.timer.as_mut().reset(due);
            }
            return Poll::Ready(Ok(()));
        }
        if matches!(self.stage, Stage::Head(_)) {
            ready!(self.timer.as_mut().poll(context));
            return self.give_up(context);
        }
        Poll::Pending
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the stage after these bytes, received in pieces of this size.
    fn stage(bytes: &[u8], piece: usize) -> Stage {
        bytes.chunks(piece).fold(Stage::Between, Stage::after)
    }

    #[test]
    fn it_is_told_where_a_request_is() {
        let head = |head: &str| Stage::Head(head.as_bytes().to_vec());
        let table = [
            ("", Stage::Between),
            ("\r\n", Stage::Between),
            ("\r\nGET", head("GET")),
            ("GET / HTTP/1.1\r\nHost: a\r\n", head("GET / HTTP/1.1\r\nHost: a\r\n")),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Stage::Between),
            ("GET / HTTP/1.1\nHost: a\n\n", Stage::Between),
            ("POST / HTTP/1.1\r\ncontent-LENGTH: 5\r\n\r\n", Stage::Body(5)),
            ("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n{\n\n", Stage::Body(2)),
            ("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n{\n\n\n}GE", head("GE")),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Stage::Beyond),
            ("POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", Stage::Beyond),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Stage::Beyond),
        ];
        for (bytes, expected) in table {
            for piece in [1, 2, 7, 1000] {
                assert_eq!(stage(bytes.as_bytes(), piece), expected, "{bytes:?} in pieces of {piece}");
            }
        }
        assert_eq!(stage(&vec![b'a'; HEAD_LIMIT + 1], 4096), Stage::Beyond);
    }
}
