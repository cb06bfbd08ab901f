//! Connections to a target on which somebody else speaks.

use std::sync::Arc;

use super::{
    ExchangeError,
    raw::{Duplex, Raw},
    tls,
};
use xs2aspec_judge::profile::Profile;

/// Connects to one target as its profile says: by its proxy, with its authorities, with the client
/// certificate.
#[derive(Debug, Clone)]
pub struct Connector {
    raw: Arc<Raw>,
    url: reqwest::Url,
}

impl Connector {
    /// A connector for this target.
    pub fn new(profile: &Profile) -> Result<Self, ExchangeError> {
        let url = reqwest::Url::parse(&profile.base_url);
        let url = url.map_err(|error| ExchangeError::Request(error.to_string()))?;
        let (authorities, client) = (profile.authorities.as_deref(), profile.client_certificate.as_ref());
        let mut tls = tls::client_config(authorities, client, url.scheme() != "https")?;
        // What is said on it is HTTP/1.1, whatever else the target speaks.
        Arc::make_mut(&mut tls).alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { raw: Arc::new(Raw::new(tls, profile)?), url })
    }

    /// A new connection, ready for what is to be said.
    pub async fn connect(&self) -> Result<Box<dyn Duplex>, ExchangeError> {
        self.raw.tunnel(&self.url).await
    }
}
