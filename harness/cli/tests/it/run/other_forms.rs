//! A bank that rejects the baseline request of an operation, and accepts an alternative. All other cases use
//! that alternative, so that further faults are found.

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Culprit, Reason, Role, Verdict};
use xs2aspec_reference::Config;

use crate::support::{MASK_KEY, recorded, xs2aspec};

/// Rejects the baseline request, since it lacks a header that the document leaves optional.
const DEMANDS: &str = "header.psu-http-method.ncbct/demanded";
/// Another fault of the same operation.
const SECOND: &str = "ncbct.creditor-name.required/not-demanded";
const ONLY: [&str; 5] = [
    "ncbct.path/plain",
    "ncbct.creditor-name*",
    "ncbct.purpose*",
    "basket.body/plain",
    "header.psu-http-method*",
];

fn run(out: &Path, arguments: &[&str]) -> (String, BTreeMap<String, CaseVerdict>) {
    let fixed = ["run", "--quiet", "--seed", "1", "--out", out.to_str().unwrap()];
    let (_, said) = xs2aspec(&[&fixed, arguments].concat());
    let verdicts = recorded(out, &said).0.into_iter().map(|verdict| (verdict.case.clone(), verdict));
    (said, verdicts.collect())
}

fn asked<'a>(faults: &[&'a str]) -> Vec<&'a str> {
    let only = ONLY.iter().flat_map(|only| ["--only", only]);
    faults.iter().flat_map(|fault| ["--fault", fault]).chain(only).collect()
}

/// Returns the clauses of the failed cases.
fn denied(verdicts: &BTreeMap<String, CaseVerdict>) -> Vec<&str> {
    let mut clauses: Vec<&str> = verdicts
        .values()
        .filter(|verdict| verdict.verdict == Verdict::Fail && verdict.role == Role::Selected)
        .map(|verdict| verdict.clause.as_str())
        .collect();
    clauses.dedup();
    clauses
}

#[test]
fn a_second_fault_is_found_behind_a_plain_request_that_is_refused() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let (said, verdicts) = run(&out, &asked(&[DEMANDS, SECOND]));
    let plain = &verdicts["ncbct.path/plain"];
    assert_eq!(plain.verdict, Verdict::Fail, "{said}");
    assert!(plain.judged_with.is_empty(), "it is judged as it is");
    let Some(Culprit::Accepted { form, .. }) = plain.culprit.as_deref() else { panic!("{plain:?}") };
    assert!(form.changes[0].starts_with("header/PSU-HTTP-Method = "), "{form:?}");
    assert!(denied(&verdicts).contains(&"ncbct.creditor-name.required"), "{said}");
    // Cases about the header itself are judged as usual.
    assert!(verdicts.values().any(|one| one.clause == "header.psu-http-method.ncbct"), "{said}");
    for verdict in verdicts.values().filter(|verdict| verdict.clause.starts_with("ncbct.creditor-name")) {
        assert_ne!(verdict.verdict, Verdict::Inconclusive, "{verdict:?}");
        let has_own = verdict.changes.iter().any(|change| change.starts_with("header/PSU-HTTP-Method"));
        assert_eq!(verdict.judged_with, if has_own { vec![] } else { form.changes.clone() }, "{verdict:?}");
        assert!(verdict.control.as_ref().is_some_and(|control| control.accepted), "{verdict:?}");
    }
    // A request that is accepted with an added header says nothing about the baseline request.
    let by_name = verdicts.values().filter(|one| one.same_as.is_some() && one.verdict == Verdict::Fail);
    assert!(by_name.clone().all(|one| one.clause == "header.psu-http-method.ncbct"), "{said}");
    // Cases whose setup needs the operation also continue.
    let basket = &verdicts["basket.body/plain"];
    assert_eq!((basket.verdict, &basket.judged_with), (Verdict::Pass, &form.changes), "{said}");
    let first = said.lines().find(|line| line.starts_with("deny  ")).unwrap_or_default();
    assert!(first.contains("psu-http-method") || first.contains("ncbct.path"), "{said}");
    assert!(said.contains("\n   = with    header/PSU-HTTP-Method = "), "{said}");
    assert!(said.contains("\nsent with header/PSU-HTTP-Method = "), "{said}");
    // The substitute is already in use by then, so nothing depends on the order.
    assert!(!said.contains("\n   = order "), "{said}");
    let (exit, said) = xs2aspec(&["rejudge", out.to_str().unwrap()]);
    assert_eq!((exit, said.contains(" 0 changed, 0 could not be rejudged")), (Some(0), true), "{said}");
}

#[test]
fn a_spelling_that_the_profile_does_not_declare_is_named_and_the_run_goes_on_with_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config = Config {
        faults: vec![SECOND.parse().unwrap()],
        variations: vec!["signature.key-id.serial/small-declared".parse().unwrap()],
        ..Config::default()
    };
    let bank = runtime.block_on(xs2aspec_reference::start(config)).unwrap();
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let only = ["ncbct.path/plain", "ncbct.creditor-name.required*"].map(|only| ["--only", only]).concat();
    let (said, verdicts) = run(&out, &[&["--target", &bank.base_url()][..], &only].concat());
    // The bank may be free to require it, so it is not accused.
    let plain = &verdicts["ncbct.path/plain"];
    let line = r#"[choices] "key-id.serial" = "lower""#;
    assert_eq!(plain.verdict, Verdict::Inconclusive, "{said}");
    let Reason::PlainRejected(rejected) = plain.why() else { panic!("{plain:?}") };
    assert_eq!(rejected.culprit, Some(Box::new(Culprit::Chosen { add: line.to_owned() })), "{plain:?}");
    assert_eq!(denied(&verdicts), ["ncbct.creditor-name.required"], "{said}");
    let fails = verdicts.values().filter(|verdict| verdict.verdict == Verdict::Fail);
    assert!(fails.clone().all(|verdict| verdict.judged_with == [line]), "{said}");
    assert!(said.contains(&format!("\nsent with {line}: ")), "{said}");
    let (exit, said) = xs2aspec(&["rejudge", out.to_str().unwrap()]);
    assert_eq!((exit, said.contains(" 0 changed, 0 could not be rejudged")), (Some(0), true), "{said}");
    let (_, said) = xs2aspec(&["doctor", "--target", &bank.base_url()]);
    assert!(said.contains(line), "{said}");
}

#[test]
fn a_run_that_is_resumed_goes_on_with_the_form_that_was_accepted() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let key = ["--mask-key", MASK_KEY];
    let (_, whole) = run(&out, &[&asked(&[DEMANDS])[..], &key].concat());
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    let is_plain = |line: &str| line.contains(r#""event":"verdict","case":"ncbct.path/plain""#);
    let until = record.lines().position(is_plain).unwrap() + 1;
    let begun: Vec<&str> = record.split_inclusive('\n').take(until).collect();
    let begun = begun.concat();
    fs::write(out.join("record.jsonl"), begun).unwrap();
    let (exit, said) = xs2aspec(&[&["run", "--quiet", "--resume", out.to_str().unwrap()][..], &key].concat());
    assert_eq!(exit, Some(1), "{said}");
    let resumed = recorded(&out, &said).0;
    assert_eq!(resumed.len(), whole.len());
    let is_later = |one: &&CaseVerdict| one.case.starts_with("ncbct.purpose") && one.same_as.is_none();
    let later = resumed.iter().filter(is_later);
    assert!(later.clone().count() > 5);
    for verdict in later {
        let before = &whole[&verdict.case];
        assert_eq!((verdict.verdict, &verdict.judged_with), (before.verdict, &before.judged_with), "{said}");
        assert_ne!(verdict.verdict, Verdict::Inconclusive, "{verdict:?}");
    }
}
