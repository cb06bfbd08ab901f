//! The kill matrix as an HTML page. It has a row for each clause and a column for each origin of faults. A
//! cell counts the faults that were caught.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use xs2aspec_prove::{Caught, Counts, KillMatrix, Kind, Row, breakdown};

use crate::matrix::escaped;

/// The column of faults without an operator.
const WRITTEN: &str = "written by hand";
/// The maximum number of faults that a cell lists.
const NAMED: usize = 8;

/// The outcomes with their meaning and color, worst first. A cell has the color of its worst outcome.
const OUTCOMES: [(Caught, &str, &str); 5] = [
    (Caught::Missed, "missed", "#e57373"),
    (Caught::ByAnother, "caught by another clause", "#f6b26b"),
    (Caught::ByControl, "caught by a control", "#ffe0b2"),
    (Caught::Warned, "warned of", "#fff2b3"),
    (Caught::Denied, "denied", "#b9e3c0"),
];

/// The faults of one clause with the same origin.
#[derive(Default)]
struct Cell<'a> {
    counts: Counts,
    /// The faults that their own clause does not catch.
    open: Vec<&'a str>,
}

impl Cell<'_> {
    /// Returns the color and the tooltip.
    fn look(&self) -> (&'static str, String) {
        let there = OUTCOMES.iter().map(|outcome| (self.counts.of(outcome.0), outcome));
        let there: Vec<_> = there.filter(|(count, _)| *count > 0).collect();
        let colour = there.first().map_or("#ffffff", |(_, (_, _, colour))| *colour);
        let mut says: Vec<String> =
            there.iter().map(|(count, (_, means, _))| format!("{count} {means}")).collect();
        says.extend(self.open.iter().take(NAMED).map(ToString::to_string));
        (colour, says.join("\n"))
    }
}

/// Renders the page. A cell shows how many of its faults the clause itself catches.
pub(crate) fn page(matrix: &KillMatrix) -> String {
    let mut cells = BTreeMap::<&str, BTreeMap<&str, Cell<'_>>>::new();
    for row in matrix.of(Kind::Fault) {
        let cell = cells.entry(&row.clause).or_default().entry(origin(row)).or_default();
        cell.counts.add(row.caught());
        if row.own().next().is_none() {
            cell.open.push(&row.name);
        }
    }
    let origins: BTreeSet<&str> = cells.values().flat_map(BTreeMap::keys).copied().collect();
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Faults and what caught them</title>\n<style>\
         body{font:13px sans-serif}table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:1px 4px;\
         text-align:center;font-weight:normal}th.clause{text-align:left}th.origin{writing-mode:vertical-rl}\
         th.area{text-align:left;font-weight:bold;padding-top:1em}tr.head th{position:sticky;top:0;background:#fff}</style>\n",
    );
    _ = writeln!(page, "<h1>Faults and what caught them</h1><p>{}.</p><p>", escaped(&matrix.totals()));
    for (_, means, colour) in OUTCOMES {
        _ = write!(page, "<span style=\"background:{colour}\">&nbsp;{means}&nbsp;</span> ");
    }
    page.push_str("A cell has the color of its worst outcome. Its tooltip lists the faults that its clause does not catch.</p>\n<table><tr class=\"head\"><th></th>");
    for origin in &origins {
        _ = write!(page, "<th class=\"origin\">{}</th>", escaped(origin));
    }
    page.push_str("</tr>\n");
    let mut before = "";
    for (clause, of_clause) in &cells {
        let area = breakdown::area(clause);
        if area != before {
            let width = origins.len() + 1;
            _ = writeln!(page, "<tr><th class=\"area\" colspan=\"{width}\">{}</th></tr>", escaped(area));
            before = area;
        }
        _ = write!(page, "<tr><th class=\"clause\">{}</th>", escaped(clause));
        for origin in &origins {
            let Some(cell) = of_clause.get(origin) else {
                page.push_str("<td></td>");
                continue;
            };
            let (colour, says) = cell.look();
            let (all, own) =
                (cell.counts.all(), cell.counts.of(Caught::Denied) + cell.counts.of(Caught::Warned));
            let says = escaped(&says);
            _ = write!(page, "<td style=\"background:{colour}\" title=\"{says}\">{own}/{all}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n</html>\n");
    page
}

/// Returns the operator of a fault, or [`WRITTEN`].
fn origin(row: &Row) -> &str {
    row.operator.as_deref().unwrap_or(WRITTEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, operator: Option<&str>, own: bool, other: bool) -> Row {
        let clause = name.split('/').next().unwrap_or_default();
        let mut row = Row::new((Kind::Fault, name, clause), []);
        row.operator = operator.map(str::to_owned);
        let mut fired = |case: &str, clause: &str| {
            row.fired.insert(case.to_owned(), BTreeSet::from([clause.to_owned()]));
        };
        if own {
            fired("a/own", clause);
        }
        if other {
            fired("b/other", "b.other");
        }
        row
    }

    #[test]
    fn a_cell_counts_what_its_clause_catches_and_names_what_it_does_not() {
        let rows = vec![
            fault("a.length/one", Some("limit-up"), true, false),
            fault("a.length/two", Some("limit-up"), false, true),
            fault("a.length/<three>", Some("limit-up"), false, false),
            fault("c.type/four", None, true, true),
        ];
        let page = page(&KillMatrix::new(rows, BTreeSet::new()));
        let open = "1 missed\n1 caught by another clause\n1 denied\na.length/&lt;three&gt;\na.length/two";
        assert!(
            page.contains(&format!(
                "<td style=\"background:#e57373\" title=\"{open}\">1/3</td><td></td></tr>"
            )),
            "{page}"
        );
        assert!(page.contains("<td style=\"background:#b9e3c0\" title=\"1 denied\">1/1</td>"), "{page}");
        assert!(page.contains("<th class=\"origin\">limit-up</th><th class=\"origin\">written by hand</th>"));
    }
}
