//! What every report says in the same words.

use xs2aspec_record::{CaseVerdict, Counts, Finding, Verdict};

/// Why a case has its verdict; a verdict that must have a reason and has none says so.
pub(crate) fn reason(verdict: &CaseVerdict) -> &str {
    verdict.reason.as_deref().unwrap_or("no reason was recorded")
}

/// A finding in words: `expected a refusal (4xx), got 201`, with the place in the answer where that is not
/// the status.
pub(crate) fn mismatch(finding: &Finding) -> String {
    let Finding { expected, actual, at, .. } = finding;
    let words = format!("expected {expected}, got {actual}");
    if at == "status" { words } else { format!("{at}: {words}") }
}

/// Counts in words: `pass 3, fail 1`.
pub(crate) fn counts(counts: &Counts) -> String {
    let seen = Verdict::ALL.into_iter().filter(|verdict| counts.of(*verdict) > 0);
    let words: Vec<String> =
        seen.map(|verdict| format!("{} {}", verdict.word(), counts.of(verdict))).collect();
    if words.is_empty() { "no verdict".to_owned() } else { words.join(", ") }
}
