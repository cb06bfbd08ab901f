//! Valid requests that are asked again: a refusal says something of a request only while they are accepted.

use std::sync::{Arc, PoisonError};

use xs2aspec_record::{Finding, Verdict};
use xs2aspec_suite::{Case, Expectation, RequestSpec, difference};

use super::{
    Done, Session, Trail,
    blank::blank,
    outcome::{Again, Prepared},
    settled,
};
use crate::judge::Outcome;

/// For so many exchanges nobody doubts what was accepted: a target may refuse everything with 401 or 403, and
/// be right.
const A_MOMENT: u64 = 20;

impl Done {
    /// Whether the verdict rests on what the target did not accept, and says nothing if that has another
    /// cause.
    pub(crate) fn rests_on_refusal(&self) -> bool {
        let is_own = self.verdict.same_as.is_none() && self.verdict.control.is_some();
        let is_accepted = matches!(self.answered, None | Some((Outcome::Accepted | Outcome::ServerError, _)));
        is_own
            && !is_accepted
            && !self.shows_it
            && matches!(self.verdict.verdict, Verdict::Pass | Verdict::Fail | Verdict::Warn)
    }
}

impl Session {
    /// Whether valid requests are asked again in this session: it has a target of its own.
    pub(crate) fn asks_again(&self) -> bool {
        self.transport.asks_again()
    }

    /// The plain request at the end of the controls of a case.
    pub(crate) fn plain(&self, id: &str) -> String {
        let mut last = id;
        while let Some(control) = self.suite.case(last).and_then(|case| case.control.as_deref()) {
            last = control;
        }
        last.to_owned()
    }

    /// Asks the valid request of a case again, to confirm what was refused: what is kept for that may be
    /// used. `mark` is what no other asking of it has. What is not accepted is asked once more: the failure
    /// may pass, and other values may be no duplicate of earlier ones.
    pub async fn ask_again(&self, id: &str, mark: &str) -> Again {
        let trail = Trail { is_confirming: true, ..Trail::again(id) };
        self.asked_once_more(id, mark, trail, false).await
    }

    /// The same for a doubt in between: it takes nothing from what is kept for the end.
    pub(super) async fn ask_in_between(&self, id: &str, mark: &str) -> Again {
        self.asked_once_more(id, mark, Trail::again(id), false).await
    }

    /// The same over a connection of its own.
    pub(super) async fn ask_apart_in_between(&self, id: &str, mark: &str) -> Again {
        self.asked_once_more(id, mark, Trail::again(id), true).await
    }

    async fn asked_once_more(&self, id: &str, mark: &str, mut trail: Trail, is_apart: bool) -> Again {
        let (mut refused, mut answer) = (None, None);
        let Some(valid) = self.suite.case(id) else {
            return Again { refused, answer, is_held_back: false, last: None };
        };
        for attempt in ["", "b"] {
            // Its identifiers are its own.
            let mut case = Case { id: format!("{id}/{mark}{attempt}"), ..valid.clone() };
            if is_apart {
                case.request = Arc::new(apart(&case.request)).into();
            }
            match self.asked(&case, &mut trail).await {
                Ok((Outcome::Accepted, _)) => {
                    refused = None;
                    break;
                }
                Ok((_, words)) => (refused, answer) = (Some(format!("got {words}")), Some(words)),
                Err(stop) => refused = Some(format!("could not be asked ({})", stop.reason)),
            }
        }
        if refused.is_none() {
            let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
            accepted.insert(id.to_owned(), self.exchanges());
        }
        Again { refused, answer, is_held_back: trail.is_held_back, last: trail.exchanges.pop() }
    }

    /// Asks a case again under another name: what is wrong with it now, and what it got, in words; nothing
    /// where it could not be judged.
    pub(crate) async fn ask_alone(&self, case: &Case, mark: &str) -> Option<(Vec<Finding>, String)> {
        let mut trail = Trail::again(&case.id);
        let own = Case { id: format!("{}/{mark}", case.id), is_plain: false, ..case.clone() };
        let mut verdict = blank(&own);
        let asked = self.attempt(&own, &mut verdict, &mut trail).await;
        self.levels.weigh(&mut verdict);
        let is_judged = matches!(verdict.verdict, Verdict::Pass | Verdict::Fail | Verdict::Warn);
        let (_, words) = asked.ok().filter(|_| is_judged)?;
        self.mask_findings(&mut verdict, &trail.learned);
        Some((verdict.findings, self.masker.text_with(&words, &trail.learned)))
    }

    /// The number of the request of a case that was accepted.
    pub(crate) fn asked_at(&self, id: &str) -> Option<u64> {
        self.done(id).filter(|done| done.is_accepted())?.verdict.exchange
    }

    /// Whether a case was asked, and its request was not accepted.
    pub(crate) fn was_not_accepted(&self, id: &str) -> bool {
        self.done(id).is_some_and(|done| !done.is_accepted())
    }

    /// Whether the request of a case reads something.
    pub(crate) fn reads(&self, id: &str) -> bool {
        self.suite.case(id).is_some_and(settled::reads)
    }

    /// Whether the request of a case works with what the requests before it have made.
    pub(crate) fn has_made_it(&self, id: &str) -> bool {
        self.suite.case(id).is_some_and(settled::has_made_it)
    }

    /// What became of a request whose case is none of the suite.
    pub(super) async fn asked(
        &self,
        case: &Case,
        trail: &mut Trail,
    ) -> Result<(Outcome, String), super::Stop> {
        let Prepared { kept, .. } = self.set_up(case, trail).await?;
        let (_, examined) = self.exchange(case, "request", &case.request, &kept, trail).await?;
        Ok((examined.outcome, examined.words))
    }

    /// Whether a case was refused as whoever is not known is, though it changes nothing that says who asks:
    /// its plain request is to be asked again at once, unless that was accepted a moment ago.
    pub(super) fn is_doubtful(&self, case: &Case, plain: &str, outcome: Outcome, status: u16) -> bool {
        let is_refused = outcome == Outcome::Refused && matches!(status, 401 | 403);
        let is_expected = matches!(case.expect, Expectation::Refused(_));
        if !(self.asks_again() && is_refused && is_expected) {
            return false;
        }
        let accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner).get(plain).copied();
        if accepted.is_some_and(|number| self.exchanges() < number + A_MOMENT) {
            return false;
        }
        let control = case.control.as_deref().and_then(|id| self.suite.case(id));
        control.is_some_and(|control| {
            let changes = difference::differences(case, control);
            !changes.iter().any(|place| place.starts_with("header/") || place == "signing")
        })
    }
}

/// A request as the first and only one of a connection.
pub(super) fn apart(request: &RequestSpec) -> RequestSpec {
    RequestSpec { exact: true, ..request.clone() }
}
