//! The items of the plan that an exchange shows before its values are masked.

use xs2aspec_record::{Body, End, Exchange, Header, Observation, Request, Response};
use xs2aspec_suite::Suite;

use crate::{
    client::{
        condition::Holds,
        plan::{Plan, ShownBy},
    },
    traffic::{Judged, Payload, Traffic},
};

/// Returns an observation that lists the plan items which only the unmasked exchange shows. Returns None if
/// the plan is empty or the request belongs to no operation.
pub fn shown(plan: &Plan, traffic: &Traffic, judged: &Judged, suite: &Suite) -> Option<Observation> {
    if plan.items.is_empty() || judged.operation.is_none() {
        return None;
    }
    let masks = &suite.spec().masks;
    let is_masked = |name: &str| masks.hides_header(name) || masks.is_personal_header(name);
    let exchange = exchange(traffic, judged);
    let shows = |shown_by: &ShownBy| match shown_by {
        ShownBy::Exchange(condition) => {
            condition.looks_at_header(&is_masked) && condition.holds(&exchange, suite.answers()) == Holds::Yes
        }
        _ => false,
    };
    let items = plan.items.iter().filter(|item| shows(&item.shown_by)).map(|item| item.id.clone());
    let is_unreadable = judged.not_told.iter().any(|told| told.end == End::Client);
    Some(Observation::Shows { items: items.collect(), is_unreadable })
}

fn exchange(traffic: &Traffic, judged: &Judged) -> Exchange {
    let headers = |fields: &[(String, String)]| {
        fields.iter().map(|(name, value)| Header(name.clone(), value.clone())).collect()
    };
    let body = |payload: &Payload| payload.bytes().and_then(Body::of);
    let Traffic { request, answer, .. } = traffic;
    Exchange {
        number: traffic.number,
        case: String::new(),
        step: String::new(),
        look: None,
        operation: judged.operation.clone(),
        attempt: 1,
        request: Request {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: headers(&request.headers),
            body: body(&request.body),
        },
        response: answer.as_ref().map(|answer| Response {
            status: answer.status,
            headers: headers(&answer.headers),
            body: body(&answer.body),
        }),
        failure: traffic.failure.clone(),
        at: 0,
        micros: traffic.micros,
    }
}
