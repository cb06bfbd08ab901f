//! Scaffolds for new clauses: an entry in a rule file to fill in, and a case that violates it.

use std::collections::BTreeSet;

use xs2aspec_spec::Clause;

use crate::{
    case::Case,
    request::{BodySpec, RequestSpec},
    rule_file::{OF_BANKS, begins_list},
    suite::Suite,
};

/// A rule file with a new clause and its first case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scaffold {
    /// Path of the file, as a user can open it.
    pub file: String,
    /// The whole text of the file.
    pub text: String,
    /// Line of the clause, from 1.
    pub clause: usize,
    /// Line of the case, from 1.
    pub case: usize,
}

/// The reason why no scaffold is possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScaffoldError {
    /// The id is not valid.
    #[error(
        "expected an id such as `subject.aspect`, of lowercase letters, digits, `-` and `.`, found `{0}`"
    )]
    Id(String),
    /// The clause already exists.
    #[error("clause `{id}` already exists at {file}:{line}")]
    Exists {
        /// The id.
        id: String,
        /// Its rule file.
        file: String,
        /// Its line there.
        line: u32,
    },
    /// No clause with cases has an id that starts like this one.
    #[error(
        "no clause with cases has an id that starts with `{0}.`: write the first one of a subject by hand"
    )]
    Subject(String),
    /// The quote is not in exactly one line of the document.
    #[error("expected a quote that appears in exactly one line of the document, found it in {0}")]
    Quote(usize),
}

impl Suite {
    /// Returns a scaffold for a clause with this id, which quotes these words of the document.
    pub fn scaffold(&self, id: &str, quote: &str) -> Result<Scaffold, ScaffoldError> {
        let is_word = |part: &str| {
            let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            !part.is_empty() && part.bytes().all(is_letter)
        };
        if !id.contains('.') || !id.split('.').all(is_word) {
            return Err(ScaffoldError::Id(id.to_owned()));
        }
        if let Some(Clause { file, file_line, .. }) = self.clauses().get(id) {
            return Err(ScaffoldError::Exists { id: id.to_owned(), file: file.clone(), line: *file_line });
        }
        let lines: BTreeSet<u32> = self.spec().document.lines_with(quote, None).into_iter().collect();
        if lines.len() != 1 {
            return Err(ScaffoldError::Quote(lines.len()));
        }
        let (beside, case) = self
            .nearest_clause(id)
            .ok_or_else(|| ScaffoldError::Subject(id.split('.').next().unwrap_or_default().to_owned()))?;
        let entry = format!(
            "  - id: {id}\n    says: The bank ..\n    quote: '{}'\n    strength: stated\n",
            quote.replace('\'', "''")
        );
        let control = case.control.as_ref().unwrap_or(&case.id);
        let group = format!(
            "  - clause: {id}\n    name: to-be-named\n    baseline: {}\n    change:\n      - set: {}\n        to: to be broken\n    \
             control: {control}\n    expect: refused\n",
            case.baseline,
            place(&case.request),
        );
        let text = self.tree().text_of_shown(&beside.file).unwrap_or_default();
        let mut lines: Vec<&str> = text.lines().collect();
        let is_next = |at: &usize| lines[*at].starts_with("  - ") || begins_list(lines[*at]);
        let end = (beside.file_line as usize..lines.len()).find(is_next).unwrap_or(lines.len());
        let clause = insert(&mut lines, end, &entry);
        let case = append(&mut lines, "cases:", &group);
        Ok(Scaffold { file: beside.file.clone(), text: format!("{}\n", lines.join("\n")), clause, case })
    }

    /// Returns the clause whose id has the most parts in common with this one, and its last case. Of several
    /// such clauses, returns the one with the shortest id.
    fn nearest_clause(&self, id: &str) -> Option<(&Clause, &Case)> {
        let common =
            |case: &Case| id.split('.').zip(case.clause.split('.')).take_while(|(a, b)| a == b).count();
        let alike = self.cases().iter().filter(|case| common(case) > 0);
        let case = alike.max_by_key(|case| (common(case), std::cmp::Reverse(case.clause.len())))?;
        Some((self.clauses().get(&case.clause)?, case))
    }
}

/// Adds an entry at the end of a list of a rule file, and the list itself if it is missing. Returns the line
/// of the entry, from 1.
fn append<'a>(lines: &mut Vec<&'a str>, list: &'a str, entry: &'a str) -> usize {
    if let Some(start) = lines.iter().position(|line| *line == list) {
        let end = (start + 1..lines.len()).find(|at| begins_list(lines[*at])).unwrap_or(lines.len());
        return insert(lines, end, entry);
    }
    let end = lines.iter().position(|line| OF_BANKS.contains(line)).unwrap_or(lines.len());
    lines.splice(end..end, ["", list]);
    insert(lines, end + 2, entry)
}

/// Inserts an entry before line `end`, counted from 0, and before the empty lines above it. Returns its line,
/// from 1.
fn insert<'a>(lines: &mut Vec<&'a str>, end: usize, entry: &'a str) -> usize {
    let last = lines[..end].iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.splice(last..last, entry.lines());
    last + 1
}

/// Returns a place of a request for the violation.
fn place(request: &RequestSpec) -> &'static str {
    if request.body == BodySpec::None { "query/to-be-named" } else { "body/to-be-named" }
}
