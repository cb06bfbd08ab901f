//! Judges what the suite itself sends, before any masking. For each invalid request, the clause of its case
//! is found. For valid requests and conforming banks, nothing is.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use chrono::{DateTime, Utc};
use xs2aspec_judge::traffic::{Judged, Payload, Received, Sent, Traffic, TrafficJudge};
use xs2aspec_judge::{Identity, Judge as Judging, fill::WireRequest};
use xs2aspec_prove::BankVariant;
use xs2aspec_record::{End, Level, Observation};
use xs2aspec_runner::{
    Clock, Runner,
    exchange::{Answer, InProcess},
};
use xs2aspec_spec::request::Due;
use xs2aspec_suite::{Depth, Expectation, Suite, Tree};

const NOWHERE: &str = "http://localhost";

/// The judged exchanges of an in-process bank with cases of a depth.
struct Measured {
    /// The result for each case: if it must be rejected or accepted, and what was found in its request.
    cases: Vec<Case>,
    /// The violations of the bank, each with the first case that shows it.
    bank: BTreeMap<String, String>,
}

struct Case {
    id: String,
    clause: String,
    expect: Expectation,
    /// The clauses that its client violated.
    found: Vec<String>,
    /// The clauses whose violation is only noted.
    noted: Vec<String>,
    due: Option<Due>,
    /// True if a part of it could not be judged.
    is_not_told: bool,
    is_accepted: bool,
}

fn traffic(number: u64, now: DateTime<Utc>, (request, answer): (WireRequest, Answer)) -> Traffic {
    Traffic {
        number,
        label: None,
        began: now,
        micros: 0,
        request: Sent {
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: Payload::Bytes(request.body),
            changed: None,
        },
        answer: Some(Received {
            status: answer.status,
            headers: answer.headers,
            body: Payload::Bytes(answer.body),
        }),
        failure: None,
    }
}

/// Runs the cases of this depth and these areas, or of all areas if the list is empty, against a bank, and
/// judges the exchanges.
async fn measure(bank: BankVariant, depth: Depth, areas: &[&str]) -> Measured {
    let suite = Arc::new(Suite::load(Tree::embedded()).unwrap());
    let now: DateTime<Utc> = "2030-01-31T12:00:00Z".parse().unwrap();
    let sent: Arc<Mutex<Vec<(WireRequest, Answer)>>> = Arc::default();
    let (kept, inner) = (Arc::clone(&sent), bank.in_process(now));
    let inside: InProcess = Arc::new(move |request| {
        let (request, kept, answer) = (request.clone(), Arc::clone(&kept), inner(request));
        Box::pin(async move {
            let answer = answer.await;
            kept.lock().unwrap().push((request, answer.clone()));
            answer
        })
    });
    let profile = || bank.profile(NOWHERE).unwrap();
    let identity = Identity::reproducible(7);
    let base = Runner::new(Arc::clone(&suite), profile(), identity, Clock::at(now)).unwrap();
    let runner = base.for_target(profile(), &Arc::default(), Some(inside)).unwrap();
    let judging = Judging::of_traffic(Arc::clone(&suite), runner.judge().profile().clone()).unwrap();
    let mut judge = TrafficJudge::new(&judging, true);
    let mut number = 0;
    let mut judged = || -> Vec<(u16, Judged)> {
        let all = std::mem::take(&mut *sent.lock().unwrap());
        let judge = all.into_iter().map(|exchange| {
            number += 1;
            let status = exchange.1.status;
            (status, judge.exchange(&traffic(number, now, exchange), None))
        });
        judge.collect()
    };
    let mut measured = Measured { cases: Vec::new(), bank: BTreeMap::new() };
    let is_asked = |case: &&xs2aspec_suite::Case| {
        case.depth <= depth && (areas.is_empty() || areas.contains(&case.area.as_str()))
    };
    for case in suite.cases().iter().filter(is_asked) {
        if let Some(control) = &case.control {
            runner.case(control).await;
        }
        let mut all = judged();
        let before = all.len();
        runner.case(&case.id).await;
        all.extend(judged());
        for (_, judged) in &all {
            for found in judged.of(End::Bank).filter(|found| found.level == Level::Deny) {
                measured
                    .bank
                    .entry(format!("{}: {}", found.clause, found.mismatch()))
                    .or_insert(case.id.clone());
            }
        }
        let Some((status, own)) = all.split_off(before).pop() else { continue };
        let is_of_the_bank =
            |seen: &&Observation| matches!(seen, Observation::Noted { finding } if finding.end == End::Bank);
        let noted = own.seen.iter().filter(|seen| !is_of_the_bank(seen)).filter_map(Observation::clause);
        measured.cases.push(Case {
            id: case.id.clone(),
            clause: case.clause.clone(),
            expect: case.expect.clone(),
            found: own.of(End::Client).map(|found| found.clause.clone()).collect(),
            noted: noted.map(str::to_owned).collect(),
            is_not_told: !own.not_told.is_empty(),
            due: own.due,
            is_accepted: (200..300).contains(&status),
        });
    }
    measured
}

/// A recipient accepts these, but a sender may not send them (draft 10, sections 2.1 and 2.2), so the client
/// gets a warning.
const OF_SENDERS: [&str; 2] = ["signature.parameters.duplicate", "signature.headers.case"];

/// Clauses, and a part of the name that the same mistake has in recorded traffic. An unknown name, for
/// example, is also a missing one.
const ONE_BREACH: [(&str, &str); 5] = [
    ("json.names", ".required"),
    ("header.underscores", "header."),
    ("signature.value.foreign-characters", "signature.value"),
    // The clause says where a signature is checked. What is wrong with it has clauses of its own.
    ("service.signed.elsewhere", "signature."),
    ("service.signed.elsewhere", "service.signed"),
];

impl Case {
    fn is_negative(&self) -> bool {
        matches!(self.expect, Expectation::Refused(_))
    }

    /// Returns true if its own clause is the first that its client violated.
    fn is_found(&self) -> bool {
        let is_one_breach = |found: &String| {
            let named = |(clause, other): &(&str, &str)| self.clause == *clause && found.contains(other);
            *found == self.clause || ONE_BREACH.iter().any(named)
        };
        self.found.first().is_some_and(is_one_breach) || self.noted.contains(&self.clause)
    }

    /// Returns true if its fault does not show in its request.
    fn cannot_be_told(&self) -> bool {
        self.found.is_empty() && (self.is_not_told || matches!(self.due, Some(Due::Open(_))))
    }

    fn line(&self) -> String {
        format!("{}: found {:?}, {:?}", self.id, self.found, self.due)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_deliberate_mistakes_the_clause_is_found_and_of_lawful_requests_nothing() {
    let measured = measure(BankVariant::Clean, Depth::Standard, &[]).await;
    let lawful = measured.cases.iter().filter(|case| !case.is_negative() && case.is_accepted);
    let accused: Vec<String> = lawful
        .clone()
        .filter(|case| case.expect.is_accepted())
        .filter(|case| case.found.iter().any(|clause| !OF_SENDERS.contains(&clause.as_str())))
        .map(Case::line)
        .collect();
    assert!(lawful.count() > 1000, "lawful requests");
    assert_eq!(accused, Vec::<String>::new(), "lawful clients are accused");
    assert_eq!(measured.bank, BTreeMap::new(), "a lawful bank is accused");

    let negative: Vec<&Case> = measured.cases.iter().filter(|case| case.is_negative()).collect();
    let (hidden, told): (Vec<&Case>, Vec<&Case>) =
        negative.iter().copied().partition(|case| case.cannot_be_told());
    let found = told.iter().filter(|case| case.is_found()).count();
    let others: Vec<String> = told.iter().filter(|case| !case.is_found()).map(|case| case.line()).collect();
    let not_told: Vec<String> = hidden.iter().map(|case| case.line()).collect();
    println!("{found} of {} found, {} cannot be told:\n{}", told.len(), hidden.len(), not_told.join("\n"));
    println!("others:\n{}", others.join("\n"));
    assert!(told.len() > 1000, "{}", told.len());
    assert!(found * 100 >= told.len() * 99, "{found} of {}:\n{}", told.len(), others.join("\n"));
    // A client does not err by adding a payment to a basket if the bank later rejected that payment.
    let is_rejected = |case: &&&Case| case.id.starts_with("basket.status.worst/with-a-rejected-payment/");
    let rejected: Vec<&&Case> = negative.iter().filter(is_rejected).collect();
    assert!(!rejected.is_empty());
    for case in rejected {
        assert!(case.found.is_empty() && case.is_found(), "{}", case.line());
    }
    // Only the bank knows its customers and payments. Nothing else stays undetected.
    assert!(hidden.len() * 20 <= negative.len(), "{}", not_told.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lawful_bank_of_any_style_is_not_accused() {
    are_not_accused(Depth::Quick).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a minute with optimisation"]
async fn a_lawful_bank_of_any_style_is_not_accused_whatever_it_is_asked() {
    are_not_accused(Depth::Standard).await;
}

async fn are_not_accused(depth: Depth) {
    for style in ["strict", "lenient", "other"] {
        is_not_accused(style, depth).await;
    }
}

/// Asserts that neither a bank of this style nor its conforming client is accused.
async fn is_not_accused(style: &str, depth: Depth) {
    let measured = measure(BankVariant::Style(style.parse().unwrap()), depth, &[]).await;
    assert_eq!(measured.bank, BTreeMap::new());
    let accused: Vec<String> = measured
        .cases
        .iter()
        .filter(|case| case.is_accepted && case.expect.is_accepted() && !case.found.is_empty())
        .map(Case::line)
        .collect();
    assert_eq!(accused, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_with_a_fault_is_accused_under_its_clause() {
    for (fault, clause) in [
        ("periodic.months.duplicate/only-adjacent", "periodic.months.duplicate"),
        ("basket.mix/first-payment-only", "basket.mix"),
        ("basket.mix/status-422", "basket.mix"),
        ("basket.mix/other-code", "basket.mix"),
        ("error.corporate-id/forbidden", "error.corporate-id"),
    ] {
        let areas = ["periodic", "baskets", "errors", "headers"];
        let measured = measure(BankVariant::Fault(fault.parse().unwrap()), Depth::Standard, &areas).await;
        assert!(measured.cases.len() > 500, "{}", measured.cases.len());
        let clauses: Vec<&str> =
            measured.bank.keys().map(|found| found.split(':').next().unwrap_or_default()).collect();
        assert!(!clauses.is_empty() && clauses.iter().all(|found| *found == clause), "{fault}: {clauses:?}");
    }
}
