//! If a request with several optional values is rejected, the run names the one or two that cause the
//! rejection.

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Culprit, Exchange, Verdict};
use xs2aspec_suite::{Suite, Tree};

use crate::support::{is_again, recorded, xs2aspec};

/// The output, the verdicts and the exchanges of a run.
struct Ran {
    said: String,
    verdicts: Vec<CaseVerdict>,
    exchanges: Vec<Exchange>,
}

impl Ran {
    fn refused(&self) -> impl Iterator<Item = &CaseVerdict> {
        self.verdicts
            .iter()
            .filter(|verdict| verdict.verdict == Verdict::Fail && verdict.case.contains("/pairs-"))
    }

    /// Returns the number of exchanges that narrowed down each case.
    fn narrowed(&self) -> BTreeMap<&str, usize> {
        let mut narrowed = BTreeMap::new();
        for exchange in self.exchanges.iter().filter(|exchange| exchange.step.starts_with("narrowed/")) {
            *narrowed.entry(exchange.case.as_str()).or_default() += 1;
        }
        narrowed
    }
}

fn run(out: &Path, arguments: &[&str]) -> Ran {
    let fixed =
        ["run", "--quiet", "--seed", "1", "--now", "2030-01-02T03:04:05Z", "--out", out.to_str().unwrap()];
    let (_, said) = xs2aspec(&[&fixed, arguments].concat());
    let (verdicts, exchanges) = recorded(out, &said);
    Ran { said, verdicts, exchanges }
}

/// Runs against a bank with this fault. Every rejected case names values of these places, with few exchanges,
/// and rejudging the record gives the same verdicts.
fn names(fault: &str, only: &str, places: &[&str], sentence: &str) -> Ran {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let ran = run(&out, &["--fault", fault, "--only", only]);
    assert!(ran.refused().count() > 9, "{}", ran.said);
    for verdict in ran.refused() {
        let forms = verdict.culprit.as_deref().map(Culprit::forms).unwrap_or_default();
        let named: Vec<&str> = forms.iter().map(|form| form.place.as_str()).collect();
        let is_there = named.iter().zip(places).all(|(named, place)| named.starts_with(place));
        assert!(is_there && named.len() == places.len(), "{verdict:?}");
        assert!(forms.iter().flat_map(|form| &form.changes).all(|change| verdict.changes.contains(change)));
        let Some(Culprit::Found { shown_by, .. }) = verdict.culprit.as_deref() else { panic!("{verdict:?}") };
        // The case was narrowed down itself, or refers to another one.
        let shows = shown_by.as_ref().unwrap_or(&verdict.case);
        assert_eq!(ran.narrowed().contains_key(verdict.case.as_str()), shown_by.is_none(), "{verdict:?}");
        assert!(ran.narrowed()[shows.as_str()] <= 25, "{shows}");
    }
    assert!(
        ran.narrowed().len() <= 20 && ran.narrowed().len() < ran.refused().count(),
        "{:?}",
        ran.narrowed()
    );
    assert!(ran.said.contains(sentence), "{}", ran.said);
    let junit = fs::read_to_string(out.join("junit.xml")).unwrap();
    let summary = fs::read_to_string(out.join("summary.md")).unwrap();
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for text in [junit, summary, page] {
        assert!(text.contains(sentence));
    }
    let (exit, said) = xs2aspec(&["rejudge", out.to_str().unwrap()]);
    assert_eq!((exit, said.contains(" 0 changed, 0 could not be rejudged")), (Some(0), true), "{said}");
    ran
}

#[test]
fn the_pair_that_is_refused_together_is_named() {
    let sentence = "rejected with these two together, accepted without either of them";
    let places = ["header/Accept-Encoding", "query/withAccounts"];
    let ran = names("customers.with-accounts/beside-encoding", "customers.path", &places, sentence);
    // The output shows exactly the rejected values.
    let block = ran.said.split("\n\n").next().unwrap_or_default();
    let shown: Vec<&str> = block.lines().filter(|line| line.starts_with("   | ")).collect();
    assert_eq!(shown.len(), 6, "{block}");
    assert!(shown[5].starts_with("   | response {\"tppMessages\""), "{block}");
    assert!(
        shown[1].contains("header/Accept-Encoding = ") && shown[2].contains("query/withAccounts = "),
        "{block}"
    );
    assert!(ran.said.contains("\n1 violation, 0 warnings\n"), "{}", ran.said);
}

#[test]
fn the_pair_is_named_among_thirty_forms() {
    let places = ["body/creditorAddress", "body/creditorAgent"];
    let sentence = "rejected with these two together";
    names("ncbct.creditor-address.optional/of-a-bban", "ncbct.path", &places, sentence);
}

#[test]
fn a_form_that_is_refused_alone_is_named_alone() {
    let sentence = "rejected with this alone, accepted without it";
    names("header.psu-http-method.ncbct/refused", "ncbct.path", &["header/PSU-HTTP-Method"], sentence);
}

#[test]
fn however_many_cases_are_in_flight_the_same_is_asked() {
    let folder = TempDir::new().unwrap();
    let ran = ["1", "16"].map(|jobs| {
        let fault = "customers.with-accounts/beside-encoding";
        run(&folder.path().join(jobs), &["--fault", fault, "--only", "customers.path", "--jobs", jobs])
    });
    let asked = |ran: &Ran| -> Vec<(String, String)> {
        let asked = ran.exchanges.iter().filter(|one| !is_again(one.look));
        let mut asked: Vec<_> = asked.map(|one| (one.case.clone(), one.step.clone())).collect();
        asked.sort();
        asked
    };
    assert_eq!(asked(&ran[0]), asked(&ran[1]));
    let culprits = |ran: &Ran| -> BTreeMap<String, Option<Box<Culprit>>> {
        ran.verdicts.iter().map(|verdict| (verdict.case.clone(), verdict.culprit.clone())).collect()
    };
    assert_eq!(culprits(&ran[0]), culprits(&ran[1]));
}

#[test]
fn nothing_more_is_asked_of_a_bank_that_accepts_every_pair() {
    let folder = TempDir::new().unwrap();
    let ran = run(&folder.path().join("out"), &["--only", "customers.path"]);
    assert!(ran.verdicts.iter().filter(|verdict| verdict.case.contains("/pairs-")).count() > 9);
    assert!(ran.verdicts.iter().all(|verdict| verdict.verdict == Verdict::Pass && verdict.culprit.is_none()));
    assert!(ran.narrowed().is_empty());
}

#[test]
fn the_forms_of_a_case_together_are_its_request() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let together: Vec<_> = suite.cases().iter().filter(|case| !case.together.is_empty()).collect();
    assert!(together.len() > 300, "{}", together.len());
    for case in together {
        let again = suite.with_forms(&case.request.operation, &case.together).unwrap();
        assert_eq!((&again.request, again.changes()), (&case.request, case.changes()), "{}", case.id);
    }
}

#[test]
fn a_run_that_stops_at_the_first_finding_says_what_is_minded_before_it_stops() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let fault = ["--fault", "customers.with-accounts/beside-encoding", "--only", "customers.path"];
    let ran = run(&out, &[&fault[..], &["--fail-fast", "--jobs", "1"]].concat());
    // It does not matter which row runs first.
    let mut wrong = ran.verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail);
    let first = wrong.next().unwrap_or_else(|| panic!("{}", ran.said));
    assert!(matches!(first.culprit.as_deref(), Some(Culprit::Found { .. })), "{first:?}");
}
