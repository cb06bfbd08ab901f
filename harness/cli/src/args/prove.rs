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

/// A part of `prove` that is not about the written faults and variations.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Part {
    /// Test faults that operators derive from the bank's tables
    Derived(Derived),
    /// Measure how many generated requests `explore` needs to find each fault
    Explore(Explored),
    /// Test banks with two faults: both must be found, and no other clause blamed
    Pairs(Sample),
    /// Measure how often the first finding names the violated clause
    ///
    /// Runs all cases against banks with one fault each, and counts the findings.
    Findings(Sample),
    /// Test conforming banks and a sample of faults under everyday conditions
    ///
    /// No conforming bank may be accused, and no fault may go undetected.
    Conditions(Conditions),
    /// Test independent conforming banks, and count which of their faults are found
    Peers(Peers),
    /// Compare the order in which cases catch the most faults with a file
    ///
    /// Runs all cases of the clause of each fault, in each style. The order catches the most faults with the
    /// fewest requests.
    Order(Order),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Written {
    /// Explain which cases catch this fault, and with which exchange
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "matrix", "update"])]
    pub(crate) fault: Option<String>,
    /// Explain what the cases see of this variation, and if any treats it as a fault
    #[arg(long, value_name = "NAME", conflicts_with_all = ["fault", "only", "matrix", "update"])]
    pub(crate) variation: Option<String>,
    /// Test the faults on this conforming bank; may be repeated
    ///
    /// STYLE is plain, strict, lenient, other or drawn-N. `drawn-N` combines random variations with the seed
    /// N.
    #[arg(long, value_name = "STYLE", conflicts_with_all = ["fault", "variation", "matrix"])]
    pub(crate) style: Vec<String>,
    /// Test only N random conforming banks, from the seed on
    #[arg(long, value_name = "N", conflicts_with_all = ["fault", "variation", "matrix", "style"])]
    pub(crate) drawn: Option<u64>,
    /// Choose how banks combine variations [default: shared]
    ///
    /// The default is `together` with `--matrix` or `--every-case`, and `apart` with `--only` or `--update`.
    #[arg(long, value_enum, value_name = "HOW", conflicts_with_all = ["update", "style", "drawn"])]
    pub(crate) variations: Option<Variations>,
    /// Compare the matrix with FILE, and fail if it differs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "skip", "requests"])]
    pub(crate) matrix: Option<PathBuf>,
    /// Write the file of `--matrix` instead of comparing
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
    /// Number of random faults, the same from each operator, or `all`
    #[arg(value_name = "N", value_parser = count)]
    pub(crate) count: usize,
    /// Test the faults on this conforming bank; may be repeated
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
    /// Maximum number of requests to each bank
    #[arg(value_name = "N")]
    pub(crate) budget: u64,
    #[command(flatten)]
    pub(crate) enough: Enough,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

/// Arguments of a random sample of banks.
#[derive(Debug, clap::Args)]
pub(crate) struct Sample {
    /// Number of random banks
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
    /// Also test the independent banks in `peers.toml` of DIR; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Vec<PathBuf>,
    /// Test N random faults
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) faults: usize,
    /// Test only this conforming bank [default: all named ones]; may be repeated
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
    /// Test at most N faults of each bank
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) faults: usize,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Order {
    /// File with the order
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the file instead of comparing
    #[arg(long)]
    pub(crate) update: bool,
    /// Test only this conforming bank [default: all named ones]; may be repeated
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: Asking,
}

/// The cases that run against each bank.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Cases {
    /// Skip these cases, as with `run --skip`; may be repeated
    ///
    /// Shows which faults only these cases catch.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) skip: Vec<String>,
    /// Send at most N requests, most effective cases first, as with `run --requests`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Run every case against every bank
    ///
    /// By default, the cases of the violated clause run first. The others run only if these do not catch the
    /// fault, up to the first case that does.
    #[arg(long)]
    pub(crate) every_case: bool,
    /// Connect to every bank over TCP, even if its fault shows without
    #[arg(long)]
    pub(crate) tcp: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Enough {
    /// Require this share of faults found, or of right first findings [unit: %]
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    pub(crate) at_least: u8,
}

/// Arguments that select banks and set how cases run against them.
#[derive(Debug, clap::Args)]
pub(crate) struct Asking {
    /// Test only banks and conditions whose name starts with this; may be repeated
    #[arg(long, value_name = "BEGINNING")]
    pub(crate) only: Vec<String>,
    /// Write the reports to DIR
    #[arg(long, value_name = "DIR", default_value = "reports/prove")]
    pub(crate) out: PathBuf,
    /// Run the cases of this depth
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Test N banks in parallel
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) banks: u16,
    /// Keep at most N cases in flight for each bank
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    /// Set the seed of fresh identifiers and random choices
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Set the clock of all runs and banks, RFC 3339
    #[arg(long, value_name = "TIME", default_value = "2030-01-31T12:00:00Z", value_parser = time)]
    pub(crate) now: DateTime<Utc>,
    /// Use the case files in DIR instead of the embedded ones
    #[arg(long, value_name = "DIR")]
    pub(crate) cases: Option<PathBuf>,
}

/// Parses a number, or `all` as the largest one.
fn count(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number or `all`".to_owned()),
    }
}

/// The way to combine variations of the reference bank into banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Variations {
    /// One bank for each variation
    Apart,
    /// As few banks as possible; one bank for each variation of an accused bank
    Together,
    /// Like `together`, but each bank runs only a sixth of the cases
    Shared,
}
