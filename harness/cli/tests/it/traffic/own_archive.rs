//! The archive of our own run: judging it finds the same about the bank as the run, and reports the run's
//! deliberate mistakes as those of the client.

use std::{fs, path::Path};

use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, End, NotTold, Observation, Untold, Verdict};

use crate::support::{MASK_KEY, recorded, xs2aspec};

const PROFILE: &str = "../../fixtures/targets/reference.toml";
const ONLY: [&str; 4] = ["--only", "periodic.months*", "--only", "periodic.day*"];

/// The start of a command line that writes an archive, and whose run gives the same verdicts each time.
const FIXED: [&str; 7] = ["run", "--now", "2030-01-31T12:00:00Z", "--seed", "7", "--format", "har"];

fn run(out: &Path, more: &[&str]) -> String {
    let own = ["--mask-key", MASK_KEY, "--out", out.to_str().unwrap()];
    let (_, said) = xs2aspec(&[&FIXED[..], &own, &ONLY, more].concat());
    said
}

/// Judges an archive. Returns the verdicts, each with the case of its request, and the output.
fn judge(out: &Path, file: &str, more: &[&str]) -> (Vec<CaseVerdict>, String) {
    let archive = out.join(file);
    let folder = out.join("judged");
    let fixed = ["judge", archive.to_str().unwrap(), "--target", PROFILE, "--out", folder.to_str().unwrap()];
    let (_, said) = xs2aspec(&[&fixed[..], more].concat());
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

/// Returns the masked places.
fn masked(verdicts: &[CaseVerdict]) -> impl Iterator<Item = &str> {
    verdicts.iter().flat_map(|verdict| &verdict.seen).filter_map(|seen| match seen {
        Observation::NotTold(NotTold { at, why: Untold::Masked, .. }) => Some(at.as_str()),
        Observation::NotTold(NotTold { at, why: Untold::At { why, .. }, .. }) if **why == Untold::Masked => {
            Some(at.as_str())
        }
        _ => None,
    })
}

/// With the mask key of the run, signatures and digests are checked, too. Without it, the names of values in
/// the record suffice for everything else.
#[test]
fn the_archive_of_a_run_shows_its_mistakes_as_those_of_the_client() {
    let folder = TempDir::new().unwrap();
    let said = run(folder.path(), &[]);
    let (cases, _) = recorded(folder.path(), &said);
    for more in [&["--mask-key", MASK_KEY][..], &[]] {
        let (judged, said) = judge(folder.path(), "exchanges.har", more);
        assert_eq!(clauses(&judged, End::Bank), Vec::<&str>::new(), "{said}");
        let mut negative = 0;
        for case in
            cases.iter().filter(|case| case.expected.starts_with("refused") && case.verdict == Verdict::Pass)
        {
            let label = format!("{} / request (request {})", case.case, case.exchange.unwrap());
            let own = judged.iter().find(|one| one.changes == [label.clone()]);
            let own = own.unwrap_or_else(|| panic!("{label} is not judged"));
            let found: Vec<&str> = own.findings.iter().map(|finding| finding.clause.as_str()).collect();
            assert_eq!(found, [case.clause.as_str()], "{label}: {said}");
            negative += 1;
        }
        assert!(negative > 20, "{negative}");
        let (record, _) = judge(folder.path(), "record.jsonl", more);
        assert_eq!(clauses(&record, End::Client), clauses(&judged, End::Client));
        assert_eq!(clauses(&record, End::Bank), Vec::<&str>::new());
        let masked = masked(&judged).filter(|at| *at == "request/header/signature").count();
        assert_eq!(masked == 0, !more.is_empty(), "{masked} signatures are masked");
    }
}

#[test]
fn the_archive_of_a_run_shows_the_fault_of_its_bank() {
    let folder = TempDir::new().unwrap();
    let said = run(folder.path(), &["--fault", "periodic.months.duplicate/only-adjacent"]);
    let (cases, _) = recorded(folder.path(), &said);
    let (judged, said) = judge(folder.path(), "exchanges.har", &["--mask-key", MASK_KEY]);
    let broken = clauses(&cases, End::Bank);
    assert_eq!(broken, ["periodic.months.duplicate"], "{said}");
    assert_eq!(clauses(&judged, End::Bank), broken, "{said}");
}

#[test]
fn of_the_archive_of_a_run_it_is_said_that_it_breaks_rules_on_purpose() {
    const SAID: &str = xs2aspec_report::text::ON_PURPOSE;
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    run(folder.path(), &[]);
    let chromium = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traffic/chromium.har");
    // The output of `judge` for either source names that source.
    for (name, file, is_of_a_run) in [
        ("of-the-archive", at("exchanges.har"), true),
        ("of-the-record", at("record.jsonl"), true),
        ("of-what-was-judged", at("of-the-archive/exchanges.har"), true),
        ("of-its-record", at("of-the-archive"), true),
        ("of-a-browser", chromium.to_owned(), false),
        ("of-what-was-judged-of-a-browser", at("of-a-browser/exchanges.har"), false),
        ("of-its-record-of-a-browser", at("of-a-browser"), false),
    ] {
        let (_, said) = xs2aspec(&["judge", &file, "--out", &at(name)]);
        assert_eq!(said.contains(SAID), is_of_a_run, "{name}: {said}");
        let archive = crate::support::rendered(&folder.path().join(name), "har");
        fs::write(folder.path().join(name).join("exchanges.har"), archive).unwrap();
        for report in ["summary.md", "report.html"] {
            let report = fs::read_to_string(folder.path().join(name).join(report)).unwrap();
            assert_eq!(report.contains(SAID), is_of_a_run, "{name}");
        }
    }
}

#[test]
fn what_the_archive_of_a_run_masks_is_held_against_nobody() {
    let folder = TempDir::new().unwrap();
    let lawful = [
        "--only",
        "header.x-psu-identity.ncbct",
        "--only",
        "ncbct.path/plain",
        "--only",
        "basket.body/plain",
    ];
    let own = ["--out", folder.path().to_str().unwrap()];
    let (exit, said) = xs2aspec(&[&FIXED[..], &own, &lawful].concat());
    assert_eq!(exit, Some(0), "{said}");
    for file in ["exchanges.har", "record.jsonl"] {
        let archive = folder.path().join(file);
        // Without the profile, masked values are unknown.
        let out = folder.path().join("judged");
        let (_, said) = xs2aspec(&["judge", archive.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        let (verdicts, _) = recorded(&out, &said);
        let told: Vec<&str> = masked(&verdicts).collect();
        assert!(told.contains(&"request/header/x-psu-identity"), "{file}: {told:?}");
        assert_eq!(clauses(&verdicts, End::Client), Vec::<&str>::new(), "{file}: {said}");
        assert_eq!(clauses(&verdicts, End::Bank), Vec::<&str>::new(), "{file}: {said}");
    }
}
