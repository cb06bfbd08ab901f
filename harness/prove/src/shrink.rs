//! Shrinks a request to the smallest one that reveals the same violation.

use xs2aspec_judge::Done;
use xs2aspec_record::Finding;
use xs2aspec_runner::Runner;
use xs2aspec_suite::{Case, Expectation, Suite};

use crate::violation::DrawnRequest;

/// The kind of violation that a smaller request must reveal as well.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wrong<'a> {
    /// A valid request is rejected, whatever the clause of its last change.
    Refusal,
    /// A clause is violated.
    Clause(&'a str),
}

impl<'a> Wrong<'a> {
    fn new(case: &Case, finding: &'a Finding) -> Self {
        let is_own = finding.at == "status" && finding.clause == case.clause;
        if is_own && case.expect == Expectation::Accepted {
            Self::Refusal
        } else {
            Self::Clause(&finding.clause)
        }
    }
}

/// Returns the smallest request that reveals the same violation, within the runner's limit, and its result.
/// Returns None if the violation does not recur.
pub(crate) async fn shrink(
    suite: &Suite,
    runner: &Runner,
    first: DrawnRequest,
) -> Option<(DrawnRequest, Done)> {
    let plain = first.case.control.as_deref().and_then(|id| suite.case(id));
    let ask = async |mut request: DrawnRequest| {
        request.case.id = format!("explore/shrink/{}", runner.exchanges());
        let done = runner.run(&request.case).await;
        (request, done)
    };
    let (mut best, mut shown) = ask(first).await;
    shown.verdict.by_findings()?;
    let (case, findings) = (best.case.clone(), shown.verdict.findings.clone());
    let before: Vec<Wrong<'_>> = findings.iter().map(|finding| Wrong::new(&case, finding)).collect();
    let mut is_smaller = true;
    while is_smaller && runner.exchanges_left() > 0 {
        is_smaller = false;
        for combination in xs2aspec_generate::smaller(&best.combination) {
            let Some(request) = DrawnRequest::new(combination, suite, plain) else { continue };
            let (request, done) = ask(request).await;
            let findings = &done.verdict.findings;
            let is_same = findings.iter().any(|one| before.contains(&Wrong::new(&request.case, one)));
            if is_same {
                (best, shown, is_smaller) = (request, done, true);
                break;
            }
            if runner.exchanges_left() == 0 {
                break;
            }
        }
    }
    Some((best, shown))
}
