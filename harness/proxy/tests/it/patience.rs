//! Unused connections are closed, and clients that disconnect are noticed.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use xs2aspec_proxy::Sighting;

use crate::support::{LONG, bank, before, exchange, next, started};

/// Longer than it takes to notice a closed connection on a busy machine.
const SOON: Duration = Duration::from_secs(30);

async fn is_closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    // A reset also closes the connection.
    drop(timeout(SOON, stream.read_to_end(&mut rest)).await.expect("still open"));
    assert!(rest.is_empty(), "{rest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_on_which_nothing_passes_are_closed() {
    let (proxy, mut sightings) = before(bank().await, Duration::from_millis(300)).await;
    let mut silent = TcpStream::connect(proxy.address()).await.unwrap();
    let mut used = TcpStream::connect(proxy.address()).await.unwrap();
    exchange(&mut used).await;
    is_closed(&mut silent).await;
    is_closed(&mut used).await;
    let Some(Sighting::Exchange(seen)) = next(&mut sightings).await else { panic!() };
    assert!(seen.answer.is_some() && seen.failure.is_none(), "{seen:?}");
    proxy.shutdown().await;
    assert!(sightings.recv().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_does_not_answer_is_told_when_the_connection_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, mut sightings) = before(listener.local_addr().unwrap(), Duration::from_secs(1)).await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    client.write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    is_closed(&mut client).await;
    let Some(Sighting::Exchange(seen)) = next(&mut sightings).await else { panic!() };
    assert_eq!(seen.failure.as_deref(), Some("nothing passed for 1 s"));
    proxy.shutdown().await;
}

/// The proxy closes the connections of clients that left, even if the bank keeps them open.
#[tokio::test(flavor = "multi_thread")]
async fn the_connection_of_a_client_that_left_is_closed_to_the_bank() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, _sightings) = before(listener.local_addr().unwrap(), LONG).await;
    let client = TcpStream::connect(proxy.address()).await.unwrap();
    let (mut bank, _) = listener.accept().await.unwrap();
    drop(client);
    is_closed(&mut bank).await;
    // Once a write here meets a reset, the proxy has closed its side too.
    let written = async {
        while bank.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, written).await.expect("still open");
    proxy.shutdown().await;
}

/// The proxy does not connect for a client that left, and keeps the bytes of a client that waits.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_before_there_is_a_bank_ends_the_connecting() {
    let connecting = Arc::new(());
    let mine = Arc::clone(&connecting);
    let connect = move || -> std::pin::Pin<Box<dyn Future<Output = Result<_, String>> + Send>> {
        let held = Arc::clone(&mine);
        Box::pin(async move {
            let never = std::future::pending().await;
            drop(held);
            never
        })
    };
    let (proxy, _sightings) = started(Arc::new(connect), LONG).await;
    let client = TcpStream::connect(proxy.address()).await.unwrap();
    let holders = |count: usize| {
        let connecting = Arc::clone(&connecting);
        async move {
            // This clone, the one in the test, and the one in the closure.
            while Arc::strong_count(&connecting) != count + 3 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    };
    timeout(SOON, holders(1)).await.expect("nobody connects");
    drop(client);
    timeout(SOON, holders(0)).await.expect("still connecting");
    proxy.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_sends_before_there_is_a_bank_reaches_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connect = move || -> std::pin::Pin<Box<dyn Future<Output = Result<_, String>> + Send>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
            Ok(Box::new(stream) as xs2aspec_proxy::BoxStream)
        })
    };
    let (proxy, _sightings) = started(Arc::new(connect), LONG).await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    // Sends more than is read ahead, and then closes. The client still waits for the response.
    let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
    client.write_all(&sent).await.unwrap();
    client.shutdown().await.unwrap();
    let (mut bank, _) = listener.accept().await.unwrap();
    let mut came = Vec::new();
    bank.read_to_end(&mut came).await.unwrap();
    assert!(came == sent, "{} of {} bytes", came.len(), sent.len());
    bank.write_all(b"answer").await.unwrap();
    drop(bank);
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"answer");
    proxy.shutdown().await;
}
