//! The plan for clients speaks of everything that a client can break, and `serve` lets a client meet all of
//! it.

use std::collections::BTreeSet;

use xs2aspec_judge::client::{Plan, plan::ShownBy};
use xs2aspec_suite::{Expectation, Suite, Tree};

use super::Running;
use crate::support::xs2aspec;

fn plan(suite: &Suite) -> Plan {
    Plan::load(suite.tree()).unwrap().expect("the plan of the document")
}

/// Clauses by which a request is refused: a client that sends it breaks them.
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
        clauses.into_iter().filter(|clause| !judged.contains(clause) && !plan.speaks_of(clause)).collect();
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
    let patterns =
        plan.items.iter().flat_map(|item| &item.clauses).chain(plan.left_out.iter().map(|(one, _)| one));
    for pattern in patterns {
        let is_known = match pattern.strip_suffix('*') {
            Some(start) => suite.clauses().keys().any(|clause| clause.starts_with(start)),
            None => suite.clauses().contains_key(pattern),
        };
        assert!(is_known, "no clause is {pattern}");
    }
    // Every operation of the document is called, and every one with rules has its own item.
    // A link of an answer may lead anywhere, so that nobody knows who follows one.
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
    let (code, said) = xs2aspec(&["client-plan"]);
    assert_eq!(code, Some(0));
    for words in ["signature.wrapped", "serve --record DIR --busy 5", "(need not be shown)", " items, and "] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A document without one says so.
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/packs/parcels");
    let (code, said) = xs2aspec(&["client-plan", "--pack", pack]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("client-plan.yaml") && said.contains("no plan for clients"), "{said}");
}
