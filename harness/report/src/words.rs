//! What every report says in the same words.

use xs2aspec_record::{CaseVerdict, Counts, Verdict};

/// Why a case has its verdict; a verdict that must have a reason and has none says so.
pub(crate) fn reason(verdict: &CaseVerdict) -> &str {
    verdict.reason.as_deref().unwrap_or("no reason was recorded")
}

/// Counts in words: `pass 3, fail 1`.
pub(crate) fn counts(counts: &Counts) -> String {
    let seen = Verdict::ALL.into_iter().filter(|verdict| counts.of(*verdict) > 0);
    let words: Vec<String> =
        seen.map(|verdict| format!("{} {}", verdict.word(), counts.of(verdict))).collect();
    if words.is_empty() { "no verdict".to_owned() } else { words.join(", ") }
}
