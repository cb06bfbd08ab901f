//! Reports are consistent: they name a request by one number, show how it differs from the accepted request,
//! and blame a clause only for its own findings.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Exchange, Verdict};

use crate::support::{execute, printed, recorded};

/// A finished run: its folder, its output, and the content of its record.
struct Ran {
    folder: TempDir,
    said: String,
    verdicts: Vec<CaseVerdict>,
    exchanges: Vec<Exchange>,
}

fn run(arguments: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let fixed = ["run", "--quiet", "--seed", "7", "--out", folder.path().to_str().unwrap()];
    let said = printed(&execute(&[&fixed[..], arguments].concat()));
    let (verdicts, exchanges) = recorded(folder.path(), &said);
    Ran { folder, said, verdicts, exchanges }
}

impl Ran {
    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_else(|_| panic!("{name}: {}", self.said))
    }

    /// Returns all reports as text, by name.
    fn reports(&self) -> BTreeMap<&'static str, String> {
        let formats = ["terminal", "markdown", "html", "junit", "sarif", "ctrf", "github"];
        formats.into_iter().map(|format| (format, report(self.folder.path(), format))).collect()
    }
}

/// Returns a report as text without escapes.
fn report(folder: &Path, format: &str) -> String {
    let text = printed(&execute(&["report", folder.to_str().unwrap(), "--format", format]));
    let text = text.replace("\\u003c", "<").replace("\\\"", "\"");
    ["&lt;<", "&gt;>", "&quot;\"", "&#34;\"", "&amp;&"].iter().fold(text, |text, pair| {
        let (written, letter) = pair.split_at(pair.len() - 1);
        text.replace(written, letter)
    })
}

#[test]
fn every_report_names_a_request_by_its_number_in_order_of_time() {
    let ran = run(&[
        "--fault",
        "periodic.months.duplicate/only-adjacent",
        "--only",
        "periodic.months.duplicate",
        "--only",
        "basket.mix",
    ]);
    let by_number: BTreeMap<u64, &Exchange> = ran.exchanges.iter().map(|one| (one.number, one)).collect();
    assert!(ran.exchanges.len() > 100, "{}", ran.said);
    assert_eq!(by_number.len(), ran.exchanges.len(), "each request has a number of its own");
    for verdict in &ran.verdicts {
        let own = ran.exchanges.iter().filter(|exchange| exchange.case == verdict.case);
        assert!(own.clone().is_sorted_by_key(|exchange| (exchange.number, exchange.at)), "{}", verdict.case);
        let judged = verdict.exchange.map(|number| by_number[&number].case.as_str());
        assert!(judged.is_none_or(|case| case == verdict.case), "{}", verdict.case);
    }
    let archive: Value = serde_json::from_str(&crate::support::rendered(ran.folder.path(), "har")).unwrap();
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), ran.exchanges.len());
    for entry in entries {
        let exchange = by_number[&entry["_number"].as_u64().unwrap()];
        assert_eq!(entry["request"]["url"], exchange.request.url);
        let comment = entry["comment"].as_str().unwrap();
        assert!(comment.ends_with(&format!("(request {})", exchange.number)), "{comment}");
    }
    // One case shows the finding, and its request has one number.
    let terminal = report(ran.folder.path(), "terminal");
    let witness = terminal.lines().find_map(|line| line.strip_prefix("   = witness ")).unwrap();
    let witness = witness.replace(" / ", "/");
    let number = ran.verdicts.iter().find(|verdict| verdict.case == witness).unwrap().exchange.unwrap();
    for (name, text) in ran.reports() {
        let named = match name {
            "sarif" => format!("\"request\": {number}"),
            _ => format!("request {number}"),
        };
        assert!(text.contains(&named), "{name}: {named}\n{text}");
    }
}

#[test]
fn what_differs_from_the_control_can_be_read_in_every_report_and_no_secret_can() {
    for (case, fault, expected) in [
        (
            "signature.parameters.duplicate/ncbct/twice-the-same",
            "signature.parameters.duplicate/refused",
            "Signature: <signature>,<signature> instead of <signature>",
        ),
        (
            "header.x-request-id.ncbct/X-Request-ID/absent",
            "header.x-request-id.ncbct/not-required",
            "X-Request-ID: nothing instead of <fresh.request>",
        ),
    ] {
        let ran = run(&["--fault", fault, "--only", case]);
        let verdict = ran.verdicts.iter().find(|verdict| verdict.case == case).unwrap();
        assert!(matches!(verdict.verdict, Verdict::Fail | Verdict::Warn), "{}", ran.said);
        for (name, text) in ran.reports() {
            assert!(text.contains(expected), "{name}: {expected}\n{text}");
            assert!(!text.contains("instead of signature~"), "{name}");
        }
    }
}

/// A bank that omits the id of a created basket, which is a warning. Many cases of other clauses show it.
const WITHOUT_ID: [&str; 6] =
    ["--only", "signature", "--depth", "quick", "--variation", "basket.response.basket-id.absent/absent"];

#[test]
fn what_was_so_from_the_beginning_did_not_begin_in_between() {
    let ran = run(&WITHOUT_ID);
    let shows = |verdict: &&CaseVerdict| !verdict.findings.is_empty();
    assert!(ran.verdicts.iter().filter(shows).count() > 5, "{}", ran.said);
    // The control that shows it does not count as passed.
    let controls = ran.verdicts.iter().filter(|verdict| verdict.role == xs2aspec_record::Role::Control);
    assert!(controls.filter(shows).count() > 0, "{}", ran.said);
    let record = crate::support::read_record(ran.folder.path()).unwrap();
    let order = record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    for asked in order.filter(|event| event["event"] == "order-of-time") {
        for one in asked["asked_again"].as_array().unwrap() {
            assert_eq!(one.get("earlier"), None, "{one}");
        }
    }
    assert!(!ran.said.contains("= order"), "{}", ran.said);
}

#[test]
fn a_clause_of_the_document_is_marked_for_its_own_findings_alone() {
    for arguments in [
        WITHOUT_ID,
        ["--only", "header", "--depth", "quick", "--fault", "header.x-request-id.ncbct/not-required"],
    ] {
        let ran = run(&arguments);
        let findings = ran.verdicts.iter().flat_map(|verdict| &verdict.findings);
        let broken: BTreeSet<&str> = findings.map(|finding| finding.clause.as_str()).collect();
        assert!(!broken.is_empty(), "{}", ran.said);
        let page = ran.file("report.html");
        let clauses: Vec<(&str, &str)> = page
            .split("<div class=\"clause\" id=\"clause:")
            .skip(1)
            .map(|clause| (clause, clause.split_once("data-mark=\"").unwrap().1))
            .map(|(id, mark)| (id.split('"').next().unwrap(), mark.split('"').next().unwrap()))
            .collect();
        assert!(clauses.len() > 300, "{}", clauses.len());
        let is_marked = |(_, mark): &&(&str, &str)| matches!(*mark, "denied" | "warned");
        let marked: BTreeSet<&str> = clauses.iter().filter(is_marked).map(|(id, _)| *id).collect();
        assert_eq!(marked, broken, "{arguments:?}");
        // A request sent a listed word in another field, in a case with a warning about something else.
        assert!(!page.contains("<span class=\"w warned\"") && !page.contains("<span class=\"w denied\""));
    }
}
