//! Fresh ids: the rejection of a valid request is confirmed with other ids and amounts, since a bank may have
//! taken the first ones for a repetition.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use xs2aspec_suite::{Case, RequestSpec};

use super::unavailable::UNAVAILABLE;
use crate::{
    Judge,
    case::Answered,
    fill::OTHER_VALUES,
    judge::Outcome,
    stop::{Stop, Way},
    trail::{Trail, Values},
};

/// The names of a step that is asked twice more with other values.
pub(super) fn others(step: &str) -> impl Iterator<Item = String> {
    [2, 3].into_iter().map(move |number| format!("{step}{OTHER_VALUES}{number}"))
}

impl Judge {
    /// Sends a step that the target must accept, and confirms a rejection.
    pub(crate) fn exchange_confirmed(
        &self,
        case: &Case,
        step: &str,
        request: &Arc<RequestSpec>,
        kept: &Arc<BTreeMap<String, Value>>,
        trail: &mut Trail<'_>,
    ) -> Way<Answered> {
        let first = self.exchange(case, step, request, kept, trail)?;
        self.confirmed(case, (step, request), kept, trail, first)
    }

    /// Confirms the rejection of a request that the target must accept. It is sent again with other ids and
    /// amounts: the target may have taken the first for a repetition. What it accepts twice then it accepts.
    /// One acceptance says nothing. A response that may be of a gateway says nothing either.
    pub(crate) fn confirmed(
        &self,
        case: &Case,
        (step, request): (&str, &Arc<RequestSpec>),
        kept: &Arc<BTreeMap<String, Value>>,
        trail: &mut Trail<'_>,
        first: Answered,
    ) -> Way<Answered> {
        // The transport has repeated a GET for which there was no time.
        let is_unavailable = first.1.outcome == Outcome::Busy || UNAVAILABLE.contains(&first.0.status);
        if is_unavailable && request.method != "GET" {
            return self.once_available(case, (step, request), kept, trail, first);
        }
        // 429 says nothing about the request (RFC 6585 section 4). A rejected call of a quota would use up
        // another one. What is read after other requests may be rejected because of them, and they are not
        // repeated.
        let is_after_others = request.method == "GET" && !case.before.is_empty();
        let is_final = first.0.status == 429 || trail.calls_before.is_some() || is_after_others;
        if !first.1.outcome.is_refusal() || is_final {
            return Ok(first);
        }
        let refused = first.1.words.clone();
        let (mut last, mut got, mut accepted) = (first, refused.clone(), 0);
        for step in others(step) {
            // A record of a run that was interrupted may end here.
            if !trail.can_ask(&case.id, &step) {
                return Ok(last);
            }
            let next = self.exchange(case, &step, request, kept, trail)?;
            got = format!("{got}, then {}", next.1.words);
            if next.1.outcome == Outcome::Accepted {
                accepted += 1;
            } else if accepted == 0 && !UNAVAILABLE.contains(&next.0.status) {
                return Ok(next);
            }
            last = next;
        }
        if accepted < 2 {
            let reason = format!("it got {got} for the same with other values");
            return Err(Stop::inconclusive(reason).into());
        }
        trail.accepted_with = Values::Others;
        trail
            .remarks
            .passing
            .push(format!("got {refused} once, and acceptance twice when it had other values"));
        Ok(last)
    }
}
