//! Arguments of the commands about the program's own bank, keys and clauses.

use std::{net::SocketAddr, path::PathBuf};

use chrono::{DateTime, Utc};

use super::{
    mask_key::MaskKeyFile,
    parsed::{method, time},
    traffic::ClientTls,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Trend {
    /// `record.jsonl` of each run, or their folders, the oldest first
    #[arg(value_name = "RECORD", required = true, num_args = 1..)]
    pub(crate) records: Vec<PathBuf>,
    /// File to write, in place of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) address: SocketAddr,
    /// Serve no bank, but the report of the run in this folder while the run goes on
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["fault", "variation", "style", "now", "clock_control", "data", "tls_certificate", "busy", "per_second", "unavailable"])]
    pub(crate) report: Option<PathBuf>,
    /// Let the bank break one clause in one named way; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Vec<String>,
    /// Let the bank use a freedom of the document in another way; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "fault")]
    pub(crate) variation: Vec<String>,
    /// Let the bank be a whole lawful one: plain, strict, lenient, other, or drawn-N
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<String>,
    /// Seed of the ids that the bank makes
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// The bank's clock, RFC 3339; by default the machine's
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Let the clock be moved: `PUT /clock` with `{"now": "2030-01-31T12:00:00Z"}`; only on a loopback
    /// address
    #[arg(long)]
    pub(crate) clock_control: bool,
    /// PSUs, customers, accounts, transactions and payments, JSON, in place of the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: ClientTls,
    /// Answer one request in N with 429 and Retry-After, as a bank may that has too much to do
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) busy: Option<u32>,
    /// Judge and record in this folder what clients send, until it is interrupted: a test system for clients
    #[arg(long, value_name = "DIR", conflicts_with = "report")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) levels: super::Levels,
    /// Read the mask key of the record from FILE [default: a random key]
    #[arg(long, value_name = "FILE", requires = "record")]
    pub(crate) mask_key: Option<PathBuf>,
    /// Take N requests in a second, say so in each answer, and refuse more with 429
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_second: Option<u32>,
    /// Let each answer take so long, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) latency_ms: u64,
    /// Answer one request in N with 503
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) unavailable: Option<u64>,
    /// Do not log requests, nor show findings as they come
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Sign {
    /// Method of the request
    #[arg(long, value_name = "METHOD", default_value = "POST", value_parser = method)]
    pub(crate) method: String,
    /// URL of the request; only `(request-target)` and `--out` need it
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A header of the request; may be repeated
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// File of the body, byte for byte; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body: Option<PathBuf>,
    /// File with the whole request as it goes over the wire: a first line, headers, an empty line, the body
    #[arg(long, value_name = "FILE", conflicts_with_all = ["body", "url"])]
    pub(crate) request: Option<PathBuf>,
    /// Profile whose key signs, in the forms that it declares
    #[arg(long, value_name = "FILE")]
    pub(crate) target: Option<String>,
    /// Folder of another document, by whose rules it is signed
    #[arg(long, value_name = "DIR")]
    pub(crate) pack: Option<PathBuf>,
    /// Private key, PEM
    #[arg(long, value_name = "FILE", requires = "certificate", conflicts_with = "target")]
    pub(crate) key: Option<PathBuf>,
    /// Its certificate, PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// Headers to sign in place of those of the document, in this order
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "verify")]
    pub(crate) list: Vec<String>,
    /// Digest with SHA-512 in place of SHA-256
    #[arg(long)]
    pub(crate) sha_512: bool,
    /// Write the whole request into this file, for `--verify --request`; `-` for standard output. Without it,
    /// its header fields go to standard output
    #[arg(long, value_name = "FILE", conflicts_with = "verify")]
    pub(crate) out: Option<PathBuf>,
    /// Look at a signed request: what of its signature holds, and what would explain the rest
    #[arg(long, conflicts_with_all = ["key", "target", "sha_512"])]
    pub(crate) verify: bool,
    /// With --verify: file with the text that was signed, to see where it differs
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub(crate) signed: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectCert {
    /// Certificate, PEM or DER
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Profile that declares the forms of keyId
    #[arg(long, value_name = "FILE")]
    pub(crate) target: Option<String>,
    /// Folder of another document, which the profile is for
    #[arg(long, value_name = "DIR")]
    pub(crate) pack: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Scaffold {
    /// Id of the clause, whose first part is that of others
    #[arg(value_name = "CLAUSE")]
    pub(crate) clause: String,
    /// The words of the document that say so
    #[arg(long, value_name = "TEXT")]
    pub(crate) quote: String,
    /// Folder of rule files
    #[arg(long, value_name = "DIR", default_value = "cases")]
    pub(crate) cases: PathBuf,
    /// Folder of another document, whose clause it is
    #[arg(long, value_name = "DIR", conflicts_with = "cases")]
    pub(crate) pack: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Keys {
    /// Folder to write into
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replace test material that is there, and nothing else
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Listen {
    /// Address and port on this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8099")]
    pub(crate) address: SocketAddr,
    /// Path to which the PSU is sent back, as in `redirect-uri`
    #[arg(long, value_name = "PATH", default_value = "/return")]
    pub(crate) path: String,
    /// How long to wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout_s: u64,
    /// File to write the JSON into as well
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Judge {
    /// An HTTP archive (HAR 1.2) of a browser, proxy or tool; the folder of a run, or its record.jsonl; or
    /// requests and answers as they went over the wire, one after another; several are read in this order
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Profile of the bank that answered: what it says of accounts, persons and choices is taken as true;
    /// without it no refusal of a lawful request is held against the bank
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: Option<String>,
    /// Only what this end broke; by default both
    #[arg(long, value_enum, value_name = "END")]
    pub(crate) end: Option<Ends>,
    #[command(flatten)]
    pub(crate) levels: super::Levels,
    /// Folder for the record and the reports
    #[arg(long, value_name = "DIR", default_value = "reports/judge")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mask_key: MaskKeyFile,
    /// The time of exchanges that do not say when they were, RFC 3339; by default the machine's clock
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    #[command(flatten)]
    pub(crate) source: super::Source,
}

/// An end of an exchange.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Ends {
    /// Who asked
    Client,
    /// Who answered
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
