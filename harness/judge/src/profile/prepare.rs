//! Runs `[[prepare]]`: the user's executables for values that are not known in advance, such as a consent
//! that a person has to give. Their output can be used anywhere in the profile.

use std::{collections::BTreeMap, path::Path, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use xs2aspec_signing::command;

use super::error::{ProfileError, value};
use crate::codes::texts_in;

/// The prefix of a placeholder in a profile.
const MARK: &str = "${prepare.";

/// An executable.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Prepare {
    /// Name, for `${prepare.NAME.KEY}`.
    name: String,
    /// Executable and arguments. It prints a JSON object. It runs in the folder of the profile, after the
    /// previous executables, and may use their values.
    command: Vec<String>,
    /// Timeout in seconds (default: 300).
    timeout_s: Option<u64>,
}

/// A profile with its placeholders filled.
pub(super) struct Prepared {
    /// The content of the profile.
    pub(super) text: String,
    /// All printed strings, which may be secrets.
    pub(super) values: Vec<String>,
}

/// Runs the executables of a profile and fills in their output.
pub(super) fn run(
    file: &str,
    text: &str,
    steps: &[Prepare],
    folder: &Path,
) -> Result<Prepared, ProfileError> {
    let mut printed = BTreeMap::<&str, Value>::new();
    for step in steps {
        let wrong = |why: String| value(file, format!("`[[prepare]]` {}: {why}", step.name));
        if step.name.is_empty() || step.name.contains(['.', '}']) {
            return Err(wrong("expected a name without `.` and `}`".into()));
        }
        if printed.contains_key(step.name.as_str()) {
            return Err(wrong("the name is used twice".into()));
        }
        let command: Result<Vec<String>, String> =
            step.command.iter().map(|part| filled(part, &printed, str::to_owned)).collect();
        let limit = Duration::from_secs(step.timeout_s.unwrap_or(300));
        let output = command::run(&command.map_err(wrong)?, folder, b"", limit)
            .map_err(|error| wrong(error.to_string()))?;
        let found: Value = serde_json::from_slice(&output).map_err(|error| {
            wrong(format!(
                "expected a JSON object as output, found {}",
                xs2aspec_spec::answer::show::json_problem(&error)
            ))
        })?;
        if !found.is_object() {
            return Err(wrong("expected a JSON object as output, found another value".into()));
        }
        printed.insert(&step.name, found);
    }
    // A comment may mention values that do not exist.
    let lines = text.split_inclusive('\n').enumerate().map(|(number, line)| {
        if line.trim_start().starts_with('#') {
            return Ok(line.to_owned());
        }
        filled(line, &printed, escaped).map_err(|why| {
            let column = line.find(MARK).map_or(1, |at| line[..at].chars().count() + 1);
            ProfileError::Syntax { file: file.to_owned(), line: number + 1, column, message: why }
        })
    });
    let text = lines.collect::<Result<String, _>>()?;
    let values = printed.values().flat_map(texts_in).map(str::to_owned).collect();
    Ok(Prepared { text, values })
}

/// Returns the string with each `${prepare.NAME.KEY}` replaced. Dots in KEY lead into objects and arrays.
fn filled(
    text: &str,
    printed: &BTreeMap<&str, Value>,
    write: impl Fn(&str) -> String,
) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK) {
        let (name, after) =
            after.split_once('}').ok_or_else(|| format!("`{MARK}` without a closing `}}`"))?;
        let (step, key) = name
            .split_once('.')
            .ok_or_else(|| format!("expected `{MARK}NAME.KEY}}`, found `{MARK}{name}}}`"))?;
        let found = printed
            .get(step)
            .ok_or_else(|| format!("`{MARK}{name}}}`: no earlier `[[prepare]]` has the name `{step}`"))?;
        let found = found.pointer(&format!("/{}", key.replace('.', "/")));
        let found = match found {
            Some(Value::String(text)) => text.clone(),
            Some(other @ (Value::Number(_) | Value::Bool(_))) => other.to_string(),
            _ => {
                return Err(format!(
                    "`{MARK}{name}}}`: `{step}` printed no string, number or boolean at `{key}`"
                ));
            }
        };
        filled.push_str(before);
        filled.push_str(&write(&found));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Escapes a value for a TOML string, which supports the escapes of JSON (TOML 1.0, String).
fn escaped(text: &str) -> String {
    let json = Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}
