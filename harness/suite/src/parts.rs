//! What the cases are made from: the files, the document, and the valid requests.

use std::{collections::BTreeMap, sync::OnceLock};

use xs2aspec_spec::{
    Problem, RequestRules, Spec, Strength, Tree,
    request::{Due, Prepared, View},
};

use crate::{baseline::Baseline, request::RequestSpec};

/// What the cases are made from.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tree: Tree,
    pub(crate) spec: Spec,
    pub(crate) baselines: BTreeMap<String, Baseline>,
    /// What the document says of requests: what cases quantify over. Read when it is first asked for.
    pub(crate) rules: OnceLock<RequestRules>,
}

impl Parts {
    /// What the document says of requests.
    pub(crate) fn requests(&self) -> &RequestRules {
        // Who puts off reading them knows that they can be read.
        let read =
            || rules(&self.tree, &self.baselines).expect("rules that were read once can be read again");
        self.rules.get_or_init(read)
    }

    /// What a request must come to. `plain` is the plain request of its operation, and `prepared` what is
    /// made before it.
    pub(crate) fn due(&self, request: &RequestSpec, plain: &RequestSpec, prepared: &Prepared) -> Due {
        let (signing, as_usual) = (request.signing.differing(), plain.signing.differing());
        let is_expected = |clause: &str| self.is_expected(clause);
        self.requests().judge(&request.view(&signing), &plain.view(&as_usual), prepared, &is_expected)
    }

    /// Whether a clause is only the plain reading, which has others.
    pub(crate) fn is_expected(&self, clause: &str) -> bool {
        self.spec.clauses.get(clause).is_some_and(|clause| clause.strength == Strength::Expected)
    }
}

/// What the document says of requests. Each operation has a plain request of its name.
pub(crate) fn rules(tree: &Tree, baselines: &BTreeMap<String, Baseline>) -> Result<RequestRules, Problem> {
    let signing = serde_json::Map::new();
    let plain = baselines.iter().map(|(name, plain)| (name.clone(), plain.request.view(&signing)));
    let plain: BTreeMap<String, View<'_>> = plain.collect();
    RequestRules::load(tree, &plain)
}
