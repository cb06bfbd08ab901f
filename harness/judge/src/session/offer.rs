//! What a target offers: which cases can run against it.

use std::sync::{Arc, PoisonError};

use futures_util::lock::Mutex as AsyncMutex;
use serde_json::{Value, json};
use xs2aspec_record::Absence;
use xs2aspec_suite::{Case, Expectation, ProfileSpec, RequestSpec, Signing, definition::Change, template};

use super::{Session, Stop, Trail};
use crate::{
    fill::FillError,
    profile::{Offered, Permission},
    transport::{Held, Transport},
};

impl Session {
    /// Whether the target offers what the case needs.
    pub(super) async fn offered(&self, case: &Case) -> Result<(), Stop> {
        let target = match &self.transport {
            Transport::Replay(replay) => return replay.offered(&case.id),
            Transport::Live(target) => target,
        };
        if target.permission() == Permission::Reads && !case.only_reads() {
            return Err(Stop::held(Held::Forbidden));
        }
        for need in &case.needs {
            let line = self.spec().capability(need).map_or("", |capability| capability.add.as_str());
            match self.profile.capability(need) {
                Offered::Yes => {}
                Offered::No => return Err(self.absent(need)),
                Offered::NotSaid => return Err(self.not_said(need)),
                Offered::Ask => {
                    if let Some(answer) = self.ask(need).await {
                        let reason = format!(
                            "asked, the target answered {answer}: it has no `{need}`; to insist, add {line}, else \
                             [capabilities] {need} = false"
                        );
                        return Err(Stop::not_said(
                            reason,
                            &format!("[capabilities] {need} = true, or false"),
                        ));
                    }
                }
            }
        }
        self.apart_from_needs(case)
    }

    /// Stops where the profile alone says that the target lacks what the case needs, capabilities that it
    /// names apart.
    fn apart_from_needs(&self, case: &Case) -> Result<(), Stop> {
        if self.is_its_control(case) {
            let reason = "the values of the target profile make it the request of its control";
            return Err(Stop::declared_absent(reason.to_owned()));
        }
        // Most profiles declare nothing absent, and looking for values takes time.
        if self.profile.capabilities.values().all(|offered| *offered != Offered::No) {
            return Ok(());
        }
        match values(case).into_iter().find_map(|name| self.declared_absent(&name)) {
            Some(capability) => Err(self.absent(capability)),
            None => Ok(()),
        }
    }

    /// Returns why the profile alone says that a case, or one that it rests on, is not applicable. None if
    /// the profile does not say that.
    pub(crate) fn absence(&self, case: &Case) -> Option<Absence> {
        let rests_on = [&case.same_as, &case.control].into_iter().flatten();
        let own = self.own_absence(case).err().and_then(|stop| stop.absence);
        own.or_else(|| rests_on.filter_map(|id| self.suite.case(id)).find_map(|case| self.absence(case)))
    }

    fn own_absence(&self, case: &Case) -> Result<(), Stop> {
        for need in &case.needs {
            match self.profile.capability(need) {
                Offered::Yes | Offered::Ask => {}
                Offered::No => return Err(self.absent(need)),
                Offered::NotSaid => return Err(self.not_said(need)),
            }
        }
        self.apart_from_needs(case)?;
        let expected = case.expect.placeholders().into_iter();
        let expected = expected.filter_map(|name| name.strip_prefix("target.").map(str::to_owned));
        match values(case).into_iter().chain(expected).find(|value| self.profile.value(value).is_none()) {
            Some(value) => Err(self.not_offered(&value)),
            None => Ok(()),
        }
    }

    /// A capability of which the profile says nothing, with the line to add.
    fn not_said(&self, need: &str) -> Stop {
        let line = self.spec().capability(need).map_or("", |capability| capability.add.as_str());
        let reason = format!("the target profile does not say whether it offers `{need}`; add {line}");
        Stop::not_said(reason, line)
    }

    /// Whether a request that must be refused differs from its control in values of its path alone, and the
    /// profile has the same for both: transactions that are numbered by account may have one id in two of
    /// them.
    fn is_its_control(&self, case: &Case) -> bool {
        let control = case.control.as_deref().and_then(|id| self.suite.case(id));
        let Some(control) = control.filter(|_| matches!(case.expect, Expectation::Refused(_))) else {
            return false;
        };
        let path = |path: &str| {
            let value = |name: &str| self.profile.value(name.strip_prefix("target.")?);
            template::expand(&Value::from(path), &value).ok()
        };
        let (own, other) = (&case.request.path, &control.request.path);
        own != other
            && path(own).is_some_and(|own| Some(own) == path(other))
            && RequestSpec { path: other.clone(), ..RequestSpec::clone(&case.request) } == *control.request
    }

    /// Why a case is left out that needs a capability which the profile declares absent, be it by one value
    /// for two that would have to differ.
    fn absent(&self, capability: &str) -> Stop {
        let spec = self.spec().capability(capability);
        let by_values = spec.filter(|spec| spec.told_by(|name| self.profile.value(name)) == Some(false));
        let reason = match by_values.and_then(|spec| spec.differ.as_ref()) {
            Some([one, other]) => {
                format!("has one value for `{one}` and `{other}`, and so no `{capability}`")
            }
            None => format!("says that it has no `{capability}`"),
        };
        Stop::declared_absent(format!("the target profile {reason}"))
    }

    /// The capability that the profile declares absent and without which there is no such value.
    fn declared_absent(&self, value: &str) -> Option<&str> {
        let capability = self.spec().value(value)?.with.as_deref()?;
        (self.profile.capability(capability) == Offered::No).then_some(capability)
    }

    /// Why a case cannot run against the target, with the line to add to its profile. May ask the target for
    /// a capability.
    pub async fn cannot_run(&self, case: &Case) -> Option<String> {
        let mut next = Some(case);
        while let Some(case) = next {
            if let Err(stop) = self.offered(case).await {
                return Some(stop.reason);
            }
            if let Some(value) = values(case).iter().find(|value| self.profile.value(value).is_none()) {
                return Some(self.not_offered(value).reason);
            }
            if let Some(reason) = self.cannot_sign(case) {
                return Some(reason);
            }
            next = case.control.as_deref().and_then(|id| self.suite.case(id));
        }
        None
    }

    /// Why the key cannot sign a case as it wants: an issuer with letters beyond ASCII stands in a wrapped
    /// header, and not in each character set.
    fn cannot_sign(&self, case: &Case) -> Option<String> {
        // A signature takes time to make, and so does a name.
        if case.request.signing == Signing::default()
            || self.request_signer.certificate(None, "issuer")?.is_ascii()
        {
            return None;
        }
        match self.preview(case) {
            Err(FillError::NotApplicable(reason)) => Some(reason),
            _ => None,
        }
    }

    /// The capabilities that the target was asked for and answered that it lacks, where its profile says
    /// nothing of them.
    pub fn found_absent(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_absent = |answer: &AsyncMutex<Option<Option<String>>>| {
            answer.try_lock().is_some_and(|answer| matches!(&*answer, Some(Some(_))))
        };
        asked.iter().filter(|(_, answer)| is_absent(answer)).map(|(need, _)| need.clone()).collect()
    }

    /// A value that the profile lacks, with the line to add.
    pub(super) fn not_offered(&self, name: &str) -> Stop {
        let value = self.spec().value(name);
        let line = value.map_or("", |value| value.add.as_str());
        let lacks = match value.and_then(|value| value.entry_of.as_deref()) {
            Some(table) => {
                let key = name.rsplit_once('.').map_or(name, |(_, key)| key);
                format!("further `{table}` with `{key}`")
            }
            None => format!("`{name}`"),
        };
        Stop::not_said(format!("the target profile has no {lacks}; add {line}"), line)
    }

    /// What the spec says of target profiles.
    fn spec(&self) -> &ProfileSpec {
        &self.suite.spec().profile
    }

    /// Asks the target for a capability by the plain request of its operation; the answer that says it has
    /// none.
    async fn ask(&self, need: &str) -> Option<String> {
        if self.silence.get().is_some() {
            return None;
        }
        let cell = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(need.to_owned()).or_default())
        };
        let ask = async {
            let ask = self.spec().capability(need)?.ask.as_ref()?;
            let baseline = self.suite.baselines().get(&ask.request)?;
            // What names nothing that exists cannot be answered by "not found" but by a target that lacks the
            // operation.
            let mut request = RequestSpec::clone(&baseline.request);
            if !baseline.before.is_empty() {
                let emptied =
                    Change { set: Some("body".to_owned()), to: Some(json!({})), ..Change::default() };
                request.apply(&emptied).ok()?;
            }
            let plain = self
                .suite
                .cases()
                .iter()
                .find(|case| case.is_plain && case.request.operation == request.operation)?;
            let case = Case { id: format!("{}/ask", plain.id), ..plain.clone() };
            let mut trail = Trail::again(&plain.id);
            let (answer, _) = self.exchange(&case, need, &request, &[].into(), &mut trail).await.ok()?;
            let url = trail.exchanges.last().map_or("", |sent| &sent.request.url);
            let status = answer.status;
            ask.absent.contains(&status).then(|| format!("{status} to {} {}", request.method, url))
        };
        let mut known = cell.lock().await;
        if known.is_none() {
            *known = Some(ask.await);
        }
        known.clone().flatten()
    }
}

/// Names of the values of a profile that the requests of a case use.
fn values(case: &Case) -> Vec<String> {
    let requests = case.before.iter().map(|step| &step.request).chain([&case.request]);
    let names = requests.flat_map(|request| request.placeholders());
    names.filter_map(|name| name.strip_prefix("target.").map(str::to_owned)).collect()
}
