//! Coverage: every statement of every section of the document, and how it is tested.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use xs2aspec_spec::{Clause, ProfileSpec, Strength};

use crate::{expectation::Expectation, suite::Suite};

/// The coverage of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Cover {
    /// By cases, counted by what they expect.
    Cases {
        /// Cases that expect acceptance.
        accepted: usize,
        /// Cases that expect a rejection.
        refused: usize,
        /// Cases whose expectation depends on the profile.
        choice: usize,
        /// Cases that expect any response below 500.
        answered: usize,
        /// Cases that expect nothing.
        observed: usize,
    },
    /// By the rules for responses, in every case.
    EveryAnswer,
    /// By the profile, which every request follows.
    Profile,
    /// Not covered, since nothing is required and no case tests it.
    NeverAsked {
        /// The reason that the clause gives.
        why: String,
    },
    /// Not testable.
    Untestable {
        /// The reason that the clause gives.
        why: String,
    },
    /// Not covered, although it should be.
    ToDo,
}

/// A statement of the document.
#[derive(Debug, Clone, Serialize)]
pub struct Statement {
    /// Clause id.
    pub clause: String,
    /// The statement.
    pub says: String,
    /// Strength, in a word.
    pub strength: &'static str,
    /// Line of the document, from 1.
    pub line: u32,
    /// Its coverage.
    pub cover: Cover,
}

impl Statement {
    /// Returns true if the document requires it, in its own words or through a standard that it names.
    pub fn is_demanded(&self) -> bool {
        matches!(self.strength, "stated" | "derived")
    }
}

/// All statements by section of the document, in its order.
#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    /// Headings joined with ` > `, and the statements below them.
    pub sections: Vec<(String, Vec<Statement>)>,
    /// Lines of the document that have content but no clause.
    pub lines_without_clause: Vec<u32>,
}

impl Coverage {
    /// Returns the coverage of a suite.
    pub fn of(suite: &Suite) -> Self {
        let every_answer = suite.answers().of_every_answer();
        let mut by_clause = BTreeMap::<&str, [usize; 5]>::new();
        for case in suite.cases() {
            let slot = match case.expect {
                Expectation::Accepted | Expectation::Shows(_) => 0,
                Expectation::Refused(_) => 1,
                Expectation::Choice(_) => 2,
                Expectation::Answered => 3,
                Expectation::Observed => 4,
            };
            by_clause.entry(&case.clause).or_default()[slot] += 1;
        }
        let mut clauses: Vec<&Clause> = suite.clauses().values().collect();
        clauses.sort_by_key(|clause| clause.line);
        let mut sections: Vec<(String, Vec<Statement>)> = Vec::new();
        for clause in clauses {
            let statement = Statement {
                clause: clause.id.clone(),
                says: clause.says.clone(),
                strength: clause.strength.word(),
                line: clause.line,
                cover: cover(clause, by_clause.get(clause.id.as_str()), &every_answer, &suite.spec().profile),
            };
            let heading = suite.spec().document.section(clause.line);
            match sections.last_mut() {
                Some((last, statements)) if *last == heading => statements.push(statement),
                _ => sections.push((heading, vec![statement])),
            }
        }
        Self { sections, lines_without_clause: lines_without_clause(suite) }
    }

    /// Returns all statements.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.sections.iter().flat_map(|(_, statements)| statements)
    }

    /// Returns the statements that the document requires.
    pub fn demanded(&self) -> impl Iterator<Item = &Statement> {
        self.statements().filter(|statement| statement.is_demanded())
    }

    /// Returns the statements that should be covered and are not. These are required ones that no case and no
    /// check of responses can find violated, and choices that nothing tests.
    pub fn to_do(&self) -> impl Iterator<Item = &Statement> {
        self.statements().filter(|statement| statement.cover == Cover::ToDo)
    }

    /// Returns true if every line has a clause and every clause is covered.
    pub fn is_complete(&self) -> bool {
        self.lines_without_clause.is_empty() && self.to_do().next().is_none()
    }

    /// Returns one line for each statement, for a file that shows if any statement or case goes missing.
    pub fn inventory(&self) -> String {
        let mut lines: Vec<String> = self
            .statements()
            .map(|statement| {
                format!("{}\t{}\t{}\n", statement.clause, statement.strength, statement.cover.words())
            })
            .collect();
        lines.sort();
        format!("# clause, strength, how it is covered; made by `bash .ci/bless`\n{}", lines.concat())
    }
}

impl Cover {
    /// Formats the coverage without reasons: `12 accepted, 30 refused`.
    pub fn words(&self) -> String {
        match self {
            Self::Cases { accepted, refused, choice, answered, observed } => {
                let counts = [
                    (accepted, "accepted"),
                    (refused, "refused"),
                    (choice, "as chosen"),
                    (answered, "answered"),
                    (observed, "observed"),
                ];
                let counts = counts.iter().filter(|(count, _)| **count > 0);
                counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
            }
            Self::EveryAnswer => "checked on every answer".into(),
            Self::Profile => "decided by the profile".into(),
            Self::NeverAsked { .. } => "never asked".into(),
            Self::Untestable { .. } => "untestable".into(),
            Self::ToDo => "TO DO".into(),
        }
    }
}

fn cover(
    clause: &Clause,
    counts: Option<&[usize; 5]>,
    every_answer: &BTreeSet<&str>,
    profile: &ProfileSpec,
) -> Cover {
    let [accepted, refused, choice, answered, observed] = counts.copied().unwrap_or_default();
    // A case that only observes cannot show the violation of a requirement.
    let asserting = accepted + refused + choice + answered;
    let is_demanded = matches!(clause.strength, Strength::Stated | Strength::Derived(_));
    if asserting > 0 || (observed > 0 && !is_demanded) {
        return Cover::Cases { accepted, refused, choice, answered, observed };
    }
    if every_answer.contains(clause.id.as_str()) {
        return Cover::EveryAnswer;
    }
    match &clause.strength {
        Strength::Observed(why) => Cover::NeverAsked { why: why.clone() },
        Strength::Untestable(why) => Cover::Untestable { why: why.clone() },
        Strength::Choice(choice) if profile.decided_by_profile.contains(&choice.key) => Cover::Profile,
        Strength::Stated | Strength::Derived(_) | Strength::Expected | Strength::Choice(_) => Cover::ToDo,
    }
}

/// Returns the lines that have content but no clause. Empty lines, headings, the headers and rules of tables,
/// and code fences have no content. The first line of a block of codes represents the whole block.
fn lines_without_clause(suite: &Suite) -> Vec<u32> {
    let named: BTreeSet<u32> = suite.clauses().values().map(|clause| clause.line).collect();
    let lines: Vec<&str> = suite.spec().document.text().lines().collect();
    let mut bare = Vec::new();
    let mut fence = None;
    for (index, text) in lines.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        if text.starts_with("```") {
            fence = match fence {
                None => Some((number, false)),
                Some((start, met)) => {
                    let introduced = named.range(start.saturating_sub(3)..start).next().is_some();
                    if !met && !introduced {
                        bare.push(start);
                    }
                    None
                }
            };
        } else if let Some((_, met)) = &mut fence {
            *met |= named.contains(&number);
        } else {
            let rule = |text: &str| text.starts_with("|--") || text.starts_with("|---");
            let head = text.starts_with('|') && lines.get(index + 1).is_some_and(|next| rule(next));
            let silent = text.trim().is_empty() || text.starts_with('#') || rule(text) || head;
            if !silent && !named.contains(&number) {
                bare.push(number);
            }
        }
    }
    bare
}
