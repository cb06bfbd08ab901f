//! Everything that is known of the document.

use std::collections::BTreeMap;

use crate::{
    clause::{self, Clause},
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
    /// The text, and how its unclear places are read.
    pub document: Document,
    /// What it states, by id.
    pub clauses: BTreeMap<String, Clause>,
    /// What a target profile says of one bank.
    pub profile: ProfileSpec,
    /// How a request is signed.
    pub signing: SigningSpec,
    /// What no record shows.
    pub masks: MaskSpec,
    /// What may be asked one after the other.
    pub sequences: SequenceRules,
}

impl Spec {
    /// Reads the spec of a tree. Mistakes are added to `problems`.
    pub fn load(tree: &Tree, problems: &mut Vec<Problem>) -> Self {
        let document = Document::load(tree);
        let clauses = clause::load(tree, &document, problems);
        let profile = or_problem(ProfileSpec::load(tree), problems);
        let signing = or_problem(SigningSpec::load(tree), problems);
        let masks = or_problem(MaskSpec::load(tree), problems);
        let sequences = or_problem(SequenceRules::load(tree), problems);
        for demand in sequences.demands().filter(|demand| !clauses.contains_key(&demand.clause)) {
            let message = format!("no clause `{}` in the ledger", demand.clause);
            problems.push(Problem::of_file(sequence::FILE, message));
        }
        Self { document, clauses, profile, signing, masks, sequences }
    }
}

fn or_problem<T: Default>(read: Result<T, Problem>, problems: &mut Vec<Problem>) -> T {
    read.unwrap_or_else(|problem| {
        problems.push(problem);
        T::default()
    })
}
