//! The results of a run for each clause, for each cell of a table with one column per operation, and for each
//! listed word.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use xs2aspec_record::{
    Body, CaseVerdict, ClauseState, ClauseText, Counts, DocumentText, Exchange, Level, Observation, Strength,
    Verdict,
};

use super::{
    exchange,
    outline::{self, Part},
};
use crate::{reporter::CaseReport, summary::RunSummary};

/// Limit of the cases of a clause that are named.
const NAMED: usize = 3;

/// The state of a sentence, a cell or a word. The worst comes first.
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
    /// All marks.
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

    /// Returns the CSS class of the mark.
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

    /// Returns the words that the page shows for the mark.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Denied => "violated",
            Self::Warned => "warning",
            Self::NotAsked => "not tested",
            Self::Kept => "passed",
            Self::Observed => "observed",
            Self::Absent => "skipped",
            Self::Untestable => "untestable",
            Self::Open => "no result",
        }
    }

    /// Returns the mark for these verdicts.
    pub(super) fn by_counts(counts: Counts) -> Self {
        let table = [
            (counts.fail + counts.waived, Self::Denied),
            (counts.warn, Self::Warned),
            (counts.inconclusive + counts.error, Self::NotAsked),
            (counts.pass + counts.flaky, Self::Kept),
            (counts.observed, Self::Observed),
            (counts.not_applicable, Self::Absent),
        ];
        table.into_iter().find(|(count, _)| *count > 0).map_or(Self::Open, |(_, mark)| mark)
    }
}

/// The results of the cases of a clause.
#[derive(Debug, Default)]
pub(super) struct ClauseTally {
    /// Its own cases, by their verdict on the clause.
    pub(super) counts: Counts,
    /// Number of observations of it, by cases of any clause.
    pub(super) observed: usize,
    /// Number of cases of any clause that show a violation of it.
    pub(super) broken_by: usize,
    /// The worst level of these violations.
    worst: Option<Level>,
    /// The first of its own cases.
    pub(super) cases: Vec<String>,
    /// Operation and control of its last case that has a control.
    pub(super) like: Option<(String, String)>,
}

/// Counts of a listed word as the value of a field.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct WordTally {
    /// Cases that set the field to it, by their verdict on their clause.
    pub(super) sent: Counts,
    /// Responses that have it there.
    pub(super) answers: usize,
}

impl WordTally {
    /// Returns the mark of the word.
    pub(super) fn mark(&self) -> Mark {
        match Mark::by_counts(self.sent) {
            Mark::Open if self.answers > 0 => Mark::Observed,
            mark => mark,
        }
    }
}

/// The counters of the page.
#[derive(Debug, Default)]
pub(super) struct Tally {
    clauses: HashMap<String, ClauseTally>,
    /// Counts by line of the document and operation.
    lines: HashMap<(u32, String), Counts>,
    /// Cases that change one header alone and belong to a clause of another line. The keys are operation and
    /// lowercase name, then the line.
    headers: HashMap<(String, String), BTreeMap<u32, Counts>>,
    /// Listed words, each by the lowercase names of the fields that had it as their value.
    words: HashMap<String, BTreeMap<String, WordTally>>,
}

impl Tally {
    /// Creates a tally for the words that this document lists.
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
        Self { words: words.into_iter().map(|word| (word, BTreeMap::new())).collect(), ..Self::default() }
    }

    /// Counts a case.
    pub(super) fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>) {
        let verdict = report.verdict;
        let word = verdict.on_own_clause();
        let own = entry(&mut self.clauses, &verdict.clause);
        own.counts.add(word);
        if own.cases.len() < NAMED {
            own.cases.push(verdict.case.clone());
        }
        if let Some(control) = &verdict.control {
            own.like = Some((verdict.operation.clone(), control.case.clone()));
        }
        // An observation in words begins with its clause.
        let in_words = verdict.observations.iter().filter_map(|seen| Some(seen.split_once(": ")?.0));
        for id in in_words.chain(verdict.seen.iter().filter_map(Observation::clause)) {
            if summary.clause(id).is_some() {
                entry(&mut self.clauses, id).observed += 1;
            }
        }
        self.findings(verdict);
        for (line, word) in by_line(summary, verdict) {
            self.lines.entry((line, verdict.operation.clone())).or_default().add(word);
        }
        if let [change] = verdict.changes.as_slice()
            && let Some(name) = exchange::place(change).strip_prefix("header/")
        {
            let line = summary.clause(&verdict.clause).map_or(0, |clause| clause.line);
            let lines = self.headers.entry((verdict.operation.clone(), name.to_lowercase())).or_default();
            lines.entry(line).or_default().add(word);
        }
        // If a request with several changes is rejected, the word need not be the cause.
        if word.is_pass() || verdict.changes.len() == 1 {
            self.sent(report, word);
        }
    }

    /// Counts the listed words to which a case sets fields.
    fn sent(&mut self, report: &CaseReport<'_>, word: Verdict) {
        let Some(judged) = report.judged().filter(|_| !self.words.is_empty()) else { return };
        for place in exchange::changed(report.verdict) {
            let Some(value) = exchange::at(judged, &place) else { continue };
            let name = place.rsplit('/').find(|step| !step.bytes().all(|byte| byte.is_ascii_digit()));
            texts(&value, name.unwrap_or_default(), &mut |field, text| {
                if let Some(fields) = self.words.get_mut(text) {
                    fields.entry(field.to_lowercase()).or_default().sent.add(word);
                }
            });
        }
    }

    /// Counts the findings of a case, or of a control that was not selected.
    pub(super) fn findings(&mut self, verdict: &CaseVerdict) {
        let mut seen = HashSet::new();
        for finding in &verdict.findings {
            let broken = entry(&mut self.clauses, &finding.clause);
            broken.worst = broken.worst.max(Some(finding.level));
            broken.broken_by += usize::from(seen.insert(&finding.clause));
        }
    }

    /// Counts the listed words of responses.
    pub(super) fn answers(&mut self, exchanges: &[Exchange]) {
        if self.words.is_empty() {
            return;
        }
        let bodies = exchanges.iter().filter_map(|exchange| exchange.response.as_ref()?.body.as_ref());
        for body in bodies {
            let Body::Text(text) = body else { continue };
            let Ok(body) = serde_json::from_str::<Value>(text) else { continue };
            let mut seen = HashSet::new();
            texts(&body, "", &mut |field, text| {
                if let Some(fields) = self.words.get_mut(text) {
                    let field = field.to_lowercase();
                    if seen.insert((field.clone(), text.to_owned())) {
                        fields.entry(field).or_default().answers += 1;
                    }
                }
            });
        }
    }

    /// Returns the tally of a clause.
    pub(super) fn clause(&self, id: &str) -> Option<&ClauseTally> {
        self.clauses.get(id)
    }

    /// Returns the tally of a listed word as the value of the fields that the text around its list names.
    pub(super) fn word(&self, word: &str, around: &str) -> WordTally {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let names: HashSet<String> =
            around.split(|letter| !is_of_name(letter)).map(str::to_lowercase).collect();
        let mut sum = WordTally::default();
        let fields = self.words.get(word).into_iter().flatten();
        for (_, tally) in fields.filter(|(field, _)| names.contains(*field)) {
            sum.sent.add_all(tally.sent);
            sum.answers += tally.answers;
        }
        sum
    }

    /// Returns the counts of a row for an operation: cases of its clauses, and cases that change one of these
    /// headers.
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

    /// Returns the mark of a clause.
    pub(super) fn mark(&self, summary: &RunSummary, clause: &ClauseText) -> Mark {
        let tally = self.clauses.get(&clause.id);
        match tally.and_then(|tally| tally.worst) {
            Some(Level::Deny) => return Mark::Denied,
            Some(Level::Warn) => return Mark::Warned,
            Some(Level::Note) | None => {}
        }
        match summary.state(&clause.id) {
            Some(ClauseState::Kept) => Mark::Kept,
            Some(ClauseState::Broken | ClauseState::Waived) => Mark::Denied,
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
    // It exists now.
    clauses.entry(id.to_owned()).or_default()
}

/// Returns a verdict for each line of the document that a case is about: the line of its own clause, and
/// those of the clauses that its findings name. The worst verdict of a line wins.
fn by_line(summary: &RunSummary, verdict: &CaseVerdict) -> BTreeMap<u32, Verdict> {
    let line = |clause: &str| summary.clause(clause).map_or(0, |clause| clause.line);
    let rank = |word: Verdict| match word {
        Verdict::Fail => 0,
        Verdict::Warn => 1,
        Verdict::Waived => 2,
        _ => 3,
    };
    let mut lines = BTreeMap::from([(line(&verdict.clause), verdict.on_own_clause())]);
    for finding in verdict.findings.iter().filter(|finding| finding.clause != verdict.clause) {
        let word = match finding.level {
            _ if verdict.verdict == Verdict::Waived => Verdict::Waived,
            Level::Deny => Verdict::Fail,
            Level::Warn | Level::Note => Verdict::Warn,
        };
        let known = lines.entry(line(&finding.clause)).or_insert(word);
        if rank(word) < rank(*known) {
            *known = word;
        }
    }
    lines
}

/// Visits all strings in a value, each with the name of its field.
fn texts(value: &Value, field: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(field, text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, field, visit)),
        Value::Object(members) => members.iter().for_each(|(name, value)| texts(value, name, visit)),
        _ => {}
    }
}
