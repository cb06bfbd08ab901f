//! What the cases of a run say of each clause, of each cell of a table with one column for each operation,
//! and of each listed word.

use std::collections::{BTreeMap, HashMap, HashSet};

use xs2aspec_record::{
    CaseVerdict, ClauseState, ClauseText, Counts, DocumentText, Exchange, Level, Strength, Verdict,
};

use super::outline::{self, Part};
use crate::summary::RunSummary;

/// Cases of a clause that are named.
const NAMED: usize = 3;

/// What is said of a sentence, of a cell or of a word; the worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Denied,
    Warned,
    NotAsked,
    Kept,
    Observed,
    Absent,
    Untestable,
    Open,
}

impl Mark {
    /// All of them.
    pub(super) const ALL: [Self; 8] = [
        Self::Denied,
        Self::Warned,
        Self::NotAsked,
        Self::Kept,
        Self::Observed,
        Self::Absent,
        Self::Untestable,
        Self::Open,
    ];

    /// The class of an element.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Warned => "warned",
            Self::NotAsked => "not-asked",
            Self::Kept => "kept",
            Self::Observed => "observed",
            Self::Absent => "absent",
            Self::Untestable => "untestable",
            Self::Open => "open",
        }
    }

    /// The words of the page.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Warned => "warned",
            Self::NotAsked => "not asked",
            Self::Kept => "kept",
            Self::Observed => "observed",
            Self::Absent => "declared absent or left out",
            Self::Untestable => "untestable",
            Self::Open => "nothing seen",
        }
    }

    /// What these verdicts come to.
    pub(super) fn by_counts(counts: Counts) -> Self {
        let table = [
            (counts.fail + counts.waived, Self::Denied),
            (counts.warn, Self::Warned),
            (counts.inconclusive + counts.error, Self::NotAsked),
            (counts.pass, Self::Kept),
            (counts.observed, Self::Observed),
            (counts.not_applicable, Self::Absent),
        ];
        table.into_iter().find(|(count, _)| *count > 0).map_or(Self::Open, |(_, mark)| mark)
    }
}

/// What the cases of a clause came to.
#[derive(Debug, Default)]
pub(super) struct ClauseTally {
    /// Its own cases.
    pub(super) counts: Counts,
    /// How often cases of any clause observed it.
    pub(super) observed: usize,
    /// Cases of any clause that found it broken.
    pub(super) broken_by: usize,
    /// The worst that they found.
    worst: Option<Level>,
    /// The first of its own cases.
    pub(super) cases: Vec<String>,
    /// Operation and control of the last one that has a control.
    pub(super) like: Option<(String, String)>,
}

/// How often a listed word was sent and came back.
#[derive(Debug, Default)]
pub(super) struct WordTally {
    /// Cases that send it.
    pub(super) sent: Counts,
    /// Answers that have it.
    pub(super) answers: usize,
}

impl WordTally {
    /// What is said of it.
    pub(super) fn mark(&self) -> Mark {
        match Mark::by_counts(self.sent) {
            Mark::Open if self.answers > 0 => Mark::Observed,
            mark => mark,
        }
    }
}

/// What is counted while cases come.
#[derive(Debug, Default)]
pub(super) struct Tally {
    clauses: HashMap<String, ClauseTally>,
    /// By line of the document and operation.
    lines: HashMap<(u32, String), Counts>,
    /// Cases that change one header field alone and are of a clause of another line: by operation and name in
    /// small letters, then by line.
    headers: HashMap<(String, String), BTreeMap<u32, Counts>>,
    words: HashMap<String, WordTally>,
}

impl Tally {
    /// Nothing is counted yet; words are those that this document lists.
    pub(super) fn new(document: &DocumentText) -> Self {
        let mut words = HashSet::new();
        let mut add = |text: &str, is_block| {
            words.extend(outline::listed(text, is_block).into_iter().map(|range| text[range].to_owned()));
        };
        for part in outline::parts(&document.text) {
            match part {
                Part::Words(lines) => lines.iter().for_each(|line| add(line.text, true)),
                Part::Text { line, .. } => add(line.text, false),
                Part::Table { rows, .. } => rows.iter().for_each(|row| add(row.line.text, false)),
                Part::Heading { .. } => {}
            }
        }
        Self {
            words: words.into_iter().map(|word| (word, WordTally::default())).collect(),
            ..Self::default()
        }
    }

    /// Counts a case.
    pub(super) fn case(&mut self, summary: &RunSummary, verdict: &CaseVerdict) {
        let own = entry(&mut self.clauses, &verdict.clause);
        own.counts.add(verdict.verdict);
        if own.cases.len() < NAMED {
            own.cases.push(verdict.case.clone());
        }
        if let Some(control) = &verdict.control {
            own.like = Some((verdict.operation.clone(), control.case.clone()));
        }
        for observation in &verdict.observations {
            // An observation begins with its clause.
            let (id, _) = observation.split_once(": ").unwrap_or_default();
            if summary.clause(id).is_some() {
                entry(&mut self.clauses, id).observed += 1;
            }
        }
        self.findings(verdict);
        let line = summary.clause(&verdict.clause).map_or(0, |clause| clause.line);
        self.lines.entry((line, verdict.operation.clone())).or_default().add(verdict.verdict);
        if let [change] = verdict.changes.as_slice()
            && let Some(rest) = change.strip_prefix("header/")
        {
            let name = rest.split(' ').next().unwrap_or_default().to_lowercase();
            let lines = self.headers.entry((verdict.operation.clone(), name)).or_default();
            lines.entry(line).or_default().add(verdict.verdict);
        }
        // Of what is refused beside others nobody knows whether the word was to blame.
        let is_to_blame = verdict.verdict == Verdict::Pass || verdict.changes.len() == 1;
        for change in verdict.changes.iter().filter(|_| is_to_blame) {
            for word in quoted(change) {
                if let Some(known) = self.words.get_mut(word) {
                    known.sent.add(verdict.verdict);
                }
            }
        }
    }

    /// Counts what is wrong, of a case or of a control that nobody selected.
    pub(super) fn findings(&mut self, verdict: &CaseVerdict) {
        let mut seen = HashSet::new();
        for finding in &verdict.findings {
            let broken = entry(&mut self.clauses, &finding.clause);
            broken.worst = broken.worst.max(Some(finding.level));
            broken.broken_by += usize::from(seen.insert(&finding.clause));
        }
    }

    /// Counts the listed words of answers.
    pub(super) fn answers(&mut self, exchanges: &[Exchange]) {
        if self.words.is_empty() {
            return;
        }
        let answers = exchanges.iter().filter_map(|exchange| exchange.response.as_ref()?.body.as_ref());
        for body in answers {
            let text = body.shown();
            for word in quoted(&text).collect::<HashSet<_>>() {
                if let Some(known) = self.words.get_mut(word) {
                    known.answers += 1;
                }
            }
        }
    }

    /// What was counted of a clause.
    pub(super) fn clause(&self, id: &str) -> Option<&ClauseTally> {
        self.clauses.get(id)
    }

    /// What was counted of a listed word.
    pub(super) fn word(&self, word: &str) -> Option<&WordTally> {
        self.words.get(word)
    }

    /// What was counted of a row for an operation: cases of its clauses, and those that change one of these
    /// header fields.
    pub(super) fn cell(&self, line: u32, operation: &str, names: &str) -> Counts {
        let of_row = self.lines.get(&(line, operation.to_owned())).into_iter();
        let of_names = names
            .split(", ")
            .filter_map(|name| self.headers.get(&(operation.to_owned(), name.trim().to_lowercase())));
        let elsewhere = of_names.flat_map(|lines| lines.iter().filter(|(other, _)| **other != line));
        let mut sum = Counts::default();
        for counts in of_row.chain(elsewhere.map(|(_, counts)| counts)) {
            sum.add_all(*counts);
        }
        sum
    }

    /// What a run says of a clause.
    pub(super) fn mark(&self, summary: &RunSummary, clause: &ClauseText) -> Mark {
        let tally = self.clauses.get(&clause.id);
        match tally.and_then(|tally| tally.worst) {
            Some(Level::Deny) => return Mark::Denied,
            Some(Level::Warn) => return Mark::Warned,
            Some(Level::Note) | None => {}
        }
        match summary.state(&clause.id) {
            Some(ClauseState::Kept) => Mark::Kept,
            Some(ClauseState::Broken) => Mark::Denied,
            Some(ClauseState::NotAsked) => Mark::NotAsked,
            Some(ClauseState::LeftOut) => Mark::Absent,
            None if clause.strength == Strength::Untestable => Mark::Untestable,
            None => match tally.map_or(Mark::Open, |tally| Mark::by_counts(tally.counts)) {
                Mark::Open if tally.is_some_and(|tally| tally.observed > 0) => Mark::Observed,
                mark => mark,
            },
        }
    }
}

fn entry<'a>(clauses: &'a mut HashMap<String, ClauseTally>, id: &str) -> &'a mut ClauseTally {
    if !clauses.contains_key(id) {
        clauses.insert(id.to_owned(), ClauseTally::default());
    }
    // It was put there a moment ago where it was missing.
    clauses.entry(id.to_owned()).or_default()
}

/// What stands between two quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}
