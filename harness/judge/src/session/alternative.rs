//! Plain requests that a target refuses: other lawful ones show what it minds, or at least that it knows our
//! key.

use std::collections::BTreeMap;

use serde_json::Value;
use xs2aspec_record::{Culprit, RefusedForm};
use xs2aspec_suite::{Case, alternatives::Alternative};

use super::{Session, Stop, Trail, in_place::is_signed};
use crate::judge::Outcome;

/// So many other forms of a request are asked of a target that was not seen to accept anything. The others
/// are asked only where it accepts the plain request of another operation.
const FEW: usize = 24;

impl Session {
    /// Asks other lawful requests in place of a plain one that got this status, until one is accepted. None
    /// if none is.
    pub(super) async fn accepted_otherwise(
        &self,
        plain: &Case,
        status: u16,
        trail: &mut Trail,
    ) -> Option<Culprit> {
        if !self.asks_otherwise || !self.transport.is_shown() {
            return None;
        }
        if is_signed(&plain.request) && matches!(status, 400 | 401 | 403) {
            for (number, other) in self.other_signers().into_iter().enumerate() {
                let mark = format!("otherwise/signed-{}", number + 1);
                let own = Trail { signer: Some(other.signer), ..Trail::again(&plain.id) };
                let asked = self.asked_otherwise(plain, &mark, plain, (own, trail)).await;
                if matches!(asked, Ok(Outcome::Accepted)) {
                    return Some(Culprit::Chosen { add: other.add });
                }
            }
        }
        let others = self.suite.alternatives(&plain.request.operation);
        let mut known = None;
        for (number, other) in others.iter().enumerate() {
            if number == FEW {
                known = Some(self.accepted_operation(plain, trail).await?);
            }
            let mark = format!("otherwise/{}", number + 1);
            if self.is_accepted_otherwise(plain, &mark, &other.case, trail).await {
                let Alternative { place, clause, replaces, case } = other.clone();
                let form = RefusedForm { place, changes: case.changes(), clause };
                return Some(Culprit::Accepted { form, replaces });
            }
        }
        // What has no value of the target that was not accepted a moment ago is refused for its key, or for
        // nothing; or there is no such operation.
        let value = |name: &str| self.profile.value(name.strip_prefix("target.")?);
        let before = plain.before.iter().flat_map(|step| step.request.placeholders());
        let before: Vec<Option<Value>> = before.map(|name| value(&name)).collect();
        let is_new = |name: &String| name.starts_with("target.") && !before.contains(&value(name));
        if matches!(status, 404 | 405 | 501) || plain.request.placeholders().iter().any(is_new) {
            return None;
        }
        let operation = match known {
            Some(operation) => operation,
            None => self.accepted_operation(plain, trail).await?,
        };
        Some(Culprit::OtherOperation { operation })
    }

    /// Another operation whose plain request is accepted, asked beside this one.
    async fn accepted_operation(&self, plain: &Case, trail: &mut Trail) -> Option<String> {
        for other in self.suite.cases().iter().filter(|case| case.is_plain && case.id != plain.id) {
            let operation = other.request.operation.clone();
            if self.is_accepted_otherwise(plain, &format!("otherwise/{operation}"), other, trail).await {
                return Some(operation);
            }
        }
        None
    }

    /// Whether one of them is accepted. What cannot be made for this target, or was not recorded, shows
    /// nothing.
    async fn is_accepted_otherwise(&self, plain: &Case, mark: &str, other: &Case, trail: &mut Trail) -> bool {
        let own = Trail::again(&plain.id);
        matches!(self.asked_otherwise(plain, mark, other, (own, trail)).await, Ok(Outcome::Accepted))
    }

    /// What became of one of them, as a step of the plain one.
    async fn asked_otherwise(
        &self,
        plain: &Case,
        mark: &str,
        other: &Case,
        (mut own, trail): (Trail, &mut Trail),
    ) -> Result<Outcome, Stop> {
        if self.transport.replay().is_some() {
            let step = format!("{mark}/request");
            let (_, examined) = self.exchange(plain, &step, &other.request, &BTreeMap::new(), trail).await?;
            return Ok(examined.outcome);
        }
        self.offered(other).await?;
        let case = Case { id: format!("{}/{mark}", plain.id), ..other.clone() };
        let asked = self.asked(&case, &mut own).await;
        // That no more may be asked takes nothing from what the plain request got.
        trail.append(Trail { is_held_back: false, signer: None, ..own });
        Ok(asked?.0)
    }
}
