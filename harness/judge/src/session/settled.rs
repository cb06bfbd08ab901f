//! Answers that may still become another: a bank may reject a payment a moment after it was made, and may
//! show it only then. The document names no time for either. How long a target needs to show what was made
//! is learned from the plain request that reads it, and from then on waited.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use xs2aspec_suite::{Case, Expectation};

use super::{Prepared, Session, Stop, Trail};
use crate::{
    answer::Answer,
    judge::{self, Examined, NOT_THERE, Outcome},
};

/// Pauses before a request is asked again whose answer may still become what a case demands: a bank may
/// reject a payment a moment after it was created.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// So many of them when a case is asked once more.
const PAUSES_AGAIN: usize = 2;

/// Whether the request of a case reads something.
pub(super) fn reads(case: &Case) -> bool {
    case.request.method == "GET"
}

/// Whether the request of a case works with what the requests before it have made.
pub(super) fn has_made_it(case: &Case) -> bool {
    case.before.iter().any(|step| !step.keep.is_empty())
}

/// Whether the request of a case reads what the requests before it have made.
pub(super) fn reads_what_it_made(case: &Case) -> bool {
    reads(case) && has_made_it(case)
}

impl Session {
    /// Sends the judged request; again, for some seconds, while the answer may still become what the case
    /// demands.
    pub(super) async fn settled(
        &self,
        case: &Case,
        expect: &Expectation,
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
    ) -> Result<(Answer, Examined), Stop> {
        let mut asked = self.exchange(case, "request", &case.request, kept, trail).await?;
        let is_late = self.is_not_there_yet(case, &asked);
        let mut waited = Duration::ZERO;
        // What was waited for once already did not come.
        let pauses = if trail.of.is_some() { &PAUSES[..PAUSES_AGAIN] } else { &PAUSES[..] };
        for (again, pause) in pauses.iter().enumerate() {
            let step = format!("request/{}", again + 2);
            let may_change = self.transport.may_change() && self.transport.can_ask(&case.id, &step);
            let is_settled = judge::is_settled(expect, &asked.1) && !self.is_not_there_yet(case, &asked);
            if is_settled || !may_change {
                break;
            }
            self.transport.pause(*pause).await;
            waited += *pause;
            asked = self.exchange(case, &step, &case.request, kept, trail).await?;
        }
        if is_late && asked.1.outcome == Outcome::Accepted {
            self.shows_late(waited, trail);
        }
        Ok(asked)
    }

    /// Whether the answer to a plain request says that what was made a moment ago is not there.
    fn is_not_there_yet(&self, case: &Case, (answer, examined): &(Answer, Examined)) -> bool {
        let is_refused = examined.outcome == Outcome::Refused && NOT_THERE.contains(&answer.status);
        case.is_plain && is_refused && self.shows_after.get().is_none() && reads_what_it_made(case)
    }

    /// Learns that the target shows what was made only after this time.
    fn shows_late(&self, after: Duration, trail: &mut Trail) {
        self.shows_after.get_or_init(|| after);
        trail.passing.push(format!(
            "shows what was made only when it was asked again, {} ms later; the run waits as long from here on",
            after.as_millis()
        ));
    }

    /// Waits until the target shows what the requests before have made, where it is known to need a while.
    pub(super) async fn until_shown(&self, prepared: &Prepared) {
        if let Some(after) = self.shows_after.get().filter(|_| !prepared.kept.is_empty()) {
            self.transport.pause(*after).await;
        }
    }
}
