//! The command line.

mod identity;
mod levels;
mod mask_key;
mod own;
mod parsed;
pub(crate) mod prove;
mod run;
mod source;
mod traffic;

use std::{path::PathBuf, time::Duration};

use chrono::{DateTime, Utc};
use clap::{Parser, Subcommand};
use xs2aspec_suite::Depth;

pub(crate) use self::identity::Ids;
pub(crate) use self::levels::Levels;
pub(crate) use self::mask_key::MaskKeyFile;
pub(crate) use self::own::{InspectCert, Judge, Keys, Listen, Scaffold, Serve, Sign, Trend};
use self::parsed::{depth, time};
pub(crate) use self::run::{InDoubt, Run, Server};
pub(crate) use self::source::Source;
pub(crate) use self::traffic::{ClientPlan, ClientReport, ClientTls, Proxy};

/// Checks whether a bank's PSD2 XS2A interface does what its document says; with `--pack`, an interface of
/// another document.
///
/// Without a command it does what `run` does. Exit codes: 0 conforms, be it with warnings; 1 a violation; 2
/// the command line, a profile, a case or a clause is wrong, or a file cannot be written; 3 the target did
/// not answer, or a case that the document demands could not be judged; 4 nothing ran.
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
    /// Runs the cases against a target and writes its record and reports
    Run(Run),
    /// Runs the built-in reference bank alone, until it is interrupted
    Serve(Serve),
    /// Passes on, unaltered, what a client and a test system say to each other; judges and records both, and
    /// shows what either breaks
    Proxy(Proxy),
    /// List what a client should show, and the options of `serve` that let it
    ClientPlan(ClientPlan),
    /// Report which items of `client-plan` the records of a client show. Exit codes: 0 it conforms and showed
    /// every required item, 1 it broke something, 3 it did not show everything
    ClientReport(ClientReport),
    /// Runs every case against the built-in bank with each of its faults and variations, and in its styles:
    /// what is caught, and what is accused wrongly
    Prove(prove::Prove),
    /// Sends requests that nobody wrote, drawn from a model of the document, until one shows a violation;
    /// makes it small and keeps it
    Explore(Explore),
    /// Judges traffic of others from a file: what the client broke in each request, and what the bank broke
    /// in each answer; nothing is sent
    Judge(Judge),
    /// Draws a report from the record of a run alone
    Report(Report),
    /// Judges the recorded answers of a run by the cases of this version: which verdicts change, and why
    Rejudge(Rejudge),
    /// Joins the runs of all shards into one, if none is missing
    Merge(Merge),
    /// Makes one archive of a run: its record, what it was made with, the reports, and a signed statement
    /// about all of them
    Bundle(Bundle),
    /// Says what of an archive of `bundle` can be believed, offline; exit code 1 if anything in it was
    /// changed
    Verify(Verify),
    /// Says what differs between two runs, in Markdown; exit code 1 if anything is newly broken
    Diff(Diff),
    /// Draws several runs as a small chart: what is wrong, clauses kept and broken, and how long answers took
    Trend(Trend),
    /// Writes a commented profile of a target to start from
    Init(Init),
    /// Looks at a target before a run: can it be reached, are the plain requests accepted, which cases can
    /// run, and what to change
    Doctor(Doctor),
    /// Prints a call of curl that sends the request of a case, freshly signed; requests that prepare it are
    /// sent at once. The request is that of the case, even where a run sends another in its place
    /// (`judged_with`)
    Curl(Curl),
    /// Lists areas, clauses and cases
    List(List),
    /// Explains a clause, or a case: what it sends, what it expects and why. It does not show what a run
    /// sends in its place to a target that refuses the plain request (`judged_with`)
    Explain(Explain),
    /// Says, section by section, how each statement of the document is covered
    Coverage(Coverage),
    /// Holds the case files to the authoring rules
    Lint(Source),
    /// Waits on this machine until a bank sends the PSU back, and prints the query as JSON; for `[[prepare]]`
    Listen(Listen),
    /// Signs a request of yours by the rules of the document, or explains why a signed one does not hold
    /// (--verify)
    Sign(Sign),
    /// Says what a certificate says, and how keyId names it
    InspectCert(InspectCert),
    /// Begins a new clause in a rule file: its entry, a case, and where its fault goes
    #[command(hide = true)]
    Scaffold(Scaffold),
    /// Makes a test authority, signing keys and certificates, all marked as test material
    Keys(Keys),
    /// Prints a script with which a shell completes the words of a command line
    Completions(Completions),
    /// Writes the manual: a page for each command
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explore {
    /// Base URL of the target, or the TOML file of its profile; without it the built-in reference bank is
    /// started
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: Option<String>,
    /// Only requests of this operation; may be repeated
    #[arg(long, value_name = "OPERATION")]
    pub(crate) only: Vec<String>,
    /// Requests to send at most, whatever they are for; one in ten, 300 at most, is kept for making findings
    /// smaller
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    pub(crate) budget: u64,
    /// Time to take at most, such as 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    /// Stop at the first violation
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Folder to write a case file into for each violation; `run --cases` takes it
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Folder for the record and the reports
    #[arg(long, value_name = "DIR", default_value = "reports/explore")]
    pub(crate) out: PathBuf,
    /// Requests in flight at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
    #[command(flatten)]
    pub(crate) ids: Ids,
    /// The clock, RFC 3339; by default the machine's
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Let the built-in bank break one clause in one named way; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    pub(crate) fault: Vec<String>,
    /// Let the built-in bank use a freedom of the document in another way; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["target", "fault"])]
    pub(crate) variation: Vec<String>,
    #[command(flatten)]
    pub(crate) source: Source,
}

fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "expected a time such as 60s, 5m or 1h".to_owned();
    let number = text.trim_end_matches(['s', 'm', 'h']);
    let seconds: u64 = number.parse().map_err(|_| wanted())?;
    match &text[number.len()..] {
        "" | "s" => Ok(Duration::from_secs(seconds)),
        "m" => Ok(Duration::from_secs(60 * seconds)),
        "h" => Ok(Duration::from_secs(3_600 * seconds)),
        _ => Err(wanted()),
    }
}

/// A kind of file that people write, and that an editor can check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// The profile of a target, TOML
    Profile,
    /// A case file, YAML
    Cases,
    /// A file of waivers, TOML
    Waivers,
}

/// How a record is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For CI servers
    Junit,
    /// For a step summary
    Markdown,
    /// For people, in one file
    Html,
    /// Common Test Report Format
    Ctrf,
    /// The exchanges as HTTP Archive 1.2
    Har,
    /// Findings as SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// What a run prints at its end
    Terminal,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// `record.jsonl` of a run, or its folder
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    /// What to draw
    #[arg(long, value_enum, required_unless_present = "open")]
    pub(crate) format: Option<Format>,
    /// File to write, in place of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Draw `report.html` beside the record, or as `--out`, and show it in the browser
    #[arg(long, conflicts_with = "format")]
    pub(crate) open: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Rejudge {
    /// `record.jsonl` of a run, or its folder
    #[arg(value_name = "RECORD")]
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) levels: Levels,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// `record.jsonl` of each shard, or their folders
    #[arg(value_name = "RECORD", required = true, num_args = 1..)]
    pub(crate) records: Vec<PathBuf>,
    /// Folder for the merged record and its reports
    #[arg(long, value_name = "DIR", default_value = "reports/merged")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bundle {
    /// Folder of a run that came to its end
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Private key that signs, RSA or Ed25519, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// Environment variable with the passphrase of the key
    #[arg(long, value_name = "NAME")]
    pub(crate) passphrase_env: Option<String>,
    /// File with the passphrase of the key
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_env")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// The archive; by default `evidence.tar` in the folder
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// The archive
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Public key of whom you trust, or a certificate of it, PEM; without it the key that the archive brings
    /// is taken
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// `record.jsonl` of the run before, or its folder
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// That of the run after
    #[arg(value_name = "HEAD")]
    pub(crate) head: PathBuf,
    /// What makes exit code 1
    #[arg(long, value_enum, default_value_t = Gate::New)]
    pub(crate) gate: Gate,
    /// What else makes exit code 1: a finding that is a warning
    #[arg(long, short = 'D', value_enum, value_name = "WHAT")]
    pub(crate) deny: Option<Denied>,
}

/// What a difference may be besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Denied {
    /// New findings that are warnings
    Warnings,
}

/// When a difference is red.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Gate {
    /// Where there is a new finding that is a violation, however many cases show it; with `--deny warnings`
    /// also where there is a new warning
    New,
    /// Never
    None,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// File to write; one that is there is left alone
    #[arg(value_name = "FILE", default_value = "bank.toml")]
    pub(crate) file: PathBuf,
    /// Print the JSON Schema of a kind of file instead, for an editor
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "file", num_args = 0..=1, default_missing_value = "profile")]
    pub(crate) schema: Option<Kind>,
    /// Ask for each value, also where the answers do not come from a terminal
    #[arg(long, conflicts_with_all = ["schema", "template"])]
    pub(crate) ask: bool,
    /// Write the commented profile and ask nothing, as is done where nobody sits at a terminal
    #[arg(long, conflicts_with = "schema")]
    pub(crate) template: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Folder to write into: `xs2aspec.1`, and `xs2aspec-COMMAND.1` for each command
    #[arg(long, value_name = "DIR", required_unless_present = "markdown")]
    pub(crate) out: Option<PathBuf>,
    /// Print all of it as one page of Markdown instead
    #[arg(long, conflicts_with = "out")]
    pub(crate) markdown: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Curl {
    /// Id of the case
    #[arg(value_name = "CASE")]
    pub(crate) case: String,
    /// Profile of the target, or its URL
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) ids: Ids,
    /// The clock, RFC 3339; by default the machine's
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Read a production system: send it nothing that could make anything there
    #[arg(long)]
    pub(crate) allow_production: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Profile of the target, or its URL
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) target: String,
    /// Which cases a run would have
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = depth)]
    pub(crate) depth: Depth,
    /// Read a production system: send it nothing that could make anything there
    #[arg(long)]
    pub(crate) allow_production: bool,
    /// Write what the responses show into the profile
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print what --fix would change, as a patch
    #[arg(long, conflicts_with = "fix")]
    pub(crate) diff: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Only these cases, as with `run --only`
    #[arg(value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// At this depth
    #[arg(long, value_name = "DEPTH", default_value = "exhaustive", value_parser = depth)]
    pub(crate) depth: Depth,
    /// As JSON, with the cases that the depth leaves out: `leftOut` says why
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// Id of a clause or of a case
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Profile to fill the request from; without it that of the built-in bank, or what a pack says of any
    /// target
    #[arg(long, value_name = "URL|FILE.toml")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) levels: Levels,
    #[command(flatten)]
    pub(crate) source: Source,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Coverage {
    /// Draws every place of every request with every mistake and lawful form, and what must come of it
    #[arg(long)]
    pub(crate) matrix: bool,
    /// Writes that as a page
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}
