//! Checks the control of a case, the baseline request at the end of its controls, and cases that repeat that
//! request.

use std::sync::Arc;

use xs2aspec_record::{
    Came, CaseVerdict, ControlSeen, Culprit, Finding, Hint, Mismatch, PlainRejected, Reason, Verdict,
};
use xs2aspec_suite::{Case, IfControlRefused};

use crate::{
    Done, Judge,
    judge::{ACCEPTANCE, Outcome},
    known::Known,
    probe::Need,
    probe::Values,
    question::Question,
    stop::{Stop, Way},
    trail::Trail,
};

impl Done {
    /// Returns true if the judged request was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self.answered, Some((Outcome::Accepted, _)))
    }

    /// Returns the response to the judged request.
    fn came(&self) -> Came {
        match &self.answered {
            Some((_, came)) => came.clone(),
            None => Came::Nothing(Box::new(self.verdict.why())),
        }
    }
}

impl Judge {
    /// Checks the control, and stops if it was not accepted. A case that must be accepted continues after a
    /// rejected control, because its acceptance still counts. The returned stop is its result if it is
    /// rejected too.
    pub(crate) fn control(
        &self,
        case: &Case,
        verdict: &mut CaseVerdict,
        trail: &Trail<'_>,
    ) -> Way<Option<Stop>> {
        let known = trail.known;
        let is_new = trail.view.is_open() && trail.view.is_empty();
        // A silent target gets no more baseline requests, and one that is gone gets no requests at all.
        if let Some(why) = known.silence.as_ref().filter(|_| is_new && (case.is_plain || known.is_gone)) {
            return Err(Stop::error(Reason::Silence { failure: Box::new(why.clone()) }).into());
        }
        let Some(id) = &case.control else { return Ok(None) };
        let control = self.became(id, known)?;
        let stands_in = self.suite().case(id).is_some_and(|plain| stands_in(plain, known));
        let accepted = (control.is_accepted() || stands_in) && !self.is_apart(case, known);
        verdict.control = Some(ControlSeen { case: id.clone(), accepted });
        if accepted {
            return Ok(None);
        }
        if control.verdict.reason == Some(Reason::DailyCalls) {
            return Err(Stop::used_up().into());
        }
        // A control that could not be sent says nothing about the target, and neither does its case.
        if matches!(control.verdict.verdict, Verdict::NotApplicable | Verdict::Error) {
            return Err(Stop::like(&control.verdict).into());
        }
        let root = self.root(case, known)?;
        let is_refused = control.answered.as_ref().is_some_and(|(outcome, _)| outcome.is_refusal());
        let got = control.came();
        let rejected = || Reason::ControlRejected { control: id.clone(), came: got.clone() };
        let reason = root.clone().unwrap_or_else(rejected);
        let stop = match case.if_control_refused {
            IfControlRefused::Observed if root.is_none() => {
                verdict
                    .observations
                    .push(format!("{}: the target need not accept the control {id}: {got}", case.clause));
                verdict.checks = 1;
                Stop::new(Verdict::Observed, reason)
            }
            _ => Stop::inconclusive(reason),
        };
        if case.expect.is_accepted() && is_refused && !is_given_up(trail) {
            Ok(Some(stop))
        } else {
            Err(stop.into())
        }
    }

    /// Returns the finding that an accepted request has a different status than the baseline request of its
    /// operation.
    pub(crate) fn other_status(
        &self,
        case: &Case,
        plain: &str,
        status: u16,
        known: &Known,
    ) -> Option<Finding> {
        let clause = self.suite().answers().one_success_status()?;
        let operation = &self.suite().case(plain)?.request.operation;
        let usual = known.case(plain)?.status.filter(|_| *operation == case.request.operation)?;
        (status != usual && (200..300).contains(&usual)).then(|| {
            let expected = format!("status {usual}, as for the baseline request");
            Finding::new(clause, Mismatch::Status, "status", expected, status.to_string())
        })
    }

    /// Judges a case that repeats the baseline request by that request's response. If it was rejected but the
    /// twin of the case is accepted, the clause is violated: the target rejects the difference.
    pub(crate) fn by_name(
        &self,
        case: &Case,
        plain: &str,
        verdict: &mut CaseVerdict,
        known: &Known,
    ) -> Way<(Outcome, Came)> {
        let done = self.became(plain, known)?;
        if matches!(done.verdict.verdict, Verdict::NotApplicable | Verdict::Error) {
            return Err(Stop::like(&done.verdict).into());
        }
        verdict.control = Some(ControlSeen { case: plain.to_owned(), accepted: done.is_accepted() });
        verdict.checks = done.verdict.checks;
        let (outcome, got) = done.answered.clone().unwrap_or_else(|| (Outcome::Neither, done.came()));
        if done.is_accepted() {
            // Other findings in the response are reported for the baseline request.
            let own = done.verdict.findings.iter().filter(|finding| finding.clause == case.clause);
            verdict.findings = own.cloned().collect();
        } else if let Some(twin) = case.control.as_deref().filter(|id| *id != plain && outcome.is_refusal())
            && self.is_accepted_as_it_is(twin, known)?
        {
            verdict.control = Some(ControlSeen { case: twin.to_owned(), accepted: true });
            let rejected =
                Finding::new(&case.clause, Mismatch::NotAccepted, "status", ACCEPTANCE, got.response());
            verdict.findings = vec![rejected];
        } else {
            return Err(Stop::inconclusive(self.reason(plain, done, known)).into());
        }
        verdict.verdict = if verdict.findings.is_empty() { Verdict::Pass } else { Verdict::Fail };
        Ok((outcome, got))
    }

    /// Returns true if a case is accepted exactly as written.
    fn is_accepted_as_it_is(&self, id: &str, known: &Known) -> Way<bool> {
        let done = self.became(id, known)?;
        Ok(done.is_accepted() && done.verdict.judged_with.is_empty())
    }

    /// Returns the reason why a case cannot be judged, if its baseline request was not accepted.
    fn root(&self, case: &Case, known: &Known) -> Way<Option<Reason>> {
        let mut last = case;
        while let Some(control) = self.control_of(last) {
            last = control;
        }
        let plain = self.became(&last.id, known)?;
        let is_known = plain.is_accepted() || stands_in(last, known) && !self.is_apart(case, known);
        Ok((!is_known).then(|| self.reason(&last.id, plain, known)))
    }

    /// Returns the reason that is shared by all cases which depend on a baseline request.
    pub(crate) fn reason(&self, plain: &str, done: &Done, known: &Known) -> Reason {
        let reason = match &done.verdict.reason {
            Some(reason) if done.verdict.verdict == Verdict::Inconclusive => reason.clone(),
            _ => plain_rejected(plain, done.came(), done.verdict.culprit.clone()),
        };
        let reason = self.hinted(reason, done, known);
        if known.plain.is_hopeless { reason.given_up() } else { reason }
    }

    /// Returns the reason for a rejected baseline request, with advice on the key and the profile values if
    /// there is any.
    pub(crate) fn hinted(&self, reason: Reason, done: &Done, known: &Known) -> Reason {
        let is_understood = self.profile().own_key || done.verdict.culprit.is_some();
        let hint = if known.plain.knows_key { Hint::Values } else { Hint::TestKey };
        match reason {
            Reason::PlainRejected(rejected) if !is_understood => {
                Reason::from(PlainRejected { hint: Some(hint), ..*rejected })
            }
            other => other,
        }
    }

    /// Returns the control of a case.
    pub(crate) fn control_of(&self, case: &Case) -> Option<&Case> {
        self.suite().case(case.control.as_deref()?)
    }

    /// Returns the result of another case.
    fn became<'k>(&self, id: &str, known: &'k Known) -> Way<&'k Arc<Done>> {
        if self.suite().case(id).is_none() {
            return Err(Stop::error(Reason::Defect { why: format!("there is no control `{id}`") }).into());
        }
        known.case(id).ok_or_else(|| Need::Answer(Question::Case(id.to_owned())).into())
    }
}

/// Returns the ids and amounts with which the control of a case was accepted. The case uses them too: a bank
/// that treated the first ones as a duplicate would reject the case for that reason instead of its invalid
/// value.
pub(crate) fn values_of_control(case: &Case, known: &Known) -> Values {
    let control = case.control.as_deref().and_then(|id| known.case(id));
    control.map_or(Values::First, |control| control.values)
}

/// Returns true if another valid request is accepted and sent instead of this baseline request.
fn stands_in(plain: &Case, known: &Known) -> bool {
    plain.is_plain && known.goes_on(&plain.request.operation)
}

/// Returns true if a case is not sent because the target is hopeless, or was not sent according to the
/// history.
fn is_given_up(trail: &Trail<'_>) -> bool {
    match trail.view.verdict() {
        Some(verdict) => verdict.verdict == Verdict::Inconclusive && trail.view.is_empty(),
        None => trail.view.is_open() && trail.known.plain.is_hopeless,
    }
}

/// Returns the reason that a baseline request was not accepted.
pub(crate) fn plain_rejected(plain: &str, came: Came, culprit: Option<Box<Culprit>>) -> Reason {
    Reason::from(PlainRejected { plain: plain.to_owned(), came, culprit, hint: None, is_given_up: false })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use xs2aspec_record::{CaseVerdict, Reason, Verdict};

    use crate::{
        Known,
        answer::ExchangeError,
        blank::left_in_doubt,
        probes::tests::{Got::Status, JUDGE, accepting, after, case, view, with},
    };

    const INVALID: &str = "ncbct.creditor-name.length/creditorName/one-more";
    const CONTROL: &str = "ncbct.creditor-name.length/creditorName/most";

    #[test]
    fn a_case_needs_its_control_before_it_sends_anything() {
        assert_eq!(with(INVALID, &[], &Known::default()), format!("case {CONTROL}"));
        assert_eq!(after(INVALID, &[]), "send request");
        // Baseline requests do not have a control.
        assert_eq!(with("ncbct.path/plain", &[], &Known::default()), "send request");
    }

    #[test]
    fn nothing_is_sent_and_said_after_a_rejected_control() {
        for (word, expected) in [
            (Verdict::Fail, "inconclusive"),
            (Verdict::Inconclusive, "inconclusive"),
            (Verdict::Error, "error"),
            (Verdict::NotApplicable, "not-applicable"),
        ] {
            let mut known = accepting(INVALID);
            let verdict = CaseVerdict { verdict: word, ..left_in_doubt(case(CONTROL)) };
            known.keep(&JUDGE, &verdict, None);
            assert_eq!(with(INVALID, &[], &known), expected, "{word:?}");
        }
        assert_eq!(after(INVALID, &[("request", Status(400))]), "pass");
    }

    #[test]
    fn nothing_is_sent_to_a_target_that_is_gone() {
        let mut known = accepting(INVALID);
        let answered = view(INVALID, &[("request", Status(400))]);
        let answered = JUDGE.case(case(INVALID), &answered, &known).unwrap();
        let mut silent = answered.clone();
        silent.verdict.verdict = Verdict::Error;
        silent.verdict.reason = Some(Reason::NoResponseRecorded);
        silent.failure = Some(ExchangeError::Deadline(Duration::from_secs(2)));
        for (done, times) in [(&silent, 31), (&answered, 1), (&silent, 31)] {
            (0..times).for_each(|_| known.weigh_response(&JUDGE, done));
        }
        assert_eq!(with(INVALID, &[], &known), "send request");
        known.weigh_response(&JUDGE, &silent);
        assert_eq!(with(INVALID, &[], &known), "error");
        assert_eq!(with(INVALID, &[("request", Status(400))], &known), "pass", "a received response counts");
    }
}
