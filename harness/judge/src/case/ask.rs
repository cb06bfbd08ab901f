//! The requests of a case and their responses.

use std::{borrow::Cow, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use serde_json::Value;
use xs2aspec_record::{Reason, Verdict};
use xs2aspec_suite::{Case, Expectation};

use crate::{
    Judge,
    done::Answered,
    fill::{FillError, OTHER_VALUES, RequestBuilder, WireRequest},
    judge,
    known::Known,
    probe::{Judged, Need, Probe, Values},
    probes::{
        eventually_visible::reads,
        setup::{Ended, Prepared},
    },
    request_cache::RequestCache,
    request_signer::RequestSigner,
    step::{Kept, Step},
    stop::{Caught, Stop, Way},
    trail::Trail,
    view::View,
};

/// The reason why the judged request of a case cannot be handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    /// The request cannot be built with this profile.
    Profile(Reason),
    /// A setup request did not have the required outcome.
    Target(Reason),
}

impl From<Stop> for NotReady {
    fn from(stop: Stop) -> Self {
        match stop.verdict {
            Verdict::NotApplicable => Self::Profile(*stop.reason),
            _ => Self::Target(*stop.reason),
        }
    }
}

impl Judge {
    /// Returns the requests of a case as they would be sent, setup steps first, each with its name. Sends
    /// nothing, so values from earlier responses appear as `<STEP.KEY>`. Returns an error if a placeholder
    /// cannot be filled.
    pub fn preview(&self, case: &Case, now: DateTime<Utc>) -> Result<Vec<(String, WireRequest)>, FillError> {
        let mut kept = Kept::new();
        for step in &case.before {
            for (key, _) in &step.keep {
                let name = format!("{}.{key}", step.name);
                let value = Value::from(format!("<{name}>"));
                let value = step.times.map_or(value.clone(), |times| Value::Array(vec![value; times]));
                kept.insert(name, value);
            }
        }
        let steps = case.before.iter().map(|step| (step.name.as_str(), &step.request));
        steps
            .chain([("request", &case.request)])
            .map(|(name, request)| {
                let signer = self.signer.as_deref().ok_or_else(nobody)?;
                let builder = self.builder((&case.id, name), &kept, (signer, now));
                Ok((name.to_owned(), builder.fill(request)?))
            })
            .collect()
    }

    /// Returns the judged request of a case for a caller that sends it.
    pub fn ready(&self, case: &Case, view: &View, known: &Known) -> Judged<Result<Probe, NotReady>> {
        let mut trail = Trail::new(view, known);
        let prepared = self.offered(case, &trail).and_then(|()| self.set_up(case, &mut trail));
        Ok(match prepared.caught()? {
            Err(stop) => Err(stop.into()),
            Ok(Prepared { ended: Some(Ended { got, lacks, .. }), .. }) => {
                Err(NotReady::Target(lacks.unwrap_or(Reason::SetUpEnds { got })))
            }
            Ok(Prepared { kept, .. }) => Ok(self.probe(Step::judged(case, &kept), &trail)),
        })
    }

    /// Returns the expectation of a case, filled with values of the profile and of its setup responses.
    pub(crate) fn expectation<'a>(&self, case: &'a Case, kept: &Kept) -> Result<Cow<'a, Expectation>, Stop> {
        let value = |name: &str| match name.strip_prefix("target.") {
            Some(name) => self.profile.value(name),
            None => kept.get(name).cloned(),
        };
        for name in case.expect.placeholders() {
            if let Some(name) = name.strip_prefix("target.").filter(|name| self.profile.value(name).is_none())
            {
                return Err(self.not_offered(name));
            }
        }
        case.expect.filled(&value).map_err(|error| Stop::error(Reason::Defect { why: error.to_string() }))
    }

    fn builder<'a>(
        &'a self,
        (case, step): (&'a str, &'a str),
        kept: &'a Kept,
        (request_signer, now): (&'a RequestSigner, DateTime<Utc>),
    ) -> RequestBuilder<'a> {
        RequestBuilder {
            profile: &self.profile,
            request_signer,
            root: self.identity.root(),
            now,
            case,
            step,
            attempt: 1,
            kept,
            signatures: None,
        }
    }

    /// Returns the bytes of a probe's request. `requests` is a cache shared with runs against other targets.
    /// Requests that depend on earlier responses, are changed for this target, or are signed differently
    /// bypass it. `signatures` holds signatures made earlier. Each attempt, counted from 1, has ids of its
    /// own.
    pub fn fill(
        &self,
        (probe, attempt): (&Probe, u32),
        now: DateTime<Utc>,
        (requests, signatures): (Option<&RequestCache>, Option<&RequestCache>),
    ) -> Result<WireRequest, FillError> {
        let Probe { case, step, sent, kept, values, .. } = probe;
        let signer = sent.signer.as_deref().ok_or_else(nobody)?;
        let builder = self.builder((case, step), kept, (signer, now));
        let root = match values {
            Values::First => builder.root,
            Values::Others => builder.root.with(OTHER_VALUES),
        };
        let builder = RequestBuilder { root, attempt, signatures: signatures.or(requests), ..builder };
        let request = &sent.request;
        let fill = || builder.fill(request);
        // The cache leaves out requests with a Host of their own, because each target has another host. It
        // also leaves out requests that sign the request target, because paths may differ.
        let mut listed = request.signing.headers.iter().flatten();
        let is_shared = sent.is_usual
            && attempt == 1
            && kept.is_empty()
            && request.header("host").is_none()
            && !listed.any(|name| name.starts_with('('));
        match requests.filter(|_| is_shared) {
            Some(cache) => cache.get_or_fill((case, step), &self.profile.base_url, fill),
            None => fill(),
        }
    }

    /// Returns the stop for a case whose request cannot be filled.
    pub fn unfilled(&self, error: FillError) -> Stop {
        match error {
            FillError::NotOffered(name) => self.not_offered(&name),
            FillError::NotApplicable(why) => Stop::declared_absent(Reason::NoSuchRequest { why }),
            FillError::Unusable(why) => Stop::inconclusive(Reason::Unusable { why }),
            FillError::Defect(why) => {
                Stop::error(Reason::Defect { why: format!("cannot build the request: {why}") })
            }
        }
    }

    /// Returns the response to a step of a case, with its examination.
    pub(crate) fn exchange(&self, step: Step<'_>, trail: &mut Trail<'_>) -> Way<Answered> {
        let Some(seen) = trail.seen(&step.case.id, step.name) else {
            if !trail.view.is_open() {
                let (_, name) = trail.recorded_as(&step.case.id, step.name);
                return Err(trail.view.missing(&name).into());
            }
            return Err(Need::Requests(vec![self.probe(step, trail)]).into());
        };
        let of_record = || Arc::new(self.sent(step.request, trail));
        let sent = seen.sent.as_ref().map_or_else(of_record, Arc::clone);
        trail.pause = Duration::ZERO;
        trail.steps.push(seen);
        trail.is_held_back |= seen.is_held_back;
        trail.remarks.judged_with.extend(sent.changes.iter().cloned());
        trail.calls_before = self.is_call(&sent.request).then_some(seen.calls_before);
        let answer = Arc::clone(seen.answer.as_ref().map_err(Stop::clone)?);
        let field = |name: &str| seen.header(name);
        let rules = self.suite.answers();
        let examine = || judge::examine(&sent.request.operation, field, &answer, rules, &self.levels);
        let examined = seen.examined.get_or_init(examine).clone();
        Ok((answer, examined))
    }

    /// Sends the judged request of a case, and repeats it if its response may still become a pass.
    pub(super) fn judged_exchange(
        &self,
        expect: &Expectation,
        step: Step<'_>,
        has_sound_control: bool,
        trail: &mut Trail<'_>,
    ) -> Way<Answered> {
        let settled = self.settled(expect, step, trail)?;
        let expect = judge::by_choice(expect, self.levels().choice(&step.case.clause));
        if expect.is_accepted() && has_sound_control {
            return self.confirmed(step, trail, settled);
        }
        let may_pass = expect.is_accepted() || matches!(expect, Expectation::Observed);
        if may_pass && !reads(step.case) {
            return self.once_available(step, trail, settled);
        }
        self.exchange_unavailable(expect, step, trail, settled)
    }

    fn probe(&self, step: Step<'_>, trail: &Trail<'_>) -> Probe {
        let Step { case, name, request, kept } = step;
        let sent = Arc::new(self.sent(request, trail));
        Probe {
            case: case.id.clone(),
            step: name.to_owned(),
            recorded: trail.recorded_as(&case.id, name),
            look: trail.beside.of.as_ref().map(|(_, look)| *look),
            kept: Arc::clone(kept),
            values: trail.values,
            pause: trail.pause,
            is_confirming: trail.beside.is_confirming,
            is_call: self.is_call(&sent.request),
            may_be_used_up: judge::may_be_used_up(case, name),
            sent,
        }
    }
}

fn nobody() -> FillError {
    FillError::Defect("a judge of a record has no signer".to_owned())
}
