//! `xs2aspec doctor --fix`: adds to a profile what the responses of the target show.

use std::{collections::BTreeMap, fs, path::Path};

use similar::{ChangeTag, TextDiff};
use toml_edit::{Decor, DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value};
use xs2aspec_judge::Profile;
use xs2aspec_record::{Culprit, Exchange};
use xs2aspec_suite::Suite;

use crate::{Failure, report::cannot_write};

/// Settings that the responses of a target show, and that its profile lacks.
#[derive(Debug, Default)]
pub(crate) struct Fix {
    /// Values in TOML syntax by table and key. `None` if two responses disagree.
    values: BTreeMap<Vec<String>, Option<String>>,
}

impl Fix {
    /// Notes a value. A key with two different values is not changed in the profile.
    fn add<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, value: impl Into<Value>) {
        let path = path.into_iter().map(str::to_owned).collect();
        let value = value.into().to_string().trim().to_owned();
        let known = self.values.entry(path).or_insert_with(|| Some(value.clone()));
        known.take_if(|known| *known != value);
    }

    /// Notes the status of a successful response to the baseline request of an operation.
    pub(crate) fn answered(
        &mut self,
        suite: &Suite,
        profile: &Profile,
        operation: &str,
        exchange: &Exchange,
    ) {
        let status = exchange.response.as_ref().map(|response| response.status);
        let (Some(key), Some(status @ 200..=299)) = (suite.answers().success_status(operation), status)
        else {
            return;
        };
        let status = status.to_string();
        if profile.choices.get(key) != Some(&status) {
            self.add(["choices", key], status);
        }
    }

    /// Notes the setting with which a rejected baseline request was accepted.
    pub(crate) fn refused(&mut self, culprit: &Culprit) {
        let Culprit::Chosen { add } = culprit else { return };
        // The spec of signing gives two lines of TOML in one: `[choices] "key-id.serial" = "upper"`.
        let Ok(lines) = add.replacen("] ", "]\n", 1).parse::<DocumentMut>() else { return };
        let (mut path, mut item) = (Vec::new(), lines.as_item());
        while let Some((name, below)) = item.as_table_like().and_then(|table| table.iter().next()) {
            path.push(name);
            item = below;
        }
        if let Some(value) = item.as_value() {
            self.add(path, value.clone());
        }
    }

    /// Notes that the target lacks a capability.
    pub(crate) fn lacks(&mut self, capability: &str) {
        self.add(["capabilities", capability], false);
    }

    /// Returns the profile with these values. All other lines keep their text and line endings.
    fn fixed(&self, text: &str) -> Result<String, TomlError> {
        // `toml_edit` drops the byte order mark, and ends every line with LF, even the last one.
        let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |text| ("\u{feff}", text));
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut before = text.replace("\r\n", "\n");
        if !before.is_empty() && !before.ends_with('\n') {
            before.push('\n');
        }
        let mut document: DocumentMut = before.parse()?;
        for (path, value) in &self.values {
            if let Some(value) = value {
                set(&mut document, path, value.parse()?);
            }
        }
        let after = document.to_string();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut fixed = mark.to_owned();
        for change in TextDiff::from_lines(&before, &after).iter_all_changes() {
            match (change.tag(), change.old_index()) {
                (ChangeTag::Equal, Some(at)) => fixed.push_str(lines.get(at).copied().unwrap_or_default()),
                (ChangeTag::Insert, _) => {
                    if !fixed.is_empty() && !fixed.ends_with(['\n', '\u{feff}']) {
                        fixed.push_str(ending);
                    }
                    fixed.push_str(change.value().trim_end_matches('\n'));
                    fixed.push_str(ending);
                }
                _ => {}
            }
        }
        Ok(fixed)
    }

    /// Returns a patch of the profile. Returns `None` if it already has these values.
    pub(crate) fn patch(&self, file: &Path) -> Result<Option<String>, Failure> {
        let (text, fixed) = self.read(file)?;
        let name = file.display().to_string();
        let diff = TextDiff::from_lines(&text, &fixed);
        let patch = diff.unified_diff().header(&name, &name).to_string();
        Ok((text != fixed).then_some(patch))
    }

    /// Writes the values into the profile. Returns true if that changed the file.
    pub(crate) fn write(&self, file: &Path) -> Result<bool, Failure> {
        let (text, fixed) = self.read(file)?;
        if text == fixed {
            return Ok(false);
        }
        fs::write(file, fixed).map_err(|error| cannot_write(file, &error))?;
        Ok(true)
    }

    /// Returns the text of the profile without and with these values.
    fn read(&self, file: &Path) -> Result<(String, String), Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| wrong(&error))?;
        let fixed = self.fixed(&text).map_err(|error| wrong(&error))?;
        Ok((text, fixed))
    }
}

/// Sets a value in the style of its table: with a header, inline, or dotted.
fn set(document: &mut DocumentMut, path: &[String], mut value: Value) {
    let Some((key, tables)) = path.split_last() else { return };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for name in tables {
        let item = table.entry(name).or_insert_with(|| {
            if is_inline {
                Item::Value(Value::InlineTable(InlineTable::new()))
            } else {
                Item::Table(Table::new())
            }
        });
        is_inline = item.is_inline_table();
        // A value here is an error that the reader of profiles has already reported.
        let Some(below) = item.as_table_like_mut() else { return };
        table = below;
    }
    if let Some(known) = table.get_mut(key).and_then(Item::as_value_mut) {
        *value.decor_mut() = known.decor().clone();
        *known = value;
        return;
    }
    if is_inline && let Some(last) = table.iter_mut().last().and_then(|(_, item)| item.as_value_mut()) {
        // The space before the closing brace belongs to the last value.
        let end = last.decor().suffix().cloned().unwrap_or_default();
        last.decor_mut().set_suffix("");
        *value.decor_mut() = Decor::new(" ", end);
    }
    table.insert(key, Item::Value(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix() -> Fix {
        let mut fix = Fix::default();
        fix.add(["choices", "a.b"], "201");
        fix.lacks("basket");
        fix
    }

    /// Each way to write the same profile: before, and what `fix` adds or replaces. `+` marks a new line, and
    /// `-` a line that goes.
    #[test]
    fn only_the_lines_of_the_values_change() {
        let table = [
            // Tables with a header, with the value and without it.
            " base = \"a\"\n \n [choices]   # what the bank decided\n-\"a.b\" = \"200\"   # kept\n+\"a.b\" = \"201\"   # kept\n # after\n [capabilities]\n-basket=true\n+basket=false\n",
            " [capabilities]\n sandbox = true\n+basket = false\n # [capabilities]\n # basket = true\n \n [choices]\n+\"a.b\" = \"201\"\n",
            // No table.
            " base = \"a\"\n+\n+[capabilities]\n+basket = false\n+\n+[choices]\n+\"a.b\" = \"201\"\n",
            " base = \"a\"\n \n [psu]\n id = \"x\"\n+\n+[capabilities]\n+basket = false\n+\n+[choices]\n+\"a.b\" = \"201\"\n \n # the end\n",
            // Inline tables.
            "-choices = {}\n+choices = { \"a.b\" = \"201\" }\n-capabilities = { sandbox = true }   # why\n+capabilities = { sandbox = true, basket = false }   # why\n [psu]\n id = \"x\"\n",
            "-choices = {\"a.b\"=\"200\",c=\"d\"}\n+choices = {\"a.b\"=\"201\",c=\"d\"}\n-capabilities = { basket = true, sandbox = true }\n+capabilities = { basket = false, sandbox = true }\n",
            // Dotted keys.
            " capabilities.sandbox = true\n+capabilities.basket = false\n base = \"a\"\n-choices.\"a.b\" = \"200\"\n+choices.\"a.b\" = \"201\"\n [psu]\n id = \"x\"\n",
            // A string that looks like a header, and one with other brackets.
            " [psu]\n id = \"\"\"\n [choices]\n \"\"\"\n [ choices ]\n+\"a.b\" = \"201\"\n [\"capabilities\"]\n-\"basket\" = true\n+\"basket\" = false\n",
        ];
        for marked in table {
            let side = |other: char| {
                let lines = marked.split_inclusive('\n').filter(|line| !line.starts_with(other));
                lines.map(|line| &line[1..]).collect::<String>()
            };
            let (before, after) = (side('+'), side('-'));
            assert_ne!(before, after);
            for ending in ["\n", "\r\n"] {
                let (before, after) = (before.replace('\n', ending), after.replace('\n', ending));
                let fixed = fix().fixed(&before).unwrap();
                assert_eq!(fixed, after, "{before}");
                assert_eq!(fix().fixed(&fixed).unwrap(), fixed, "a second time: {before}");
            }
        }
    }

    #[test]
    fn a_file_of_both_line_endings_keeps_them() {
        let text = "a = 1\r\nb = 2\n[capabilities]\r\nbasket = true # x\r\n[choices]\n\"a.b\" = \"201\"";
        assert_eq!(fix().fixed(text).unwrap(), text.replace("true", "false"));
    }

    #[test]
    fn the_end_of_the_file_and_its_mark_stay() {
        let text = "\u{feff}[choices]\r\n\"a.b\" = \"201\"";
        let expected = "\r\n\r\n[capabilities]\r\nbasket = false\r\n";
        assert_eq!(fix().fixed(text).unwrap(), format!("{text}{expected}"));
    }

    #[test]
    fn two_responses_that_disagree_show_nothing() {
        let mut fix = Fix::default();
        for value in ["200", "201", "200"] {
            fix.add(["choices", "c"], value);
        }
        assert_eq!(fix.fixed("a = 1\n").unwrap(), "a = 1\n");
    }

    #[test]
    fn a_line_of_the_spec_is_a_value() {
        let mut fix = Fix::default();
        fix.refused(&Culprit::Chosen { add: "[choices] \"key-id.serial\" = \"upper\"".to_owned() });
        assert_eq!(fix.fixed("").unwrap(), "[choices]\n\"key-id.serial\" = \"upper\"\n");
    }
}
