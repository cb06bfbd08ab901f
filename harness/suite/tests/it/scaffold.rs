//! A clause that is only begun can be loaded, with its case.

use xs2aspec_suite::{Suite, Tree};

fn suite() -> Suite {
    Suite::load(Tree::embedded()).unwrap()
}

#[test]
fn a_new_clause_stands_beside_its_like_and_has_a_case() {
    let suite = suite();
    for (id, quote, ledger, cases) in [
        (
            "periodic.months.even",
            "duplicates are rejected",
            "cases/clauses/periodic.yaml",
            "cases/periodic/months-of-execution.yaml",
        ),
        ("customers.order", "Returns all customers", "cases/clauses/customers.yaml", "cases/"),
    ] {
        let made = suite.scaffold(id, quote).unwrap();
        let [entry, group] = &made.files;
        assert!(entry.file == ledger && group.file.starts_with(cases), "{made:?}");
        let new = |file: &xs2aspec_suite::scaffold::NewText| {
            file.text.lines().nth(file.line - 1).unwrap().to_owned()
        };
        assert_eq!([new(entry), new(group)], [format!("  - id: {id}"), format!("  - clause: {id}")]);
        let tree = Tree::embedded().and(&[(&entry.file, &entry.text), (&group.file, &group.text)]);
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
        ("periodic.months.duplicate", quote, "cases/clauses/periodic.yaml:"),
        ("nothing.at-all", quote, "begins with `nothing.`"),
        ("periodic.months.even", "no such words", "found it in 0"),
        ("periodic.months.even", "at most 70 characters", "found it in "),
    ] {
        let error = suite.scaffold(id, quote).unwrap_err().to_string();
        assert!(error.contains(says), "{id}: {error}");
    }
}
