//! Plain requests that a target refuses and accepts in another lawful form: the run goes on with that form.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError},
};

use xs2aspec_record::Culprit;
use xs2aspec_suite::{Case, RequestSpec, Substitute};

use super::{Session, Trail};

/// What is sent in place of the requests of an operation whose plain one is refused.
#[derive(Debug)]
pub(super) struct InPlace {
    /// What is another, in words.
    changes: Vec<String>,
    substitute: Substitute,
}

impl Session {
    /// Goes on with the lawful request that the target accepts in place of a plain one, as far as others can be
    /// made like it.
    pub(super) fn go_on_with(&self, plain: &Case, culprit: Option<&Culprit>) {
        let Some(Culprit::Accepted { form }) = culprit else { return };
        let operation = &plain.request.operation;
        let others = self.suite.alternatives(operation).into_iter().map(|other| other.case);
        let is_accepted = |other: &Case| other.changes == form.changes && other.before == plain.before;
        let accepted = { others }.find(is_accepted);
        let Some(substitute) = accepted.and_then(|other| Substitute::new(plain, &other)) else { return };
        let in_place = InPlace { changes: form.changes.clone(), substitute };
        let mut known = self.in_place.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(operation.clone(), Arc::new(in_place));
    }

    /// What is sent in place of the requests of an operation, if anything is.
    fn in_place_of(&self, operation: &str) -> Option<Arc<InPlace>> {
        self.in_place.lock().unwrap_or_else(PoisonError::into_inner).get(operation).cloned()
    }

    /// The request that is sent in place of this one.
    pub(super) fn sent_for<'a>(&self, request: &'a RequestSpec, trail: &mut Trail) -> Cow<'a, RequestSpec> {
        let in_place = self.in_place_of(&request.operation);
        let made = in_place.and_then(|in_place| Some((in_place.substitute.apply(request)?, in_place)));
        match made {
            Some((made, in_place)) if made != *request => {
                trail.judged_with.extend(in_place.changes.iter().cloned());
                Cow::Owned(made)
            }
            _ => Cow::Borrowed(request),
        }
    }

    /// Whether an operation goes on with another request than its plain one.
    pub(super) fn goes_on(&self, operation: &str) -> bool {
        self.in_place_of(operation).is_some()
    }

    /// Whether the request of a case has something else where the target minds what the plain request has, so
    /// that it cannot be sent in another form: its refusal says nothing.
    pub(super) fn is_apart(&self, case: &Case) -> bool {
        let in_place = self.in_place_of(&case.request.operation);
        in_place.is_some_and(|in_place| in_place.substitute.apply(&case.request).is_none())
    }
}
