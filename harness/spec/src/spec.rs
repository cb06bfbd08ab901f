//! Everything that is known about the document.

use std::collections::BTreeMap;

use crate::{
    clause::{self, Clause},
    client::ClientRules,
    document::Document,
    masks::MaskSpec,
    problem::Problem,
    profile::ProfileSpec,
    sequence::{self, SequenceRules},
    signing::SigningSpec,
    tree::Tree,
};

/// The document as a value.
#[derive(Debug)]
pub struct Spec {
    /// The text, and the readings of its unclear places.
    pub document: Document,
    /// Its clauses, by id.
    pub clauses: BTreeMap<String, Clause>,
    /// The values and capabilities of bank profiles.
    pub profile: ProfileSpec,
    /// The rules for signatures.
    pub signing: SigningSpec,
    /// The data that no record shows.
    pub masks: MaskSpec,
    /// The model of sequences of requests.
    pub sequences: SequenceRules,
    /// The rules for clients.
    pub client: ClientRules,
}

impl Spec {
    /// Reads the spec of a tree. Adds mistakes to `problems`.
    pub fn load(tree: &Tree, problems: &mut Vec<Problem>) -> Self {
        let mut spec = Self::without_clauses(tree, problems);
        spec.clauses = clause::load(tree, &spec.document, problems);
        for demand in spec.sequences.demands().filter(|demand| !spec.clauses.contains_key(&demand.clause)) {
            let message = format!("clause `{}` is not declared", demand.clause);
            problems.push(Problem::of_file(sequence::FILE, message));
        }
        spec
    }

    /// Reads the spec of a tree without its clauses, for callers that have read them before.
    pub fn without_clauses(tree: &Tree, problems: &mut Vec<Problem>) -> Self {
        Self {
            document: Document::load(tree),
            clauses: BTreeMap::new(),
            profile: or_problem(ProfileSpec::load(tree), problems),
            signing: or_problem(SigningSpec::load(tree), problems),
            masks: or_problem(MaskSpec::load(tree), problems),
            sequences: or_problem(SequenceRules::load(tree), problems),
            client: or_problem(ClientRules::load(tree), problems),
        }
    }
}

fn or_problem<T: Default>(read: Result<T, Problem>, problems: &mut Vec<Problem>) -> T {
    read.unwrap_or_else(|problem| {
        problems.push(problem);
        T::default()
    })
}
