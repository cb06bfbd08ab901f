//! Judges a case: what it needs first, its judged request, its verdict. A [`Judge`] sends nothing. It reads
//! the history ([`View`]) and returns what it needs ([`Need`](crate::Need)).

mod ask;
mod offer;

use xs2aspec_record::{Came, CaseVerdict, Exchange, Finding, Look, Reason, Verdict};
use xs2aspec_suite::Case;

pub use self::ask::NotReady;
use crate::{
    Judge,
    blank::{blank, described, differences, unconfirm},
    done::Done,
    judge::{self, Outcome, is_foreign},
    known::Known,
    mask::Learned,
    probe::Judged,
    probes::{
        control::{plain_rejected, values_of_control},
        setup::{Ended, Prepared},
    },
    question::{A_MOMENT, Again, StillAccepting},
    quota::Quota,
    step::Step,
    stop::{Caught, Halt, Stop, Way},
    trail::{Remarks, Trail},
    view::View,
};

/// The result of rerunning a case, its verdict so far, and its trail.
type Attempt<'v> = (Result<(Outcome, Came), Stop>, CaseVerdict, Trail<'v>);

impl Judge {
    /// Judges a case, or returns what it needs first. The case may be outside the suite, but its control must
    /// be part of it.
    pub fn case(&self, case: &Case, view: &View, known: &Known) -> Judged<Done> {
        let mut trail = Trail::new(view, known);
        let mut verdict = blank(case);
        let answered = match self.attempt(case, &mut verdict, &mut trail).caught()? {
            Ok(seen) => Some(seen),
            Err(Stop { verdict: word, reason, absence, seen }) => {
                verdict.verdict = word;
                verdict.reason = Some(*reason);
                verdict.absence = absence;
                // Only a `fail` has findings. Other evidence from a broken setup or response is in the
                // exchanges.
                verdict.findings.clear();
                seen.map(|seen| *seen)
            }
        };
        let is_used_up = verdict.reason == Some(Reason::DailyCalls);
        let failure = trail.last().and_then(|seen| seen.failure.clone());
        let of_set_up = || Some(trail.last()?.examined.get()?.outcome);
        let outcome = answered.as_ref().map_or_else(of_set_up, |(outcome, _)| Some(*outcome));
        if let Some(outcome) = outcome.filter(|_| !is_used_up) {
            self.suspect_profile(case, outcome, &mut verdict, &trail)?;
        }
        self.levels.weigh(&mut verdict);
        if verdict.verdict == Verdict::Pass
            && let Some(reason) = self.flaky(case, &trail)
        {
            (verdict.verdict, verdict.reason) = (Verdict::Flaky, Some(reason));
        }
        if !verdict.findings.is_empty()
            && let Some(control) = self.control_of(case)
        {
            verdict.differences = differences(case, control);
        }
        if verdict.findings.is_empty() {
            verdict.codes.clear();
        }
        let control = case.control.as_deref().and_then(|id| known.case(id));
        let is_held_back = trail.is_held_back || control.is_some_and(|done| done.is_held_back);
        // A resumed run tries the case again if the target accepts requests by then.
        let is_given_up = known.plain.is_hopeless && trail.steps.is_empty();
        verdict.unconfirmed |= is_given_up && verdict.verdict == Verdict::Inconclusive || is_used_up;
        let values = trail.values.max(trail.accepted_with);
        let exchanges: Vec<Exchange> = trail.exchanges().cloned().collect();
        let Trail { status, remarks, .. } = trail;
        let Remarks { judged_with, shows_after, .. } = remarks;
        verdict.judged_with = judged_with.into_iter().collect();
        verdict.observations.extend(shows_after.map(|after| {
            format!(
                "{}: the target showed the created resource only after {} ms; later cases wait as long",
                case.clause,
                after.as_millis()
            )
        }));
        if self.asks_again() {
            self.mask(&mut verdict, &view.learned);
        }
        verdict.observations.sort();
        verdict.observations.dedup();
        let judged = exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange);
        let shows_it = case.expect.is_accepted()
            && matches!(answered, Some((Outcome::Foreign, _)))
            && judged.and_then(|judged| judged.response.as_ref()).is_some_and(|answer| !is_foreign(answer));
        Ok(Done {
            verdict: described(case, verdict),
            exchanges,
            answered,
            status,
            values,
            shows_after,
            shows_it,
            failure,
            is_held_back,
        })
    }

    /// Masks the text of a verdict.
    fn mask(&self, verdict: &mut CaseVerdict, learned: &Learned) {
        self.mask_findings(verdict, learned);
        let seen = verdict.observations.iter_mut().chain(&mut verdict.refusal);
        let differing = verdict.differences.iter_mut().flat_map(|one| [&mut one.sent, &mut one.control]);
        let told = verdict.codes.iter_mut().chain(differing.flatten());
        let masked = |text: &str| self.masker.text_with(text, learned);
        for text in seen.chain(told) {
            *text = masked(text);
        }
        verdict.reason = verdict.reason.as_ref().map(|reason| reason.with_texts(&masked));
    }

    /// Masks the findings of a case.
    pub(crate) fn mask_findings(&self, verdict: &mut CaseVerdict, learned: &Learned) {
        let rule = |name: &str| self.suite.spec().masks.privacy(name);
        for finding in &mut verdict.findings {
            self.masker.finding(finding, learned, &rule);
        }
    }

    /// Reruns a case under another name, as steps of the case `of`.
    pub(crate) fn attempt_again<'v>(
        &self,
        (of, look): (&str, Look),
        (mark, case): (&str, &Case),
        view: &'v View,
        known: &'v Known,
    ) -> Judged<Attempt<'v>> {
        let mut trail = Trail::again(view, known, of, look);
        let own = Case { id: trail.mark(mark), is_plain: false, ..case.clone() };
        let mut verdict = blank(&own);
        let asked = self.attempt(&own, &mut verdict, &mut trail).caught()?;
        Ok((asked, verdict, trail))
    }

    /// Judges a case up to its verdict, or up to the point where it stops.
    pub(crate) fn attempt(
        &self,
        case: &Case,
        verdict: &mut CaseVerdict,
        trail: &mut Trail<'_>,
    ) -> Way<(Outcome, Came)> {
        self.offered(case, trail)?;
        if let Some(plain) = &case.same_as {
            return self.by_name(case, plain, verdict, trail.known);
        }
        let refused_control = self.control(case, verdict, trail)?;
        trail.values = values_of_control(case, trail.known);
        let set_up = self.set_up(case, trail);
        let Prepared { kept, checks, findings, ended } = set_up.map_err(|halt| match halt {
            Halt::Stop(stop) if case.is_plain && stop.verdict == Verdict::Inconclusive => {
                Stop::inconclusive(plain_rejected(&case.id, Came::Nothing(stop.reason), None)).into()
            }
            other => other,
        })?;
        if let Some(Ended { outcome, got, lacks, verdict: unbroken }) = ended {
            verdict.exchange = trail.number();
            verdict.verdict = if findings.is_empty() { unbroken } else { Verdict::Fail };
            verdict.checks = checks + 1;
            verdict.findings = merged(findings);
            let word = if outcome == Outcome::Refused { "rejected" } else { "answered" };
            let says = lacks.map_or_else(|| got.to_string(), |lacks| lacks.to_string());
            verdict.observations.push(format!("{}: {word} with {says}", case.clause));
            return Ok((outcome, Came::Got(got)));
        }
        let expect = self.expectation(case, &kept)?;
        let own = Step::judged(case, &kept);
        let asked = self.judged_exchange(&expect, own, refused_control.is_none(), trail);
        let (answer, mut examined) = match asked.caught()? {
            Ok(asked) => asked,
            Err(stop) => match self.no_answer(&expect, own, verdict, (stop, trail))? {
                Ok(asked) => asked,
                Err(reason) => return Ok((Outcome::ServerError, Came::Nothing(reason))),
            },
        };
        trail.status = Some(answer.status);
        verdict.codes.clone_from(&examined.got.codes);
        verdict.exchange = trail.number();
        examined.checks += checks;
        examined.findings.splice(0..0, findings);
        let mut seen = (examined.outcome, Came::Got(examined.got.clone()));
        if examined.outcome != Outcome::Accepted
            && let Some(stop) = refused_control
        {
            return Err(stop.into());
        }
        // If another valid request is accepted, the target is working, and the difference shows what it
        // rejects.
        if case.is_plain && examined.outcome.is_refusal() {
            verdict.culprit =
                self.accepted_otherwise(case, (&answer, examined.document.as_ref()), trail)?.map(Box::new);
        }
        let culprit = verdict.culprit.as_deref();
        let is_understood = self.profile.own_key || culprit.is_some();
        let is_open = self.is_left_open(culprit) || !is_understood && examined.outcome.is_refusal();
        if case.is_plain && is_open {
            let rejected = plain_rejected(&case.id, seen.1.clone(), verdict.culprit.clone());
            return Err(Stop::inconclusive(rejected).after(seen).into());
        }
        if let Some(meaning) = self.quota(case, &answer, trail) {
            if meaning == Quota::UsedUp {
                return Err(Stop::used_up().after(seen).into());
            }
            examined.outcome = Outcome::Refused;
            seen.0 = Outcome::Refused;
        }
        let plain = self.plain(case.control.as_deref().unwrap_or(&case.id));
        if examined.outcome == Outcome::Accepted && case.expect.is_accepted() {
            examined.checks += 1;
            examined.findings.extend(self.other_status(case, &plain, answer.status, trail.known));
        }
        let of = (case.clause.as_str(), case.request.operation.as_str());
        let by = (&self.profile, &self.levels);
        let judged = judge::judge(of, &expect, &answer, examined, by, self.suite.answers());
        verdict.verdict = judged.verdict;
        verdict.checks = judged.checks;
        verdict.findings = merged(judged.findings);
        verdict.observations.extend(judged.observations);
        verdict.observations.extend(judged.refusal.clone());
        verdict.refusal = judged.refusal;
        if judged.verdict == Verdict::Pass && self.is_doubtful(case, seen.0, answer.status) {
            let mark = format!("again-after/{}", case.id);
            let doubt = StillAccepting { within: A_MOMENT, ..StillAccepting::at_once(&plain, &mark) };
            let again = self.still_accepting(doubt, trail)?;
            // The baseline is checked again before the verdict is reported.
            if let Some(rejection) = again.and_then(Again::rejection) {
                unconfirm(verdict, Reason::AcceptsNothing { plain, came: rejection.clone() });
                return Ok(seen);
            }
        }
        let rejected = |why| plain_rejected(&case.id, Came::Nothing(Box::new(why)), None);
        verdict.reason = judged.reason.map(|why| if case.is_plain { rejected(why) } else { why });
        Ok(seen)
    }
}

/// Removes duplicates: the same mismatch in a setup response and in the judged response counts once.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !kept.contains(&finding) {
            kept.push(finding);
        }
    }
    kept
}
