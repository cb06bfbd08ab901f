//! Reads the clauses of the rule files (`cases/AREA/RULE.yaml`), one for each testable statement of the
//! document.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    document::Document,
    problem::Problem,
    tree::Tree,
    yaml::{self, At},
};

/// The strength with which the document makes a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// The document says so.
    Stated,
    /// It follows from this section of a standard that the document names.
    Derived(String),
    /// It is the plain reading, though another reading is possible.
    Expected,
    /// The bank decides, and declares it in its profile.
    Choice(Choice),
    /// It is recorded and never a violation, for this reason.
    Observed(String),
    /// It cannot be decided from outside, for this reason.
    Untestable(String),
}

impl Strength {
    /// Returns the word used in rule files and reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Derived(_) => "derived",
            Self::Expected => "expected",
            Self::Choice(_) => "choice",
            Self::Observed(_) => "observed",
            Self::Untestable(_) => "untestable",
        }
    }
}

/// A freedom of the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Key in the table `[choices]` of a bank profile.
    pub key: String,
    /// Default value if a profile declares none.
    pub default: String,
    /// True if the default is the plain reading. It is then asserted if a profile declares nothing, and a
    /// violation is a warning. Otherwise the default is never asserted.
    #[serde(default)]
    pub expected: bool,
}

/// A statement of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// Stable, mnemonic id.
    pub id: String,
    /// The statement in our own words.
    pub says: String,
    /// Line of the document that contains the quote, from 1.
    pub line: u32,
    /// A literal fragment of that line. ` .. ` marks an omission.
    pub quote: String,
    /// The strength, with its details.
    pub strength: Strength,
    /// Rows of `fixtures/spec/readings.md` that decide how the clause is read.
    pub reading: Vec<u32>,
    /// Path of the rule file that declares it, as a user can open it.
    pub file: String,
    /// Line of the rule file, from 1.
    pub file_line: u32,
}

/// The clauses of a rule file. Other modules read its other lists.
#[derive(Deserialize)]
struct RuleFile {
    #[serde(default)]
    clauses: Vec<At<Entry>>,
}

/// A statement of the document, as written in a rule file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "clause")]
pub struct Entry {
    /// Stable, mnemonic id: subject, aspect and further details (`periodic.months.duplicate`).
    id: String,
    /// The statement in our own words: one sentence that names who must do what.
    says: String,
    /// Heading of the section, needed if several sections contain the quote.
    section: Option<String>,
    /// A literal fragment of one line of the document. ` .. ` marks an omission.
    quote: String,
    /// The strength with which the document makes the statement.
    strength: Word,
    /// Rows of `fixtures/spec/readings.md` that decide how the clause is read.
    #[serde(default)]
    reading: Vec<u32>,
    /// The standard and its section, for a derived clause.
    standard: Option<String>,
    /// Key and default in a bank profile, for a choice.
    choice: Option<Choice>,
    /// The reason in one sentence, for an observed or untestable clause.
    why: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Stated,
    Derived,
    Expected,
    Choice,
    Observed,
    Untestable,
}

/// Reads all clauses. Every quote must appear in exactly one line of the document, which becomes the line of
/// the clause.
pub fn load(tree: &Tree, document: &Document, problems: &mut Vec<Problem>) -> BTreeMap<String, Clause> {
    let mut clauses = BTreeMap::<String, Clause>::new();
    for (file, text) in tree.clause_files() {
        let entries = match yaml::read::<RuleFile>(file, text) {
            Ok(rules) => rules.clauses,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        for entry in entries {
            if let Some(earlier) = clauses.get(&entry.value.id) {
                let message = format!("duplicate clause id `{}`", entry.value.id);
                let help = format!("the other one is at {}:{}", earlier.file, earlier.file_line);
                problems.push(entry.problem(file, message).help(help));
                continue;
            }
            match clause(tree, file, &entry, document) {
                Ok(clause) => _ = clauses.insert(clause.id.clone(), clause),
                Err(problem) => problems.push(problem),
            }
        }
    }
    clauses
}

fn clause(tree: &Tree, file: &str, at: &At<Entry>, document: &Document) -> Result<Clause, Problem> {
    let entry = &at.value;
    let problem = |message: String| at.problem(file, format!("clause `{}`: {message}", entry.id));
    let strength = strength(entry).map_err(|message| problem(message.to_owned()))?;
    let line = match *document.lines_with(&entry.quote, entry.section.as_deref()) {
        [line] => line,
        [] => {
            let place = entry
                .section
                .as_deref()
                .map_or("the document".to_owned(), |name| format!("section `{name}`"));
            return Err(problem(format!("`{}` does not appear in {place}", entry.quote)));
        }
        [one, other, ..] => {
            let message = format!("`{}` appears in lines {one} and {other} of the document", entry.quote);
            return Err(problem(message)
                .help("name the `section`, or quote more of the line (` .. ` marks an omission)"));
        }
    };
    Ok(Clause {
        id: entry.id.clone(),
        says: entry.says.clone(),
        line,
        quote: entry.quote.clone(),
        strength,
        reading: entry.reading.clone(),
        file: tree.shown(file),
        file_line: at.line,
    })
}

/// Returns the strength of an entry. Each strength requires or forbids `standard`, `choice` and `why`.
fn strength(entry: &Entry) -> Result<Strength, &'static str> {
    match (entry.strength, &entry.standard, &entry.choice, &entry.why) {
        (Word::Stated, None, None, None) => Ok(Strength::Stated),
        (Word::Derived, Some(standard), None, None) => Ok(Strength::Derived(standard.clone())),
        (Word::Expected, None, None, None) => Ok(Strength::Expected),
        (Word::Choice, None, Some(choice), None) => Ok(Strength::Choice(choice.clone())),
        (Word::Observed, None, None, Some(why)) => Ok(Strength::Observed(why.clone())),
        (Word::Untestable, None, None, Some(why)) => Ok(Strength::Untestable(why.clone())),
        (Word::Stated | Word::Expected, ..) => {
            Err("a stated or expected clause must not have `standard`, `choice` or `why`")
        }
        (Word::Derived, ..) => Err("a derived clause needs `standard`, without `choice` and `why`"),
        (Word::Choice, ..) => Err("a choice needs `choice`, without `standard` and `why`"),
        (Word::Observed | Word::Untestable, ..) => {
            Err("an observed or untestable clause needs `why`, without `standard` and `choice`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_of(entry: &str) -> String {
        let tree = Tree::of(&[("cases/clauses/a.yaml", &format!("clauses:\n  - {entry}\n"))]);
        let mut problems = Vec::new();
        load(&tree, &Document::load(&tree), &mut problems);
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_mistake_in_an_entry_is_found() {
        let cases = [
            ("{id: a, says: b, quote: covers all nine parts, strength: stated}", ""),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: stated, why: c}",
                "a stated or expected clause must not have",
            ),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: derived}",
                "a derived clause needs `standard`",
            ),
            ("{id: a, says: b, quote: covers all nine parts, strength: choice}", "a choice needs `choice`"),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: choice, choice: {key: a, default: b, expected: true}}",
                "",
            ),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: expected, choice: {key: a, default: b}}",
                "a stated or expected clause must not have",
            ),
            ("{id: a, says: b, quote: covers all nine parts, strength: observed}", "needs `why`"),
            ("{id: a, says: b, quote: no such words, strength: stated}", "does not appear in the document"),
            (
                "{id: a, says: b, section: Limits, quote: covers all nine parts, strength: stated}",
                "does not appear in section `Limits`",
            ),
            ("{id: a, says: b, quote: creditorName, strength: stated}", "appears in lines"),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: stated, kind: x}",
                "unknown field `kind`",
            ),
            ("{id: a, says: b, quote: covers all nine parts, strength: certain}", "certain"),
        ];
        for (entry, expected) in cases {
            let found = problem_of(entry);
            assert!(
                found.contains(expected) && (expected.is_empty() == found.is_empty()),
                "{entry}: {found}"
            );
        }
    }

    #[test]
    fn the_second_of_two_equal_ids_is_found_with_the_place_of_the_first() {
        let one = "{id: a, says: b, quote: covers all nine parts, strength: stated}";
        let found = problem_of(&format!("{one}\n  - {one}"));
        assert_eq!(
            found,
            "cases/clauses/a.yaml:3:5: duplicate clause id `a`\n  = the other one is at cases/clauses/a.yaml:2"
        );
    }
}
