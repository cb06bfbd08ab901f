//! Answers that may still become another: a bank may reject a payment a moment after it was made, and may
//! show it only then. The document names no time for either. How long a target needs to show what was made
//! is learned from the plain request that reads it, and from then on waited.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use xs2aspec_suite::{Case, Expectation};

use super::setup::Prepared;
use crate::{
    Judge,
    done::Answered,
    judge::{self, NOT_THERE, Outcome},
    stop::Way,
    trail::Trail,
};

/// Pauses before a request is asked again whose answer may still become what a case demands: a bank may
/// reject a payment a moment after it was created.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// So many of them when a case is asked once more.
const PAUSES_AGAIN: usize = 2;

/// Whether the request of a case reads something.
pub(crate) fn reads(case: &Case) -> bool {
    case.request.method == "GET"
}

/// Whether the request of a case works with what the requests before it have made.
pub(crate) fn has_made_it(case: &Case) -> bool {
    case.before.iter().any(|step| !step.keep.is_empty())
}

/// Whether the request of a case reads what the requests before it have made.
pub(crate) fn reads_what_it_made(case: &Case) -> bool {
    reads(case) && has_made_it(case)
}

impl Judge {
    /// Returns the response to the judged request; the last one, where it was sent again for some seconds,
    /// while the response could still become what the case demands.
    pub(crate) fn settled(
        &self,
        case: &Case,
        expect: &Expectation,
        kept: &Arc<BTreeMap<String, Value>>,
        trail: &mut Trail<'_>,
    ) -> Way<Answered> {
        let request = case.request.whole();
        let mut asked = self.exchange(case, "request", request, kept, trail)?;
        let is_late = is_not_there(case, &asked);
        // Another case can have shown it since.
        let was_asked = |step: &str, trail: &Trail<'_>| {
            let (case, step) = trail.recorded_as(&case.id, step);
            trail.view.step((&case, &step)).is_some()
        };
        let mut waited = Duration::ZERO;
        // What was waited for once already did not come.
        let pauses = if trail.is_beside() { &PAUSES[..PAUSES_AGAIN] } else { &PAUSES[..] };
        for (again, pause) in pauses.iter().enumerate() {
            let step = format!("request/{}", again + 2);
            let is_awaited = is_not_there(case, &asked) && trail.known.shows_after().is_none();
            let is_open = !judge::is_settled(expect, &asked.1) || is_awaited;
            let may_change = trail.view.is_open() && trail.view.may_change();
            if !(is_open && may_change || was_asked(&step, trail)) {
                break;
            }
            trail.pause = *pause;
            waited += *pause;
            asked = self.exchange(case, &step, request, kept, trail)?;
        }
        if is_late && asked.1.outcome == Outcome::Accepted && waited > Duration::ZERO {
            shows_late(waited, trail);
        }
        Ok(asked)
    }

    /// Waits until the target shows what the requests before have made, where it is known to need a while.
    pub(crate) fn until_shown(&self, prepared: &Prepared, trail: &mut Trail<'_>) {
        if let Some(after) = trail.known.shows_after().filter(|_| !prepared.kept.is_empty()) {
            trail.pause = after;
        }
    }
}

/// Whether the response to a plain request says that what was made a moment ago is not there.
fn is_not_there(case: &Case, (answer, examined): &Answered) -> bool {
    let is_refused = examined.outcome == Outcome::Refused && NOT_THERE.contains(&answer.status);
    case.is_plain && is_refused && reads_what_it_made(case)
}

/// Learns that the target shows what was made only after this time.
fn shows_late(after: Duration, trail: &mut Trail<'_>) {
    trail.remarks.shows_after = Some(after);
    trail.remarks.passing.push(format!(
        "shows what was made only when it was asked again, {} ms later; the run waits as long from here on",
        after.as_millis()
    ));
}

#[cfg(test)]
mod tests {
    use crate::probes::tables::{
        Got::{Body, Status},
        after,
    };

    const SHOWS: &str = "payment.stays/read-at-once";

    #[test]
    fn what_was_made_is_read_again_until_it_shows() {
        assert!(!after(SHOWS, &[]).is_empty());
        let _ = (Body(200, "{}"), Status(200));
    }
}
