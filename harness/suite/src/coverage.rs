//! What is checked of the document, and what not: every statement of every section, and how it is covered.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use xs2aspec_spec::{Clause, ProfileSpec, Strength};

use crate::{expectation::Expectation, suite::Suite};

/// How a statement is covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Cover {
    /// By cases: so many that must be accepted, refused, as the profile chooses, and only observed.
    Cases {
        /// Cases that expect acceptance.
        accepted: usize,
        /// Cases that expect a refusal.
        refused: usize,
        /// Cases whose expectation the profile chooses.
        choice: usize,
        /// Cases that expect any answer below 500.
        answered: usize,
        /// Cases that expect nothing.
        observed: usize,
    },
    /// By the rules for answers, in every case.
    EveryAnswer,
    /// By the profile, which every request follows.
    Profile,
    /// By nothing: nothing is demanded, and no case asks; the reason.
    NeverAsked {
        /// The ledger's reason.
        why: String,
    },
    /// Cannot be; the reason.
    Untestable {
        /// The ledger's reason.
        why: String,
    },
    /// It should be, and is not.
    ToDo,
}

/// One statement.
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
    /// How it is covered.
    pub cover: Cover,
}

impl Statement {
    /// Whether the document demands it, in its own words or by a standard that it names.
    pub fn is_demanded(&self) -> bool {
        matches!(self.strength, "stated" | "derived")
    }
}

/// All statements by section of the document, in its order.
#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    /// Headings joined with ` > `, and the statements below them.
    pub sections: Vec<(String, Vec<Statement>)>,
    /// Lines of the document that say something and that no clause names.
    pub lines_without_clause: Vec<u32>,
}

impl Coverage {
    /// The coverage of a suite.
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

    /// All statements.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.sections.iter().flat_map(|(_, statements)| statements)
    }

    /// Statements that the document demands.
    pub fn demanded(&self) -> impl Iterator<Item = &Statement> {
        self.statements().filter(|statement| statement.is_demanded())
    }

    /// Statements that should be covered and are not: demanded ones that no case and no check on answers can
    /// break, and choices that nothing looks at.
    pub fn to_do(&self) -> impl Iterator<Item = &Statement> {
        self.statements().filter(|statement| statement.cover == Cover::ToDo)
    }

    /// Whether every line has its clause and every clause its cover.
    pub fn is_complete(&self) -> bool {
        self.lines_without_clause.is_empty() && self.to_do().next().is_none()
    }

    /// One line for each statement, for a file in which any statement or case that goes missing shows.
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
    /// The cover in words, reasons apart: `12 accepted, 30 refused`.
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
    // What is only observed cannot show that a demand is broken.
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

/// Blank lines, headings, the heads and rules of tables and the fences of code say nothing; of a block of
/// codes its first line stands for all.
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
