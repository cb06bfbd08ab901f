//! Heads of messages, and where their bodies end (RFC 9112 section 6.3).

use httparse::{EMPTY_HEADER, Header, Status};

use super::{body::Framing, broken::Broken};

/// Header fields that a head may have.
const MOST_FIELDS: usize = 1_000;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) framing: Framing,
}

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct AnswerHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

impl RequestHead {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut fields = vec![EMPTY_HEADER; MOST_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        whole(request.parse(bytes))?;
        let headers = owned(request.headers);
        let framing = framing(&headers)?.unwrap_or(Framing::Length(0));
        if framing == Framing::Close {
            return Err(Broken::new("has a Transfer-Encoding that does not end with chunked"));
        }
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Ok(Self { method: text(request.method), target: text(request.path), headers, framing })
    }
}

impl AnswerHead {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut fields = vec![EMPTY_HEADER; MOST_FIELDS];
        let mut answer = httparse::Response::new(&mut fields);
        whole(answer.parse(bytes))?;
        Ok(Self { status: answer.code.unwrap_or_default(), headers: owned(answer.headers) })
    }

    /// Where the body ends that answers a request with this method.
    pub(crate) fn framing(&self, method: &str) -> Result<Framing, Broken> {
        let has_none = method == "HEAD" || matches!(self.status, 100..200 | 204 | 304);
        if has_none { Ok(Framing::Length(0)) } else { Ok(framing(&self.headers)?.unwrap_or(Framing::Close)) }
    }

    /// Whether another answer follows, which is the last one (RFC 9110 section 15.2).
    pub(crate) fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    /// Whether something else than HTTP follows (RFC 9110 sections 7.8 and 9.3.6).
    pub(crate) fn is_switch(&self, method: &str) -> bool {
        self.status == 101 || method == "CONNECT" && (200..300).contains(&self.status)
    }
}

fn whole(parsed: Result<Status<usize>, httparse::Error>) -> Result<(), Broken> {
    match parsed {
        Ok(Status::Complete(_)) => Ok(()),
        Ok(Status::Partial) => Err(Broken::new("is no HTTP: its head ends too early")),
        Err(error) => Err(Broken::new(match error {
            httparse::Error::HeaderName => "is no HTTP: the name of a header field is none",
            httparse::Error::HeaderValue => "is no HTTP: the value of a header field is none",
            httparse::Error::NewLine => "is no HTTP: a line does not end as it should",
            httparse::Error::Status => "is no HTTP: its status is none",
            httparse::Error::Token => "is no HTTP: its first line is none",
            httparse::Error::TooManyHeaders => "has too many header fields",
            httparse::Error::Version => "is no HTTP/1.1",
        })),
    }
}

fn owned(fields: &[Header<'_>]) -> Vec<(String, String)> {
    let own = |field: &Header<'_>| (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned());
    fields.iter().map(own).collect()
}

/// Where the body ends by what the header fields say; nothing where they say nothing.
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
    length
        .map(|length| Some(Framing::Length(length)))
        .ok_or_else(|| Broken::new("has a Content-Length that is none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_request(fields: &str) -> Result<Framing, String> {
        let head = format!("POST /a HTTP/1.1\r\nHost: b\r\n{fields}\r\n");
        RequestHead::read(head.as_bytes()).map(|head| head.framing).map_err(|broken| broken.0)
    }

    fn of_answer(status: u16, method: &str, fields: &str) -> Result<Framing, String> {
        let head = format!("HTTP/1.1 {status} Words\r\n{fields}\r\n");
        let head = AnswerHead::read(head.as_bytes()).map_err(|broken| broken.0)?;
        head.framing(method).map_err(|broken| broken.0)
    }

    /// RFC 9112 section 6.3, one after the other.
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
            assert!(AnswerHead::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
        for wrong in
            ["PRI * HTTP/2.0\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nA B: c\r\n\r\n"]
        {
            assert!(RequestHead::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
