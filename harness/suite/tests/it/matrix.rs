//! The matrix of places and forms has no hole.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use xs2aspec_spec::{request::FILE, yaml};
use xs2aspec_suite::{
    Suite, Tree,
    matrix::{Cell, Decision},
};

/// Names of the forms of a block of the file, as they are written.
fn names(block: &Value) -> Vec<String> {
    let forms = block.get("forms").and_then(Value::as_array).into_iter().flatten();
    forms.map(|form| form["name"].as_str().unwrap().to_owned()).collect()
}

/// Every form that is written for all places of a part or of a kind is decided at each of them: cases are
/// made of it, or the reason is given why it makes no sense.
#[test]
fn each_form_of_a_kind_is_a_case_or_has_a_reason_at_every_place_of_the_kind() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let file: Map<String, Value> = yaml::read(FILE, suite.tree().text(FILE).unwrap()).unwrap();
    let cells = suite.cells();
    let mut at: BTreeMap<(&str, &str), Vec<&Cell>> = BTreeMap::new();
    for cell in &cells {
        at.entry((&cell.operation, &cell.place)).or_default().push(cell);
    }
    let mut wanted: Vec<(&str, &str, String)> = Vec::new();
    for place in suite.requests().places() {
        let said = |name: &str| place.get(name).and_then(Value::as_str);
        let (operation, place) = (said("operation").unwrap(), said("at").unwrap());
        let every = match place.split('/').next().unwrap() {
            "header" => "every-header",
            "query" => "every-query",
            _ => "every-member",
        };
        let kind = said("kind").map_or(&Value::Null, |kind| &file["kinds"][kind]);
        let names = names(&file[every]).into_iter().chain(names(kind));
        wanted.extend(names.map(|name| (operation, place, name)));
    }
    for operation in suite.requests().operations() {
        wanted.extend(names(&file["every-request"]).into_iter().map(|name| (operation, "", name)));
    }
    assert!(wanted.len() > 1000, "{}", wanted.len());
    let holes: Vec<_> = wanted
        .iter()
        .filter(|(operation, place, name)| {
            let cells = at.get(&(*operation, *place)).map_or(&[][..], Vec::as_slice);
            !cells.iter().any(|cell| cell.written.ends_with(&format!(" {name}")))
        })
        .collect();
    assert!(holes.is_empty(), "{holes:?}");
}

#[test]
fn what_is_not_expected_or_not_sent_has_a_reason_and_everything_else_a_clause() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let mut decisions = BTreeSet::new();
    for cell in suite.cells() {
        let is_reasoned = matches!(cell.decision, Decision::LeftOut | Decision::Observed);
        assert_eq!(cell.reason.as_ref().is_some_and(|why| !why.is_empty()), is_reasoned, "{cell:?}");
        assert_eq!(cell.clause.is_none(), cell.decision == Decision::LeftOut, "{cell:?}");
        decisions.insert(format!("{:?}", cell.decision));
    }
    assert_eq!(decisions.len(), 9, "{decisions:?}");
}
