//! What the cases are made from: the files, the document, and the valid requests.

use std::collections::BTreeMap;

use xs2aspec_spec::{
    RequestRules, Spec, Strength, Tree,
    request::{Due, Prepared},
};

use crate::{baseline::Baseline, request::RequestSpec};

/// What the cases are made from.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tree: Tree,
    pub(crate) spec: Spec,
    pub(crate) baselines: BTreeMap<String, Baseline>,
    /// What the document says of requests: what cases quantify over.
    pub(crate) requests: RequestRules,
}

impl Parts {
    /// What a request must come to. `plain` is the plain request of its operation, and `prepared` what is made
    /// before it.
    pub(crate) fn due(&self, request: &RequestSpec, plain: &RequestSpec, prepared: &Prepared) -> Due {
        let (signing, as_usual) = (request.signing.differing(), plain.signing.differing());
        let is_expected = |clause: &str| self.is_expected(clause);
        self.requests.judge(&request.view(&signing), &plain.view(&as_usual), prepared, &is_expected)
    }

    /// Whether a clause is only the plain reading, which has others.
    pub(crate) fn is_expected(&self, clause: &str) -> bool {
        self.spec.clauses.get(clause).is_some_and(|clause| clause.strength == Strength::Expected)
    }
}
