//! The inputs of cases: the files, the document and the baselines.

use std::{collections::BTreeMap, sync::OnceLock};

use xs2aspec_spec::{
    Problem, RequestRules, Spec, Strength, Tree,
    request::{Due, Prepared, View},
};

use crate::{baseline::Baseline, request::RequestSpec};

/// The inputs of cases.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tree: Tree,
    pub(crate) spec: Spec,
    pub(crate) baselines: BTreeMap<String, Baseline>,
    /// The rules for requests, from which the cases of forms are generated. Read on first use.
    pub(crate) rules: OnceLock<RequestRules>,
}

impl Parts {
    /// Returns the rules for requests.
    pub(crate) fn requests(&self) -> &RequestRules {
        // Reading is only deferred if the rules are known to be valid.
        let read =
            || rules(&self.tree, &self.baselines).expect("rules that were read once can be read again");
        self.rules.get_or_init(read)
    }

    /// Returns the response that a request requires. `plain` is the baseline request of its operation, and
    /// `prepared` lists the requests sent before it.
    pub(crate) fn due(&self, request: &RequestSpec, plain: &RequestSpec, prepared: &Prepared) -> Due {
        let (signing, as_usual) = (request.signing.differing(), plain.signing.differing());
        let is_expected = |clause: &str| self.is_expected(clause);
        self.requests().judge(&request.view(&signing), &plain.view(&as_usual), prepared, &is_expected)
    }

    /// Returns true if a clause is only the plain reading, so that another one is possible.
    pub(crate) fn is_expected(&self, clause: &str) -> bool {
        self.spec.clauses.get(clause).is_some_and(|clause| clause.strength == Strength::Expected)
    }
}

/// Returns the rules for requests. Each operation has a baseline with its name.
pub(crate) fn rules(tree: &Tree, baselines: &BTreeMap<String, Baseline>) -> Result<RequestRules, Problem> {
    let signing = serde_json::Map::new();
    let plain = baselines.iter().map(|(name, plain)| (name.clone(), plain.request.view(&signing)));
    let plain: BTreeMap<String, View<'_>> = plain.collect();
    RequestRules::load(tree, &plain)
}
