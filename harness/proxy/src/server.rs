//! All connections: accepts those of clients and gives each one of its own to the bank.

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

/// Connections of clients at once; further ones wait.
const MOST_CONNECTIONS: usize = 1_024;
/// Sightings that wait for the receiver. When there are more, connections wait before they forward anything.
const MOST_SIGHTINGS: usize = 1_024;
/// Bytes that are kept of all connections together.
const MOST_KEPT: usize = 64 * 1024 * 1024;
/// How long a client may take to agree on TLS.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);

/// Makes a connection to the bank; an error says in words why there is none.
pub type Connect =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<BoxStream, String>> + Send>> + Send + Sync>;

/// What a proxy needs.
pub struct Config {
    /// Where clients connect to.
    pub listen: SocketAddr,
    /// How they agree on TLS, if they are to.
    pub tls: Option<TlsAcceptor>,
    /// How the bank is reached.
    pub connect: Connect,
    /// How long a connection may stay open while nothing passes on it.
    pub idle: Duration,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// A proxy that runs.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Proxy {
    /// Starts one. What it sees has to be received: it waits for whoever does not.
    pub fn start(config: Config) -> Pin<Box<dyn Future<Output = Started> + Send>> {
        // Boxed, so that its code is in the program once, and not once for each caller.
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections. Returns when every sighting is in the channel, so it waits for the receiver.
    pub async fn shutdown(self) {
        _ = self.stop.send(true);
        drop(self.running.await);
    }
}

/// A proxy, and what it sees.
pub type Started = io::Result<(Proxy, mpsc::Receiver<Vec<Sighting>>)>;

/// What all connections share.
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
            // Too many open files, for instance: others will end.
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
    // All that a connection does now is to hand over what it has seen.
    while connections.join_next().await.is_some() {}
}

async fn connection(number: u64, stream: TcpStream, shared: &Shared, mut stop: watch::Receiver<bool>) {
    // Small messages: waiting to fill a segment only delays them. A socket that refuses the option is closed.
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

/// Agrees on TLS with the client and connects to the bank; an error says why there is no connection to it.
/// Returns None if the client is gone before that.
async fn open(stream: TcpStream, shared: &Shared) -> Option<Result<Ends, String>> {
    let mut client = client(stream, shared.config.tls.as_ref()).await?;
    let mut ahead = Vec::new();
    let bank = tokio::select! {
        bank = (shared.config.connect)() => bank,
        () = gone(&mut client, &mut ahead) => return None,
    };
    Some(bank.map(|bank| Ends { client, ahead, bank }))
}

/// Returns when the client is gone, and keeps in `ahead` what it sends until then. A client that sent a
/// request and then ended its direction still waits for the answer (RFC 9112 section 9.6).
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

/// The client, after TLS if it is to be.
async fn client(stream: TcpStream, tls: Option<&TlsAcceptor>) -> Option<BoxStream> {
    let Some(tls) = tls else { return Some(Box::new(stream)) };
    let stream = timeout(HANDSHAKE_PATIENCE, tls.accept(stream)).await.ok()?.ok()?;
    Some(Box::new(stream))
}
