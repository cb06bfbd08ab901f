//! The plan for clients covers everything that a client can violate, and `serve` lets a client meet all of
//! it.

use std::collections::BTreeSet;

use xs2aspec_judge::client::{
    Plan,
    plan::{ShownBy, matches},
};
use xs2aspec_suite::{Expectation, Suite, Tree};

use super::Running;
use crate::support::xs2aspec;

fn plan(suite: &Suite) -> Plan {
    Plan::load(suite.tree()).unwrap().expect("the plan of the document")
}

/// Returns the patterns of the clauses that an item covers, or that the plan excludes with a reason.
fn patterns(plan: &Plan) -> impl Iterator<Item = &String> {
    plan.items.iter().flat_map(|item| &item.clauses).chain(&plan.left_out)
}

fn speaks_of(plan: &Plan, clause: &str) -> bool {
    patterns(plan).any(|pattern| matches(pattern, clause))
}

/// Returns the clauses for rejecting a request, which a client violates by sending it.
fn of_requests(suite: &Suite) -> BTreeSet<&str> {
    let refused = suite.cases().iter().filter(|case| matches!(case.expect, Expectation::Refused(_)));
    refused.map(|case| case.clause.as_str()).collect()
}

#[test]
fn each_clause_that_a_request_can_break_is_looked_for() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let plan = plan(&suite);
    let judged: BTreeSet<&str> = suite.requests().clauses().collect();
    let clauses = of_requests(&suite);
    assert!(clauses.len() > 100, "{}", clauses.len());
    let missed: Vec<&str> =
        clauses.into_iter().filter(|clause| !judged.contains(clause) && !speaks_of(&plan, clause)).collect();
    assert_eq!(
        missed,
        Vec::<&str>::new(),
        "neither an item, nor a rule for requests, nor left out for a reason"
    );
}

#[test]
fn what_the_plan_names_is_there() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let plan = plan(&suite);
    for pattern in patterns(&plan) {
        let is_known = match pattern.strip_suffix('*') {
            Some(start) => suite.clauses().keys().any(|clause| clause.starts_with(start)),
            None => suite.clauses().contains_key(pattern),
        };
        assert!(is_known, "no clause is {pattern}");
    }
    // Every operation of the document is called, and every operation with rules has its own item. A link in a
    // response may lead anywhere, so following it cannot be recognized.
    let with_paths = suite.baselines().values().filter(|one| one.request.path.starts_with('/'));
    let operations: BTreeSet<&str> = with_paths.map(|one| one.request.operation.as_str()).collect();
    for operation in operations {
        assert!(plan.items.iter().any(|item| item.id == format!("call/{operation}")), "{operation}");
    }
    for operation in suite.requests().operations() {
        let judged = |item: &&xs2aspec_judge::client::Item| matches!(&item.shown_by, ShownBy::NoBreach(own) if own == operation);
        assert_eq!(plan.items.iter().filter(judged).count(), 1, "{operation}");
    }
}

#[test]
fn each_part_and_each_alternative_is_of_items_and_each_breach_has_its_advice() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let plan = plan(&suite);
    assert!(plan.parts.len() > 5);
    for part in &plan.parts {
        let is_covered = |pattern: &String| {
            let alone = xs2aspec_judge::client::Part { items: vec![pattern.clone()], ..part.clone() };
            plan.items.iter().any(|item| alone.covers(item))
        };
        let empty: Vec<&String> = part.items.iter().filter(|pattern| !is_covered(pattern)).collect();
        assert!(empty.is_empty(), "{}: {empty:?}", part.name);
    }
    for item in plan.items.iter().filter(|item| item.one_of.is_some()) {
        assert!(plan.items.iter().filter(|other| other.one_of == item.one_of).count() > 1, "{}", item.id);
    }
    let clauses: BTreeSet<&str> = of_requests(&suite);
    let silent: Vec<&str> =
        clauses.into_iter().filter(|clause| plan.advice(clause, "request/body/a").is_none()).collect();
    assert_eq!(silent, Vec::<&str>::new(), "no advice in client-plan.yaml");
    let advice = plan.advice("header.psu-context.format", "request/header/PSU-Context");
    assert_eq!(advice.as_deref(), Some("send PSU-Context with one of PRIVATE, CORPORATE"));
}

#[test]
fn serve_lets_a_client_meet_what_the_plan_says() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let meets: BTreeSet<String> = plan(&suite).items.into_iter().filter_map(|item| item.meet).collect();
    assert!(meets.len() > 3, "{meets:?}");
    for meet in meets {
        let arguments: Vec<&str> = meet.split(' ').collect();
        let bank = Running::bank(&arguments);
        assert!(bank.url.starts_with("http://"), "serve {meet}");
        assert_eq!(bank.end().0, Some(0), "serve {meet}");
    }
}

#[test]
fn the_plan_is_listed() {
    let (code, said) = xs2aspec(&["client", "checklist"]);
    assert_eq!(code, Some(0));
    for words in [
        "signature.wrapped",
        "serve --record DIR --busy 5",
        "(optional)",
        "  corporate ",
        " required items, ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A document without a plan is reported.
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/packs/parcels");
    let (code, said) = xs2aspec(&["client", "checklist", "--pack", pack]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("client-plan.yaml") && said.contains("no plan for clients"), "{said}");
}
