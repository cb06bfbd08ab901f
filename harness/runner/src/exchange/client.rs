//! A client that reuses connections. It writes header names in title case and adds only `Host` and
//! `Content-Length`.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use xs2aspec_judge::{
    fill::WireRequest,
    profile::{Http, Profile},
};

use super::{
    Answer, Cause, ExchangeError, MOST_BODY,
    trouble::{is_malformed, trouble},
};

/// After this many lost responses, each further request gets a connection of its own.
const MOST_LOST: usize = 3;

#[derive(Debug)]
pub(super) struct Client {
    pool: reqwest::Client,
    /// True if the profile names a proxy.
    is_proxied: bool,
    /// Number of missing or unreadable responses, weighted.
    lost: AtomicUsize,
}

impl Client {
    pub(super) fn new(tls: Arc<rustls::ClientConfig>, profile: &Profile) -> Result<Self, ExchangeError> {
        let mut tls = Arc::unwrap_or_clone(tls);
        let mut builder = reqwest::Client::builder();
        match profile.http {
            Http::One => builder = builder.http1_only(),
            Http::Two => tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        }
        let mut builder = builder
            .tcp_nodelay(true)
            .http1_title_case_headers()
            // Only the exact-bytes path reports malformed lines. This one tolerates them.
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .connect_timeout(profile.connect_timeout)
            .referer(false)
            // A redirect is a normal response here. Signed headers must not go to another host.
            .redirect(Policy::none())
            .tls_backend_preconfigured(tls);
        match &profile.proxy {
            Some(proxy) => {
                let proxy =
                    reqwest::Proxy::all(proxy).map_err(|error| ExchangeError::Tls(trouble(&error).says))?;
                builder = builder.no_proxy().proxy(proxy);
            }
            None if profile.is_loopback() => builder = builder.no_proxy(),
            None => {}
        }
        let is_proxied = profile.proxy.is_some();
        builder
            .build()
            .map(|pool| Self { pool, is_proxied, lost: AtomicUsize::new(0) })
            .map_err(|error| ExchangeError::Tls(trouble(&error).says))
    }

    /// Sends a request to a URL and reads the response into `seen`.
    pub(super) async fn send(
        &self,
        request: &WireRequest,
        url: Url,
        seen: &mut Option<Answer>,
    ) -> Result<(), ExchangeError> {
        let defect = |error: &dyn std::fmt::Display| ExchangeError::Request(error.to_string());
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| defect(&error))?;
        let mut headers = HeaderMap::with_capacity(request.headers.len());
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| defect(&error))?;
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| defect(&error))?;
            headers.append(name, value);
        }
        let mut outgoing = self.pool.request(method, url).headers(headers);
        if !request.body.is_empty() {
            outgoing = outgoing.body(request.body.clone());
        }
        let mut response = outgoing.send().await.map_err(|error| self.failure(&error))?;
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        let status = response.status().as_u16();
        let answer = seen.insert(Answer { status, headers, body: Vec::new() });
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure(&error))? {
            answer.body.extend_from_slice(&chunk);
            if answer.body.len() > MOST_BODY {
                return Err(ExchangeError::Broken(
                    format!("its body is longer than {MOST_BODY} bytes").into(),
                ));
            }
        }
        Ok(())
    }

    /// Returns true if the target closes connections without notice (RFC 9112 section 9.5), or sends
    /// responses that only the exact-bytes path can read (section 2.2). That path opens a connection per
    /// request.
    pub(super) fn loses(&self) -> bool {
        self.lost.load(Ordering::Relaxed) >= MOST_LOST
    }

    fn failure(&self, error: &reqwest::Error) -> ExchangeError {
        let mut trouble = trouble(error);
        if !error.is_connect() {
            let lost = if is_malformed(error) { MOST_LOST } else { 1 };
            self.lost.fetch_add(lost, Ordering::Relaxed);
            return ExchangeError::Broken(trouble);
        }
        if self.is_proxied && trouble.cause == Cause::Other {
            trouble.cause = Cause::Proxy;
        }
        ExchangeError::Unreachable(trouble)
    }
}
