//! Connection trouble: a TLS handshake that does not finish, or a certificate of another server.

use std::{
    io::{ErrorKind, Read, Result, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use rcgen::{CertificateParams, CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use xs2aspec_record::Verdict;

use super::{
    EXACT, PATIENT, PLAIN, Ran, SHORT, bounded, healthy, run,
    server::{Server, Stream},
};

/// Returns the configuration of a server with this certificate.
pub(crate) fn tls(pair: &CertifiedKey<KeyPair>, protocols: &[&[u8]]) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config =
        builder.with_no_client_auth().with_single_cert(vec![pair.cert.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Arc::new(config)
}

pub(crate) fn over_tls(config: &Arc<ServerConfig>, stream: TcpStream) -> Result<Box<dyn Stream>> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}

/// Returns a valid certificate for localhost.
pub(crate) fn good() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// Runs against a server at `localhost`, and trusts only this certificate.
fn against(pair: &CertifiedKey<KeyPair>, server: &Server, deadline: u32) -> Ran {
    let folder = tempfile::TempDir::new().unwrap();
    let authorities = folder.path().join("authorities.pem");
    std::fs::write(&authorities, pair.cert.pem()).unwrap();
    let url = format!("https://localhost:{}", server.address.port());
    run(&url, &format!("authorities = \"{}\"\ndeadline-ms = {deadline}", authorities.display()))
}

/// Asserts that without a response, no case passes or fails.
fn unreachable(ran: &Ran) {
    bounded(ran);
    for (case, verdict) in &ran.verdicts {
        assert!(matches!(verdict.verdict, Verdict::Error | Verdict::Inconclusive), "{case}: {verdict:?}");
    }
    assert_eq!((ran.verdict(PLAIN), ran.verdict(EXACT)), (Verdict::Error, Verdict::Error));
    let exchange = ran.exchange(PLAIN);
    assert_eq!(exchange.response, None);
    assert!(exchange.failure.is_some());
    assert_eq!(ran.code, Some(3), "{}", ran.said);
}

#[test]
fn tls_that_is_right() {
    let pair = good();
    let config = tls(&pair, &[]);
    let server =
        Server::wrapped(move |stream| over_tls(&config, stream), |answer, stream| stream.write_all(answer));
    healthy(&against(&pair, &server, PATIENT));
}

#[test]
fn tls_that_ends_half_way() {
    let pair = good();
    // After the client's first message, the server sends nothing, garbage, or half a response, or stays
    // silent.
    let endings: [(&[u8], u32); 4] = [
        (b"", PATIENT),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", PATIENT),
        (b"\x16\x03\x03\x00\x7a\x02\x00\x00", PATIENT),
        (b"silence", SHORT),
    ];
    for (ending, deadline) in endings {
        let server = Server::wrapped(
            move |mut stream| {
                stream.read_exact(&mut [0; 5])?;
                if ending == b"silence" {
                    std::thread::sleep(Duration::from_secs(60));
                }
                stream.write_all(ending)?;
                Err(ErrorKind::ConnectionAborted.into())
            },
            |answer, stream| stream.write_all(answer),
        );
        unreachable(&against(&pair, &server, deadline));
    }
}

#[test]
fn a_certificate_that_is_over_or_for_another_host() {
    let signing_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2020, 2, 1);
    let over = CertifiedKey { cert: params.self_signed(&signing_key).unwrap(), signing_key };
    let other = generate_simple_self_signed(["another.example".to_owned()]).unwrap();
    for (pair, says) in [(over, "expired"), (other, "not for the host name")] {
        let config = tls(&pair, &[]);
        let server = Server::wrapped(
            move |stream| over_tls(&config, stream),
            |answer, stream| stream.write_all(answer),
        );
        let ran = against(&pair, &server, PATIENT);
        unreachable(&ran);
        assert_eq!(server.asked(), 0);
        let failure = ran.exchange(PLAIN).failure.clone().unwrap();
        assert!(failure.contains(says), "{failure}");
    }
}
