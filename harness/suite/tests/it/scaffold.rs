//! Tests that a new scaffold can be loaded, with its case.

use xs2aspec_suite::{Suite, Tree};

fn suite() -> Suite {
    Suite::load(Tree::embedded()).unwrap()
}

#[test]
fn a_new_clause_stands_beside_its_like_and_has_a_case() {
    let suite = suite();
    for (id, quote, file) in [
        ("periodic.months.even", "duplicates are rejected", "cases/periodic/months-of-execution.yaml"),
        // A file that has no cases yet.
        ("customers.order", "Returns all customers", "cases/customers/list.yaml"),
    ] {
        let made = suite.scaffold(id, quote).unwrap();
        assert_eq!(made.file, file);
        let line = |number: usize| made.text.lines().nth(number - 1).unwrap();
        assert_eq!(
            [line(made.clause), line(made.case)],
            [format!("  - id: {id}"), format!("  - clause: {id}")]
        );
        let tree = Tree::embedded().and(&[(&made.file, &made.text)]);
        let with = Suite::load(tree).unwrap();
        assert_eq!(with.cases().len(), suite.cases().len() + 1);
        let case = with.cases().iter().find(|case| case.clause == id).unwrap();
        let control = with.case(case.control.as_deref().unwrap()).unwrap();
        assert!(
            control.expect.is_accepted() && control.request.operation == case.request.operation,
            "{}",
            control.id
        );
        assert_eq!(with.clauses()[id].quote, quote);
    }
}

#[test]
fn what_cannot_be_begun_says_why() {
    let suite = suite();
    let quote = "duplicates are rejected";
    for (id, quote, says) in [
        ("periodic", quote, "expected an id"),
        ("periodic.Months", quote, "expected an id"),
        ("periodic.months.duplicate", quote, "cases/periodic/months-of-execution.yaml:"),
        ("nothing.at-all", quote, "starts with `nothing.`"),
        ("periodic.months.even", "no such words", "found it in 0"),
        ("periodic.months.even", "at most 70 characters", "found it in "),
    ] {
        let error = suite.scaffold(id, quote).unwrap_err().to_string();
        assert!(error.contains(says), "{id}: {error}");
    }
}
