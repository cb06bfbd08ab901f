//! Arguments of the commands for clients and their traffic.

use std::{net::SocketAddr, path::PathBuf};

use super::{levels::Levels, mask_key::MaskKeyFile, source::Source};

/// The TLS settings for connections from clients.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClientTls {
    /// Serve TLS with this certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Use this private key of the TLS certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Request client certificates of these authorities, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) client_authorities: Option<PathBuf>,
    /// Reject clients without such a certificate
    #[arg(long, requires = "client_authorities")]
    pub(crate) client_certificate_required: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Proxy {
    /// Forward to this base URL or profile; the bank must be a test system
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: String,
    /// Listen for clients on this address and port; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Allow an address that other machines can reach
    ///
    /// They can then use the client certificate of the profile to reach the bank.
    #[arg(long)]
    pub(crate) listen_to_all: bool,
    #[command(flatten)]
    pub(crate) tls: ClientTls,
    /// Write the record and the reports to DIR
    #[arg(long, value_name = "DIR", default_value = "reports/proxy")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mask_key: MaskKeyFile,
    #[command(flatten)]
    pub(crate) levels: Levels,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Do not print findings as they appear
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A command about a client.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Client {
    /// List what a client should show, and the `serve` options that let it
    Checklist(Source),
    /// Report which items of the checklist a client has shown
    ///
    /// Exit codes: 0 the client conforms and showed every required item, 1 it violated a clause, 3 it did not
    /// show every required item.
    Report(ClientReport),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClientReport {
    /// Records or folders of `serve --record`, `proxy` and `judge` for one client
    #[arg(value_name = "DIR", required = true)]
    pub(crate) records: Vec<PathBuf>,
    /// Skip the items of parts that the client does not need
    ///
    /// `client checklist` lists the parts.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// Write the reports to DIR
    #[arg(long, value_name = "DIR", default_value = "reports/client")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) source: Source,
}
