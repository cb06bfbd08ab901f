//! Random requests, judged by the suite's expectations and by the reference bank: two readings of the
//! document, which must not disagree. `XS2ASPEC_BLENDS=N` tries so many; `XS2ASPEC_BLENDS_SEED=N` draws them
//! by another seed than 1, and `random` by one of which nobody knows before. The seed is printed, and the
//! same seed gives the same requests.

use std::{cell::RefCell, sync::Arc};

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
    let seed = match std::env::var("XS2ASPEC_BLENDS_SEED").as_deref() {
        Err(_) => 1,
        Ok("random") => uuid::Uuid::new_v4().as_u64_pair().0,
        Ok(text) => text.parse().expect("a number, or `random`"),
    };
    println!("{tried} requests, XS2ASPEC_BLENDS_SEED={seed}");
    let disagreement = disagreement(None, tried, seed);
    assert!(disagreement.is_none(), "XS2ASPEC_BLENDS_SEED={seed}: {}", disagreement.unwrap_or_default());
}

/// The property can fail: a bank that breaks a clause is found, and the request that shows it is shrunk to
/// that one part.
#[test]
fn a_bank_that_breaks_a_clause_disagrees_and_the_request_is_shrunk() {
    let fault = "ncbct.creditor-name.length/seventy-one".parse().expect("a known fault");
    let found = disagreement(Some(fault), 20_000, 1).expect("a disagreement");
    assert!(
        found.starts_with("[\"ncbct.creditor-name.length/71\"]: refused by the suite, fail by the bank"),
        "{found}"
    );
}

/// Blends random cases and sends them. The first disagreement, shrunk, with both reasons.
fn disagreement(fault: Option<Fault>, tried: u32, seed: u64) -> Option<String> {
    let runtime = Runtime::new().expect("a runtime");
    let suite = Arc::new(Suite::load(Tree::embedded()).expect("the embedded suite"));
    let now = "2030-01-31T12:00:00Z".parse().expect("a time");
    let config = xs2aspec_reference::Config { fault, now: Clock::at(Some(now)), ..Default::default() };
    let bank: Bank = runtime.block_on(xs2aspec_reference::start(config)).expect("a bank");
    let profile = Profile::reference(&bank.base_url()).expect("a profile");
    let profile = profile.authorize(false).expect("a bank on this machine");
    let session = Session::new(Arc::clone(&suite), profile, 1, now).expect("a session");
    let ingredients = OPERATIONS.map(|operation| suite.ingredients(operation));

    let config = Config {
        cases: tried,
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    let seeded = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, seeded);
    let parts = (select((0..OPERATIONS.len()).collect::<Vec<_>>()), vec(any::<Index>(), 1..=MOST));
    // Sends a blend, and says why the two disagree.
    let disagrees = |operation: usize, parts: &[&Ingredient<'_>]| {
        let case = suite.blend(OPERATIONS[operation], parts)?;
        let done = runtime.block_on(session.run(&case));
        let word = done.verdict.verdict;
        (word != Verdict::Pass).then(|| {
            let parts: Vec<&str> = parts.iter().map(|part| part.case().id.as_str()).collect();
            let (expected, findings) = (&case.expect, &done.verdict.findings);
            format!(
                "{parts:?}: {expected} by the suite, {} by the bank: {findings:?} {}",
                word.word(),
                answer(&done)
            )
        })
    };
    let last = RefCell::new(None);
    let outcome = runner.run(&parts, |(operation, picks)| {
        let all = &ingredients[operation];
        let parts = compatible(&suite, OPERATIONS[operation], picks.iter().map(|pick| pick.get(all)));
        let Some(why) = disagrees(operation, &parts) else { return Ok(()) };
        last.replace(Some((operation, picks)));
        Err(TestCaseError::fail(why))
    });
    // A part that is left out lets another in that could not be there beside it, so the last steps are made
    // here.
    let shown = last.into_inner().filter(|_| outcome.is_err()).map(|(operation, picks)| {
        let all = &ingredients[operation];
        let mut parts = compatible(&suite, OPERATIONS[operation], picks.iter().map(|pick| pick.get(all)));
        let mut at = 0;
        while at < parts.len() {
            let without: Vec<_> =
                parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| *part).collect();
            if disagrees(operation, &without).is_some() {
                parts = without;
            } else {
                at += 1;
            }
        }
        disagrees(operation, &parts).unwrap_or_else(|| "it is not the same twice".to_owned())
    });
    runtime.block_on(bank.shutdown()).expect("an end");
    shown
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
    let exchanges = done.take_exchanges();
    let body = exchanges.last().and_then(|exchange| exchange.response.as_ref()?.body.as_ref());
    body.map(|body| body.shown().into_owned()).unwrap_or_default()
}
