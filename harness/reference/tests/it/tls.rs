//! TLS with the bank's certificate, with and without a client certificate.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use xs2aspec_reference::{Bank, Config, Tls, start};

/// A certificate authority, which issues certificates and keys in PEM.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn gives(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

/// Sends a request with this client certificate. Returns the first line of the response, or the error.
async fn ask(bank: &Bank, trusted: &Authority, shown: Option<&(String, String)>) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.0.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    let config = match shown {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
            )
            .unwrap(),
    };
    let stream = TcpStream::connect(bank.address()).await?;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(b"GET /v1/sandbox/customers HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

async fn bank(authority: &Authority, clients: Option<&Authority>, client_required: bool) -> Bank {
    let (certificates, key) = authority.gives();
    let client_authorities = clients.map(|clients| clients.0.pem());
    let tls = Some(Tls { certificates, key, client_authorities, client_required });
    start(Config { tls, ..Config::default() }).await.unwrap()
}

#[tokio::test]
async fn a_bank_speaks_tls_with_its_certificate() {
    let authority = Authority::new();
    let bank = bank(&authority, None, false).await;
    assert!(bank.base_url().starts_with("https://127.0.0.1:"));
    assert_eq!(ask(&bank, &authority, None).await.unwrap(), "HTTP/1.1 400 Bad Request");
    assert!(ask(&bank, &Authority::new(), None).await.is_err(), "an authority that the client does not know");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_client_may_show_a_certificate_or_has_to() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (known, unknown) = (clients.gives(), Authority::new().gives());
    for required in [false, true] {
        let bank = bank(&authority, Some(&clients), required).await;
        assert!(ask(&bank, &authority, Some(&known)).await.is_ok());
        assert!(ask(&bank, &authority, Some(&unknown)).await.is_err(), "of another authority");
        assert_eq!(ask(&bank, &authority, None).await.is_ok(), !required);
        bank.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn a_key_of_another_certificate_is_refused_at_the_start() {
    let authority = Authority::new();
    let ((certificates, _), (_, key)) = (authority.gives(), authority.gives());
    let tls = Some(Tls { certificates, key, client_authorities: None, client_required: false });
    let error = start(Config { tls, ..Config::default() }).await.unwrap_err();
    assert!(error.to_string().starts_with("TLS cannot be set up: "), "{error}");
}
