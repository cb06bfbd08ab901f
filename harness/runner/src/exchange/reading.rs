//! Reads a response from a connection, byte by byte (RFC 9112). The part that was received is kept even if
//! the response is incomplete.

use futures::FutureExt as _;
use tokio::io::{AsyncRead, AsyncReadExt};
use xs2aspec_proxy::ResponseHead;

use super::{Answer, Cause, ExchangeError, MALFORMED, MOST_BODY, MOST_HEAD, Trouble};

/// Number of interim responses (1xx) to skip. A server that sends more is broken.
const MOST_INTERIM: usize = 100;
/// Maximum length of a chunk size with its extensions, and of all trailers, in characters.
const MOST_LINE: usize = 16 * 1024;

/// Reads the final response on a connection into `seen` and skips interim responses (1xx). After an error,
/// `seen` has the part that was received.
pub async fn read(stream: impl AsyncRead + Unpin, seen: &mut Option<Answer>) -> Result<(), ExchangeError> {
    let mut reader = Reader { stream, buffer: Vec::new(), at: 0 };
    for _ in 0..=MOST_INTERIM {
        let (status, headers) = reader.head().await?;
        if !(100..200).contains(&status) {
            let answer = seen.insert(Answer { status, headers, body: Vec::new() });
            reader.body(answer).await?;
            answer.headers.extend(reader.excess().map(|found| (MALFORMED.to_owned(), found)));
            return Ok(());
        }
    }
    Err(broken(&format!("there are more than {MOST_INTERIM} interim responses (1xx)")))
}

fn broken(what: &str) -> ExchangeError {
    ExchangeError::Broken(what.into())
}

fn no_http(what: &str) -> ExchangeError {
    ExchangeError::Broken(Trouble { cause: Cause::NoHttp, says: what.to_owned() })
}

struct Reader<S> {
    stream: S,
    /// Bytes read so far. Those before `at` are consumed.
    buffer: Vec<u8>,
    at: usize,
}

impl<S: AsyncRead + Unpin> Reader<S> {
    /// Returns the bytes that are not consumed.
    fn rest(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Reads more bytes. Returns false at the end of the stream.
    async fn more(&mut self) -> Result<bool, ExchangeError> {
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
        }
        let read = self.stream.read_buf(&mut self.buffer).await;
        read.map(|bytes| bytes > 0).map_err(|error| ExchangeError::Broken(error.to_string().into()))
    }

    async fn demand_more(&mut self) -> Result<(), ExchangeError> {
        if self.more().await? { Ok(()) } else { Err(broken("the connection ended too early")) }
    }

    /// Reads a status line and header lines.
    async fn head(&mut self) -> Result<(u16, Vec<(String, String)>), ExchangeError> {
        let mut looked_at = 0;
        loop {
            let rest = self.rest();
            if !rest.iter().zip(b"HTTP/1.").all(|(found, expected)| found == expected) {
                return Err(no_http("not HTTP/1.1"));
            }
            // Parses only after an empty line, not after each read.
            let from = looked_at.min(rest.len());
            let is_end = |end: &[u8]| end.starts_with(b"\n\n") || end.ends_with(b"\n\n") || end == b"\n\r\n";
            let ends = rest[from..].windows(3).any(is_end);
            looked_at = rest.len().saturating_sub(2);
            let head =
                |rest| ResponseHead::read(rest).map_err(|error| no_http(&format!("not HTTP/1.1: {error}")));
            if ends && let Some(head) = head(rest)? {
                self.at += head.length;
                return Ok((head.status, head.headers));
            }
            if rest.len() > MOST_HEAD {
                return Err(broken(&format!("its header section is longer than {MOST_HEAD} bytes")));
            }
            self.demand_more().await?;
        }
    }

    /// Reads the body according to RFC 9112 section 6.3.
    async fn body(&mut self, answer: &mut Answer) -> Result<(), ExchangeError> {
        if matches!(answer.status, 204 | 304) {
            return Ok(());
        }
        // The last coding determines the framing.
        let last = items(answer, "transfer-encoding").next_back();
        match last.map(|coding| coding.eq_ignore_ascii_case("chunked")) {
            Some(true) => return self.chunks(&mut answer.body).await,
            Some(false) => return self.until_close(&mut answer.body).await,
            None => {}
        }
        let Some(length) = content_length(answer)? else { return self.until_close(&mut answer.body).await };
        if length > MOST_BODY {
            return Err(too_long());
        }
        self.exactly(&mut answer.body, length).await
    }

    /// Reads until the server closes the connection.
    async fn until_close(&mut self, body: &mut Vec<u8>) -> Result<(), ExchangeError> {
        while self.take(body, usize::MAX)? || self.more().await? {}
        Ok(())
    }

    /// Reads a chunked body (RFC 9112 section 7.1). Skips extensions and trailers.
    async fn chunks(&mut self, body: &mut Vec<u8>) -> Result<(), ExchangeError> {
        loop {
            let size = self.chunk_size().await?;
            if size == 0 {
                return self.trailers().await;
            }
            if size > MOST_BODY - body.len().min(MOST_BODY) {
                return Err(too_long());
            }
            self.exactly(body, size).await?;
            while self.rest().len() < 2 {
                self.demand_more().await?;
            }
            if !self.rest().starts_with(b"\r\n") {
                return Err(broken("a chunk does not end at its declared size"));
            }
            self.at += 2;
        }
    }

    async fn chunk_size(&mut self) -> Result<usize, ExchangeError> {
        loop {
            // The parser accepts a line without digits as size 0.
            if self.rest().first().is_some_and(|first| !first.is_ascii_hexdigit()) {
                return Err(broken("a chunk has no size"));
            }
            match httparse::parse_chunk_size(self.rest()) {
                Ok(httparse::Status::Complete((length, size))) => {
                    self.at += length;
                    return Ok(usize::try_from(size).unwrap_or(usize::MAX));
                }
                Ok(httparse::Status::Partial) if self.rest().len() <= MOST_LINE => self.demand_more().await?,
                _ => return Err(broken("a chunk has no size")),
            }
        }
    }

    /// Skips the lines after the last chunk, up to an empty line. The response is complete even without them.
    async fn trailers(&mut self) -> Result<(), ExchangeError> {
        let mut passed = 0;
        loop {
            while let Some(end) = self.rest().iter().position(|byte| *byte == b'\n') {
                let is_empty = self.rest()[..end].iter().all(|byte| *byte == b'\r');
                self.at += end + 1;
                passed += end + 1;
                if is_empty || passed > MOST_LINE {
                    return Ok(());
                }
            }
            if self.rest().len() > MOST_LINE || !self.more().await.unwrap_or(false) {
                return Ok(());
            }
        }
    }

    /// Returns a marker if bytes follow the response. A connection is used for one request, so nothing may
    /// follow (RFC 9112 section 6.3).
    fn excess(&mut self) -> Option<String> {
        let is_there = !self.rest().is_empty() || matches!(self.more().now_or_never(), Some(Ok(true)));
        is_there.then(|| "(bytes after its end)".to_owned())
    }

    async fn exactly(&mut self, body: &mut Vec<u8>, length: usize) -> Result<(), ExchangeError> {
        let end = body.len() + length;
        loop {
            self.take(body, end)?;
            if body.len() == end {
                return Ok(());
            }
            self.demand_more().await?;
        }
    }

    /// Moves available bytes to the body, up to this length of the body. Returns true if there were any.
    fn take(&mut self, body: &mut Vec<u8>, end: usize) -> Result<bool, ExchangeError> {
        let count = self.rest().len().min(end - body.len());
        body.extend_from_slice(&self.buffer[self.at..self.at + count]);
        self.at += count;
        if body.len() > MOST_BODY { Err(too_long()) } else { Ok(count > 0) }
    }
}

/// Returns the items of a list header, which may span several lines (RFC 9110 section 5.6.1).
fn items<'a>(answer: &'a Answer, header: &str) -> impl DoubleEndedIterator<Item = &'a str> {
    let lines = answer.headers.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(header));
    lines.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

/// Returns the length of the body in bytes. It consists only of digits. If it occurs more than once, all
/// values must be equal (RFC 9112 section 6.3).
fn content_length(answer: &Answer) -> Result<Option<usize>, ExchangeError> {
    let Some((_, first)) =
        answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
    else {
        return Ok(None);
    };
    let mut lengths = items(answer, "content-length");
    let length = lengths.next().unwrap_or_default();
    if let Some(other) = lengths.find(|other| *other != length) {
        return Err(broken(&format!("Content-Length is `{length}` and `{other}`")));
    }
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(broken(&format!("Content-Length is `{first}`")));
    }
    // A number that does not fit exceeds the limit for bodies anyway.
    Ok(Some(length.parse().unwrap_or(usize::MAX)))
}

fn too_long() -> ExchangeError {
    ExchangeError::Broken(format!("its body is longer than {MOST_BODY} bytes").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that returns its bytes in pieces of one length and then ends.
    struct Pieces<'a>(&'a [u8], usize);

    impl AsyncRead for Pieces<'_> {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            into: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let count = self.0.len().min(self.1).min(into.remaining());
            let (now, later) = self.0.split_at(count);
            into.put_slice(now);
            self.0 = later;
            std::task::Poll::Ready(Ok(()))
        }
    }

    /// Reads these bytes in pieces of any length. Returns the result and the part that was received.
    async fn read_of(text: &str) -> (Result<(), ExchangeError>, Option<(u16, String)>) {
        let mut first = None;
        for length in [1, 2, 3, 7, text.len().max(1)] {
            let mut seen = None;
            let ended = read(Pieces(text.as_bytes(), length), &mut seen).await;
            let seen = seen.map(|answer| (answer.status, String::from_utf8(answer.body).unwrap()));
            assert_eq!(
                first.get_or_insert((ended.clone(), seen.clone())),
                &(ended, seen),
                "{length}: {text}"
            );
        }
        first.unwrap()
    }

    #[tokio::test]
    async fn the_body_ends_where_its_framing_says() {
        for (text, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", "ab"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n0\r\nTrailer: a\r\n\r\n",
                "ab",
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n", "ab"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\n\r\nab", "ab"),
            ("HTTP/1.1 200 OK\n\nab", "ab"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2, 2\r\n\r\nabc", "ab"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: notchunked\r\n\r\nab", "ab"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, x\r\n\r\n1\r\n", "1\r\n"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
                "a",
            ),
        ] {
            assert_eq!(read_of(text).await, (Ok(()), Some((200, body.to_owned()))), "{text}");
        }
        assert_eq!(
            read_of("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n").await.1,
            Some((204, String::new()))
        );
    }

    #[tokio::test]
    async fn a_malformed_header_line_is_read_on_and_listed() {
        for (line, fields) in [
            ("X-A : b", vec![("X-A", "b"), (MALFORMED, "X-A :")]),
            ("X-A: b;\r\n\t c", vec![("X-A", "b; c"), (MALFORMED, "X-A: (in several lines)")]),
            ("Warning at line 0", vec![(MALFORMED, "Warning at line 0")]),
            ("X A: b", vec![(MALFORMED, "X A:")]),
            (": b", vec![(MALFORMED, ":")]),
            ("X-A: b\rc", vec![("X-A", "b c"), (MALFORMED, "X-A: (with a control character)")]),
            ("X-A: b\0", vec![("X-A", "b"), (MALFORMED, "X-A: (with a control character)")]),
            ("X-A: b: c ", vec![("X-A", "b: c")]),
            ("X-A:", vec![("X-A", "")]),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 1\r\n\r\n1");
            let mut seen = None;
            read(text.as_bytes(), &mut seen).await.unwrap();
            let Answer { mut headers, body, .. } = seen.unwrap();
            headers.retain(|(name, _)| name != "Content-Length");
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!((headers, body), (fields, b"1".to_vec()), "{line}");
        }
    }

    #[tokio::test]
    async fn bytes_behind_the_end_of_a_response_are_listed() {
        for (head, body, behind) in [
            ("200 OK\r\nContent-Length: 2", "ab", "c"),
            ("200 OK\r\nContent-Length: 0", "", "HTTP/1.1 200 OK\r\n\r\n"),
            ("204 No", "", "{}"),
            ("200 OK\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n", "\r\n"),
        ] {
            for (behind, expected) in [("", 0), (behind, 1)] {
                let text = format!("HTTP/1.1 {head}\r\n\r\n{body}{behind}");
                // Sends the bytes in one piece and one by one.
                for length in [1, text.len()] {
                    let mut seen = None;
                    read(Pieces(text.as_bytes(), length), &mut seen).await.unwrap();
                    let listed = seen.unwrap().headers.into_iter().filter(|(name, _)| name == MALFORMED);
                    assert_eq!(listed.count(), expected, "{text}");
                }
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_answer_or_not_a_whole_one_is_an_error_and_its_beginning_is_kept() {
        for (text, error, seen) in [
            ("", broken("the connection ended too early"), None),
            ("HTTP/1.1 200", broken("the connection ended too early"), None),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
                broken("the connection ended too early"),
                Some("ab"),
            ),
            ("SSH-2.0-x\r\n\r\n", no_http("not HTTP/1.1"), None),
            ("HTTP/1.1 2x0 OK\r\n\r\n", no_http("not HTTP/1.1: invalid response status"), None),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", broken("Content-Length is `x`"), Some("")),
            ("HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc", broken("Content-Length is `+3`"), Some("")),
            ("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nabc", broken("Content-Length is ``"), Some("")),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 2\r\n\r\nabc",
                broken("Content-Length is `3` and `2`"),
                Some(""),
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                broken("its body is longer than 8388608 bytes"),
                Some(""),
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
                broken("its body is longer than 8388608 bytes"),
                Some(""),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                broken("a chunk has no size"),
                Some(""),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n\r\n",
                broken("a chunk has no size"),
                Some("a"),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
                broken("a chunk does not end at its declared size"),
                Some("a"),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
                broken("its body is longer than 8388608 bytes"),
                Some(""),
            ),
        ] {
            let seen = seen.map(|body| (200, body.to_owned()));
            assert_eq!(read_of(text).await, (Err(error), seen), "{text}");
        }
    }

    #[tokio::test]
    async fn what_does_not_come_to_an_end_is_bounded() {
        let interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(MOST_INTERIM + 1);
        let head = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(MOST_HEAD));
        let body = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(MOST_BODY + 1));
        for (text, says) in [(interim, "interim"), (head, "header section"), (body, "its body")] {
            let ended = read(text.as_bytes(), &mut None).await.unwrap_err().to_string();
            assert!(ended.contains(says), "{ended}");
        }
    }
}
