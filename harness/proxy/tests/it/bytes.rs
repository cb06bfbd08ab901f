//! Every byte is forwarded unchanged in both directions, as are closes. `wiremock` does not show bytes.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use xs2aspec_proxy::Sighting;

use crate::support::{LONG, before, next};

/// Returns the bytes that each end receives when both send at once in random pieces and then close.
async fn passed(client_sends: Vec<u8>, bank_sends: Vec<u8>) -> (Vec<u8>, Vec<u8>, Vec<Sighting>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, mut sightings) = before(listener.local_addr().unwrap(), LONG).await;
    let client = TcpStream::connect(proxy.address()).await.unwrap();
    let (bank, _) = listener.accept().await.unwrap();
    let looking = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(more) = sightings.recv().await {
            seen.extend(more);
        }
        seen
    });
    let (of_client, of_bank) = tokio::join!(talk(client, client_sends), talk(bank, bank_sends));
    proxy.shutdown().await;
    (of_bank, of_client, looking.await.unwrap())
}

/// Sends bytes, closes, and returns the bytes received.
async fn talk(stream: TcpStream, bytes: Vec<u8>) -> Vec<u8> {
    let (mut reader, mut writer) = stream.into_split();
    let sending = async move {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let count = fastrand::usize(1..=rest.len().min(50_000));
            writer.write_all(&rest[..count]).await.unwrap();
            rest = &rest[count..];
        }
        writer.shutdown().await.unwrap();
    };
    let mut came = Vec::new();
    let ((), read) = tokio::join!(sending, reader.read_to_end(&mut came));
    read.unwrap();
    came
}

#[tokio::test(flavor = "multi_thread")]
async fn random_bytes_pass_both_ways() {
    let mut random = fastrand::Rng::with_seed(23);
    for round in 0..20 {
        let mut bytes = |most: usize| {
            let mut bytes = vec![0; random.usize(0..most)];
            random.fill(&mut bytes);
            bytes
        };
        let (client, bank) = (bytes(1 << 20), bytes(1 << 20));
        let (to_bank, to_client, seen) = passed(client.clone(), bank.clone()).await;
        assert!(to_bank == client && to_client == bank, "round {round}");
        assert!(seen.iter().all(|one| !matches!(one, Sighting::Unreachable { .. })));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_odd_passes_as_it_is() {
    let client = "\r\npOsT /A%2f?b=%20 HTTP/1.1\r\nhOST:127.0.0.1\r\nX-oDD :\t b \r\n\r\n";
    let pipelined = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhOsT: a\r\n\r\n\
        2;name=\"value\";other\r\nab\r\n0;last\r\nX-Trailer: c\r\n\r\nDELETE /b HTTP/1.1\r\nExpect: 100-continue\r\nX: \t\r\n\r\n";
    let bank = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201  \r\ncontent-LENGTH:2\r\n\r\n{}\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n2;a=b\r\n{}\r\n0\r\nT: u\r\n\r\n";
    for client in [client, pipelined] {
        let (to_bank, to_client, _) = passed(client.into(), bank.into()).await;
        assert_eq!(String::from_utf8(to_bank).unwrap(), client);
        assert_eq!(String::from_utf8(to_client).unwrap(), bank);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_answers_are_seen_as_they_pass() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, mut sightings) = before(listener.local_addr().unwrap(), LONG).await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let (mut bank, _) = listener.accept().await.unwrap();
    let mut piece = [0; 1000];
    for turn in 0..3 {
        client.write_all(b"POST /a HTTP/1.1\r\nX-oDD: B\r\nContent-Length: 3\r\n\r\nabc").await.unwrap();
        assert!(bank.read(&mut piece).await.unwrap() > 0);
        bank.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
        assert!(client.read(&mut piece).await.unwrap() > 0);
        let Some(Sighting::Exchange(seen)) = next(&mut sightings).await else { panic!("turn {turn}") };
        assert_eq!((seen.request.target.as_str(), seen.request.body.bytes()), ("/a", &b"abc"[..]));
        assert_eq!(seen.request.headers[0], ("X-oDD".to_owned(), "B".to_owned()));
        assert_eq!(seen.answer.unwrap().status, 201);
    }
    // A request without a response at shutdown is reported, and both connections are closed.
    client.write_all(b"GET /b HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(bank.read(&mut piece).await.unwrap() > 0);
    proxy.shutdown().await;
    let Some(Sighting::Exchange(seen)) = next(&mut sightings).await else { panic!("the last one") };
    assert_eq!(seen.failure.as_deref(), Some("the proxy was stopped first"));
    assert_eq!((client.read(&mut piece).await.unwrap(), bank.read(&mut piece).await.unwrap()), (0, 0));
    assert!(sightings.recv().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_is_not_there_closes_the_connection() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let (proxy, mut sightings) = before(address, LONG).await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let mut came = Vec::new();
    drop(client.read_to_end(&mut came).await);
    assert!(came.is_empty(), "only bytes from the bank");
    let Some(Sighting::Unreachable { connection: 1, why }) = next(&mut sightings).await else { panic!() };
    assert!(!why.is_empty());
    proxy.shutdown().await;
}

/// A bank that does not read blocks its client, and a receiver that does not read blocks both. Nothing
/// accumulates in between.
#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_does_not_read_holds_up_the_other() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, _sightings) = before(listener.local_addr().unwrap(), LONG).await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let (_bank, _) = listener.accept().await.unwrap();
    client.write_all(b"POST /a HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n").await.unwrap();
    let piece = vec![b'x'; 1 << 20];
    let mut sent = 0;
    // The system buffers some megabytes on four sockets.
    while sent < 200
        && tokio::time::timeout(Duration::from_millis(500), client.write_all(&piece)).await.is_ok()
    {
        sent += 1;
    }
    assert!(sent < 100, "{sent} MiB were accepted");
    proxy.shutdown().await;
}
