//! Both paths of the transport, plain and over TLS, against real sockets.
//!
//! `wiremock` shows neither the bytes of a request nor TLS.

use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;
use xs2aspec_judge::{Profile, fill::WireRequest, profile::Http};
use xs2aspec_runner::exchange::{ExchangeError, Exchanger};

/// Reads one request and returns its bytes as the body of a 200.
async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut seen = Vec::new();
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") || !seen.ends_with(b"end") {
        if stream.read_buf(&mut seen).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", seen.len());
    _ = stream.write_all(head.as_bytes()).await;
    _ = stream.write_all(&seen).await;
    _ = stream.shutdown().await;
}

/// Starts a server that echoes requests, over TLS if it gets a certificate. Returns its base URL.
async fn server(tls: Option<&CertifiedKey<rcgen::KeyPair>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = tls.map(|pair| {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let config =
            config.with_no_client_auth().with_single_cert(vec![pair.cert.der().clone()], key).unwrap();
        TlsAcceptor::from(Arc::new(config))
    });
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                match acceptor {
                    None => echo(stream).await,
                    Some(acceptor) => {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            echo(stream).await;
                        }
                    }
                }
            });
        }
    });
    format!("{scheme}://localhost:{port}")
}

fn request(base_url: &str, exact: bool) -> WireRequest {
    WireRequest {
        method: "POST".into(),
        url: format!("{base_url}/v1/a?b=c"),
        headers: vec![("pSu-iD".into(), "x".into()), ("Accept".into(), "a/b".into())],
        body: b"the end".to_vec(),
        exact,
    }
}

async fn sent(profile: &Profile, exact: bool) -> Result<String, ExchangeError> {
    let exchanger = Exchanger::new(profile)?;
    exchanger
        .send(&request(&profile.base_url, exact))
        .await
        .answer
        .map(|answer| String::from_utf8(answer.body).unwrap())
}

/// Starts a server that closes each connection at its second request, or after a deletion, without notice.
/// Returns its base URL.
async fn silent_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                for number in 0..2 {
                    let mut seen = Vec::new();
                    while !seen.windows(4).any(|end| end == b"\r\n\r\n") || !seen.ends_with(b"end") {
                        if stream.read_buf(&mut seen).await.unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    if number == 1 {
                        return;
                    }
                    let is_deletion = seen.starts_with(b"DELETE");
                    let answer =
                        if is_deletion { "204 No\r\n\r\n" } else { "200 OK\r\nContent-Length: 0\r\n\r\n" };
                    _ = stream.write_all(format!("HTTP/1.1 {answer}").as_bytes()).await;
                    if is_deletion {
                        return;
                    }
                }
            });
        }
    });
    format!("http://localhost:{port}")
}

#[tokio::test]
async fn what_a_target_loses_over_used_connections_it_gets_over_new_ones() {
    let url = silent_server().await;
    let profile = Profile::of_url(&url, xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let exchanger = Exchanger::new(&profile).unwrap();
    let mut lost = 0;
    for number in 0..20 {
        let sent = exchanger.send(&request(&url, false)).await.answer;
        lost += usize::from(sent.is_err());
        assert!(sent.is_ok() || number < 7, "{number}: {sent:?}");
    }
    assert!((1..=3).contains(&lost), "{lost}");
    // After a deletion, no connection is left for other requests to reuse.
    let exchanger = Exchanger::new(&profile).unwrap();
    for _ in 0..20 {
        let deletion = WireRequest { method: "DELETE".into(), ..request(&url, false) };
        assert_eq!(exchanger.send(&deletion).await.answer.unwrap().status, 204);
    }
    assert!(exchanger.send(&request(&url, false)).await.answer.is_ok());
}

#[tokio::test]
async fn both_paths_send_what_they_are_given_and_the_raw_one_keeps_letter_case() {
    let pair = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    for tls in [None, Some(&pair)] {
        let mut profile =
            Profile::of_url(&server(tls).await, xs2aspec_suite::ProfileSpec::embedded()).unwrap();
        profile.authorities = tls.map(|pair| pair.cert.pem());
        let client = sent(&profile, false).await.unwrap();
        assert!(client.starts_with("POST /v1/a?b=c HTTP/1.1\r\nPsu-Id: x\r\nAccept: a/b\r\n"), "{client}");
        assert!(client.ends_with("\r\n\r\nthe end"));
        let raw = sent(&profile, true).await.unwrap();
        let port = profile.base_url.rsplit(':').next().unwrap();
        let head =
            format!("POST /v1/a?b=c HTTP/1.1\r\nHost: localhost:{port}\r\npSu-iD: x\r\nAccept: a/b\r\n");
        assert!(raw.starts_with(&head), "{raw}");
    }
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused_on_both_paths() {
    let pair = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let mut profile =
        Profile::of_url(&server(Some(&pair)).await, xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    profile.authorities = Some(other.cert.pem());
    for exact in [false, true] {
        assert!(matches!(sent(&profile, exact).await, Err(ExchangeError::Unreachable(_))), "exact: {exact}");
    }
}

#[tokio::test]
async fn authorities_that_are_none_are_an_error() {
    let mut profile =
        Profile::of_url("https://localhost:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    profile.authorities = Some("no certificate".into());
    assert!(matches!(Exchanger::new(&profile), Err(ExchangeError::Tls(_))));
}

#[tokio::test]
async fn the_deadline_holds_on_both_paths() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut profile = Profile::of_url(
        &format!("http://{}", listener.local_addr().unwrap()),
        xs2aspec_suite::ProfileSpec::embedded(),
    )
    .unwrap();
    profile.deadline = std::time::Duration::from_millis(50);
    for exact in [false, true] {
        assert_eq!(
            sent(&profile, exact).await,
            Err(ExchangeError::Deadline(profile.deadline)),
            "exact: {exact}"
        );
    }
}

#[tokio::test]
async fn http_2_is_agreed_on_where_the_profile_wants_it() {
    let pair = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let mut config = builder.with_single_cert(vec![pair.cert.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    for (http, exact, expected) in [
        (Http::One, false, None),
        (Http::Two, false, Some(&b"h2"[..])),
        // Only HTTP/1.1 preserves the case and repetition of header names.
        (Http::Two, true, None),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let profile = Profile {
            http,
            authorities: Some(pair.cert.pem()),
            ..Profile::of_url(&url, xs2aspec_suite::ProfileSpec::embedded()).unwrap()
        };
        let agreed = async {
            let (stream, _) = listener.accept().await.unwrap();
            let stream = acceptor.accept(stream).await.unwrap();
            stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec)
        };
        let (_, agreed) = tokio::join!(sent(&profile, exact), agreed);
        assert_eq!(agreed.as_deref(), expected, "{http:?}, exact: {exact}");
    }
}

/// The listener accepts connections and does not complete the TLS handshake.
#[tokio::test]
async fn the_time_to_connect_covers_tls_on_both_paths() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let mut profile = Profile::of_url(&url, xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    profile.connect_timeout = std::time::Duration::from_millis(50);
    for exact in [false, true] {
        let sent = sent(&profile, exact).await;
        assert!(matches!(sent, Err(ExchangeError::Unreachable(_))), "exact: {exact}: {sent:?}");
    }
}
