//! Broken connection: resends a request without a complete response over new connections, alternating with
//! its baseline request.

use std::sync::Arc;

use xs2aspec_record::{CaseVerdict, Finding, Mismatch, Reason, Verdict};
use xs2aspec_suite::Expectation;

use super::{fresh_ids::others, still_accepting::apart};
use crate::{
    Judge,
    answer::ExchangeError,
    done::Answered,
    judge::{ACCEPTANCE, REFUSAL},
    probe::Judged,
    question::StillAccepting,
    step::Step,
    stop::{Caught, Stop, Way},
    trail::Trail,
};

/// Length of a request that every server in front of a bank accepts. Servers limit a header section to 8 KiB
/// or more (RFC 9110 section 5.4 gives no limit).
const USUAL_LENGTH: usize = 8 * 1024;

/// The response to a request that was resent over new connections, or the error that no attempt got one.
type Resent = Result<Answered, Box<Reason>>;

impl Judge {
    /// Judges a request without a complete response. If the target closes the connection each time but
    /// accepts the control, the clause of the case is violated. A response over a new connection counts.
    pub(crate) fn no_answer(
        &self,
        expect: &Expectation,
        own: Step<'_>,
        verdict: &mut CaseVerdict,
        (stop, trail): (Stop, &mut Trail<'_>),
    ) -> Way<Resent> {
        let case = own.case;
        let asked = trail.last_exchange().filter(|last| last.step == "request");
        let is_usual =
            !case.request.exact && asked.is_some_and(|asked| asked.request.length() <= USUAL_LENGTH);
        let expected = match expect {
            Expectation::Accepted | Expectation::Shows(_) => Some(ACCEPTANCE),
            // A server in front of a bank may close a connection on a malformed or oversized request.
            Expectation::Refused(_) if is_usual => Some(REFUSAL),
            _ => None,
        };
        let is_accepted = verdict.control.as_ref().is_some_and(|control| control.accepted);
        let asked = asked.map(|asked| asked.number);
        let had_its_own = case.request.exact && expected.is_none();
        if stop.verdict != Verdict::Error || !is_accepted || asked.is_none() || had_its_own {
            return Err(stop.into());
        }
        let (reason, expected) = match (self.unanswered(own, trail)?, expected) {
            (Some(Err(reason)), Some(expected)) => (reason, expected),
            (Some(answered @ Ok(_)), _) => return Ok(answered),
            _ => return Err(stop.into()),
        };
        verdict.exchange = asked;
        verdict.verdict = Verdict::Fail;
        verdict.checks += 1;
        verdict.findings =
            vec![Finding::new(&case.clause, Mismatch::NoResponse, "status", expected, reason.to_string())];
        Ok(Err(reason))
    }

    /// Resends a setup request with other ids and amounts if its connection closed before a response. A
    /// server may close an idle connection at any time (RFC 9112 section 9.5).
    pub(crate) fn over_another_connection(
        &self,
        step: Step<'_>,
        trail: &mut Trail<'_>,
        mut lost: Stop,
    ) -> Way<Answered> {
        let is_lost = |trail: &Trail<'_>| {
            let seen = trail.last().filter(|seen| matches!(seen.failure, Some(ExchangeError::Broken(_))));
            seen.and_then(|seen| seen.exchanges.last()).is_some_and(|last| last.response.is_none())
        };
        let makes_something = step.request.method == "POST" && step.name != "request";
        for name in others(step.name).filter(|_| makes_something) {
            if !is_lost(trail) || !trail.can_ask(&step.case.id, &name) {
                break;
            }
            match self.exchange(step.named(&name), trail).caught()? {
                Ok(answered) => return Ok(answered),
                Err(next) => lost = next,
            }
        }
        Err(lost.into())
    }

    /// Resends a request without a complete response twice over new connections, each time after its baseline
    /// request. If the target accepts the baseline request each time but closes the connection on this one,
    /// the request is the cause. A server may close an idle connection at any time (RFC 9112 section 9.5), so
    /// a response over a new connection counts. Returns None if the result is unclear.
    fn unanswered(&self, step: Step<'_>, trail: &mut Trail<'_>) -> Judged<Option<Resent>> {
        let failure = trail.last().and_then(|seen| seen.failure.as_ref());
        let is_broken = matches!(failure, Some(ExchangeError::Broken(_)));
        // In a history these requests exist only because the connection broke.
        if trail.view.is_open() && !(is_broken && self.asks_again()) {
            return Ok(None);
        }
        let case = &step.case.id;
        let plain = self.plain(case);
        let request = &Arc::new(apart(step.request));
        let mut failure = None;
        for name in ["request/unanswered-2", "request/unanswered-3"] {
            if !trail.can_ask(case, name) {
                return Ok(None);
            }
            // The connection of that request may have been closed as well.
            let mark = format!("{name}/{case}");
            let doubt = StillAccepting::at_once(&plain, &mark);
            let apart_doubt = StillAccepting::at_once(&plain, &format!("apart/{mark}"));
            let apart_doubt = StillAccepting { is_apart: true, ..apart_doubt };
            if self.is_accepted_no_more(doubt, trail)? && self.is_accepted_no_more(apart_doubt, trail)? {
                return Ok(None);
            }
            if let Ok(answered) = self.exchange(Step { name, request, ..step }, trail).caught()? {
                return Ok(Some(Ok(answered)));
            }
            let last = trail.last_exchange();
            failure = last.filter(|last| last.step == name).and_then(|last| last.failure.clone());
            if failure.is_none() {
                return Ok(None);
            }
        }
        Ok(failure.map(|failure| Err(Box::new(Reason::NoResponseThreeTimes { failure }))))
    }
}

#[cfg(test)]
mod tests {
    use crate::Known;
    use crate::probes::tests::Got::{Again, Broken, Status};
    use crate::probes::tests::{accepting, after, with};

    const INVALID: &str = "ncbct.creditor-name.length/creditorName/one-more";
    const SECOND: &str = "request/unanswered-2/ncbct.creditor-name.length/creditorName/one-more";
    const THIRD: &str = "request/unanswered-3/ncbct.creditor-name.length/creditorName/one-more";
    const APART: &str = "apart/request/unanswered-2/ncbct.creditor-name.length/creditorName/one-more";

    #[test]
    fn a_request_that_breaks_the_connection_each_time_is_held_against_the_bank() {
        let all = [
            ("request", Broken),
            (SECOND, Again(None)),
            ("request/unanswered-2", Broken),
            (THIRD, Again(None)),
            ("request/unanswered-3", Broken),
        ];
        for (kept, expected) in [
            (1, "again ncbct.path/plain"),
            (2, "send request/unanswered-2"),
            (3, "again ncbct.path/plain"),
            (4, "send request/unanswered-3"),
            (5, "fail NoResponse"),
        ] {
            assert_eq!(after(INVALID, &all[..kept]), expected, "{kept}");
        }
    }

    #[test]
    fn what_prepares_a_case_is_sent_again_with_other_values() {
        const BASKET: &str = "basket.body/plain";
        for (steps, expected) in [
            (&[("payment", Broken)][..], "send payment/other-values-2"),
            (&[("payment", Broken), ("payment/other-values-2", Status(201))], "send beside"),
            (&[("payment", Broken), ("payment/other-values-2", Broken)], "send payment/other-values-3"),
            (
                &[
                    ("payment", Broken),
                    ("payment/other-values-2", Broken),
                    ("payment/other-values-3", Broken),
                ],
                "error",
            ),
        ] {
            assert_eq!(with(BASKET, steps, &Known::default()), expected, "{steps:?}");
        }
    }

    #[test]
    fn what_comes_over_another_connection_counts() {
        let broken = [("request", Broken), (SECOND, Again(None))];
        for (status, expected) in [(400, "pass"), (201, "fail NotRejected")] {
            let steps = [broken[0], broken[1], ("request/unanswered-2", Status(status))];
            assert_eq!(after(INVALID, &steps), expected);
        }
    }

    #[test]
    fn nothing_is_held_against_a_bank_that_answers_nothing_else_either() {
        let refused = (SECOND, Again(Some(503)));
        let broken = ("request", Broken);
        assert_eq!(after(INVALID, &[broken, refused]), "again ncbct.path/plain");
        assert_eq!(after(INVALID, &[broken, refused, (APART, Again(Some(503)))]), "error");
        // Without an accepted control the failure proves nothing.
        assert!(with(INVALID, &[broken], &Known::default()).starts_with("case "));
        assert_eq!(with(INVALID, &[("request", Status(400))], &accepting(INVALID)), "pass");
    }
}
