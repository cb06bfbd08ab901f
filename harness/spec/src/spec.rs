//! Everything that is known of the document.

use std::collections::BTreeMap;

use crate::{
    clause::{self, Clause},
    document::Document,
    problem::Problem,
    profile::ProfileSpec,
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
}

impl Spec {
    /// Reads the spec of a tree. Mistakes are added to `problems`.
    pub fn load(tree: &Tree, problems: &mut Vec<Problem>) -> Self {
        let document = Document::load(tree);
        let clauses = clause::load(tree, &document, problems);
        let profile = ProfileSpec::load(tree).unwrap_or_else(|problem| {
            problems.push(problem);
            ProfileSpec::default()
        });
        Self { document, clauses, profile }
    }
}
