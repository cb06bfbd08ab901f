//! The result of judging an exchange of others, and its verdict.

use xs2aspec_record::{CaseVerdict, End, Finding, NotTold, Observation, Reason, Untold, Verdict};
use xs2aspec_spec::request::Due;
use xs2aspec_suite::Case;

use super::message::Traffic;
use crate::blank::blank;

/// The result of judging an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judged {
    /// The operation of the request, or None if it belongs to none.
    pub operation: Option<String>,
    /// Violations and warnings, by either end.
    pub findings: Vec<Finding>,
    /// Places that cannot be judged.
    pub not_told: Vec<NotTold>,
    /// Choices that the document leaves to the bank, as text.
    pub observations: Vec<String>,
    /// Other observations.
    pub seen: Vec<Observation>,
    /// Number of checks evaluated.
    pub checks: u32,
    /// The response that the rules require.
    pub due: Option<Due>,
    /// The error codes in the response.
    pub codes: Vec<String>,
    /// The reason why the exchange cannot be judged, if it cannot.
    pub undecided: Option<Reason>,
    /// True if the bank has no hidden reason to reject the request.
    pub(super) is_sure: bool,
    /// True for a basket whose payments were all created in earlier exchanges.
    pub(super) is_made: bool,
    /// Ids of accounts and payments in its path.
    pub(crate) ids: Vec<String>,
}

impl Judged {
    /// Returns the findings of one end.
    pub fn of(&self, end: End) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.end == end)
    }

    /// Returns true if there is a finding about one end.
    pub fn accuses(&self, end: End) -> bool {
        self.of(end).next().is_some()
    }

    /// Returns true if the exchange could not be read and may belong to an operation.
    pub fn is_unread(&self) -> bool {
        matches!(self.undecided, Some(Reason::Unread { .. }))
    }

    pub(super) fn of_no_operation() -> Self {
        Self { undecided: Some(Reason::OfNoOperation), ..Self::default() }
    }

    pub(super) fn cannot_tell(&mut self, end: End, at: impl Into<String>, why: impl Into<Untold>) {
        self.not_told.push(NotTold { end, at: at.into(), why: why.into() });
    }

    /// Returns the verdict of the exchange as a case. `only` limits the findings to one end.
    pub fn verdict(&self, case: &Case, traffic: &Traffic, only: Option<End>) -> CaseVerdict {
        let is_told = |end: End| only.is_none_or(|only| only == end);
        let not_told = self.not_told.iter().cloned().map(Observation::NotTold);
        let findings = self.findings.iter().filter(|finding| is_told(finding.end));
        let mut verdict = CaseVerdict {
            verdict: Verdict::Pass,
            expected: self.due.as_ref().map(words).unwrap_or_default(),
            checks: self.checks,
            findings: findings.cloned().collect(),
            observations: self.observations.clone(),
            seen: self.seen.iter().cloned().chain(not_told).collect(),
            changes: traffic.label.iter().cloned().collect(),
            micros: traffic.micros,
            ..blank(case)
        };
        if let Some(word) = verdict.by_findings() {
            verdict.verdict = word;
            verdict.codes.clone_from(&self.codes);
        } else if self.operation.is_none() {
            verdict.verdict = Verdict::NotApplicable;
            verdict.checks = 0;
            verdict.reason.clone_from(&self.undecided);
        } else if self.undecided.is_some() && (is_told(End::Bank) || self.is_unread()) {
            verdict.verdict = Verdict::Inconclusive;
            verdict.reason.clone_from(&self.undecided);
        }
        verdict
    }
}

fn words(due: &Due) -> String {
    match due {
        Due::Accepted { .. } => "accepted".to_owned(),
        Due::Refused { .. } => "refused".to_owned(),
        Due::Choice { clause, .. } => format!("as the bank chooses: {clause}"),
        Due::Open(why) => format!("either: {why}"),
    }
}
