//! The command line arguments.

mod identity;
mod levels;
mod mask_key;
mod own;
mod parsed;
pub(crate) mod prove;
mod run;
mod source;
mod target;
mod traffic;
mod waive;

use std::{path::PathBuf, time::Duration};

use chrono::{DateTime, Utc};
use clap::{Parser, Subcommand};
use xs2aspec_suite::Depth;

pub(crate) use self::identity::Ids;
pub(crate) use self::levels::Levels;
pub(crate) use self::mask_key::MaskKeyFile;
pub(crate) use self::own::{Judge, Keys, KeysNew, KeysShow, Listen, Scaffold, Serve, Sign};
use self::parsed::{depth, pattern, time};
pub(crate) use self::run::{InDoubt, Run};
pub(crate) use self::source::Source;
pub(crate) use self::target::{TargetArg, found};
pub(crate) use self::traffic::{Client, ClientReport, ClientTls, Proxy};
pub(crate) use self::waive::Waive;

/// Check whether a bank's PSD2 XS2A interface conforms to its document
#[derive(Debug, Parser)]
#[command(version, name = "xs2aspec", after_long_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The link to the folder of the last full run.
pub(crate) const LATEST: &str = "reports/latest";

/// The exit codes, as the help explains them.
const EXIT_CODES: &str = "\
Exit codes:
  0  the target conforms, possibly with warnings
  1  a violation
  2  invalid command line, profile, case or clause, or a file that cannot be written
  3  the target is unreachable, or a required clause was not tested or is inconclusive
  4  nothing ran";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the cases against a target, then write the record and the reports
    Run(Run),
    /// Show a fault of the reference bank, found and explained
    Demo,
    /// Run the reference bank until it is interrupted
    Serve(Serve),
    /// Forward traffic between a client and a test system, and report violations
    ///
    /// The proxy forwards the traffic unchanged. It judges and records both sides, and reports violations by
    /// either.
    Proxy(Proxy),
    /// Say what a client should show, and report what it has shown
    #[command(subcommand)]
    Client(Client),
    /// Run the cases against reference banks with known faults and variations
    ///
    /// Reports which faults the cases catch, and which conforming banks they accuse.
    Prove(prove::Prove),
    /// Generate requests from a model of the document until one reveals a violation
    ///
    /// Each violation is shrunk to a minimal request, and saved as a case file with `--save`.
    Explore(Explore),
    /// Judge recorded traffic of a client and a bank, offline
    ///
    /// Reports violations by the client in each request and by the bank in each response.
    Judge(Judge),
    /// Render a report from the record of a finished run
    Report(Report),
    /// Rejudge the recorded responses of a run with the cases of this version
    ///
    /// Reports which verdicts change, and why.
    Rejudge(Rejudge),
    /// Merge the runs of all shards into one
    Merge(Merge),
    /// Pack a run into a signed archive of its record, inputs and reports
    Bundle(Bundle),
    /// Verify an archive of `bundle` offline
    ///
    /// Reports what the archive proves and what it does not. Exit code 1 means that the archive was changed.
    Verify(Verify),
    /// Compare two runs, in Markdown
    ///
    /// Exit code 1 means that the second run has a new violation.
    Diff(Diff),
    /// Accept a finding of the last run for a time, in the waiver file
    ///
    /// Appends an entry, which `run --waivers` reads.
    Waive(Waive),
    /// Write a commented profile of a target to start from
    Init(Init),
    /// Check a target before a run, and suggest changes to its profile
    ///
    /// Checks that the target is reachable and accepts the baseline requests, and counts the cases that can
    /// run.
    Doctor(Doctor),
    /// Print a curl command that sends the request of a case or a finding, freshly signed
    ///
    /// Sends the setup requests of the case at once. Prints the request of the case, even if a run would send
    /// a substitute (`judged_with`).
    Curl(Curl),
    /// List areas, clauses and cases
    List(List),
    /// Explain a clause, a case, or a finding of the last run
    ///
    /// Shows the request of the case, even if a run sends a substitute because the target rejects the
    /// baseline request (`judged_with`).
    Explain(Explain),
    /// Report how each statement of the document is covered, by section
    Coverage(Coverage),
    /// Check the case files against the authoring rules
    Lint(Source),
    /// Wait for a bank to redirect the PSU here, and print the query as JSON
    ///
    /// For use in `[[prepare]]`.
    #[command(hide = true)]
    Listen(Listen),
    /// Sign a request by the rules of the document, or verify a signed one
    ///
    /// With `--verify`, explains why a signature is not valid.
    Sign(Sign),
    /// Add a new clause to a rule file: its entry and a case
    Scaffold(Scaffold),
    /// Create test keys, or show a certificate and its keyId
    #[command(subcommand)]
    Keys(Keys),
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions(Completions),
    /// Write the manual, one page for each command
    #[command(hide = true)]
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explore {
    #[command(flatten)]
    pub(crate) target: TargetArg,
    /// Generate only requests of this operation; may be repeated
    #[arg(long, value_name = "OPERATION")]
    pub(crate) only: Vec<String>,
    /// Send at most N requests
    ///
    /// One tenth of them, at most 300, is reserved for shrinking findings.
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    pub(crate) budget: u64,
    /// Stop after this time, such as 60s, 5m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// Stop after the first violation
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Save each violation as a case file in DIR, for `run --cases`
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Write the record and the reports to DIR
    #[arg(long, value_name = "DIR", default_value = "reports/explore")]
    pub(crate) out: PathBuf,
    /// Keep at most N requests in flight
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    #[command(flatten)]
    pub(crate) ids: Ids,
    /// Set the clock, RFC 3339 [default: the system clock]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Give the reference bank this fault; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "a target")]
    pub(crate) fault: Vec<String>,
    /// Give the reference bank this conforming variation; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["a target", "fault"])]
    pub(crate) variation: Vec<String>,
    #[command(flatten)]
    pub(crate) source: Source,
}

fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "expected a duration such as 60s, 5m or 1h".to_owned();
    let number = text.trim_end_matches(['s', 'm', 'h']);
    let seconds: u64 = number.parse().map_err(|_| wanted())?;
    match &text[number.len()..] {
        "" | "s" => Ok(Duration::from_secs(seconds)),
        "m" => Ok(Duration::from_secs(60 * seconds)),
        "h" => Ok(Duration::from_secs(3_600 * seconds)),
        _ => Err(wanted()),
    }
}

/// A kind of hand-written file with a JSON Schema for editors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Target profile, TOML
    Profile,
    /// Case file, YAML
    Cases,
    /// Waiver file, TOML
    Waivers,
}

/// A report format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// JUnit XML, for CI servers
    Junit,
    /// Markdown, for a step summary
    Markdown,
    /// HTML page in one file
    Html,
    /// Common Test Report Format
    Ctrf,
    /// Exchanges as HTTP Archive 1.2
    Har,
    /// Findings as SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// Code quality of GitLab
    Gitlab,
    /// Summary that a run prints
    Terminal,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// Record of a run (`record.jsonl`), or its folder
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    /// Render this format
    #[arg(long, value_enum, required_unless_present = "open")]
    pub(crate) format: Option<Format>,
    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Mark findings on the lines of FILE instead of the profile, as with `run --locate`
    #[arg(long, value_name = "FILE")]
    pub(crate) locate: Option<PathBuf>,
    /// Render the HTML report and open it in the browser
    ///
    /// The page is `report.html` next to the record, or the file that `--out` names.
    #[arg(long, conflicts_with = "format")]
    pub(crate) open: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Rejudge {
    /// Record of a run (`record.jsonl`), or its folder
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) levels: Levels,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// Record of each shard (`record.jsonl`), or its folder
    #[arg(value_name = "RECORD", required = true, num_args = 1..)]
    pub(crate) records: Vec<PathBuf>,
    /// Write the merged record and its reports to DIR
    #[arg(long, value_name = "DIR", default_value = "reports/merged")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bundle {
    /// Folder of a finished run
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Sign with this private key, RSA or Ed25519, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// Read the passphrase of the key from this environment variable
    #[arg(long, value_name = "NAME")]
    pub(crate) passphrase_env: Option<String>,
    /// Read the passphrase of the key from FILE
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_env")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Write the archive to FILE [default: evidence.tar.gz in the folder of the run]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Archive of `bundle`
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Trust only this public key or certificate, PEM
    ///
    /// Without it, the archive is verified with the key that it contains. That shows that the archive is
    /// consistent, but not who signed it.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// Record of the earlier run (`record.jsonl`), or its folder
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// Record of the later run (`record.jsonl`), or its folder
    #[arg(value_name = "HEAD")]
    pub(crate) head: PathBuf,
    /// Choose when to exit with code 1
    #[arg(long, value_enum, default_value_t = Gate::New)]
    pub(crate) gate: Gate,
    /// Exit with code 1 for these findings, too
    #[arg(long, short = 'D', value_enum, value_name = "WHAT")]
    pub(crate) deny: Option<Denied>,
}

/// Findings that fail a comparison in addition to violations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Denied {
    /// New warnings
    Warnings,
}

/// The condition under which a comparison fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Gate {
    /// A new violation, or with `--deny warnings` a new warning
    New,
    /// Never
    None,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// Profile to write; an existing file is not overwritten
    #[arg(value_name = "FILE", default_value = target::FILE)]
    pub(crate) file: PathBuf,
    /// Print the JSON Schema of a kind of file instead
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "file", num_args = 0..=1, default_missing_value = "profile")]
    pub(crate) schema: Option<Kind>,
    /// Ask for each value, even if standard input is not a terminal
    #[arg(long, conflicts_with_all = ["schema", "template"])]
    pub(crate) ask: bool,
    /// Write the commented profile without asking for values
    ///
    /// This is the default if standard input or output is not a terminal.
    #[arg(long, conflicts_with = "schema")]
    pub(crate) template: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// Shell to complete for
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Write `xs2aspec.1` and a page `xs2aspec-COMMAND.1` for each command to DIR
    #[arg(long, value_name = "DIR", required_unless_present = "markdown")]
    pub(crate) out: Option<PathBuf>,
    /// Print the whole manual as one page of Markdown instead
    #[arg(long, conflicts_with = "out")]
    pub(crate) markdown: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Curl {
    /// Case id, the start of one that matches one case, or the first 8 digits of a finding's id
    #[arg(value_name = "CASE|FINDING", value_parser = pattern)]
    pub(crate) case: String,
    /// Use this profile or base URL [default: as for `run`]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Read findings from this run: its record or its folder
    #[arg(long, value_name = "DIR", default_value = LATEST)]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) ids: Ids,
    /// Set the clock, RFC 3339 [default: the system clock]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Allow a production system; send it only requests that read
    #[arg(long)]
    pub(crate) allow_production: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) target: TargetArg,
    /// Count the cases of a run at this depth
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Allow a production system; send it only requests that read
    #[arg(long)]
    pub(crate) allow_production: bool,
    /// Write what the responses show to the profile
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print the changes of `--fix` as a patch
    #[arg(long, conflicts_with = "fix")]
    pub(crate) diff: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Cases to list, as with `run --only`
    #[arg(value_name = "PATTERN", value_parser = pattern)]
    pub(crate) only: Vec<String>,
    /// List the cases of a run at this depth
    #[arg(long, value_name = "DEPTH", default_value = "exhaustive", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Print JSON, with the reason for each skipped case (`leftOut`)
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// Id of a clause or case, or the first 8 digits of a finding's id
    #[arg(value_name = "ID", value_parser = pattern)]
    pub(crate) id: String,
    /// Read findings from this run: its record or its folder
    #[arg(long, value_name = "DIR", default_value = LATEST)]
    pub(crate) run: PathBuf,
    /// Fill the request from this profile or base URL [default: as for `run`]
    ///
    /// With `--pack`, the default is a profile without values.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Coverage {
    /// Show the expected outcome of each test value at each place
    #[arg(long)]
    pub(crate) matrix: bool,
    /// Write that matrix as an HTML page to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}
