//! Substitute baseline: sends other valid requests instead of a rejected baseline request. They show what the
//! target rejects, or at least that it knows our key.

use std::sync::Arc;

use serde_json::Value;
use xs2aspec_record::{Culprit, Look, RefusedForm};
use xs2aspec_suite::{Case, alternatives::Alternative};

use crate::{
    Judge, answer::Answer, codes::Codes, judge::Outcome, probe::Judged, request_signer::RequestSigner,
    stop::Caught, substitute::is_signed, trail::Trail,
};

/// Number of alternatives sent to a target that has not accepted anything. The others are sent only if it
/// accepts the baseline request of another operation.
const FEW: usize = 24;

/// The reason phrase of 404 as a code (RFC 9110 section 15.5.5).
const NOT_FOUND: &str = "NOT_FOUND";

impl Judge {
    /// Sends other valid requests instead of a baseline request with this response, until one is accepted.
    /// Returns None if none is.
    pub(crate) fn accepted_otherwise(
        &self,
        plain: &Case,
        (answer, document): (&Answer, Option<&Value>),
        trail: &mut Trail<'_>,
    ) -> Judged<Option<Culprit>> {
        if !self.asks_otherwise() {
            return Ok(None);
        }
        let status = answer.status;
        if is_signed(&plain.request) && matches!(status, 400 | 401 | 403) {
            for (number, other) in self.other_signers().into_iter().enumerate() {
                let mark = format!("otherwise/signed-{}", number + 1);
                if self.is_accepted_otherwise(plain, &mark, plain, (other.signer, trail))? {
                    return Ok(Some(Culprit::Chosen { add: other.add }));
                }
            }
        }
        let others = self.suite().alternatives(&plain.request.operation);
        let mut known = None;
        for (number, other) in others.iter().enumerate() {
            if number == FEW {
                known = self.accepted_operation(plain, trail)?;
                if known.is_none() {
                    return Ok(None);
                }
            }
            let mark = format!("otherwise/{}", number + 1);
            if self.is_accepted_otherwise(plain, &mark, &other.case, (None, trail))? {
                let Alternative { place, clause, replaces, case } = other.clone();
                let form = RefusedForm { place, changes: case.changes(), clause };
                return Ok(Some(Culprit::Accepted { form, replaces }));
            }
        }
        // If each profile value in the request was accepted a moment ago, the cause is the key or the
        // operation.
        let value = |name: &str| self.profile().value(name.strip_prefix("target.")?);
        let before = plain.before.iter().flat_map(|step| step.request.placeholders());
        let before: Vec<Option<Value>> = before.map(|name| value(&name)).collect();
        let is_new = |name: &String| name.starts_with("target.") && !before.contains(&value(name));
        // A path that only the profile names may be misspelled, and some banks do not respond with 404 then.
        let is_named = self.profile().paths.contains_key(&plain.request.operation);
        let says_it = is_named && Codes::anywhere(document, &answer.body).have(NOT_FOUND);
        if matches!(status, 404 | 405 | 501) || says_it || plain.request.placeholders().iter().any(is_new) {
            return Ok(None);
        }
        let operation = match known {
            None => self.accepted_operation(plain, trail)?,
            known => known,
        };
        Ok(operation.map(|operation| Culprit::OtherOperation { operation }))
    }

    /// Returns another operation whose baseline request is accepted.
    fn accepted_operation(&self, plain: &Case, trail: &mut Trail<'_>) -> Judged<Option<String>> {
        for other in self.suite().cases().iter().filter(|case| case.is_plain && case.id != plain.id) {
            let operation = other.request.operation.clone();
            let mark = format!("otherwise/{operation}");
            if self.is_accepted_otherwise(plain, &mark, other, (None, trail))? {
                return Ok(Some(operation));
            }
        }
        Ok(None)
    }

    /// Sends an alternative as a step of the baseline case and returns true if it is accepted. Returns false
    /// if it cannot be built for this target or is not in the history.
    fn is_accepted_otherwise(
        &self,
        plain: &Case,
        mark: &str,
        other: &Case,
        (signer, trail): (Option<Arc<RequestSigner>>, &mut Trail<'_>),
    ) -> Judged<bool> {
        let mut own = Trail::again(trail.view, trail.known, &plain.id, Look::Substitute);
        own.beside.signer = signer;
        if self.offered(other, &own).caught()?.is_err() {
            return Ok(false);
        }
        let case = Case { id: own.mark(mark), ..other.clone() };
        let asked = self.asked(&case, &mut own).caught()?;
        // A request limit that stops the alternatives does not change the result of the baseline request.
        own.is_held_back = false;
        trail.append(own);
        Ok(matches!(asked, Ok((Outcome::Accepted, _))))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Known,
        probes::tests::{Got::Status, with},
    };

    const PLAIN: &str = "ncbct.path/plain";

    #[test]
    fn other_lawful_requests_are_sent_in_place_of_a_rejected_plain_one() {
        let known = Known::default();
        let rejected = [("request", Status(400)), ("request/other-values-2", Status(400))];
        assert_eq!(with(PLAIN, &rejected, &known), "send otherwise/signed-1/request");
    }

    #[test]
    fn nothing_is_sent_in_place_of_an_accepted_plain_request() {
        assert_eq!(with(PLAIN, &[("request", Status(201))], &Known::default()), "pass");
    }
}
