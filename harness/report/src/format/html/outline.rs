//! The outline of the document under test: headings, paragraphs, list items, tables and lists of words. Each
//! is split into the sentences and cells to which a clause can point.

use std::ops::Range;

/// Separator of the parts of a quote. Any text of the line may appear between them.
const GAP: &str = " .. ";

/// Number of consecutive words with commas between them that make a list.
const LISTED: usize = 4;

/// A part of the document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A heading, with its level.
    Heading { level: usize, text: &'a str },
    /// A paragraph, or an item of a list.
    Text { line: Line<'a>, mark: &'a str, depth: usize },
    /// A list of codes: lines of words, which are not split into sentences.
    Words(Vec<Line<'a>>),
    /// A table: its headings, and its rows.
    Table { head: Vec<&'a str>, rows: Vec<Row<'a>> },
}

/// A line of the document, split into sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Number of the line, from 1.
    pub(super) number: u32,
    pub(super) text: &'a str,
    pub(super) sentences: Vec<Range<usize>>,
}

/// A row of a table: a line whose sentences belong to cells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) line: Line<'a>,
    /// The range of sentences of each cell.
    pub(super) cells: Vec<Range<usize>>,
}

impl Row<'_> {
    /// Returns the text of a cell.
    pub(super) fn cell(&self, at: usize) -> &str {
        let sentences = self.cells.get(at).and_then(|cell| self.line.sentences.get(cell.clone()));
        match sentences {
            Some([first, .., last]) => &self.line.text[first.start..last.end],
            Some([one]) => &self.line.text[one.clone()],
            _ => "",
        }
    }
}

/// Returns the parts of a document, without its title.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("```") {
            let words = lines.by_ref().take_while(|(_, line)| !line.starts_with("```"));
            let line = |(number, text)| Line { number, text, sentences: Vec::new() };
            parts.push(Part::Words(words.map(line).collect()));
        } else if line.starts_with('|') {
            let mut rows = vec![row(number, line)];
            while let Some((number, line)) = lines.next_if(|(_, line)| line.starts_with('|')) {
                rows.push(row(number, line));
            }
            parts.push(table(rows, line));
        } else if let Some(text) = line.strip_prefix('#') {
            let deeper = text.trim_start_matches('#');
            let level = line.len() - deeper.len();
            if level > 1 {
                parts.push(Part::Heading { level, text: deeper.trim() });
            }
        } else if !line.trim().is_empty() {
            parts.push(paragraph(number, line));
        }
    }
    parts
}

fn table<'a>(mut rows: Vec<Row<'a>>, first: &'a str) -> Part<'a> {
    let is_rule = |row: &Row<'_>| row.line.text.bytes().all(|byte| b"|-: ".contains(&byte));
    rows.remove(0);
    rows.retain(|row| !is_rule(row));
    Part::Table { head: first.trim().trim_matches('|').split('|').map(str::trim).collect(), rows }
}

fn row(number: u32, text: &str) -> Row<'_> {
    let (mut sentences, mut cells, mut start) = (Vec::new(), Vec::new(), 0);
    for (at, _) in text.match_indices('|').chain([(text.trim_end().len(), "")]) {
        if start > 0 && at > start {
            let first = sentences.len();
            sentences.extend(cut(text, start..at));
            cells.push(first..sentences.len());
        }
        start = at + 1;
    }
    Row { line: Line { number, text, sentences }, cells }
}

fn paragraph(number: u32, text: &str) -> Part<'_> {
    let content = text.trim_start();
    let depth = text.len() - content.len();
    let ordered = content.bytes().take_while(u8::is_ascii_digit).count();
    let mark = if content.starts_with("- ") {
        "-"
    } else if ordered > 0 && content[ordered..].starts_with(". ") {
        &content[..=ordered]
    } else {
        ""
    };
    let start = depth + mark.len();
    let sentences = cut(text, start..text.len());
    Part::Text { line: Line { number, text, sentences }, mark, depth }
}

/// Splits a part of a line into trimmed sentences. A sentence ends with a full stop before a space and a
/// character that is not lowercase.
fn cut(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = part.start;
    for (at, _) in text[part.clone()].match_indices(". ") {
        let end = part.start + at + 1;
        let next = text[end..part.end].trim_start().chars().next();
        if next.is_some_and(|letter| !letter.is_lowercase()) {
            sentences.push(start..end);
            start = end;
        }
    }
    sentences.push(start..part.end);
    let trimmed = sentences.into_iter().map(|range| {
        let sentence = &text[range.clone()];
        let start = range.start + sentence.len() - sentence.trim_start().len();
        start..(start + sentence.trim().len())
    });
    trimmed.filter(|range| !range.is_empty()).collect()
}

/// Returns the ranges of the parts of a quote in a line. The result is empty if one is missing.
pub(super) fn quoted(text: &str, quote: &str) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    for part in quote.split(GAP) {
        let Some(at) = text[from..].find(part) else { return Vec::new() };
        from += at;
        found.push(from..from + part.len());
        from += part.len();
    }
    found
}

/// Returns the ranges of listed words: those of a block, or those with commas between them.
pub(super) fn listed(text: &str, is_block: bool) -> Vec<Range<usize>> {
    let word =
        |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (mut found, mut run, mut start) = (Vec::new(), Vec::new(), 0);
    let separator = if is_block { " " } else { ", " };
    for part in text.split(separator) {
        // The first word of such a list follows other words, and the last one precedes some.
        let begin = part.rfind(' ').map_or(0, |at| at + 1);
        let end = part.find([' ', '.', ';']).unwrap_or(part.len());
        let (range, is_first) = (start + begin..start + part.len(), begin > 0);
        if !is_first && word(part) {
            run.push(range);
        } else {
            if end > 0 && word(&part[..end]) && !run.is_empty() {
                run.push(start..start + end);
            }
            close(&mut run, &mut found);
            if word(&part[begin..]) {
                run.push(range);
            }
        }
        start += part.len() + separator.len();
    }
    close(&mut run, &mut found);
    found
}

fn close(run: &mut Vec<Range<usize>>, found: &mut Vec<Range<usize>>) {
    if run.len() >= LISTED {
        found.append(run);
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_cut_into_sentences_and_cells() {
        let text = "# Title\n\n## One\n\nFirst of v1.2. Second, i.e. more.\n- an item\n   - below. It\n2. two\n\
            \n| A | B |\n|---|---|\n| a. b | C. D |\n| x | |\n```\nAA BB\n```\n";
        let shown: Vec<String> = parts(text)
            .iter()
            .map(|part| match part {
                Part::Heading { level, text } => format!("{level} {text}"),
                Part::Text { line, mark, depth } => {
                    let sentences: Vec<_> =
                        line.sentences.iter().map(|range| &line.text[range.clone()]).collect();
                    format!("{} {depth} `{mark}` {}", line.number, sentences.join(" / "))
                }
                Part::Words(lines) => format!("{} {}", lines[0].number, lines[0].text),
                Part::Table { head, rows } => {
                    let cells = |row: &Row<'_>| {
                        (0..row.cells.len())
                            .map(|at| format!("{} ({})", row.cell(at), row.cells[at].len()))
                            .collect::<Vec<_>>()
                            .join(" / ")
                    };
                    format!("{head:?} {}", rows.iter().map(cells).collect::<Vec<_>>().join(" // "))
                }
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        2 One
        5 0 `` First of v1.2. / Second, i.e. more.
        6 0 `-` an item
        7 3 `-` below. / It
        8 0 `2.` two
        ["A", "B"] a. b (1) / C. D (2) // x (1) /  (0)
        15 AA BB
        "#);
    }

    #[test]
    fn a_quote_is_found_with_what_it_leaves_out() {
        let line = "| name | string | at most 70 |";
        let found = quoted(line, "name .. at most 70");
        assert_eq!(
            found.iter().map(|range| &line[range.clone()]).collect::<Vec<_>>(),
            ["name", "at most 70"]
        );
        assert_eq!(quoted(line, "at most 70 .. name"), []);
    }

    #[test]
    fn listed_words_are_found_in_blocks_and_between_commas() {
        let words = |text: &str, is_block| {
            let found = listed(text, is_block);
            found.into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words("AED AFN ALL AMD", true), "AED AFN ALL AMD");
        assert_eq!(words("string, one of AA, BB, CC, DD (a subset of E, F)", false), "AA BB CC DD");
        assert_eq!(words("AA_A, BB, CC, DD.", false), "AA_A BB CC DD");
        assert_eq!(words("one of AA, BB, CC", false), "", "three are no list");
        assert_eq!(words("Accept, Accept-Charset, Accept-Encoding, Host", false), "");
    }
}
