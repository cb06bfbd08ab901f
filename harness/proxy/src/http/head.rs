//! Parses the heads of messages and determines the ends of their bodies (RFC 9112 section 6.3).

use httparse::{EMPTY_HEADER, Header, ParserConfig, Status};
use xs2aspec_record::MALFORMED;

use super::{Broken, body::Framing, lines};

/// Maximum number of headers in a head.
const MOST_FIELDS: usize = 1_000;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The end of the body, or the reason why it is unknown.
    pub(crate) framing: Result<Framing, Broken>,
}

/// The head of a response.
#[derive(Debug)]
pub struct ResponseHead {
    /// Its length in bytes.
    pub length: usize,
    /// Status code.
    pub status: u16,
    /// Headers in the order of the wire. Malformed lines follow, each with the name [`MALFORMED`].
    pub headers: Vec<(String, String)>,
}

impl RequestHead {
    /// Parses a complete head. Malformed lines are skipped and listed as [`MALFORMED`], like everything else
    /// that RFC 9112 forbids a client.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let one_target = lines::with_one_target(bytes);
        let bytes = one_target.as_deref().unwrap_or(bytes);
        let mut fields = vec![EMPTY_HEADER; MOST_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let parsed = ParserConfig::default()
            .ignore_invalid_headers_in_requests(true)
            .parse_request(&mut request, bytes);
        let length = whole(parsed)?;
        let mut headers: Vec<(String, String)> = request.headers.iter().map(owned).collect();
        let target = request.path.unwrap_or_default();
        let framing = framing(&headers).map(|framing| framing.unwrap_or(Framing::Length(0)));
        let framing = framing.and_then(|framing| match framing {
            Framing::Close => Err("has a Transfer-Encoding that does not end with chunked"),
            framing => Ok(framing),
        });
        let lines = |name: &str| headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count();
        // RFC 9112 sections 2.2, 3.2, 6.1 and 6.3.
        let forbidden = [
            (one_target.is_some(), "a space in the target"),
            (target.contains('#'), "a fragment in the target"),
            (lines::has_bare_end(&bytes[..length]), "a line that ends without CR"),
            (request.version == Some(1) && lines("host") == 0, "no Host"),
            (lines("content-length") > 1, "Content-Length twice"),
            (
                lines("content-length") * lines("transfer-encoding") > 0,
                "Content-Length with Transfer-Encoding",
            ),
            (framing.is_err(), "no valid length"),
        ];
        let forbidden = forbidden.into_iter().filter(|(is_so, _)| *is_so).map(|(_, says)| says.to_owned());
        let malformed: Vec<String> =
            lines::malformed(&bytes[..length]).into_iter().map(without_text).chain(forbidden).collect();
        headers.extend(malformed.into_iter().map(|line| (MALFORMED.to_owned(), line)));
        let method = request.method.unwrap_or_default().to_owned();
        Ok(Self { method, target: target.to_owned(), headers, framing })
    }
}

impl ResponseHead {
    /// Parses a head. Returns `None` if it is incomplete. A header with a space before its colon, or on
    /// several lines, is read according to RFC 9112 (sections 5.1 and 5.2). A control character in a value is
    /// read as a space (RFC 9110 section 5.5). Each such line is listed as [`MALFORMED`], as is a line that
    /// is not a header.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, httparse::Error> {
        let read = match Self::parsed(bytes) {
            Err(httparse::Error::HeaderValue) => Self::parsed(&lines::without_controls(bytes)),
            read => read,
        };
        Ok(read?.map(|mut head| {
            let malformed = lines::malformed(&bytes[..head.length]).into_iter();
            head.headers.extend(malformed.map(|line| (MALFORMED.to_owned(), line)));
            head
        }))
    }

    fn parsed(bytes: &[u8]) -> Result<Option<Self>, httparse::Error> {
        let mut fields = vec![EMPTY_HEADER; MOST_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let mut parser = ParserConfig::default();
        parser
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true);
        let Status::Complete(length) = parser.parse_response(&mut response, bytes)? else { return Ok(None) };
        let headers = response.headers.iter().map(owned).collect();
        Ok(Some(Self { length, status: response.code.unwrap_or_default(), headers }))
    }

    /// Parses a complete head.
    pub(crate) fn of_whole(bytes: &[u8]) -> Result<Self, Broken> {
        Self::read(bytes).map_err(no_http)?.ok_or(TOO_EARLY)
    }

    /// Returns the end of the body of this response to a request with this method.
    pub(crate) fn framing(&self, method: &str) -> Result<Framing, Broken> {
        let has_none = method == "HEAD" || matches!(self.status, 100..200 | 204 | 304);
        if has_none { Ok(Framing::Length(0)) } else { Ok(framing(&self.headers)?.unwrap_or(Framing::Close)) }
    }

    /// Returns true if another response follows (RFC 9110 section 15.2).
    pub(crate) fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    /// Returns true if the connection switches to another protocol (RFC 9110 sections 7.8 and 9.3.6).
    pub(crate) fn is_switch(&self, method: &str) -> bool {
        self.status == 101 || method == "CONNECT" && (200..300).contains(&self.status)
    }
}

fn whole(parsed: Result<Status<usize>, httparse::Error>) -> Result<usize, Broken> {
    match parsed.map_err(no_http)? {
        Status::Complete(length) => Ok(length),
        Status::Partial => Err(TOO_EARLY),
    }
}

/// Returns the defect of a client's line without content that may be secret.
fn without_text(line: String) -> String {
    match line.split_once(':') {
        Some((name, _)) if name.trim_end().contains(' ') => "a space in the name of a header".to_owned(),
        Some(_) => line,
        None => "a line without a colon".to_owned(),
    }
}

/// The error for a truncated head.
const TOO_EARLY: Broken = "is not HTTP: its head ends too early";

fn no_http(error: httparse::Error) -> Broken {
    match error {
        httparse::Error::HeaderName => "is not HTTP: the name of a header is invalid",
        httparse::Error::HeaderValue => "is not HTTP: the value of a header is invalid",
        httparse::Error::NewLine => "is not HTTP: a line ending is invalid",
        httparse::Error::Status => "is not HTTP: its status is invalid",
        httparse::Error::Token => "is not HTTP: its first line is invalid",
        httparse::Error::TooManyHeaders => "has too many headers",
        httparse::Error::Version => "is not HTTP/1.1",
    }
}

fn owned(field: &Header<'_>) -> (String, String) {
    (field.name.to_owned(), lines::unfolded(field.value))
}

/// Returns the end of the body according to the headers. Returns `None` if no header defines it.
fn framing(headers: &[(String, String)]) -> Result<Option<Framing>, Broken> {
    let values = |name: &'static str| {
        let own = headers.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        own.flat_map(|(_, value)| value.split(',')).map(str::trim)
    };
    if let Some(last) = values("transfer-encoding").next_back() {
        let is_chunked = last.eq_ignore_ascii_case("chunked");
        return Ok(Some(if is_chunked { Framing::Chunked } else { Framing::Close }));
    }
    let mut lengths = values("content-length");
    let Some(first) = lengths.next() else { return Ok(None) };
    let is_number = !first.is_empty() && first.bytes().all(|digit| digit.is_ascii_digit());
    let length = first.parse().ok().filter(|_| is_number && lengths.all(|other| other == first));
    length.map(|length| Some(Framing::Length(length))).ok_or("has an invalid Content-Length")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_request(fields: &str) -> Result<Framing, String> {
        let head = format!("POST /a HTTP/1.1\r\nHost: b\r\n{fields}\r\n");
        RequestHead::read(head.as_bytes()).and_then(|head| head.framing).map_err(str::to_owned)
    }

    fn of_answer(status: u16, method: &str, fields: &str) -> Result<Framing, String> {
        let head = format!("HTTP/1.1 {status} Words\r\n{fields}\r\n");
        let head = ResponseHead::of_whole(head.as_bytes())?;
        head.framing(method).map_err(str::to_owned)
    }

    /// The cases of RFC 9112 section 6.3, in order.
    #[test]
    fn where_a_body_ends() {
        assert_eq!(of_request(""), Ok(Framing::Length(0)));
        assert_eq!(of_request("content-LENGTH: 7\r\n"), Ok(Framing::Length(7)));
        assert_eq!(of_request("Content-Length: 7, 7\r\nContent-Length: 7\r\n"), Ok(Framing::Length(7)));
        assert_eq!(
            of_request("Transfer-Encoding: gzip, Chunked\r\nContent-Length: 7\r\n"),
            Ok(Framing::Chunked)
        );
        assert!(of_request("Transfer-Encoding: gzip\r\n").unwrap_err().contains("does not end with chunked"));
        for wrong in ["", "-1", "+1", "7, 8", "0x7", "18446744073709551616", "7;7"] {
            let error = of_request(&format!("Content-Length: {wrong}\r\n")).unwrap_err();
            assert!(error.contains("Content-Length"), "{wrong}: {error}");
        }
        assert_eq!(of_answer(200, "GET", ""), Ok(Framing::Close));
        assert_eq!(of_answer(200, "GET", "Transfer-Encoding: gzip\r\n"), Ok(Framing::Close));
        assert_eq!(of_answer(200, "GET", "Content-Length: 7\r\n"), Ok(Framing::Length(7)));
        assert_eq!(of_answer(200, "HEAD", "Content-Length: 7\r\n"), Ok(Framing::Length(0)));
        assert_eq!(of_answer(204, "GET", "Content-Length: 7\r\n"), Ok(Framing::Length(0)));
        assert_eq!(of_answer(304, "GET", "Transfer-Encoding: chunked\r\n"), Ok(Framing::Length(0)));
    }

    #[test]
    fn what_is_no_http_is_told() {
        for wrong in [
            "SSH-2.0-synthetic\r\n\r\n",
            "HTTP/9.9 201 Created\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "\0\0\r\n\r\n",
        ] {
            assert!(ResponseHead::of_whole(wrong.as_bytes()).is_err(), "{wrong}");
        }
        for wrong in ["PRI * HTTP/2.0\r\n\r\n", "GET /a HTTP/x\r\n\r\n"] {
            assert!(RequestHead::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_malformed_line_of_a_request_is_listed_and_so_is_a_missing_host() {
        for (start, lines, malformed) in [
            ("GET / HTTP/1.1", "Host: b\r\nX-A: b", vec![]),
            ("GET / HTTP/1.0", "X-A: b", vec![]),
            ("GET / HTTP/1.1", "X-A: b", vec!["no Host"]),
            ("GET / HTTP/1.1", "host: b\r\nX-B : c\r\nX-A: b", vec!["X-B :"]),
            ("GET / HTTP/1.1", "X-A: b\r\n c\r\nHost: b", vec!["X-A: (in several lines)"]),
            ("GET / HTTP/1.1", "X-A: b\r\nHost : b", vec!["Host :", "no Host"]),
            ("GET / HTTP/1.1", "X-A: b\r\nHost: b\r\nnothing", vec!["a line without a colon"]),
            ("GET /a b HTTP/1.1", "Host: b\r\nX-A: b", vec!["a space in the target"]),
            ("GET /a#b HTTP/1.1", "Host: b\r\nX-A: b", vec!["a fragment in the target"]),
            ("GET / HTTP/1.1", "Host: b\nX-A: b", vec!["a line that ends without CR"]),
            (
                "GET / HTTP/1.1",
                "Host: b\r\nX-A: b\r\nContent-Length: 1\r\nContent-Length: 1",
                vec!["Content-Length twice"],
            ),
            (
                "GET / HTTP/1.1",
                "Host: b\r\nX-A: b\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
                vec!["Content-Length with Transfer-Encoding"],
            ),
            ("GET / HTTP/1.1", "Host: b\r\nX-A: b\r\nContent-Length: x", vec!["no valid length"]),
        ] {
            let head = RequestHead::read(format!("{start}\r\n{lines}\r\n\r\n").as_bytes()).unwrap();
            let own = head.headers.iter().filter(|(name, _)| name == MALFORMED);
            assert_eq!(own.map(|(_, line)| line.as_str()).collect::<Vec<_>>(), malformed, "{lines}");
            assert!(head.headers.contains(&("X-A".to_owned(), "b".to_owned())), "{lines}");
        }
    }
}
