//! The document under test, in color: each sentence, cell and listed word is marked with its state, and has a
//! note with the clauses and cases behind it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
    ops::Range,
};

use xs2aspec_record::{ClauseText, Counts, DocumentText, LevelSource, Strength, Verdict};

use super::{
    markup::{escaped, inline, shown},
    outline::{self, Line, Part, Row},
    tally::{Mark, Tally},
};
use crate::{demanded, summary::RunSummary, text};

/// Title of the text before the first heading.
const INTRODUCTION: &str = "The document";

/// Renders the document of a run.
pub(super) struct Drawing<'a> {
    summary: &'a RunSummary,
    tally: &'a Tally,
    /// Clauses by line.
    lines: BTreeMap<u32, Vec<&'a ClauseText>>,
    marks: HashMap<&'a str, Mark>,
    /// The id of the finding that shows a clause as violated.
    findings: HashMap<&'a str, &'a str>,
    columns: HashMap<&'a str, &'a str>,
}

/// A rendered section.
#[derive(Default)]
pub(super) struct Section<'a> {
    pub(super) title: &'a str,
    level: usize,
    html: String,
    counts: BTreeMap<Mark, usize>,
    /// True if a test can decide one of its clauses.
    is_testable: bool,
}

impl Section<'_> {
    /// Returns true if no test is about its text.
    pub(super) fn is_untested(&self) -> bool {
        !self.is_testable && !self.html.is_empty()
    }

    fn count(&mut self, clause: &ClauseText, mark: Mark) {
        *self.counts.entry(mark).or_default() += 1;
        self.is_testable |= clause.strength != Strength::Untestable;
    }
}

impl<'a> Drawing<'a> {
    /// Prepares rendering. `findings` maps clauses to finding ids.
    pub(super) fn new(
        summary: &'a RunSummary,
        tally: &'a Tally,
        findings: HashMap<&'a str, &'a str>,
    ) -> Self {
        let mut lines = BTreeMap::<u32, Vec<&ClauseText>>::new();
        for clause in summary.clauses() {
            lines.entry(clause.line).or_default().push(clause);
        }
        let marks =
            summary.clauses().map(|clause| (clause.id.as_str(), tally.mark(summary, clause))).collect();
        let columns = summary.document().into_iter().flat_map(|document| &document.columns);
        let columns = columns.map(|(operation, column)| (column.as_str(), operation.as_str())).collect();
        Self { summary, tally, lines, marks, findings, columns }
    }

    /// Returns the number of clauses with each mark.
    pub(super) fn counts(&self) -> BTreeMap<Mark, usize> {
        let mut counts = BTreeMap::new();
        self.marks.values().for_each(|mark| *counts.entry(*mark).or_default() += 1);
        counts
    }

    /// Renders the sections. If the record has no document, they have the clauses alone.
    pub(super) fn sections(&self) -> Vec<Section<'a>> {
        if let Some(document) = self.summary.document() {
            return self.of_document(document);
        }
        let clauses: Vec<&ClauseText> = self.lines.values().flatten().copied().collect();
        let by_section = clauses.chunk_by(|one, next| one.section == next.section);
        by_section.map(|clauses| self.without_text(&clauses[0].section, clauses)).collect()
    }

    /// Renders the legend, the contents and the text.
    pub(super) fn draw(&self, sections: &[Section<'_>]) -> String {
        let mut html = String::from("<ul class=\"legend\">");
        let counts = self.counts();
        for mark in Mark::ALL {
            let count = counts.get(&mark).copied().unwrap_or_default();
            _ = write!(html, "<li><span class=\"s {}\">{}</span> {count}</li>", mark.class(), mark.words());
        }
        html.push_str("</ul>\n<div class=\"sheet\"><nav class=\"contents\" aria-label=\"Contents of the document\"><ul>");
        for (at, section) in sections.iter().enumerate() {
            let (level, title) = (section.level, escaped(section.title));
            _ = write!(
                html,
                "<li class=\"level-{level}\"><a href=\"#section:{at}\">{title}</a>{}</li>",
                bar(&section.counts)
            );
        }
        html.push_str("</ul></nav>\n<div class=\"text\">\n");
        for (at, section) in sections.iter().enumerate() {
            let level = section.level + 1;
            _ = write!(
                html,
                "<section class=\"part\" id=\"section:{at}\"><h{level}>{}</h{level}>\n{}</section>\n",
                escaped(section.title),
                section.html
            );
        }
        html.push_str("</div></div>\n");
        html
    }

    fn of_document(&self, document: &'a DocumentText) -> Vec<Section<'a>> {
        let mut drawn = BTreeSet::new();
        let mut sections = vec![Section { title: INTRODUCTION, level: 2, ..Section::default() }];
        // The paragraph before a list of words names the field that they belong to.
        let mut before = "";
        for part in outline::parts(&document.text) {
            if let Part::Heading { level, text } = part {
                sections.push(Section { title: text, level: level.min(4), ..Section::default() });
                continue;
            }
            let Some(section) = sections.last_mut() else { continue };
            for number in numbers(&part) {
                drawn.insert(number);
                for clause in self.lines.get(&number).into_iter().flatten() {
                    section.count(clause, self.mark(clause));
                }
            }
            self.part(&part, before, &mut section.html);
            if let Part::Text { line, .. } = &part {
                before = line.text;
            }
        }
        sections.retain(|section| !section.html.is_empty() || section.title != INTRODUCTION);
        let is_undrawn = |clause: &&&ClauseText| !drawn.contains(&clause.line);
        let others: Vec<&ClauseText> = self.lines.values().flatten().filter(is_undrawn).copied().collect();
        if !others.is_empty() {
            sections.push(self.without_text("Headings", &others));
        }
        sections
    }

    /// Renders clauses alone, if the record has no text for them.
    fn without_text(&self, title: &'a str, clauses: &[&'a ClauseText]) -> Section<'a> {
        let mut section = Section { title, level: 2, ..Section::default() };
        for clause in clauses {
            let mark = self.mark(clause);
            section.count(clause, mark);
            _ = writeln!(
                section.html,
                "<div class=\"block\"><p><a class=\"s {}\" href=\"#clause:{}\">{}</a></p>{}</div>",
                mark.class(),
                escaped(&clause.id),
                escaped(&clause.says),
                self.note(&[clause])
            );
        }
        section
    }

    fn mark(&self, clause: &ClauseText) -> Mark {
        self.marks.get(clause.id.as_str()).copied().unwrap_or(Mark::Open)
    }

    fn part(&self, part: &Part<'_>, before: &str, html: &mut String) {
        match part {
            Part::Heading { .. } => {}
            Part::Text { line, mark, depth } => {
                let class = if *depth > 0 { "block deeper" } else { "block" };
                let mark = if mark.is_empty() {
                    String::new()
                } else {
                    format!("<span class=\"bullet\">{mark}</span> ")
                };
                let sentences = self.sentences(line, 0..line.sentences.len(), false);
                let note = self.note(self.clauses(line.number));
                _ = writeln!(html, "<div class=\"{class}\"><p>{mark}{sentences}</p>{note}</div>");
            }
            Part::Words(lines) => {
                html.push_str("<div class=\"block\"><p class=\"words\">");
                for line in lines {
                    html.push_str(&self.words(line.text, 0..line.text.len(), Some(before)));
                }
                let clauses: Vec<&ClauseText> =
                    lines.iter().flat_map(|line| self.clauses(line.number)).copied().collect();
                _ = writeln!(html, "</p>{}</div>", self.note(&clauses));
            }
            Part::Table { head, rows } => self.table(head, rows, html),
        }
    }

    fn table(&self, head: &[&str], rows: &[Row<'_>], html: &mut String) {
        let is_matrix = head.iter().any(|name| self.columns.contains_key(name));
        let class = if is_matrix { " class=\"matrix\"" } else { "" };
        _ = write!(html, "<table{class}><thead><tr>");
        for name in head.iter().chain(&["in this run"]) {
            _ = write!(html, "<th scope=\"col\">{}</th>", escaped(name));
        }
        html.push_str("</tr></thead><tbody>\n");
        for row in rows {
            html.push_str("<tr>");
            for at in 0..head.len() {
                let cell = row.cells.get(at).cloned().unwrap_or_default();
                match head.get(at).and_then(|name| self.columns.get(name)) {
                    Some(operation) => self.cell(row, at, operation, html),
                    None => _ = write!(html, "<td>{}</td>", self.sentences(&row.line, cell, true)),
                }
            }
            _ = writeln!(html, "<td>{}</td></tr>", self.note(self.clauses(row.line.number)));
        }
        html.push_str("</tbody></table>\n");
    }

    /// Renders the cell of a row for one operation.
    fn cell(&self, row: &Row<'_>, at: usize, operation: &str, html: &mut String) {
        let counts = self.tally.cell(row.line.number, operation, row.cell(0));
        let mark = Mark::by_counts(counts);
        let number =
            if counts.total() > 0 { format!(" <small>{}</small>", counts.total()) } else { String::new() };
        _ = write!(
            html,
            "<td class=\"cell\"><span class=\"s {}\" title=\"{}: {}\">{}{number}</span></td>",
            mark.class(),
            escaped(operation),
            verdicts(counts),
            escaped(row.cell(at))
        );
    }

    fn clauses(&self, line: u32) -> &[&'a ClauseText] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    /// Renders some sentences of a line, each with its mark.
    fn sentences(&self, line: &Line<'_>, which: Range<usize>, is_cell: bool) -> String {
        let of_line = self.clauses(line.number);
        let mut html = Vec::new();
        for (at, sentence) in line.sentences.iter().enumerate().filter(|(at, _)| which.contains(at)) {
            let touches = |clause: &&&ClauseText| {
                clause.quote.is_empty()
                    || outline::quoted(line.text, &clause.quote)
                        .iter()
                        .any(|part| part.start < sentence.end && sentence.start < part.end)
            };
            let own: Vec<&&ClauseText> = of_line.iter().filter(touches).collect();
            // A cell that no clause quotes belongs to its row.
            let (clauses, whole) =
                if own.is_empty() && is_cell { (of_line.iter().collect(), " row") } else { (own, "") };
            let worst = clauses.into_iter().min_by_key(|clause| self.mark(clause));
            let words = self.words(line.text, sentence.clone(), None);
            html.push(match worst {
                Some(clause) => format!(
                    "<a class=\"s {}{whole}\" href=\"#clause:{}\">{words}</a>",
                    self.mark(clause).class(),
                    escaped(&clause.id)
                ),
                None => format!(
                    "<a class=\"s open\" href=\"#open:{}.{at}\" data-quote=\"{}\">{words}</a>",
                    line.number,
                    escaped(&line.text[sentence.clone()])
                ),
            });
        }
        html.join(" ")
    }

    /// Renders a part of a line, each listed word in it with its mark. `before` is the text before a block of
    /// words.
    fn words(&self, text: &str, part: Range<usize>, before: Option<&str>) -> String {
        let is_block = before.is_some();
        let (mut html, mut from) = (String::new(), part.start);
        let words = outline::listed(text, is_block);
        let marked = words.into_iter().filter(|word| part.start <= word.start && word.end <= part.end);
        for word in marked {
            html.push_str(&inline(&text[from..word.start]));
            let name = &text[word.clone()];
            let tally = self.tally.word(name, before.unwrap_or(text));
            let (mark, sent) = (tally.mark(), tally.sent);
            let answers = text::count(tally.answers, "response");
            let number = if is_block && sent.total() > 0 {
                format!(" <small>{}</small>", sent.total())
            } else {
                String::new()
            };
            _ = write!(
                html,
                "<span class=\"w {}\" title=\"sent: {}; in {answers}\">{}{number}</span>",
                mark.class(),
                verdicts(sent),
                escaped(name)
            );
            from = word.end;
        }
        html.push_str(&inline(&text[from..part.end]));
        html
    }

    /// Renders the clauses behind the marks of a part, or an empty string if there are none.
    fn note(&self, clauses: &[&ClauseText]) -> String {
        if clauses.is_empty() {
            return String::new();
        }
        let mut counts = BTreeMap::<Mark, usize>::new();
        for clause in clauses {
            *counts.entry(self.mark(clause)).or_default() += 1;
        }
        let counted = counts
            .iter()
            .map(|(mark, count)| format!("<span class=\"{}\">{count} {}</span>", mark.class(), mark.words()));
        let mut html = format!(
            "<details class=\"note\"><summary>{}</summary><div class=\"inside\">",
            counted.collect::<Vec<_>>().join(", ")
        );
        let mut sorted = clauses.to_vec();
        sorted.sort_by_key(|clause| self.mark(clause));
        for clause in sorted {
            self.clause(clause, &mut html);
        }
        html.push_str("</div></details>");
        html
    }

    fn clause(&self, clause: &ClauseText, html: &mut String) {
        let (id, mark) = (escaped(&clause.id), self.mark(clause));
        _ = write!(
            html,
            "<div class=\"clause\" id=\"clause:{id}\" data-mark=\"{}\" data-strength=\"{}\" tabindex=\"-1\">\
             <p><b class=\"{}\">{}</b> <a href=\"#clause:{id}\"><code>{id}</code></a> {}</p><p class=\"soft\">{}",
            mark.class(),
            clause.strength.word(),
            mark.class(),
            mark.words(),
            escaped(&clause.says),
            level(clause)
        );
        for text in [&clause.standard, &clause.why].into_iter().flatten() {
            _ = write!(html, "; {}", escaped(text));
        }
        if !clause.readings.is_empty() {
            let rows = clause.readings.iter().map(|row| format!("<a href=\"#reading:{row}\">{row}</a>"));
            _ = write!(html, "; reading {}", rows.collect::<Vec<_>>().join(", "));
        }
        html.push_str("</p>");
        let tally = self.tally.clause(&clause.id);
        let cases = tally.filter(|tally| tally.counts.total() > 0).map(|tally| {
            let names =
                tally.cases.iter().map(|case| format!("<code>{}</code>", shown(case))).collect::<Vec<_>>();
            let more = tally.counts.total() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "cases: {} (<span class=\"cases\">{}{more}</span>)",
                verdicts(tally.counts),
                names.join(", ")
            )
        });
        let checked = demanded::state(self.summary, &clause.id).and_then(|(_, checked)| checked);
        let observed = tally.filter(|tally| tally.observed > 0);
        let observed = observed.map(|tally| format!("observed {}", text::count(tally.observed, "time")));
        let parts: Vec<String> = cases.into_iter().chain(checked).chain(observed).collect();
        let parts = if parts.is_empty() { "no case of its own".to_owned() } else { parts.join("; ") };
        _ = write!(html, "<p>{parts}");
        if let Some(finding) = self.findings.get(clause.id.as_str()) {
            let broken = tally.map_or(0, |tally| tally.broken_by);
            _ = write!(
                html,
                "; <a href=\"#finding:{finding}\">the finding</a>, {}",
                text::count(broken, "case")
            );
        }
        html.push_str("</p></div>");
    }
}

/// Returns strength and level of a clause, and who set the level.
pub(super) fn level(clause: &ClauseText) -> String {
    let set = clause.level();
    let by = if set.by == LevelSource::Strength { String::new() } else { format!(" by {}", set.by.words()) };
    format!("{}, level {}{by}", clause.strength.word(), set.level.word())
}

/// Returns the number of cases with each verdict, in words.
fn verdicts(counts: Counts) -> String {
    let some = Verdict::ALL.into_iter().filter(|verdict| counts.of(*verdict) > 0);
    let some: Vec<String> = some.map(|verdict| format!("{} {}", counts.of(verdict), word(verdict))).collect();
    if some.is_empty() { "no case".to_owned() } else { some.join(", ") }
}

/// Returns the word that the page uses for a verdict.
pub(super) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "passed",
        Verdict::Fail => "failed",
        Verdict::Warn => "warning",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotApplicable => "not applicable",
        other => other.word(),
    }
}

/// Renders a bar with one segment per mark, as long as its share.
fn bar(counts: &BTreeMap<Mark, usize>) -> String {
    let all: usize = counts.values().sum();
    if all == 0 {
        return String::new();
    }
    let (mut html, mut start) = (
        String::from(
            "<svg class=\"bar\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
        ),
        0,
    );
    for (mark, count) in counts {
        let end = start + count;
        let (x, next) = (start * 1000 / all, end * 1000 / all);
        _ = write!(
            html,
            "<rect class=\"{}\" x=\"{}.{}\" width=\"{}.{}\" height=\"6\"/>",
            mark.class(),
            x / 10,
            x % 10,
            (next - x) / 10,
            (next - x) % 10
        );
        start = end;
    }
    html.push_str("</svg>");
    html
}

fn numbers(part: &Part<'_>) -> Vec<u32> {
    match part {
        Part::Heading { .. } => Vec::new(),
        Part::Text { line, .. } => vec![line.number],
        Part::Words(lines) => lines.iter().map(|line| line.number).collect(),
        Part::Table { rows, .. } => rows.iter().map(|row| row.line.number).collect(),
    }
}
