//! `coverage --matrix`: every place with every mistake and lawful form, and what must come of it.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use xs2aspec_record::Exit;
use xs2aspec_suite::{Suite, matrix::Cell};

use crate::Failure;

/// A decision about a cell: its letter, what it means, and its colour.
struct Decision {
    letter: char,
    means: &'static str,
    colour: &'static str,
}

const DECISIONS: [Decision; 7] = [
    Decision { letter: 'R', means: "refused, or it is a violation", colour: "#f4b6b6" },
    Decision { letter: 'r', means: "refused, or it is a warning", colour: "#fbe3c4" },
    Decision { letter: 'A', means: "accepted, or it is a violation", colour: "#b9e3c0" },
    Decision { letter: 'a', means: "accepted, or it is a warning", colour: "#dff3e2" },
    Decision { letter: 'c', means: "as the profile chooses", colour: "#cfdff5" },
    Decision { letter: 'o', means: "observed, for the reason that is given", colour: "#eeeeee" },
    Decision { letter: '.', means: "the place has no such form", colour: "#ffffff" },
];

/// Draws the matrix: in the terminal, as JSON, or as a page.
pub(crate) fn draw(suite: &Suite, is_json: bool, page: Option<&Path>) -> Result<Exit, Failure> {
    let cells = suite.cells();
    if let Some(path) = page {
        fs::write(path, drawn_page(&cells))
            .map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))?;
        say!("{} cells in {}", cells.len(), path.display());
    } else if is_json {
        say!("{:#}", serde_json::to_value(&cells).map_err(Failure::input)?);
    } else {
        for table in tables(&cells) {
            say!("{}", table.text());
        }
    }
    if !is_json {
        say!("{}", totals(&cells));
    }
    Ok(Exit::Conforms)
}

/// How many cells there are of each decision, in one line.
fn totals(cells: &[Cell]) -> String {
    let count = |letter| cells.iter().filter(|cell| decision(cell) == letter).count();
    let counts = DECISIONS.iter().filter(|decision| decision.letter != '.');
    let counts = counts.map(|one| format!("{} {} ({})", count(one.letter), one.letter, one.means));
    format!("{} cells, each decided: {}", cells.len(), counts.collect::<Vec<_>>().join(", "))
}

fn decision(cell: &Cell) -> char {
    let is_warned = cell.strength == "expected";
    match (cell.expect.as_str(), is_warned) {
        ("observed", _) => 'o',
        ("as the target profile chooses", _) => 'c',
        ("accepted", false) => 'A',
        ("accepted", true) => 'a',
        (_, false) => 'R',
        (_, true) => 'r',
    }
}

/// Places of one operation that share their forms, beside each other.
struct Table<'a> {
    title: String,
    places: Vec<String>,
    rows: Vec<(String, BTreeMap<usize, &'a Cell>)>,
}

/// One table for each operation and part of a request.
fn tables(cells: &[Cell]) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    for cell in cells {
        let part = cell.place.split('/').next().filter(|part| !part.is_empty()).unwrap_or("whole");
        let title = format!("{} {part}", cell.operation);
        if tables.last().is_none_or(|table| table.title != title) {
            tables.push(Table { title, places: Vec::new(), rows: Vec::new() });
        }
        let Some(table) = tables.last_mut() else { continue };
        let known = table.places.iter().position(|place| *place == cell.place);
        let place = known.unwrap_or_else(|| {
            table.places.push(cell.place.clone());
            table.places.len() - 1
        });
        let row = table.rows.iter().position(|(form, _)| *form == cell.form);
        let row = row.unwrap_or_else(|| {
            table.rows.push((cell.form.clone(), BTreeMap::new()));
            table.rows.len() - 1
        });
        table.rows[row].1.insert(place, cell);
    }
    tables
}

impl Table<'_> {
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for (number, place) in self.places.iter().enumerate() {
            _ = writeln!(
                text,
                "  {}{} {place}",
                "| ".repeat(number),
                if place.is_empty() { "" } else { "+" }
            );
        }
        for (form, cells) in &self.rows {
            let letter = |place: usize| cells.get(&place).map_or('.', |cell| decision(cell));
            let letters: Vec<String> =
                (0..self.places.len()).map(|place| letter(place).to_string()).collect();
            _ = writeln!(text, "  {}  {form}", letters.join(" "));
        }
        text
    }
}

fn drawn_page(cells: &[Cell]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Places and mistakes</title>\n<style>body{font:14px sans-serif}\
         table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:2px 5px;text-align:center}\
         th.form{text-align:left;font-weight:normal}th.place{writing-mode:vertical-rl;font-weight:normal}</style>\n",
    );
    _ = writeln!(page, "<h1>Places and mistakes</h1><p>{}</p>", escaped(&totals(cells)));
    for table in tables(cells) {
        _ = write!(page, "<h2>{}</h2><table><tr><th></th>", escaped(&table.title));
        for place in &table.places {
            _ = write!(page, "<th class=\"place\">{}</th>", escaped(place));
        }
        page.push_str("</tr>\n");
        for (form, cells) in &table.rows {
            _ = write!(page, "<tr><th class=\"form\">{}</th>", escaped(form));
            for place in 0..table.places.len() {
                let cell = cells.get(&place);
                let letter = cell.map_or('.', |cell| decision(cell));
                let colour = DECISIONS.iter().find(|one| one.letter == letter).map_or("", |one| one.colour);
                let says = cell.map_or(String::new(), |cell| {
                    let reason = cell.reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
                    format!("{}: {}{reason}", cell.clause, cell.expect)
                });
                _ = write!(
                    page,
                    "<td style=\"background:{colour}\" title=\"{}\">{letter}</td>",
                    escaped(&says)
                );
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</table>\n");
    }
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
