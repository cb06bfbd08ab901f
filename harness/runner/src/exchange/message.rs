//! Checks that a request is a single request. A profile permits methods, so a case must not smuggle in a
//! second request.

use reqwest::{
    Method,
    header::{HeaderName, HeaderValue},
};

use super::ExchangeError;
use xs2aspec_judge::fill::WireRequest;

/// Returns an error unless method and headers are well-formed (RFC 9110 sections 5.1, 5.5 and 9.1).
/// Content-Length must be the length of the body (RFC 9112 section 6.3).
pub(super) fn check(request: &WireRequest) -> Result<(), ExchangeError> {
    let defect = |error: &dyn std::fmt::Display| ExchangeError::Request(error.to_string());
    Method::from_bytes(request.method.as_bytes()).map_err(|error| defect(&error))?;
    for (name, value) in &request.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| defect(&error))?;
        HeaderValue::from_bytes(value.as_bytes()).map_err(|error| defect(&error))?;
        if name == reqwest::header::CONTENT_LENGTH && *value != request.body.len().to_string() {
            return Err(defect(&"Content-Length is not the length of the body"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_begins_a_second_request() {
        let request = |method: &str, name: &str, value: &str| WireRequest {
            method: method.into(),
            url: "http://bank.example/a".into(),
            headers: vec![("Accept".into(), "a".into()), (name.into(), value.into())],
            body: b"POST /v1".to_vec(),
            exact: true,
        };
        for (name, value) in
            [("pSu-iD", "\u{e6} x\ty"), ("content-LENGTH", "8"), ("Transfer-Encoding", "chunked")]
        {
            assert_eq!(check(&request("GET", name, value)), Ok(()), "{name}: {value}");
        }
        for (method, name, value) in [
            ("GET", "A", "b\r\n\r\nPOST /v1 HTTP/1.1"),
            ("GET", "A", "b\nC: d"),
            ("GET", "A", "b\rc"),
            ("GET", "A", "b\0c"),
            ("GET", "A: b\r\nC", "d"),
            ("GET", "A B", "c"),
            ("GET", "", "c"),
            ("GET /b HTTP/1.1\r\nA: b\r\n\r\nPOST", "A", "c"),
            ("", "A", "c"),
            ("GET", "Content-Length", "0"),
            ("GET", "content-length", "8, 8"),
            ("GET", "Content-Length", "+8"),
        ] {
            let found = check(&request(method, name, value));
            assert!(matches!(found, Err(ExchangeError::Request(_))), "{method:?} {name:?} {value:?}");
        }
    }
}
