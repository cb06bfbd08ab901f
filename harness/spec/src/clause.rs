//! The clauses of the rule files (`cases/AREA/RULE.yaml`): one entry for each testable statement of the
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

/// How firmly the document makes a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// The document says it.
    Stated,
    /// It follows from a standard that the document names: the standard and its section.
    Derived(String),
    /// The plain reading: what a careful reader builds, though another reading is possible.
    Expected,
    /// The bank decides, and its profile says so.
    Choice(Choice),
    /// Recorded, never a violation: the reason.
    Observed(String),
    /// Cannot be decided from outside: the reason.
    Untestable(String),
}

impl Strength {
    /// The word used in the ledger and in every report.
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
    /// Key below `[choices]` in a target profile.
    pub key: String,
    /// What is assumed when a profile is written without thinking about it.
    pub default: String,
    /// Whether the default is the plain reading: it is then asserted where a profile declares nothing, and a
    /// breach is a warning. Otherwise it is never asserted by itself.
    #[serde(default)]
    pub expected: bool,
}

/// One statement of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// Stable, mnemonic id.
    pub id: String,
    /// The statement in our own words.
    pub says: String,
    /// Line of the document, from 1: where the quote stands.
    pub line: u32,
    /// A fragment of that line, word for word; ` .. ` stands for what is left out.
    pub quote: String,
    /// Strength, with what belongs to it.
    pub strength: Strength,
    /// Rows of `fixtures/spec/readings.md` that decide how it is read.
    pub reading: Vec<u32>,
    /// The rule file that declares it, by the name under which it can be opened.
    pub file: String,
    /// Line of the rule file, from 1.
    pub file_line: u32,
}

/// The clauses of a rule file. Others read its other lists.
#[derive(Deserialize)]
struct RuleFile {
    #[serde(default)]
    clauses: Vec<At<Entry>>,
}

/// A statement of the document, as an author writes it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "clause")]
pub struct Entry {
    /// Stable and mnemonic: subject, aspect, and what else it takes (`periodic.months.duplicate`).
    id: String,
    /// The statement in our own words: one sentence that names who must do what.
    says: String,
    /// Heading of the section, if several sections contain the quote.
    section: Option<String>,
    /// A fragment of one line of the document, word for word; ` .. ` stands for what is left out.
    quote: String,
    /// How firmly the document makes the statement.
    strength: Word,
    /// Rows of `fixtures/spec/readings.md` that decide how it is read.
    #[serde(default)]
    reading: Vec<u32>,
    /// Of a derived clause: the standard and its section.
    standard: Option<String>,
    /// Of a choice: its key in a bank profile, and its default.
    choice: Option<Choice>,
    /// Of an observed or untestable clause: the reason, in one sentence.
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

/// Reads all clauses. Every quote must stand in one line of the document, which is the clause's.
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
            return Err(problem(format!("`{}` does not stand in {place}", entry.quote)));
        }
        [one, other, ..] => {
            let message =
                format!("`{}` stands in line {one} of the document and in line {other}", entry.quote);
            return Err(problem(message)
                .help("name the `section`, or quote more: ` .. ` stands for what is left out of the line"));
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

/// `standard`, `choice` and `why` belong to some strengths each, and to those always.
fn strength(entry: &Entry) -> Result<Strength, &'static str> {
    match (entry.strength, &entry.standard, &entry.choice, &entry.why) {
        (Word::Stated, None, None, None) => Ok(Strength::Stated),
        (Word::Derived, Some(standard), None, None) => Ok(Strength::Derived(standard.clone())),
        (Word::Expected, None, None, None) => Ok(Strength::Expected),
        (Word::Choice, None, Some(choice), None) => Ok(Strength::Choice(choice.clone())),
        (Word::Observed, None, None, Some(why)) => Ok(Strength::Observed(why.clone())),
        (Word::Untestable, None, None, Some(why)) => Ok(Strength::Untestable(why.clone())),
        (Word::Stated | Word::Expected, ..) => {
            Err("a stated or expected clause has neither `standard`, `choice` nor `why`")
        }
        (Word::Derived, ..) => Err("a derived clause has `standard`, and neither `choice` nor `why`"),
        (Word::Choice, ..) => Err("a choice has `choice`, and neither `standard` nor `why`"),
        (Word::Observed | Word::Untestable, ..) => {
            Err("an observed or untestable clause has `why`, and neither `standard` nor `choice`")
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
                "a stated or expected clause has neither",
            ),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: derived}",
                "a derived clause has `standard`",
            ),
            ("{id: a, says: b, quote: covers all nine parts, strength: choice}", "a choice has `choice`"),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: choice, choice: {key: a, default: b, expected: true}}",
                "",
            ),
            (
                "{id: a, says: b, quote: covers all nine parts, strength: expected, choice: {key: a, default: b}}",
                "a stated or expected clause has neither",
            ),
            ("{id: a, says: b, quote: covers all nine parts, strength: observed}", "has `why`"),
            ("{id: a, says: b, quote: no such words, strength: stated}", "does not stand in the document"),
            (
                "{id: a, says: b, section: Limits, quote: covers all nine parts, strength: stated}",
                "does not stand in section `Limits`",
            ),
            ("{id: a, says: b, quote: creditorName, strength: stated}", "stands in line"),
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
