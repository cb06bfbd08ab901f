//! The verdict of one case and its evidence.

mod observation;

use serde::{Deserialize, Serialize};

use crate::{
    culprit::Culprit,
    level::{ClauseLevel, Level, LevelSource},
    mismatch::{Difference, Mismatch},
    reason::Reason,
};

pub use self::observation::{NotTold, Observation};

/// The verdict of a run on one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every check passed.
    Pass,
    /// Every check passed, but the target accepted a valid request only when it was sent again, because a
    /// gateway had failed.
    Flaky,
    /// The target violated a clause of level `deny`.
    Fail,
    /// The target violated a clause of level `warn`, and none of level `deny`.
    Warn,
    /// The target violated a clause of level `deny` or `warn`, and a waiver covers it. Or the control of the
    /// case was not accepted, which is waived or allowed.
    Waived,
    /// The case could not be judged: the control was rejected, the set-up failed, or the target asked to
    /// retry later.
    Inconclusive,
    /// The target does not claim the capability that the case needs.
    NotApplicable,
    /// The document requires nothing here. The behavior of the target is recorded.
    Observed,
    /// The harness could not do its work: no connection, no response in time, or a response that is not HTTP.
    Error,
}

impl Verdict {
    /// All verdicts, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Pass,
        Self::Flaky,
        Self::Fail,
        Self::Warn,
        Self::Waived,
        Self::Inconclusive,
        Self::NotApplicable,
        Self::Observed,
        Self::Error,
    ];

    /// Returns the word used in every report and in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Flaky => "flaky",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Waived => "waived",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not-applicable",
            Self::Observed => "observed",
            Self::Error => "error",
        }
    }

    /// Returns true if every check passed.
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Flaky)
    }
}

/// The firmness of a statement of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// The document states it, in a sentence or a table.
    Stated,
    /// It follows from a standard that the document names.
    Derived,
    /// The plain reading of the document, which allows others. A violation is a warning.
    Expected,
    /// The document leaves it to the bank, and the target profile decides.
    Choice,
    /// Recorded. A deviation is not a violation.
    Observed,
    /// Cannot be tested from outside.
    Untestable,
}

impl Strength {
    /// All strengths, firmest first.
    pub const ALL: [Self; 6] =
        [Self::Stated, Self::Derived, Self::Expected, Self::Choice, Self::Observed, Self::Untestable];

    /// Returns true if the document requires it, directly or through a standard that it names.
    pub const fn is_demanded(self) -> bool {
        matches!(self, Self::Stated | Self::Derived)
    }

    /// Returns the default level of a clause of this strength.
    pub const fn usual_level(self) -> ClauseLevel {
        let level = match self {
            Self::Stated | Self::Derived => Level::Deny,
            Self::Expected => Level::Warn,
            Self::Choice | Self::Observed | Self::Untestable => Level::Note,
        };
        ClauseLevel { level, by: LevelSource::Strength }
    }

    /// Returns the word used in the ledger and in every report.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Derived => "derived",
            Self::Expected => "expected",
            Self::Choice => "choice",
            Self::Observed => "observed",
            Self::Untestable => "untestable",
        }
    }
}

/// A place in a case file. Line and column count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Path of the file, with forward slashes, relative to the tree of case files
    /// (`cases/periodic/months-of-execution.yaml`).
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// An end of an exchange, which a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The sender of the request.
    Client,
    /// The sender of the response. A run of cases blames only this end, because its requests violate rules on
    /// purpose.
    #[default]
    Bank,
}

impl End {
    /// Returns the word used in every report and in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Bank => "bank",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_bank(&self) -> bool {
        *self == Self::Bank
    }
}

/// One mismatch between the requirement of a clause and the behavior of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Id of the violated clause. It may differ from the clause of the case, because every 2xx body is
    /// checked in every case.
    pub clause: String,
    /// Description of the expected value.
    pub expected: String,
    /// Description of the actual value.
    pub actual: String,
    /// Place in the response: `status`, a header name, or a JSON pointer into the body
    /// (`body/transactionFees/amount`). For a violation by the client, the place in the request:
    /// `request/header/NAME`.
    pub at: String,
    /// Kind of the mismatch.
    #[serde(default, skip_serializing_if = "Mismatch::is_unknown")]
    pub kind: Mismatch,
    /// Level of the finding: `deny` or `warn`. At level `note` it is an observation instead.
    #[serde(default = "Level::before_levels")]
    pub level: Level,
    /// The end that violated the clause.
    #[serde(default, skip_serializing_if = "End::is_bank")]
    pub end: End,
}

impl Finding {
    /// Returns a violation by the bank.
    pub fn new(
        clause: &str,
        kind: Mismatch,
        at: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        Self {
            clause: clause.to_owned(),
            expected: expected.into(),
            actual: actual.into(),
            at: at.into(),
            kind,
            level: Level::Deny,
            end: End::Bank,
        }
    }

    /// Returns true if the finding is about the status of the judged response, under the clause of the case.
    pub fn is_answer_to(&self, verdict: &CaseVerdict) -> bool {
        self.at == "status" && self.clause == verdict.clause
    }

    /// Returns a description of the mismatch: `expected a refusal (4xx), got 201`. Unless the place is the
    /// status, the description starts with it.
    pub fn mismatch(&self) -> String {
        let Self { expected, actual, at, .. } = self;
        let words = format!("expected {expected}, got {actual}");
        if at == "status" { words } else { format!("{at}: {words}") }
    }
}

/// The role of a case in a run: selected, or needed only as the control of another case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Selected. It counts.
    Selected,
    /// Runs only as the control of a selected case. Its verdict is recorded but not counted. A control that
    /// is rejected by itself is still a violation.
    Control,
}

/// The reason why a case does not apply to a target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Absence {
    /// The profile does not declare what the case needs.
    NotSaid {
        /// The line that would enable the case.
        add: String,
    },
    /// The profile declares it absent, or the case cannot apply to such a target.
    Declared,
}

/// The result of the control of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlSeen {
    /// Case id of the control.
    pub case: String,
    /// True if the target accepted it in this run.
    pub accepted: bool,
}

/// The verdict of one expanded case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseVerdict {
    /// Id of the expanded case (`periodic.months.duplicate/adjacent`).
    pub case: String,
    /// Id of the clause that the case tests.
    pub clause: String,
    /// Area: the folder of the case file below `cases/`.
    pub area: String,
    /// Operation of the judged request (`ncbct`, `periodic`, `basket`, `customers`, `transaction`).
    pub operation: String,
    /// Selected, or run only as a control.
    pub role: Role,
    /// Place of the case in its file.
    pub place: Place,
    /// The verdict.
    pub verdict: Verdict,
    /// Description of the expected result (`accepted`, `refused with status 400`).
    pub expected: String,
    /// Number of evaluated checks. At least 1 unless the case could not be judged.
    pub checks: u32,
    /// All mismatches. Empty unless the verdict is `fail`, `warn` or `waived`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Behavior of the target where the document leaves a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<String>,
    /// Traffic: other observations, and the parts that cannot be judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Observation>,
    /// The observation to drop if the rejection turns out to have another cause. Not recorded.
    #[serde(skip)]
    pub refusal: Option<String>,
    /// Reason for the verdict. Always present for `flaky`, `waived`, `inconclusive`, `not-applicable` and
    /// `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// For `not-applicable`: declared absent by the profile, or not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absence: Option<Absence>,
    /// The control of the case, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlSeen>,
    /// Changes that the case makes to its baseline, for the text of a failure (`body/monthsOfExecution = [3,
    /// 3]`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Differences between the request of an invalid case and that of its control.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Error codes of the judged response of an invalid case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// The changes that are rejected, for a case whose changes must all be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Box<Culprit>>,
    /// The baseline case with the same request. The request was not sent again, and its response is judged
    /// for this clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Descriptions of differences between the requests sent and those of the case. The target rejects the
    /// baseline request of an operation and accepts it with these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged_with: Vec<String>,
    /// The control that was not accepted, which is waived or allowed. The case is waived for this reason
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived_with: Option<String>,
    /// True if other requests make a rejection inconclusive: the target stopped accepting valid requests
    /// after this case, or the daily calls may be used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// Number of the judged exchange, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
    /// Wall time of the whole case without controls, in microseconds.
    pub micros: u64,
}

impl CaseVerdict {
    /// Returns the initial verdict of a case: an error without a reason.
    pub fn blank(case: String, clause: String, place: Place) -> Self {
        Self {
            case,
            clause,
            area: String::new(),
            operation: String::new(),
            role: Role::Selected,
            place,
            verdict: Verdict::Error,
            expected: String::new(),
            checks: 0,
            findings: Vec::new(),
            observations: Vec::new(),
            seen: Vec::new(),
            refusal: None,
            reason: None,
            absence: None,
            control: None,
            changes: Vec::new(),
            differences: Vec::new(),
            codes: Vec::new(),
            culprit: None,
            same_as: None,
            judged_with: Vec::new(),
            waived_with: None,
            unconfirmed: false,
            exchange: None,
            micros: 0,
        }
    }

    /// Returns descriptions of the changes that cause the verdict, as far as they are known.
    pub fn telling_changes(&self) -> Vec<String> {
        match self.culprit.as_deref() {
            Some(Culprit::Found { forms, .. }) => forms.iter().map(|form| form.changes.join("; ")).collect(),
            _ => self.changes.clone(),
        }
    }

    /// Returns all observations as sentences, with those about traffic deduplicated.
    pub fn observed(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.observations.iter().cloned().chain(self.seen.iter().map(ToString::to_string)).collect();
        if !self.seen.is_empty() {
            all.sort();
            all.dedup();
        }
        all
    }

    /// Returns the verdict that follows from the findings. Returns `None` if there are none.
    pub fn by_findings(&self) -> Option<Verdict> {
        let worst = self.findings.iter().map(|finding| finding.level).max()?;
        Some(if worst == Level::Deny { Verdict::Fail } else { Verdict::Warn })
    }

    /// Returns the reason for the verdict, or a placeholder if none was recorded.
    pub fn why(&self) -> Reason {
        self.reason.clone().unwrap_or_else(|| Reason::InWords { says: "no reason was recorded".to_owned() })
    }

    /// Returns the verdict without waivers.
    pub fn unwaived(&self) -> Verdict {
        match self.verdict {
            Verdict::Waived if self.waived_with.is_some() => Verdict::Inconclusive,
            Verdict::Waived => self.by_findings().unwrap_or(Verdict::Fail),
            word => word,
        }
    }

    /// Returns the verdict on the clause of the case alone. Findings on other clauses are ignored.
    pub fn on_own_clause(&self) -> Verdict {
        let own = self.findings.iter().filter(|finding| finding.clause == self.clause);
        match (self.verdict, own.map(|finding| finding.level).max()) {
            (Verdict::Fail | Verdict::Warn, Some(Level::Deny)) => Verdict::Fail,
            (Verdict::Fail | Verdict::Warn, Some(_)) => Verdict::Warn,
            (Verdict::Fail | Verdict::Warn | Verdict::Waived, None) if self.unconfirmed => {
                Verdict::Inconclusive
            }
            // The case was waived with its control, so nothing was tested.
            (Verdict::Waived, None) if self.findings.is_empty() => Verdict::NotApplicable,
            (Verdict::Fail | Verdict::Warn | Verdict::Waived, None) => Verdict::Pass,
            (word, _) => word,
        }
    }

    /// Returns a description of the contradiction in this verdict, if there is one. Violations and warnings
    /// have findings of their level, and other verdicts have none. A verdict based on an unconfirmed
    /// rejection is inconclusive, unless a finding shows something else.
    pub fn contradiction(&self) -> Option<String> {
        let is_broken = matches!(self.verdict, Verdict::Fail | Verdict::Warn | Verdict::Waived);
        if self.unconfirmed && !is_broken && self.verdict != Verdict::Inconclusive {
            return Some(format!(
                "the verdict of `{}` is `{}` and unconfirmed",
                self.case,
                self.verdict.word()
            ));
        }
        let found = match (self.by_findings(), self.findings.len()) {
            (None, _) if self.verdict == Verdict::Waived && self.waived_with.is_some() => return None,
            (None, _) if is_broken => "without a finding".to_owned(),
            (None, _) => return None,
            (Some(word), _) if is_broken && (word == self.verdict || self.verdict == Verdict::Waived) => {
                return None;
            }
            (Some(word), _) if is_broken => format!("with findings of a `{}`", word.word()),
            (Some(_), 1) => "with 1 finding".to_owned(),
            (Some(_), findings) => format!("with {findings} findings"),
        };
        Some(format!("the verdict of `{}` is `{}` {found}", self.case, self.verdict.word()))
    }

    /// Returns true if it is an unselected control whose status violates a clause: a valid request that is
    /// rejected, or a server error. That is a violation, regardless of the role.
    pub fn is_broken_control(&self) -> bool {
        self.role == Role::Control
            && self.verdict == Verdict::Fail
            && self.findings.iter().any(|finding| finding.at == "status" && finding.level == Level::Deny)
    }
}

/// Returns a verdict of a case of this clause, without findings, for tests.
#[cfg(test)]
pub(crate) fn sample(clause: &str, verdict: Verdict) -> CaseVerdict {
    let place = Place { file: "cases/x/a.yaml".into(), line: 1, column: 1 };
    CaseVerdict {
        area: "x".into(),
        operation: "ncbct".into(),
        verdict,
        expected: "accepted".into(),
        checks: 1,
        ..CaseVerdict::blank(format!("{clause}/b"), clause.into(), place)
    }
}
