//! The exact-bytes path: header names are sent with their case, order and repetition unchanged. HTTP/1.1 (RFC
//! 9112), one connection per request.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::{Answer, Cause, ExchangeError, MOST_HEAD, Trouble, reading, trouble::trouble};
use xs2aspec_judge::{fill::WireRequest, profile::Profile};

/// Both directions of a connection.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

pub(super) struct Raw {
    tls: TlsConnector,
    /// Selects the proxy of a request. `None` if no request uses a proxy.
    proxies: Option<Matcher>,
    patience: Duration,
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Raw")
    }
}

impl Raw {
    /// Fails if the target is behind a proxy that cannot forward requests byte for byte.
    pub(super) fn new(tls: Arc<rustls::ClientConfig>, profile: &Profile) -> Result<Self, ExchangeError> {
        let proxies = match &profile.proxy {
            Some(proxy) => Some(Matcher::builder().all(proxy.as_str()).build()),
            None if profile.is_loopback() => None,
            None => Some(Matcher::from_env()),
        };
        let raw = Self { tls: TlsConnector::from(tls), proxies, patience: profile.connect_timeout };
        let url = reqwest::Url::parse(&profile.base_url);
        let url = url.map_err(|error| ExchangeError::Request(error.to_string()))?;
        match raw.proxy(&url)?.as_ref().and_then(|proxy| proxy.uri().scheme_str()) {
            None | Some("http") => Ok(raw),
            Some(scheme) => Err(ExchangeError::Tls(format!(
                "the proxy for {} uses `{scheme}://`, but only `http://` proxies are supported: set `proxy` in \
                 the profile, or list the target in NO_PROXY",
                url.host_str().unwrap_or_default()
            ))),
        }
    }

    /// Sends a request to a URL and reads the response into `seen`.
    pub(super) async fn send(
        &self,
        request: &WireRequest,
        url: &reqwest::Url,
        seen: &mut Option<Answer>,
    ) -> Result<(), ExchangeError> {
        let is_tls = url.scheme() == "https";
        let proxy = self.proxy(url)?;
        let stream = self.open(url, proxy.as_ref(), is_tls).await?;
        converse(stream, &bytes(request, url, proxy.as_ref().filter(|_| !is_tls)), seen).await
    }

    /// Opens a connection to the target at this URL for arbitrary bytes, after the TLS handshake if it uses
    /// TLS. Goes through the proxy, if there is one.
    pub(super) async fn tunnel(&self, url: &reqwest::Url) -> Result<Box<dyn Duplex>, ExchangeError> {
        let proxy = self.proxy(url)?;
        self.open(url, proxy.as_ref(), true).await
    }

    fn proxy(&self, url: &reqwest::Url) -> Result<Option<Intercept>, ExchangeError> {
        let uri = url.as_str().parse().map_err(|_| wrong("the URL is invalid"))?;
        Ok(self.proxies.as_ref().and_then(|proxies| proxies.intercept(&uri)))
    }

    async fn open(
        &self,
        url: &reqwest::Url,
        proxy: Option<&Intercept>,
        is_tunnel: bool,
    ) -> Result<Box<dyn Duplex>, ExchangeError> {
        let host = url.host_str().ok_or_else(|| wrong("the URL has no host"))?;
        let port = url.port_or_known_default().ok_or_else(|| wrong("the URL has no port"))?;
        let opened = async {
            let stream = self.connected((host, port), proxy, is_tunnel).await?;
            if url.scheme() != "https" {
                return Ok(Box::new(stream) as Box<dyn Duplex>);
            }
            let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
                .map_err(|error| ExchangeError::Tls(error.to_string()))?;
            let stream = self.tls.connect(name, stream).await;
            let stream = stream.map_err(|error| ExchangeError::Unreachable(trouble(&error)))?;
            Ok(Box::new(stream) as Box<dyn Duplex>)
        };
        tokio::time::timeout(self.patience, opened).await.unwrap_or_else(|_| {
            let why = format!("no connection within {} ms", self.patience.as_millis());
            Err(ExchangeError::Unreachable(why.into()))
        })
    }

    /// Connects to the target or to its proxy. If the next bytes are not for the proxy, opens a tunnel
    /// through it (RFC 9110 section 9.3.6).
    async fn connected(
        &self,
        (host, port): (&str, u16),
        proxy: Option<&Intercept>,
        is_tunnel: bool,
    ) -> Result<TcpStream, ExchangeError> {
        let unreachable = |error: std::io::Error| ExchangeError::Unreachable(error.to_string().into());
        let address = match proxy {
            None => (host.trim_matches(['[', ']']), port),
            Some(proxy) => {
                let host = proxy.uri().host().unwrap_or_default().trim_matches(['[', ']']);
                (host, proxy.uri().port_u16().unwrap_or(80))
            }
        };
        let mut stream = TcpStream::connect(address).await.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let Some(proxy) = proxy.filter(|_| is_tunnel) else { return Ok(stream) };
        let mut head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        head.push_str(&authorization(proxy));
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.map_err(unreachable)?;
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n") {
            // Bytes after the head already belong to the target.
            let byte = stream.read_u8().await.map_err(unreachable)?;
            seen.push(byte);
            if seen.len() > MOST_HEAD {
                return Err(of_proxy("the response of the proxy does not end".to_owned()));
            }
        }
        let line = String::from_utf8_lossy(&seen).lines().next().unwrap_or_default().to_owned();
        if line.split(' ').nth(1).is_some_and(|status| status.starts_with('2')) {
            return Ok(stream);
        }
        Err(of_proxy(format!("the proxy responded with `{line}`")))
    }
}

fn wrong(what: &str) -> ExchangeError {
    ExchangeError::Request(what.to_owned())
}

/// Returns the header line with the proxy's credentials (RFC 9110 section 11.7.2). Returns an empty string if
/// its URL has none.
fn authorization(proxy: &Intercept) -> String {
    let value = proxy.basic_auth().and_then(|value| value.to_str().ok());
    value.map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default()
}

/// Returns the bytes of a request. `Host` comes first (RFC 9110 section 7.2), and the connection is not
/// reused. A request that may have content declares its length, even 0 bytes (section 8.6). Headers that the
/// request already has are not added. A proxy receives the whole URL (RFC 9112 section 3.2.2).
fn bytes(request: &WireRequest, url: &reqwest::Url, proxy: Option<&Intercept>) -> Vec<u8> {
    let target = match proxy {
        Some(_) => url.to_string(),
        None => url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path())),
    };
    let has = |header: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header));
    let mut head = format!("{} {target} HTTP/1.1\r\n", request.method);
    if !has("host") {
        let host = url.host_str().unwrap_or_default();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        _ = write!(head, "Host: {host}{port}\r\n");
    }
    head.push_str(&proxy.map(authorization).unwrap_or_default());
    for (name, value) in &request.headers {
        _ = write!(head, "{name}: {value}\r\n");
    }
    let in_chunks = has("transfer-encoding");
    let may_have_content = !request.body.is_empty() || matches!(&*request.method, "POST" | "PUT");
    if may_have_content && !in_chunks && !has("content-length") {
        _ = write!(head, "Content-Length: {}\r\n", request.body.len());
    }
    if !has("connection") {
        head.push_str("Connection: close\r\n");
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    if in_chunks {
        write_chunks(&request.body, &mut bytes);
    } else {
        bytes.extend_from_slice(&request.body);
    }
    bytes
}

/// Writes the body in two chunks and the last chunk (RFC 9112 section 7.1).
fn write_chunks(body: &[u8], bytes: &mut Vec<u8>) {
    let (first, rest) = body.split_at(body.len() / 2);
    for chunk in [first, rest].into_iter().filter(|chunk| !chunk.is_empty()) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
}

fn of_proxy(says: String) -> ExchangeError {
    ExchangeError::Unreachable(Trouble { cause: Cause::Proxy, says })
}

/// Writes the request and reads the response.
async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    bytes: &[u8],
    seen: &mut Option<Answer>,
) -> Result<(), ExchangeError> {
    // A server may respond and close the connection before it has read everything. Its response counts.
    let written = stream.write_all(bytes).await.and(stream.flush().await);
    let read = reading::read(stream, seen).await;
    match written {
        Err(error) if seen.is_none() => Err(ExchangeError::Broken(trouble(&error))),
        _ => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_out_as_they_are_given() {
        let request = WireRequest {
            method: "GET".into(),
            url: "http://127.0.0.1:81/a?b=c".into(),
            headers: vec![("pSu-iD".into(), "x".into()), ("pSu-iD".into(), "y".into())],
            body: vec![],
            exact: true,
        };
        let sent = bytes(&request, &reqwest::Url::parse(&request.url).unwrap(), None);
        let expected = "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:81\r\npSu-iD: x\r\npSu-iD: y\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8(sent).unwrap(), expected);
    }

    #[test]
    fn a_body_in_chunks_has_no_length() {
        let request = WireRequest {
            method: "POST".into(),
            url: "http://bank.example/a".into(),
            headers: vec![("Transfer-Encoding".into(), "chunked".into())],
            body: b"[1,22]".to_vec(),
            exact: true,
        };
        let sent = bytes(&request, &reqwest::Url::parse(&request.url).unwrap(), None);
        let expected = "POST /a HTTP/1.1\r\nHost: bank.example\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\n[1,\r\n3\r\n22]\r\n0\r\n\r\n";
        assert_eq!(String::from_utf8(sent).unwrap(), expected);
    }

    #[test]
    fn what_is_given_is_not_added_and_content_has_its_length() {
        for (method, headers, body, expected) in [
            ("GET", vec![("Host", "BANK.EXAMPLE")], "", "Host: BANK.EXAMPLE\r\nConnection: close\r\n\r\n"),
            ("POST", vec![], "", "Host: bank.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            ("DELETE", vec![], "", "Host: bank.example\r\nConnection: close\r\n\r\n"),
            ("GET", vec![], "a", "Host: bank.example\r\nContent-Length: 1\r\nConnection: close\r\n\r\na"),
            (
                "POST",
                vec![("content-length", "9"), ("connection", "keep-alive")],
                "a",
                "Host: bank.example\r\ncontent-length: 9\r\nconnection: keep-alive\r\n\r\na",
            ),
        ] {
            let headers = headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            let url = "http://bank.example/a";
            let body = body.as_bytes().to_vec();
            let request = WireRequest { method: method.into(), url: url.into(), headers, body, exact: true };
            let sent = bytes(&request, &reqwest::Url::parse(url).unwrap(), None);
            assert_eq!(String::from_utf8(sent).unwrap(), format!("{method} /a HTTP/1.1\r\n{expected}"));
        }
    }
}
