//! Waivers: known violations that are accepted for a time. A waived case still runs and is expected to fail.

use std::{fmt::Write as _, path::Path};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use xs2aspec_record::{CaseVerdict, Finding, digest, finding_id};
use xs2aspec_suite::{Case, plan};

use crate::profile::{self, ProfileError};

/// A waiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// Clause, case or area, as in `--only`, or empty for any case.
    pub cases: String,
    /// Ids of the waived findings, or empty for all findings.
    pub findings: Vec<String>,
    /// Owner.
    pub owner: String,
    /// Reason for accepting the violation.
    pub reason: String,
    /// Ticket for the fix.
    pub ticket: String,
    /// The last valid day.
    pub expires: NaiveDate,
    /// File and line, such as `waivers.toml:3`.
    pub place: String,
}

/// A file of waivers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaiversFile {
    /// The waivers.
    pub waivers: Vec<Waiver>,
    /// SHA-256 of its bytes in hex, or None if there is no file.
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    waiver: Vec<toml::Spanned<Entry>>,
}

/// An accepted violation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Clause, case or area, as in `--only`. Required without `findings`.
    #[serde(default)]
    cases: Option<String>,
    /// Ids of findings, as shown in reports. Other findings in the same cases are not waived.
    #[serde(default)]
    findings: Vec<String>,
    /// Owner: a team, not a person.
    owner: String,
    /// Reason for accepting the violation.
    reason: String,
    /// Ticket for the fix.
    ticket: String,
    /// The last valid day, with or without quotes. It ends when it is over everywhere (UTC-12).
    #[schemars(with = "String", extend("format" = "date"))]
    expires: toml::Value,
}

/// Returns the JSON Schema of waiver files, for editors.
pub fn schema() -> Value {
    let mut entry = schemars::schema_for!(Entry).to_value();
    let dialect = entry.as_object_mut().and_then(|entry| entry.remove("$schema"));
    json!({
        "$schema": dialect,
        "title": "Waivers",
        "type": "object",
        "properties": { "waiver": { "type": "array", "items": entry } },
        "additionalProperties": false,
    })
}

/// Reads a file of waivers.
///
/// # Errors
///
/// Returns an error with file and line if the file cannot be read, a key is unknown or missing, or a value is
/// invalid.
pub fn read(path: &Path) -> Result<WaiversFile, ProfileError> {
    whole(&path.display().to_string(), &profile::text(path)?)
}

fn whole(name: &str, text: &str) -> Result<WaiversFile, ProfileError> {
    let waivers = parse(name, text)?;
    Ok(WaiversFile { waivers, sha256: Some(digest::sha256(text.as_bytes())) })
}

/// Returns the text of a file with one more waiver at its end. `about` describes it in a comment.
pub fn added(text: &str, waiver: &Waiver, about: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => end,
        _ => &format!("{end}{end}"),
    };
    let comment = format!("# {about}\n");
    format!("{text}{gap}{}", (comment + &waiver.entry()).replace('\n', end))
}

/// Parses the text of a file of waivers.
///
/// # Errors
///
/// Returns an error with file and line, as [`read`] does.
pub fn parse(name: &str, text: &str) -> Result<Vec<Waiver>, ProfileError> {
    let file: File = toml::from_str(text).map_err(|error| profile::syntax(name, text, &error))?;
    let of = |entry: toml::Spanned<Entry>| {
        let line = text[..entry.span().start.min(text.len())].matches('\n').count() + 1;
        let Entry { cases, findings, owner, reason, ticket, expires } = entry.into_inner();
        let wrong =
            |message: String| ProfileError::Syntax { file: name.to_owned(), line, column: 1, message };
        if cases.is_none() && findings.is_empty() {
            return Err(wrong("missing field `cases` or `findings`".to_owned()));
        }
        if let Some(id) = findings.iter().find(|id| !is_id(id)) {
            return Err(wrong(format!("`findings`: expected ids of 16 hexadecimal digits, found \"{id}\"")));
        }
        // A waiver without a pattern applies to all cases.
        let any = "*".to_owned();
        let pattern = cases.as_ref().unwrap_or(&any);
        for (key, value) in [("cases", pattern), ("owner", &owner), ("reason", &reason), ("ticket", &ticket)]
        {
            if value.trim().is_empty() {
                return Err(wrong(format!(
                    "`{key}` is empty: a waiver needs an owner, a reason and a ticket"
                )));
            }
        }
        let expires = match expires {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        let expires = expires.parse().map_err(|_| {
            wrong(format!("`expires`: expected a day such as \"2027-01-31\", found \"{expires}\""))
        })?;
        let cases = cases.unwrap_or_default();
        Ok(Waiver { cases, findings, owner, reason, ticket, expires, place: format!("{name}:{line}") })
    };
    file.waiver.into_iter().map(of).collect()
}

/// Returns true if a string has the form of a finding id.
fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Waiver {
    /// Returns its entry in a file.
    fn entry(&self) -> String {
        let mut lines = "[[waiver]]\n".to_owned();
        // A JSON string is a TOML string on one line, whatever the line ends of the file.
        let quoted = |value: &str| serde_json::Value::from(value).to_string();
        let findings: Vec<String> = self.findings.iter().map(|id| quoted(id)).collect();
        let expires = self.expires.to_string();
        for (key, value) in [
            ("cases", quoted(&self.cases)),
            ("findings", format!("[{}]", findings.join(", "))),
            ("owner", quoted(&self.owner)),
            ("reason", quoted(&self.reason)),
            ("ticket", quoted(&self.ticket)),
            ("expires", quoted(&expires)),
        ] {
            if !matches!(value.as_str(), "\"\"" | "[]") {
                // Writing to a String cannot fail.
                _ = writeln!(lines, "{key} = {value}");
            }
        }
        lines
    }

    /// Returns true if the waiver names a case.
    pub(crate) fn is_of(&self, case: &Case) -> bool {
        self.cases.is_empty() || plan::matches(&self.cases, case)
    }

    /// Returns true if the waiver covers a finding of a case: it names the case or the clause of the finding,
    /// and the finding's id if it lists ids.
    pub(crate) fn covers(&self, case: &Case, verdict: &CaseVerdict, finding: &Finding) -> bool {
        let has_id = || finding_id::ids(verdict, finding).iter().any(|id| self.findings.contains(id));
        (self.findings.is_empty() || has_id())
            && (self.is_of(case) || plan::matches_clause(&self.cases, &finding.clause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[waiver]]\ncases = \"basket.mix\"\nowner = \"payments\"\nreason = \"next release\"\nticket = \"T-1\"\nexpires = \"2030-01-31\"\n";

    #[test]
    fn a_waiver_has_an_owner_a_reason_a_ticket_and_an_end() {
        let waiver = &parse("waivers.toml", &format!("# known\n\n{ONE}")).unwrap()[0];
        assert_eq!((waiver.cases.as_str(), waiver.place.as_str()), ("basket.mix", "waivers.toml:3"));
        assert_eq!(waiver.expires.to_string(), "2030-01-31");
        let unquoted = ONE.replace("\"2030-01-31\"", "2030-01-31");
        assert_eq!(parse("waivers.toml", &unquoted).unwrap()[0].expires, waiver.expires);
        for (from, to, expected) in [
            ("ticket = \"T-1\"\n", "", "waivers.toml:1:1: missing field `ticket`"),
            ("owner", "ower", "waivers.toml:3:1: unknown field `ower`; did you mean `owner`?"),
            ("\"payments\"", "\" \"", "waivers.toml:1:1: `owner` is empty"),
            (
                "2030-01-31",
                "soon",
                "waivers.toml:1:1: `expires`: expected a day such as \"2027-01-31\", found \"soon\"",
            ),
            ("[[waiver]]", "[[waivers]]", "waivers.toml:1:3: unknown field `waivers`"),
        ] {
            assert!(ONE.contains(from));
            let error = parse("waivers.toml", &ONE.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn an_added_entry_is_read_and_leaves_the_rest_as_it_is() {
        let known = parse("waivers.toml", ONE).unwrap().remove(0);
        let new = Waiver {
            cases: String::new(),
            findings: vec!["0123456789abcdef".to_owned(), "fedcba9876543210".to_owned()],
            reason: "says \"no\"\n[[waiver]]".to_owned(),
            ..known.clone()
        };
        for before in ["", "# known\n", ONE, ONE.trim_end(), &ONE.replace('\n', "\r\n"), "# none"] {
            let after = added(before, &new, "basket.mix");
            assert!(after.starts_with(before) && after.contains("# basket.mix"), "{after}");
            let entries = parse("waivers.toml", &after).unwrap();
            let last = entries.last().unwrap();
            assert_eq!(
                Waiver { place: String::new(), ..last.clone() },
                Waiver { place: String::new(), ..new.clone() }
            );
            assert_eq!(entries.len(), before.matches("[[waiver]]").count() + 1);
            assert_eq!(after.contains("\r\n"), before.contains("\r\n"));
        }
    }

    #[test]
    fn the_schema_takes_what_can_be_read_and_nothing_else() {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        let is_valid = |text: &str| {
            let file: toml::Value = toml::from_str(text).unwrap();
            validator.is_valid(&serde_json::to_value(file).unwrap())
        };
        assert!(is_valid(ONE) && is_valid(""));
        for (from, to) in [("ticket = \"T-1\"\n", ""), ("owner", "ower"), ("[[waiver]]", "[[waivers]]")] {
            assert!(!is_valid(&ONE.replacen(from, to, 1)), "{to}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_bytes() {
        let digest = |name: &str, text: &str| whole(name, text).unwrap().sha256.unwrap();
        // Computed with `sha256sum`.
        assert_eq!(
            digest("a.toml", "# none\n"),
            "a59b054e8ef7a3a30bbc7135d8060cd4fad8572b6ef2332669f9798870f86caa"
        );
        assert_eq!(digest("a.toml", ONE), digest("b.toml", ONE), "the name does not matter");
        assert_ne!(digest("a.toml", ONE), digest("a.toml", &format!("# known\n{ONE}")));
    }
}
