//! Eventually visible: repeats requests whose response may still change. A bank may reject a payment shortly
//! after its creation, or show it only then. The document gives no time for either. The delay until a
//! resource is visible is learned from the baseline request that reads it, and later cases wait as long.

use std::time::Duration;

use xs2aspec_suite::{Case, Expectation, RequestSpec};

use crate::{
    Judge,
    done::Answered,
    judge::{self, NOT_THERE, Outcome},
    step::Step,
    stop::Way,
    trail::Trail,
};

/// Delays before resending a request whose response may still change to the required one. A bank may reject a
/// payment shortly after its creation.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// Number of delays used when a case is rerun.
const PAUSES_AGAIN: usize = 2;

/// Returns true if the request of a case reads something.
pub(crate) fn reads(case: &Case) -> bool {
    case.request.method == "GET"
}

/// Returns true if a request deletes something.
pub(crate) fn removes(request: &RequestSpec) -> bool {
    request.method == "DELETE"
}

/// Returns true if the request of a case uses a resource that its setup created.
pub(crate) fn has_made_it(case: &Case) -> bool {
    case.before.iter().any(|step| !step.keep.is_empty())
}

/// Returns true if the request of a case reads a resource that its setup created.
pub(crate) fn reads_what_it_made(case: &Case) -> bool {
    reads(case) && has_made_it(case)
}

impl Judge {
    /// Returns the response to the judged request. While the response may still change to the required one,
    /// resends the request for some seconds and returns the last response.
    pub(crate) fn settled(
        &self,
        expect: &Expectation,
        step: Step<'_>,
        trail: &mut Trail<'_>,
    ) -> Way<Answered> {
        let case = step.case;
        let mut asked = self.exchange(step, trail)?;
        let is_late = is_not_there(case, &asked);
        let mut waited = Duration::ZERO;
        // In a rerun, the long wait has already been in vain.
        let pauses = if trail.is_beside() { &PAUSES[..PAUSES_AGAIN] } else { &PAUSES[..] };
        for (again, pause) in pauses.iter().enumerate() {
            let name = format!("request/{}", again + 2);
            let is_awaited = is_not_there(case, &asked) && trail.known.shows_after.is_none();
            let is_open = !judge::is_settled(expect, &asked.1) || is_awaited;
            let may_change = trail.view.is_open() && trail.view.may_change();
            // Another case may have shown it since this request was sent.
            if !(is_open && may_change || trail.seen(&case.id, &name).is_some()) {
                break;
            }
            trail.pause = *pause;
            waited += *pause;
            asked = self.exchange(step.named(&name), trail)?;
        }
        if is_late && asked.1.outcome == Outcome::Accepted && waited > Duration::ZERO {
            trail.remarks.shows_after = Some(waited);
        }
        Ok(asked)
    }
}

/// Returns true if the response to a baseline request says that a resource created just before does not
/// exist.
fn is_not_there(case: &Case, (answer, examined): &Answered) -> bool {
    let is_refused = examined.outcome == Outcome::Refused && NOT_THERE.contains(&answer.status);
    case.is_plain && is_refused && reads_what_it_made(case)
}

#[cfg(test)]
mod tests {
    use crate::probes::tests::{
        Got::{self, Body, Status},
        after,
    };

    /// Requires that a payment is eventually rejected.
    const CASE: &str = "error.funds.rejected/ncbct";
    const MADE: (&str, Got) = ("payment", Status(201));
    const OPEN: Got = Body(200, r#"{"transactionStatus":"RCVD"}"#);
    const REJECTED: Got = Body(200, r#"{"transactionStatus":"RJCT"}"#);

    #[test]
    fn what_may_still_become_what_a_case_demands_is_read_again_later() {
        let all = [
            MADE,
            ("request", OPEN),
            ("request/2", OPEN),
            ("request/3", OPEN),
            ("request/4", OPEN),
            ("request/5", OPEN),
        ];
        for (kept, expected) in [
            (1, "send request"),
            (2, "send request/2 later"),
            (3, "send request/3 later"),
            (4, "send request/4 later"),
            (5, "send request/5 later"),
        ] {
            assert_eq!(after(CASE, &all[..kept]), expected, "{kept}");
        }
        assert!(!after(CASE, &all).starts_with("send"), "it did not come");
        assert_eq!(after(CASE, &[MADE, ("request", OPEN), ("request/2", REJECTED)]), "pass");
    }

    #[test]
    fn what_is_settled_is_read_once() {
        assert_eq!(after(CASE, &[MADE, ("request", REJECTED)]), "pass");
        for status in [404, 500] {
            let got = after(CASE, &[MADE, ("request", Status(status))]);
            assert!(!got.starts_with("send"), "{status}: {got}");
        }
    }
}
