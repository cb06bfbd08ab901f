//! TLS towards the client, with a certificate of whoever runs the proxy.

use std::sync::Arc;

use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tokio_rustls::TlsAcceptor;

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A text that is not what it should be.
    #[error("expected {0} in PEM, found none that can be read")]
    Pem(&'static str),
    /// Parts that do not fit together.
    #[error("TLS cannot be set up: {0}")]
    Setup(String),
}

/// What clients agree with on TLS: a certificate with those of the authorities in between, and its private
/// key; the authorities of the certificates that clients are asked for, and whether they must show one. All
/// of it is PEM.
///
/// HTTP/1.1 is the only protocol on offer: no other one is read.
pub fn acceptor(
    certificates: &str,
    key: &str,
    clients: Option<(&str, bool)>,
) -> Result<TlsAcceptor, TlsError> {
    let setup = |error: &dyn std::fmt::Display| TlsError::Setup(error.to_string());
    let certificates = all(certificates, "a certificate")?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| TlsError::Pem("a private key"))?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| setup(&error))?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some((authorities, is_required)) => {
            let mut roots = RootCertStore::empty();
            for certificate in all(authorities, "a certificate of an authority")? {
                roots.add(certificate).map_err(|error| setup(&error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = if is_required { verifier } else { verifier.allow_unauthenticated() };
            builder.with_client_cert_verifier(verifier.build().map_err(|error| setup(&error))?)
        }
    };
    let mut config = builder.with_single_cert(certificates, key).map_err(|error| setup(&error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn all(pem: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    certificates.ok().filter(|certificates| !certificates.is_empty()).ok_or(TlsError::Pem(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_pem_are_named() {
        let error = acceptor("none", "none", None).err().unwrap();
        assert_eq!(error.to_string(), "expected a certificate in PEM, found none that can be read");
    }
}
