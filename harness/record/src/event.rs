//! The events of a run, in the order of time: one `run-started`, the profile, the document, the clauses and
//! sources that the run speaks of, then each request when it is sent and when it was answered, each verdict
//! when it is known, the checks on answers, and `run-finished`. A killed run lacks the last one and is
//! readable. A run that goes on appends `resumed`, further events, and an end of its own. A merged record has
//! the events of each shard, one shard after the other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    asked_again::{AskedAlone, RefusedSince},
    changes::Changes,
    clauses::AnswerChecks,
    counts::Counts,
    exchange::{Exchange, Sending},
    level::{ClauseLevel, LevelRule},
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
    /// What decided how the target was asked and judged.
    Profile(TargetProfile),
    /// The document under test.
    Document(DocumentText),
    /// A clause that the run speaks of.
    Clause(ClauseText),
    /// A case file that the run speaks of.
    Source(CaseSource),
    /// A request that is about to be sent.
    Sending(Sending),
    /// One request and its answer.
    Exchange(Exchange),
    /// The verdict of one case. Of several for one case the last one counts.
    Verdict(CaseVerdict),
    /// The run was killed or lost its target here, and went on later.
    Resumed(Resumed),
    /// A plain request is not accepted any more, or it is again.
    RefusedSince(RefusedSince),
    /// What was wrong, asked again when nothing else was.
    AskedAlone(AskedAlone),
    /// How often the checks on answers looked at some.
    AnswerChecks(AnswerChecks),
    /// What differs from the run that it was compared with.
    Changes(Changes),
    /// The last line.
    RunFinished(RunFinished),
}

impl Event {
    /// Returns the case that the event is about, if it is about one.
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
                | Self::RunFinished(_)
        )
    }
}

/// What was run, against what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Version of the record's format; readers refuse one they do not know.
    pub format: u32,
    /// Name and version of the program (`xs2aspec 0.1.0`).
    pub tool: String,
    /// Name of the target, as its profile gives it.
    pub target: String,
    /// Version of the target, as its profile gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_version: Option<String>,
    /// Kind of the target: `sandbox` or `production`, as its profile gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Who answers for the target, as its profile gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// Base URL of the target.
    pub base_url: String,
    /// Fault that the built-in bank was told to have, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Variations that the built-in bank was told to have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<String>,
    /// Folder of the case files, as it was named, where they are others than those of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cases: Option<String>,
    /// Folder of the document, its clauses and cases, as it was named, where they are others than those of
    /// the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_document: Option<String>,
    /// SHA-256 of the document under test, in hex.
    pub document_sha256: String,
    /// SHA-256 over the case files, ledger and fixtures that the run was planned from, in hex.
    pub suite_sha256: String,
    /// What the suite was shown to catch, in one sentence; nothing where other case files are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<String>,
    /// Seed of the generated values.
    pub seed: u64,
    /// Id of the run. With the seed and the shard it makes all ids and amounts. Reports of a merged record
    /// show the id of its first part.
    #[serde(default)]
    pub run_id: String,
    /// The clock as it was handed to the run, RFC 3339 in UTC.
    pub now: String,
    /// Whether the clock went on from there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_runs: bool,
    /// Depth of the run: `quick`, `standard` or `exhaustive`.
    pub depth: String,
    /// Number of selected cases; 0 where they are drawn.
    pub cases: usize,
    /// Whether the cases were drawn as the run went on, so that nobody knew at its start how many there would
    /// be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// Which command judged it, where others sent the requests: then each finding says which end broke it. A
    /// run has none: what its requests break is broken on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Whether some of that traffic is of a run, whose requests break rules on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_purpose: bool,
    /// How many of them are the plain request of their operation once more: nothing is sent again for them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub said_by_name: usize,
    /// Which part of the plan, where it is run in several: `2/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Selected cases of all parts together, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    /// The most requests that the run may send, all parts together: its cases are those that say most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// SHA-256 over what the target profile says of how it is asked and judged, as canonical JSON, in hex:
    /// runs with the same one were asked alike.
    #[serde(default)]
    pub profile_sha256: String,
    /// SHA-256 of the file of waivers, in hex, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waivers_sha256: Option<String>,
    /// Levels that the target profile and then the command line gave to clauses; of several for one clause
    /// the last one counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelRule>,
    /// Patterns given with `--only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Patterns given with `--skip`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<String>,
    /// What the command line said of the target, the cases and the waivers, and what was drawn in its place:
    /// the `again` line of a case and `run --resume` say it again.
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

    /// Whether all cases were to be asked, in this part and others: a finding that is not there then is none.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty() && self.depth != "quick"
    }

    /// Returns which part of the plan it is, and of how many, where it is run in several.
    pub fn part(&self) -> Option<(u32, u32)> {
        let (number, of) = self.shard.as_deref()?.split_once('/')?;
        let part = (number.parse().ok()?, of.parse().ok()?);
        (1..=part.1).contains(&part.0).then_some(part)
    }

    /// Returns the address of a target that the command line named. The built-in bank has another one each
    /// time.
    pub fn named_address(&self) -> Option<&str> {
        self.arguments.iter().any(|argument| argument == "--target").then_some(self.base_url.as_str())
    }

    /// Where the target is, if its name does not say that already.
    pub fn address(&self) -> Option<&str> {
        Some(self.base_url.as_str()).filter(|address| *address != self.target)
    }
}

/// A command that judges what others send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Reads it from files.
    Judge,
    /// Stands between a client and a bank.
    Proxy,
    /// Is the bank.
    Serve,
    /// Ticks off what a client has shown.
    ClientReport,
}

impl Traffic {
    /// The command that comes to the same once more; nothing for traffic that has passed.
    pub const fn again(self) -> Option<&'static str> {
        match self {
            Self::Judge => Some("judge"),
            Self::ClientReport => Some("client-report"),
            Self::Proxy | Self::Serve => None,
        }
    }
}

/// The target profile, as far as it decides how the target is asked and judged. Secrets are masked before
/// they come here; keys are not here at all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetProfile {
    /// Declared choices, by key.
    #[serde(default)]
    pub choices: BTreeMap<String, String>,
    /// What the target offers: `true`, `false`, or `ask`.
    #[serde(default)]
    pub capabilities: BTreeMap<String, String>,
    /// Whether a created resource with status RJCT is a refusal.
    #[serde(default)]
    pub rejected_is_refusal: bool,
    /// Whether requests were signed with the test key that everybody knows, and that the target need not
    /// know.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_key: bool,
    /// Paths that differ from the document's, by operation.
    #[serde(default)]
    pub paths: BTreeMap<String, String>,
    /// Values of the target by dotted name, masked where they belong to persons.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// SHA-256 of the certificate that requests were signed for, as it stands in the profile, in hex.
    #[serde(default)]
    pub certificate_sha256: String,
}

/// Where a run went on that had been killed, or had lost its target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The clock of the rest of the run, RFC 3339 in UTC.
    pub now: String,
    /// Verdicts that were kept.
    pub kept: usize,
    /// Cases that had begun to send something that could make a payment, and whose end is not known; sent
    /// again with other identifiers, or left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_doubt: Vec<String>,
}

/// The document under test, from which a report takes the words of each clause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// The whole text, in Markdown.
    pub text: String,
    /// How its unclear places are read, in the order of their rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
    /// Operations, each with the heading of its column where a table has one column for each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
}

/// How an unclear place of the document is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of its row.
    pub row: u32,
    /// What is unclear, and how it is read.
    pub text: String,
}

/// A clause as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClauseText {
    /// Stable id.
    pub id: String,
    /// The statement in our own words.
    pub says: String,
    /// Strength.
    pub strength: Strength,
    /// Line of the document, from 1.
    pub line: u32,
    /// Words of that line; ` .. ` stands for what is left out. Empty in a record of before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// Rows of [`DocumentText::readings`] that decide how it is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<u32>,
    /// Headings above that line, joined with ` > `.
    pub section: String,
    /// Standard and section that a derived clause follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<String>,
    /// Why it is only observed, or cannot be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What a breach of it does in this run, where its strength alone does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<ClauseLevel>,
}

impl ClauseText {
    /// What a breach of it does in this run.
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

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFinished {
    /// Verdicts of the selected cases, counted.
    pub counts: Counts,
    /// Exchanges of the record, those of controls and set-ups included.
    pub exchanges: u64,
    /// How many of them sent a request once more, because the target asked to come back or was not there.
    #[serde(default)]
    pub retries: u64,
    /// Wall time of the run, in microseconds.
    pub micros: u64,
    /// Whether the run stopped early (`--fail-fast`, an interrupt), so that selected cases have no verdict.
    #[serde(default)]
    pub stopped_early: bool,
    /// The waivers of the run, and what has come of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverSeen>,
    /// How long the target took.
    #[serde(default, skip_serializing_if = "Times::is_empty")]
    pub times: Times,
    /// The exit code, as [`crate::Exit`] defines it.
    pub exit: u8,
    /// The link of the hash chain ([`crate::HashChain`]) of this line without this member.
    /// [`crate::RecordWriter`] writes it, behind all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}
