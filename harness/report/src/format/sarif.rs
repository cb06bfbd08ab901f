//! `results.sarif`: the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0). A clause is a rule, a
//! finding is a result on a line of the user's files, and the cases that show it are logical locations. Code
//! scanning of GitHub reads it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use serde_json::{Value, json};
use xs2aspec_record::{ClauseText, Level, Place, Reason, Verdict};

use crate::{
    demanded,
    findings::{AskedAgain, Findings, Found, Witness, symptom::Symptoms},
    format::{
        block,
        groups::{Group, Groups},
    },
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::{harmless, short},
};

/// Address of the schema.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name and version of the fingerprint of findings (section 3.27.17).
const FINGERPRINT: &str = "clauseAndPlace/1";

/// Limit of the other clauses that a result names.
const CLAUSES: usize = 20;

/// Limit of the changes of a request that a result names.
const CHANGES: usize = 4;

/// Limit of the reasons for cases that could not be judged. Each is a notification.
const REASONS: usize = 50;

/// The findings of a run. It writes everything at the end.
#[derive(Debug, Default)]
pub struct Sarif {
    /// Waived symptoms, by the reason of their waiver.
    waived: BTreeMap<Reason, Symptoms>,
    unjudged: Groups<Reason>,
}

impl Reporter for Sarif {
    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        match report.verdict.verdict {
            Verdict::Waived => {
                let reason = report.verdict.why();
                let waived = self.waived.entry(reason).or_insert_with(|| Symptoms::of(summary.start()));
                waived.add(report.verdict, report.exchanges, false);
            }
            Verdict::Flaky | Verdict::Inconclusive | Verdict::Error => {
                self.unjudged.add_reason(report.verdict);
            }
            Verdict::Fail | Verdict::Warn | Verdict::Pass | Verdict::NotApplicable | Verdict::Observed => {}
        }
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let start = summary.start();
        let mut rules = Rules::default();
        let mut results: Vec<Value> =
            summary.findings().all().iter().map(|found| result(summary, found, &mut rules)).collect();
        for (reason, waived) in &self.waived {
            for found in Findings::new(waived, &AskedAgain::default(), &[]).all() {
                let mut result = result(summary, found, &mut rules);
                result["suppressions"] =
                    json!([{"kind": "external", "justification": short(&reason.to_string())}]);
                results.push(result);
            }
        }
        let (name, version) = start.tool.split_once(' ').unwrap_or((&start.tool, ""));
        let mut about = json!({
            "target": short(&start.target), "depth": start.depth, "seed": start.seed,
            "suiteSha256": start.suite_sha256, "documentSha256": start.document_sha256,
        });
        for (name, number) in demanded::named(summary) {
            about[name] = number.into();
        }
        let exit = summary.exit().code();
        let run = json!({
            "tool": {"driver": {"name": name, "version": version, "rules": rules.all}},
            "automationDetails": {"id": format!("{name}/{}/", short(&start.target))},
            "invocations": [{
                "executionSuccessful": matches!(exit, 0 | 1),
                "exitCode": exit,
                "exitCodeDescription": format!("{}{}", summary.of_other_cases(short), summary.conclusion()),
                "startTimeUtc": start.now,
                "toolExecutionNotifications": self.notifications(),
            }],
            "results": results,
            "columnKind": "utf16CodeUnits",
            "properties": about,
        });
        let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
        serde_json::to_writer_pretty(&mut *out, &log)?;
        out.write_all(b"\n")
    }
}

impl Sarif {
    fn notifications(&self) -> Vec<Value> {
        let groups = self.unjudged.by_times();
        let notification = |(reason, group): (String, &Group)| {
            let says = format!("not judged (cases: {}): {}", group.times, short(&reason));
            json!({"level": "warning", "message": message(&says)})
        };
        groups.into_iter().take(REASONS).map(notification).collect()
    }
}

/// The violated clauses, in order of appearance.
#[derive(Default)]
struct Rules {
    all: Vec<Value>,
    index: BTreeMap<String, usize>,
}

impl Rules {
    fn position(&mut self, summary: &RunSummary, clause: &str) -> usize {
        if let Some(known) = self.index.get(clause) {
            return *known;
        }
        self.all.push(rule(clause, summary.clause(clause)));
        self.index.insert(clause.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}

fn rule(id: &str, known: Option<&ClauseText>) -> Value {
    let Some(clause) = known else { return json!({"id": harmless(id)}) };
    let place = format!("{}, line {} of the document", short(&clause.section), clause.line);
    let standard = clause.standard.as_ref().map(|standard| format!(" ({})", short(standard)));
    let from = format!("{}{}: {place}", clause.strength.word(), standard.unwrap_or_default());
    let words = if clause.quote.is_empty() {
        String::new()
    } else {
        format!("The document says: \"{}\". ", short(&clause.quote))
    };
    json!({
        "id": harmless(id),
        "shortDescription": message(&short(&clause.says)),
        "fullDescription": message(&format!("{} {from}.", short(&clause.says))),
        "help": message(&format!("{words}{from}. `xs2aspec explain {}` shows its interpretation and its cases.", harmless(id))),
        "defaultConfiguration": {"level": level(clause.strength.usual_level().level)},
        "properties": {"strength": clause.strength.word(), "section": short(&clause.section), "line": clause.line},
    })
}

fn result(summary: &RunSummary, found: &Found, rules: &mut Rules) -> Value {
    let is_denied = found.level() == Level::Warn && summary.totals().denies_warnings();
    let says = summary.clause(&found.clause).map_or("", |clause| clause.says.as_str());
    let root = &found.root;
    let mut text = format!("{}\nFound: {}", short(says), short(&root.mismatch));
    if !root.changes.is_empty() {
        let changes: Vec<String> = root.changes.iter().take(CHANGES).map(|change| short(change)).collect();
        // Writing to a String cannot fail.
        _ = write!(text, "\nSent: {}", changes.join("; "));
    }
    let again = block::again(summary, &root.witness.case);
    if let Some(again) = &again {
        // Writing to a String cannot fail.
        _ = write!(text, "\nRerun: {again}");
    }
    if let Some(sequence) = &found.sequence {
        // Writing to a String cannot fail.
        _ = write!(text, "\nOrder: {}", short(sequence));
    }
    let others = found.other_clauses();
    if !others.is_empty() {
        let others: Vec<String> = others.into_iter().take(CLAUSES).map(harmless).collect();
        // Writing to a String cannot fail.
        _ = write!(text, "\nCases of these clauses fail for the same cause: {}", others.join(", "));
    }
    let carried = found.carried.iter().map(|symptom| &symptom.witness);
    let related = root.others.iter().chain(carried).enumerate();
    let mut properties = json!({"place": short(&found.place)});
    if let Some(number) = root.request {
        properties["request"] = number.into();
    }
    if let Some(end) = root.end {
        properties["end"] = end.word().into();
    }
    if let Some(again) = again {
        properties["again"] = again.into();
    }
    json!({
        "ruleId": harmless(&found.clause),
        "ruleIndex": rules.position(summary, &found.clause),
        "level": level(if is_denied { Level::Deny } else { found.level() }),
        "message": message(&text),
        "locations": [location(&root.witness, summary.place(found).as_ref(), None)],
        "relatedLocations": related.map(|(id, other)| location(other, None, Some(id))).collect::<Vec<_>>(),
        "occurrenceCount": found.witnesses(),
        "partialFingerprints": {FINGERPRINT: found.id},
        "properties": properties,
    })
}

/// Returns the location of a case, and its id. `place` is the line of a file of the user. The case file is
/// not in the user's repository, so it is a property.
fn location(witness: &Witness, place: Option<&Place>, id: Option<usize>) -> Value {
    let case = json!([{"fullyQualifiedName": harmless(&witness.case), "kind": "member"}]);
    let mut location = json!({
        "logicalLocations": case,
        "properties": {"caseFile": harmless(&witness.place.to_string())},
    });
    if let Some(place) = place {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": uri(&place.file)},
            "region": {"startLine": place.line.max(1)},
        });
    }
    if let Some(id) = id {
        location["id"] = id.into();
        location["message"] = message(&format!("witness {}", harmless(&witness.case)));
    }
    location
}

/// Returns a path as a relative reference (RFC 3986, section 4.2).
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    encoded.collect()
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Note => "note",
    }
}

/// Returns a message in plain text. Braces would be placeholders (section 3.11.5), and brackets before a
/// parenthesis a link (3.11.6), so both are escaped.
fn message(text: &str) -> Value {
    json!({"text": text.replace('{', "{{").replace('}', "}}").replace("](", "] (")})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, sample::Sample};

    fn drawn(sample: &Sample) -> Value {
        let run = Run::of(&sample.finished()).unwrap();
        serde_json::from_slice(&run.draw(&mut Sarif::default())).unwrap()
    }

    #[test]
    fn two_cases_that_show_the_same_are_one_result_with_a_rule() {
        let mut sample = Sample::new(4);
        sample.verdict("periodic.months/one", Verdict::Fail);
        sample.verdict("periodic.months/two", Verdict::Fail);
        sample.verdict("ncbct.name/a", Verdict::Warn);
        sample.verdict("ncbct.name/b", Verdict::Pass);
        let log = drawn(&sample);
        let run = &log["runs"][0];
        let told: Vec<_> = run["results"].as_array().unwrap().iter().collect();
        assert_eq!(told.len(), 2, "{run}");
        let of = |clause: &str| *told.iter().find(|result| result["ruleId"] == clause).unwrap();
        let (months, name) = (of("periodic.months"), of("ncbct.name"));
        assert_eq!((&months["level"], &months["occurrenceCount"]), (&json!("error"), &json!(2)));
        assert_eq!(months["relatedLocations"].as_array().unwrap().len(), 1);
        assert_eq!(name["level"], "warning");
        let first = &months["locations"][0];
        let uri = &first["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(
            (uri, &first["physicalLocation"]["region"]["startLine"]),
            (&json!("my%20bank.toml"), &json!(1))
        );
        assert_eq!(first["properties"]["caseFile"], "cases/periodic/months-of-execution.yaml:18");
        assert!(months["relatedLocations"][0]["physicalLocation"].is_null(), "{months}");
        for result in [months, name] {
            let rule = &run["tool"]["driver"]["rules"]
                [usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
        }
        assert_ne!(months["partialFingerprints"], name["partialFingerprints"]);
        assert_eq!(run["invocations"][0]["exitCode"], 1);
    }

    #[test]
    fn what_is_waived_is_suppressed_and_what_could_not_be_judged_is_no_result() {
        let mut sample = Sample::new(2);
        let waived = sample.verdict("periodic.months/one", Verdict::Fail);
        (waived.verdict, waived.reason) =
            (Verdict::Waived, Some(Reason::InWords { says: "BANK-1: fixed in May".to_owned() }));
        sample.verdict("ncbct.name/a", Verdict::Error).reason = Some(Reason::no_response("no answer"));
        let log = drawn(&sample);
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 1, "{run}");
        assert_eq!(results[0]["suppressions"][0]["justification"], "BANK-1: fixed in May");
        let notification = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        assert_eq!(notification, "not judged (cases: 1): no answer");
    }

    #[test]
    fn what_a_target_wrote_is_no_link_and_no_placeholder() {
        let mut sample = Sample::new(1);
        let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
        verdict.findings[0].actual = "[here](https://evil.invalid) {0}".to_owned();
        let text = drawn(&sample)["runs"][0]["results"][0]["message"]["text"].to_string();
        assert!(text.contains("[here] (https") && text.contains("{{0}}"), "{text}");
    }
}
