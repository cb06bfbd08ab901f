//! Axes and matrices: the lists that multiply a case, and the combinations of their rows.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value};
use xs2aspec_spec::{
    At, Problem, RequestRules, Tree,
    cell::{self, shown},
    request::computed,
};

use crate::{
    definition::{Axis, Entries, Group},
    template,
};

/// Advice for a string that cannot be part of an id.
pub(crate) const NAMES: &str = "choose a name of ASCII letters, digits, `-`, `_`, `.` and `+`";

/// Returns true if a string can be part of an id, between two of its slashes.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+".contains(letter))
}

/// A row of an axis.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Name, which is part of case ids.
    pub(crate) name: String,
    /// A scalar, or a mapping of columns.
    pub(crate) value: Value,
    /// Line and column of the row in the case file. `None` for rows of a table.
    pub(crate) place: Option<(u32, u32)>,
}

/// A combination: a row of each axis, in the order of the axes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Combination(IndexMap<String, Arc<Row>>);

impl Combination {
    /// Returns the value of `axis` or `axis.column`. If its rows are mappings, `axis` alone is the name of
    /// the row. `axis.column+1` adds to a column that is a number.
    pub(crate) fn lookup(&self, name: &str) -> Option<Value> {
        computed(name, &|name| self.column(name))
    }

    fn column(&self, name: &str) -> Option<Value> {
        let (axis, column) = name.split_once('.').map_or((name, None), |(axis, column)| (axis, Some(column)));
        let row = self.0.get(axis)?;
        match (column, &row.value) {
            (None, Value::Object(_)) => Some(Value::String(row.name.clone())),
            (None, scalar) => Some(scalar.clone()),
            (Some(column), value) => value.get(column).cloned(),
        }
    }

    /// Returns the names of the rows, joined with `/`.
    pub(crate) fn name(&self) -> String {
        self.0.values().map(|row| row.name.as_str()).collect::<Vec<_>>().join("/")
    }

    /// Returns the location of the last of its rows that is in the case file.
    pub(crate) fn place(&self) -> Option<(u32, u32)> {
        self.0.values().rev().find_map(|row| row.place)
    }

    /// Returns `axis.column` for everything that can be looked up, to suggest a similar name in an error.
    pub(crate) fn known(&self) -> Vec<String> {
        let mut known = Vec::new();
        for (axis, row) in &self.0 {
            known.push(axis.clone());
            known.extend(
                row.value
                    .as_object()
                    .into_iter()
                    .flat_map(Map::keys)
                    .map(|column| format!("{axis}.{column}")),
            );
        }
        known
    }

    /// Fills in the values that contain placeholders of other axes. A string that was filled in also names
    /// its row.
    fn fill(&mut self) -> Result<(), String> {
        let is_known = |name: &String| self.lookup(name).is_some();
        let has_names = |row: &Arc<Row>| template::names(&row.value).iter().any(is_known);
        let open: Vec<String> =
            self.0.iter().filter(|(_, row)| has_names(row)).map(|(axis, _)| axis.clone()).collect();
        for axis in open {
            let Some(row) = self.0.get(&axis) else { continue };
            let value =
                template::expand(&row.value, &|name| self.lookup(name)).map_err(|error| error.to_string())?;
            let name = if row.value.is_string() { shown(&value) } else { row.name.clone() };
            if !is_name(&name) {
                return Err(format!("axis `{axis}`: `{name}` cannot be part of an id"));
            }
            self.0.insert(axis, Arc::new(Row { name, value, place: row.place }));
        }
        Ok(())
    }

    fn has(&self, when: &Map<String, Value>) -> Result<bool, String> {
        for (name, wanted) in when {
            let Some(found) = self.lookup(name) else { return Err(name.clone()) };
            if !cell::has(&shown(&found), wanted) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The entries of tables of a profile that cases are generated for, by table. The first entry has no number.
pub(crate) type Numbers = BTreeMap<String, RangeInclusive<u32>>;

/// The sources of rows that are not in the case file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) requests: &'a RequestRules,
    pub(crate) entries: &'a Numbers,
}

/// Maximum number of combinations in a group. More would be a mistake and fill the memory.
const MOST: usize = 100_000;

/// Returns all combinations of a group's axes. This is their product, in which zipped axes advance together,
/// without the rows whose `when` does not hold.
pub(crate) fn combinations(
    file: &str,
    group: &At<Group>,
    sources: Sources<'_>,
) -> Result<Vec<Combination>, Problem> {
    let mut axes = IndexMap::new();
    for (name, axis) in &group.value.axes {
        let rows = rows(file, name, axis, sources)?.into_iter().map(Arc::new).collect::<Vec<_>>();
        axes.insert(name.as_str(), rows);
    }
    let mut all = vec![Combination::default()];
    for bundle in bundles(file, group, &axes)? {
        let length = axes[bundle[0]].len();
        if all.len().saturating_mul(length) > MOST {
            let message = format!("the axes of this group make more than {MOST} combinations");
            return Err(group
                .problem(file, message)
                .help("split the group, or `zip` axes whose rows belong together"));
        }
        all = all
            .iter()
            .flat_map(|before| {
                let (bundle, axes) = (&bundle, &axes);
                (0..length).map(move |index| {
                    let mut combination = before.clone();
                    combination.0.extend(
                        bundle.iter().map(|axis| ((*axis).to_owned(), Arc::clone(&axes[axis][index]))),
                    );
                    combination
                })
            })
            .collect();
    }
    let mut kept = Vec::new();
    for mut combination in all {
        // Ids name the axes in the order of the file, zipped or not.
        combination.0.sort_by_key(|axis, _| axes.get_index_of(axis.as_str()));
        combination.fill().map_err(|message| group.problem(file, message))?;
        let mut wanted = true;
        for row in combination.0.values() {
            let Some(Value::Object(when)) = row.value.get("when") else { continue };
            wanted &= combination.has(when).map_err(|name| {
                let (line, column) = row.place.unwrap_or((group.line, group.column));
                let problem = Problem {
                    line,
                    column,
                    ..Problem::of_file(file, format!("`when` names `{name}`, which does not exist"))
                };
                problem.nearest(&name, combination.known().iter().map(String::as_str))
            })?;
        }
        if wanted {
            kept.push(combination);
        }
    }
    if kept.is_empty() {
        return Err(group.problem(file, "the axes of this group leave no combination, so it has no case"));
    }
    Ok(kept)
}

fn bundles<'a>(
    file: &str,
    group: &'a At<Group>,
    axes: &IndexMap<&str, Vec<Arc<Row>>>,
) -> Result<Vec<Vec<&'a str>>, Problem> {
    for zipped in &group.value.zip {
        let mut lengths = Vec::new();
        for name in zipped {
            let Some(rows) = axes.get(name.as_str()) else {
                let problem =
                    group.problem(file, format!("`zip` names an axis `{name}` that the group does not have"));
                return Err(problem.nearest(name, axes.keys().copied()));
            };
            lengths.push(rows.len());
        }
        if lengths.windows(2).any(|pair| pair[0] != pair[1]) || lengths.is_empty() {
            let message = format!("`zip` needs axes with the same number of rows, found {lengths:?}");
            return Err(group.problem(file, message));
        }
    }
    let mut bundles: Vec<Vec<&str>> = Vec::new();
    for name in group.value.axes.keys() {
        let zipped = group.value.zip.iter().find(|zipped| zipped.contains(name));
        match zipped {
            Some(zipped) if zipped[0] == *name => bundles.push(zipped.iter().map(String::as_str).collect()),
            Some(_) => {}
            None => bundles.push(vec![name]),
        }
    }
    Ok(bundles)
}

fn rows(file: &str, name: &str, axis: &At<Axis>, sources: Sources<'_>) -> Result<Vec<Row>, Problem> {
    let Axis { rows, values, table, places, entries, .. } = &axis.value;
    let rows = match (rows, values, table, places, entries) {
        (Some(rows), None, None, None, None) => rows
            .iter()
            .map(|(name, row)| Row {
                name: name.clone(),
                value: row.value.clone(),
                place: Some((row.line, row.column)),
            })
            .collect(),
        (None, Some(values), None, None, None) => {
            values.iter().map(|value| Row { name: shown(value), value: value.clone(), place: None }).collect()
        }
        (None, None, Some(table), None, None) => table_rows(file, table, axis, sources.tree)?,
        (None, None, None, Some(wanted), None) => place_rows(sources.requests, wanted),
        (None, None, None, None, Some(entries)) => {
            let Some(numbers) = sources.entries.get(&entries.of) else {
                let problem = axis.problem(file, format!("a profile has no list `{}`", entries.of));
                return Err(problem.nearest(&entries.of, sources.entries.keys().map(String::as_str)));
            };
            numbers.clone().map(|number| entry_row(entries, number)).collect()
        }
        _ => {
            return Err(axis.problem(
                file,
                format!(
                    "axis `{name}` needs exactly one of `rows`, `values`, `table`, `places` and `entries`"
                ),
            ));
        }
    };
    if axis.value.table.is_none() && !(axis.value.filter.is_empty() && axis.value.name.is_none()) {
        return Err(axis.problem(file, format!("axis `{name}`: `where` and `name` belong to a `table`")));
    }
    if rows.is_empty() {
        return Err(axis.problem(file, format!("axis `{name}` has no rows")));
    }
    for (index, row) in rows.iter().enumerate() {
        if !is_name(&row.name) && !row.name.contains("${") {
            let message = format!("axis `{name}`: `{}` cannot be part of an id", row.name);
            return Err(axis.problem(file, message).help(format!("{NAMES}, in `rows`")));
        }
        if rows[..index].iter().any(|earlier| earlier.name == row.name) {
            return Err(axis.problem(file, format!("axis `{name}` has two rows named `{}`", row.name)));
        }
    }
    Ok(rows)
}

/// Returns the row for the entry with this number. Its columns are placeholders for the values in a profile.
fn entry_row(entries: &Entries, number: u32) -> Row {
    let column = |(name, key): (&String, &String)| {
        (name.clone(), Value::String(format!("${{target.{}.{number}.{key}}}", entries.of)))
    };
    let columns: Map<String, Value> = entries.columns.iter().map(column).collect();
    Row { name: number.to_string(), value: Value::Object(columns), place: None }
}

/// Returns a row for each place with the wanted properties.
fn place_rows(requests: &RequestRules, wanted: &IndexMap<String, Value>) -> Vec<Row> {
    let is_wanted = |row: &Map<String, Value>| {
        wanted.iter().all(|(name, wanted)| {
            row.get(name).is_some_and(|found| wanted == "any" || cell::has(&shown(found), wanted))
        })
    };
    let name = |row: &Map<String, Value>| {
        let part = |name: &str| row.get(name).map(shown).unwrap_or_default();
        format!("{}.{}", part("operation"), part("at").replace('/', "."))
    };
    let rows = requests.places().filter(|row| is_wanted(row));
    rows.map(|row| Row { name: name(row), value: Value::Object(row.clone()), place: None }).collect()
}

fn table_rows(file: &str, table: &str, axis: &At<Axis>, tree: &Tree) -> Result<Vec<Row>, Problem> {
    let path = format!("fixtures/tables/{table}.csv");
    let Some(text) = tree.text(&path) else {
        let known: Vec<&str> = tree
            .below("fixtures/tables/", ".csv")
            .filter_map(|(path, _)| path.strip_prefix("fixtures/tables/")?.strip_suffix(".csv"))
            .collect();
        return Err(axis.problem(file, format!("there is no table `{table}`")).nearest(table, known));
    };
    let broken = |error: csv::Error| Problem::of_file(&path, format!("not a valid table: {error}"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().map_err(broken)?.clone();
    for column in axis.value.filter.keys().chain(&axis.value.name) {
        if !columns.iter().any(|known| known == column) {
            let problem = axis.problem(file, format!("table `{table}` has no column `{column}`"));
            return Err(problem.nearest(column, &columns));
        }
    }
    let name_column = axis.value.name.as_deref().unwrap_or(&columns[0]);
    let mut rows = Vec::new();
    let mut met = vec![false; axis.value.filter.len()];
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let row: Map<String, Value> = columns
            .iter()
            .zip(&record)
            .map(|(column, cell)| (column.to_owned(), Value::from(cell)))
            .collect();
        let verdicts: Vec<bool> = axis
            .value
            .filter
            .iter()
            .map(|(column, wanted)| cell::has(&shown(&row[column]), wanted))
            .collect();
        met.iter_mut().zip(&verdicts).for_each(|(met, verdict)| *met |= verdict);
        if verdicts.iter().all(|verdict| *verdict) {
            rows.push(Row {
                name: row[name_column].as_str().unwrap_or_default().to_owned(),
                value: Value::Object(row),
                place: None,
            });
        }
    }
    if let Some(((column, wanted), _)) = axis.value.filter.iter().zip(met).find(|(_, met)| !met) {
        return Err(axis.problem(file, format!("no line of table `{table}` has {column} = {wanted}")));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xs2aspec_spec::yaml;

    use crate::rule_file::CaseFile;

    const TABLE: (&str, &str) = ("fixtures/tables/money.csv", "code,digits\nNOK,2\nJPY,0\nKWD,3\n");

    fn names(group: &str) -> Result<Vec<String>, String> {
        let text = format!("title: t\ncases:\n  - {{clause: a, baseline: b, expect: accepted, {group}}}\n");
        let file: CaseFile = yaml::read("a.yaml", &text).map_err(|problem| problem.to_string())?;
        let (tree, requests) = (Tree::of(&[TABLE]), RequestRules::default());
        let entries = BTreeMap::from([("payment".to_owned(), 2..=4)]);
        let sources = Sources { tree: &tree, requests: &requests, entries: &entries };
        combinations("a.yaml", &file.cases[0], sources)
            .map(|all| all.iter().map(Combination::name).collect())
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn axes_are_multiplied_in_the_order_of_the_file() {
        let group = "axes: {op: {values: [n, p]}, m: {table: money, where: {digits: [0, 2]}}}";
        assert_eq!(names(group).unwrap(), ["n/NOK", "n/JPY", "p/NOK", "p/JPY"]);
    }

    #[test]
    fn zipped_axes_go_forward_together() {
        let group = "axes: {a: {values: [1, 2]}, b: {values: [x, y]}, c: {values: [k]}}, zip: [[a, b]]";
        assert_eq!(names(group).unwrap(), ["1/x/k", "2/y/k"]);
    }

    #[test]
    fn a_row_with_a_condition_exists_only_there() {
        let rows = "d: {rows: {one: {t: .1, when: {m.digits: 0}}, three: {t: .1, when: {m.digits: [0, 2]}}}}";
        let group = format!("axes: {{m: {{table: money}}, {rows}}}");
        assert_eq!(names(&group).unwrap(), ["NOK/three", "JPY/one", "JPY/three"]);
    }

    #[test]
    fn further_entries_of_a_profile_are_rows() {
        let group = "axes: {entry: {entries: {of: payment, columns: {id: id}}}}";
        assert_eq!(names(group).unwrap(), ["2", "3", "4"]);
        let row = entry_row(&Entries { of: "a".into(), columns: [("b".into(), "c".into())].into() }, 7);
        assert_eq!(row.value["b"], "${target.a.7.c}");
    }

    #[test]
    fn every_mistake_is_an_error_that_names_it() {
        let cases = [
            ("axes: {m: {table: mony}}", "did you mean `money`?"),
            ("axes: {m: {table: money, where: {digts: 0}}}", "did you mean `digits`?"),
            ("axes: {m: {table: money, where: {digits: 7}}}", "no line of table `money` has digits = 7"),
            ("axes: {m: {table: money, where: {digits: 0, code: NOK}}}", "axis `m` has no rows"),
            ("axes: {m: {table: money, values: [1]}}", "exactly one of"),
            ("axes: {m: {entries: {of: paymnt, columns: {id: id}}}}", "did you mean `payment`?"),
            ("axes: {m: {values: [1], name: a}}", "belong to a `table`"),
            ("axes: {m: {values: []}}", "has no rows"),
            ("axes: {m: {values: [a/b]}}", "cannot be part of an id"),
            ("axes: {m: {values: [1, 1]}}", "two rows named `1`"),
            ("axes: {a: {values: [1]}, b: {values: [1, 2]}}, zip: [[a, b]]", "same number of rows"),
            ("axes: {a: {values: [1]}}, zip: [[a, c]]", "does not have"),
            ("axes: {m: {table: money}, d: {rows: {x: {when: {m.digit: 0}}}}}", "did you mean `m.digits`?"),
            ("axes: {m: {table: money}, d: {rows: {x: {when: {m.digits: 9}}}}}", "leave no combination"),
        ];
        for (group, expected) in cases {
            let found = names(group).unwrap_err();
            assert!(found.starts_with("a.yaml:3:") && found.contains(expected), "{group}: {found}");
        }
    }
}
