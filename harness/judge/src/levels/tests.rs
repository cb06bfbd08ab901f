//! Each clause has its level, and each violation gets the level of its clause.

use xs2aspec_record::{End, Finding, Place};
use xs2aspec_suite::{Spec, Tree};

use super::*;

/// A ledger with a clause of each strength, and two choices, one of them with a plain reading.
const LEDGER: &str = "clauses:
  - {id: a.stated, says: a, quote: covers all nine parts, strength: stated}
  - {id: a.expected, says: a, quote: covers all nine parts, strength: expected}
  - {id: a.choice, says: a, quote: covers all nine parts, strength: choice, choice: {key: free, default: one}}
  - {id: a.plain, says: a, quote: covers all nine parts, strength: choice, choice: {key: plain, default: one, expected: true}}
  - {id: b.observed, says: a, quote: covers all nine parts, strength: observed, why: b}
";

fn levels(choices: &[(&str, &str)], rules: &[(&str, Level)]) -> Result<Levels, LevelError> {
    let ledger = Spec::load(&Tree::of(&[("cases/clauses/a.yaml", LEDGER)]), &mut vec![]).clauses;
    let mut profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    profile.choices = choices.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let rule = |(pattern, level): &(&str, Level)| LevelRule {
        pattern: (*pattern).to_owned(),
        level: *level,
        by: LevelSource::CommandLine,
    };
    profile.levels = rules.iter().map(rule).collect();
    Levels::new(&ledger, &profile)
}

/// Returns the levels of all clauses in the ledger, in its order.
fn of_all(levels: &Levels) -> [Level; 5] {
    ["a.stated", "a.expected", "a.choice", "a.plain", "b.observed"].map(|id| levels.clause(id).level)
}

#[test]
fn each_strength_has_its_level_and_what_is_declared_is_demanded() {
    use Level::{Deny, Note, Warn};
    assert_eq!(of_all(&levels(&[], &[]).unwrap()), [Deny, Warn, Note, Warn, Note]);
    let declared = levels(&[("free", "two"), ("plain", "two")], &[]).unwrap();
    assert_eq!(of_all(&declared), [Deny, Warn, Deny, Deny, Note]);
    assert_eq!(declared.clause("a.plain").by, LevelSource::Choice);
    assert_eq!((declared.choice("a.choice"), declared.choice("a.plain")), (Some("two"), Some("two")));
    let silent = levels(&[], &[]).unwrap();
    assert_eq!((silent.choice("a.choice"), silent.choice("a.plain")), (None, Some("one")));
}

#[test]
fn of_several_levels_for_a_clause_the_last_one_counts() {
    use Level::{Deny, Note, Warn};
    let given = levels(&[], &[("a", Warn), ("*.stated", Note), ("b.observed", Deny)]).unwrap();
    assert_eq!(of_all(&given), [Note, Warn, Warn, Warn, Deny]);
    assert_eq!(given.clause("a.stated").by, LevelSource::CommandLine);
    let given = levels(&[], &[("*.stated", Note), ("a", Warn), ("warnings", Deny)]).unwrap();
    assert_eq!(of_all(&given), [Warn, Warn, Warn, Warn, Note], "`warnings` is no clause");
}

#[test]
fn a_pattern_that_names_no_clause_says_the_near_one() {
    let error = |pattern: &str, level| levels(&[], &[(pattern, level)]).unwrap_err().to_string();
    assert_eq!(
        error("a.state", Level::Deny),
        "--deny `a.state`: no clause has this id; did you mean `a.stated`?"
    );
    assert_eq!(error("nothing", Level::Warn), "--warn `nothing`: no clause has this id");
    assert!(error("warnings", Level::Note).starts_with("--allow `warnings`: expected `deny` or `warn`"));
}

#[test]
fn what_is_observed_in_answers_is_minded_where_another_reading_is_the_plain_one() {
    let minds = |choices: &[(&str, &str)], rules: &[(&str, Level)]| {
        let levels = levels(choices, rules).unwrap();
        ["a.stated", "a.expected", "a.choice", "a.plain", "b.observed"].map(|id| levels.minds(id))
    };
    assert_eq!(minds(&[], &[]), [false, true, false, true, false]);
    assert_eq!(minds(&[("free", "one"), ("plain", "two")], &[]), [false, true, false, false, false]);
    assert_eq!(minds(&[("plain", "one")], &[]), [false, true, false, true, false]);
    assert_eq!(
        minds(&[], &[("a", Level::Note), ("b", Level::Warn), ("a.choice", Level::Deny)]),
        [false, false, true, false, true]
    );
}

#[test]
fn a_case_is_as_bad_as_the_worst_thing_it_shows_and_a_note_breaks_nothing() {
    let levels = levels(&[], &[]).unwrap();
    let weighed = |clause: &str, broken: &[&str]| {
        let finding = |clause: &&str| Finding {
            clause: (*clause).to_owned(),
            expected: "one".to_owned(),
            actual: "two".to_owned(),
            at: "body/a".to_owned(),
            kind: xs2aspec_record::Mismatch::Value,
            level: Level::Deny,
            end: End::Bank,
        };
        let place = Place { file: "a.yaml".to_owned(), line: 1, column: 1 };
        let mut verdict = CaseVerdict {
            verdict: Verdict::Fail,
            checks: 1,
            findings: broken.iter().map(finding).collect(),
            ..CaseVerdict::blank(format!("{clause}/x"), clause.to_owned(), place)
        };
        levels.weigh(&mut verdict);
        assert_eq!(verdict.contradiction(), None);
        let left: Vec<String> = verdict.findings.into_iter().map(|finding| finding.clause).collect();
        (verdict.verdict, left.join(" "), verdict.observations.join(" "))
    };
    let all = ["a.stated", "a.expected", "b.observed"];
    let note = "b.observed: body/a: expected one, got two".to_owned();
    assert_eq!(weighed("a.stated", &all), (Verdict::Fail, "a.stated a.expected".to_owned(), note.clone()));
    assert_eq!(weighed("a.stated", &all[1..]), (Verdict::Warn, "a.expected".to_owned(), note.clone()));
    assert_eq!(weighed("a.stated", &all[2..]), (Verdict::Pass, String::new(), note.clone()));
    assert_eq!(weighed("b.observed", &all[2..]), (Verdict::Observed, String::new(), note));
    assert_eq!(weighed("a.stated", &["not.there"]).0, Verdict::Fail);
}
