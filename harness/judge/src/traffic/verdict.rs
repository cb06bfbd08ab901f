//! The verdict of an exchange of others.

use xs2aspec_record::{CaseVerdict, End, Verdict};
use xs2aspec_suite::Case;

use super::{judge::Judged, message::Traffic};
use crate::blank::blank;

impl Judged {
    /// Returns the verdict of the case that an exchange is. `only` leaves the findings of the other end out.
    pub fn verdict(&self, case: &Case, traffic: &Traffic, only: Option<End>) -> CaseVerdict {
        let is_told = |end: End| only.is_none_or(|only| only == end);
        let not_told = self.not_told.iter().map(|told| {
            let end = told.end.word();
            format!("could not tell of the {end}: {}: {}", told.at, told.why)
        });
        let findings = self.findings.iter().filter(|finding| is_told(finding.end));
        let mut verdict = CaseVerdict {
            verdict: Verdict::Pass,
            expected: self.due.clone(),
            checks: self.checks,
            findings: findings.cloned().collect(),
            observations: self.observations.iter().cloned().chain(not_told).collect(),
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
