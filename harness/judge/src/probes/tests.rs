//! Hand-written views: each row gives the responses to some steps and the resulting need or verdict.

use std::sync::{Arc, LazyLock};

use xs2aspec_record::{Body, Came, CaseVerdict, Exchange, Header, Request, Response, Verdict};
use xs2aspec_suite::{Case, Suite, Tree};

use crate::{
    Judge, Known, Need, Profile, Question, Seen, View,
    answer::{ExchangeError, Trouble},
    blank::left_in_doubt,
    identity::Identity,
    known::values,
    question::Again,
    question::{Doubt, Found, Swap},
};

/// A judge of the embedded suite, with the profile of the reference bank.
pub(crate) static JUDGE: LazyLock<Judge> = LazyLock::new(|| {
    let suite = Arc::new(Suite::load(Tree::embedded()).unwrap());
    let profile = Profile::reference("http://127.0.0.1:1").unwrap().authorize(false).unwrap();
    Judge::new(suite, profile, Identity::reproducible(1)).unwrap()
});

/// The body of a response that created a payment.
pub(crate) const PAYMENT: &str = r#"{"paymentId":"p-1","transactionStatus":"RCVD"}"#;

/// The response to a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Got {
    /// A response with this status and its usual body.
    Status(u16),
    /// A response with this status and body.
    Body(u16, &'static str),
    /// The connection broke.
    Broken,
    /// The result of resending the baseline request: accepted, or rejected with this status.
    Again(Option<u16>),
}

/// Returns a case of the embedded suite.
pub(crate) fn case(id: &str) -> &'static Case {
    JUDGE.suite().case(id).unwrap_or_else(|| panic!("no case {id}"))
}

/// Returns the knowledge about a target that accepted all controls of a case and knows the profile values.
pub(crate) fn accepting(id: &str) -> Known {
    let mut known = Known::default();
    for value in values(case(id)) {
        for swap in [Swap::Alone, Swap::Together] {
            known.add_found(Doubt { value: value.clone(), swap, is_rejected: true }, Found::Known);
        }
    }
    let mut next = case(id).control.clone();
    while let Some(control) = next {
        let exchange = exchange(1, &control, "request", Some(response(201, PAYMENT)));
        let verdict = CaseVerdict {
            verdict: Verdict::Pass,
            reason: None,
            exchange: Some(1),
            ..left_in_doubt(case(&control))
        };
        known.keep(&JUDGE, &verdict, Some(&exchange));
        next = case(&control).control.clone();
    }
    known
}

/// Returns the next need or the verdict after these steps, with the kinds of its findings. The target
/// accepted all controls of the case.
pub(crate) fn after(id: &str, steps: &[(&str, Got)]) -> String {
    with(id, steps, &accepting(id))
}

/// Returns the same with given knowledge about the target.
pub(crate) fn with(id: &str, steps: &[(&str, Got)], known: &Known) -> String {
    told(JUDGE.case(case(id), &view(id, steps), known).map(|done| {
        let kinds = done.verdict.findings.iter().map(|finding| format!(" {:?}", finding.kind));
        format!("{}{}", done.verdict.verdict.word(), kinds.collect::<String>())
    }))
}

/// Renders a need or a result.
pub(crate) fn told(judged: Result<String, Need>) -> String {
    match judged {
        Ok(answer) => answer,
        Err(Need::Requests(probes)) => {
            let steps = probes.iter().map(|probe| {
                let pause = if probe.pause.is_zero() { "" } else { " later" };
                format!("{}{pause}", probe.recorded.1)
            });
            format!("send {}", steps.collect::<Vec<_>>().join(" + "))
        }
        Err(Need::Answer(Question::StillAccepting(question))) => format!("again {}", question.plain),
        Err(Need::Answer(Question::Case(id))) => format!("case {id}"),
        Err(Need::Answer(Question::Capability(need))) => format!("capability {need}"),
        Err(Need::Answer(Question::Doubt(Doubt { value, swap, .. }, _))) => {
            format!("doubt {value} {}", swap.word())
        }
        Err(Need::Answer(Question::Named(_))) => "named".to_owned(),
    }
}

/// Returns the view of a case with these steps.
pub(crate) fn view(id: &str, steps: &[(&str, Got)]) -> View {
    let mut view = View::open(true);
    for (number, (step, got)) in (10..).zip(steps) {
        let answered = |status, body| (Some(response(status, body)), None);
        let (response, failure) = match got {
            Got::Again(refused) => {
                let refused = refused.map(|status| Came::Got(xs2aspec_record::Got::status(status)));
                view.add_again((*step).to_owned(), Again { refused, ..Again::default() });
                continue;
            }
            Got::Status(status @ 200..=299) => answered(*status, PAYMENT),
            Got::Status(status) => answered(*status, ""),
            Got::Body(status, body) => answered(*status, body),
            Got::Broken => (None, Some(ExchangeError::Broken(Trouble::from("reset")))),
        };
        let mut seen = Seen::recorded(exchange(number, id, step, response));
        seen.failure = failure;
        view.add(seen);
    }
    view
}

fn response(status: u16, body: &str) -> Response {
    let json = Header("Content-Type".to_owned(), "application/json".to_owned());
    let body = Some(Body::Text(body.to_owned())).filter(|_| !body.is_empty());
    Response { status, headers: vec![json], body }
}

fn exchange(number: u64, case: &str, step: &str, response: Option<Response>) -> Exchange {
    let request = Request { method: "POST".into(), url: "/".into(), headers: vec![], body: None };
    Exchange {
        number,
        case: case.to_owned(),
        look: None,
        step: step.to_owned(),
        operation: None,
        attempt: 1,
        request,
        failure: response.is_none().then(|| "reset".to_owned()),
        response,
        at: 0,
        micros: 1,
    }
}
