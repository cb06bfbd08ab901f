//! `xs2aspec coverage --matrix`: the expected outcome of each test value at each place of requests, and the
//! judgement of each wrong value at each place of responses.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use xs2aspec_record::Exit;
use xs2aspec_suite::{
    Suite,
    matrix::{Cell, Decision},
};

use crate::{Failure, report};

/// The appearance of a decision: its letter, its meaning, and its color.
struct Drawn {
    decision: Decision,
    letter: char,
    means: &'static str,
    colour: &'static str,
}

const fn drawn(decision: Decision, letter: char, means: &'static str, colour: &'static str) -> Drawn {
    Drawn { decision, letter, means, colour }
}

const DECISIONS: [Drawn; 13] = [
    drawn(Decision::Refused, 'R', "must be rejected, else a violation", "#f4b6b6"),
    drawn(Decision::RefusedOrWarned, 'r', "must be rejected, else a warning", "#fbe3c4"),
    drawn(Decision::Accepted, 'A', "must be accepted, else a violation", "#b9e3c0"),
    drawn(Decision::AcceptedOrWarned, 'a', "must be accepted, else a warning", "#dff3e2"),
    drawn(Decision::Choice, 'c', "decided by the profile", "#cfdff5"),
    drawn(Decision::Observed, 'o', "observed, for the given reason", "#eeeeee"),
    drawn(Decision::Plain, '=', "same as the baseline request", "#f7fbf7"),
    drawn(Decision::Written, 'w', "tested by a case file", "#f7f7fb"),
    drawn(Decision::LeftOut, '-', "not applicable there, for the given reason", "#f7f7f7"),
    drawn(Decision::Denied, 'D', "a violation", "#f4b6b6"),
    drawn(Decision::Warned, 'W', "a warning", "#fbe3c4"),
    drawn(Decision::Noted, 'n', "only recorded, for the given reason", "#eeeeee"),
    drawn(Decision::Lawful, '~', "conforming, for the given reason", "#b9e3c0"),
];

/// The meaning of a point.
const NONE: &str = "a value for other places only";

/// Renders the matrix as text, as JSON, or as an HTML page.
pub(crate) fn draw(suite: &Suite, is_json: bool, page: Option<&Path>) -> Result<Exit, Failure> {
    let (requests, answers) = (suite.cells(), suite.answer_cells());
    let totals = format!("{}\nresponses: {}", totals(&requests), self::totals(&answers));
    let cells = [requests, answers].concat();
    if let Some(path) = page {
        report::write(path, &[], drawn_page(&cells, &totals).as_bytes())?;
        say!("{} cells in {}", cells.len(), path.display());
    } else if is_json {
        say!("{:#}", serde_json::to_value(&cells).map_err(Failure::input)?);
    } else {
        for table in tables(&cells) {
            say!("{}", table.text());
        }
        say!(". ({NONE})");
    }
    if !is_json {
        say!("{totals}");
    }
    Ok(Exit::Conforms)
}

/// Returns the number of cells of each decision, in one line.
fn totals(cells: &[Cell]) -> String {
    let count = |decision| cells.iter().filter(|cell| cell.decision == decision).count();
    let counts = DECISIONS.iter().map(|one| (count(one.decision), one)).filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, one)| format!("{count} {} ({})", one.letter, one.means));
    format!("{} cells, each decided: {}", cells.len(), counts.collect::<Vec<_>>().join(", "))
}

fn look(cell: &Cell) -> Option<&'static Drawn> {
    DECISIONS.iter().find(|one| one.decision == cell.decision)
}

/// The places of one part of an operation, side by side, with their test values.
struct Table<'a> {
    title: String,
    places: Vec<&'a str>,
    rows: Vec<Row<'a>>,
}

/// A test value, with its cell by the number of the place.
struct Row<'a> {
    form: &'a str,
    cells: BTreeMap<usize, &'a Cell>,
}

/// Returns one table for each operation and part of its request or response.
fn tables(cells: &[Cell]) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    for cell in cells {
        let part = cell.place.split('/').next().filter(|part| !part.is_empty()).unwrap_or("whole");
        let title = format!("{} {part}", cell.operation);
        let table = index_or_push(
            &mut tables,
            |table| table.title == title,
            || Table { title: title.clone(), places: Vec::new(), rows: Vec::new() },
        );
        tables[table].add(cell);
    }
    tables
}

/// Returns the index of the first item that fits, after adding a new one if none does.
fn index_or_push<T>(items: &mut Vec<T>, fits: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    items.iter().position(fits).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    })
}

impl<'a> Table<'a> {
    /// Adds a cell. A test value that is not applicable at this place is marked in every row that was
    /// expanded from it at other places. The cells of those rows come first.
    fn add(&mut self, cell: &'a Cell) {
        let place = index_or_push(&mut self.places, |place| *place == cell.place, || &cell.place);
        let is_left_out = cell.decision == Decision::LeftOut;
        let elsewhere = |row: &&mut Row<'_>| row.cells.values().any(|other| other.written == cell.written);
        let mut rows = self.rows.iter_mut().filter(elsewhere).peekable();
        if is_left_out && rows.peek().is_some() {
            rows.for_each(|row| _ = row.cells.entry(place).or_insert(cell));
            return;
        }
        let new = || Row { form: &cell.form, cells: BTreeMap::new() };
        let row = index_or_push(&mut self.rows, |row| row.form == cell.form, new);
        self.rows[row].cells.insert(place, cell);
    }

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
        for Row { form, cells } in &self.rows {
            let letter =
                |place: usize| cells.get(&place).and_then(|cell| look(cell)).map_or('.', |one| one.letter);
            let letters: Vec<String> =
                (0..self.places.len()).map(|place| letter(place).to_string()).collect();
            _ = writeln!(text, "  {}  {form}", letters.join(" "));
        }
        text
    }
}

fn drawn_page(cells: &[Cell], totals: &str) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Places and test values</title>\n<style>body{font:14px sans-serif}\
         table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:2px 5px;text-align:center}\
         th.form{text-align:left;font-weight:normal}th.place{writing-mode:vertical-rl;font-weight:normal}</style>\n",
    );
    _ = writeln!(page, "<h1>Places and test values</h1><p>{}; . ({NONE})</p>", escaped(totals));
    for table in tables(cells) {
        _ = write!(page, "<h2>{}</h2><table><tr><th></th>", escaped(&table.title));
        for place in &table.places {
            _ = write!(page, "<th class=\"place\">{}</th>", escaped(place));
        }
        page.push_str("</tr>\n");
        for Row { form, cells } in &table.rows {
            _ = write!(page, "<tr><th class=\"form\">{}</th>", escaped(form));
            for place in 0..table.places.len() {
                let cell = cells.get(&place);
                let (letter, colour, means) = cell
                    .and_then(|cell| look(cell))
                    .map_or(('.', "#ffffff", NONE), |one| (one.letter, one.colour, one.means));
                let (clause, expect, reason) =
                    cell.map_or((&None, &None, &None), |cell| (&cell.clause, &cell.expect, &cell.reason));
                let says = [clause.as_deref(), expect.as_deref().or(Some(means)), reason.as_deref()];
                let says = says.into_iter().flatten().collect::<Vec<_>>().join(": ");
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

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
