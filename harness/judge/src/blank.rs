//! Verdicts that say nothing of a target: those before any response, and those with another cause.

use xs2aspec_record::{CaseVerdict, Difference, Place, Reason, Verdict};
use xs2aspec_suite::{Case, difference};

/// The verdict of a case about which nothing is known, without what it says of the case itself.
pub(crate) fn blank(case: &Case) -> CaseVerdict {
    let place = Place { file: case.file.clone(), line: case.line, column: case.column };
    CaseVerdict {
        area: case.area.clone(),
        operation: case.operation().to_owned(),
        same_as: case.same_as.clone(),
        ..CaseVerdict::blank(case.id.clone(), case.clause.clone(), place)
    }
}

/// Adds what a verdict says of the case itself.
pub(crate) fn described(case: &Case, verdict: CaseVerdict) -> CaseVerdict {
    CaseVerdict { expected: case.expect.to_string(), changes: case.changes(), ..verdict }
}

/// Returns where the request of a case differs from that of its control, as the record has it.
pub(crate) fn differences(case: &Case, control: &Case) -> Vec<Difference> {
    let recorded = |one: difference::Difference| {
        let difference::Difference { place, sent, control } = one;
        Difference { place, sent, control }
    };
    difference::compared(case, control).into_iter().map(recorded).collect()
}

/// The verdict of a case that is not sent again because it may have made something.
pub fn left_in_doubt(case: &Case) -> CaseVerdict {
    let reason = Some(Reason::LeftInDoubt);
    described(case, CaseVerdict { verdict: Verdict::Inconclusive, reason, ..blank(case) })
}

/// Makes a verdict that rests on a refusal inconclusive.
pub(crate) fn unconfirm(verdict: &mut CaseVerdict, reason: Reason) {
    verdict.verdict = Verdict::Inconclusive;
    verdict.reason = Some(reason);
    verdict.unconfirmed = true;
    verdict.findings.clear();
    if let Some(refusal) = verdict.refusal.take() {
        verdict.observations.retain(|seen| *seen != refusal);
    }
}
