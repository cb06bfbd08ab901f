//! Substitutes: if the target rejects an operation's baseline request but accepts another valid form of it,
//! the run continues with that form.

use std::sync::Arc;

use xs2aspec_record::Culprit;
use xs2aspec_spec::request::Due;
use xs2aspec_suite::{Case, RequestSpec, Substitute, template};

use crate::{
    Judge,
    certificate_encoding::CertificateEncoding,
    known::Known,
    probe::{Sent, Substituted, Values},
    request_signer::RequestSigner,
    trail::Trail,
};

impl Judge {
    /// Returns the substitute for a rejected baseline request, if one was accepted and can be applied to
    /// other requests.
    pub(crate) fn substituted(&self, plain: &Case, culprit: Option<&Culprit>) -> Option<Substituted> {
        let form = match culprit? {
            Culprit::Accepted { form, .. } => form,
            Culprit::Chosen { add } => {
                let chosen = self.other_signers().into_iter().find(|other| other.add == *add);
                let signer = chosen.and_then(|other| other.signer);
                return Some(Substituted { changes: vec![add.clone()], substitute: None, signer });
            }
            _ => return None,
        };
        let others = self.suite().alternatives(&plain.request.operation);
        let is_accepted = |other: &Case| other.changes() == form.changes && other.before == plain.before;
        let accepted = others.iter().map(|other| &other.case).find(|other| is_accepted(other));
        let substitute = Substitute::new(plain, accepted?)?;
        Some(Substituted { changes: form.changes.clone(), substitute: Some(substitute), signer: None })
    }

    /// Returns the request that is actually sent for a request.
    pub(crate) fn sent(&self, request: &Arc<RequestSpec>, trail: &Trail<'_>) -> Sent {
        let substituted = trail.known.substitutes.get(&request.operation);
        let mut changes = Vec::new();
        let other = substituted.and_then(|by| Some((by, by.substitute.as_ref()?.apply(request)?)));
        let request = match other {
            Some((by, other)) if other != **request => {
                changes.extend(by.changes.iter().cloned());
                Arc::new(other)
            }
            _ => Arc::clone(request),
        };
        let chosen = substituted.filter(|by| by.signer.is_some() && is_signed(&request));
        let signer = match (&trail.beside.signer, chosen) {
            (Some(signer), _) => Some(Arc::clone(signer)),
            (None, Some(by)) => {
                changes.extend(by.changes.iter().cloned());
                by.signer.clone()
            }
            (None, None) => self.signer.clone(),
        };
        let is_usual =
            substituted.is_none() && trail.beside.signer.is_none() && trail.values == Values::First;
        Sent { request, signer, changes, is_usual }
    }

    /// Returns signers for the encodings that a bank may choose and the profile does not mention.
    pub(crate) fn other_signers(&self) -> Vec<OtherSigner> {
        let choices = &self.suite().spec().signing.choices;
        let others = CertificateEncoding::others(&self.profile().choices, choices).into_iter();
        let others = others.filter_map(|(key, word, encoding)| {
            let signer = match &self.signer {
                Some(signer) => Some(Arc::new(signer.with_encoding(encoding).ok()?)),
                None => None,
            };
            Some(OtherSigner { add: format!("[choices] {key:?} = {word:?}"), key, signer })
        });
        others.collect()
    }

    /// Returns true if a request was accepted only with a choice that the profile leaves open. A target need
    /// not know other forms.
    pub(crate) fn is_left_open(&self, culprit: Option<&Culprit>) -> bool {
        let Some(Culprit::Chosen { add }) = culprit else { return false };
        let chosen = self.other_signers().into_iter().find(|other| other.add == *add);
        chosen.is_some_and(|other| !self.profile().choices.contains_key(&other.key))
    }

    /// Returns true if the substitute cannot be applied to a case, because the case itself changes what the
    /// target rejects. Its rejection then proves nothing.
    pub(crate) fn is_apart(&self, case: &Case, known: &Known) -> bool {
        let substituted = known.substitutes.get(&case.request.operation);
        let substitute = substituted.and_then(|by| by.substitute.as_ref());
        substitute.is_some_and(|substitute| {
            let Some(made) = substitute.apply(&case.request) else { return true };
            self.control_of(case).is_some_and(|control| substitute.mends(&case.request, &control.request))
                || self.is_wrong(&case.request) && !self.is_wrong(&made)
        })
    }

    /// Returns true if every bank must reject a request because of its content.
    fn is_wrong(&self, request: &RequestSpec) -> bool {
        matches!(self.suite().due(request), Some(Due::Refused { .. }))
    }
}

/// A signer with another encoding that a bank may choose.
pub(crate) struct OtherSigner {
    /// The profile line that declares it.
    pub(crate) add: String,
    /// The key of that line.
    key: String,
    pub(crate) signer: Option<Arc<RequestSigner>>,
}

/// Returns true if a request has a signature.
pub(crate) fn is_signed(request: &RequestSpec) -> bool {
    request.placeholders().iter().any(|name| template::head(name) == "signature")
}
