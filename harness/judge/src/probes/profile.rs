//! Profile: suspects the profile before the target. If a profile value is wrong, the rejection of a valid
//! request says nothing about the target. A value is named only with evidence: it has wrong check digits, or
//! the target responds to it as to an invented value but differently to another profile value.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;
use xs2aspec_record::{CaseVerdict, Finding, Look, Mismatch, Reason, Suspicion, Verdict};
use xs2aspec_spec::profile::InsteadSpec;
use xs2aspec_suite::{Case, Depth, Preparation, RequestSpec};

use super::{
    eventually_visible::removes,
    evidence::{Evidence, Seen, invented},
    setup::Prepared,
};
use crate::{
    Judge,
    blank::unconfirm,
    codes::texts_in,
    judge::Outcome,
    known::{self, Known, requests_of},
    probe::{Judged, Need},
    question::{Doubt, Found, Named, Question, Swap},
    step::Step,
    stop::Caught,
    trail::Trail,
    view::View,
};

/// Maximum number of valid cases, besides the failed one, with which a value is tried.
const TRIED: usize = 3;

impl Judge {
    /// Makes a verdict inconclusive if it rests on a wrong profile value.
    pub(crate) fn suspect_profile(
        &self,
        case: &Case,
        outcome: Outcome,
        verdict: &mut CaseVerdict,
        trail: &Trail<'_>,
    ) -> Judged<()> {
        if !(self.asks_again() && trail.view.is_open()) {
            return Ok(());
        }
        // A code other than the expected one may be about the value.
        let rests_on_value = |finding: &Finding| match finding.kind {
            Mismatch::NotAccepted | Mismatch::Code | Mismatch::Status => outcome == Outcome::Refused,
            _ => false,
        };
        let is_rejected = outcome == Outcome::Refused
            && match verdict.verdict {
                Verdict::Fail => verdict.findings.iter().any(rests_on_value),
                // Without a judged response, the setup was rejected.
                Verdict::Inconclusive => case.is_plain || trail.status.is_none(),
                _ => false,
            };
        let is_accepted = verdict.findings.iter().any(|finding| finding.kind == Mismatch::NotRejected);
        if !is_rejected && !is_accepted {
            return Ok(());
        }
        let values: BTreeSet<String> = known::values(case).collect();
        // A request may be accepted because the target does not know the resource.
        let usual = self.suite().case(&self.plain(&case.id)).into_iter();
        let usual: BTreeSet<String> = usual.flat_map(known::values).collect();
        let is_of_case = |value: &String| is_accepted && !usual.contains(value);
        let is_doubtful =
            |value: &&String| is_rejected || is_of_case(value) || self.wrong_by_itself(value).is_some();
        for swap in [Swap::Alone, Swap::Together] {
            for value in values.iter().filter(is_doubtful) {
                let doubt = Doubt { value: value.clone(), swap, is_rejected };
                let Some(found) = trail.known.found(&doubt) else {
                    return Err(Need::Answer(Question::Doubt(doubt, Arc::new(case.clone()))));
                };
                let why = match found {
                    Found::Wrong(why) => why.clone(),
                    Found::Unread if is_accepted && self.differs_in(value, case) => {
                        Box::new(Suspicion::Unread { value: value.clone() })
                    }
                    _ => continue,
                };
                verdict.findings.retain(|finding| !rests_on_value(finding) && !is_accepted);
                if verdict.findings.is_empty() {
                    unconfirm(verdict, Reason::ProfileDoubted { by: why });
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns true if a value appears in the judged request of a case but not in that of its control.
    fn differs_in(&self, value: &str, case: &Case) -> bool {
        let name = format!("target.{value}");
        let sends = |case: &Case| case.request.placeholders().contains(&name);
        sends(case) && !self.control_of(case).is_some_and(sends)
    }

    /// Tests a value of the profile. A value known from the test alone stays known, because a target may
    /// accept a value that it does not check.
    pub fn doubt(&self, doubt: &Doubt, failed: &Case, view: &View, known: &Known) -> Judged<Found> {
        let alone = Doubt { swap: Swap::Alone, ..doubt.clone() };
        if doubt.swap == Swap::Together && known.found(&alone) == Some(&Found::Known) {
            return Ok(Found::Known);
        }
        self.look(&doubt.value, doubt.swap, failed, &mut Trail::again(view, known, &failed.id, Look::Profile))
    }

    /// Looks for evidence that a value is wrong, in the failed request and in valid ones.
    fn look(&self, value: &str, swap: Swap, failed: &Case, trail: &mut Trail<'_>) -> Judged<Found> {
        let by_itself = self.wrong_by_itself(value);
        let instead = self.instead(value, swap);
        let Some(own) = self.profile().values.get(value) else { return Ok(Found::Nothing) };
        if by_itself.is_none() && instead.is_empty() {
            return Ok(Found::Nothing);
        }
        if by_itself.is_none() && is_named(value, own, failed, trail.known)? {
            return Ok(Found::Known);
        }
        let invented = Value::from(invented(own));
        let mut found = by_itself.clone().map_or(Found::Nothing, |why| Found::Wrong(Box::new(why)));
        let mut takes_any = false;
        let valid = self.cases_with(value);
        for (number, case) in std::iter::once(failed).chain(&valid).enumerate() {
            let case = &alone(case, value);
            if !is_repeatable(case) || self.offered(case, trail).caught()?.is_err() {
                continue;
            }
            let mark = format!("profile/{value}/{}/{number}", swap.word());
            let by_own = self.seen_with(case, &mark, &|_| None, trail)?.map(|(seen, _)| seen);
            let taken = |name: &str| (name == value).then(|| invented.clone());
            let by_invented = self.seen_with(case, &format!("{mark}/invented"), &taken, trail)?;
            let by_invented = by_invented.map(|(seen, _)| seen);
            let (Some(by_own), Some(by_invented)) = (by_own, by_invented) else { continue };
            let is_known = match by_itself {
                // A target may know a value with wrong check digits.
                Some(_) => by_own.is_accepted() && !by_invented.is_accepted(),
                None => Evidence::of(&by_own, &by_invented, None) == Evidence::Known,
            };
            if is_known {
                return Ok(Found::Known);
            }
            takes_any |= number == 0 && by_own.is_accepted() && by_own == by_invented;
            for row in instead.iter().filter(|_| found == Found::Nothing) {
                let taken = |name: &str| {
                    let other = if name == row.of { Some(&row.take) } else { row.along.get(name) };
                    other.map(|other| Value::from(format!("${{target.{other}}}")))
                };
                let mark = format!("{mark}/{}", row.take);
                let Some((by_other, _)) = self.seen_with(case, &mark, &taken, trail)? else { continue };
                if Evidence::of(&by_own, &by_invented, Some(&by_other)) == Evidence::Unknown {
                    // A different rejection, or a swap of several values, does not identify a single value.
                    let is_single = swap == Swap::Alone && by_other.is_accepted();
                    let along = self.along(value, case, trail.known).into_iter().filter(|_| !is_single);
                    found = Found::Wrong(Box::new(Suspicion::Unknown {
                        values: std::iter::once(value.to_owned()).chain(along).collect(),
                        got: by_own.got.clone(),
                        take: row.take.clone(),
                        other: by_other.got.clone(),
                        is_taken: by_other.is_accepted(),
                    }));
                    break;
                }
            }
        }
        Ok(if found == Found::Nothing && takes_any { Found::Unread } else { found })
    }

    /// Returns the replacements for a value that the profile has.
    fn instead(&self, value: &str, swap: Swap) -> Vec<InsteadSpec> {
        let is_another = |(one, other): (&String, &String)| {
            let (one, other) = (self.profile().values.get(one), self.profile().values.get(other));
            other.is_some() && one != other
        };
        let rows = self.rows(value).into_iter().map(|row| match swap {
            Swap::Alone => InsteadSpec { along: BTreeMap::new(), ..row },
            Swap::Together => row,
        });
        let rows = rows.filter(|row| swap == Swap::Alone || !row.along.is_empty());
        rows.filter(|row| {
            self.profile().values.contains_key(&row.take)
                && row.along.iter().chain([(&row.of, &row.take)]).any(is_another)
        })
        .collect()
    }

    fn rows(&self, value: &str) -> Vec<InsteadSpec> {
        let spec = &self.suite().spec().profile;
        let entries = spec.entries(self.profile().values.keys().map(String::as_str));
        spec.instead(value, |table| entries.get(table).copied().unwrap_or(1))
    }

    /// Returns the values in the requests of a case that belong to a value and may be wrong as well.
    fn along(&self, value: &str, case: &Case, known: &Known) -> BTreeSet<String> {
        let along = self.rows(value).into_iter().flat_map(|row| row.along.into_keys());
        let along: BTreeSet<String> = along.collect();
        let doubt = |name: &String| Doubt { value: name.clone(), swap: Swap::Alone, is_rejected: true };
        let is_open = |name: &String| known.found(&doubt(name)) != Some(&Found::Known);
        known::values(case).filter(|name| along.contains(name) && is_open(name)).collect()
    }

    /// Sends the requests of a case with other values, recorded as steps of the failed case, and returns the
    /// response.
    fn seen_with(
        &self,
        case: &Case,
        mark: &str,
        other: &dyn Fn(&str) -> Option<Value>,
        trail: &mut Trail<'_>,
    ) -> Judged<Option<(Seen, Option<Value>)>> {
        let changed = |request: &RequestSpec| Arc::new(request.with_values(other));
        let steps = case.before.iter();
        let before = steps.map(|step| Preparation { request: changed(&step.request).into(), ..step.clone() });
        let own = Case {
            id: trail.mark(mark),
            before: before.collect(),
            request: changed(&case.request).into(),
            is_plain: false,
            ..case.clone()
        };
        let asked_before = trail.steps.len();
        if let Ok(Prepared { kept, ended: None, .. }) = self.set_up(&own, trail).caught()? {
            let asked = self.exchange(Step::judged(&own, &kept), trail).caught()?;
            return Ok(asked
                .ok()
                .map(|(answer, examined)| (Seen::of(&answer, &examined), examined.document)));
        }
        // The setup of the case contains the value as well.
        let last = trail.steps[asked_before..].last();
        Ok(last.and_then(|last| {
            let (answer, examined) = (last.answer.as_ref().ok()?, last.examined.get()?);
            Some((Seen::of(answer, examined), None))
        }))
    }

    /// Returns the values that the target names in responses to reading baseline requests, sent as steps of a
    /// failed case.
    pub fn names(&self, failed: &Case, view: &View, known: &Known) -> Judged<Named> {
        let trail = &mut Trail::again(view, known, &failed.id, Look::Profile);
        let mut named = Vec::new();
        let plain = self.suite().cases().iter().filter(|case| case.is_plain && case.only_reads());
        for case in plain.filter(|case| is_repeatable(case)) {
            if self.offered(case, trail).caught()?.is_err() {
                continue;
            }
            let mark = format!("profile/named/{}", case.operation());
            let response = self.seen_with(case, &mark, &|_| None, trail)?;
            if let Some((seen, Some(body))) = response
                && seen.is_accepted()
            {
                let texts = texts_in(&body).into_iter().map(str::to_owned);
                named.push((known::values(case).collect(), texts.collect()));
            }
        }
        Ok(named)
    }

    /// Returns evidence that needs no request: wrong check digits, or a conflict with another value.
    fn wrong_by_itself(&self, name: &str) -> Option<Suspicion> {
        let spec = self.suite().spec().profile.value(name)?;
        let own = self.profile().values.get(name)?;
        if spec.check_digits.is_some_and(|check_digits| !check_digits.fit(own)) {
            return Some(Suspicion::CheckDigits { value: name.to_owned() });
        }
        let other = |name: &Option<String>| {
            let name = name.as_deref()?;
            Some((name.to_owned(), self.profile().values.get(name)?))
        };
        let whole = other(&spec.ends)
            .filter(|(name, whole)| self.wrong_by_itself(name).is_none() && !whole.ends_with(own.as_str()));
        if let Some((whole, _)) = whole {
            return Some(Suspicion::NoEnd { value: name.to_owned(), whole });
        }
        let same = other(&spec.unlike).filter(|(_, other)| *other == own);
        same.map(|(other, _)| Suspicion::Same { value: name.to_owned(), other })
    }

    /// Returns valid cases that contain a value, from as many operations as possible. Read-only cases come
    /// first.
    fn cases_with(&self, value: &str) -> Vec<Case> {
        let all = self.suite().cases();
        let by_value = self.valid.get_or_init(|| {
            let mut by_value: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            let is_valid = |case: &Case| {
                case.depth == Depth::Quick && case.expect.is_accepted() && case.same_as.is_none()
            };
            for (at, case) in all.iter().enumerate().filter(|(_, case)| is_valid(case)) {
                // A request is built on first access. Cloning keeps it out of the shared case.
                for value in known::values(&case.clone()).collect::<BTreeSet<_>>() {
                    by_value.entry(value).or_default().push(at);
                }
            }
            by_value
        });
        let mut cases: Vec<&Case> = by_value.get(value).into_iter().flatten().map(|at| &all[*at]).collect();
        cases.retain(|case| is_repeatable(&alone(case, value)));
        cases.sort_by_key(|case| (!case.only_reads(), case.before.len()));
        let mut operations = BTreeSet::new();
        let (first, others): (Vec<&Case>, Vec<&Case>) =
            cases.into_iter().partition(|case| operations.insert(case.operation()));
        first.into_iter().chain(others).take(TRIED).cloned().collect()
    }
}

/// Returns true if the target itself names a value, as in a list of its customers.
fn is_named(value: &str, text: &str, failed: &Case, known: &Known) -> Judged<bool> {
    let Some(named) = known.named() else {
        return Err(Need::Answer(Question::Named(Arc::new(failed.clone()))));
    };
    Ok(named.iter().any(|(sent, texts)| !sent.contains(value) && texts.contains(text)))
}

/// Returns the case cut off after its last request with the value. Drops the setup if that request does not
/// depend on it.
fn alone(case: &Case, value: &str) -> Case {
    let name = format!("target.{value}");
    let has_value = |request: &RequestSpec| request.placeholders().contains(&name);
    let last = case.before.iter().rposition(|step| has_value(&step.request));
    let (mut before, mut request) = (case.before.clone(), case.request.clone());
    if let Some(last) = last.filter(|_| !has_value(&case.request)) {
        request = before[last].request.clone();
        before.truncate(last);
    }
    let needed = request.placeholders();
    let is_needed = |step: &Preparation| {
        step.keep.iter().any(|(key, _)| needed.contains(&format!("{}.{key}", step.name)))
    };
    if !before.iter().any(is_needed) && has_value(&request) {
        before.clear();
    }
    Case { before, request, ..case.clone() }
}

/// Returns true if the requests of a case can be resent with other values.
fn is_repeatable(case: &Case) -> bool {
    // Another value would delete something else.
    let mut requests = requests_of(case);
    !case.needs_quota() && requests.all(|request| !removes(request))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::tests::{
        Got::{self, Body, Status},
        JUDGE, case, told, view,
    };

    const VALID: &str = "ncbct.creditor-name.length/creditorName/words";
    const INVALID: &str = "ncbct.creditor-name.length/creditorName/one-more";
    const VALUE: &str = "psu.private.id";
    /// The request with the value, with an invented one, and with another profile value.
    const ASKED: [&str; 3] = [
        "profile/psu.private.id/alone/0/request",
        "profile/psu.private.id/alone/0/invented/request",
        "profile/psu.private.id/alone/0/psu.corporate.id/request",
    ];

    /// Returns the finding about the value, or the next need.
    fn found(got: &[Got]) -> String {
        let mut known = Known::default();
        known.add_named(Named::new());
        let steps: Vec<(&str, Got)> = ASKED.into_iter().zip(got.iter().copied()).collect();
        let doubt = Doubt { value: VALUE.to_owned(), swap: Swap::Alone, is_rejected: true };
        let found = JUDGE.doubt(&doubt, case(VALID), &view(VALID, &steps), &known);
        told(found.map(|found| match found {
            Found::Wrong(why) => format!("wrong: {why}"),
            other => format!("{other:?}"),
        }))
    }

    #[test]
    fn a_value_is_held_against_an_invented_one_and_against_another_one_of_the_profile() {
        let unknown = Body(401, r#"{"tppMessages":[{"category":"ERROR","code":"PSU_CREDENTIALS_INVALID"}]}"#);
        assert_eq!(found(&[]), "send profile/psu.private.id/alone/0/request");
        assert_eq!(found(&[unknown]), "send profile/psu.private.id/alone/0/invented/request");
        // A different response to an invented value shows that the target knows this one.
        assert_eq!(found(&[Status(403), unknown]), "Known");
        assert_eq!(found(&[Status(201), unknown]), "Known");
        let other = found(&[unknown, unknown]);
        assert!(other.starts_with("send profile/psu.private.id/alone/0/"), "{other}");
    }

    #[test]
    fn what_an_accepted_case_does_not_show_a_rejected_one_may() {
        let doubt = |is_rejected| Doubt { value: VALUE.to_owned(), swap: Swap::Alone, is_rejected };
        let mut known = Known::default();
        known.add_found(doubt(false), Found::Unread);
        assert_eq!(known.found(&doubt(false)), Some(&Found::Unread));
        assert_eq!(known.found(&doubt(true)), None, "the value was not tested");
        known.add_found(doubt(true), Found::Known);
        assert_eq!(known.found(&doubt(false)), Some(&Found::Known), "the result holds for both kinds");
    }

    #[test]
    fn only_what_rests_on_a_value_lets_the_profile_be_doubted() {
        let known = crate::probes::tests::accepting(INVALID);
        let none = Known::default();
        let with = |id, got, known: &Known| crate::probes::tests::with(id, &[("request", got)], known);
        assert_eq!(with(INVALID, Status(400), &known), "pass");
        assert_eq!(with(INVALID, Status(201), &known), "fail NotRejected");
        assert!(with(VALID, Status(201), &none).starts_with("case "), "the control comes first");
    }
}
