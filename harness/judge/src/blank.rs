//! Verdicts without evidence about a target: those set before any response and those with another cause.

use xs2aspec_record::{CaseVerdict, Difference, Place, Reason, Verdict};
use xs2aspec_suite::{Case, difference};

/// Returns an empty verdict for a case, without the description of the case.
pub(crate) fn blank(case: &Case) -> CaseVerdict {
    let place = Place { file: case.file.clone(), line: case.line, column: case.column };
    CaseVerdict {
        area: case.area.clone(),
        operation: case.operation().to_owned(),
        same_as: case.same_as.clone(),
        ..CaseVerdict::blank(case.id.clone(), case.clause.clone(), place)
    }
}

/// Adds the description of the case to its verdict.
pub(crate) fn described(case: &Case, verdict: CaseVerdict) -> CaseVerdict {
    CaseVerdict { expected: case.expect.to_string(), changes: case.changes(), ..verdict }
}

/// Returns the differences between the request of a case and that of its control, in the form of the history.
pub(crate) fn differences(case: &Case, control: &Case) -> Vec<Difference> {
    let recorded = |one: difference::Difference| {
        let difference::Difference { place, sent, control } = one;
        Difference { place, sent, control }
    };
    difference::compared(case, control).into_iter().map(recorded).collect()
}

/// Returns the verdict of a case that is not sent again because it may already have created something.
pub fn left_in_doubt(case: &Case) -> CaseVerdict {
    let reason = Some(Reason::LeftInDoubt);
    described(case, CaseVerdict { verdict: Verdict::Inconclusive, reason, ..blank(case) })
}

/// Makes a verdict that rests on a rejection inconclusive.
pub(crate) fn unconfirm(verdict: &mut CaseVerdict, reason: Reason) {
    verdict.verdict = Verdict::Inconclusive;
    verdict.reason = Some(reason);
    verdict.unconfirmed = true;
    verdict.findings.clear();
    if let Some(refusal) = verdict.refusal.take() {
        verdict.observations.retain(|seen| *seen != refusal);
    }
}
