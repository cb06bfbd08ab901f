//! Arguments of commands that need no target: the reference bank, keys, signatures, clauses, recorded
//! traffic.

use std::{net::SocketAddr, path::PathBuf};

use chrono::{DateTime, Utc};

use super::{
    mask_key::MaskKeyFile,
    parsed::{method, time},
    traffic::ClientTls,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Listen on this address and port; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) address: SocketAddr,
    /// Serve the live report of the run in DIR instead of a bank
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["fault", "variation", "style", "now", "clock_control", "data", "tls_certificate", "busy", "per_second", "unavailable"])]
    pub(crate) report: Option<PathBuf>,
    /// Give the bank this fault; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Vec<String>,
    /// Give the bank this conforming variation; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "fault")]
    pub(crate) variation: Vec<String>,
    /// Use this conforming bank: plain, strict, lenient, other or drawn-N
    ///
    /// `drawn-N` combines random variations with the seed N.
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<String>,
    /// Set the seed of the ids that the bank generates
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Set the bank's clock, RFC 3339 [default: the system clock]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Let clients move the clock with `PUT /clock`; requires a loopback address
    ///
    /// The body is `{"now": "2030-01-31T12:00:00Z"}`.
    #[arg(long)]
    pub(crate) clock_control: bool,
    /// Read PSUs, customers, accounts, transactions and payments from FILE, JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: ClientTls,
    /// Reject one request in N with 429 and Retry-After, like an overloaded bank
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) busy: Option<u32>,
    /// Judge the requests of clients, and record them in DIR
    #[arg(long, value_name = "DIR", conflicts_with = "report")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) levels: super::Levels,
    /// Read the mask key of the record from FILE [default: a random key]
    #[arg(long, value_name = "FILE", requires = "record")]
    pub(crate) mask_key: Option<PathBuf>,
    /// Limit clients to N requests per second; reject more with 429
    ///
    /// Each response states the limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_second: Option<u32>,
    /// Delay each response [unit: ms]
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) latency_ms: u64,
    /// Fail one request in N with 503
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) unavailable: Option<u64>,
    /// Print neither requests nor findings
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Sign {
    /// Set the method of the request
    #[arg(long, value_name = "METHOD", default_value = "POST", value_parser = method)]
    pub(crate) method: String,
    /// Set the URL of the request, for `(request-target)` and `--out`
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Add a header to the request; may be repeated
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Read the body from FILE, or from standard input (`-`)
    #[arg(long, value_name = "FILE")]
    pub(crate) body: Option<PathBuf>,
    /// Read a whole HTTP request from FILE: request line, headers, body
    #[arg(long, value_name = "FILE", conflicts_with_all = ["body", "url"])]
    pub(crate) request: Option<PathBuf>,
    /// Sign with the key and the encodings of this profile
    #[arg(long, value_name = "FILE")]
    pub(crate) target: Option<String>,
    /// Sign by the rules of the document in DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) pack: Option<PathBuf>,
    /// Sign with this private key, PEM
    #[arg(long, value_name = "FILE", requires = "certificate", conflicts_with = "target")]
    pub(crate) key: Option<PathBuf>,
    /// Use this certificate of the private key, PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// Sign these headers, in this order, instead of those of the document
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "verify")]
    pub(crate) list: Vec<String>,
    /// Compute the Digest with SHA-512 instead of SHA-256
    #[arg(long)]
    pub(crate) sha_512: bool,
    /// Write the whole request to FILE, or to standard output (`-`)
    ///
    /// `--verify --request` reads such a file. Without this option, only the headers are printed.
    #[arg(long, value_name = "FILE", conflicts_with = "verify")]
    pub(crate) out: Option<PathBuf>,
    /// Verify a signed request, and explain why its signature is not valid
    #[arg(long, conflicts_with_all = ["key", "target", "sha_512"])]
    pub(crate) verify: bool,
    /// With `--verify`: show where the signing string differs from the one in FILE
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub(crate) signed: Option<PathBuf>,
}

/// A command about keys and certificates.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Keys {
    /// Create a test CA, signing keys and certificates, marked as test material
    New(KeysNew),
    /// Show a certificate and the keyId derived from it
    Show(KeysShow),
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeysShow {
    /// Certificate, PEM or DER
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Show the keyId in the form that this profile declares
    #[arg(long, value_name = "FILE")]
    pub(crate) target: Option<String>,
    /// Use the document in DIR, to which the profile belongs
    #[arg(long, value_name = "DIR")]
    pub(crate) pack: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Scaffold {
    /// Id of the new clause; its first part must be that of other clauses
    #[arg(value_name = "CLAUSE")]
    pub(crate) clause: String,
    /// Quote the words of the document that state the clause
    #[arg(long, value_name = "TEXT")]
    pub(crate) quote: String,
    /// Add the clause to the rule files in DIR
    #[arg(long, value_name = "DIR", default_value = "cases")]
    pub(crate) cases: PathBuf,
    /// Add the clause to the document in DIR
    #[arg(long, value_name = "DIR", conflicts_with = "cases")]
    pub(crate) pack: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeysNew {
    /// Write the files to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Overwrite existing test material, but no other file
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Listen {
    /// Listen on this loopback address and port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8099")]
    pub(crate) address: SocketAddr,
    /// Wait for the PSU at this path, as in `redirect-uri`
    #[arg(long, value_name = "PATH", default_value = "/return")]
    pub(crate) path: String,
    /// Give up after this time [unit: s]
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout_s: u64,
    /// Write the JSON to FILE, too
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Judge {
    /// Files with recorded traffic, in order of time
    ///
    /// Each is an HTTP archive (HAR 1.2) of a browser, proxy or tool, the folder or `record.jsonl` of a run,
    /// or a file of raw HTTP requests and responses in turn.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Use this profile or base URL of the recorded bank
    ///
    /// Its accounts, persons and choices are trusted. Without it, a rejection of a conforming request is not
    /// reported as a violation by the bank.
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: Option<String>,
    /// Report violations by this side only [default: both]
    #[arg(long, value_enum, value_name = "END")]
    pub(crate) end: Option<Ends>,
    #[command(flatten)]
    pub(crate) levels: super::Levels,
    /// Write the record and the reports to DIR
    #[arg(long, value_name = "DIR", default_value = "reports/judge")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mask_key: MaskKeyFile,
    /// Set the time of undated exchanges, RFC 3339 [default: the system clock]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    #[command(flatten)]
    pub(crate) source: super::Source,
}

/// A side of an exchange.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Ends {
    /// The client that sent the request
    Client,
    /// The bank that sent the response
    Bank,
}

impl From<Ends> for xs2aspec_record::End {
    fn from(end: Ends) -> Self {
        match end {
            Ends::Client => Self::Client,
            Ends::Bank => Self::Bank,
        }
    }
}
