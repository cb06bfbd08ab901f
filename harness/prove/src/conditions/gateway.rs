//! A gateway between the runner and a bank that disturbs the traffic.

use std::{
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use fastrand::Rng;
use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use tokio::{
    io::{AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::sleep,
};

use super::message::{End, Message, Side};

/// Time for which a bank is away while it restarts.
const AWAY: Duration = Duration::from_millis(300);

/// The disturbances of a gateway.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Disturbance {
    /// One request in this many is not served as usual, in random order.
    pub one_in: Option<u64>,
    /// The treatment of such a request.
    pub instead: Option<Instead>,
    /// Changes of every message.
    pub rewrite: Vec<Rewrite>,
    /// Headers of a request that pass; all if empty.
    pub keep_headers: Vec<String>,
    /// Longest time that a response is held back, in milliseconds.
    pub delay_ms: u64,
    /// After this many requests the bank restarts.
    pub restart_after: Option<u64>,
    /// A bank that restarts has forgotten everything.
    pub forgets: bool,
}

/// The treatment of a request that is not served as usual.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instead {
    /// The gateway responds itself; the bank sees nothing.
    Respond {
        /// Status of the response.
        status: u16,
        /// Its body.
        page: Page,
    },
    /// The connection is reset, and the bank has not seen the request.
    ResetBefore,
    /// The connection is reset after the bank has served the request.
    ResetAfter,
}

/// The body of a response of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Page {
    /// No body, no Content-Type.
    Empty,
    /// A line of plain text.
    Bare,
    /// An HTML page.
    Html,
}

/// A change that a gateway makes to every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rewrite {
    /// The Date of a response is that of the gateway.
    ResponseDate,
    /// The Date of a request is that of the gateway, so that no signature over it is valid.
    RequestDate,
    /// Header names become lowercase, in both directions.
    LowercaseHeaders,
    /// Responses lose all headers but those of HTTP itself.
    DropResponseHeaders,
    /// Responses are compressed if the request allows it.
    Gzip,
    /// The same with Brotli (RFC 7932).
    Brotli,
    /// Every connection ends with its response.
    Close,
}

/// Headers that a gateway keeps if it drops the others (RFC 9110, RFC 9112).
const OF_HTTP: [&str; 9] = [
    "allow",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "location",
    "retry-after",
    "transfer-encoding",
];

/// A gateway on a free port of 127.0.0.1. It ends when it is dropped.
pub(super) struct Gateway {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Way {
    disturbance: Disturbance,
    /// The bank, and the one that replaces it after a restart.
    banks: [SocketAddr; 2],
    random: Mutex<Rng>,
    served: AtomicU64,
    is_away: AtomicBool,
    has_restarted: AtomicBool,
}

impl Gateway {
    /// Starts a gateway before a bank. `successor` is the bank that is there after a restart.
    pub(super) async fn start(
        disturbance: Disturbance,
        bank: SocketAddr,
        successor: SocketAddr,
        seed: u64,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let way = Arc::new(Way {
            disturbance,
            banks: [bank, successor],
            random: Mutex::new(Rng::with_seed(seed)),
            served: AtomicU64::new(0),
            is_away: AtomicBool::new(false),
            has_restarted: AtomicBool::new(false),
        });
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let way = Arc::clone(&way);
                tokio::spawn(async move {
                    // An error ends this connection only, and the client sees it.
                    drop(way.connection(client).await);
                });
            }
        });
        Ok(Self { address, task })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Way {
    async fn connection(&self, client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut client = End::new(client);
        let mut bank: Option<End> = None;
        loop {
            let request = match client.message(Side::Request).await {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => return self.tunnel(client).await,
                request => request?,
            };
            let Some(request) = request else { return Ok(()) };
            if self.restarts().await {
                return reset(&client);
            }
            let instead = self.instead();
            match &instead {
                Some(Instead::Respond { status, page }) => {
                    client.stream.write_all(&page.response(*status)).await?;
                    continue;
                }
                Some(Instead::ResetBefore) => return reset(&client),
                Some(Instead::ResetAfter) | None => {}
            }
            let mut response = self.ask(&request, &mut bank).await?;
            if instead.is_some() {
                return reset(&client);
            }
            self.hold_back().await;
            self.rewrite_response(&request, &mut response)?;
            client.stream.write_all(&response.render()).await?;
            if response.closes() || request.closes() {
                return client.stream.shutdown().await;
            }
        }
    }

    /// Sends a request to the bank and reads its final response.
    async fn ask(&self, request: &Message, bank: &mut Option<End>) -> io::Result<Message> {
        let bytes = self.rewritten(request);
        let side = Side::Response { to_head: request.start.starts_with("HEAD ") };
        let mut end = match bank.take() {
            Some(end) => end,
            None => End::new(TcpStream::connect(self.bank()).await?),
        };
        end.stream.write_all(&bytes).await?;
        let response = loop {
            let response = end.message(side).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if response.status() >= 200 {
                break response;
            }
        };
        if !response.closes() && !request.closes() {
            *bank = Some(end);
        }
        Ok(response)
    }

    /// Forwards bytes that are not HTTP unchanged.
    async fn tunnel(&self, mut client: End) -> io::Result<()> {
        let mut bank = TcpStream::connect(self.bank()).await?;
        bank.write_all(client.unused()).await?;
        copy_bidirectional(&mut client.stream, &mut bank).await.map(drop)
    }

    fn bank(&self) -> SocketAddr {
        self.banks[usize::from(self.has_restarted.load(Ordering::SeqCst))]
    }

    /// Counts a request. Returns true if the bank restarts instead of serving it.
    async fn restarts(&self) -> bool {
        let served = self.served.fetch_add(1, Ordering::SeqCst) + 1;
        if self.disturbance.restart_after == Some(served) {
            self.is_away.store(true, Ordering::SeqCst);
            self.has_restarted.store(true, Ordering::SeqCst);
            sleep(AWAY).await;
            self.is_away.store(false, Ordering::SeqCst);
            return true;
        }
        self.is_away.load(Ordering::SeqCst)
    }

    fn instead(&self) -> Option<Instead> {
        let one_in = self.disturbance.one_in?;
        let is_hit = self.random.lock().expect("nothing panics with it").u64(..one_in) == 0;
        self.disturbance.instead.clone().filter(|_| is_hit)
    }

    async fn hold_back(&self) {
        if self.disturbance.delay_ms > 0 {
            let delay = self.random.lock().expect("nothing panics with it").u64(..=self.disturbance.delay_ms);
            sleep(Duration::from_millis(delay)).await;
        }
    }

    fn rewrites(&self, rewrite: Rewrite) -> bool {
        self.disturbance.rewrite.contains(&rewrite)
    }

    /// Returns the bytes of a request as they are sent to the bank.
    fn rewritten(&self, request: &Message) -> Vec<u8> {
        let kept = &self.disturbance.keep_headers;
        let is_changed = self.rewrites(Rewrite::RequestDate) || self.rewrites(Rewrite::LowercaseHeaders);
        if !is_changed && kept.is_empty() {
            return request.raw.clone();
        }
        let mut request = request.clone();
        if self.rewrites(Rewrite::RequestDate) {
            // Within the second of signing, Date would not change, and the signature would be valid.
            request.set("Date", &date(Utc::now() - TimeDelta::minutes(1)));
        }
        if !kept.is_empty() {
            request.headers.retain(|(name, _)| kept.iter().any(|kept| kept.eq_ignore_ascii_case(name)));
        }
        if self.rewrites(Rewrite::LowercaseHeaders) {
            lowercase(&mut request);
        }
        request.render()
    }

    fn rewrite_response(&self, request: &Message, response: &mut Message) -> io::Result<()> {
        if self.rewrites(Rewrite::DropResponseHeaders) {
            response.headers.retain(|(name, _)| OF_HTTP.contains(&name.to_ascii_lowercase().as_str()));
        }
        if self.rewrites(Rewrite::ResponseDate) {
            response.set("Date", &date(Utc::now()));
        }
        if self.rewrites(Rewrite::Gzip) {
            recode(request, response, "gzip", gzip)?;
        }
        if self.rewrites(Rewrite::Brotli) {
            recode(request, response, "br", |body| Ok(brotli(body)))?;
        }
        if self.rewrites(Rewrite::Close) {
            response.set("Connection", "close");
        }
        if self.rewrites(Rewrite::LowercaseHeaders) {
            lowercase(response);
        }
        Ok(())
    }
}

impl Page {
    /// Renders a response of the gateway.
    fn response(self, status: u16) -> Vec<u8> {
        let (media, body) = match self {
            Self::Empty => (None, String::new()),
            Self::Bare => (Some("text/plain"), "upstream connect error\n".to_owned()),
            Self::Html => {
                let body = format!("<html><head><title>{status}</title></head><body>gateway</body></html>\n");
                (Some("text/html"), body)
            }
        };
        let media = media.map(|media| format!("Content-Type: {media}\r\n")).unwrap_or_default();
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Gateway\r\n{media}Content-Length: {length}\r\n\r\n");
        (head + &body).into_bytes()
    }
}

/// Ends a connection with a reset (RFC 9293 section 3.5.3) once it is dropped.
fn reset(client: &End) -> io::Result<()> {
    client.stream.set_zero_linger()
}

/// Formats a time as a Date header (RFC 9110 section 5.6.7).
fn date(time: DateTime<Utc>) -> String {
    time.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn lowercase(message: &mut Message) {
    for (name, _) in &mut message.headers {
        name.make_ascii_lowercase();
    }
}

/// Compresses the body of a response if the request accepts the coding by name.
fn recode(
    request: &Message,
    response: &mut Message,
    coding: &str,
    encode: fn(&[u8]) -> io::Result<Vec<u8>>,
) -> io::Result<()> {
    let accepts = request.header("accept-encoding").is_none_or(|value| value.contains(coding));
    if accepts && !response.body.is_empty() && response.header("content-encoding").is_none() {
        response.body = encode(&response.body)?;
        response.set("Content-Encoding", coding);
    }
    Ok(())
}

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    encoder.finish()
}

/// Codes a body as Brotli without compression: stored meta-blocks, then an empty last one (RFC 7932,
/// section 9.2).
fn brotli(body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    // One zero bit before the first meta-block is a window of 16 bits.
    let mut shift = 1;
    for block in body.chunks(1 << 16) {
        // ISLAST 0, MNIBBLES 4 as 00, MLEN - 1 in 16 bits, ISUNCOMPRESSED 1.
        let length = u32::try_from(block.len() - 1).unwrap_or_default();
        let header = (length << 3 | 1 << 19) << shift;
        coded.extend_from_slice(&header.to_le_bytes()[..3]);
        coded.extend_from_slice(block);
        shift = 0;
    }
    // ISLAST 1, ISLASTEMPTY 1.
    coded.push(0b11 << shift);
    coded
}
