//! The document under test, and the readings of its unclear places.

use std::{collections::BTreeMap, ops::Range};

use sha2::{Digest, Sha256};

use crate::tree::Tree;

/// Path of the document in a tree.
pub const FILE: &str = "fixtures/spec/interface.md";

/// Path of its readings in a tree.
const READINGS: &str = "fixtures/spec/readings.md";

/// Heading of the section that has each reading in sentences, a table of two columns. A file without it is
/// that table alone.
const SENTENCES: &str = "\n## 7. In sentences\n";

/// Marks an omission between two parts of a quote.
const GAP: &str = " .. ";

/// The text of the document, by line, and its readings.
#[derive(Debug, Clone, Default)]
pub struct Document {
    text: String,
    lines: Vec<Line>,
    /// The headings of each section, from the chapter down.
    sections: Vec<Vec<String>>,
    /// The readings by row number.
    readings: BTreeMap<u32, String>,
}

/// A line of the document.
#[derive(Debug, Clone)]
struct Line {
    place: Range<usize>,
    /// Index of its section.
    section: usize,
}

impl Document {
    /// Reads the document of a tree. Returns an empty one if the tree has none.
    pub fn load(tree: &Tree) -> Self {
        let text = tree.text(FILE).unwrap_or_default().to_owned();
        let mut sections = vec![Vec::new()];
        let (mut lines, mut end) = (Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let level = line.bytes().take_while(|byte| *byte == b'#').count();
            if level >= 2 {
                let above = sections.last().map(Vec::as_slice).unwrap_or_default();
                let mut headings = above[..above.len().min(level - 2)].to_vec();
                headings.push(line.trim_start_matches('#').trim().to_owned());
                sections.push(headings);
            }
            let begin = end;
            end += line.len();
            lines.push(Line { place: begin..begin + line.trim_end().len(), section: sections.len() - 1 });
        }
        let readings = readings(tree.text(READINGS).unwrap_or_default());
        Self { text, lines, sections, readings }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns a line, counted from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        let line = self.lines.get((line as usize).checked_sub(1)?)?;
        Some(&self.text[line.place.clone()])
    }

    /// Returns the SHA-256 of the document, in hex.
    pub fn sha256(&self) -> String {
        hex::encode(Sha256::digest(&self.text))
    }

    /// Returns the headings above a line (counted from 1), joined with ` > `. The document's title is
    /// omitted.
    pub fn section(&self, line: u32) -> String {
        let line = (line as usize).checked_sub(1).and_then(|line| self.lines.get(line));
        line.map(|line| self.sections[line.section].join(" > ")).unwrap_or_default()
    }

    /// Returns the lines (counted from 1) that contain a quote, optionally only those in sections with this
    /// heading. A quote may omit text between two parts: `creditorName .. at most 70 characters`.
    pub fn lines_with(&self, quote: &str, section: Option<&str>) -> Vec<u32> {
        let first = quote.split(GAP).next().unwrap_or_default();
        let mut found = Vec::new();
        for (place, _) in self.text.match_indices(first) {
            let index = self.lines.partition_point(|line| line.place.end < place);
            let Some(line) = self.lines.get(index) else { continue };
            let headings = &self.sections[line.section];
            let is_there =
                section.is_none_or(|section| headings.last().is_some_and(|heading| heading == section));
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            if is_there && found.last() != Some(&number) && has_parts(&self.text[line.place.clone()], quote) {
                found.push(number);
            }
        }
        found
    }

    /// Returns the words of the code block after the first line that starts with `introduction`.
    pub fn list_after(&self, introduction: &str) -> Vec<&str> {
        let after = self.text.split_once(&format!("\n{introduction}")).map_or("", |(_, rest)| rest);
        after.split("```").nth(1).unwrap_or_default().split_whitespace().collect()
    }

    /// Returns a row of the readings by its number: what is unclear, and how it is read, in sentences.
    pub fn reading(&self, row: u32) -> Option<&str> {
        self.readings.get(&row).map(String::as_str)
    }
}

/// Returns the readings by row number. One row of the table may have several numbers.
fn readings(text: &str) -> BTreeMap<u32, String> {
    let sentences = text.split_once(SENTENCES).map_or(text, |(_, sentences)| sentences);
    let rows = sentences.lines().filter(|line| line.starts_with('|'));
    let rows = rows.filter_map(|line| line.trim().trim_matches('|').split_once('|'));
    rows.flat_map(|(rows, text)| row_numbers(rows).map(|row| (row, text.trim().to_owned()))).collect()
}

fn has_parts(text: &str, quote: &str) -> bool {
    let mut rest = text;
    quote.split(GAP).all(|part| {
        let after = rest.split_once(part).map(|(_, after)| after);
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

/// Returns the numbers in a cell.
fn row_numbers(cell: &str) -> impl Iterator<Item = u32> {
    cell.split(',').filter_map(|number| number.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document::load(&Tree::embedded())
    }

    #[test]
    fn a_section_is_the_path_of_headings() {
        let line =
            document().text().lines().position(|text| text.starts_with("| monthsOfExecution")).unwrap() + 1;
        assert_eq!(
            document().section(u32::try_from(line).unwrap()),
            "Endpoints > Create periodic NDCT payment"
        );
    }

    #[test]
    fn every_reading_can_be_found() {
        let document = document();
        // Each is a sentence, without the shorthand of the tables that explain it.
        for row in 1..=108 {
            let text = document.reading(row).unwrap();
            assert!(text.ends_with('.') && !text.contains("STATED") && !text.contains('|'), "{row}: {text}");
        }
        assert!(document.reading(43).is_some_and(|text| text.contains("Duplicate months must be rejected")));
        // A row that shares its line with another one is found, in a file that is one table.
        let alone = readings("| row | sentence |\n|---|---|\n| 1, 3 | It is `so`. |\n");
        assert_eq!((alone.len(), alone[&3].as_str()), (2, "It is `so`."));
        assert_eq!(document.reading(0), None);
        assert_eq!(document.reading(1000), None);
        assert_eq!(document.line(0), None);
    }

    #[test]
    fn a_quote_is_found_by_its_parts_and_by_its_section() {
        let document = document();
        let twice = document.lines_with("at most 70 characters", None);
        assert!(twice.len() > 2, "{twice:?}");
        let named =
            document.lines_with("creditorName .. at most 70 characters", Some("Create NCBCT payment"));
        assert!(matches!(*named, [line] if document.line(line).unwrap().contains("| creditorName |")));
        assert_eq!(document.lines_with("at most 70 characters .. creditorName", None), [0; 0]);
    }

    #[test]
    fn a_list_is_the_block_after_its_introduction() {
        let document = document();
        let countries = document.list_after("Country values");
        assert!(countries.len() > 200 && countries.contains(&"NO"), "{countries:?}");
        assert!(document.list_after("No such list").is_empty());
    }
}
