//! The events of a run, in order of time. The record starts with `run-started`, the profile, the document,
//! and the clauses and sources that the run refers to. Then come requests, exchanges and verdicts as they
//! happen, the response checks, and `run-finished`.
//!
//! The record of a killed run lacks the last event and is still readable. A resumed run appends `resumed`,
//! further events, and an end of its own. A merged record contains the events of one shard after the other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    asked_again::{AskedAlone, RefusedSince},
    changes::Changes,
    clauses::AnswerChecks,
    counts::Counts,
    exchange::{Exchange, Sending},
    level::{ClauseLevel, LevelRule},
    located::Located,
    times::Times,
    verdict::{CaseVerdict, Strength},
    waiver::WaiverSeen,
};

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first line.
    RunStarted(RunStarted),
    /// The part of the profile that affects requests and verdicts.
    Profile(TargetProfile),
    /// The document under test.
    Document(DocumentText),
    /// A clause that the run refers to.
    Clause(ClauseText),
    /// A case file that the run refers to.
    Source(CaseSource),
    /// A request that is about to be sent.
    Sending(Sending),
    /// A request and its response.
    Exchange(Exchange),
    /// The verdict of one case. The last verdict of a case counts.
    Verdict(CaseVerdict),
    /// The run was killed or lost its target here, and was resumed later.
    Resumed(Resumed),
    /// A baseline request is no longer accepted, or is accepted again.
    RefusedSince(RefusedSince),
    /// A failing case was rerun in isolation.
    AskedAlone(AskedAlone),
    /// Counts of the response checks.
    AnswerChecks(AnswerChecks),
    /// The differences from the run that it was compared with.
    Changes(Changes),
    /// The lines of the user's files to which findings belong.
    Located(Located),
    /// The last line.
    RunFinished(RunFinished),
}

impl Event {
    /// Returns the case that the event is about, if any.
    pub fn case(&self) -> Option<&str> {
        match self {
            Self::Sending(sending) => Some(&sending.case),
            Self::Exchange(exchange) => Some(&exchange.case),
            Self::Verdict(verdict) => Some(&verdict.case),
            _ => None,
        }
    }

    /// Returns true if the event belongs to the end of a run.
    pub fn is_of_end(&self) -> bool {
        matches!(
            self,
            Self::AskedAlone(_)
                | Self::RefusedSince(_)
                | Self::AnswerChecks(_)
                | Self::Changes(_)
                | Self::Located(_)
                | Self::RunFinished(_)
        )
    }
}

/// The start of a run: the target, the suite and the options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Version of the record format. Readers reject a version that they do not know.
    pub format: u32,
    /// Name and version of the program (`xs2aspec 0.1.0`).
    pub tool: String,
    /// Name of the target, from its profile.
    pub target: String,
    /// Version of the target, from its profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_version: Option<String>,
    /// Kind of the target, from its profile: `sandbox` or `production`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Contact for the target, from its profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// Base URL of the target.
    pub base_url: String,
    /// Fault of the reference bank, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Variations of the reference bank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<String>,
    /// Folder of the case files, as given on the command line. Absent for the built-in cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cases: Option<String>,
    /// Folder of the document, its clauses and cases, as given on the command line. Absent for the built-in
    /// document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_document: Option<String>,
    /// SHA-256 of the document under test, in hex.
    pub document_sha256: String,
    /// SHA-256 over the case files, ledger and fixtures from which the run was planned, in hex.
    pub suite_sha256: String,
    /// A sentence on the share of faults that the suite detects. Absent with other case files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<String>,
    /// Seed of the generated values.
    pub seed: u64,
    /// Id of the run. With the seed and the shard it determines all ids and amounts. Reports of a merged
    /// record show the id of its first part.
    #[serde(default)]
    pub run_id: String,
    /// Start time of the run's clock, RFC 3339 in UTC.
    pub now: String,
    /// True if the clock runs from there. False if it is fixed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_runs: bool,
    /// Depth of the run: `quick`, `standard` or `exhaustive`.
    pub depth: String,
    /// Number of selected cases. 0 if the cases are generated.
    pub cases: usize,
    /// True if the cases are generated during the run, so that their number is not known at the start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// Command that judged the traffic of others. Each finding then names the end that violated the clause.
    /// Absent for a run, whose requests violate rules on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// True if some of that traffic is from a run, whose requests violate rules on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_purpose: bool,
    /// Number of cases whose request equals the baseline request of their operation. It is not sent again for
    /// them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub said_by_name: usize,
    /// Part of the plan, if the run is split into shards: `2/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Number of selected cases of all shards, if the run is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    /// Limit of requests for all shards together. The run prefers the most effective cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// SHA-256 over the part of the target profile that affects requests and verdicts, as canonical JSON, in
    /// hex. Equal hashes mean comparable runs.
    #[serde(default)]
    pub profile_sha256: String,
    /// SHA-256 of the waivers file, in hex, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waivers_sha256: Option<String>,
    /// Levels from the target profile, then from the command line. The last rule for a clause counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelRule>,
    /// Patterns given with `--only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Patterns given with `--skip`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<String>,
    /// Command-line arguments for the target, the cases and the waivers, with generated defaults filled in.
    /// The `again` line of a case and `run --resume` repeat them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}

impl RunStarted {
    /// The format that this version writes, and the only one that it reads.
    pub const FORMAT: u32 = 7;

    /// Returns the name and version of this program.
    pub fn tool() -> String {
        format!("xs2aspec {}", env!("CARGO_PKG_VERSION"))
    }

    /// Returns true if the run covers all cases, including other shards. A finding that is then absent does
    /// not exist.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty() && self.depth != "quick"
    }

    /// Returns true if the requests are those of cases of the suite, and neither generated nor recorded
    /// elsewhere.
    pub const fn sends_cases(&self) -> bool {
        self.traffic.is_none() && !self.drawn
    }

    /// Returns the value of an option of the command line, such as `--target`.
    pub fn argument(&self, option: &str) -> Option<&str> {
        let at = self.arguments.iter().position(|argument| argument == option)?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    /// Returns the number of this shard and the number of shards, if the run is split.
    pub fn part(&self) -> Option<(u32, u32)> {
        let (number, of) = self.shard.as_deref()?.split_once('/')?;
        let part = (number.parse().ok()?, of.parse().ok()?);
        (1..=part.1).contains(&part.0).then_some(part)
    }

    /// Returns the address of a target named on the command line. The reference bank has another address each
    /// time.
    pub fn named_address(&self) -> Option<&str> {
        self.arguments.iter().any(|argument| argument == "--target").then_some(self.base_url.as_str())
    }

    /// Returns the address of the target, unless it equals the target's name.
    pub fn address(&self) -> Option<&str> {
        Some(self.base_url.as_str()).filter(|address| *address != self.target)
    }
}

/// A command that judges the traffic of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Reads the traffic from files.
    Judge,
    /// Forwards the traffic between a client and a bank.
    Proxy,
    /// Acts as the bank.
    Serve,
    /// Checks off the items that a client has demonstrated.
    ClientReport,
}

impl Traffic {
    /// Returns the command that reproduces the result. Returns `None` for live traffic.
    pub const fn again(self) -> Option<&'static str> {
        match self {
            Self::Judge => Some("judge"),
            Self::ClientReport => Some("client report"),
            Self::Proxy | Self::Serve => None,
        }
    }
}

/// The part of the target profile that affects requests and verdicts. Secrets are already masked, and keys
/// are not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetProfile {
    /// Declared choices, by key.
    #[serde(default)]
    pub choices: BTreeMap<String, String>,
    /// Capabilities of the target: `true`, `false`, or `ask`.
    #[serde(default)]
    pub capabilities: BTreeMap<String, String>,
    /// True if a created resource with status RJCT counts as a rejection.
    #[serde(default)]
    pub rejected_is_refusal: bool,
    /// True if requests were signed with the public test key, which the target may not know.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_key: bool,
    /// Paths that differ from the document's, by operation.
    #[serde(default)]
    pub paths: BTreeMap<String, String>,
    /// Values of the target by dotted name. Personal data is masked.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// SHA-256 of the certificate in the profile for which requests were signed, in hex.
    #[serde(default)]
    pub certificate_sha256: String,
}

/// The point at which a killed run, or one that lost its target, was resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// Time on the clock at that point, RFC 3339 in UTC.
    pub now: String,
    /// Number of verdicts that were kept.
    pub kept: usize,
    /// Cases without a known result that may have created a payment. They are sent again with other ids, or
    /// skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_doubt: Vec<String>,
}

/// The document under test, which reports quote for each clause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// The whole text, in Markdown.
    pub text: String,
    /// The interpretations of its unclear places, in the order of their rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
    /// Operations with the column heading that names them, in tables that have one column per operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
}

/// The interpretation of an unclear place of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of its row.
    pub row: u32,
    /// The unclear place and its interpretation.
    pub text: String,
}

/// A clause of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClauseText {
    /// Stable id.
    pub id: String,
    /// The statement in the project's words.
    pub says: String,
    /// Strength.
    pub strength: Strength,
    /// Line of the document, from 1.
    pub line: u32,
    /// Quoted words of that line, with ` .. ` for omissions. Empty in a record of an older version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// Rows of [`DocumentText::readings`] that decide its interpretation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<u32>,
    /// Headings above that line, joined with ` > `.
    pub section: String,
    /// Standard and section from which a derived clause follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<String>,
    /// Reason why it is only observed or cannot be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its level in this run, if that differs from the default of its strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<ClauseLevel>,
}

impl ClauseText {
    /// Returns its level in this run.
    pub fn level(&self) -> ClauseLevel {
        self.set.unwrap_or(self.strength.usual_level())
    }
}

/// The text of a case file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseSource {
    /// Path, as in [`crate::Place::file`].
    pub file: String,
    /// The whole text.
    pub text: String,
}

/// The end of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFinished {
    /// Numbers of selected cases by verdict.
    pub counts: Counts,
    /// Number of recorded exchanges, including controls and set-up.
    pub exchanges: u64,
    /// Number of exchanges that repeated a request, because the target asked to retry or was unreachable.
    #[serde(default)]
    pub retries: u64,
    /// Wall time of the run, in microseconds.
    pub micros: u64,
    /// True if the run stopped early (`--fail-fast`, an interrupt) and selected cases lack a verdict.
    #[serde(default)]
    pub stopped_early: bool,
    /// The waivers of the run and their outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverSeen>,
    /// The response times of the target.
    #[serde(default, skip_serializing_if = "Times::is_empty")]
    pub times: Times,
    /// The exit code, as [`crate::Exit`] defines it.
    pub exit: u8,
    /// The link of the hash chain ([`crate::HashChain`]) for this line without this field.
    /// [`crate::RecordWriter`] writes it as the last field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}
