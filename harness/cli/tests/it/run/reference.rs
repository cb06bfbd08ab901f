//! Runs against the reference bank: everything passes, each fault is caught by its own family, and all
//! outputs agree.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufReader,
    path::Path,
};

use quick_xml::{Reader, XmlVersion, events::Event as Xml};
use tempfile::TempDir;
use xs2aspec_record::{Absence, CaseVerdict, Event, Reason, Role, RunFinished, Verdict};
use xs2aspec_suite::{Depth, Suite, Tree};

use crate::support::command;

struct Ran {
    exit: Option<i32>,
    verdicts: Vec<CaseVerdict>,
    finished: RunFinished,
    junit: String,
    stdout: String,
}

fn run(arguments: &[&str]) -> Ran {
    let out = TempDir::new().unwrap();
    let output =
        command().args(["run", "--quiet", "--out"]).arg(out.path()).args(arguments).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    read(out.path(), output.status.code(), stdout)
}

fn read(out: &Path, exit: Option<i32>, stdout: String) -> Ran {
    let record = xs2aspec_record::compressed::open_record(&out.join("record.jsonl")).unwrap();
    let events = xs2aspec_record::read(BufReader::new(record)).unwrap();
    let Some(Event::RunFinished(finished)) = events.last().cloned() else { panic!("the record has no end") };
    let verdicts = events.into_iter().filter_map(|event| match event {
        Event::Verdict(verdict) => Some(verdict),
        _ => None,
    });
    let junit = std::fs::read_to_string(out.join("junit.xml")).unwrap();
    Ran { exit, verdicts: verdicts.collect(), finished, junit, stdout }
}

/// Returns the verdict of each `<testcase>` by name, from its child element or its properties.
fn testcases(junit: &str) -> BTreeMap<String, (&'static str, String)> {
    let mut reader = Reader::from_str(junit);
    let mut cases = BTreeMap::new();
    let mut current = None;
    loop {
        let event = reader.read_event().unwrap();
        match event {
            Xml::Eof => return cases,
            Xml::Start(ref tag) | Xml::Empty(ref tag) => {
                let attribute = |name| {
                    let found = tag.try_get_attribute(name).unwrap();
                    found
                        .map(|found| found.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned())
                        .unwrap_or_default()
                };
                let kind = match tag.name().as_ref() {
                    "testcase" => {
                        let name = attribute("name");
                        assert!(
                            cases.insert(name.clone(), ("plain", String::new())).is_none(),
                            "{name} twice"
                        );
                        current = Some(name);
                        continue;
                    }
                    "failure" => "failure",
                    "error" => "error",
                    "skipped" => "skipped",
                    _ => continue,
                };
                cases.insert(current.clone().unwrap(), (kind, attribute("type")));
            }
            _ => {}
        }
    }
}

#[test]
fn every_case_holds_on_the_reference_bank_and_all_outputs_agree() {
    let ran = run(&[]);
    let suite = Suite::load(Tree::embedded()).unwrap();
    let wrong: Vec<_> = ran
        .verdicts
        .iter()
        .filter(|verdict| !is_kept(verdict))
        .map(|verdict| {
            format!(
                "{} {}: {:?} {:?}",
                verdict.case,
                verdict.verdict.word(),
                verdict.findings,
                verdict.reason
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    let planned = suite.plan(&[], &[], Depth::Standard).unwrap().selected.len();
    assert!(planned >= 1500);
    assert_eq!(ran.verdicts.len(), planned);
    let is_asked = |verdict: &&CaseVerdict| verdict.verdict != Verdict::NotApplicable;
    assert!(ran.verdicts.iter().filter(is_asked).all(|verdict| verdict.checks > 0));
    assert_eq!(ran.finished.counts.total(), planned);
    agree(&ran);
}

/// Asserts that record and JUnit have the same verdict for each case.
fn agree(ran: &Ran) {
    let cases = testcases(&ran.junit);
    let selected: Vec<_> = ran.verdicts.iter().filter(|verdict| verdict.role == Role::Selected).collect();
    assert_eq!(cases.len(), selected.len());
    for verdict in selected {
        let expected = match verdict.verdict {
            Verdict::Pass | Verdict::Warn | Verdict::Observed => "plain",
            Verdict::Flaky => "flakyFailure",
            Verdict::Fail => "failure",
            Verdict::Inconclusive | Verdict::Error => "error",
            Verdict::NotApplicable | Verdict::Waived => "skipped",
        };
        assert_eq!(cases[&verdict.case].0, expected, "{}", verdict.case);
    }
}

/// The first cases find the fault. The long version runs all cases.
#[test]
fn each_fault_is_caught_by_its_own_family_and_by_its_own_clause() {
    are_caught_at("quick");
}

#[test]
#[ignore = "two minutes with optimisation"]
fn each_fault_is_caught_by_its_own_family_and_by_its_own_clause_of_all_cases() {
    are_caught_at("standard");
}

fn are_caught_at(depth: &str) {
    let families = BTreeMap::from([
        ("header.x-request-id.ncbct/not-required", "headers"),
        ("ncbct.creditor-name.length/seventy-one", "lengths"),
        ("amount.digits/two-for-zero", "currencies"),
        ("periodic.months.duplicate/only-adjacent", "periodic"),
        ("basket.mix/first-payment-only", "baskets"),
    ]);
    for (name, family) in families {
        let clause = name.split('/').next().unwrap();
        // The quick cases find two of them.
        let is_shown = ["header.x-request-id.ncbct", "periodic.months.duplicate"].contains(&clause);
        let asked = if is_shown || depth != "quick" { ["--depth", depth] } else { ["--only", clause] };
        let ran = run(&[&["--fault", name][..], &asked].concat());
        assert_eq!(ran.exit, Some(1), "{name}");
        let failing: Vec<_> =
            ran.verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail).collect();
        assert!(!failing.is_empty(), "{name} survives");
        for verdict in &failing {
            assert!([family, "matrix"].contains(&verdict.area.as_str()), "{name}: {}", verdict.case);
        }
        assert!(
            failing.iter().any(|verdict| verdict.clause == clause),
            "{name} is not caught by its own clause"
        );
        // Strings that are too long because of their spaces have a clause of their own, which warns.
        let is_also = |verdict: &CaseVerdict| family == "lengths" && verdict.clause == "text.blanks";
        let others = ran.verdicts.iter().filter(|verdict| verdict.verdict != Verdict::Fail);
        let others = others.filter(|verdict| !is_kept(verdict) && !is_also(verdict));
        assert_eq!(
            others.map(|verdict| verdict.case.as_str()).collect::<Vec<_>>(),
            Vec::<&str>::new(),
            "{name}"
        );
        assert!(
            testcases(&ran.junit).values().any(|(kind, named)| *kind == "failure" && named == clause),
            "{name}"
        );
        agree(&ran);
    }
}

/// Returns true if a case passes, or is about a further entry of a list that the profile need not fill.
fn is_kept(verdict: &CaseVerdict) -> bool {
    let is_of_a_list = matches!(verdict.reason, Some(Reason::NoFurtherEntry { .. }));
    matches!(verdict.verdict, Verdict::Pass | Verdict::Observed) || is_of_a_list
}

/// The test above covers standard depth, and `conformance` makes each exhaustive case a test.
#[test]
fn quick_holds_and_each_depth_has_the_cases_of_the_one_before() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let cases = |depth| {
        let planned = suite.plan(&[], &[], depth).unwrap().selected;
        planned.iter().map(|case| case.id.clone()).collect::<BTreeSet<_>>()
    };
    let (quick, standard, exhaustive) =
        (cases(Depth::Quick), cases(Depth::Standard), cases(Depth::Exhaustive));
    assert!(quick.is_subset(&standard) && standard.is_subset(&exhaustive));
    assert!(quick.len() * 2 < standard.len(), "{} of {}", quick.len(), standard.len());
    let ran = run(&["--depth", "quick"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    assert!(ran.verdicts.iter().all(is_kept));
    let selected = ran.verdicts.iter().filter(|verdict| verdict.role == Role::Selected);
    assert_eq!(selected.map(|verdict| verdict.case.clone()).collect::<BTreeSet<_>>(), quick);
}

#[test]
fn a_plain_url_is_enough_for_what_can_be_asked_of_any_bank() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bank = runtime.block_on(xs2aspec_reference::start(xs2aspec_reference::Config::default())).unwrap();
    let ran = run(&["--target", &bank.base_url()]);
    // A URL provides no values for some required clauses, so the run is incomplete and counts them.
    assert_eq!(ran.exit, Some(3), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(" required clauses were not tested or could not be judged (exit 3)"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("clauses: [transaction] account-id = "), "{}", ran.stdout);
    // Without a profile there is no transaction to read, no corporate PSU and no quota to use up. Each reason
    // says what to add.
    let left: Vec<_> =
        ran.verdicts.iter().filter(|verdict| verdict.verdict == Verdict::NotApplicable).collect();
    assert!(left.iter().any(|verdict| verdict.operation == "transaction"));
    let says_what_to_add = |verdict: &&CaseVerdict| matches!(verdict.absence, Some(Absence::NotSaid { .. }));
    assert!(left.iter().all(says_what_to_add), "{left:?}");
    agree(&ran);
}

#[test]
fn fail_fast_stops_and_says_so() {
    let ran =
        run(&["--fault", "basket.mix/first-payment-only", "--only", "baskets", "--fail-fast", "--jobs", "1"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.finished.stopped_early);
    assert_eq!(ran.verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail).count(), 1);
}
