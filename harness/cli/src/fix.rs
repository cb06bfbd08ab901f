//! `xs2aspec doctor --fix`: lines of a profile that the answers of its target show, as a patch.

use std::collections::BTreeMap;

use similar::TextDiff;
use xs2aspec_record::{Culprit, Exchange};
use xs2aspec_runner::Profile;
use xs2aspec_suite::Suite;

/// What answers showed of a target, and its profile does not say.
#[derive(Debug, Default)]
pub(crate) struct Fix {
    /// Values by table and key, as TOML writes them; nothing where two answers disagree.
    lines: BTreeMap<(String, String), Option<String>>,
}

impl Fix {
    /// Notes a line: one that is given two values is none.
    fn add(&mut self, table: &str, key: &str, value: &str) {
        let line = (table.to_owned(), key.to_owned());
        let known = self.lines.entry(line).or_insert_with(|| Some(value.to_owned()));
        known.take_if(|known| known != value);
    }

    /// What the answer to the plain request of an operation shows: the exact status of success.
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
            self.add("choices", &format!("{key:?}"), &format!("{status:?}"));
        }
    }

    /// What made the difference where the plain request of an operation was refused.
    pub(crate) fn refused(&mut self, culprit: &Culprit) {
        // `[choices] "key-id.serial" = "upper"`, as the spec of signing gives it.
        if let Culprit::Chosen { add } = culprit
            && let Some((table, line)) = add.strip_prefix('[').and_then(|line| line.split_once("] "))
            && let Some((key, value)) = line.split_once(" = ")
        {
            self.add(table, key, value);
        }
    }

    /// A capability that the target was asked for and answered that it lacks.
    pub(crate) fn lacks(&mut self, capability: &str) {
        self.add("capabilities", capability, "false");
    }

    /// A patch of the profile, nothing where it says all that is known.
    pub(crate) fn patch(&self, file: &str, text: &str) -> Option<String> {
        let mut mended: Vec<String> = text.lines().map(str::to_owned).collect();
        for ((table, key), value) in &self.lines {
            if let Some(value) = value {
                set(&mut mended, table, key, value);
            }
        }
        let mended = mended.join("\n") + "\n";
        let diff = TextDiff::from_lines(text, &mended);
        let patch = diff.unified_diff().header(file, file).to_string();
        (!patch.is_empty()).then_some(patch)
    }
}

/// Gives a key of a table this value: in its line, else in a new one below the head of the table, else at the
/// end, with the head.
fn set(lines: &mut Vec<String>, table: &str, key: &str, value: &str) {
    let line = format!("{key} = {value}");
    let head = format!("[{table}]");
    let is_head =
        |line: &String| line.trim_end().split(" #").next().is_some_and(|line| line.trim_end() == head);
    let Some(start) = lines.iter().position(is_head) else {
        lines.extend([String::new(), head, line]);
        return;
    };
    let bare = key.trim_matches('"');
    let is_of_key =
        |line: &String| line.split_once('=').is_some_and(|(name, _)| name.trim().trim_matches('"') == bare);
    let below = lines[start + 1..].iter().take_while(|line| !line.starts_with('['));
    match below.enumerate().find(|(_, line)| is_of_key(line)).map(|(at, _)| start + 1 + at) {
        Some(at) => {
            let says = lines[at].split_once(" #").map(|(_, says)| format!("   #{says}")).unwrap_or_default();
            lines[at] = line + &says;
        }
        None => lines.insert(start + 1, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "base-url = \"http://a\"\n\n[choices]   # what the bank decided\n\"a.b\" = \"200\"   # kept\n\n[capabilities]\n";

    fn patched(fix: &Fix) -> Option<String> {
        fix.patch("bank.toml", PROFILE)
    }

    #[test]
    fn a_line_is_changed_where_it_stands_or_added_to_its_table() {
        let mut fix = Fix::default();
        assert_eq!(patched(&fix), None);
        fix.add("choices", "\"a.b\"", "\"201\"");
        fix.lacks("basket");
        fix.refused(&Culprit::Chosen { add: "[signing.forms] \"key-id\" = \"x\"".to_owned() });
        let patch = patched(&fix).unwrap();
        assert!(patch.starts_with("--- bank.toml\n+++ bank.toml\n@@ "), "{patch}");
        for line in [
            "-\"a.b\" = \"200\"   # kept\n+\"a.b\" = \"201\"   # kept\n",
            " [capabilities]\n+basket = false\n",
            "+\n+[signing.forms]\n+\"key-id\" = \"x\"\n",
        ] {
            assert!(patch.contains(line), "{patch}");
        }
    }

    #[test]
    fn two_answers_that_disagree_show_nothing() {
        let mut fix = Fix::default();
        for value in ["\"200\"", "\"201\"", "\"200\""] {
            fix.add("choices", "c", value);
        }
        assert_eq!(patched(&fix), None);
    }
}
