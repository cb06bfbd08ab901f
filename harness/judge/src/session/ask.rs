//! How a session asks: requests filled, sent, answered and recorded.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use serde_json::Value;
use xs2aspec_suite::{Case, Expectation, RequestSpec};

use super::{
    Session, Stop, Trail,
    in_place::sent_for,
    outcome::{Ended, NotReady, Prepared},
};
use crate::{
    answer::{Answer, retry_after},
    fill::{FillError, OTHER_VALUES, RequestBuilder, WireRequest},
    judge::{self, Examined},
    transport::{Asked, Values},
};

/// Whoever asks for no longer than this will have time then: the quota of a day is not meant.
const MOMENT: Duration = Duration::from_secs(10);

impl Session {
    /// The requests of a case as they would be sent, preparing ones first, each with its name. Nothing is
    /// sent, so that what an answer would give is shown as `<STEP.KEY>`. The error says what cannot be
    /// filled.
    pub fn preview(&self, case: &Case) -> Result<Vec<(String, WireRequest)>, FillError> {
        let mut kept = BTreeMap::new();
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
            .map(|(name, request)| Ok((name.to_owned(), self.builder(&case.id, name, &kept).fill(request)?)))
            .collect()
    }

    /// The judged request of a case, signed and ready to be sent by somebody else. Requests that prepare it
    /// are sent.
    pub async fn ready(&self, case: &Case) -> Result<WireRequest, NotReady> {
        self.offered(case).await?;
        let Prepared { kept, ended, .. } = self.set_up(case, &mut Trail::default()).await?;
        if let Some(Ended { words, .. }) = ended {
            return Err(NotReady::Target(format!(
                "a request that prepares it was answered with {words}, after which it is not sent"
            )));
        }
        self.builder(&case.id, "request", &kept).fill(&case.request).map_err(|error| match error {
            FillError::NotOffered(name) => NotReady::Profile(self.not_offered(&name).reason),
            FillError::Unusable(why) => NotReady::Target(why),
            other => NotReady::Profile(other.to_string()),
        })
    }

    /// What a case expects, with the values of the target and of the answers that prepare it.
    pub(super) fn expectation<'a>(
        &self,
        case: &'a Case,
        kept: &BTreeMap<String, Value>,
    ) -> Result<Cow<'a, Expectation>, Stop> {
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
        case.expect.filled(&value).map_err(|error| Stop::error(error.to_string()))
    }

    pub(super) fn builder<'a>(
        &'a self,
        case: &'a str,
        step: &'a str,
        kept: &'a BTreeMap<String, Value>,
    ) -> RequestBuilder<'a> {
        RequestBuilder {
            profile: &self.profile,
            request_signer: &self.request_signer,
            root: self.identity.root(),
            now: self.clock(),
            case,
            step,
            kept,
            signatures: self.signed.as_deref().or(self.transport.cache()).map(|cache| &cache.signatures),
        }
    }

    /// Builds a request of a case with the values that its trail gives.
    pub(super) fn builder_of<'a>(
        &'a self,
        case: &'a Case,
        step: &'a str,
        kept: &'a BTreeMap<String, Value>,
        trail: &Trail,
    ) -> RequestBuilder<'a> {
        let builder = self.builder(&case.id, step, kept);
        match trail.values {
            Values::First => builder,
            Values::Others => RequestBuilder { root: builder.root.with(OTHER_VALUES), ..builder },
        }
    }

    /// The request as bytes. What depends on earlier answers is filled anew each time, and what is not usual:
    /// sent to this target alone in place of another, or signed by its choice.
    fn filled(
        &self,
        builder: RequestBuilder<'_>,
        request: &RequestSpec,
        is_usual: bool,
    ) -> Result<WireRequest, Stop> {
        let RequestBuilder { case, step, kept, .. } = builder;
        let fill = || builder.fill(request);
        // Host is that of the target, and each of those that share their requests has another; the path may
        // be another as well, and is signed where the list says so.
        let mut listed = request.signing.headers.iter().flatten();
        let is_shared = is_usual
            && kept.is_empty()
            && request.header("host").is_none()
            && !listed.any(|name| name.starts_with('('));
        let filled = match self.transport.cache().filter(|_| is_shared) {
            Some(cache) => cache.get_or_fill((case, step), &self.profile.base_url, fill),
            None => fill(),
        };
        filled.map_err(|error| match error {
            FillError::NotOffered(name) => self.not_offered(&name),
            FillError::NotApplicable(why) => Stop::declared_absent(why),
            FillError::Unusable(why) => Stop::inconclusive(why),
            FillError::Defect(message) => Stop::error(format!("the request cannot be made: {message}")),
        })
    }

    /// Asks a step of a case and examines the answer.
    pub(super) async fn exchange(
        &self,
        case: &Case,
        step: &str,
        request: &RequestSpec,
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
    ) -> Result<(Answer, Examined), Stop> {
        let in_place = self.in_place_of(&request.operation);
        let is_usual = in_place.is_none() && trail.signer.is_none() && trail.values == Values::First;
        let request = sent_for(request, in_place.as_deref(), trail);
        let signer = self.signer_for(&request, in_place.as_deref(), trail);
        let builder = self.builder_of(case, step, kept, trail);
        // Filled for each attempt, since the date may have changed.
        let make = || {
            let builder = RequestBuilder { request_signer: &signer, now: self.clock(), ..builder };
            self.filled(builder, &request, is_usual)
        };
        // A quota of the day is not there again in a moment.
        let is_final = |answer: &Answer| {
            (judge::may_be_used_up(case, step, answer.status)
                || judge::is_quota(answer, self.suite.answers()) && self.has_quota(&request.operation))
                && retry_after(answer).is_none_or(|wait| wait > MOMENT)
        };
        let asked = Asked {
            case: &case.id,
            step,
            operation: &request.operation,
            make: &make,
            is_final: &is_final,
            masker: &self.masker,
        };
        trail.calls_before = self.count_call(&request);
        let answer = self.transport.ask(&asked, trail).await?;
        let field = |name: &str| builder.field(&request, name);
        let rules = self.suite.answers();
        let examined = judge::examine(&request.operation, field, &answer, rules, &self.levels);
        Ok((answer, examined))
    }
}
