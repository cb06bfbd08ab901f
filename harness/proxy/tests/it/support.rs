//! Shared by these tests: a proxy, a bank, and a client.

use std::{net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc::Receiver,
};
use xs2aspec_proxy::{BoxStream, Config, Connect, Proxy, Sighting};

/// Longer than any test takes.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// Starts a proxy for the bank at this address.
pub(crate) async fn before(address: SocketAddr, idle: Duration) -> (Proxy, Receiver<Vec<Sighting>>) {
    type Connecting = Pin<Box<dyn Future<Output = Result<BoxStream, String>> + Send>>;
    let connect = Arc::new(move || -> Connecting {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
            Ok(Box::new(stream) as BoxStream)
        })
    });
    started(connect, idle).await
}

/// Starts a proxy that reaches its bank through `connect`.
pub(crate) async fn started(connect: Connect, idle: Duration) -> (Proxy, Receiver<Vec<Sighting>>) {
    let listen = "127.0.0.1:0".parse().unwrap();
    Proxy::start(Config { listen, tls: None, connect, idle }).await.unwrap()
}

/// Returns the next sighting. Expects one per batch.
pub(crate) async fn next(sightings: &mut Receiver<Vec<Sighting>>) -> Option<Sighting> {
    let mut seen = sightings.recv().await?;
    assert_eq!(seen.len(), 1, "{seen:?}");
    seen.pop()
}

const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// Starts a bank that responds to every request.
pub(crate) async fn bank() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; REQUEST.len()];
                while stream.read_exact(&mut request).await.is_ok() && stream.write_all(ANSWER).await.is_ok()
                {
                }
            });
        }
    });
    address
}

/// Sends a request and reads its response.
pub(crate) async fn exchange(client: &mut TcpStream) {
    client.write_all(REQUEST).await.unwrap();
    let mut answer = [0; ANSWER.len()];
    client.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, ANSWER);
}
