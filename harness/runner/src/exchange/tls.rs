//! The TLS configuration of both paths.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use rustls_platform_verifier::BuilderVerifierExt;

use super::{ExchangeError, trouble::of_tls};

/// Returns a configuration that trusts only the given authorities (PEM), or those of the system if none are
/// given. It presents the client's certificate and key (PEM) on request. Without TLS (`is_plain`), the
/// system's authorities are not loaded, because that is slow.
pub(super) fn client_config(
    authorities: Option<&str>,
    client: Option<&(String, String)>,
    is_plain: bool,
) -> Result<Arc<ClientConfig>, ExchangeError> {
    let wrong = |error: &dyn std::fmt::Display| ExchangeError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(&error))?;
    let builder = match authorities {
        None if is_plain => builder.with_root_certificates(RootCertStore::empty()),
        None => builder.with_platform_verifier().map_err(|error| wrong(&error))?,
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate =
                    certificate.map_err(|_| wrong(&"`authorities`: expected certificates in PEM"))?;
                roots
                    .add(certificate)
                    .map_err(|error| wrong(&format!("`authorities`: {}", of_tls(&error))))?;
            }
            if roots.is_empty() {
                return Err(wrong(&"`authorities` contains no certificate"));
            }
            builder.with_root_certificates(roots)
        }
    };
    let Some((certificates, key)) = client else { return Ok(Arc::new(builder.with_no_client_auth())) };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates.as_bytes()).collect();
    let certificates =
        certificates.map_err(|_| wrong(&"`[tls] certificate`: expected certificates in PEM"))?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|_| wrong(&"`[tls] key`: expected a private key in PEM"))?;
    let config = builder.with_client_auth_cert(certificates, key);
    Ok(Arc::new(config.map_err(|error| wrong(&format!("`[tls]`: {}", of_tls(&error))))?))
}
