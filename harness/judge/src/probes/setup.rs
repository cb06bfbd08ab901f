//! Setup: the requests that prepare a case, in sequence or at once.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use xs2aspec_record::{Finding, Got, Mismatch, Reason, Verdict};
use xs2aspec_suite::{Case, Location, Preparation, StepExpect};

use crate::{
    Judge,
    answer::Answer,
    done::Answered,
    judge::{ACCEPTANCE, Outcome},
    probe::{Judged, Need},
    quota::Quota,
    step::{Kept, Step},
    stop::{Caught, Stop, Way},
    trail::Trail,
};

/// The result of a case's setup.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// Values by `STEP.KEY`.
    pub(crate) kept: Arc<Kept>,
    /// Number of checks evaluated on the responses.
    pub(crate) checks: u32,
    /// Violations in the responses.
    pub(crate) findings: Vec<Finding>,
    /// The response that ended the case early.
    pub(crate) ended: Option<Ended>,
}

/// A setup response after which the judged request is not sent.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The outcome of the request.
    pub(crate) outcome: Outcome,
    /// The response.
    pub(crate) got: Got,
    /// The missing part, if that is the reason.
    pub(crate) lacks: Option<Reason>,
    /// The resulting verdict.
    pub(crate) verdict: Verdict,
}

impl Prepared {
    fn ending(self, ended: Ended) -> Self {
        Self { ended: Some(ended), ..self }
    }
}

impl Judge {
    /// Runs the setup of a case and returns its result.
    pub(crate) fn set_up(&self, case: &Case, trail: &mut Trail<'_>) -> Way<Prepared> {
        let mut prepared = Prepared::default();
        for step in &case.before {
            until_shown(&prepared, trail);
            let mut values: BTreeMap<&str, Vec<Value>> =
                step.keep.iter().map(|(key, _)| (key.as_str(), Vec::new())).collect();
            let mut together =
                if step.at_once { self.at_once(case, step, &prepared.kept, trail)? } else { vec![] };
            together.reverse();
            for name in names(step) {
                let (answer, examined) = match together.pop() {
                    Some(answered) => answered?,
                    None => self.ask_step(case, &name, step, &prepared.kept, trail)?,
                };
                if step.expect == StepExpect::Accepted
                    && let Some(meaning) = self.rejected_call(case, &answer, trail)
                {
                    if meaning == Quota::UsedUp {
                        return Err(Stop::used_up().into());
                    }
                    prepared.findings.push(not_accepted(case, &examined.got));
                    let (outcome, got) = (Outcome::Refused, examined.got);
                    return Ok(prepared.ending(Ended { outcome, got, lacks: None, verdict: Verdict::Fail }));
                }
                let ends = ends(step.expect, examined.outcome);
                if ends.is_none() && !prepares(step.expect, examined.outcome, answer.status) {
                    let reason = Reason::SetUpRejected { step: name, got: examined.got };
                    return Err(Stop::inconclusive(reason).into());
                }
                prepared.checks += examined.checks;
                prepared.findings.extend(examined.findings);
                if let Some(verdict) = ends {
                    let (outcome, got) = (examined.outcome, examined.got);
                    return Ok(prepared.ending(Ended { outcome, got, lacks: None, verdict }));
                }
                for (key, place) in &step.keep {
                    let value = match place {
                        Location::Sent(header) => {
                            trail.last().and_then(|seen| seen.header(header)).map(Value::from)
                        }
                        _ => found(&answer, examined.document.as_ref(), place),
                    };
                    // A missing value cannot be a duplicate.
                    if step.distinct.contains(key) && value.as_ref().is_none_or(Value::is_null) {
                        continue;
                    }
                    let Some(value) = value else {
                        let reason = Reason::SetUpLacks { step: name, place: place.to_string() };
                        if !matches!(step.expect, StepExpect::RefusalObserved | StepExpect::Rejected) {
                            return Err(Stop::inconclusive(reason).into());
                        }
                        // If the target may lack the whole operation, it may also lack a part of its
                        // response.
                        let (outcome, got, lacks) = (examined.outcome, examined.got, Some(reason));
                        return Ok(prepared.ending(Ended {
                            outcome,
                            got,
                            lacks,
                            verdict: Verdict::Observed,
                        }));
                    };
                    values.entry(key.as_str()).or_default().push(value);
                }
            }
            for key in &step.distinct {
                prepared.checks += 1;
                prepared.findings.extend(repeated(case, step, key, values.get(key.as_str())));
            }
            for (key, mut list) in values {
                let value =
                    if step.times.is_some() { Value::Array(list) } else { list.pop().unwrap_or_default() };
                Arc::make_mut(&mut prepared.kept).insert(format!("{}.{key}", step.name), value);
            }
        }
        until_shown(&prepared, trail);
        Ok(prepared)
    }

    fn ask_step(
        &self,
        case: &Case,
        name: &str,
        step: &Preparation,
        kept: &Arc<Kept>,
        trail: &mut Trail<'_>,
    ) -> Way<Answered> {
        let asked = Step { case, name, request: step.request.whole(), kept };
        match step.expect {
            StepExpect::Accepted => self.exchange_confirmed(asked, trail),
            _ => self.exchange(asked, trail),
        }
    }

    /// Returns the responses to all requests of a step, which are sent at the same time, in the order of
    /// their names.
    fn at_once(
        &self,
        case: &Case,
        step: &Preparation,
        kept: &Arc<Kept>,
        trail: &mut Trail<'_>,
    ) -> Judged<Vec<Result<Answered, Stop>>> {
        let (mut answers, mut probes) = (Vec::new(), Vec::new());
        let mut ways = Vec::new();
        for name in names(step) {
            let mut own = trail.beside();
            match self.ask_step(case, &name, step, kept, &mut own).caught() {
                Ok(answered) => answers.push(answered),
                Err(Need::Requests(needed)) => probes.extend(needed),
                Err(need) => return Err(need),
            }
            ways.push(own);
        }
        if !probes.is_empty() {
            return Err(Need::Requests(probes));
        }
        trail.pause = Duration::ZERO;
        for own in ways {
            trail.append(own);
        }
        Ok(answers)
    }
}

/// Sets a delay before the next request if the target is known to show created resources late.
fn until_shown(prepared: &Prepared, trail: &mut Trail<'_>) {
    if let Some(after) = trail.known.shows_after.filter(|_| !prepared.kept.is_empty()) {
        trail.pause = after;
    }
}

/// Returns the names of a step's requests.
fn names(step: &Preparation) -> impl Iterator<Item = String> + '_ {
    (0..step.times.unwrap_or(1)).map(|number| match step.times {
        Some(_) => format!("{}/{}", step.name, number + 1),
        None => step.name.clone(),
    })
}

/// Returns the finding for a rejected setup request if the clause of the case requires acceptance.
fn not_accepted(case: &Case, got: &Got) -> Finding {
    Finding::new(&case.clause, Mismatch::NotAccepted, "status", ACCEPTANCE, got.to_string())
}

/// Returns the finding for a value that repeats although each must be different.
fn repeated(case: &Case, step: &Preparation, key: &str, values: Option<&Vec<Value>>) -> Option<Finding> {
    let values = values.map(Vec::as_slice).unwrap_or_default();
    let twice = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value))?;
    let (_, place) = step.keep.iter().find(|(kept, _)| kept == key)?;
    let expected = format!("a different value in each of {} responses", values.len());
    let actual = format!("{} twice", twice.1);
    Some(Finding::new(&case.clause, Mismatch::Value, place.to_string(), expected, actual))
}

/// Returns the verdict of a case that ends with a setup response, without its own request.
fn ends(expect: StepExpect, outcome: Outcome) -> Option<Verdict> {
    let is_made = outcome.is_made();
    match (expect, outcome) {
        (StepExpect::RefusalPasses, Outcome::Refused) => Some(Verdict::Pass),
        (StepExpect::RefusalObserved | StepExpect::Rejected, Outcome::Refused)
        | (StepExpect::Rejected, Outcome::Accepted) => Some(Verdict::Observed),
        (StepExpect::Refused, _) if is_made => Some(Verdict::Observed),
        _ => None,
    }
}

/// Returns true if the case continues after this setup response. A 429 counts as a rejection here, even with
/// a Retry-After.
fn prepares(expect: StepExpect, outcome: Outcome, status: u16) -> bool {
    let may_be_refused = matches!(expect, StepExpect::Any | StepExpect::Refused);
    match outcome {
        Outcome::Accepted => true,
        Outcome::Refused => may_be_refused,
        Outcome::Rejected => expect != StepExpect::Accepted,
        Outcome::Busy => may_be_refused && status == 429,
        Outcome::Foreign | Outcome::ServerError | Outcome::Neither => false,
    }
}

fn found(answer: &Answer, document: Option<&Value>, place: &Location) -> Option<Value> {
    match place {
        Location::Header(name) => answer.header(name).map(Value::from),
        Location::Body(pointer) => document?.pointer(pointer).cloned(),
        Location::Query(_) | Location::Path | Location::Sent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::tests::{Got::Status, after};

    #[test]
    fn a_set_up_that_may_be_refused_goes_on_after_a_refusal_and_after_no_failure() {
        let table = [
            (Outcome::Accepted, 200, true, true),
            (Outcome::Refused, 403, false, true),
            (Outcome::Rejected, 201, false, true),
            (Outcome::Busy, 429, false, true),
            (Outcome::Busy, 503, false, false),
            (Outcome::ServerError, 500, false, false),
            (Outcome::Neither, 302, false, false),
        ];
        for (outcome, status, accepted, any) in table {
            assert_eq!(prepares(StepExpect::Accepted, outcome, status), accepted, "{outcome:?} {status}");
            assert_eq!(prepares(StepExpect::Any, outcome, status), any, "{outcome:?} {status}");
            // A created resource with status RJCT can be read. A rejection has already ended the case.
            let goes_on = matches!(outcome, Outcome::Accepted | Outcome::Rejected);
            assert_eq!(prepares(StepExpect::RefusalPasses, outcome, status), goes_on, "{outcome:?} {status}");
        }
    }

    #[test]
    fn a_set_up_that_must_be_refused_or_rejected_leaves_anything_else_to_other_cases() {
        let observed = Some(Verdict::Observed);
        for (outcome, status, refused, rejected) in [
            (Outcome::Accepted, 201, observed, observed),
            (Outcome::Rejected, 201, observed, None),
            (Outcome::Refused, 404, None, observed),
            (Outcome::Busy, 429, None, None),
            (Outcome::ServerError, 500, None, None),
        ] {
            assert_eq!(ends(StepExpect::Refused, outcome), refused, "{outcome:?}");
            assert_eq!(ends(StepExpect::Rejected, outcome), rejected, "{outcome:?}");
            let goes_on = matches!(outcome, Outcome::Refused) || status == 429;
            assert_eq!(refused.is_none() && prepares(StepExpect::Refused, outcome, status), goes_on);
            let is_rejected = outcome == Outcome::Rejected;
            assert_eq!(rejected.is_none() && prepares(StepExpect::Rejected, outcome, status), is_rejected);
        }
        assert_eq!(ends(StepExpect::RefusalPasses, Outcome::Refused), Some(Verdict::Pass));
        assert_eq!(ends(StepExpect::Any, Outcome::Refused), None);
    }

    #[test]
    fn what_prepares_a_case_is_sent_step_by_step() {
        let id = "basket.body/of-two";
        assert_eq!(after(id, &[]), "send payment/1");
        let first = ("payment/1", Status(201));
        assert_eq!(after(id, &[first]), "send payment/2");
        let both = [first, ("payment/2", Status(201))];
        assert_eq!(after(id, &both), "send request");
        // A case whose setup fails is inconclusive, once the failure is confirmed with fresh ids.
        assert_eq!(after(id, &[("payment/1", Status(400))]), "send payment/1/other-values-2");
        let rejected = [("payment/1", Status(400)), ("payment/1/other-values-2", Status(400))];
        assert_eq!(after(id, &rejected), "inconclusive");
    }
}
