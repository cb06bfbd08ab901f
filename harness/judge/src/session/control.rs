//! What a case leans on: its control, at the end of all controls the plain request of the operation, and
//! cases that are that request once more.

use std::sync::{Arc, atomic::Ordering};

use xs2aspec_record::{CaseVerdict, ControlSeen, End, Finding, Level, Mismatch, Verdict};
use xs2aspec_suite::{Case, IfControlRefused};

use super::{Done, Session, Stop};
use crate::{judge::Outcome, transport::Values};

/// Why nothing was asked of a hopeless target.
const GIVEN_UP: &str =
    "the target accepted no plain request of this run, so that nothing was asked that leans on one";

impl Done {
    /// Whether the judged request was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self.answered, Some((Outcome::Accepted, _)))
    }

    /// The answer in words, or why there was none.
    fn words(&self) -> String {
        match &self.answered {
            Some((_, words)) => format!("got {words}"),
            None => self.verdict.reason.clone().unwrap_or_else(|| "got no answer".to_owned()),
        }
    }
}

impl Session {
    /// Runs the control, and stops where it was not accepted. A case that must be accepted goes on after a
    /// refusal, with what its own refusal comes to then: its acceptance is one all the same.
    pub(super) async fn control(&self, case: &Case, verdict: &mut CaseVerdict) -> Result<Option<Stop>, Stop> {
        let Some(id) = &case.control else {
            return match self.silence.get().filter(|_| case.is_plain) {
                Some(why) => Err(Stop::error(format!(
                    "not asked, since the plain requests before it got no answer: {why}"
                ))),
                None => Ok(None),
            };
        };
        let control = self.known(id).await?;
        let stands_in = self.suite.case(id).is_some_and(|plain| self.stands_in(plain));
        let accepted = (control.is_accepted() || stands_in) && !self.is_apart(case);
        verdict.control = Some(ControlSeen { case: id.clone(), accepted });
        if accepted {
            return Ok(None);
        }
        if control.is_used_up {
            return Err(Stop::used_up());
        }
        let words = control.words();
        // A control that could not be sent says nothing about the target; neither does its case.
        if let word @ (Verdict::NotApplicable | Verdict::Error) = control.verdict.verdict {
            let absence = control.verdict.absence.clone();
            return Err(Stop { absence, ..Stop::new(word, words) });
        }
        let root = self.root(case).await?;
        let is_refused = control.answered.as_ref().is_some_and(|(outcome, _)| outcome.is_refusal());
        let reason = root.clone().unwrap_or_else(|| format!("its control {id} was not accepted: {words}"));
        let stop = match case.if_control_refused {
            IfControlRefused::Observed if root.is_none() => {
                verdict
                    .observations
                    .push(format!("{}: the target need not accept the control {id}: {words}", case.clause));
                verdict.checks = 1;
                Stop::new(Verdict::Observed, reason)
            }
            _ => Stop::inconclusive(reason),
        };
        if case.expect.is_accepted() && is_refused && !self.is_given_up(case) {
            Ok(Some(stop))
        } else {
            Err(stop)
        }
    }

    /// The ids and amounts with which the control of a case was accepted. The case has them too: a bank that
    /// took the first ones for a repetition would reject the case for that, and not for what is wrong in it.
    pub(super) fn values_of_control(&self, case: &Case) -> Values {
        let control = case.control.as_deref().and_then(|id| self.done(id));
        control.map_or(Values::First, |control| control.values)
    }

    /// Notes whether a target is hopeless: it was asked some of these plain requests, and accepted neither
    /// one of them nor another lawful one in its place. What leans on them is not asked then.
    pub fn weigh_plain<'a>(&self, plain: impl Iterator<Item = &'a str>) {
        let asked = |done: &Arc<Done>| done.verdict.verdict != Verdict::NotApplicable;
        let asked: Vec<Arc<Done>> = plain.filter_map(|id| self.done(id)).filter(asked).collect();
        let is_understood = |done: &Arc<Done>| done.is_accepted() || done.verdict.culprit.is_some();
        let is_hopeless = self.transport.is_shown() && !asked.is_empty() && !asked.iter().any(is_understood);
        let is_read = |done: &Arc<Done>| done.is_accepted() && self.reads(&done.verdict.case);
        self.knows_key.store(asked.iter().any(is_read), Ordering::SeqCst);
        self.is_hopeless.store(is_hopeless, Ordering::SeqCst);
        self.is_weighed.store(true, Ordering::SeqCst);
    }

    /// Notes whether nobody answers: none of these plain requests, the first of a run, got an answer. Then no
    /// other one is sent, which would wait as long.
    pub fn weigh_silence<'a>(&self, first: impl Iterator<Item = &'a str>) {
        let asked = |done: &Arc<Done>| done.verdict.verdict != Verdict::NotApplicable;
        let asked: Vec<Arc<Done>> = first.filter_map(|id| self.done(id)).filter(asked).collect();
        let is_silent = |done: &Arc<Done>| {
            done.verdict.verdict == Verdict::Error && done.failure.is_some() && !done.is_held_back
        };
        if let Some(reason) = asked.first().and_then(|done| done.verdict.reason.clone())
            && self.transport.is_shown()
            && asked.iter().all(is_silent)
        {
            self.silence.set(reason).ok();
        }
    }

    /// Whether the cases that lean on plain requests are asked: it is known what those came to, and that the
    /// target is not hopeless.
    pub fn is_under_way(&self) -> bool {
        self.is_weighed.load(Ordering::SeqCst) && !self.is_hopeless()
    }

    /// Whether it was seen that the target accepts no plain request.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.is_hopeless.load(Ordering::SeqCst)
    }

    /// Whether a case is not asked since the target is hopeless. Of a recorded run, whether it was not.
    fn is_given_up(&self, case: &Case) -> bool {
        self.transport.replay().map_or_else(|| self.is_hopeless(), |replay| replay.was_given_up(&case.id))
    }

    /// Whether another lawful request is accepted and sent in place of this plain one.
    fn stands_in(&self, plain: &Case) -> bool {
        plain.is_plain && self.goes_on(&plain.request.operation)
    }

    /// The finding that an accepted request has another status than the plain one of its operation.
    pub(super) fn other_status(&self, case: &Case, plain: &str, status: u16) -> Option<Finding> {
        let clause = self.suite.answers().one_success_status()?;
        let operation = &self.suite.case(plain)?.request.operation;
        let usual = self.done(plain)?.status.filter(|_| *operation == case.request.operation)?;
        (status != usual && (200..300).contains(&usual)).then(|| Finding {
            clause: clause.to_owned(),
            expected: format!("status {usual}, as the plain request has it"),
            actual: status.to_string(),
            at: "status".to_owned(),
            kind: Mismatch::Status,
            level: Level::Deny,
            end: End::Bank,
        })
    }

    /// Judges the plain request's answer for a case that is the same request. Where it was refused, a case
    /// that names a twin is broken if the twin is accepted: what makes the difference is what the target
    /// minds.
    pub(super) async fn by_name(
        &self,
        case: &Case,
        plain: &str,
        verdict: &mut CaseVerdict,
    ) -> Result<(Outcome, String), Stop> {
        let done = self.known(plain).await?;
        if let word @ (Verdict::NotApplicable | Verdict::Error) = done.verdict.verdict {
            let absence = done.verdict.absence.clone();
            return Err(Stop { absence, ..Stop::new(word, done.words()) });
        }
        verdict.control = Some(ControlSeen { case: plain.to_owned(), accepted: done.is_accepted() });
        verdict.checks = done.verdict.checks;
        let (outcome, words) = done.answered.clone().unwrap_or((Outcome::Neither, String::new()));
        if done.is_accepted() {
            // What else the answer breaks is told of the plain request.
            let own = done.verdict.findings.iter().filter(|finding| finding.clause == case.clause);
            verdict.findings = own.cloned().collect();
        } else if let Some(twin) = case.control.as_deref().filter(|id| *id != plain && outcome.is_refusal())
            && self.is_accepted_as_it_is(twin).await?
        {
            verdict.control = Some(ControlSeen { case: twin.to_owned(), accepted: true });
            verdict.findings = vec![Finding {
                clause: case.clause.clone(),
                expected: "acceptance (2xx)".to_owned(),
                actual: words.clone(),
                at: "status".to_owned(),
                kind: Mismatch::NotAccepted,
                level: Level::Deny,
                end: End::Bank,
            }];
        } else {
            return Err(Stop::inconclusive(self.reason(plain, &done)));
        }
        verdict.verdict = if verdict.findings.is_empty() { Verdict::Pass } else { Verdict::Fail };
        Ok((outcome, words))
    }

    /// Whether a case is accepted without anything that it does not say.
    async fn is_accepted_as_it_is(&self, id: &str) -> Result<bool, Stop> {
        let done = self.known(id).await?;
        Ok(done.is_accepted() && done.verdict.judged_with.is_empty())
    }

    /// Why nothing can be told of a case, if that is because the plain request at the end of its controls was
    /// not accepted.
    async fn root(&self, case: &Case) -> Result<Option<String>, Stop> {
        let mut last = case;
        while let Some(control) = last.control.as_deref().and_then(|id| self.suite.case(id)) {
            last = control;
        }
        let plain = self.known(&last.id).await?;
        let is_known = plain.is_accepted() || self.stands_in(last) && !self.is_apart(case);
        Ok((!is_known).then(|| self.reason(&last.id, &plain)))
    }

    /// Why nothing can be told of what leans on a plain request: the same words for all.
    pub(crate) fn reason(&self, plain: &str, done: &Done) -> String {
        let reason = match &done.verdict.reason {
            Some(reason) if done.verdict.verdict == Verdict::Inconclusive => reason.clone() + self.hint(done),
            _ if let Some(culprit) = &done.verdict.culprit => {
                format!("the plain request {plain} was not accepted: it {}; {}", done.words(), culprit.says())
            }
            _ => plain_rejected(plain, &format!("it {}", done.words())) + self.hint(done),
        };
        if self.is_hopeless() {
            return format!("{reason}; {GIVEN_UP}");
        }
        reason
    }

    /// Returns advice on the key and the values of a profile whose plain request was not accepted, if any.
    pub(crate) fn hint(&self, done: &Done) -> &'static str {
        if self.profile.own_key || done.verdict.culprit.is_some() {
            return "";
        }
        if self.knows_key.load(Ordering::SeqCst) {
            return "; the target accepts signed requests that read, so that it knows the key: it need not know the values \
                    of the profile";
        }
        "; the target need not know the suite's test key and values: a profile names its own (`xs2aspec init`)"
    }

    async fn known(&self, id: &str) -> Result<Arc<Done>, Stop> {
        self.case(id).await.ok_or_else(|| Stop::error(format!("there is no control `{id}`")))
    }
}

/// Renders the sentence that a plain request was not accepted.
pub(super) fn plain_rejected(plain: &str, why: &str) -> String {
    format!("the plain request {plain} was not accepted: {why}")
}
