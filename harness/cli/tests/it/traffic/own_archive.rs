//! The archive of a run of our own: the same is found of the bank as the run found, and what the run broke on
//! purpose is found of the client.

use std::path::Path;

use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, End, Verdict};

use crate::support::{recorded, xs2aspec};

const PROFILE: &str = "../../fixtures/targets/reference.toml";
const ONLY: [&str; 4] = ["--only", "periodic.months*", "--only", "periodic.day*"];

fn run(out: &Path, more: &[&str]) -> String {
    let fixed = ["run", "--now", "2030-01-31T12:00:00Z", "--seed", "7", "--out", out.to_str().unwrap()];
    let (_, said) = xs2aspec(&[&fixed[..], &ONLY, more].concat());
    said
}

/// The verdicts of an archive that is judged, each with the case that it was sent for.
fn judge(out: &Path, file: &str) -> (Vec<CaseVerdict>, String) {
    let archive = out.join(file);
    let folder = out.join("judged");
    let fixed = ["judge", archive.to_str().unwrap(), "--target", PROFILE, "--out", folder.to_str().unwrap()];
    let (_, said) = xs2aspec(&fixed);
    (recorded(&folder, &said).0, said)
}

fn clauses(verdicts: &[CaseVerdict], end: End) -> Vec<&str> {
    let findings = verdicts.iter().flat_map(|verdict| &verdict.findings);
    let mut clauses: Vec<&str> =
        findings.filter(|finding| finding.end == end).map(|finding| finding.clause.as_str()).collect();
    clauses.sort_unstable();
    clauses.dedup();
    clauses
}

#[test]
fn the_archive_of_a_run_shows_its_mistakes_as_those_of_the_client() {
    let folder = TempDir::new().unwrap();
    let said = run(folder.path(), &[]);
    let (cases, _) = recorded(folder.path(), &said);
    let (judged, said) = judge(folder.path(), "exchanges.har");
    assert_eq!(clauses(&judged, End::Bank), Vec::<&str>::new(), "{said}");
    let mut negative = 0;
    for case in
        cases.iter().filter(|case| case.expected.starts_with("refused") && case.verdict == Verdict::Pass)
    {
        let label = format!("{} / request", case.case);
        let own = judged.iter().find(|one| one.changes == [label.clone()]);
        let own = own.unwrap_or_else(|| panic!("{label} is not judged"));
        let found: Vec<&str> = own.findings.iter().map(|finding| finding.clause.as_str()).collect();
        assert_eq!(found, [case.clause.as_str()], "{label}: {said}");
        negative += 1;
    }
    assert!(negative > 20, "{negative}");
    let (record, _) = judge(folder.path(), "record.jsonl");
    assert_eq!(clauses(&record, End::Client), clauses(&judged, End::Client));
    assert_eq!(clauses(&record, End::Bank), Vec::<&str>::new());
}

#[test]
fn the_archive_of_a_run_shows_the_fault_of_its_bank() {
    let folder = TempDir::new().unwrap();
    let said = run(folder.path(), &["--fault", "periodic.months.duplicate/only-adjacent"]);
    let (cases, _) = recorded(folder.path(), &said);
    let (judged, said) = judge(folder.path(), "exchanges.har");
    let broken = clauses(&cases, End::Bank);
    assert_eq!(broken, ["periodic.months.duplicate"], "{said}");
    assert_eq!(clauses(&judged, End::Bank), broken, "{said}");
}
