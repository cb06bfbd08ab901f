//! Archives of a browser and of a proxy, and raw HTTP requests and responses.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::{Observation, Untold};

use crate::support::{recorded, xs2aspec};

const FOLDER: &str = "../../fixtures/traffic";

/// Side and clause of each violation.
type Wrong = Vec<(String, String)>;

/// Judges a file. Returns the exit code, the output, and the violations of each exchange.
fn judged(file: &str, more: &[&str]) -> (Option<i32>, String, Vec<Wrong>) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = format!("{FOLDER}/{file}");
    let (exit, said) = xs2aspec(&[&["judge", &path, "--out", out.to_str().unwrap()], more].concat());
    let (verdicts, _) = recorded(&out, &said);
    let found = verdicts.iter().map(|verdict| {
        let of = |finding: &xs2aspec_record::Finding| (finding.end.word().to_owned(), finding.clause.clone());
        verdict.findings.iter().map(of).collect()
    });
    (exit, said, found.collect())
}

fn pairs(found: &[(&str, &str)]) -> Vec<(String, String)> {
    found.iter().map(|(end, clause)| ((*end).to_owned(), (*clause).to_owned())).collect()
}

#[test]
fn an_archive_of_a_browser_shows_what_either_end_broke() {
    let (exit, said, found) = judged("chromium.har", &[]);
    let wrong = pairs(&[("client", "periodic.frequency.listed"), ("bank", "periodic.frequency.listed")]);
    let answer = pairs(&[("bank", "customer.customer-type")]);
    assert_eq!(found, [vec![], vec![], wrong, answer, vec![]], "{said}");
    assert_eq!(exit, Some(1), "{said}");
    for words in [
        "the client violated periodic.frequency.listed  (1 exchange)",
        "chromium.har, exchange 3",
        "the bank violated customer.customer-type  (1 exchange)",
        "5 exchanges: the client has 1 violation, the bank has 2 violations; 1 for no operation of the document",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn an_archive_of_a_proxy_shows_what_either_end_broke() {
    let (exit, said, found) = judged("mitmproxy.har", &[]);
    let answer = pairs(&[("bank", "customer.customer-type")]);
    let digest = pairs(&[("client", "digest.wrong-hash")]);
    let months = pairs(&[("client", "periodic.months.duplicate"), ("bank", "periodic.months.duplicate")]);
    assert_eq!(found, [answer, vec![], digest, vec![], months, vec![]], "{said}");
    assert_eq!(exit, Some(1), "{said}");
    // The archive has half of a surrogate pair for a byte that is not UTF-8, and the last exchange used
    // HTTP/2.
    let text = std::fs::read_to_string(format!("{FOLDER}/mitmproxy.har")).unwrap();
    assert!(text.contains(r"\udce5") && text.contains(r#""httpVersion": "HTTP/2.0""#));
    assert!(said.contains("1 only partly judged"), "{said}");
}

/// An archive in which a record masked personal data, but kept the Digest of the whole body.
#[test]
fn a_digest_of_a_body_of_which_something_is_masked_is_held_against_nobody() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    xs2aspec(&["judge", &format!("{FOLDER}/pairs.http"), "--out", out.to_str().unwrap()]);
    std::fs::write(out.join("exchanges.har"), crate::support::rendered(&out, "har")).unwrap();
    for file in ["exchanges.har", "record.jsonl"] {
        let again = folder.path().join("again");
        let (_, said) =
            xs2aspec(&["judge", out.join(file).to_str().unwrap(), "--out", again.to_str().unwrap()]);
        assert!(!said.contains("violated digest"), "{file}: {said}");
        let (verdicts, _) = recorded(&again, &said);
        let is_not_compared = |seen: &Observation| match seen {
            Observation::NotTold(told) => {
                told.at == "request/header/digest" && matches!(told.why, Untold::NotCompared { .. })
            }
            _ => false,
        };
        assert!(verdicts.iter().flat_map(|verdict| &verdict.seen).any(is_not_compared), "{file}");
    }
}

#[test]
fn requests_and_answers_as_they_went_over_the_wire_are_read() {
    let (exit, said, found) = judged("pairs.http", &[]);
    let long =
        pairs(&[("client", "periodic.creditor-name.length"), ("bank", "periodic.creditor-name.length")]);
    assert_eq!(found, [long, vec![]], "{said}");
    assert_eq!(exit, Some(1), "{said}");
}

#[test]
fn one_end_alone_can_be_asked_for() {
    let (_, said, found) = judged("chromium.har", &["--end", "client"]);
    assert!(found.concat().iter().all(|(end, _)| end == "client"), "{said}");
    let (exit, said, _) =
        judged("pairs.http", &["--end", "client", "--allow", "periodic.creditor-name.length"]);
    assert_eq!(exit, Some(0), "{said}");
}

#[test]
fn nothing_of_a_person_is_in_what_is_written() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = format!("{FOLDER}/chromium.har");
    let archive = std::fs::read_to_string(&path).unwrap();
    let (_, said) = xs2aspec(&["judge", &path, "--out", out.to_str().unwrap()]);
    let mut files = 0;
    for entry in std::fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&text);
        files += 1;
        for secret in [
            "NO1400004200179",
            "NO5597100000036",
            "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f",
            "192.0.2.10",
            "Synthetic Private Customer",
            "Synthetic Creditor AS",
            "01819000391",
        ] {
            assert!(archive.contains(secret), "{secret}");
            assert!(!text.contains(secret), "{secret} in {}", path.display());
            assert!(!said.contains(secret), "{secret}: {said}");
        }
        assert!(!text.contains("SN=560B2E6C"), "a signature in {}", path.display());
    }
    assert!(files > 3, "{said}");
}

/// Returns a format that is rendered from a record.
fn drawn(out: &Path, format: &str) -> String {
    let (exit, drawn) = xs2aspec(&["report", "--format", format, out.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{format}: {drawn}");
    drawn
}

#[test]
fn each_report_says_which_end_broke_what() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = format!("{FOLDER}/chromium.har");
    xs2aspec(&["judge", &path, "--out", out.to_str().unwrap(), "--end", "client"]);
    let client = "the client violated it: request/body/frequency: expected what the bank accepts (The bank";
    for format in ["terminal", "markdown", "html", "junit", "sarif", "ctrf", "github"] {
        let text = drawn(&out, format);
        assert!(text.contains(client) && !text.contains("the bank violated"), "{format}: {text}");
    }
    xs2aspec(&["judge", &path, "--out", out.to_str().unwrap()]);
    for format in ["terminal", "markdown", "html", "junit", "sarif", "ctrf", "github"] {
        let text = drawn(&out, format);
        let bank = "the bank violated it: body/0/customerType: expected one of PRIVATE, CORPORATE";
        assert!(text.contains(client) && text.contains(bank), "{format}: {text}");
        assert!(!text.contains("xs2aspec explore") && !text.contains("--only traffic"), "{format}: {text}");
    }
    let page = drawn(&out, "html");
    assert!(
        page.contains("<p>the client: 1 violation, 0 warnings; the bank: 2 violations, 0 warnings.</p>"),
        "{page}"
    );
    let markdown = drawn(&out, "markdown");
    assert!(markdown.contains("| deny | client | `periodic.frequency.listed` | 1 |"), "{markdown}");
    assert!(markdown.contains("| deny | bank | `customer.customer-type` | 1 |"), "{markdown}");
    assert!(markdown.contains("- `customer.customer-type` (the bank): "), "{markdown}");
    let sarif: Value = serde_json::from_str(&drawn(&out, "sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let ends: Vec<(&str, &str)> = results
        .iter()
        .map(|result| (result["ruleId"].as_str().unwrap(), result["properties"]["end"].as_str().unwrap()))
        .collect();
    assert_eq!(ends.len(), 3, "{ends:?}");
    assert!(ends.contains(&("periodic.frequency.listed", "client")), "{ends:?}");
    assert!(ends.contains(&("periodic.frequency.listed", "bank")), "{ends:?}");
    let junit = drawn(&out, "junit");
    assert!(junit.contains("[[PROPERTY|violated-by=client]]\n[[PROPERTY|violated-by=bank]]"), "{junit}");
    let terminal = drawn(&out, "terminal");
    let again = format!("= again   xs2aspec judge {path} --out reports/again\n");
    for words in [&again, "(the client)", "level  end     clause"] {
        assert!(terminal.contains(words), "{words}: {terminal}");
    }
    assert!(junit.contains("= next    xs2aspec explain customer.customer-type"), "{junit}");
}

#[test]
fn a_run_of_cases_says_nothing_of_ends() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let fault =
        ["--fault", "periodic.months.duplicate/only-adjacent", "--only", "periodic.months.duplicate/2-apart"];
    xs2aspec(&[&["run", "--quiet", "--out", out.to_str().unwrap()][..], &fault].concat());
    for format in ["terminal", "markdown", "html", "junit", "sarif", "ctrf", "github"] {
        let text = drawn(&out, format);
        assert!(!text.contains("violated it") && !text.contains("violated-by"), "{format}: {text}");
        assert!(!text.contains("\"end\"") && !text.contains("(the bank)"), "{format}: {text}");
    }
}

#[test]
fn one_mistake_in_many_requests_is_one_finding_in_each_report() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let request = |number: u32| {
        format!(
            "GET /v1/sandbox/customers HTTP/1.1\nHost: bank.example\nX-Request-ID: w-{number}\n\nHTTP/1.1 401 Unauthorized\nContent-Length: 0\n\n"
        )
    };
    let path = folder.path().join("many.http");
    std::fs::write(&path, (0..9).map(request).collect::<String>()).unwrap();
    let (exit, said) = xs2aspec(&["judge", path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{said}");
    let sarif: Value = serde_json::from_str(&drawn(&out, "sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let mut rules: Vec<&str> = results.iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    let all = rules.len();
    rules.sort_unstable();
    rules.dedup();
    assert!(rules.len() == all && results.iter().all(|result| result["occurrenceCount"] == 9), "{results:?}");
    for rule in rules {
        assert_eq!(said.matches(&format!("violated {rule}  (9 exchanges)")).count(), 1, "{rule}: {said}");
        let line = format!("- `{rule}` (the client): ");
        assert_eq!(drawn(&out, "markdown").matches(&line).count(), 1, "{rule}");
        assert_eq!(
            drawn(&out, "html").matches(&format!("<p><a href=\"#clause:{rule}\"><code>")).count(),
            1,
            "{rule}"
        );
    }
}

/// RFC 8259, section 6: a number may be larger than a JSON parser supports.
#[test]
fn a_body_with_a_number_that_nobody_holds_is_there_all_the_same() {
    let folder = TempDir::new().unwrap();
    let pairs = std::fs::read_to_string(format!("{FOLDER}/pairs.http")).unwrap();
    let large = pairs
        .replace(r#""frequency":"Monthly"}"#, r#""frequency":"Monthly","synthetic":1e999999}"#)
        .replace("Content-Length: 315", "Content-Length: 336");
    assert_eq!(large.len(), pairs.len() + 21);
    let (file, out) = (folder.path().join("large.http"), folder.path().join("out"));
    std::fs::write(&file, large).unwrap();
    let (_, said) = xs2aspec(&["judge", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let (verdicts, _) = recorded(&out, &said);
    let clauses = verdicts[0].findings.iter().map(|finding| finding.clause.as_str());
    assert!(clauses.clone().all(|clause| !clause.ends_with(".body.required")), "{said}");
    assert!(
        verdicts[0]
            .seen
            .iter()
            .any(|seen| { matches!(seen, Observation::NotTold(told) if told.why == Untold::LargeNumber) }),
        "{said}"
    );
}

/// An eight-character agent next to an IBAN is a valid object, though the rules derive the agent from another
/// string.
#[test]
fn a_value_that_the_rules_compute_has_the_type_that_was_sent() {
    let folder = TempDir::new().unwrap();
    let body = r#"{"creditorAccount":{"iban":"DE93999999990000000001"},"creditorAgent":"AAAADEF0","creditorName":"A"}"#;
    let request = format!(
        "POST /v1/payments/norwegian-cross-border-credit-transfers HTTP/1.1\nContent-Length: {}\n\n{body}\n",
        body.len()
    );
    let (path, out) = (folder.path().join("agent.http"), folder.path().join("out"));
    std::fs::write(&path, request).unwrap();
    let target = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/targets/reference.toml");
    let (_, said) =
        xs2aspec(&["judge", path.to_str().unwrap(), "--target", target, "--out", out.to_str().unwrap()]);
    assert!(said.contains("violated ncbct.instructed-amount.required"), "{said}");
    assert!(!said.contains("creditor-agent"), "{said}");
}

/// Exporters omit bodies, rewrite them, and list requests twice. Neither client nor bank is blamed for that.
#[test]
fn what_an_exporter_does_is_held_against_nobody() {
    let archive: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{FOLDER}/chromium.har")).unwrap()).unwrap();
    let good = &archive["log"]["entries"][1];
    let set_out: Value = serde_json::from_str(good["request"]["postData"]["text"].as_str().unwrap()).unwrap();
    let without_length = |entry: &mut Value| {
        let is_length = |field: &Value| {
            field["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("content-length"))
        };
        entry["request"]["headers"].as_array_mut().unwrap().retain(|field| !is_length(field));
        entry["request"]["bodySize"] = (-1).into();
    };
    let mut elsewhere = good.clone();
    without_length(&mut elsewhere);
    elsewhere["request"]["postData"] = serde_json::json!({"text": "", "_file": "a.json"});
    elsewhere["response"]["content"] = serde_json::json!({"size": -1, "_file": "b.json"});
    let mut anew = good.clone();
    without_length(&mut anew);
    anew["request"]["postData"]["text"] = format!("{set_out:#}").into();
    let mut worker = good.clone();
    worker["_fetchedViaServiceWorker"] = true.into();
    let mut unanswered = good.clone();
    unanswered["response"]["status"] = 0.into();
    for (entries, words, exits) in [
        (vec![elsewhere], "1 only partly judged", [0, 0]),
        (vec![anew], "1 only partly judged", [0, 0]),
        (vec![good.clone(), worker], "1 request listed twice", [0, 0]),
        (vec![unanswered, good.clone()], "2 exchanges: the client has 0 violations", [0, 3]),
    ] {
        let folder = TempDir::new().unwrap();
        let (file, out) = (folder.path().join("a.har"), folder.path().join("out"));
        let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
        std::fs::write(file, serde_json::json!({"log": {"entries": entries}}).to_string()).unwrap();
        let (exit, said) = xs2aspec(&["judge", file, "--out", out]);
        assert!(!said.contains(" violated ") && said.contains(words), "{said}");
        assert!(exits.map(Some).contains(&exit), "{exit:?}: {said}");
        assert!(said.contains(&format!("next: xs2aspec client report {out}")), "{said}");
        let report = folder.path().join("report");
        let (_, said) = xs2aspec(&["client", "report", out, "--out", report.to_str().unwrap()]);
        assert!(!said.contains("violated "), "{said}");
        let (exit, said) = xs2aspec(&["client", "report", file, "--out", report.to_str().unwrap()]);
        assert_eq!(exit, Some(2), "{said}");
        assert!(said.contains(&format!("run `xs2aspec judge {file} --out DIR`")), "{said}");
    }
}
