//! HTTP itself: connections that stay open, bodies in pieces, requests cut off, and stopping.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use xs2aspec_reference::{Config, start};

use crate::support::{Call, bank, exchange};

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let bank = bank(None).await;
    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let (good, bad) = (Call::ncbct().signed().wire(), Call::ncbct().without("psu-id").signed().wire());
    for _ in 0..20 {
        assert_eq!(exchange(&mut stream, &good).await.status, 201);
        assert_eq!(exchange(&mut stream, &bad).await.status, 400);
    }
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_refused_body_does_not_disturb_the_next_request() {
    let bank = bank(None).await;
    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let broken = Call::ncbct().bytes(vec![b'{'; 50_000]).signed().wire();
    assert_eq!(exchange(&mut stream, &broken).await.status, 400);
    assert_eq!(exchange(&mut stream, &Call::ncbct().signed().wire()).await.status, 201);
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let bank = bank(None).await;
    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let head = "POST /v1/signing-baskets HTTP/1.1\r\nHost: b\r\nContent-Length: 9999999\r\n\r\n";
    let reply = exchange(&mut stream, head.as_bytes()).await;
    assert_eq!(reply.refusal(), (413, "BAD_REQUEST", "http.body-size"));

    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let head = "POST /v1/signing-baskets HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("110000\r\n{}\r\n0\r\n\r\n", " ".repeat(0x0011_0000));
    let reply = exchange(&mut stream, [head, &chunk].concat().as_bytes()).await;
    assert_eq!(reply.status, 413, "without an announcement");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_refused() {
    let bank = bank(None).await;
    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let whole = Call::ncbct().signed().wire();
    stream.write_all(&whole[..whole.len() - 5]).await.unwrap();
    stream.shutdown().await.unwrap();
    let reply = exchange(&mut stream, b"").await;
    assert_eq!(reply.refusal(), (400, "FORMAT_ERROR", "http.body"));
    assert_eq!(Call::ncbct().send(&bank).await.status, 201, "the bank goes on");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn stopping_does_not_wait_for_idle_connections() {
    let bank = start(Config::default()).await.unwrap();
    assert!(bank.base_url().starts_with("http://127.0.0.1:") && bank.address().port() != 0);
    let address = bank.address();
    let mut idle = TcpStream::connect(address).await.unwrap();
    assert_eq!(exchange(&mut idle, &Call::customers().signed().wire()).await.status, 200);
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"POST /v1/signing-baskets HTTP/1.1\r\nHost: b\r\nContent-Length: 10\r\n\r\n{")
        .await
        .unwrap();
    let started = Instant::now();
    bank.shutdown().await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(4));
    assert!(TcpStream::connect(address).await.is_err());
}
