//! The document under test, and how its unclear places are read.

use sha2::{Digest, Sha256};

use crate::tree::{Tree, hex};

/// Where the document stands in a tree.
pub const FILE: &str = "fixtures/spec/interface.md";

/// Where its readings stand.
const READINGS: &str = "fixtures/spec/readings.md";

/// Where the plain readings begin, a table of two columns.
const PLAIN: &str = "\n## 5. ";

/// Stands between two parts of a quote, with anything in the document between them.
const GAP: &str = " .. ";

/// The text of the document, line by line, and its readings.
#[derive(Debug, Clone, Default)]
pub struct Document {
    text: String,
    readings: String,
}

impl Document {
    /// The document of a tree; an empty one where there is none.
    pub fn load(tree: &Tree) -> Self {
        let text = |path| tree.text(path).unwrap_or_default().to_owned();
        Self { text: text(FILE), readings: text(READINGS) }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A line, from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.lines().nth((line as usize).checked_sub(1)?)
    }

    /// SHA-256 of the document, in hex.
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(&self.text))
    }

    /// The headings above a line, from 1, joined with ` > `. The document's title is left out.
    pub fn section(&self, line: u32) -> String {
        let mut headings = Vec::new();
        for text in self.text.lines().take(line as usize) {
            heading(text, &mut headings);
        }
        headings.join(" > ")
    }

    /// The lines, from 1, in which a quote stands; of one section where its heading is given. A quote may
    /// leave out what stands between two parts of it: `creditorName .. at most 70 characters`.
    pub fn lines_with(&self, quote: &str, section: Option<&str>) -> Vec<u32> {
        // The whole text is looked through once, and line by line only where the quote may be.
        let first = quote.split(GAP).next().unwrap_or_default();
        let mut places = self.text.match_indices(first).map(|(at, _)| at).peekable();
        let (mut headings, mut end) = (Vec::new(), 0);
        let mut found = Vec::new();
        for (number, text) in (1..).zip(self.text.split_inclusive('\n')) {
            end += text.len();
            heading(text, &mut headings);
            if places.next_if(|at| *at < end).is_none() {
                continue;
            }
            while places.next_if(|at| *at < end).is_some() {}
            let is_there = section.is_none_or(|section| headings.last() == Some(&section));
            if is_there && has_parts(text, quote) {
                found.push(number);
            }
        }
        found
    }

    /// The words of the block of code that follows the first line that begins so: a list of codes.
    pub fn list_after(&self, introduction: &str) -> Vec<&str> {
        let after = self.text.split_once(&format!("\n{introduction}")).map_or("", |(_, rest)| rest);
        after.split("```").nth(1).unwrap_or_default().split_whitespace().collect()
    }

    /// A row of the readings by its number: where the document is unclear, how it is treated, and the plain
    /// reading of what that leaves open, where there is one.
    pub fn reading(&self, row: u32) -> Option<String> {
        let (rows, plain) = self.readings.split_once(PLAIN).unwrap_or((&self.readings, ""));
        let of_row = rows.lines().find_map(|line| {
            let cells: Vec<&str> = cells(line)?.collect();
            let is_row = cells.len() > 3 && has_number(cells[0], row);
            is_row.then(|| [cells[2], cells[cells.len() - 1]].into_iter().filter(|cell| !cell.is_empty()))
        });
        let of_plain = plain.lines().filter(|line| line.starts_with('|')).find_map(|line| {
            let (numbers, text) = line.trim().trim_matches('|').split_once('|')?;
            has_number(numbers, row).then(|| format!("plain reading: {}", text.trim()))
        });
        let parts: Vec<String> = of_row.into_iter().flatten().map(str::to_owned).chain(of_plain).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Takes a line into account that may be a heading.
fn heading<'a>(text: &'a str, headings: &mut Vec<&'a str>) {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    if level >= 2 {
        headings.truncate(level - 2);
        headings.push(text.trim_start_matches('#').trim());
    }
}

fn has_parts(text: &str, quote: &str) -> bool {
    let mut rest = text;
    quote.split(GAP).all(|part| {
        let after = rest.split_once(part).map(|(_, after)| after);
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

fn cells(line: &str) -> Option<impl Iterator<Item = &str>> {
    line.starts_with('|').then(|| line.trim().trim_matches('|').split('|').map(str::trim))
}

/// Whether a cell with one or several numbers has this one.
fn has_number(numbers: &str, row: u32) -> bool {
    numbers.split(',').any(|number| number.trim().parse() == Ok(row))
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
        assert!((1..=104).all(|row| document.reading(row).is_some_and(|text| text.len() > 10)));
        assert!(document.reading(43).is_some_and(|text| text.contains("duplicates: STATED refusal")));
        // A row without a third column leaves no bar behind, and one of two rows that are read together is
        // found.
        assert_eq!(document.reading(59).unwrap(), "Host listed optional; HTTP/1.1 requires it; always sent");
        assert!(document.reading(6).unwrap().contains("; plain reading: each published name"));
        assert!(document.reading(106).unwrap().starts_with("plain reading: an unknown PSU-ID"));
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
