//! What `xs2aspec run` is asked.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use xs2aspec_suite::Depth;

use super::{
    levels::Levels,
    mask_key::MaskKeyFile,
    parsed::{depth, time},
    source::Source,
};

#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Run {
    /// Base URL of the target, or the TOML file of its profile; without it the built-in reference bank is
    /// started
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: Option<String>,
    /// Only these cases: an area, a clause, a case id, or a beginning of one; `*` stands for anything; may be
    /// repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Not these cases; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) skip: Vec<String>,
    /// Folder for the reports
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) source: Source,
    /// How much to run: `quick` (the cases that catch the most, and one of each class), `standard`
    /// (everything but what takes long), or `exhaustive` (everything)
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Send at most N requests: those of the cases that catch the most. The other cases count as left out, as
    /// with --depth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Only this part of the cases, `2/3`; in GitLab and in indexed jobs of Kubernetes `auto` takes it from
    /// the variables of the job
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<String>,
    /// Cases in flight at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    /// Seed of all fresh identifiers; by default another one in each run
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// The clock of the run, RFC 3339 (`2030-01-31T12:00:00Z`); by default the machine's
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    #[command(flatten)]
    pub(crate) mask_key: MaskKeyFile,
    /// Stop at the first violation that is not waived, once it is known what the target minds in plain
    /// requests
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Resume the run in this folder with its options; repeat --target, --pack, --cases and --waivers
    #[arg(long, value_name = "DIR", conflicts_with_all = RESUMED)]
    pub(crate) resume: Option<PathBuf>,
    /// With --resume: what becomes of a case that may have made a payment before the run was interrupted
    #[arg(long, value_enum, default_value_t = InDoubt::Send, requires = "resume")]
    pub(crate) in_doubt: InDoubt,
    /// Only the cases that failed or could not be judged in the last run of the folder `--out`
    #[arg(long, conflicts_with = "only")]
    pub(crate) failed: bool,
    /// Run N times, each in a folder of its own below `--out`, and say which verdicts are not the same each
    /// time
    #[arg(long, value_name = "N", conflicts_with_all = ["failed", "base"], value_parser = clap::value_parser!(u16).range(2..=1000))]
    pub(crate) repeat: Option<u16>,
    /// Run again whenever the target comes back, or the profile, the waivers or a case file changes: what
    /// failed first, then everything
    #[arg(long, conflicts_with_all = ["failed", "repeat"])]
    pub(crate) watch: bool,
    /// Begin anew in a folder whose run did not come to its end; payments that it made are forgotten
    #[arg(long)]
    pub(crate) force: bool,
    /// Read a production system: send it nothing that could make anything there
    #[arg(long)]
    pub(crate) allow_production: bool,
    /// Violations that are agreed on, TOML: they must still be there, and do not make the run fail
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// Say first what differs from this earlier run: its `record.jsonl` or its folder
    #[arg(long, value_name = "RECORD")]
    pub(crate) base: Option<PathBuf>,
    /// Print annotations on the lines of case files as well
    #[arg(long, value_name = "SERVER")]
    pub(crate) annotations: Option<Server>,
    /// Print nothing but failures and the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Let the built-in bank break one clause in one named way; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    pub(crate) fault: Vec<String>,
    /// Let the built-in bank use a freedom of the document in another way; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["target", "fault"])]
    pub(crate) variation: Vec<String>,
    /// Let the built-in bank be a whole lawful one: plain, strict, lenient, other, or drawn-N
    #[arg(long, value_name = "STYLE", conflicts_with = "target")]
    pub(crate) style: Option<String>,
}

/// What the record of a run that goes on says itself.
const RESUMED: [&str; 19] = [
    "only",
    "skip",
    "out",
    "depth",
    "requests",
    "shard",
    "seed",
    "now",
    "fault",
    "variation",
    "style",
    "deny",
    "warn",
    "allow",
    "fail_fast",
    "force",
    "failed",
    "repeat",
    "watch",
];

/// What becomes of a case whose end is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InDoubt {
    /// It is sent again, with other identifiers
    Send,
    /// It is inconclusive
    Leave,
}

/// A CI server that reads annotations from what a step prints.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Server {
    /// GitHub Actions
    Github,
}
