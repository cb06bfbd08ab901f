//! Verdicts that rest on a refusal which may have another cause.

use xs2aspec_record::{CaseVerdict, Reason, Verdict};

/// Makes a verdict that rests on a refusal one that says nothing.
pub(crate) fn unconfirm(verdict: &mut CaseVerdict, reason: Reason) {
    verdict.verdict = Verdict::Inconclusive;
    verdict.reason = Some(reason);
    verdict.unconfirmed = true;
    verdict.findings.clear();
    if let Some(refusal) = verdict.refusal.take() {
        verdict.observations.retain(|seen| *seen != refusal);
    }
}
