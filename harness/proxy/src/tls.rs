//! TLS towards the client, with a certificate of the operator of the proxy.

use std::sync::Arc;

use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tokio_rustls::TlsAcceptor;

/// The reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The string is not the expected PEM.
    #[error("expected {0} in PEM, found none that can be read")]
    Pem(&'static str),
    /// The parts do not match.
    #[error("cannot set up TLS: {0}")]
    Setup(String),
}

/// Returns an acceptor for clients. `certificates` is a certificate with its intermediate authorities, and
/// `key` is its private key. `clients` contains the authorities for client certificates, and true if a client
/// certificate is required. All of it is PEM.
///
/// Offers only HTTP/1.1, because the proxy reads no other protocol.
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
