//! Random requests, judged by the suite's expectations and by the reference bank: two readings of the document, which must not
//! disagree. `XS2ASPEC_BLENDS=N` tries so many; the same seed gives the same requests.

use std::sync::Arc;

use proptest::{
    collection::vec,
    prelude::any,
    sample::{Index, select},
    test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use tokio::runtime::Runtime;
use xs2aspec_record::Verdict;
use xs2aspec_reference::{Bank, Clock, Fault};
use xs2aspec_runner::{Profile, Session};
use xs2aspec_suite::{Ingredient, Suite, Tree};

const OPERATIONS: [&str; 5] = ["basket", "ncbct", "periodic", "customers", "transaction"];

/// Parts of one request, at most.
const MOST: usize = 6;

#[test]
fn the_suite_and_the_reference_bank_agree_on_requests_that_nobody_wrote() {
    let tried = std::env::var("XS2ASPEC_BLENDS").ok().map_or(600, |text| text.parse().expect("a number"));
    let disagreement = disagreement(None, tried);
    assert!(disagreement.is_none(), "{}", disagreement.unwrap_or_default());
}

/// The property can fail: a bank that breaks a clause is found, and the request that shows it is shrunk to that one part.
#[test]
fn a_bank_that_breaks_a_clause_disagrees_and_the_request_is_shrunk() {
    let fault = "ncbct.creditor-name.length/seventy-one".parse().expect("a known fault");
    let found = disagreement(Some(fault), 20_000).expect("a disagreement");
    assert!(found.contains("minimal failing input"), "{found}");
    assert!(found.contains("[\"ncbct.creditor-name.length/71\"]"), "{found}");
}

/// Blends random cases and sends them. The first disagreement, shrunk, with both reasons.
fn disagreement(fault: Option<Fault>, tried: u32) -> Option<String> {
    let runtime = Runtime::new().expect("a runtime");
    let suite = Arc::new(Suite::load(Tree::embedded()).expect("the embedded suite"));
    let now = "2030-01-31T12:00:00Z".parse().expect("a time");
    let config = xs2aspec_reference::Config { fault, now: Clock::at(Some(now)), ..Default::default() };
    let bank: Bank = runtime.block_on(xs2aspec_reference::start(config)).expect("a bank");
    let profile = Profile::reference(&bank.base_url()).expect("a profile");
    let session = Session::new(Arc::clone(&suite), profile, 1, now).expect("a session");
    let ingredients = OPERATIONS.map(|operation| suite.ingredients(operation));

    let config = Config {
        cases: tried,
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    };
    let seeded = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, seeded);
    let parts = (select((0..OPERATIONS.len()).collect::<Vec<_>>()), vec(any::<Index>(), 1..=MOST));
    let mut shown = String::new();
    let outcome = runner.run(&parts, |(operation, picks)| {
        let all = &ingredients[operation];
        let parts = compatible(&suite, OPERATIONS[operation], picks.iter().map(|pick| pick.get(all)));
        let Some(case) = suite.blend(OPERATIONS[operation], &parts) else { return Ok(()) };
        let done = runtime.block_on(session.run(&case));
        match done.verdict.verdict {
            Verdict::Pass => Ok(()),
            word => Err(TestCaseError::fail(format!(
                "{:?}: {} by the suite, {} by the bank: {:?} {}",
                parts.iter().map(|part| part.case().id.as_str()).collect::<Vec<_>>(),
                case.expect,
                word.word(),
                done.verdict.findings,
                answer(&done),
            ))),
        }
    });
    if let Err(error) = outcome {
        shown = error.to_string();
    }
    runtime.block_on(bank.shutdown()).expect("an end");
    (!shown.is_empty()).then_some(shown)
}

/// As many of the picked parts as can be in one request.
fn compatible<'a>(
    suite: &Suite,
    operation: &str,
    picked: impl Iterator<Item = &'a Ingredient<'a>>,
) -> Vec<&'a Ingredient<'a>> {
    let mut parts = Vec::new();
    for part in picked {
        parts.push(part);
        if suite.blend(operation, &parts).is_none() {
            parts.pop();
        }
    }
    parts
}

/// What the bank answered, in its own words.
fn answer(done: &xs2aspec_runner::Done) -> String {
    let body = done.exchanges.last().and_then(|exchange| exchange.response.as_ref()?.body.as_ref());
    body.map(|body| body.shown().into_owned()).unwrap_or_default()
}
