//! Decides which cases can run against a target.

use std::sync::Arc;

use chrono::DateTime;
use serde_json::{Value, json};
use xs2aspec_record::{Absence, Look, Reason, Verdict};
use xs2aspec_suite::{Case, Expectation, ProfileSpec, RequestSpec, Signing, definition::Change, template};

use crate::{
    Judge,
    fill::FillError,
    known::{Known, of_target, values},
    probe::{Judged, Need},
    profile::{Offered, Permission},
    question::Question,
    step::Step,
    stop::{Caught, Stop, Way},
    trail::Trail,
    view::View,
};

impl Judge {
    /// Returns an error if the target lacks something that the case needs.
    pub(crate) fn offered(&self, case: &Case, trail: &Trail<'_>) -> Way<()> {
        if !trail.view.is_open() {
            return Ok(was_offered(case, trail.view)?);
        }
        if self.permission == Permission::Reads && !case.only_reads() {
            return Err(Stop::declared_absent(Reason::OnlyRead).into());
        }
        for need in &case.needs {
            self.said(need)?;
            if self.profile.capability(need) == Offered::Ask
                && let Some(answer) = asked(need, trail.known)?
            {
                let (capability, answer, add) = (need.clone(), answer.clone(), self.line(need).to_owned());
                let reason = Reason::CapabilityLacked { capability, answer, add };
                let add = format!("[capabilities] {need} = true, or false");
                return Err(Stop::not_said(reason, &add).into());
            }
        }
        Ok(self.apart_from_needs(case)?)
    }

    /// Stops if the profile alone shows that the case does not apply. Ignores the case's `needs`.
    fn apart_from_needs(&self, case: &Case) -> Result<(), Stop> {
        if self.is_its_control(case) {
            return Err(Stop::declared_absent(Reason::SameAsControl));
        }
        // Most profiles declare nothing absent, and searching for values takes time.
        if self.profile.capabilities.values().all(|offered| *offered != Offered::No) {
            return Ok(());
        }
        let absent = values(case).find_map(|name| self.declared_absent(&name));
        absent.map_or(Ok(()), |capability| Err(self.absent(capability)))
    }

    /// Returns the reason why a case, or a case it depends on, does not apply according to the profile alone.
    /// Returns None if the profile gives no reason.
    pub(crate) fn absence(&self, case: &Case) -> Option<Absence> {
        let rests_on = [&case.same_as, &case.control].into_iter().flatten();
        let own = self.own_absence(case).err().and_then(|stop| stop.absence);
        own.or_else(|| rests_on.filter_map(|id| self.suite.case(id)).find_map(|case| self.absence(case)))
    }

    fn own_absence(&self, case: &Case) -> Result<(), Stop> {
        case.needs.iter().try_for_each(|need| self.said(need))?;
        self.apart_from_needs(case)?;
        let expected = of_target(case.expect.placeholders());
        let lacking = values(case).chain(expected).find(|value| self.profile.value(value).is_none());
        lacking.map_or(Ok(()), |value| Err(self.not_offered(&value)))
    }

    /// Stops if the profile declares a capability absent or does not mention it.
    fn said(&self, need: &str) -> Result<(), Stop> {
        match self.profile.capability(need) {
            Offered::Yes | Offered::Ask => Ok(()),
            Offered::No => Err(self.absent(need)),
            Offered::NotSaid => {
                let line = self.line(need);
                let reason = Reason::NotSaid { capability: need.to_owned(), add: line.to_owned() };
                Err(Stop::not_said(reason, line))
            }
        }
    }

    /// Returns the profile line that declares a capability.
    fn line(&self, need: &str) -> &str {
        self.spec().capability(need).map_or("", |capability| capability.add.as_str())
    }

    /// Returns true if an invalid request differs from its control only in path values that are equal in the
    /// profile. Transactions numbered per account may have the same id in two accounts.
    fn is_its_control(&self, case: &Case) -> bool {
        let Some(control) = self.control_of(case).filter(|_| matches!(case.expect, Expectation::Refused(_)))
        else {
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

    /// Returns the stop for a case that needs a capability which the profile declares absent. A profile may
    /// declare it directly, or by giving one value where two must differ.
    fn absent(&self, capability: &str) -> Stop {
        let spec = self.spec().capability(capability);
        let by_values = spec.filter(|spec| spec.told_by(|name| self.profile.value(name)) == Some(false));
        let capability = capability.to_owned();
        Stop::declared_absent(match by_values.and_then(|spec| spec.differ.clone()) {
            Some([one, other]) => Reason::OneValue { one, other, capability },
            None => Reason::DeclaredAbsent { capability },
        })
    }

    /// Returns the capability that a value depends on, if the profile declares that capability absent.
    fn declared_absent(&self, value: &str) -> Option<&str> {
        let capability = self.spec().value(value)?.with.as_deref()?;
        (self.profile.capability(capability) == Offered::No).then_some(capability)
    }

    /// Returns the reason why a case cannot run against the target, with the line to add to the profile. May
    /// need a probe for a capability.
    pub fn cannot_run(&self, case: &Case, view: &View, known: &Known) -> Judged<Option<Reason>> {
        let trail = Trail::new(view, known);
        let mut next = Some(case);
        while let Some(case) = next {
            if let Err(stop) = self.offered(case, &trail).caught()? {
                return Ok(Some(*stop.reason));
            }
            if let Some(value) = values(case).find(|value| self.profile.value(value).is_none()) {
                return Ok(Some(*self.not_offered(&value).reason));
            }
            if let Some(reason) = self.cannot_sign(case) {
                return Ok(Some(reason));
            }
            next = self.control_of(case);
        }
        Ok(None)
    }

    /// Returns the reason why the key cannot sign a case as required. An issuer with non-ASCII characters
    /// needs a wrapped header, and not every character set can encode it.
    fn cannot_sign(&self, case: &Case) -> Option<Reason> {
        // Signing and formatting the issuer name are slow, so the common case returns early.
        if case.request.signing == Signing::default()
            || self.signer.as_ref()?.certificate(None, "issuer")?.is_ascii()
        {
            return None;
        }
        match self.preview(case, DateTime::UNIX_EPOCH) {
            Err(FillError::NotApplicable(why)) => Some(Reason::NoSuchRequest { why }),
            _ => None,
        }
    }

    /// Returns the stop for a value that the profile lacks, with the line to add.
    pub(crate) fn not_offered(&self, name: &str) -> Stop {
        let value = self.spec().value(name);
        let line = value.map_or("", |value| value.add.as_str());
        let add = line.to_owned();
        let reason = match value.and_then(|value| value.entry_of.clone()) {
            Some(table) => {
                let key = name.rsplit_once('.').map_or(name, |(_, key)| key).to_owned();
                Reason::NoFurtherEntry { table, key, add }
            }
            None => Reason::NoValue { value: name.to_owned(), add },
        };
        Stop::not_said(reason, line)
    }

    /// Returns the rules of the document for bank profiles.
    fn spec(&self) -> &ProfileSpec {
        &self.suite.spec().profile
    }

    /// Returns the response that shows that the target lacks a capability, found with the baseline request of
    /// its operation. Returns None if the target has the capability or the response does not show it.
    pub fn capability(&self, need: &str, view: &View, known: &Known) -> Judged<Option<String>> {
        let Some((case, request, absent)) = self.capability_request(need, known) else { return Ok(None) };
        let mut trail = Trail::again(view, known, &case.id, Look::Capability);
        let case = Case { id: trail.mark(ASK), ..case };
        let step = Step { case: &case, name: need, request: &request, kept: &Arc::default() };
        let asked = self.exchange(step, &mut trail).caught()?;
        let Ok((answer, _)) = asked else { return Ok(None) };
        let url = trail.last_exchange().map_or("", |sent| &sent.request.url);
        let status = answer.status;
        Ok(absent.contains(&status).then(|| format!("{status} to {} {url}", request.method)))
    }

    /// Returns the case and the request that test a capability, and the statuses that show that it is absent.
    fn capability_request(&self, need: &str, known: &Known) -> Option<(Case, Arc<RequestSpec>, &[u16])> {
        if known.silence.is_some() {
            return None;
        }
        let ask = self.spec().capability(need)?.ask.as_ref()?;
        let baseline = self.suite.baselines().get(&ask.request)?;
        // The request refers to no existing resource, so a "not found" can only mean that the target lacks
        // the operation.
        let mut request = RequestSpec::clone(&baseline.request);
        if !baseline.before.is_empty() {
            let emptied = Change { set: Some("body".to_owned()), to: Some(json!({})), ..Change::default() };
            request.apply(&emptied).ok()?;
        }
        let mut cases = self.suite.cases().iter();
        let plain = cases.find(|case| case.is_plain && case.request.operation == request.operation)?;
        Some((plain.clone(), Arc::new(request), &ask.absent))
    }
}

/// The mark of a request that tests a capability.
const ASK: &str = "ask";

/// Returns the recorded response to a capability probe, if it shows that the target lacks the capability.
fn asked<'k>(need: &str, known: &'k Known) -> Judged<Option<&'k String>> {
    match known.capability(need) {
        Some(answer) => Ok(answer.as_ref()),
        None => Err(Need::Answer(Question::Capability(need.to_owned()))),
    }
}

/// Stops if the history says that a case did not apply. A case whose request was sent did apply, whatever its
/// verdict says.
fn was_offered(case: &Case, view: &View) -> Result<(), Stop> {
    let verdict = view.verdict().filter(|verdict| verdict.verdict == Verdict::NotApplicable);
    let verdict = verdict.filter(|_| view.step((&case.id, "request")).is_none());
    verdict.map_or(Ok(()), |verdict| Err(Stop::like(verdict)))
}
