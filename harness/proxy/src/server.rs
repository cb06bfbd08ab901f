//! Accepts the connections of clients and opens a connection to the bank for each.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc, watch},
    task::{JoinHandle, JoinSet},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    budget::Budget,
    conversation::Conversation,
    exchange::Sighting,
    forward::{Ends, PIECE, forward},
    stream::BoxStream,
};

/// Maximum number of concurrent client connections. Further ones wait.
const MOST_CONNECTIONS: usize = 1_024;
/// Maximum number of sightings that wait for the receiver. Beyond that, connections pause forwarding.
const MOST_SIGHTINGS: usize = 1_024;
/// Maximum number of bytes kept for all connections together.
const MOST_KEPT: usize = 64 * 1024 * 1024;
/// Longest time for the TLS handshake of a client.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);

/// Opens a connection to the bank, or returns a message with the reason for a failure.
pub type Connect =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<BoxStream, String>> + Send>> + Send + Sync>;

/// The settings of a proxy.
pub struct Config {
    /// Address for clients.
    pub listen: SocketAddr,
    /// TLS towards clients, if used.
    pub tls: Option<TlsAcceptor>,
    /// Opens connections to the bank.
    pub connect: Connect,
    /// Longest time that a connection stays open without traffic.
    pub idle: Duration,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// A running proxy.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy. The caller must receive its sightings, or forwarding pauses.
    pub fn start(config: Config) -> Pin<Box<dyn Future<Output = Started> + Send>> {
        // Boxed so that the code is generated once and not for each caller.
        Box::pin(Self::started(config))
    }

    async fn started(config: Config) -> Started {
        let listener = TcpListener::bind(config.listen).await?;
        let address = listener.local_addr()?;
        let (sender, sightings) = mpsc::channel(MOST_SIGHTINGS);
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(accept(listener, config, sender, stopped));
        Ok((Self { address, stop, running }, sightings))
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections. Returns when every sighting is in the channel, so the receiver must keep
    /// reading.
    pub async fn shutdown(self) {
        _ = self.stop.send(true);
        drop(self.running.await);
    }
}

/// A proxy and its sightings.
pub type Started = io::Result<(Proxy, mpsc::Receiver<Vec<Sighting>>)>;

/// State shared by all connections.
struct Shared {
    start: Instant,
    budget: Budget,
    config: Config,
    sightings: mpsc::Sender<Vec<Sighting>>,
}

async fn accept(
    listener: TcpListener,
    config: Config,
    sightings: mpsc::Sender<Vec<Sighting>>,
    mut stop: watch::Receiver<bool>,
) {
    let budget = Budget::new(MOST_KEPT);
    let shared = Arc::new(Shared { start: Instant::now(), budget, config, sightings });
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut number = 0;
    let stopped = stop.clone();
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            Some(_) = connections.join_next() => continue,
            _ = stop.wait_for(|stopped| *stopped) => break,
        };
        let Ok((stream, _)) = accepted else {
            // For example, too many files are open. Other connections will end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        number += 1;
        let (shared, stopped) = (Arc::clone(&shared), stopped.clone());
        connections.spawn(async move {
            connection(number, stream, &shared, stopped).await;
            drop(permit);
        });
    }
    drop(listener);
    // The connections now only report their last sightings.
    while connections.join_next().await.is_some() {}
}

async fn connection(number: u64, stream: TcpStream, shared: &Shared, mut stop: watch::Receiver<bool>) {
    // Waiting to fill a segment only delays small messages. If setting the option fails, the socket is
    // closed.
    drop(stream.set_nodelay(true));
    let stopped = stop.clone();
    let opened = tokio::select! {
        opened = open(stream, shared) => opened,
        _ = stop.wait_for(|stopped| *stopped) => None,
    };
    match opened {
        None => {}
        Some(Ok(ends)) => {
            let conversation = Conversation::new(number, shared.start, &shared.budget);
            forward(ends, conversation, &shared.sightings, shared.config.idle, stopped).await;
        }
        Some(Err(why)) => {
            let unreachable = Sighting::Unreachable { connection: number, why };
            drop(shared.sightings.send(vec![unreachable]).await);
        }
    }
}

/// Completes the TLS handshake with the client and connects to the bank. The error is the reason why there is
/// no connection to the bank. Returns `None` if the client disconnects first.
async fn open(stream: TcpStream, shared: &Shared) -> Option<Result<Ends, String>> {
    let mut client = client(stream, shared.config.tls.as_ref()).await?;
    let mut ahead = Vec::new();
    let bank = tokio::select! {
        bank = (shared.config.connect)() => bank,
        () = gone(&mut client, &mut ahead) => return None,
    };
    Some(bank.map(|bank| Ends { client, ahead, bank }))
}

/// Returns when the client disconnects. Stores the bytes received until then in `ahead`. A client that sent a
/// request and closed its direction still waits for the response (RFC 9112 section 9.6).
async fn gone(client: &mut BoxStream, ahead: &mut Vec<u8>) {
    while ahead.len() < PIECE {
        match client.read_buf(ahead).await {
            Ok(0) if !ahead.is_empty() => break,
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    std::future::pending::<()>().await;
}

/// Returns the connection of the client, after the TLS handshake if TLS is used.
async fn client(stream: TcpStream, tls: Option<&TlsAcceptor>) -> Option<BoxStream> {
    let Some(tls) = tls else { return Some(Box::new(stream)) };
    let stream = timeout(HANDSHAKE_PATIENCE, tls.accept(stream)).await.ok()?.ok()?;
    Some(Box::new(stream))
}
