//! Fresh ids: resends a rejected valid request with other ids and amounts, because a bank may have treated
//! the first ones as a duplicate.

use xs2aspec_record::Reason;

use crate::{
    Judge,
    done::Answered,
    fill::OTHER_VALUES,
    judge::{Outcome, UNAVAILABLE},
    probe::Values,
    step::Step,
    stop::{Caught as _, Stop, Way},
    trail::Trail,
};

/// Returns the names of two repetitions of a step with other values.
pub(super) fn others(step: &str) -> impl Iterator<Item = String> {
    [2, 3].into_iter().map(move |number| format!("{step}{OTHER_VALUES}{number}"))
}

impl Judge {
    /// Sends a step that the target must accept, and confirms a rejection.
    pub(crate) fn exchange_confirmed(&self, step: Step<'_>, trail: &mut Trail<'_>) -> Way<Answered> {
        let first = match self.exchange(step, trail).caught()? {
            Ok(first) => first,
            Err(lost) => self.over_another_connection(step, trail, lost)?,
        };
        self.confirmed(step, trail, first)
    }

    /// Confirms the rejection of a request that the target must accept. Resends it with other ids and
    /// amounts, because the target may have treated the first ones as a duplicate. Two acceptances count as
    /// accepted, and one is inconclusive. Responses that may come from a gateway do not count.
    pub(crate) fn confirmed(&self, step: Step<'_>, trail: &mut Trail<'_>, first: Answered) -> Way<Answered> {
        // The transport has already retried an unavailable GET.
        let is_unavailable = first.1.outcome == Outcome::Busy || UNAVAILABLE.contains(&first.0.status);
        if is_unavailable && step.request.method != "GET" {
            return self.once_available(step, trail, first);
        }
        // 429 says nothing about the request (RFC 6585 section 4). Resending a rejected call would use up
        // more of a quota. A read after other requests may be rejected because of them, and they are not
        // repeated.
        let is_after_others = step.request.method == "GET" && !step.case.before.is_empty();
        let is_final = first.0.status == 429 || trail.calls_before.is_some() || is_after_others;
        if !first.1.outcome.is_refusal() || is_final {
            return Ok(first);
        }
        let (mut got, mut last, mut accepted) = (vec![first.1.got.clone()], first, 0);
        for name in others(step.name) {
            // The history of an interrupted run may end here.
            if !trail.can_ask(&step.case.id, &name) {
                return Ok(last);
            }
            let next = self.exchange(step.named(&name), trail)?;
            got.push(next.1.got.clone());
            if next.1.outcome == Outcome::Accepted {
                accepted += 1;
            } else if accepted == 0 && !UNAVAILABLE.contains(&next.0.status) {
                return Ok(next);
            }
            last = next;
        }
        if accepted < 2 {
            return Err(Stop::inconclusive(Reason::Unsteady { got }).into());
        }
        trail.accepted_with = Values::Others;
        trail.remarks.rejected_once = got.into_iter().next();
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use crate::probes::tests::{
        Got::{self, Status},
        after,
    };

    const VALID: &str = "ncbct.creditor-name.length/creditorName/words";
    const STEPS: [&str; 3] = ["request", "request/other-values-2", "request/other-values-3"];

    #[test]
    fn a_rejected_valid_request_is_sent_again_with_fresh_ids() {
        for (statuses, expected) in [
            (&[400][..], "send request/other-values-2"),
            (&[400, 400], "fail NotAccepted"),
            (&[400, 201], "send request/other-values-3"),
            (&[400, 201, 201], "flaky"),
            (&[400, 201, 400], "inconclusive"),
            (&[400, 503], "send request/other-values-3"),
        ] {
            let got: Vec<(&str, Got)> =
                STEPS.into_iter().zip(statuses.iter().map(|it| Status(*it))).collect();
            assert_eq!(after(VALID, &got), expected, "{statuses:?}");
        }
    }

    #[test]
    fn nothing_is_sent_again_where_the_first_response_says_it() {
        assert_eq!(after(VALID, &[]), "send request");
        for (got, expected) in [
            (Status(201), "pass"),
            (Status(500), "fail ServerError NotAccepted"),
            (Status(429), "inconclusive"),
            (Status(302), "fail NotAccepted"),
        ] {
            assert_eq!(after(VALID, &[("request", got)]), expected, "{got:?}");
        }
        // An invalid request is expected to be rejected.
        let invalid = "ncbct.creditor-name.length/creditorName/one-more";
        assert_eq!(after(invalid, &[("request", Status(400))]), "pass");
        assert_eq!(after(invalid, &[("request", Status(201))]), "fail NotRejected");
    }
}
