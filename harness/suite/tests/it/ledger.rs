//! Tests of the clauses and of the authoring rules. They are complete, and `lint` reports what is missing or
//! wrong.

use xs2aspec_suite::{Coverage, Suite, Tree, lint};

const CLAUSES: &str = "clauses:
  - {id: a.root, says: root, quote: covers all nine parts, strength: stated}
  - {id: a.name.length, says: at most 3, quote: covers all nine parts, strength: stated}
  - {id: a.mix, says: refused with status 400 and code MIX, quote: covers all nine parts, strength: stated}
  - {id: a.free, says: open, quote: covers all nine parts, strength: observed, why: open}
  - {id: http.no-server-error, says: in answers, quote: covers all nine parts, strength: stated}
title: t
";
const BASELINE: &str =
    "about: a\noperation: ncbct\nmethod: POST\npath: /v1\nheaders: {A: b, C: d}\nbody: {m: x, n: {o: 1}}\n";
const GOOD: &str = "title: t
cases:
  - {clause: a.root, name: plain, baseline: base, expect: accepted}
  - {clause: a.name.length, name: three, baseline: base, change: [{set: body/m, to: xxx}], control: a.root/plain, expect: accepted}
  - {clause: a.name.length, name: four, baseline: base, change: [{set: body/m, to: xxxx}], control: a.root/plain, expect: refused}
  - {clause: a.mix, name: m, baseline: base, change: [{remove: header/C}], control: a.root/plain,
     expect: {refused: {status: 400, code: MIX}}}
  - {clause: a.free, name: f, baseline: base, change: [{remove: body/m}], control: a.root/plain, expect: observed}
";

fn breaches(cases: &str, more: &[(&str, &str)]) -> String {
    let tree = Tree::of(&[
        ("cases/clauses/a.yaml", CLAUSES),
        ("fixtures/requests/base.yaml", BASELINE),
        ("cases/x/a.yaml", cases),
    ]);
    let suite = Suite::load(tree.and(more)).unwrap_or_else(|problems| panic!("{problems}"));
    let found = lint::lint(&suite);
    // The few clauses of this test leave most of the document and of its rules uncovered.
    let document =
        ["fixtures/spec/interface.md", "fixtures/spec/answers.yaml", "fixtures/spec/client-rules.yaml"];
    let found = found.into_iter().filter(|problem| !document.contains(&problem.file.as_str()));
    found.map(|problem| problem.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_rule_is_silent_on_what_keeps_it_and_speaks_on_what_breaks_it() {
    assert_eq!(breaches(GOOD, &[]), "");
    let with = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        breaches(&GOOD.replace(from, to), &[])
    };
    let table = [
        (
            "[{remove: header/C}]",
            "[{remove: header/C}, {remove: body/m}]",
            "differs from its control in 2 places: [\"header/c\", \"body/m\"]",
        ),
        (
            "[{remove: header/C}]",
            "[{set: header/C, to: e}, {set: query/q, to: r}]",
            "[\"header/c\", \"query/q\"]",
        ),
        ("[{remove: header/C}]", "[{set: body/m, to: y}, {remove: body/n/o}]", "[\"body/m\", \"body/n/o\"]"),
        (
            "{status: 400, code: MIX}",
            "{status: 409, code: MIX}",
            "expects status 409, which its clause does not name",
        ),
        (
            "{status: 400, code: MIX}",
            "{status: 400, code: MAX}",
            "expects code MAX, which its clause does not name",
        ),
        (
            "control: a.root/plain, expect: observed",
            "control: a.root/plain, expect: refused",
            "expects `refused` for a clause that is observed",
        ),
        (
            "expect: observed",
            "expect: {choice: {x: refused}}",
            "expects a choice, but its clause leaves none",
        ),
        (
            "name: three, baseline: base, change: [{set: body/m, to: xxx}], control: a.root/plain, expect: accepted",
            "name: three, baseline: base, change: [{set: body/m, to: xxxxx}], control: a.root/plain, expect: refused",
            "clause `a.name.length` has no case of exactly 3 that must be accepted",
        ),
        // A case that is only near the limit, or only observed, does not count.
        ("to: xxx}]", "to: xx}]", "no case of exactly 3 that must be accepted"),
        (
            "to: xxx}], control: a.root/plain, expect: accepted",
            "to: xxx}], control: a.root/plain, expect: observed",
            "no case of exactly 3 that must be accepted",
        ),
        ("to: xxxx}]", "to: xxxxx}]", "no case of 4 that must be rejected"),
        (
            "name: four, baseline: base, change: [{set: body/m, to: xxxx}], control: a.root/plain, expect: refused",
            "name: four, baseline: base, change: [{set: body/m, to: xxxx}], control: a.root/plain, expect: accepted",
            "clause `a.name.length` has no case of 4 that must be rejected",
        ),
    ];
    for (from, to, expected) in table {
        let found = with(from, to);
        assert_eq!(found.matches("cases/").count(), 1, "{found}");
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    // If the document cannot require anything for that size, the case says why.
    let near = "to: xxx}], control: a.root/plain, expect: accepted";
    assert_eq!(with(near, "to: xxx}], control: a.root/plain, expect: observed, about: why"), "");
    let without_mix = GOOD.split("  - {clause: a.mix").next().unwrap();
    assert!(breaches(without_mix, &[]).contains(
        "cases/clauses/a.yaml:4:5: clause `a.mix` is required by the document, but no case or check"
    ));
    assert!(
        breaches(GOOD, &[("fixtures/requests/other.yaml", BASELINE)])
            .contains("fixtures/requests/other.yaml: nothing uses")
    );
    assert!(
        breaches(GOOD, &[("fixtures/tables/t.csv", "a\n1\n")])
            .contains("fixtures/tables/t.csv: nothing uses")
    );
}

#[test]
fn an_expected_clause_demands_and_a_choice_says_what_its_plain_reading_is() {
    let with = |clause: &str, expect: &str| {
        let free = "{id: a.free, says: open, quote: covers all nine parts, strength: observed, why: open}";
        assert!(CLAUSES.contains(free));
        let clauses = CLAUSES.replace(
            free,
            &format!("{{id: a.free, says: open, quote: covers all nine parts, strength: {clause}}}"),
        );
        let cases = GOOD.replace(
            "control: a.root/plain, expect: observed}",
            &format!("control: a.root/plain, expect: {expect}}}"),
        );
        breaches(&cases, &[("cases/clauses/a.yaml", &clauses)])
    };
    for expect in ["accepted", "refused"] {
        assert_eq!(with("expected", expect), "");
    }
    let plain = "choice, choice: {key: free, default: no, expected: true}";
    assert_eq!(with(plain, "{choice: {no: refused, yes: accepted}}"), "");
    let silent = with(plain, "{choice: {yes: accepted}}");
    assert!(
        silent.contains("case `a.free/f` has no expectation for `no`, the plain reading of its clause"),
        "{silent}"
    );
    assert_eq!(with("choice, choice: {key: free, default: no}", "{choice: {yes: accepted}}"), "");
}

#[test]
fn a_line_without_a_clause_and_a_clause_without_cover_are_to_do() {
    let suite = Suite::load(Tree::of(&[
        ("cases/clauses/a.yaml", CLAUSES),
        ("fixtures/requests/base.yaml", BASELINE),
        ("cases/x/a.yaml", GOOD.split("  - {clause: a.mix").next().unwrap()),
    ]));
    let suite = suite.unwrap();
    let coverage = Coverage::of(&suite);
    assert_eq!(coverage.to_do().map(|statement| statement.clause.as_str()).collect::<Vec<_>>(), ["a.mix"]);
    assert!(coverage.lines_without_clause.len() > 100);
    let found = lint::lint(&suite).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(
        found.contains("fixtures/spec/answers.yaml: clause `payment.response`, named in this"),
        "{found}"
    );
    assert!(!coverage.is_complete());
    let covered =
        |id: &str| coverage.statements().find(|statement| statement.clause == id).unwrap().cover.clone();
    assert_eq!(covered("a.name.length").words(), "1 accepted, 1 refused");
}

#[test]
fn every_line_of_the_document_that_says_something_has_its_clause() {
    let suite = Suite::load(Tree::embedded()).unwrap_or_else(|problems| panic!("\n{problems}"));
    assert_eq!(Coverage::of(&suite).lines_without_clause, Vec::<u32>::new());
}

#[test]
fn what_requests_name_and_nobody_knows_is_a_breach() {
    const FILE: &str = "fixtures/spec/requests.yaml";
    let text = Tree::embedded().text(FILE).unwrap().to_owned();
    for (right, wrong, says) in [
        (
            "corrupted: true",
            "corupted: true",
            "`signing` of the form `signing one-bit`: unknown field `corupted`",
        ),
        ("breaks: amount.string ", "breaks: amount.strings ", "clause `amount.strings` is not declared"),
        ("longer: <most>", "longer: <mots>", "`<mots>` in `<mots>` is not defined"),
    ] {
        assert!(text.contains(right), "{right}");
        let found = match Suite::load(Tree::embedded().and(&[(FILE, &text.replace(right, wrong))])) {
            Ok(suite) => lint::lint(&suite).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            Err(problems) => problems.to_string(),
        };
        assert!(found.contains(FILE) && found.contains(says), "{wrong}: {found}");
    }
}
