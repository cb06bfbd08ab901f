//! Unavailable: a 502, 503 or 504 may come from a gateway, so it counts against a target only if it repeats.

use xs2aspec_record::{Header, Reason, Response};
use xs2aspec_suite::{Case, Expectation};

use super::{eventually_visible::removes, fresh_ids::others};
use crate::{
    Judge,
    answer::Answer,
    done::Answered,
    judge::{self, Outcome, UNAVAILABLE},
    question::StillAccepting,
    step::Step,
    stop::{Stop, Way},
    trail::Trail,
};

/// Returns true if a response may come from a gateway. A response with rate limit headers or a Retry-After
/// comes from the target itself.
fn is_of_gateway(response: &Response) -> bool {
    let names_limit = |name: &str| name == "retry-after" || name.contains("ratelimit");
    let mut names = response.headers.iter().map(|Header(name, _)| name.to_ascii_lowercase());
    UNAVAILABLE.contains(&response.status) && !names.any(|name| names_limit(&name))
}

impl Judge {
    /// Returns the reason why a passed case is flaky: its valid request was served only on a retry. Returns
    /// None if it is not flaky.
    pub(crate) fn flaky(&self, case: &Case, trail: &Trail<'_>) -> Option<Reason> {
        let expect = judge::by_choice(&case.expect, self.levels().choice(&case.clause));
        if !matches!(expect, Expectation::Accepted | Expectation::Shows(_)) {
            return None;
        }
        if let Some(got) = &trail.remarks.rejected_once {
            return Some(Reason::RejectedOnce { got: got.clone() });
        }
        let mut responses = trail.exchanges().filter_map(|exchange| exchange.response.as_ref());
        let status = responses.find(|response| is_of_gateway(response))?.status;
        Some(Reason::ServedAgain { status })
    }

    /// Resends a request that creates or deletes something, with other ids and amounts, if the response may
    /// come from a gateway. An acceptance counts. A rejection may be an effect of the first request, which
    /// the target may have served anyway. It counts only if it repeats and the request does not depend on
    /// earlier ones.
    pub(crate) fn once_available(
        &self,
        step: Step<'_>,
        trail: &mut Trail<'_>,
        first: Answered,
    ) -> Way<Answered> {
        // Whatever the first request created is independent of a request with other ids and amounts, unless
        // both refer to resources of the setup.
        let is_apart = !removes(step.request) && step.case.before.is_empty();
        let is_held_to_it = !matches!(step.case.expect, Expectation::Observed | Expectation::Choice(_));
        let (mut got, mut last, mut rejected) = (vec![first.1.got.clone()], first, None);
        for name in others(step.name) {
            // The history of an interrupted run may end here.
            let may_pass =
                UNAVAILABLE.contains(&last.0.status) && trail.last().is_some_and(|seen| seen.waits);
            if !(may_pass || rejected.is_some()) || !trail.can_ask(&step.case.id, &name) {
                break;
            }
            last = self.exchange(step.named(&name), trail)?;
            got.push(last.1.got.clone());
            let is_open = last.1.outcome == Outcome::Busy || UNAVAILABLE.contains(&last.0.status);
            if is_held_to_it && is_apart && last.1.outcome == Outcome::Refused {
                if rejected.as_ref() == Some(&last.1.got) {
                    return Ok(last);
                }
                rejected = Some(last.1.got.clone());
                continue;
            }
            if is_held_to_it && last.1.outcome != Outcome::Accepted && !is_open {
                return Err(Stop::inconclusive(Reason::Unsteady { got }).into());
            }
        }
        match rejected {
            Some(_) => Err(Stop::inconclusive(Reason::Unsteady { got }).into()),
            None => Ok(last),
        }
    }

    /// Resends a request that got a 502, 503 or 504 twice, each time after its baseline request. If the
    /// target accepts those, it is neither down nor overloaded, so three such responses count as its own. A
    /// request that must be accepted is not resent here, because it may have created something.
    pub(crate) fn exchange_unavailable(
        &self,
        expect: &Expectation,
        step: Step<'_>,
        trail: &mut Trail<'_>,
        first: Answered,
    ) -> Way<Answered> {
        let is_unavailable = |answer: &Answer| UNAVAILABLE.contains(&answer.status);
        if !(is_unavailable(&first.0) && matches!(expect, Expectation::Refused(_) | Expectation::Answered)) {
            return Ok(first);
        }
        let case = &step.case.id;
        let plain = self.plain(case);
        let mut last = first;
        for name in ["request/after-plain-2", "request/after-plain-3"] {
            // In a history these requests exist only because the baseline request was accepted.
            if !trail.can_ask(case, name) {
                return Ok(last);
            }
            let doubt = StillAccepting::at_once(&plain, &format!("{name}/{case}"));
            if self.is_accepted_no_more(doubt, trail)? {
                last.1.outcome = Outcome::Busy;
                return Ok(last);
            }
            last = self.exchange(step.named(name), trail)?;
            if !is_unavailable(&last.0) {
                return Ok(last);
            }
        }
        last.1.outcome = Outcome::ServerError;
        last.1.got.is_repeated = true;
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use crate::probes::tests::{
        Got::{self, Again, Status},
        after,
    };

    const INVALID: &str = "ncbct.creditor-name.length/creditorName/one-more";
    const VALID: &str = "ncbct.creditor-name.length/creditorName/words";
    const ASKED: [&str; 2] = [
        "request/after-plain-2/ncbct.creditor-name.length/creditorName/one-more",
        "request/after-plain-3/ncbct.creditor-name.length/creditorName/one-more",
    ];

    #[test]
    fn an_invalid_request_is_sent_three_times_between_its_plain_request() {
        let all = [
            ("request", Status(503)),
            (ASKED[0], Again(None)),
            ("request/after-plain-2", Status(502)),
            (ASKED[1], Again(None)),
            ("request/after-plain-3", Status(504)),
        ];
        for (kept, expected) in [
            (1, "again ncbct.path/plain"),
            (2, "send request/after-plain-2"),
            (3, "again ncbct.path/plain"),
            (4, "send request/after-plain-3"),
            (5, "fail ServerError NotRejected"),
        ] {
            assert_eq!(after(INVALID, &all[..kept]), expected, "{kept}");
        }
        let rejected = ("request/after-plain-2", Status(400));
        assert_eq!(after(INVALID, &[all[0], all[1], rejected]), "pass");
        assert_eq!(after(INVALID, &[all[0], (ASKED[0], Again(Some(503)))]), "inconclusive");
    }

    #[test]
    fn what_makes_something_is_sent_again_with_fresh_ids() {
        let steps = ["request", "request/other-values-2", "request/other-values-3"];
        for (statuses, expected) in [
            (&[503][..], "send request/other-values-2"),
            (&[503, 201], "flaky"),
            (&[503, 502], "send request/other-values-3"),
            (&[503, 502, 201], "flaky"),
            (&[503, 503, 503], "inconclusive"),
            (&[504, 504, 504], "fail ServerError NotAccepted"),
        ] {
            let got: Vec<(&str, Got)> =
                steps.into_iter().zip(statuses.iter().map(|it| Status(*it))).collect();
            assert_eq!(after(VALID, &got), expected, "{statuses:?}");
        }
    }

    #[test]
    fn nothing_is_asked_after_a_response_of_the_bank() {
        for (case, got, expected) in [
            (INVALID, Status(400), "pass"),
            (INVALID, Status(500), "fail ServerError NotRejected"),
            (INVALID, Status(429), "inconclusive"),
            (VALID, Status(201), "pass"),
        ] {
            assert_eq!(after(case, &[("request", got)]), expected, "{case} {got:?}");
        }
    }
}
