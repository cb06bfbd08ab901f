//! `xs2aspec init` at a terminal: fills the commented profile with the values that the user enters.

use std::io::{BufRead, Write as _};

use xs2aspec_suite::ProfileSpec;

/// A line of a commented profile.
enum Line<'a> {
    /// `[table]` or `[[table]]`.
    Head { table: &'a str, says: &'a str },
    /// `key = "value"`.
    Setting { key: &'a str, value: &'a str, says: &'a str },
    /// Any other line.
    Other,
}

/// Parses a line. Also returns true if it is commented out.
fn read(line: &str) -> (Line<'_>, bool) {
    let (line, is_out) = line.strip_prefix("# ").map_or((line, false), |line| (line, true));
    let (said, says) = line.split_once(" #").map_or((line, ""), |(said, says)| (said, says.trim()));
    let said = said.trim();
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter))
    };
    let bare = said.trim_start_matches('[').trim_end_matches(']');
    if bare.len() < said.len() && is_name(bare) {
        return (Line::Head { table: bare, says }, is_out);
    }
    let value = said.split_once(" = ").filter(|(key, _)| is_name(key));
    let value = value.and_then(|(key, value)| Some((key, value.strip_prefix('"')?.strip_suffix('"')?)));
    match value {
        Some((key, value)) if !value.contains('"') => (Line::Setting { key, value, says }, is_out),
        _ => (Line::Other, is_out),
    }
}

/// Asks for the values of a commented profile, line by line. It asks for values that the profile sets, and
/// for commented ones in the tables of the bank's values and of its key. An empty reply leaves a line
/// unchanged.
pub(crate) fn fill(template: &str, spec: &ProfileSpec, answers: &mut dyn BufRead) -> String {
    let mut answers = Answers(answers);
    say!("Press Enter to keep the value in brackets, or to skip a value without brackets.");
    let is_asked = |table: &str| {
        let first = table.split('.').next().unwrap_or_default();
        first == "signing" || spec.tables.contains_key(first)
    };
    let mut filled: Vec<String> = Vec::new();
    // The table of the current line, and the line of its commented head until a value of it is set.
    let (mut table, mut head) = ("", None);
    let mut is_wanted = true;
    for line in template.lines() {
        filled.push(line.to_owned());
        let at = filled.len() - 1;
        match read(line) {
            (Line::Head { table: name, says }, is_out) => {
                table = name;
                head = is_out.then_some(at);
                is_wanted = is_asked(name) && (!is_out || answers.yes(&format!("fill in [{name}]: {says}")));
            }
            (Line::Setting { key, value, says }, is_out) if is_wanted && !(is_out && table.is_empty()) => {
                let place = if table.is_empty() { String::new() } else { format!("[{table}] ") };
                let says = if says.is_empty() { String::new() } else { format!(" ({says})") };
                let usual = if is_out { String::new() } else { format!(" [{value}]") };
                if let Some(answer) = answers.text(&format!("{place}{key}{says}{usual}: ")) {
                    filled[at] = given(line, key, &answer);
                    if let Some(at) = head.take() {
                        filled[at].replace_range(.."# ".len(), "");
                    }
                }
            }
            _ => {}
        }
    }
    filled.push(String::new());
    filled.join("\n")
}

/// Returns the line with this value and its old comment.
fn given(line: &str, key: &str, value: &str) -> String {
    let says = line.trim_start_matches("# ").split_once(" #").map(|(_, says)| format!("   #{says}"));
    // A JSON string is also a TOML string.
    format!("{key} = {}{}", serde_json::Value::from(value), says.unwrap_or_default())
}

struct Answers<'a>(&'a mut dyn BufRead);

impl Answers<'_> {
    /// Asks for a value. Returns it without surrounding spaces, or `None` if it is empty or the input has
    /// ended.
    fn text(&mut self, question: &str) -> Option<String> {
        say_on!("{question}");
        // The user must see the prompt before typing.
        crate::output::written(std::io::stdout().flush());
        let mut answer = String::new();
        self.0.read_line(&mut answer).ok()?;
        let answer = answer.trim();
        (!answer.is_empty()).then(|| answer.to_owned())
    }

    fn yes(&mut self, question: &str) -> bool {
        self.text(&format!("{question}? y/N ")).is_some_and(|answer| answer.to_lowercase().starts_with('y'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "# prose = \"not asked\"\nname = \"mine\"   # printed\n# proxy = \"http://a\"\n\n\
        [psu.private]\nid = \"1\"\n# identity = \"2\"   # X-PSU-IDENTITY\n\n\
        # [psu.second]   # another\n# id = \"..\"\n# [paths]\n# basket = \"/b\"\n";

    fn filled(answers: &str) -> String {
        let spec = ProfileSpec {
            tables: [("psu".to_owned(), "Persons".to_owned())].into(),
            ..ProfileSpec::default()
        };
        fill(TEMPLATE, &spec, &mut answers.as_bytes())
    }

    #[test]
    fn what_nobody_answers_stays_as_it_is() {
        assert_eq!(filled(""), TEMPLATE);
        assert_eq!(filled("\n\n\n\n\n\n\n"), TEMPLATE);
    }

    #[test]
    fn each_answer_takes_the_place_of_its_value() {
        let text = filled("your \"own\"\n\n41819000466\ny\n7b1e\n");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "name = \"your \\\"own\\\"\"   # printed");
        assert_eq!(lines[2], "# proxy = \"http://a\"");
        assert_eq!(lines[5..7], ["id = \"1\"", "identity = \"41819000466\"   # X-PSU-IDENTITY"]);
        assert_eq!(
            lines[8..],
            ["[psu.second]   # another", "id = \"7b1e\"", "# [paths]", "# basket = \"/b\""]
        );
    }

    #[test]
    fn a_table_of_which_nothing_is_given_stays_out() {
        assert!(filled("\n\n\ny\n\n").contains("# [psu.second]"));
        assert!(filled("\n\n\nno\n").contains("# [psu.second]"));
    }
}
