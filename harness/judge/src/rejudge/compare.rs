//! Compares a recorded verdict with that of this version.

use xs2aspec_record::{CaseVerdict, Exchange, Finding, Mismatch, Verdict};
use xs2aspec_spec::masks::holds_pseudonym;
use xs2aspec_suite::Case;

use super::Change;
use crate::Done;

/// The result of rejudging a case.
pub(super) enum Compared {
    Same,
    Other(Change),
    /// The recorded case differs from that of the suite.
    OtherCase(String),
    NotTold(String),
}

/// Returns the reason why this version would send other requests for the case than those recorded. Returns
/// None if it would send the same.
pub(super) fn asks_otherwise(before: &CaseVerdict, case: &Case) -> Option<String> {
    let differs = |what: &str, before: &str, now: &str| {
        (before != now).then(|| format!("its {what} was `{before}`, and is now `{now}`"))
    };
    let control = before.control.as_ref().map(|control| control.case.as_str());
    // A case that stopped before its control did not record it.
    let control = control.filter(|before| case.same_as.as_deref() != Some(*before));
    let now = case.control.as_deref();
    differs("clause", &before.clause, &case.clause)
        .or_else(|| differs("operation", &before.operation, case.operation()))
        .or_else(|| differs("change to the baseline", &before.changes.join("; "), &case.changes().join("; ")))
        .or_else(|| {
            let same_as = |id: Option<&str>| id.unwrap_or("none").to_owned();
            differs("baseline case", &same_as(before.same_as.as_deref()), &same_as(case.same_as.as_deref()))
        })
        .or_else(|| control.and_then(|before| differs("control", before, now.unwrap_or("none"))))
}

/// Compares the verdict of this version with the recorded one.
pub(super) fn compare(before: &CaseVerdict, done: &Done, is_own: bool, is_complete: bool) -> Compared {
    let now = &as_recorded(before, &done.verdict, is_own);
    // A waived verdict was a violation or a warning before.
    let word = before.unwaived();
    let is_as_before = !is_own || before.control == now.control && before.expected == now.expected;
    if now.verdict == word && now.findings == before.findings && is_as_before {
        return Compared::Same;
    }
    if let Some(place) = masked(&done.exchanges, before, now) {
        let why = format!("{place} is masked in the record, so it cannot be judged again");
        return Compared::NotTold(why);
    }
    // An inconclusive verdict depends on more than these exchanges, and an interrupted run lacks some.
    let is_told = |word: Verdict| !matches!(word, Verdict::Inconclusive | Verdict::Error);
    let is_edit = is_own && is_told(before.verdict) && (is_complete || is_told(now.verdict));
    Compared::Other(Change {
        case: before.case.clone(),
        before: before.verdict,
        now: now.verdict,
        why: difference(before, now, is_edit),
        is_edit,
    })
}

/// Returns the verdict of this version in the format of the history. Older formats have no kinds of findings.
fn as_recorded(before: &CaseVerdict, now: &CaseVerdict, is_own: bool) -> CaseVerdict {
    let mut now = now.clone();
    if !is_own && before.findings.iter().all(|finding| finding.kind == Mismatch::Unknown) {
        for finding in &mut now.findings {
            finding.kind = Mismatch::Unknown;
        }
    }
    now
}

/// Returns the place of a differing finding if the exchanges have masked parts.
fn masked(exchanges: &[Exchange], before: &CaseVerdict, now: &CaseVerdict) -> Option<String> {
    let differing = different(&before.findings, &now.findings);
    let place = differing.iter().find(|finding| finding.at != "status")?;
    let is_masked = exchanges.iter().filter_map(|exchange| exchange.response.as_ref()).any(|answer| {
        let headers = answer.headers.iter().map(|header| header.1.as_str());
        let body = answer.body.as_ref().map(|body| body.shown());
        headers.chain(body.as_deref()).any(|text| holds_pseudonym(text.as_bytes()))
    });
    is_masked.then(|| place.at.clone())
}

fn different<'a>(before: &'a [Finding], now: &'a [Finding]) -> Vec<&'a Finding> {
    let gone = before.iter().filter(|finding| !now.contains(finding));
    gone.chain(now.iter().filter(|finding| !before.contains(finding))).collect()
}

/// Describes the difference.
fn difference(before: &CaseVerdict, now: &CaseVerdict, is_edit: bool) -> String {
    let mut why = Vec::new();
    if before.expected != now.expected {
        why.push(format!("it expected `{}`, and expects `{}` now", before.expected, now.expected));
    }
    let says = |finding: &Finding| {
        format!("{}: expected {}, got {} at {}", finding.clause, finding.expected, finding.actual, finding.at)
    };
    let same = |finding: &Finding, others: &[Finding]| {
        let other = |other: &&Finding| Finding { level: finding.level, ..(*other).clone() } == *finding;
        others.iter().find(other).map(|other| other.level)
    };
    for finding in &before.findings {
        match same(finding, &now.findings) {
            None => why.push(format!("a finding is gone: {}", says(finding))),
            Some(level) if level != finding.level => {
                let (before, now) = (finding.level.word(), level.word());
                why.push(format!("its level was {before}, and is {now} now: {}", says(finding)));
            }
            Some(_) => {}
        }
    }
    for finding in &now.findings {
        if same(finding, &before.findings).is_none() {
            why.push(format!("a new finding: {}", says(finding)));
        }
    }
    if before.reason != now.reason && before.verdict != Verdict::Waived {
        why.extend(now.reason.iter().map(|reason| format!("now: {reason}")));
    }
    if is_edit {
        why.push("this version judged the run with these cases, so the record was edited".to_owned());
    } else if why.is_empty() {
        why.push("the rules of judgment have changed".to_owned());
    }
    why.join("; ")
}
