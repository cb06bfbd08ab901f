//! Waivers: violations that are known and agreed on, for a time. A waived case still runs, and must fail.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xs2aspec_record::{CaseVerdict, Finding, Role, Verdict, WaiverSeen, WaiverState, finding_id};
use xs2aspec_suite::{Case, Suite, nearest, plan};

use crate::profile::{self, ProfileError};

/// One waiver of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// Clause, case or area, as `--only` has it; any case where it is empty.
    pub cases: String,
    /// What is wrong and waived, by the ids of findings; everything where none is named.
    pub findings: Vec<String>,
    /// Who answers for it.
    pub owner: String,
    /// Why the violation is accepted.
    pub reason: String,
    /// Where it is worked on.
    pub ticket: String,
    /// The last day on which it holds.
    pub expires: NaiveDate,
    /// File and line: `waivers.toml:3`.
    pub place: String,
}

/// A file of waivers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaiversFile {
    /// What it says.
    pub waivers: Vec<Waiver>,
    /// SHA-256 of its bytes, in hex; nothing where there is no file.
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    waiver: Vec<toml::Spanned<Entry>>,
}

/// A violation that is agreed on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Clause, case or area, as `--only` has it. Needed where `findings` is not given.
    #[serde(default)]
    cases: Option<String>,
    /// Findings, by the ids that reports give them: what is wrong otherwise in the same cases is not waived.
    #[serde(default)]
    findings: Vec<String>,
    /// Who answers for it: a team, no person.
    owner: String,
    /// Why it is accepted.
    reason: String,
    /// Where it is worked on.
    ticket: String,
    /// The last day on which it holds, with or without quotes.
    #[schemars(with = "String", extend("format" = "date"))]
    expires: toml::Value,
}

/// The JSON Schema of files of waivers, for an editor.
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
/// A file that cannot be read, an unknown or missing key, an empty text, or a date that is none; with file
/// and line.
pub fn read(path: &Path) -> Result<WaiversFile, ProfileError> {
    whole(&path.display().to_string(), &profile::text(path)?)
}

fn whole(name: &str, text: &str) -> Result<WaiversFile, ProfileError> {
    let waivers = parse(name, text)?;
    Ok(WaiversFile { waivers, sha256: Some(profile::hex(&Sha256::digest(text))) })
}

fn parse(name: &str, text: &str) -> Result<Vec<Waiver>, ProfileError> {
    let file: File = toml::from_str(text).map_err(|error| profile::syntax(name, text, &error))?;
    let of = |entry: toml::Spanned<Entry>| {
        let line = text[..entry.span().start.min(text.len())].matches('\n').count() + 1;
        let Entry { cases, findings, owner, reason, ticket, expires } = entry.into_inner();
        let wrong =
            |message: String| ProfileError::Syntax { file: name.to_owned(), line, column: 1, message };
        if cases.is_none() && findings.is_empty() {
            return Err(wrong("missing field `cases`, or `findings` with the ids of findings".to_owned()));
        }
        if let Some(id) = findings.iter().find(|id| !is_id(id)) {
            return Err(wrong(format!(
                "`findings` has the ids of findings, 16 hexadecimal digits, found \"{id}\""
            )));
        }
        // Without a pattern it is of all cases.
        let any = "*".to_owned();
        let pattern = cases.as_ref().unwrap_or(&any);
        for (key, value) in [("cases", pattern), ("owner", &owner), ("reason", &reason), ("ticket", &ticket)]
        {
            if value.trim().is_empty() {
                return Err(wrong(format!(
                    "`{key}` says nothing; a waiver is somebody's, for a reason, with a ticket"
                )));
            }
        }
        let expires = match expires {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        let expires = expires
            .parse()
            .map_err(|_| wrong(format!("`expires` is a day such as \"2027-01-31\", found \"{expires}\"")))?;
        let cases = cases.unwrap_or_default();
        Ok(Waiver { cases, findings, owner, reason, ticket, expires, place: format!("{name}:{line}") })
    };
    file.waiver.into_iter().map(of).collect()
}

/// Whether a text can be the id of a finding.
fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Waiver {
    /// Whether it is of a case.
    fn is_of(&self, case: &Case) -> bool {
        self.cases.is_empty() || plan::matches(&self.cases, case)
    }

    /// Whether it is of a finding of a case that it is of.
    fn has(&self, verdict: &CaseVerdict, finding: &Finding) -> bool {
        self.findings.is_empty()
            || finding_id::ids(verdict, finding).iter().any(|id| self.findings.contains(id))
    }
}

/// The waivers of a run, and what has come of them.
#[derive(Debug, Default)]
pub struct Waivers {
    all: Vec<Waiver>,
    today: NaiveDate,
    /// Cases by the number of the waiver: those that it waived, and those that it need not.
    waived: BTreeMap<usize, Vec<String>>,
    passed: BTreeMap<usize, Vec<String>>,
    /// Waivers whose findings were there.
    met: BTreeSet<usize>,
}

impl Waivers {
    /// Waivers on this day.
    pub fn new(waivers: Vec<Waiver>, today: NaiveDate) -> Self {
        Self { all: waivers, today, ..Self::default() }
    }

    /// The waivers that are of a case today.
    fn of(&self, case: &Case) -> impl Iterator<Item = (usize, &Waiver)> {
        self.all.iter().enumerate().filter(|(_, waiver)| waiver.expires >= self.today && waiver.is_of(case))
    }

    /// The waivers that are of what is wrong with a case, if they are of all of it.
    fn waive(&self, case: &Case, verdict: &CaseVerdict) -> Option<Vec<usize>> {
        let mut used = Vec::new();
        for finding in &verdict.findings {
            let (number, _) = self.of(case).find(|(_, waiver)| waiver.has(verdict, finding))?;
            if !used.contains(&number) {
                used.push(number);
            }
        }
        Some(used).filter(|used| !used.is_empty())
    }

    /// Whether the failure or the warning of a case is waived.
    pub(crate) fn are_of(&self, suite: &Suite, verdict: &CaseVerdict) -> bool {
        suite.case(&verdict.case).is_some_and(|case| self.waive(case, verdict).is_some())
    }

    /// Turns the failure or the warning of a waived case into that, and keeps a case that no longer has any
    /// in mind.
    pub(crate) fn apply(&mut self, suite: &Suite, verdict: &mut CaseVerdict) {
        if verdict.role != Role::Selected && !verdict.is_broken_control() {
            return;
        }
        let Some(case) = suite.case(&verdict.case) else { return };
        match verdict.verdict {
            Verdict::Fail | Verdict::Warn => {
                let is_there =
                    |waiver: &Waiver| verdict.findings.iter().any(|finding| waiver.has(verdict, finding));
                let met: Vec<usize> =
                    self.of(case).filter(|(_, waiver)| is_there(waiver)).map(|(number, _)| number).collect();
                let used = self.waive(case, verdict);
                self.met.extend(met);
                let Some(used) = used else { return };
                let Waiver { owner, reason, ticket, expires, .. } = &self.all[used[0]];
                verdict.verdict = Verdict::Waived;
                verdict.reason = Some(format!("waived until {expires} by {owner} ({ticket}): {reason}"));
                for number in used {
                    self.waived.entry(number).or_default().push(verdict.case.clone());
                }
            }
            // Of a case that is right nobody says that a finding is another one's.
            Verdict::Pass => {
                let first = self.of(case).find(|(_, waiver)| waiver.findings.is_empty());
                if let Some((number, _)) = first {
                    self.passed.entry(number).or_default().push(verdict.case.clone());
                }
            }
            _ => {}
        }
    }

    /// What has come of each waiver. Of a whole run that came to its end each finding is known.
    pub(crate) fn seen(&self, suite: &Suite, is_whole: bool) -> Vec<WaiverSeen> {
        let of = |(number, waiver): (usize, &Waiver)| {
            let waived = self.waived.get(&number).cloned().unwrap_or_default();
            let passed = self.passed.get(&number).cloned().unwrap_or_default();
            let is_known = suite.cases().iter().any(|case| waiver.is_of(case));
            let is_by_id = !waiver.findings.is_empty();
            let (state, mut cases) = if waiver.expires < self.today {
                (WaiverState::Expired, vec![])
            } else if !is_known {
                (WaiverState::Unmatched, vec![])
            } else if !passed.is_empty() {
                (WaiverState::Passing, passed)
            } else if !waived.is_empty() || is_by_id && self.met.contains(&number) {
                (WaiverState::InForce, waived)
            } else if is_by_id && is_whole {
                (WaiverState::Unmatched, vec![])
            } else {
                (WaiverState::NotAsked, vec![])
            };
            let near = || {
                let ids = suite.cases().iter().flat_map(|case| [case.clause.as_str(), &case.id]);
                nearest(&waiver.cases, ids).map(str::to_owned)
            };
            cases.sort_unstable();
            WaiverSeen {
                pattern: waiver.cases.clone(),
                findings: waiver.findings.clone(),
                owner: waiver.owner.clone(),
                reason: waiver.reason.clone(),
                ticket: waiver.ticket.clone(),
                expires: waiver.expires.to_string(),
                place: waiver.place.clone(),
                near: if is_known { None } else { near() },
                state,
                cases,
            }
        };
        self.all.iter().enumerate().map(of).collect()
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
            ("\"payments\"", "\" \"", "waivers.toml:1:1: `owner` says nothing"),
            (
                "2030-01-31",
                "soon",
                "waivers.toml:1:1: `expires` is a day such as \"2027-01-31\", found \"soon\"",
            ),
            ("[[waiver]]", "[[waivers]]", "waivers.toml:1:3: unknown field `waivers`"),
        ] {
            assert!(ONE.contains(from));
            let error = parse("waivers.toml", &ONE.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
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
        // As `sha256sum` says it.
        assert_eq!(
            digest("a.toml", "# none\n"),
            "a59b054e8ef7a3a30bbc7135d8060cd4fad8572b6ef2332669f9798870f86caa"
        );
        assert_eq!(digest("a.toml", ONE), digest("b.toml", ONE), "the name does not matter");
        assert_ne!(digest("a.toml", ONE), digest("a.toml", &format!("# known\n{ONE}")));
    }

    #[test]
    fn a_waiver_by_id_is_of_what_is_wrong_and_of_nothing_else() {
        let suite = Suite::load(xs2aspec_suite::Tree::embedded()).unwrap();
        let case = suite.cases().iter().find(|case| case.same_as.is_none() && !case.is_plain).unwrap();
        let finding = |at: &str| Finding {
            clause: case.clause.clone(),
            expected: "a refusal (4xx)".to_owned(),
            actual: "201".to_owned(),
            at: at.to_owned(),
            level: xs2aspec_record::Level::Deny,
            end: xs2aspec_record::End::Bank,
        };
        let failing = |findings: Vec<Finding>| {
            let verdict = crate::session::left_in_doubt(case);
            CaseVerdict { verdict: Verdict::Fail, reason: None, findings, ..verdict }
        };
        let id = finding_id::id(&case.clause, "status");
        let by_id =
            format!("[[waiver]]\nfindings = [\"{id}\"]\n") + ONE.split_once("\"basket.mix\"\n").unwrap().1;
        let today = "2029-01-01".parse().unwrap();
        let waivers = || Waivers::new(parse("w.toml", &by_id).unwrap(), today);
        let state = |waivers: &Waivers, is_whole| waivers.seen(&suite, is_whole)[0].state;

        let mut one = waivers();
        let mut verdict = failing(vec![finding("status")]);
        one.apply(&suite, &mut verdict);
        assert_eq!((verdict.verdict, state(&one, true)), (Verdict::Waived, WaiverState::InForce));
        // Something else is wrong as well: the case fails, and the finding is there.
        let mut other = waivers();
        let mut verdict = failing(vec![finding("status"), finding("body/a")]);
        other.apply(&suite, &mut verdict);
        assert_eq!((verdict.verdict, state(&other, true)), (Verdict::Fail, WaiverState::InForce));
        // It is not there: in a whole run that is red, and in a part of one nobody knows.
        let mut gone = waivers();
        gone.apply(&suite, &mut failing(vec![finding("body/a")]));
        assert_eq!(
            (state(&gone, true), state(&gone, false)),
            (WaiverState::Unmatched, WaiverState::NotAsked)
        );
        assert!(gone.seen(&suite, true)[0].is_red());
    }
}
