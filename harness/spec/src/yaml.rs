//! Reads YAML, with the location of each mistake and of each value that may turn out to be one later.

use serde::{Deserialize, de::DeserializeOwned};
use serde_saphyr::{Error, Spanned};

use crate::problem::Problem;

/// A value and its location in a file. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl<T> At<T> {
    /// Creates a problem with this value.
    pub fn problem(&self, file: &str, message: impl Into<String>) -> Problem {
        Problem { line: self.line, column: self.column, ..Problem::of_file(file, message) }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::deserialize(deserializer)?;
        Ok(Self { value, line: narrow(referenced.line()), column: narrow(referenced.column()) })
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for At<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<T>()
    }
}

/// Reads a YAML document. Duplicate keys and unknown fields are problems. Only `true` and `false` are
/// booleans, so the country `NO` is a string.
pub fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Problem> {
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| problem(file, error))
}

fn problem(file: &str, error: Error) -> Problem {
    let error = match error {
        Error::WithSnippet { error, .. } => *error,
        other => other,
    };
    let (line, column) =
        error.location().map_or((0, 0), |place| (narrow(place.line()), narrow(place.column())));
    let at = |message: String| Problem { line, column, ..Problem::of_file(file, message) };
    match &error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let known = expected.join("`, `");
            let near = at(format!("unknown field `{field}`")).nearest(field, expected.iter().copied());
            if near.help.is_some() { near } else { near.help(format!("known keys: `{known}`")) }
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or_default();
            at(format!("duplicate key `{key}`")).help("remove one of them: a mapping has each key once")
        }
        other => {
            let message = other.to_string();
            let message = message.lines().next().unwrap_or("cannot be read as YAML");
            // Some messages end with advice for programmers.
            let message = message.split(", set ").next().unwrap_or(message);
            at(message.split(" at line ").next().unwrap_or(message).to_owned())
        }
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        expect: At<String>,
        #[serde(default)]
        rows: Option<At<serde_json::Value>>,
    }

    #[test]
    fn an_unknown_field_is_placed_and_the_near_name_given() {
        let problem = read::<Sample>("a.yaml", "expect: x\nexepct: y\n").unwrap_err();
        assert_eq!((problem.line, problem.column), (2, 1));
        assert_eq!(problem.message, "unknown field `exepct`");
        assert_eq!(problem.help.as_deref(), Some("did you mean `expect`?"));
    }

    #[test]
    fn a_duplicate_key_is_placed() {
        let problem = read::<Sample>("a.yaml", "expect: x\nexpect: y\n").unwrap_err();
        assert_eq!(problem.line, 2, "{problem}");
        assert_eq!(problem.message, "duplicate key `expect`");
    }

    #[test]
    fn values_keep_their_place_and_only_true_and_false_are_booleans() {
        let sample: Sample = read("a.yaml", "expect: NO\nrows: {a: [3, no, true]}\n").unwrap();
        assert_eq!((sample.expect.value.as_str(), sample.expect.line, sample.expect.column), ("NO", 1, 9));
        assert_eq!(sample.rows.unwrap().value, serde_json::json!({"a": [3, "no", true]}));
    }
}
