//! Arguments of `xs2aspec run`.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use xs2aspec_suite::Depth;

use super::{
    Format,
    identity::Ids,
    levels::Levels,
    mask_key::MaskKeyFile,
    parsed::{depth, pattern, time},
    source::Source,
    target::TargetArg,
};

#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) target: TargetArg,
    /// Run only these cases; may be repeated
    ///
    /// PATTERN is an area, a clause, a case id, or the start of one. `*` matches anything. The first 8 digits
    /// of a finding's id select the cases that show it. The run then writes to the folder `again` next to
    /// `--out`.
    #[arg(long, value_name = "PATTERN|FINDING", value_parser = pattern, help_heading = "Selection")]
    pub(crate) only: Vec<String>,
    /// Read findings of `--only` from this run: its record or its folder [default: `--out`]
    #[arg(
        long = "run",
        value_name = "DIR",
        requires = "only",
        help_heading = "Selection",
        hide_short_help = true
    )]
    pub(crate) findings_of: Option<PathBuf>,
    /// Skip these cases; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern, help_heading = "Selection")]
    pub(crate) skip: Vec<String>,
    /// Write the record and the reports to DIR
    ///
    /// A run to `latest` gets a new folder next to it, with its time as the name. `latest` then points to the
    /// last full run.
    #[arg(long, value_name = "DIR", default_value = super::LATEST, help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// The link that will point to `out`.
    #[arg(skip)]
    pub(crate) latest: Option<PathBuf>,
    /// Write these reports; may be repeated
    ///
    /// Each run also writes its record, from which `report` renders any format later.
    #[arg(
        long = "format",
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "html,junit,sarif,markdown",
        help_heading = "Output"
    )]
    pub(crate) formats: Vec<Format>,
    #[command(flatten, next_help_heading = "Document")]
    pub(crate) source: Source,
    /// Set how much to run: quick, standard or exhaustive
    ///
    /// `quick` runs the most effective cases and one of each class. `standard` runs everything that does not
    /// take long. `exhaustive` runs everything.
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth, help_heading = "Selection")]
    pub(crate) depth: Depth,
    /// Send at most N requests, most effective cases first
    ///
    /// The remaining cases are skipped, as with `--depth`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Selection", hide_short_help = true)]
    pub(crate) requests: Option<u64>,
    /// Run only shard K of N, such as `2/3`, or `auto`
    ///
    /// `auto` reads the shard from the environment of a parallel GitLab job or an indexed Kubernetes job.
    #[arg(long, value_name = "K/N", help_heading = "Selection")]
    pub(crate) shard: Option<String>,
    /// Keep at most N cases in flight
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Sending", hide_short_help = true)]
    pub(crate) jobs: u16,
    #[command(flatten, next_help_heading = "Sending")]
    pub(crate) ids: Ids,
    /// Set the clock, RFC 3339 (`2030-01-31T12:00:00Z`) [default: the system clock]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Sending", hide_short_help = true)]
    pub(crate) now: Option<DateTime<Utc>>,
    #[command(flatten, next_help_heading = "Sending")]
    pub(crate) mask_key: MaskKeyFile,
    /// Stop after the first violation that is not waived
    ///
    /// The run first finds out why the target rejects baseline requests, if it does.
    #[arg(long, help_heading = "Selection")]
    pub(crate) fail_fast: bool,
    /// Resume the run in DIR with its options
    ///
    /// Repeat `--target`, `--pack`, `--cases` and `--waivers`.
    #[arg(long, value_name = "DIR", conflicts_with_all = RESUMED, help_heading = "Repetition")]
    pub(crate) resume: Option<PathBuf>,
    /// With `--resume`: how to treat cases that may already have created a payment
    #[arg(long, value_enum, default_value_t = InDoubt::Send, requires = "resume", help_heading = "Repetition", hide_short_help = true)]
    pub(crate) in_doubt: InDoubt,
    /// Rerun the cases that failed in the run of `--out`
    ///
    /// The rerun writes to the folder `again` next to it.
    #[arg(long, conflicts_with = "only", help_heading = "Selection")]
    pub(crate) failed: bool,
    /// Run N times, and report the cases whose verdicts differ
    ///
    /// Each run has its own folder below `--out`.
    #[arg(long, value_name = "N", conflicts_with_all = ["failed", "base", "run_id"], value_parser = clap::value_parser!(u16).range(2..=1000), help_heading = "Repetition", hide_short_help = true)]
    pub(crate) repeat: Option<u16>,
    /// Rerun when the target comes back, or a file of the run changes
    ///
    /// Watches the profile, the waivers, the cases and the pack. Reruns the failed cases first, then all.
    #[arg(long, conflicts_with_all = ["failed", "repeat", "run_id"], help_heading = "Repetition")]
    pub(crate) watch: bool,
    /// True if this command has already run once, and may have used up the calls of the day.
    #[arg(skip)]
    pub(crate) follows_another: bool,
    /// Overwrite an unfinished run, and forget the payments it may have created
    #[arg(long, help_heading = "Repetition", hide_short_help = true)]
    pub(crate) force: bool,
    /// Allow a production system; send it only requests that read
    #[arg(long, help_heading = "Sending", hide_short_help = true)]
    pub(crate) allow_production: bool,
    /// Read accepted violations from FILE, TOML
    ///
    /// A waived violation does not fail the run. A waiver that matches no violation does.
    #[arg(long, value_name = "FILE", help_heading = "Judgement")]
    pub(crate) waivers: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Judgement")]
    pub(crate) levels: Levels,
    /// Compare with this earlier run, given by its `record.jsonl` or its folder
    #[arg(long, value_name = "RECORD", help_heading = "Judgement")]
    pub(crate) base: Option<PathBuf>,
    /// With `--base`: choose what fails the run [default: every violation]
    #[arg(long, value_enum, requires = "base", help_heading = "Judgement")]
    pub(crate) gate: Option<super::Gate>,
    /// Mark findings on the lines of FILE instead of the profile
    ///
    /// FILE is an OpenAPI description in YAML or JSON, or a table with `PLACE<TAB>FILE:LINE` in each line.
    /// PLACE is a clause, a place such as `header/Digest`, or an operation such as `POST` and its path.
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub(crate) locate: Option<PathBuf>,
    /// Print tables by operation and observations, too
    #[arg(long, short, help_heading = "Output", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print only failures and the summary
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Give the reference bank this fault; may be repeated
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "a target",
        help_heading = "Reference bank",
        hide_short_help = true
    )]
    pub(crate) fault: Vec<String>,
    /// Give the reference bank this conforming variation; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["a target", "fault"], help_heading = "Reference bank", hide_short_help = true)]
    pub(crate) variation: Vec<String>,
    /// Use this conforming reference bank: plain, strict, lenient, other or drawn-N
    ///
    /// `drawn-N` combines random variations with the seed N.
    #[arg(
        long,
        value_name = "STYLE",
        conflicts_with = "a target",
        help_heading = "Reference bank",
        hide_short_help = true
    )]
    pub(crate) style: Option<String>,
}

/// The options that `--resume` reads from the record.
const RESUMED: [&str; 20] = [
    "only",
    "skip",
    "out",
    "depth",
    "requests",
    "shard",
    "seed",
    "run_id",
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

/// The treatment of a case whose outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InDoubt {
    /// Resend it with fresh identifiers
    Send,
    /// Report it as inconclusive
    Leave,
}
