//! Everything that is known of the document.

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
    /// What no reading allows a client.
    pub client: ClientRules,
}

impl Spec {
    /// Reads the spec of a tree. Mistakes are added to `problems`.
    pub fn load(tree: &Tree, problems: &mut Vec<Problem>) -> Self {
        let mut spec = Self::without_clauses(tree, problems);
        spec.clauses = clause::load(tree, &spec.document, problems);
        for demand in spec.sequences.demands().filter(|demand| !spec.clauses.contains_key(&demand.clause)) {
            let message = format!("no clause `{}` in the ledger", demand.clause);
            problems.push(Problem::of_file(sequence::FILE, message));
        }
        spec
    }

    /// The same with a ledger that nothing is in: for who has read it before.
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
