//! Unavailable: 502, 503 and 504 may be of a gateway, and say something about a target only if they repeat.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use xs2aspec_record::{Header, Response};
use xs2aspec_suite::{Case, Expectation, RequestSpec};

use super::{fresh_ids::others, still_accepting::StillAccepting};
use crate::{
    Judge,
    answer::Answer,
    case::Answered,
    judge::{self, Outcome},
    stop::{Stop, Way},
    trail::Trail,
    view::View,
};

/// Statuses that a gateway sends instead of the target (RFC 9110 sections 15.6.3 to 15.6.5). They say
/// something about the target only if they repeat.
pub(super) const UNAVAILABLE: [u16; 3] = [502, 503, 504];

/// Returns true if a response may be one of a gateway. A target that names its limits, or a time to come
/// back, responds itself.
fn is_of_gateway(response: &Response) -> bool {
    let names_limit = |name: &str| name == "retry-after" || name.contains("ratelimit");
    let mut names = response.headers.iter().map(|Header(name, _)| name.to_ascii_lowercase());
    UNAVAILABLE.contains(&response.status) && !names.any(|name| names_limit(&name))
}

impl Judge {
    /// Returns why a case that passed is flaky, if it is: a valid request was served only when it was sent
    /// again.
    pub(crate) fn flaky(&self, case: &Case, view: &View) -> Option<String> {
        let expect = judge::by_choice(&case.expect, self.levels().choice(&case.clause));
        if !matches!(expect, Expectation::Accepted | Expectation::Shows(_)) {
            return None;
        }
        let mut responses = view.exchanges().filter_map(|exchange| exchange.response.as_ref());
        let status = responses.find(|response| is_of_gateway(response))?.status;
        Some(format!("it got {status}, which may be of a gateway, and was served when it was sent again"))
    }

    /// Sends a request that makes or deletes something again, with other ids and amounts, if a gateway may
    /// have responded to it. What the target accepts then it accepts. Another response may be due to the
    /// first request, which the target may have served all the same.
    pub(crate) fn once_available(
        &self,
        case: &Case,
        (step, request): (&str, &Arc<RequestSpec>),
        kept: &Arc<BTreeMap<String, Value>>,
        trail: &mut Trail<'_>,
        first: Answered,
    ) -> Way<Answered> {
        let mut last = first;
        for step in others(step) {
            // A record of a run that was interrupted may end here.
            let is_asked = UNAVAILABLE.contains(&last.0.status)
                && trail.last.is_some_and(|seen| seen.waits)
                && trail.can_ask(&case.id, &step);
            if !is_asked {
                return Ok(last);
            }
            let before = last.0.status;
            last = self.exchange(case, &step, request, kept, trail)?;
            let is_held_to_it = !matches!(case.expect, Expectation::Observed | Expectation::Choice(_));
            let is_open = last.1.outcome == Outcome::Busy || UNAVAILABLE.contains(&last.0.status);
            if is_held_to_it && last.1.outcome != Outcome::Accepted && !is_open {
                let words = &last.1.words;
                let reason = format!("it got {before}, then {words} for the same with other values");
                return Err(Stop::inconclusive(reason).into());
            }
        }
        Ok(last)
    }

    /// Resends a request that got 502, 503 or 504, twice, and its plain request before each time. A
    /// target that accepts those is there and not overloaded. So three such responses to the request are its
    /// own. What must be accepted is not sent again: it may have been made.
    pub(crate) fn exchange_unavailable(
        &self,
        case: &Case,
        (expect, kept): (&Expectation, &Arc<BTreeMap<String, Value>>),
        trail: &mut Trail<'_>,
        first: Answered,
    ) -> Way<Answered> {
        let is_unavailable = |answer: &Answer| UNAVAILABLE.contains(&answer.status);
        if !(is_unavailable(&first.0) && matches!(expect, Expectation::Refused(_) | Expectation::Answered)) {
            return Ok(first);
        }
        let plain = self.plain(&case.id);
        let mut last = first;
        for step in ["request/after-plain-2", "request/after-plain-3"] {
            // What a record has of it was asked because the plain request was accepted.
            if !trail.can_ask(&case.id, step) {
                return Ok(last);
            }
            let doubt = StillAccepting::at_once(&plain, &format!("{step}/{}", case.id));
            if self.still_accepting(doubt, trail)?.is_some_and(|again| again.refused.is_some()) {
                last.1.outcome = Outcome::Busy;
                return Ok(last);
            }
            last = self.exchange(case, step, case.request.whole(), kept, trail)?;
            if !is_unavailable(&last.0) {
                return Ok(last);
            }
        }
        last.1.outcome = Outcome::ServerError;
        last.1.words.push_str(" three times, while the plain request is accepted");
        Ok(last)
    }
}
