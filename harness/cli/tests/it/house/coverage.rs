//! The embedded suite follows its own rules, covers the whole document, and cannot lose anything unnoticed.

use std::collections::BTreeSet;

use xs2aspec_suite::{Coverage, Strength, Suite, Tree, lint};

use crate::support::xs2aspec;

#[test]
fn the_suite_keeps_the_authoring_rules_and_covers_every_statement() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let breaches: Vec<String> = lint::lint(&suite).iter().map(ToString::to_string).collect();
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
    assert!(Coverage::of(&suite).is_complete());
}

#[test]
fn the_inventory_is_current() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let made = Coverage::of(&suite).inventory();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/inventory.tsv");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (kept, made) = (lines(&kept), lines(&made));
    let gone: Vec<&String> = kept.iter().filter(|line| !made.contains(line)).collect();
    let new: Vec<&String> = made.iter().filter(|line| !kept.contains(line)).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "cases/inventory.tsv is not current.\ngone: {gone:#?}\nnew: {new:#?}\n\
         If this is meant: bash .ci/bless"
    );
}

#[test]
fn the_matrix_shows_what_makes_no_sense_at_a_place_with_its_reason() {
    let folder = tempfile::TempDir::new().unwrap();
    let page = folder.path().join("matrix.html");
    let (exit, said) = xs2aspec(&["coverage", "--matrix"]);
    assert_eq!(exit, Some(0), "{said}");
    // A row for a test value that some places of the kind have, and one that no place of the table has.
    let row = |form: &str| -> BTreeSet<char> {
        let line = said.lines().find(|line| line.ends_with(&format!("  {form}"))).unwrap();
        line[..line.len() - form.len()].chars().filter(|letter| *letter != ' ').collect()
    };
    assert_eq!(row("iban-of-DE"), BTreeSet::from(['.', 'a', '-']));
    assert_eq!(row("body-raw-<item.name>"), BTreeSet::from(['-']));
    let (exit, said) = xs2aspec(&["coverage", "--page", page.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{said}");
    let drawn = std::fs::read_to_string(&page).unwrap();
    let reason = "not applicable there, for the given reason: the operation has no body\">-</td>";
    assert!(drawn.contains(reason));
    let (_, json) = xs2aspec(&["coverage", "--matrix", "--json"]);
    let cells: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let left_out = cells.iter().filter(|cell| cell["decision"] == "left-out").count();
    assert!(left_out > 100 && said.contains(&format!(" {left_out} - (not applicable there")), "{said}");
}

#[test]
fn every_choice_of_how_a_certificate_is_written_is_left_by_a_clause() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let left = suite.clauses().values().filter_map(|clause| match &clause.strength {
        Strength::Choice(choice) => Some(choice.key.as_str()),
        _ => None,
    });
    let left: BTreeSet<&str> = left.collect();
    for choice in suite.spec().signing.choices.all() {
        assert!(left.contains(choice.key.as_str()), "no clause leaves the choice `{}`", choice.key);
    }
}

#[test]
fn every_hint_is_about_operations_that_exist() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    for operation in suite.spec().profile.hints.iter().flat_map(|hint| &hint.operations) {
        assert!(suite.answers().has(operation), "fixtures/spec/profile.yaml: no operation `{operation}`");
    }
}

#[test]
fn a_suite_that_loses_a_case_or_a_clause_is_not_the_same() {
    let inventory = |tree: Tree| Coverage::of(&Suite::load(tree).unwrap()).inventory();
    let whole = inventory(Tree::embedded());
    let months = "cases/periodic/months-of-execution.yaml";
    let text = Tree::embedded()
        .text(months)
        .unwrap()
        .replace("          2-apart: { months: [1, 2, 1], twin: up-to-2 }\n", "");
    assert_ne!(inventory(Tree::embedded().and(&[(months, &text)])), whole);
    let file = "cases/versions/untestable.yaml";
    let text = Tree::embedded().text(file).unwrap().to_owned();
    let last = text.rfind("  - id:").unwrap();
    assert_ne!(inventory(Tree::embedded().and(&[(file, &text[..last])])), whole);
}

#[test]
fn a_demanded_clause_whose_last_case_is_weakened_can_no_longer_be_broken() {
    let (file, clause) = ("cases/errors/deletion.yaml", "error.pdng");
    let weakened = Tree::embedded().text(file).unwrap().replace("expect: refused", "expect: observed");
    let suite = Suite::load(Tree::embedded().and(&[(file, &weakened)])).unwrap();
    let coverage = Coverage::of(&suite);
    assert!(!coverage.is_complete());
    let open: Vec<&str> = coverage.to_do().map(|statement| statement.clause.as_str()).collect();
    assert!(open.contains(&clause), "{open:?}");
    assert!(coverage.demanded().any(|statement| statement.clause == clause), "it is demanded all the same");
    let breaches = lint::lint(&suite);
    let breaches: Vec<String> = breaches.iter().map(ToString::to_string).collect();
    let said = format!(
        "clause `{clause}` is required by the document, but no case or check of responses can find it violated"
    );
    assert!(breaches.iter().any(|breach| breach.contains(&said)), "{breaches:#?}");
}
