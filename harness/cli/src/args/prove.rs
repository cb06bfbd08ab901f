//! Arguments of `xs2aspec prove`.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use xs2aspec_suite::Depth;

use super::parsed::{depth, time};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Prove {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    #[command(flatten)]
    pub(crate) written: Written,
}

/// What else is proved than what somebody wrote.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Part {
    /// Asks faults that operators make of the bank's tables
    Derived(Derived),
    /// Asks with drawn requests in place of the cases: how many does `explore` need to find each fault?
    Explore(Explored),
    /// Asks banks that have two faults at once: is each found, and nothing else blamed?
    Pairs(Sample),
    /// Asks banks with one fault all cases: in how many does the first finding name the broken clause, and
    /// how many findings are there?
    Findings(Sample),
    /// Runs conforming banks and a sample of faults under everyday conditions: none is accused, none
    /// acquitted
    Conditions(Conditions),
    /// Runs independent banks, and each of their faults: none is accused
    Peers(Peers),
    /// Asks each fault, in each style, all cases of its clause, and compares the order in which cases catch
    /// the most for the fewest requests with a file
    Order(Order),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Written {
    /// Explain this fault alone: which cases catch it, and by which exchange
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "matrix", "update"])]
    pub(crate) fault: Option<String>,
    /// Explain this variation alone: what is seen of it, and whether it is taken for a fault
    #[arg(long, value_name = "NAME", conflicts_with_all = ["fault", "only", "matrix", "update"])]
    pub(crate) variation: Option<String>,
    /// Every fault on a whole lawful bank in place of the plain one: plain, strict, lenient, other, or
    /// drawn-N, which is drawn from all variations with the seed N; may be repeated
    #[arg(long, value_name = "STYLE", conflicts_with_all = ["fault", "variation", "matrix"])]
    pub(crate) style: Vec<String>,
    /// N drawn lawful banks in place of all others: the one that the seed draws, and those after it
    #[arg(long, value_name = "N", conflicts_with_all = ["fault", "variation", "matrix", "style"])]
    pub(crate) drawn: Option<u64>,
    /// In which banks variations are asked; by default shared, but together where there is a `--matrix`, and
    /// apart where there is `--only` or `--update`
    #[arg(long, value_enum, value_name = "HOW", conflicts_with_all = ["update", "style", "drawn"])]
    pub(crate) variations: Option<Variations>,
    /// Compare the matrix with this file, and fail where it differs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "skip", "requests"])]
    pub(crate) matrix: Option<PathBuf>,
    /// Write the file in place of comparing
    #[arg(long, requires = "matrix", conflicts_with = "only")]
    pub(crate) update: bool,
    #[command(flatten)]
    pub(crate) cases: Cases,
    #[command(flatten)]
    pub(crate) enough: Enough,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Derived {
    /// How many, or `all`; drawn by the seed, as many of each operator
    #[arg(value_name = "N", value_parser = count)]
    pub(crate) count: usize,
    /// On a whole lawful bank in place of the plain one; may be repeated
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Vec<String>,
    #[command(flatten)]
    pub(crate) cases: Cases,
    #[command(flatten)]
    pub(crate) enough: Enough,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explored {
    /// How many requests each bank is asked at most
    #[arg(value_name = "N")]
    pub(crate) budget: u64,
    #[command(flatten)]
    pub(crate) enough: Enough,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

/// Banks that are drawn.
#[derive(Debug, clap::Args)]
pub(crate) struct Sample {
    /// How many, drawn by the seed
    #[arg(value_name = "N")]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) cases: Cases,
    #[command(flatten)]
    pub(crate) enough: Enough,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Conditions {
    /// Also the independent banks that `peers.toml` of this folder names; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Vec<PathBuf>,
    /// Number of faults, drawn by the seed
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) faults: usize,
    /// These whole lawful banks in place of all that have a name; may be repeated
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Peers {
    /// Folders whose `peers.toml` names the banks
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Number of faults of each
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) faults: usize,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Order {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the file in place of comparing
    #[arg(long)]
    pub(crate) update: bool,
    /// These whole lawful banks in place of all that have a name; may be repeated
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

/// Which cases each bank is asked.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Cases {
    /// Without these cases, as `run --skip` has them: which faults would then survive; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) skip: Vec<String>,
    /// Only the cases that catch the most, as many as N requests suffice for, as with `run --requests`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Ask every bank every case. Otherwise a bank with a fault is asked for the broken clause first, for the
    /// rest only if that does not catch it, and no further than to a case that denies it
    #[arg(long)]
    pub(crate) every_case: bool,
    /// Ask every bank over TCP, even where its fault or variation shows without
    #[arg(long)]
    pub(crate) tcp: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Enough {
    /// Percent that is enough: of faults that are found, and of findings that come first
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    pub(crate) at_least: u8,
}

/// How banks are asked, and which of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Asking {
    /// Only faults, variations, styles, conditions and peers whose name begins so; may be repeated
    #[arg(long, value_name = "BEGINNING")]
    pub(crate) only: Vec<String>,
    /// Folder for the reports
    #[arg(long, value_name = "DIR", default_value = "reports/prove")]
    pub(crate) out: PathBuf,
    /// How much to run against each bank
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Banks side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) banks: u16,
    /// Cases in flight at once, for each bank
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    /// Seed of all fresh identifiers, and of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// The clock of all runs and banks, RFC 3339
    #[arg(long, value_name = "TIME", default_value = "2030-01-31T12:00:00Z", value_parser = time)]
    pub(crate) now: DateTime<Utc>,
    /// Folder of case files to use in place of the embedded ones
    #[arg(long, value_name = "DIR")]
    pub(crate) cases: Option<PathBuf>,
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
