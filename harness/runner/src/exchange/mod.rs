//! Sends a request and reads its response through a client that reuses connections. If the exact bytes of the
//! header section matter, it uses a separate HTTP/1.1 path. Both have the same deadline, TLS configuration,
//! proxy and limits.

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

/// Longest header section and body of a response, in bytes.
const MOST_HEAD: usize = 256 * 1024;
const MOST_BODY: usize = 8 * 1024 * 1024;
/// Number of body bytes that are kept of an incomplete response.
pub const MOST_KEPT: usize = 16 * 1024;

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchanged {
    /// The complete response, or the reason why there is none.
    pub answer: Result<Answer, ExchangeError>,
    /// The received part of an incomplete response. Its body has at most [`MOST_KEPT`] bytes.
    pub seen: Option<Answer>,
    /// Time from the first byte sent to the last byte read.
    pub took: Duration,
}

/// A target in the same process: handles a request whose URL has no base.
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
    /// Returns an exchanger for a target in the same process.
    pub fn inside(profile: &Profile, target: InProcess) -> Result<Self, ExchangeError> {
        Ok(Self { inside: Some(target), ..Self::new(profile)? })
    }

    /// Returns true if the target is in the same process.
    pub fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Returns an exchanger for this target.
    pub fn new(profile: &Profile) -> Result<Self, ExchangeError> {
        // Only a proxy named in the profile applies to a target on this machine.
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

    /// Sends a request and reads the complete response, within the deadline.
    pub async fn send(&self, request: &WireRequest) -> Exchanged {
        let start = Instant::now();
        if let Some(inside) = &self.inside {
            return Exchanged { answer: Ok(inside(request).await), seen: None, took: start.elapsed() };
        }
        let (mut seen, mut read) = (None, None);
        let exchange = async {
            // Last check before the socket: only a single request to an admitted URL passes.
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
    /// and some servers close the connection after it without notice. The next request on that connection
    /// would be lost.
    fn is_alone(&self, request: &WireRequest) -> bool {
        request.exact || !self.is_http_2 && (request.method == "DELETE" || self.client.loses())
    }
}

/// Decodes the content codings of the body on a thread that may block. The response stays encoded if that
/// fails or if the caller stops waiting.
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
