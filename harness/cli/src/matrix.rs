//! `coverage --matrix`: every place of requests with every mistake and lawful form, and what must come of it;
//! and every place of answers with every way to be wrong, and what is said of it.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use xs2aspec_record::Exit;
use xs2aspec_suite::{
    Suite,
    matrix::{Cell, Decision},
};

use crate::{Failure, report};

/// How a decision is drawn: its letter, what it means, and its colour.
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
    drawn(Decision::Refused, 'R', "refused, or it is a violation", "#f4b6b6"),
    drawn(Decision::RefusedOrWarned, 'r', "refused, or it is a warning", "#fbe3c4"),
    drawn(Decision::Accepted, 'A', "accepted, or it is a violation", "#b9e3c0"),
    drawn(Decision::AcceptedOrWarned, 'a', "accepted, or it is a warning", "#dff3e2"),
    drawn(Decision::Choice, 'c', "as the profile chooses", "#cfdff5"),
    drawn(Decision::Observed, 'o', "observed, for the reason that is given", "#eeeeee"),
    drawn(Decision::Plain, '=', "the plain request is so", "#f7fbf7"),
    drawn(Decision::Written, 'w', "asked by a case file", "#f7f7fb"),
    drawn(Decision::LeftOut, '-', "makes no sense there, for the reason that is given", "#f7f7f7"),
    drawn(Decision::Denied, 'D', "a violation", "#f4b6b6"),
    drawn(Decision::Warned, 'W', "a warning", "#fbe3c4"),
    drawn(Decision::Noted, 'n', "recorded, for the reason that is given", "#eeeeee"),
    drawn(Decision::Lawful, '~', "lawful, for the reason that is given", "#b9e3c0"),
];

/// What a point means.
const NONE: &str = "a form of other places: of another kind, of another list, or of one place alone";

/// Draws the matrix: in the terminal, as JSON, or as a page.
pub(crate) fn draw(suite: &Suite, is_json: bool, page: Option<&Path>) -> Result<Exit, Failure> {
    let (requests, answers) = (suite.cells(), suite.answer_cells());
    let totals = format!("{}\nanswers: {}", totals(&requests), self::totals(&answers));
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

/// How many cells there are of each decision, in one line.
fn totals(cells: &[Cell]) -> String {
    let count = |decision| cells.iter().filter(|cell| cell.decision == decision).count();
    let counts = DECISIONS.iter().map(|one| (count(one.decision), one)).filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, one)| format!("{count} {} ({})", one.letter, one.means));
    format!("{} cells, each decided: {}", cells.len(), counts.collect::<Vec<_>>().join(", "))
}

fn look(cell: &Cell) -> Option<&'static Drawn> {
    DECISIONS.iter().find(|one| one.decision == cell.decision)
}

/// Places of one operation that share their forms, beside each other.
struct Table<'a> {
    title: String,
    places: Vec<&'a str>,
    rows: Vec<Row<'a>>,
}

/// A form, with its cell at each place by number.
struct Row<'a> {
    form: &'a str,
    cells: BTreeMap<usize, &'a Cell>,
}

/// One table for each operation and part of a request.
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

/// The number of the item that fits, which is added where none does.
fn index_or_push<T>(items: &mut Vec<T>, fits: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    items.iter().position(fits).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    })
}

impl<'a> Table<'a> {
    /// A form that is left out at a place is so in the row of each item that it has elsewhere. These come
    /// first.
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
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Places and mistakes</title>\n<style>body{font:14px sans-serif}\
         table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:2px 5px;text-align:center}\
         th.form{text-align:left;font-weight:normal}th.place{writing-mode:vertical-rl;font-weight:normal}</style>\n",
    );
    _ = writeln!(page, "<h1>Places and mistakes</h1><p>{}; . ({NONE})</p>", escaped(totals));
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

/// Text as it stands in a page.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
