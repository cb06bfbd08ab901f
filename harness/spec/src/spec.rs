//! Everything that is known of the document.

use std::collections::BTreeMap;

use crate::{
    clause::{self, Clause},
    document::Document,
    problem::Problem,
    tree::Tree,
};

/// The document as a value.
#[derive(Debug)]
pub struct Spec {
    /// The text, and how its unclear places are read.
    pub document: Document,
    /// What it states, by id.
    pub clauses: BTreeMap<String, Clause>,
}

impl Spec {
    /// Reads the spec of a tree. Mistakes are added to `problems`.
    pub fn load(tree: &Tree, problems: &mut Vec<Problem>) -> Self {
        let document = Document::load(tree);
        let clauses = clause::load(tree, &document, problems);
        Self { document, clauses }
    }
}
