//! What the commands about the traffic of others are asked.

use std::{net::SocketAddr, path::PathBuf};

use super::{levels::Levels, mask_key::MaskKeyFile, source::Source};

/// TLS towards clients.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClientTls {
    /// Speak TLS with this certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of that certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Ask clients for a certificate of these authorities, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) client_authorities: Option<PathBuf>,
    /// Talk to no client without such a certificate
    #[arg(long, requires = "client_authorities")]
    pub(crate) client_certificate_required: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Proxy {
    /// Base URL of the bank, or the TOML file of its profile: a test system
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: String,
    /// Address and port for clients; port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Allow an address that other machines reach: they then reach the bank with the client certificate of
    /// the profile
    #[arg(long)]
    pub(crate) listen_to_all: bool,
    #[command(flatten)]
    pub(crate) tls: ClientTls,
    /// Folder for the record and the reports
    #[arg(long, value_name = "DIR", default_value = "reports/proxy")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mask_key: MaskKeyFile,
    #[command(flatten)]
    pub(crate) levels: Levels,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Do not show findings as they come
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClientPlan {
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClientReport {
    /// Folders or records of `serve --record`, `proxy` and `judge` with the traffic of one client
    #[arg(value_name = "DIR", required = true)]
    pub(crate) records: Vec<PathBuf>,
    /// Skip the items of parts that the client does not need; `client-plan` lists the parts
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// Folder for the reports
    #[arg(long, value_name = "DIR", default_value = "reports/client")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) source: Source,
}
