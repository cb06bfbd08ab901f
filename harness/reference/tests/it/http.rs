//! HTTP: persistent connections, bodies in pieces, truncated requests, and shutdown.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use xs2aspec_reference::{Bank, Clock, Config, start};

use crate::support::{Call, bank, exchange, noon};

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
    assert_eq!(reply.status, 413, "without Content-Length");
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
    assert_eq!(Call::ncbct().send(&bank).await.status, 201, "the bank keeps serving");
    bank.shutdown().await.unwrap();
}

/// Starts a bank with a time limit of a fifth of a second.
async fn impatient() -> Bank {
    start(Config { now: Clock::at(Some(noon())), patience: Duration::from_millis(200), ..Config::default() })
        .await
        .unwrap()
}

#[tokio::test]
async fn a_body_that_never_comes_to_its_end_is_answered() {
    let bank = impatient().await;
    let whole = Call::ncbct().signed().wire();
    let end = whole.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let body = whole.len() - end - 4;
    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let reply = exchange(&mut stream, &whole[..whole.len() - 20]).await;
    assert_eq!(reply.refusal(), (408, "BAD_REQUEST", "http.body"));
    let said = reply.text();
    let expected = format!(
        "expected a body of {body} bytes (Content-Length), got {} within 0.2 s: correct Content-Length or send the rest",
        body - 20
    );
    assert!(said.contains(&expected), "{said}");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty(), "the connection closes");

    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    let chunked =
        "POST /v1/signing-baskets HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n";
    let reply = exchange(&mut stream, chunked.as_bytes()).await;
    assert_eq!(reply.refusal(), (408, "BAD_REQUEST", "http.body"));
    assert!(reply.text().contains("expected the last chunk of the body"), "{}", reply.text());
    assert_eq!(Call::ncbct().send(&bank).await.status, 201, "the bank keeps serving");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_head_that_never_comes_to_its_end_is_answered() {
    let bank = impatient().await;
    let whole = Call::ncbct().signed().wire();
    let mut stream = TcpStream::connect(bank.address()).await.unwrap();
    // An idle connection between two requests stays open.
    for _ in 0..2 {
        assert_eq!(exchange(&mut stream, &whole).await.status, 201);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // So does a request that arrives in pieces.
    for piece in [&whole[..9], &whole[9..100], &whole[100..whole.len() - 9]] {
        stream.write_all(piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!(exchange(&mut stream, &whole[whole.len() - 9..]).await.status, 201);
    let begun = Instant::now();
    let reply = exchange(&mut stream, &whole[..40]).await;
    assert_eq!(reply.refusal(), (408, "BAD_REQUEST", "http.head"));
    assert!(
        reply.text().contains("expected the empty line that ends the head within 0.2 s, got 40 bytes"),
        "{}",
        reply.text()
    );
    assert!(begun.elapsed() >= Duration::from_millis(200));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty(), "the connection closes");
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
