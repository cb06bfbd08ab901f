//! What a target offers: which cases can run against it.

use std::sync::{Arc, PoisonError};

use serde_json::Value;
use xs2aspec_suite::{Case, RequestSpec, capability};

use super::{Session, Stop, gate::Held};
use crate::profile::{Offered, Permission};

impl Session {
    /// Whether the target offers what the case needs.
    pub(super) async fn offered(&self, case: &Case) -> Result<(), Stop> {
        if let Some(recorded) = &self.recorded {
            return recorded.offered(&case.id);
        }
        if self.gate.permission() == Permission::Reads && !case.only_reads() {
            return Err(Stop::held(Held::Forbidden));
        }
        for need in &case.needs {
            let line = capability::find(&capability::CAPABILITIES, need).map_or("", |offer| offer.line);
            match self.profile.capabilities.get(need.as_str()).copied().unwrap_or(Offered::No) {
                Offered::Yes => {}
                Offered::No => {
                    let reason = format!("the target profile does not offer `{need}`; add {line}");
                    return Err(Stop::not_applicable(reason));
                }
                Offered::Ask => {
                    if let Some(answer) = self.ask(need).await {
                        let reason = format!(
                            "asked, the target answered {answer}: it has no `{need}`; to insist, add {line}"
                        );
                        return Err(Stop::not_applicable(reason));
                    }
                }
            }
        }
        Ok(())
    }

    /// Why a case cannot run against the target, with the line to add to its profile. May ask the target for a capability.
    pub async fn cannot_run(&self, case: &Case) -> Option<String> {
        let mut next = Some(case);
        while let Some(case) = next {
            if let Err(stop) = self.offered(case).await {
                return Some(stop.reason);
            }
            let requests = case.before.iter().map(|step| &step.request).chain([&case.request]);
            for name in requests.flat_map(RequestSpec::placeholders) {
                if let Some(value) =
                    name.strip_prefix("target.").filter(|value| self.profile.value(value).is_none())
                {
                    return Some(not_offered(value));
                }
            }
            next = case.control.as_deref().and_then(|id| self.suite.case(id));
        }
        None
    }

    /// Asks the target for a capability by the plain request of its operation; the answer that says it has none.
    async fn ask(&self, need: &str) -> Option<String> {
        let cell = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(need.to_owned()).or_default())
        };
        let ask = async {
            let baseline = self.suite.baselines().get(if need == "sandbox" { "customers" } else { need })?;
            let kept = [("payment.id".to_owned(), Value::from("none"))].into();
            let request = self.filler(need, "ask", &kept).fill(&baseline.request).ok()?;
            let pass = self.gate.pass(&request.method).ok()?;
            let status = pass.send(&request).await.answer.ok()?.status;
            // A basket with an unknown payment is refused one way or another; a missing operation is not found.
            let absent = matches!(status, 404 | 405 | 501) || (need == "sandbox" && status == 403);
            absent.then(|| format!("{status} to {} {}", request.method, self.masker.text(&request.url)))
        };
        cell.get_or_init(|| ask).await.clone()
    }
}

/// A value that the profile lacks, with the line to add.
pub(super) fn not_offered(name: &str) -> String {
    let line = capability::find(&capability::VALUES, name).map_or("", |offer| offer.line);
    format!("the target profile has no `{name}`; add {line}")
}
