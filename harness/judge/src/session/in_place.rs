//! Plain requests that a target refuses and accepts in another lawful form: the run goes on with that form.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError},
};

use xs2aspec_record::Culprit;
use xs2aspec_suite::{Case, RequestSpec, Substitute, template};

use super::{Session, Trail, outcome::InPlace};
use crate::{certificate_encoding::CertificateEncoding, request_signer::RequestSigner};

impl Session {
    /// Goes on with the lawful request that the target accepts in place of a plain one, as far as others can
    /// be made like it.
    pub(super) fn go_on_with(&self, plain: &Case, culprit: Option<&Culprit>) {
        let operation = &plain.request.operation;
        let form = match culprit {
            Some(Culprit::Accepted { form, .. }) => form,
            Some(Culprit::Chosen { add }) => {
                let signer = self.other_signers().into_iter().find(|other| other.add == *add);
                let signer = signer.map(|other| other.signer);
                let in_place = InPlace { changes: vec![add.clone()], substitute: None, signer };
                self.put_in_place(operation, in_place);
                return;
            }
            _ => return,
        };
        let others = self.suite.alternatives(operation);
        let is_accepted = |other: &Case| other.changes() == form.changes && other.before == plain.before;
        let accepted = others.iter().map(|other| &other.case).find(|other| is_accepted(other));
        let Some(substitute) = accepted.and_then(|other| Substitute::new(plain, other)) else { return };
        let in_place = InPlace { changes: form.changes.clone(), substitute: Some(substitute), signer: None };
        self.put_in_place(operation, in_place);
    }

    fn put_in_place(&self, operation: &str, in_place: InPlace) {
        let mut known = self.in_place.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(operation.to_owned(), Arc::new(in_place));
    }

    /// What is sent in place of the requests of an operation, if anything is.
    pub(super) fn in_place_of(&self, operation: &str) -> Option<Arc<InPlace>> {
        self.in_place.lock().unwrap_or_else(PoisonError::into_inner).get(operation).cloned()
    }

    /// Who signs a request, where this is sent in place of the plain one.
    pub(super) fn signer_for(
        &self,
        request: &RequestSpec,
        in_place: Option<&InPlace>,
        trail: &mut Trail,
    ) -> Arc<RequestSigner> {
        if let Some(signer) = &trail.signer {
            return Arc::clone(signer);
        }
        let chosen = in_place.and_then(|in_place| Some((in_place, in_place.signer.as_ref()?)));
        match chosen {
            Some((in_place, signer)) if is_signed(request) => {
                trail.judged_with.extend(in_place.changes.iter().cloned());
                Arc::clone(signer)
            }
            _ => Arc::clone(&self.request_signer),
        }
    }

    /// Who signs as a bank may choose, and this profile does not say.
    pub(super) fn other_signers(&self) -> Vec<OtherSigner> {
        let choices = &self.suite.spec().signing.choices;
        let others = CertificateEncoding::others(&self.profile.choices, choices).into_iter();
        let others = others.filter_map(|(key, word, encoding)| {
            let signer = Arc::new(self.request_signer.with_encoding(encoding).ok()?);
            Some(OtherSigner { add: format!("[choices] {key:?} = {word:?}"), key, signer })
        });
        others.collect()
    }

    /// Whether the profile leaves open what was chosen for a request to be accepted: the target need not know
    /// another spelling.
    pub(super) fn is_left_open(&self, culprit: Option<&Culprit>) -> bool {
        let Some(Culprit::Chosen { add }) = culprit else { return false };
        let chosen = self.other_signers().into_iter().find(|other| other.add == *add);
        chosen.is_some_and(|other| !self.profile.choices.contains_key(&other.key))
    }

    /// Whether an operation goes on with another request than its plain one.
    pub(crate) fn goes_on(&self, operation: &str) -> bool {
        self.in_place_of(operation).is_some()
    }

    /// Whether the request of a case has something else where the target minds what the plain request has, so
    /// that it cannot be sent in another form: its refusal says nothing.
    pub(super) fn is_apart(&self, case: &Case) -> bool {
        let in_place = self.in_place_of(&case.request.operation);
        let substitute = in_place.as_ref().and_then(|in_place| in_place.substitute.as_ref());
        let control = case.control.as_deref().and_then(|id| self.suite.case(id));
        substitute.is_some_and(|substitute| {
            substitute.apply(&case.request).is_none()
                || control.is_some_and(|control| substitute.mends(&case.request, &control.request))
        })
    }
}

/// The request that is sent in place of this one, where this is sent in place of the plain one.
pub(super) fn sent_for<'a>(
    request: &'a RequestSpec,
    in_place: Option<&InPlace>,
    trail: &mut Trail,
) -> Cow<'a, RequestSpec> {
    let made = in_place.and_then(|in_place| Some((in_place, in_place.substitute.as_ref()?.apply(request)?)));
    match made {
        Some((in_place, made)) if made != *request => {
            trail.judged_with.extend(in_place.changes.iter().cloned());
            Cow::Owned(made)
        }
        _ => Cow::Borrowed(request),
    }
}

/// Who signs in another way that a bank may choose.
pub(super) struct OtherSigner {
    /// The line of a profile that declares it.
    pub(super) add: String,
    /// The key of that line.
    key: String,
    pub(super) signer: Arc<RequestSigner>,
}

/// Whether a request has a signature.
pub(super) fn is_signed(request: &RequestSpec) -> bool {
    request.placeholders().iter().any(|name| template::head(name) == "signature")
}
