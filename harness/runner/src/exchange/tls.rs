//! TLS for both paths.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::pem::PemObject};
use rustls_platform_verifier::BuilderVerifierExt;

use super::ExchangeError;

/// A configuration that trusts the given authorities (PEM) and no other, or the system's where none are given.
pub(super) fn client_config(authorities: Option<&str>) -> Result<Arc<ClientConfig>, ExchangeError> {
    let wrong = |error: &dyn std::fmt::Display| ExchangeError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(&error))?;
    let config = match authorities {
        None => builder.with_platform_verifier().map_err(|error| wrong(&error))?.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|error| wrong(&format!("`authorities`: {error:?}")))?;
                roots.add(certificate).map_err(|error| wrong(&error))?;
            }
            if roots.is_empty() {
                return Err(wrong(&"`authorities` holds no certificate"));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(Arc::new(config))
}
