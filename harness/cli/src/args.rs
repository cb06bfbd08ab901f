//! The command line.

use std::{net::SocketAddr, path::PathBuf};

use chrono::{DateTime, Utc};
use clap::{Parser, Subcommand};

/// Checks whether a bank's PSD2 XS2A interface does what its document says.
///
/// Without a command it does what `run` does. Exit codes: 0 conforms; 1 a violation; 2 the command line, a profile, a case or a
/// clause is wrong; 3 the target did not answer, or a case that the document demands could not be judged; 4 nothing ran.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: Run,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs the cases against a target and writes record.jsonl, junit.xml and summary.md
    Run(Run),
    /// Runs the built-in reference bank alone, until it is interrupted
    Serve(Serve),
    /// Makes a test authority, signing keys and certificates, all marked as test material
    Keys(Keys),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Base URL of the target, or the TOML file of its profile; without it the built-in reference bank is started
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: Option<String>,
    /// Only these cases: an area, a clause, a case id, or a beginning of one; `*` stands for anything; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Not these cases; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) skip: Vec<String>,
    /// Folder for the reports
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) out: PathBuf,
    /// Folder of case files to use in place of the embedded ones
    #[arg(long, value_name = "DIR")]
    pub(crate) cases: Option<PathBuf>,
    /// Cases in flight at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    /// Seed of all fresh identifiers; by default another one in each run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The clock of the run, RFC 3339 (`2030-01-31T12:00:00Z`); by default the machine's
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Stop at the first violation
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Print nothing but failures and the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Let the built-in bank break one clause in one named way
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    pub(crate) fault: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) address: SocketAddr,
    /// Let the bank break one clause in one named way
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Option<String>,
    /// Seed of the ids that the bank makes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The bank's clock, RFC 3339; by default the machine's
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Do not log requests
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Keys {
    /// Folder to write into
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) overwrite: bool,
}
