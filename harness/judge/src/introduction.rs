//! Writes the first events of a history: the document, the clauses and the case files of a run.

use std::collections::BTreeSet;

use xs2aspec_record::{CaseSource, ClauseText, DocumentText, Event, Reading};
use xs2aspec_suite::{Case, Plan, Suite};

use crate::{Judge, levels::strength};

/// Writes the document, the clauses and the case files. A finding may name any clause, so all of them are
/// written.
pub fn introduce(judge: &Judge, plan: &Plan<'_>, tell: &mut dyn FnMut(&Event)) {
    let suite = judge.suite();
    tell(&Event::Document(document(suite)));
    for clause in suite.clauses().values() {
        let (word, standard) = strength(clause);
        let why = match &clause.strength {
            xs2aspec_suite::Strength::Observed(why) | xs2aspec_suite::Strength::Untestable(why) => {
                Some(why.clone())
            }
            _ => None,
        };
        let text = ClauseText {
            id: clause.id.clone(),
            says: clause.says.clone(),
            strength: word,
            line: clause.line,
            quote: clause.quote.clone(),
            readings: clause.reading.clone(),
            section: suite.spec().document.section(clause.line),
            standard,
            why,
            set: Some(judge.levels().clause(&clause.id)).filter(|set| *set != word.usual_level()),
        };
        tell(&Event::Clause(text));
    }
    let mut files: Vec<&str> =
        plan.selected.iter().chain(&plan.controls).map(|case: &&Case| case.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let text = suite.source(file);
        tell(&Event::Source(CaseSource { file: file.to_owned(), text }));
    }
}

/// Returns the document with the readings that clauses refer to.
fn document(suite: &Suite) -> DocumentText {
    let document = &suite.spec().document;
    let rows: BTreeSet<u32> =
        suite.clauses().values().flat_map(|clause| clause.reading.iter().copied()).collect();
    DocumentText {
        text: document.text().to_owned(),
        readings: rows
            .into_iter()
            .filter_map(|row| Some(Reading { row, text: document.reading(row)?.to_owned() }))
            .collect(),
        columns: suite.columns().iter().cloned().collect(),
    }
}
