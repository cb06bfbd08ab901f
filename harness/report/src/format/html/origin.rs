//! The run in words, what was tested, and the digests, seed and clock that identify the run.

use std::{collections::BTreeMap, fmt::Write as _};

use chrono::DateTime;
use sha2::{Digest, Sha256};
use xs2aspec_record::TargetProfile;

use crate::{format::terminal, summary::RunSummary, text};

/// A named fact.
type Fact = (&'static str, String);

/// Returns the run as a sentence.
pub(super) fn run(summary: &RunSummary) -> String {
    let start = summary.start();
    let when = DateTime::parse_from_rfc3339(&start.now)
        .map_or_else(|_| start.now.clone(), |now| now.format("%-d %B %Y at %H:%M UTC").to_string());
    let what = if start.traffic.is_some() { "Recorded traffic, judged" } else { "Run" };
    let mut said = format!("{what} on {when} by {} against {}", start.tool, start.target);
    if let Some(address) = start.address() {
        _ = write!(said, " at {address}");
    }
    if !start.depth.is_empty() {
        _ = write!(said, ", {} depth", start.depth);
    }
    let cases = summary.totals().counts().total();
    _ = write!(said, ", {} {}", grouped(cases), if cases == 1 { "case" } else { "cases" });
    said + "."
}

/// Formats a number with commas: `13,614`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// Returns what was tested: the target, what its profile declares, and what was selected.
pub(super) fn tested(summary: &RunSummary) -> Vec<Fact> {
    let start = summary.start();
    let said = [
        ("Version", &start.target_version),
        ("Environment", &start.environment),
        ("Contact", &start.contact),
        ("Fault of the reference bank", &start.fault),
    ];
    let mut facts: Vec<Fact> =
        said.into_iter().filter_map(|(name, said)| Some((name, said.clone()?))).collect();
    if !start.variations.is_empty() {
        facts.push(("Variation of the reference bank", start.variations.join(", ")));
    }
    if let Some(folder) = &start.other_cases {
        facts.push(("Cases", format!("from {folder}, not those built into {}", start.tool)));
    }
    if let Some(folder) = &start.other_document {
        facts.push(("Document", format!("from {folder}, not the one built into {}", start.tool)));
    }
    facts.push(("Sent", terminal::amounts(summary)));
    if let Some(most) = start.requests {
        facts.push(("Limit", format!("at most {most} requests")));
    }
    if let Some(profile) = summary.profile() {
        facts.extend(declared(profile));
    }
    for rule in &start.levels {
        let (level, pattern, by) = (rule.level.word(), &rule.pattern, rule.by.words());
        facts.push(("Level", format!("{level} for {pattern}, by {by}")));
    }
    for (name, patterns) in [("Only", &start.only), ("Skipped", &start.skip)] {
        if !patterns.is_empty() {
            facts.push((name, patterns.join(", ")));
        }
    }
    facts
}

/// Returns what identifies and reproduces the run.
pub(super) fn details(summary: &RunSummary) -> Vec<Fact> {
    let start = summary.start();
    let mut facts = vec![
        ("Run id", start.run_id.clone()),
        ("Seed", start.seed.to_string()),
        ("Clock", start.now.clone()),
        ("Suite", format!("{}, SHA-256 {}", start.tool, start.suite_sha256)),
        ("Document", format!("SHA-256 {}", start.document_sha256)),
        ("Profile", format!("SHA-256 {}", start.profile_sha256)),
        ("Ledger", ledger(summary)),
    ];
    if let Some(profile) = summary.profile().filter(|profile| !profile.certificate_sha256.is_empty()) {
        facts.push(("Certificate", format!("SHA-256 {}", profile.certificate_sha256)));
    }
    facts.retain(|(_, text)| !text.is_empty());
    facts
}

/// Returns what the profile declares.
fn declared(profile: &TargetProfile) -> Vec<Fact> {
    let joined = |values: &BTreeMap<String, String>| {
        values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("; ")
    };
    let key = if profile.test_key { "the public test key" } else { "" };
    let mut facts = vec![
        ("Choices", joined(&profile.choices)),
        ("Capabilities", joined(&profile.capabilities)),
        ("Key", key.to_owned()),
    ];
    facts.retain(|(_, text)| !text.is_empty());
    facts
}

/// Returns the number of clauses in the ledger, and its digest: SHA-256 over the `clause` events in the order
/// of their ids.
fn ledger(summary: &RunSummary) -> String {
    let mut hash = Sha256::new();
    for clause in summary.clauses() {
        // Strings alone always serialize.
        hash.update(serde_json::to_vec(clause).unwrap_or_default());
    }
    format!("{}, SHA-256 {}", text::count(summary.clauses().len(), "clause"), hex::encode(hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, sample};

    #[test]
    fn the_run_is_a_sentence_and_its_numbers_have_commas() {
        let events = sample::mixed();
        let said = run(Run::of(&events).unwrap().summary());
        assert!(said.starts_with("Run on 2 January 2030 at 03:04 UTC by xs2aspec "), "{said}");
        for (number, shown) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (13_614, "13,614"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), shown);
        }
    }
}
