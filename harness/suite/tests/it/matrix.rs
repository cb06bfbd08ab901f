//! Tests that the matrix of places and forms has no gap.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use xs2aspec_spec::{request::FILE, yaml};
use xs2aspec_suite::{
    Expectation, Suite, Tree,
    matrix::{Cell, Decision},
};

/// Returns the names of the forms of a block of the file, as written.
fn names(block: &Value) -> Vec<String> {
    let forms = block.get("forms").and_then(Value::as_array).into_iter().flatten();
    forms.map(|form| form["name"].as_str().unwrap().to_owned()).collect()
}

/// Every form that is defined for all places of a part or of a kind is decided at each of them. It has cases,
/// or a reason why it makes no sense there.
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

/// If an invalid value is never combined with everything else, a bank could skip its check there unnoticed.
#[test]
fn whatever_may_be_there_is_there_in_a_crowd_and_mistakes_are_made_in_it() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    for operation in ["ncbct", "periodic"] {
        let plain = suite.requests().plain_clause(operation).unwrap();
        let crowd = |name: &str| suite.case(&format!("{plain}/{name}")).unwrap();
        let crowds = [crowd("crowded"), crowd("crowded-otherwise")];
        let is_there = |at: &str| {
            let (part, name) = at.split_once('/').unwrap();
            crowds.iter().any(|case| match part {
                "header" => case.request.header(name).is_some(),
                "body" => case.request.members().unwrap().contains_key(name.split('/').next().unwrap()),
                _ => case.request.query.iter().any(|(known, _)| known == name),
            })
        };
        let said = |place: &Map<String, Value>, name: &str| place.get(name)?.as_str().map(str::to_owned);
        let places: Vec<String> = suite
            .requests()
            .places()
            .filter(|place| said(place, "operation").as_deref() == Some(operation))
            .filter_map(|place| said(place, "at"))
            .collect();
        assert!(places.len() > 30, "{places:?}");
        let absent: Vec<&String> = places.iter().filter(|at| !is_there(at)).collect();
        // Their forms give the reason: an agreement belongs to a company, an identity replaces another one,
        // and each bank decides what it offers.
        let open = ["PSU-Corporate-ID", "X-PSU-AuthMethod-Preferred", "X-PSU-IDENTITY", "executionRule"];
        let unknown: Vec<_> =
            absent.iter().filter(|at| !open.iter().any(|open| at.ends_with(open))).collect();
        assert!(unknown.is_empty(), "{operation}: {unknown:?}");

        let mistakes: Vec<&str> = suite
            .cases()
            .iter()
            .filter(|case| case.operation() == operation && case.id.contains("/crowded"))
            .map(|case| case.clause.as_str())
            .collect();
        assert!(mistakes.len() > 500, "{operation}: {}", mistakes.len());
        let alone: BTreeSet<&str> = suite
            .cases()
            .iter()
            .filter(|case| case.control.as_deref() == Some(format!("{plain}/plain").as_str()))
            .filter(|case| matches!(case.expect, Expectation::Refused(_)) && case.before.is_empty())
            .filter(|case| case.area == "matrix")
            .map(|case| case.clause.as_str())
            .collect();
        // A known gap: the parts of an address occur in rows only.
        let known = |clause: &&str| *clause == "address.shape";
        let (holes, missed): (Vec<&str>, Vec<&str>) =
            alone.into_iter().filter(|clause| !mistakes.contains(clause)).partition(known);
        assert!(missed.is_empty(), "{operation}: {missed:?}");
        assert_eq!(holes.len(), 1, "{operation}: {holes:?}");
    }
}
