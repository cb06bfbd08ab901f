//! Still accepting: a rejection counts only while valid requests are accepted. A target whose token has
//! expired or whose quota is used up rejects everything.

use std::sync::Arc;

use xs2aspec_record::{Came, Got, Look, Verdict};
use xs2aspec_suite::{Case, Expectation, RequestSpec, difference};

use super::{eventually_visible as visible, setup::Prepared};
use crate::{
    Done, Judge,
    judge::Outcome,
    known::Known,
    probe::{Judged, Need},
    question::{Again, Question, StillAccepting},
    step::Step,
    stop::{Caught, Way},
    trail::Trail,
    view::View,
};

impl Done {
    /// Returns true if the verdict rests on a rejection, so that another cause would invalidate it.
    pub(crate) fn rests_on_refusal(&self) -> bool {
        let is_own = self.verdict.same_as.is_none() && self.verdict.control.is_some();
        let is_accepted = matches!(self.answered, None | Some((Outcome::Accepted | Outcome::ServerError, _)));
        is_own
            && !is_accepted
            && !self.shows_it
            && matches!(self.verdict.verdict, Verdict::Pass | Verdict::Fail | Verdict::Warn)
    }
}

impl Judge {
    /// Returns the baseline request at the end of a case's controls.
    pub(crate) fn plain(&self, id: &str) -> String {
        let mut last = id;
        while let Some(control) = self.suite().case(last).and_then(|case| case.control.as_deref()) {
            last = control;
        }
        last.to_owned()
    }

    /// Returns the result of resending a valid request, or None if nothing is resent.
    pub(crate) fn still_accepting<'v>(
        &self,
        question: StillAccepting,
        trail: &Trail<'v>,
    ) -> Judged<Option<&'v Again>> {
        if !(self.asks_again() && trail.view.is_open()) {
            return Ok(None);
        }
        match trail.view.again(&question.mark) {
            None => Err(Need::Answer(Question::StillAccepting(question))),
            again => Ok(again),
        }
    }

    /// Returns true if a valid request was resent and not accepted.
    pub(super) fn is_accepted_no_more(&self, question: StillAccepting, trail: &Trail<'_>) -> Judged<bool> {
        Ok(self.still_accepting(question, trail)?.is_some_and(|again| again.refused.is_some()))
    }

    /// Resends a valid request and returns the result. A request that is not accepted is sent once more: the
    /// failure may be temporary, and with fresh values it does not duplicate earlier requests.
    pub fn again(&self, question: &StillAccepting, view: &View, known: &Known) -> Judged<Again> {
        let StillAccepting { plain, mark, is_apart, is_confirming, .. } = question;
        let Some(valid) = self.suite().case(plain) else { return Ok(Again::default()) };
        let mut trail = Trail::again(view, known, plain, Look::StillAccepting);
        trail.beside.is_confirming = *is_confirming;
        let mut again = Again::default();
        for attempt in ["", "b"] {
            // The retry has its own ids.
            let mut case = Case { id: trail.mark(&format!("{mark}{attempt}")), ..valid.clone() };
            if *is_apart {
                case.request = Arc::new(apart(&case.request)).into();
            }
            match self.asked(&case, &mut trail).caught()? {
                Ok((Outcome::Accepted, _)) => {
                    again.refused = None;
                    break;
                }
                Ok((_, got)) => again.refused = Some(Came::Got(got)),
                Err(stop) => again.refused = Some(Came::Nothing(stop.reason)),
            }
        }
        let masked = |text: &str| self.masker().text_with(text, &view.learned);
        again.refused = again.refused.map(|came| came.with_texts(&masked));
        again.is_held_back = trail.is_held_back;
        again.last = trail.last_exchange().cloned();
        Ok(again)
    }

    /// Returns true if the request of a case reads something.
    pub(crate) fn reads(&self, id: &str) -> bool {
        self.suite().case(id).is_some_and(visible::reads)
    }

    /// Returns the outcome of a case that is not part of the suite.
    pub(crate) fn asked(&self, case: &Case, trail: &mut Trail<'_>) -> Way<(Outcome, Got)> {
        let Prepared { kept, .. } = self.set_up(case, trail)?;
        let (_, examined) = self.exchange(Step::judged(case, &kept), trail)?;
        Ok((examined.outcome, examined.got))
    }

    /// Returns true if a case was rejected as unauthorized although it does not change who calls. Its
    /// baseline request is then resent at once.
    pub(crate) fn is_doubtful(&self, case: &Case, outcome: Outcome, status: u16) -> bool {
        let is_refused = outcome == Outcome::Refused && matches!(status, 401 | 403);
        // Comparing requests takes time, and most `prove` runs resend nothing.
        if !(self.asks_again() && is_refused && matches!(case.expect, Expectation::Refused(_))) {
            return false;
        }
        self.control_of(case).is_some_and(|control| {
            let changes = difference::differences(case, control);
            !changes.iter().any(|place| place.starts_with("header/") || place == "signing")
        })
    }
}

/// Returns a request that is sent alone on a new connection.
pub(crate) fn apart(request: &RequestSpec) -> RequestSpec {
    RequestSpec { exact: true, ..request.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::tests::{
        Got::{Again as Asked, Status},
        JUDGE, accepting, after, told, view,
    };

    const INVALID: &str = "ncbct.creditor-name.length/creditorName/one-more";
    const MARK: &str = "again-after/ncbct.creditor-name.length/creditorName/one-more";

    #[test]
    fn a_rejection_of_whoever_is_not_known_is_doubted() {
        for status in [401, 403] {
            let first = ("request", Status(status));
            assert_eq!(after(INVALID, &[first]), "again ncbct.path/plain");
            assert_eq!(after(INVALID, &[first, (MARK, Asked(None))]), "pass");
            assert_eq!(after(INVALID, &[first, (MARK, Asked(Some(401)))]), "inconclusive");
        }
    }

    #[test]
    fn a_rejection_for_what_is_wrong_is_not_doubted() {
        assert_eq!(after(INVALID, &[("request", Status(400))]), "pass");
        // An invalid header may be the one that identifies the caller.
        let header = "error.corporate-id/ncbct/empty";
        assert_eq!(after(header, &[("request", Status(401))]), "pass");
    }

    #[test]
    fn a_valid_request_is_asked_twice_before_it_is_thought_to_be_rejected() {
        let plain = "ncbct.path/plain";
        let question = StillAccepting::at_the_end(plain, "again-1");
        let known = accepting(plain);
        let again = |steps: &[(&str, crate::probes::tests::Got)]| {
            let again = JUDGE.again(&question, &view(plain, steps), &known);
            let came = |again: Again| again.refused.map_or("accepted".to_owned(), |came| came.to_string());
            told(again.map(came))
        };
        let (first, second) = ("again-1/request", "again-1b/request");
        assert_eq!(again(&[]), "send again-1/request");
        assert_eq!(again(&[(first, Status(201))]), "accepted");
        assert_eq!(again(&[(first, Status(401))]), "send again-1b/request");
        assert_eq!(again(&[(first, Status(401)), (second, Status(201))]), "accepted");
        assert_eq!(again(&[(first, Status(401)), (second, Status(403))]), "it got 403");
    }
}
