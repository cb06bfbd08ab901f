//! Tests of mistakes in case files. Each is an error with file, line and column, and with a similar name if
//! there is one.

use xs2aspec_suite::{Depth, PlanError, Suite, Tree};

const CLAUSES: &str = "clauses:
  - {id: a.root, says: root, quote: covers all nine parts, strength: stated}
  - {id: a.other, says: other, quote: covers all nine parts, strength: stated}
title: t
";
const BASELINE: &str = "about: a\noperation: ncbct\nmethod: POST\npath: /v1\nheaders: {A: b}\nbody: {m: x}\n";
const OTHER: &str = "about: a\noperation: periodic\nmethod: POST\npath: /v1\nbody: {m: x}\n";
const ROOT: &str = "title: t\ncases:\n  - {clause: a.root, name: plain, baseline: base, expect: accepted}\n";

fn load(file: &str) -> Result<Suite, String> {
    let tree = Tree::of(&[
        ("cases/clauses/a.yaml", CLAUSES),
        ("fixtures/requests/base.yaml", BASELINE),
        ("fixtures/requests/other.yaml", OTHER),
        ("cases/root/a.yaml", ROOT),
        ("cases/x/b.yaml", file),
    ]);
    Suite::load(tree).map_err(|problems| problems.to_string())
}

fn group(group: &str) -> Result<Suite, String> {
    load(&format!("title: t\ncases:\n  - {group}\n"))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of mistakes")]
fn each_mistake_is_placed_and_named() {
    let cases = [
        (
            "{clause: a.rot, name: x, baseline: base, expect: accepted}",
            "3:5: clause `a.rot` is not declared",
            "did you mean `a.root`?",
        ),
        (
            "{clause: a.root, name: x, baseline: bas, expect: accepted}",
            "3:5: there is no baseline",
            "did you mean `base`?",
        ),
        ("{clause: a.root, baseline: base, expect: accepted}", "3:5: a case without axes needs a `name`", ""),
        ("{clause: a.root, name: x, baseline: base}", "3:31: missing field `expect`", ""),
        (
            "{clause: a.root, name: x, baseline: base, exepct: accepted}",
            "3:47: unknown field `exepct`",
            "`expect`?",
        ),
        ("{clause: a.root, name: x, baseline: base, expect: accept}", "3:55: expected `accepted`", ""),
        (
            "{clause: a.root, name: plain, baseline: base, expect: accepted}",
            "3:5: duplicate case id",
            "cases/root/a.yaml:3",
        ),
        (
            "{clause: a.root, name: a b/ä, baseline: base, expect: accepted}",
            "3:5: the name `a b/ä` cannot be part of an id: `a b` is not allowed",
            "choose a name of ASCII letters",
        ),
        (
            "{clause: a.root, name: a//b, baseline: base, expect: accepted}",
            "3:5: the name `a//b` cannot be part of an id",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: other, expect: refused}",
            "3:5: case `a.root/x` has no `control`",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: other, change: [{set: header/B, to: c}], expect: accepted}",
            "3:5: case `a.root/x` changes its baseline and has no `control`",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, control: a.root/plan, expect: refused}",
            "3:5: case `a.root/x`: its control `a.root/plan` does not exist",
            "did you mean `a.root/plain`?",
        ),
        (
            "{clause: a.root, name: x, baseline: other, control: a.root/plain, expect: refused}",
            "its control `a.root/plain` is of another operation",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, control: a.root/x, expect: accepted}",
            "its own control",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, change: [{remove: header/Z}], control: a.root/plain, expect: refused}",
            "3:56: `header/Z` is not in the request",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, change: [{set: header/B, to: \"${targte.x}\"}], expect: accepted}",
            "3:5: `${targte.x}` is neither an axis nor a known placeholder",
            "did you mean `target`?",
        ),
        (
            "{clause: a.root, name: x, baseline: base, change: [{set: header/B, to: \"${target.psu.privat.id}\"}], expect: accepted}",
            "a bank profile has no value `psu.privat.id`",
            "did you mean `psu.private.id`?",
        ),
        (
            "{clause: a.root, name: x, baseline: base, expect: {body: {/id: \"${made.id}\"}}}",
            "`${made.id}` is neither a value of the target nor kept by an earlier step",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, needs: [baskets], expect: accepted}",
            "there is no capability `baskets`",
            "did you mean `basket`?",
        ),
        (
            "{clause: a.root, name: x, baseline: base, before: [{name: p, baseline: base, keep: {id: cookie}}], expect: accepted}",
            "`cookie` is not a place in a message",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, before: [{name: p, baseline: base, times: 1000}], expect: accepted}",
            "`times` must be a number up to 100",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, before: [{name: p, baseline: base, at-once: true}], expect: accepted}",
            "`at-once` and `distinct` of step `p` need `times`",
            "",
        ),
        (
            "{clause: a.root, name: x, baseline: base, before: [{name: p, baseline: base, times: 2, keep: {number: body/id}, distinct: [numbr]}], expect: accepted}",
            "`distinct` of step `p`: the step does not keep `numbr`",
            "did you mean `number`?",
        ),
        ("{clause: a.root, name: x, name: y, baseline: base, expect: accepted}", "duplicate", ""),
        (
            "{clause: a.root, name: x, baseline: base, change: [{set: header/B, to: c}], control: none, expect: accepted}",
            "3:5: case `a.root/x` needs a control, since it changes its baseline or need not be accepted",
            "",
        ),
    ];
    for (text, expected, help) in cases {
        let found = group(text).map(|_| ()).unwrap_err();
        assert!(found.starts_with("cases/x/b.yaml:3:"), "{text}\n{found}");
        assert!(
            found.contains(expected) && found.contains(help),
            "{text}\nexpected {expected} {help}\n{found}"
        );
    }
}

#[test]
fn a_case_without_a_control_leans_on_the_plain_request_of_its_operation() {
    let text = "title: t\ncases:\n  - {clause: a.other, name: again, baseline: base, expect: accepted}\n  \
                - {clause: a.other, name: seen, baseline: base, expect: observed}\n  \
                - {clause: a.other, name: wrong, baseline: base, change: [{set: header/B, to: c}], expect: refused}\n  \
                - {clause: a.other, name: prepared, baseline: third, before: [{name: p, baseline: base}], expect: observed}\n";
    let third = "about: a\noperation: third\nmethod: GET\npath: /v1\n";
    let suite = |text: &str| {
        let files = [
            ("cases/clauses/a.yaml", CLAUSES),
            ("fixtures/requests/base.yaml", BASELINE),
            ("fixtures/requests/third.yaml", third),
            ("cases/root/a.yaml", ROOT),
            ("cases/x/b.yaml", text),
        ];
        Suite::load(Tree::of(&files)).map_err(|problems| problems.to_string())
    };
    let loaded = suite(text).unwrap();
    let of = |id: &str| {
        let case = loaded.case(id).unwrap();
        (case.control.as_deref(), case.same_as.as_deref(), case.is_plain)
    };
    let plain = Some("a.root/plain");
    assert_eq!(of("a.root/plain"), (None, None, true));
    assert_eq!(of("a.other/again"), (plain, plain, false));
    assert_eq!(of("a.other/seen"), (plain, None, false));
    assert_eq!(of("a.other/wrong"), (plain, None, false));
    assert_eq!(of("a.other/prepared"), (plain, None, false));
    let one = loaded.plan(&["a.other/again".to_owned()], &[], Depth::Standard).unwrap();
    assert_eq!((one.said_by_name(), one.controls[0].id.as_str()), (1, "a.root/plain"));
    // One case of an operation can declare itself the baseline case.
    let said = text.replace("name: again, baseline: base,", "name: again, baseline: base, control: none,");
    let said = suite(&said).unwrap();
    assert_eq!(said.case("a.root/plain").unwrap().same_as.as_deref(), Some("a.other/again"));
    let twice = text
        .replace("baseline: base, expect: accepted", "baseline: base, control: none, expect: accepted")
        + "  - {clause: a.other, name: twice, baseline: base, control: none, expect: accepted}\n";
    let error = suite(&twice).unwrap_err();
    assert!(error.contains("`a.other/twice` is a second baseline case of `ncbct`"), "{error}");
}

#[test]
fn files_without_cases_are_mistakes() {
    assert!(
        load("title: t\ncases: []\n").unwrap_err().contains("cases/x/b.yaml: has neither clauses nor cases")
    );
    let empty = Tree::of(&[("cases/clauses/a.yaml", CLAUSES)]);
    assert!(Suite::load(empty).unwrap_err().to_string().contains("cases: has no cases"));
}

#[test]
fn all_mistakes_are_reported_together_and_once_per_group() {
    let text = "title: t\ncases:\n  - {clause: b, axes: {n: {values: [1, 2, 3]}}, baseline: base, expect: accepted}\n  \
                - {clause: c, name: x, baseline: base, expect: accepted}\n";
    assert_eq!(load(text).unwrap_err().lines().filter(|line| line.contains("is not declared")).count(), 2);
}

#[test]
fn ids_are_made_of_names_and_rows_have_their_own_line() {
    let text = "title: t
cases:
  - clause: a.other
    axes:
      n:
        rows:
          one: { v: \"1\" }
          two: { v: \"2\" }
    baseline: base
    change:
      - set: body/m
        to: ${n.v}
    control: a.root/plain
    expect: refused
";
    let suite = load(text).unwrap();
    let case = suite.case("a.other/two").unwrap();
    assert_eq!((case.line, case.column, case.area.as_str()), (8, 16, "x"));
    assert_eq!(case.changes(), ["body/m = \"2\""]);
    // A row in front of the others changes no other id.
    let more = load(&text.replace("          one:", "          zero: { v: \"0\" }\n          one:")).unwrap();
    assert!(
        suite
            .cases()
            .iter()
            .all(|case| more.case(&case.id).is_some_and(|same| same.changes() == case.changes()))
    );
}

#[test]
fn a_plan_takes_the_controls_along_and_refuses_patterns_without_a_match() {
    let suite =
        group("{clause: a.other, name: x, baseline: base, control: a.root/plain, expect: refused}").unwrap();
    let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let ids = |only: &[&str], skip: &[&str]| {
        suite.plan(&strings(only), &strings(skip), Depth::Standard).map(|plan| {
            let ids = |cases: &[&xs2aspec_suite::Case]| {
                cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>()
            };
            (ids(&plan.selected), ids(&plan.controls))
        })
    };
    assert_eq!(ids(&[], &[]).unwrap().0, ["a.root/plain", "a.other/x"]);
    for pattern in ["a.other", "a.other/x", "x", "*other*"] {
        assert_eq!(
            ids(&[pattern], &[]).unwrap(),
            (strings(&["a.other/x"]), strings(&["a.root/plain"])),
            "{pattern}"
        );
    }
    assert_eq!(ids(&["a"], &["x"]).unwrap().0, ["a.root/plain"]);
    let near = ids(&["a.othr"], &[]).unwrap_err().to_string();
    assert_eq!(near, "`--only a.othr` matches no case; did you mean `a.other`?");
    assert!(ids(&[], &["zzz"]).unwrap_err().to_string().starts_with("`--skip zzz` matches no case"));
    assert_eq!(ids(&["x"], &["a"]).unwrap_err(), PlanError::Skipped { has_only: true });
}
