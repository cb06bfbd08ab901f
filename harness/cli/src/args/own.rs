//! Arguments of the commands about the program's own bank, keys and clauses.

use std::{net::SocketAddr, path::PathBuf};

use chrono::{DateTime, Utc};
use xs2aspec_suite::Depth;

use super::{
    mask_key::MaskKeyFile,
    parsed::{depth, method, time},
    traffic::ClientTls,
};

#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Prove {
    /// Explain this fault alone: which cases catch it, and by which exchange
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "matrix", "update"])]
    pub(crate) fault: Option<String>,
    /// Explain this variation alone: what is seen of it, and whether it is taken for a fault
    #[arg(long, value_name = "NAME", conflicts_with_all = ["fault", "only", "matrix", "update"])]
    pub(crate) variation: Option<String>,
    /// Every fault on a whole lawful bank in place of the plain one: plain, strict, lenient, other, or
    /// drawn-N, which is drawn from all variations with the seed N; may be repeated
    #[arg(long, value_name = "STYLE", conflicts_with_all = ["fault", "variation", "matrix", "explore"])]
    pub(crate) style: Vec<String>,
    /// N drawn lawful banks in place of all others: the one that the seed draws, and those after it
    #[arg(long, value_name = "N", conflicts_with_all = ["fault", "variation", "matrix", "explore", "derived", "style"])]
    pub(crate) drawn: Option<u64>,
    /// In which banks variations are asked; by default shared, but together where there is a `--matrix`, and
    /// apart where there is `--only` or `--update`
    #[arg(long, value_enum, value_name = "HOW", conflicts_with_all = ["update", "explore", "derived", "style", "drawn"])]
    pub(crate) variations: Option<Variations>,
    /// In place of all other banks, ask N that have two faults at once, drawn by the seed
    #[arg(long, value_name = "N", conflicts_with_all = ["fault", "variation", "matrix", "explore", "derived", "style", "drawn", "every_case"])]
    pub(crate) pairs: Option<usize>,
    /// Ask N banks with one fault, drawn by the seed, all cases: in how many does the first finding name the
    /// broken clause, and how many findings are there?
    #[arg(long, value_name = "N", conflicts_with_all = ["fault", "variation", "matrix", "explore", "derived", "style", "drawn", "pairs"])]
    pub(crate) findings: Option<usize>,
    /// Run conforming banks and a sample of faults under everyday conditions: none is accused, none acquitted
    #[arg(long, conflicts_with_all = ["fault", "variation", "matrix", "explore", "derived", "drawn", "pairs", "findings", "every_case", "skip", "requests"])]
    pub(crate) conditions: bool,
    /// Run the independent banks that `peers.toml` of this folder names, and each of their faults; with
    /// --conditions, run them under the conditions; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Vec<PathBuf>,
    /// With --conditions or --peers: number of faults (of each peer)
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) faults: usize,
    /// Only faults, variations, styles and conditions whose name begins so; may be repeated
    #[arg(long, value_name = "BEGINNING")]
    pub(crate) only: Vec<String>,
    /// Without these cases, as `run --skip` has them: which faults would then survive; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) skip: Vec<String>,
    /// Ask with N drawn requests in place of the cases: how many does `explore` need to find each fault?
    #[arg(long, value_name = "N", conflicts_with_all = ["skip", "matrix", "fault", "variation"])]
    pub(crate) explore: Option<u64>,
    /// In place of the faults that somebody wrote, ask N, or `all`, of those that operators make of the
    /// bank's tables; drawn by the seed, as many of each operator
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["explore", "matrix", "fault", "variation"])]
    pub(crate) derived: Option<usize>,
    /// Percent that is enough: of the faults in rules for requests, with `--explore`; of its faults, with
    /// `--derived` and on each `--style`; of pairs with both found, with `--pairs`; of banks whose first
    /// finding is right, with `--findings`
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    pub(crate) at_least: u8,
    /// Compare the matrix with this file, and fail where it differs
    #[arg(long, value_name = "FILE", group = "kept", conflicts_with_all = ["only", "skip", "requests"])]
    pub(crate) matrix: Option<PathBuf>,
    /// In place of all this, ask each fault, in each style, all cases of its clause, and compare the order in
    /// which cases catch the most for the fewest requests with this file
    #[arg(long, value_name = "FILE", group = "kept", conflicts_with_all = ["only", "skip", "requests", "matrix", "fault", "variation", "explore", "derived", "drawn", "pairs", "findings", "every_case"])]
    pub(crate) order: Option<PathBuf>,
    /// Write the file in place of comparing
    #[arg(long, requires = "kept", conflicts_with = "only")]
    pub(crate) update: bool,
    /// Only the cases that catch the most, as many as N requests suffice for, as with `run --requests`
    #[arg(long, value_name = "N", conflicts_with = "explore", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Folder for the reports
    #[arg(long, value_name = "DIR", default_value = "reports/prove")]
    pub(crate) out: PathBuf,
    /// How much to run against each bank
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Banks side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) banks: u16,
    /// Ask every bank every case. Otherwise a bank with a fault is asked for the broken clause first, for the
    /// rest only if that does not catch it, and no further than to a case that denies it
    #[arg(long)]
    pub(crate) every_case: bool,
    /// Ask every bank over TCP, even where its fault or variation shows without
    #[arg(long)]
    pub(crate) tcp: bool,
    /// Cases in flight at once, for each bank
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    /// Seed of all fresh identifiers
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// The clock of all runs and banks, RFC 3339
    #[arg(long, value_name = "TIME", default_value = "2030-01-31T12:00:00Z", value_parser = time)]
    pub(crate) now: DateTime<Utc>,
    /// Folder of case files to use in place of the embedded ones
    #[arg(long, value_name = "DIR")]
    pub(crate) cases: Option<PathBuf>,
}

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
    /// Folder of case files, with `clauses/`
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

/// A number, or all there are.
fn count(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number or `all`".to_owned()),
    }
}

/// In which banks the variations of the reference bank are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Variations {
    /// Each in a bank of its own.
    Apart,
    /// All in as few lawful banks as they fit into; those of a bank that is accused also one by one.
    Together,
    /// The same, and the cases are shared out: each of these banks is asked a sixth of them.
    Shared,
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
