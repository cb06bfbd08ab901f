//! Opens connections to a target for use by other code.

use std::sync::Arc;

use super::{
    ExchangeError,
    raw::{Duplex, Raw},
    tls,
};
use xs2aspec_judge::profile::Profile;

/// Connects to a target with the proxy, the authorities and the client certificate of its profile.
#[derive(Debug, Clone)]
pub struct Connector {
    raw: Arc<Raw>,
    url: reqwest::Url,
}

impl Connector {
    /// Returns a connector for the target of this profile.
    pub fn new(profile: &Profile) -> Result<Self, ExchangeError> {
        let url = reqwest::Url::parse(&profile.base_url);
        let url = url.map_err(|error| ExchangeError::Request(error.to_string()))?;
        let (authorities, client) = (profile.authorities.as_deref(), profile.client_certificate.as_ref());
        let mut tls = tls::client_config(authorities, client, url.scheme() != "https")?;
        // These connections carry HTTP/1.1, whatever else the target supports.
        Arc::make_mut(&mut tls).alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { raw: Arc::new(Raw::new(tls, profile)?), url })
    }

    /// Opens a new connection.
    pub async fn connect(&self) -> Result<Box<dyn Duplex>, ExchangeError> {
        self.raw.tunnel(&self.url).await
    }
}
