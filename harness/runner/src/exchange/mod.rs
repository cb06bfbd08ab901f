//! One request and its answer, over a client that reuses connections or, where the exact bytes of the header
//! section matter, over a plain HTTP/1.1 path of its own. Both have the same deadline, the same TLS, the same
//! proxy and the same bounds.

mod client;
mod coding;
mod connector;
mod message;
mod raw;
mod reading;
mod tls;
mod trouble;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::BoxFuture;

pub use coding::decoded;
pub use connector::Connector;
pub use raw::Duplex;
pub use reading::read as read_answer;

pub use xs2aspec_judge::answer::{Answer, Cause, ExchangeError, MALFORMED, Trouble};
use xs2aspec_judge::{
    fill::WireRequest,
    profile::{Http, Profile},
    scope::Scope,
};

/// Longest header section and body that are read of an answer, in bytes.
const MOST_HEAD: usize = 256 * 1024;
const MOST_BODY: usize = 8 * 1024 * 1024;
/// Bytes that are kept of the body of an answer that did not come to its end.
pub const MOST_KEPT: usize = 16 * 1024;

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchanged {
    /// The whole answer, or why there is none.
    pub answer: Result<Answer, ExchangeError>,
    /// As much as was seen of an answer that did not come to its end: its body has at most [`MOST_KEPT`]
    /// bytes.
    pub seen: Option<Answer>,
    /// From the first byte sent to the last byte read.
    pub took: Duration,
}

/// A target in the same process: takes a request whose URL has no base, and answers it.
pub type InProcess = Arc<dyn Fn(&WireRequest) -> BoxFuture<'static, Answer> + Send + Sync>;

/// Sends requests to one target.
pub struct Exchanger {
    inside: Option<InProcess>,
    scope: Scope,
    client: client::Client,
    raw: raw::Raw,
    is_http_2: bool,
    deadline: Duration,
}

impl std::fmt::Debug for Exchanger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchanger").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

impl Exchanger {
    /// An exchanger for a target in the same process.
    pub fn inside(profile: &Profile, target: InProcess) -> Result<Self, ExchangeError> {
        Ok(Self { inside: Some(target), ..Self::new(profile)? })
    }

    /// Whether the target is in the same process.
    pub fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// An exchanger for this target.
    pub fn new(profile: &Profile) -> Result<Self, ExchangeError> {
        // No proxy is asked for a target on this machine but the one that its profile names.
        let is_plain =
            profile.base_url.starts_with("http://") && profile.is_loopback() && profile.proxy.is_none();
        let (authorities, client) = (profile.authorities.as_deref(), profile.client_certificate.as_ref());
        let tls = tls::client_config(authorities, client, is_plain)?;
        Ok(Self {
            inside: None,
            scope: Scope::new(&profile.base_url)
                .map_err(|error| ExchangeError::Request(error.to_string()))?,
            client: client::Client::new(tls.clone(), profile)?,
            raw: raw::Raw::new(tls, profile)?,
            is_http_2: profile.http == Http::Two,
            deadline: profile.deadline,
        })
    }

    /// Sends a request and reads the whole answer, within the deadline.
    pub async fn send(&self, request: &WireRequest) -> Exchanged {
        let start = Instant::now();
        if let Some(inside) = &self.inside {
            return Exchanged { answer: Ok(inside(request).await), seen: None, took: start.elapsed() };
        }
        let (mut seen, mut read) = (None, None);
        let exchange = async {
            // The last layer before a socket: what goes further is one request, to a URL that was admitted.
            message::check(request)?;
            let url = self.scope.admit(&request.url);
            let url = url.map_err(|error| ExchangeError::OutOfScope(error.to_string()))?;
            if self.is_alone(request) {
                Box::pin(self.raw.send(request, &url, &mut seen)).await?;
            } else {
                self.client.send(request, url, &mut seen).await?;
            }
            read = Some(start.elapsed());
            decode(&mut seen).await
        };
        let ended = tokio::time::timeout(self.deadline, exchange).await;
        let took = read.unwrap_or_else(|| start.elapsed());
        let answer = match ended {
            Ok(Ok(())) => seen.take().ok_or_else(|| ExchangeError::Broken("there was none".into())),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ExchangeError::Deadline(self.deadline)),
        };
        if let Some(answer) = &mut seen {
            answer.body.truncate(MOST_KEPT);
        }
        Exchanged { answer, seen, took }
    }
}

impl Exchanger {
    /// Returns true if a request gets a connection of its own. The response to a deletion may have no length,
    /// and some servers end the connection with it and do not say so: what is sent on it then is lost.
    fn is_alone(&self, request: &WireRequest) -> bool {
        request.exact || !self.is_http_2 && (request.method == "DELETE" || self.client.loses())
    }
}

/// Takes the content codings off the body, on a thread that may block. The response stays as it was sent if
/// that fails, or if the caller stops waiting.
async fn decode(seen: &mut Option<Answer>) -> Result<(), ExchangeError> {
    let Some(answer) = seen.as_mut().filter(|answer| answer.header("content-encoding").is_some()) else {
        return Ok(());
    };
    let coded = answer.clone();
    let plain = tokio::task::spawn_blocking(move || decoded(&coded)).await;
    let plain = plain.unwrap_or_else(|error| Err(ExchangeError::Coding(error.to_string())))?;
    answer.body = plain.unwrap_or_else(|| std::mem::take(&mut answer.body));
    Ok(())
}
