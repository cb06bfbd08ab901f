//! The verdict of one case and what it rests on.

mod observation;

use serde::{Deserialize, Serialize};

use crate::{
    culprit::Culprit,
    level::{ClauseLevel, Level, LevelSource},
    mismatch::{Difference, Mismatch},
    reason::Reason,
};

pub use self::observation::{NotTold, Observation};

/// What a run concludes about one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every check held.
    Pass,
    /// Every check held, but the target served a valid request only when it was sent again: a gateway had
    /// failed on it.
    Flaky,
    /// The target broke a clause of level `deny`.
    Fail,
    /// The target broke a clause of level `warn`, and none of level `deny`.
    Warn,
    /// The target broke a clause of level `deny` or `warn`, as a waiver says; or the control of the case was
    /// not accepted, which is waived or allowed.
    Waived,
    /// Could not be told: the control was refused, the set-up failed, or the target asked to come back later.
    Inconclusive,
    /// The target does not claim the capability that the case needs.
    NotApplicable,
    /// Nothing is demanded here; what the target did is recorded.
    Observed,
    /// The harness could not do its work: no connection, no answer in time, an answer that is not HTTP.
    Error,
}

impl Verdict {
    /// All verdicts, in the order in which reports list them.
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

    /// The word used in every report and in the record.
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

    /// Returns true if every check held.
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Flaky)
    }
}

/// How firmly the document makes a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// The document says it, in words or in a table.
    Stated,
    /// It follows from a standard that the document names.
    Derived,
    /// The plain reading of the document, which has others; a breach is a warning.
    Expected,
    /// The document leaves it to the bank; the target profile decides.
    Choice,
    /// Recorded, never a violation.
    Observed,
    /// Cannot be decided from outside.
    Untestable,
}

impl Strength {
    /// All strengths, firmest first.
    pub const ALL: [Self; 6] =
        [Self::Stated, Self::Derived, Self::Expected, Self::Choice, Self::Observed, Self::Untestable];

    /// Whether the document demands it, in its own words or by a standard that it names.
    pub const fn is_demanded(self) -> bool {
        matches!(self, Self::Stated | Self::Derived)
    }

    /// The level of a clause of this strength where nobody sets another one.
    pub const fn usual_level(self) -> ClauseLevel {
        let level = match self {
            Self::Stated | Self::Derived => Level::Deny,
            Self::Expected => Level::Warn,
            Self::Choice | Self::Observed | Self::Untestable => Level::Note,
        };
        ClauseLevel { level, by: LevelSource::Strength }
    }

    /// The word used in the ledger and in every report.
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
    /// Path of the file, with forward slashes, as the tree of case files names it
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

/// An end of an exchange: who did what a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Who asked.
    Client,
    /// Who answered. In a run of cases it is always this one: what their requests break is broken on purpose.
    #[default]
    Bank,
}

impl End {
    /// The word used in every report and in the record.
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

/// One mismatch between what a clause demands and what the target did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Id of the clause that is broken; not always the case's own clause, since every 2xx body is checked in
    /// every case.
    pub clause: String,
    /// What was expected, in words.
    pub expected: String,
    /// What came back, in words.
    pub actual: String,
    /// Where in the answer: `status`, a header name, or a JSON pointer into the body
    /// (`body/transactionFees/amount`). What the client broke stands in the request: `request/header/NAME`.
    pub at: String,
    /// What kind of thing is wrong.
    #[serde(default, skip_serializing_if = "Mismatch::is_unknown")]
    pub kind: Mismatch,
    /// What it does: `deny` or `warn`. What is only noted is an observation.
    #[serde(default = "Level::before_levels")]
    pub level: Level,
    /// Who broke the clause.
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

    /// Whether it is what the target made of the request as a whole, under the clause of the case.
    pub fn is_answer_to(&self, verdict: &CaseVerdict) -> bool {
        self.at == "status" && self.clause == verdict.clause
    }

    /// The mismatch in words: `expected a refusal (4xx), got 201`, with the place in the answer where that is
    /// not the status.
    pub fn mismatch(&self) -> String {
        let Self { expected, actual, at, .. } = self;
        let words = format!("expected {expected}, got {actual}");
        if at == "status" { words } else { format!("{at}: {words}") }
    }
}

/// Whether a case was asked for, or only runs because another one needs it as its control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Asked for: it counts.
    Selected,
    /// Runs only as the control of a selected case; its verdict is recorded but not counted. One that is
    /// refused by itself is a violation all the same.
    Control,
}

/// Why a case does not apply to a target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Absence {
    /// The profile does not say what the case needs.
    NotSaid {
        /// The line that would open the case.
        add: String,
    },
    /// The profile declares it absent, or the case cannot apply to such a target.
    Declared,
}

/// What became of the control of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlSeen {
    /// Case id of the control.
    pub case: String,
    /// Whether the target accepted it in this run.
    pub accepted: bool,
}

/// The verdict of one expanded case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseVerdict {
    /// Id of the expanded case (`periodic.months.duplicate/adjacent`).
    pub case: String,
    /// Id of the clause that the case shows.
    pub clause: String,
    /// Area: the folder of the case file below `cases/`; a family of cases.
    pub area: String,
    /// Operation of the judged request (`ncbct`, `periodic`, `basket`, `customers`, `transaction`).
    pub operation: String,
    /// Selected, or run only as a control.
    pub role: Role,
    /// Where the case stands.
    pub place: Place,
    /// The verdict.
    pub verdict: Verdict,
    /// What the case expected, in words (`accepted`, `refused with status 400`).
    pub expected: String,
    /// How many checks were evaluated; at least 1 unless the case could not be judged.
    pub checks: u32,
    /// Every mismatch, together. Empty unless the verdict is `fail`, `warn` or `waived`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the target did where the document leaves it free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<String>,
    /// Of traffic: what else was seen of it, and what of it cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Observation>,
    /// The observation that falls when the refusal turns out to have another cause. No record has it.
    #[serde(skip)]
    pub refusal: Option<String>,
    /// Why the verdict is `flaky`, `waived`, `inconclusive`, `not-applicable` or `error`; for these it is
    /// always present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Of what is `not-applicable`: whether the profile declares it, or does not say enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absence: Option<Absence>,
    /// The control, where the case has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlSeen>,
    /// What the case changes in its baseline, in words, for the failure text (`body/monthsOfExecution = [3,
    /// 3]`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Of a case that breaks something: where its request differs from that of its control.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Of a case that breaks something: the error codes of the judged response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// Which of many changes are refused, of a case that must be accepted with all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Box<Culprit>>,
    /// The plain case whose request this is once more: nothing was sent again, and its answer is judged for
    /// this clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// What was another in its requests than it says, in words: the target refuses the plain request of an
    /// operation, and accepts it with this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged_with: Vec<String>,
    /// The control that was not accepted and is waived or allowed, of a case that is waived with it: nothing
    /// else keeps the case from being judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived_with: Option<String>,
    /// Whether a rejection says nothing because of other requests: the target no longer accepted valid ones
    /// after this case, or the daily calls may be used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// Number of the judged exchange, if one took place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
    /// Wall time of the whole case, controls apart, in microseconds.
    pub micros: u64,
}

impl CaseVerdict {
    /// Returns the verdict of a case of which nothing is known: an error without a reason.
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

    /// The changes that make the verdict what it is, as far as that is known, in words.
    pub fn telling_changes(&self) -> Vec<String> {
        match self.culprit.as_deref() {
            Some(Culprit::Found { forms, .. }) => forms.iter().map(|form| form.changes.join("; ")).collect(),
            _ => self.changes.clone(),
        }
    }

    /// Returns all observations in words, those of traffic each once.
    pub fn observed(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.observations.iter().cloned().chain(self.seen.iter().map(ToString::to_string)).collect();
        if !self.seen.is_empty() {
            all.sort();
            all.dedup();
        }
        all
    }

    /// The verdict by its findings; `None` where it has none.
    pub fn by_findings(&self) -> Option<Verdict> {
        let worst = self.findings.iter().map(|finding| finding.level).max()?;
        Some(if worst == Level::Deny { Verdict::Fail } else { Verdict::Warn })
    }

    /// Returns its reason. A verdict that must have one and has none says so.
    pub fn why(&self) -> Reason {
        self.reason.clone().unwrap_or_else(|| Reason::InWords { says: "no reason was recorded".to_owned() })
    }

    /// Returns the verdict as it is without waivers.
    pub fn unwaived(&self) -> Verdict {
        match self.verdict {
            Verdict::Waived if self.waived_with.is_some() => Verdict::Inconclusive,
            Verdict::Waived => self.by_findings().unwrap_or(Verdict::Fail),
            word => word,
        }
    }

    /// Returns the verdict on the clause of the case alone: a finding of another clause says nothing about
    /// it.
    pub fn on_own_clause(&self) -> Verdict {
        let own = self.findings.iter().filter(|finding| finding.clause == self.clause);
        match (self.verdict, own.map(|finding| finding.level).max()) {
            (Verdict::Fail | Verdict::Warn, Some(Level::Deny)) => Verdict::Fail,
            (Verdict::Fail | Verdict::Warn, Some(_)) => Verdict::Warn,
            (Verdict::Fail | Verdict::Warn | Verdict::Waived, None) if self.unconfirmed => {
                Verdict::Inconclusive
            }
            // Waived with its control: nothing was tested.
            (Verdict::Waived, None) if self.findings.is_empty() => Verdict::NotApplicable,
            (Verdict::Fail | Verdict::Warn | Verdict::Waived, None) => Verdict::Pass,
            (word, _) => word,
        }
    }

    /// Returns what in it contradicts itself, if anything does. A violation and a warning have findings of
    /// their level, and no other verdict has. What rests on an unconfirmed rejection is inconclusive, unless
    /// a finding shows something else.
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
            (Some(word), _) if is_broken => format!("beside findings of a `{}`", word.word()),
            (Some(_), 1) => "beside 1 finding".to_owned(),
            (Some(_), findings) => format!("beside {findings} findings"),
        };
        Some(format!("the verdict of `{}` is `{}` {found}", self.case, self.verdict.word()))
    }

    /// Whether it is a control that nobody selected and whose answer breaks something by its status alone: a
    /// valid request that is refused, or a server that fails. That is a violation, whoever asked.
    pub fn is_broken_control(&self) -> bool {
        self.role == Role::Control
            && self.verdict == Verdict::Fail
            && self.findings.iter().any(|finding| finding.at == "status" && finding.level == Level::Deny)
    }
}

/// A verdict of a case of this clause, without findings, for tests.
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
