//! The rules of judgement, tested on servers that violate them: nothing passes that must not pass, and the
//! exit code shows it.

use std::{
    collections::BTreeSet,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use wiremock::ResponseTemplate;
use xs2aspec_record::{CaseVerdict, Entry, Hint, PlainRejected, Reason, RecordReader, Verdict};
use xs2aspec_reference::Config;
use xs2aspec_suite::{Suite, Tree};

use crate::support::{self, ANY_BANK, REFERENCE, command, network::silent_port, recorded, stub};

fn xs2aspec(arguments: &[&str], out: &Path) -> Output {
    command().args(["run", "--quiet", "--seed", "1", "--out"]).arg(out).args(arguments).output().unwrap()
}

fn verdicts(out: &Path) -> Vec<CaseVerdict> {
    let record = RecordReader::open(&out.join("record.jsonl")).unwrap();
    let verdict = |entry| match entry {
        Entry::Case(case) => case.verdict,
        Entry::Run(_) => None,
    };
    record.filter_map(|entry| verdict(entry.unwrap())).collect()
}

/// Runs the whole suite against a server that sends the same response to everything.
async fn against(response: ResponseTemplate) -> (Option<i32>, Vec<CaseVerdict>) {
    let server = stub::server(response).await;
    let out = TempDir::new().unwrap();
    let url = server.uri();
    let output = tokio::task::spawn_blocking({
        let out = out.path().to_owned();
        move || xs2aspec(&["--target", &url], &out)
    });
    let output = output.await.unwrap();
    (output.status.code(), verdicts(out.path()))
}

fn refusals() -> BTreeSet<String> {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let refused =
        suite.cases().iter().filter(|case| matches!(case.expect, xs2aspec_suite::Expectation::Refused(_)));
    refused.map(|case| case.id.clone()).collect()
}

#[tokio::test]
async fn a_server_that_accepts_everything_passes_no_negative_case() {
    let body = serde_json::json!({"paymentId": "p", "basketId": "b", "transactionStatus": "RCVD"});
    let (exit, verdicts) = against(ResponseTemplate::new(201).set_body_json(body)).await;
    assert_eq!(exit, Some(1));
    let negative = refusals();
    let judged: Vec<_> = verdicts.iter().filter(|verdict| negative.contains(&verdict.case)).collect();
    assert!(judged.len() > 500);
    assert!(judged.iter().all(|verdict| verdict.verdict != Verdict::Pass));
    assert!(judged.iter().filter(|verdict| verdict.verdict == Verdict::Fail).count() > 500);
}

#[tokio::test]
async fn a_server_that_refuses_everything_passes_nothing() {
    let (exit, verdicts) = against(ResponseTemplate::new(400)).await;
    assert_eq!(exit, Some(3), "the server need not know the key of the suite");
    let negative = refusals();
    let judged: Vec<_> = verdicts.iter().filter(|verdict| negative.contains(&verdict.case)).collect();
    assert!(judged.len() > 500);
    for verdict in judged {
        assert!(
            matches!(verdict.verdict, Verdict::Inconclusive | Verdict::NotApplicable | Verdict::Observed),
            "{verdict:?}"
        );
    }
    assert!(verdicts.iter().all(|verdict| verdict.verdict != Verdict::Pass));
}

/// Writes a profile that names its own key, with this address.
fn full_profile(folder: &Path, url: &str) -> String {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys");
    let text = REFERENCE.replace("\"http://127.0.0.1\"", &format!("{url:?}"))
        + &format!("\n[signing]\nkey = \"{keys}/other.key.pem\"\ncertificate = \"{keys}/other.cert.pem\"\n");
    let file = folder.join("bank.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_one_answer_to_everything_is_few_findings_and_never_conforms() {
    let html = "<html>log in</html>";
    // A status and a body, with the exit codes for a profile that names a key, and for a URL alone. A
    // possible mistake of the key or the URL is not held against the bank.
    for (status, body, full, bare) in [
        (401, "", 3, 3),
        (404, "", 3, 3),
        (403, html, 3, 3),
        (400, "", 1, 3),
        (500, "", 1, 1),
        (501, html, 3, 3),
        (200, "{}", 3, 3),
        (200, "null", 3, 3),
        (200, html, 3, 3),
        (204, "", 3, 3),
        (302, "", 3, 3),
    ] {
        let media = if body == html { "text/html" } else { "application/json" };
        let server = stub::server(ResponseTemplate::new(status).set_body_raw(body, media)).await;
        let folder = TempDir::new().unwrap();
        for (target, expected) in [(full_profile(folder.path(), &server.uri()), full), (server.uri(), bare)] {
            let out = folder.path().join("out");
            let arguments = ["--target", &target, "--depth", "quick"];
            let output = tokio::task::block_in_place(|| xs2aspec(&arguments, &out));
            let said = String::from_utf8(output.stdout).unwrap();
            let verdicts = verdicts(&out);
            let what = format!("{status} {body} {target}\n{said}");
            assert_eq!(output.status.code(), Some(expected), "{what}");
            let failing: Vec<&CaseVerdict> =
                verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail).collect();
            assert!(failing.len() <= 5, "{} {what}", failing.len());
            assert!(
                failing.iter().all(|verdict| verdict.control.is_none()),
                "only plain requests fail: {what}"
            );
            assert_eq!(failing.is_empty(), expected == 3, "{what}");
            assert!(verdicts.iter().all(|verdict| verdict.verdict != Verdict::Pass), "{what}");
            // Cases that depend on baseline requests are not sent, and there are few alternatives to these.
            let asked = recorded(&out, &said).1.len();
            assert!(asked < 200, "{asked} requests: {what}");
            let given_up = |verdict: &&CaseVerdict| match verdict.why() {
                Reason::PlainRejected(rejected) => rejected.is_given_up,
                other => matches!(other, Reason::GivenUp { .. }),
            };
            assert!(verdicts.iter().filter(given_up).count() > 100, "{what}");
            let (exit, said_again) = support::xs2aspec(&["rejudge", out.to_str().unwrap()]);
            // Abandoned cases were not sent, and a missing capability shows in no exchange of a case. So
            // neither can be rejudged, unless the profile declares the capability.
            let given_up = verdicts.iter().filter(|verdict| verdict.unconfirmed).count();
            let is_asked_for =
                |verdict: &&CaseVerdict| matches!(verdict.reason, Some(Reason::CapabilityLacked { .. }));
            let most = given_up + verdicts.iter().filter(is_asked_for).count();
            let (_, told) = said_again.split_once(" 0 changed, ").expect(&said_again);
            let untold: usize = told.split(' ').next().unwrap().parse().unwrap();
            assert!((given_up..=most).contains(&untold), "{untold}: {what}: {said_again}");
            assert_eq!(exit, Some(if untold == 0 { 0 } else { 3 }), "{what}: {said_again}");
            // Cases that depend on a baseline request share the reason.
            let reasons = verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Inconclusive);
            let rejected: BTreeSet<PlainRejected> = reasons
                .filter_map(|verdict| match verdict.why() {
                    // Cases that depend on a baseline request also state that nothing was sent.
                    Reason::PlainRejected(rejected) => {
                        Some(PlainRejected { is_given_up: false, ..*rejected })
                    }
                    // A case with its own setup requests reports their failure.
                    Reason::SetUpRejected { .. } => None,
                    other => panic!("{other}"),
                })
                .collect();
            // One for each operation, including the payment status.
            assert!((1..=6).contains(&rejected.len()), "{rejected:#?}");
            let has_hint = |rejected: &PlainRejected| rejected.hint == Some(Hint::TestKey);
            assert_eq!(rejected.iter().all(has_hint), target == server.uri(), "{rejected:#?}");
            let last: Vec<&str> = said.lines().rev().take(12).collect();
            assert!(
                last.iter().any(|line| line.starts_with("no valid request was accepted: ")
                    && line.contains(&status.to_string())
                    && line.ends_with(&format!("try `xs2aspec doctor --target {target}`"))),
                "{last:?}"
            );
            // A rejection without a body gives no hint about the key or the address.
            let is_explained = last.iter().any(|line| line.starts_with("  perhaps "));
            assert_eq!(is_explained, status != 400, "{last:?}");
            assert!(said.contains(&format!("(exit {expected})\n")), "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hopeless_target_is_asked_again_when_a_run_goes_on_and_what_leans_on_it_as_well() {
    let server = stub::server(ResponseTemplate::new(404)).await;
    let folder = TempDir::new().unwrap();
    let target = full_profile(folder.path(), &server.uri());
    let out = folder.path().join("out");
    let key = ["--mask-key", support::MASK_KEY];
    let chosen = ["--target", &target, "--only", "ncbct", "--only", "customers.path", "--depth", "quick"];
    let arguments = [&chosen[..], &key].concat();
    let output = tokio::task::block_in_place(|| xs2aspec(&arguments, &out));
    assert_eq!(output.status.code(), Some(3));
    let whole = verdicts(&out).len();
    // The run is killed after some of its cases.
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    let lines: Vec<&str> = record.split_inclusive('\n').collect();
    let cut = |record: &[&str]| std::fs::write(out.join("record.jsonl"), record.concat()).unwrap();
    cut(&lines[..lines.len() - 20]);
    let resume = || {
        support::xs2aspec(
            &[&["run", "--quiet", "--resume", out.to_str().unwrap(), "--target", &target][..], &key].concat(),
        )
    };
    let (exit, said) = tokio::task::block_in_place(resume);
    assert_eq!(exit, Some(3), "{said}");
    assert!(
        said.contains("no valid request was accepted: every response is 404; try `xs2aspec doctor"),
        "{said}"
    );
    assert!(said.contains("\n  perhaps the path is wrong: check `[paths] customers`"), "{said}");
    assert_eq!(verdicts(&out).len(), whole, "{said}");
    // Verdicts of cases that were not sent the first time are not kept.
    cut(&lines[..lines.len() - 20]);
    server.reset().await;
    stub::respond(&server, ResponseTemplate::new(401)).await;
    let (exit, said) = tokio::task::block_in_place(resume);
    let kept = verdicts(&out);
    let reasons: Vec<String> =
        kept.iter().filter_map(|verdict| Some(verdict.reason.as_ref()?.to_string())).collect();
    assert!(exit == Some(3) && reasons.len() > 20, "{said}");
    assert!(!reasons.iter().any(|reason| reason.contains("404")), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_that_nobody_selected_shows_what_is_wrong_with_it() {
    let server = stub::server(ResponseTemplate::new(500)).await;
    let folder = TempDir::new().unwrap();
    for target in [full_profile(folder.path(), &server.uri()), server.uri()] {
        let out = folder.path().join("out");
        let only = ["--target", &target, "--only", "ncbct.creditor-name.length"];
        let output = tokio::task::block_in_place(|| xs2aspec(&only, &out));
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("deny  ncbct.path ") && said.contains("deny  http.no-server-error "), "{said}");
        assert!(!said.contains("deny  ncbct.creditor-name"), "{said}");
        let reports =
            ["summary.md", "junit.xml"].map(|name| std::fs::read_to_string(out.join(name)).unwrap());
        assert!(reports[0].contains("does not conform"), "{}", reports[0]);
        assert!(reports[1].contains("<error"), "{}", reports[1]);
    }
}

#[tokio::test]
async fn a_server_that_fails_or_is_busy_passes_nothing() {
    let (exit, failing) = against(ResponseTemplate::new(500)).await;
    assert_eq!(exit, Some(1));
    assert!(failing.iter().all(|verdict| verdict.verdict != Verdict::Pass));
    let (exit, busy) = against(ResponseTemplate::new(503).insert_header("retry-after", "60")).await;
    assert_eq!(exit, Some(3));
    assert!(busy.iter().all(|verdict| !matches!(verdict.verdict, Verdict::Pass | Verdict::Fail)));
}

#[test]
fn a_dead_port_is_one_clear_line_and_exit_3() {
    let (_kept, port) = silent_port();
    let out = TempDir::new().unwrap();
    let start = Instant::now();
    let output = xs2aspec(&["--target", &format!("http://127.0.0.1:{port}")], out.path());
    assert_eq!(output.status.code(), Some(3));
    assert!(start.elapsed() < Duration::from_secs(10));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(&format!("cannot reach the target http://127.0.0.1:{port}")), "{said}");
}

#[test]
fn a_server_that_never_answers_is_an_error_within_the_deadline() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = TempDir::new().unwrap();
    let profile = folder.path().join("bank.toml");
    let base = format!("base-url = \"http://{}\"\ndeadline-ms = 200\n", listener.local_addr().unwrap());
    std::fs::write(&profile, base + ANY_BANK).unwrap();
    let out = folder.path().join("out");
    let output = xs2aspec(&["--target", profile.to_str().unwrap(), "--only", "operations"], &out);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts = verdicts(&out);
    assert!(verdicts.iter().any(|verdict| verdict.verdict == Verdict::Error
        && verdict.reason == Some(Reason::no_response("no complete response within 200 ms"))));
    assert!(
        verdicts.iter().all(|verdict| matches!(verdict.verdict, Verdict::Error | Verdict::NotApplicable))
    );
}

#[test]
fn an_unknown_field_in_a_case_file_is_exit_2_with_its_place_and_the_near_name() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("area")).unwrap();
    let text =
        "title: t\ncases:\n  - clause: ncbct.path\n    name: x\n    baseline: ncbct\n    exepct: accepted\n";
    std::fs::write(folder.path().join("area/a.yaml"), text).unwrap();
    let output = xs2aspec(&["--cases", folder.path().to_str().unwrap()], folder.path());
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    let place = format!("{}/area/a.yaml:6:5: unknown field `exepct`", folder.path().display());
    assert!(said.contains(&place), "{said}");
    assert!(said.contains("did you mean `expect`?"), "{said}");
}

#[test]
fn a_pattern_without_a_match_and_an_unknown_fault_are_exit_2_with_the_near_name() {
    let out = TempDir::new().unwrap();
    for (arguments, near) in [
        (["--only", "periodic.months.duplicat"], "periodic.months.duplicate"),
        (["--fault", "basket.mix/first-payment-onl"], "basket.mix/first-payment-only"),
        (["--target", "no-such-file.toml"], "cannot read no-such-file.toml"),
    ] {
        let output = xs2aspec(&arguments, out.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(near), "{said}");
    }
}

/// Rejecting a valid request because it lacks an optional part is a violation, even if only a URL is known.
/// The evidence is that the target accepts the same request with that part, or another operation with the
/// same key.
#[test]
fn a_plain_request_that_is_refused_says_what_is_accepted_in_its_place() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (fault, plain, says) in [
        (
            "header.psu-accept-charset.basket/demanded",
            "basket.body/plain",
            "accepted with this, which is optional: header/PSU-Accept-Charset = ",
        ),
        (
            "customers.signed-headers/redirect-demanded",
            "customers.path/plain",
            "accepted with this, which is optional: header/TPP-Redirect-URI = ",
        ),
    ] {
        let config = Config { faults: vec![fault.parse().unwrap()], ..Config::default() };
        let bank = runtime.block_on(xs2aspec_reference::start(config)).unwrap();
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let output = xs2aspec(&["--target", &bank.base_url(), "--only", plain], &out);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_whose_request_the_profile_makes_that_of_its_control_says_nothing() {
    let server = stub::server(ResponseTemplate::new(404)).await;
    let verdict = |id: &str| {
        let folder = TempDir::new().unwrap();
        let target = full_profile(folder.path(), &server.uri());
        let text = std::fs::read_to_string(&target).unwrap();
        let other = text.replace(
            r#"quota-transaction-id = "20250214-0000004""#,
            &format!("quota-transaction-id = {id:?}"),
        );
        std::fs::write(&target, &other).unwrap();
        let out = folder.path().join("out");
        let only = "transaction.path.unknown/of-another-account";
        let fixed = ["run", "--target", &target, "--only", only, "--out", out.to_str().unwrap()];
        let (_, said) = support::xs2aspec(&fixed);
        let (verdicts, _) = support::recorded(&out, &said);
        verdicts.into_iter().find(|verdict| verdict.case == only).unwrap()
    };
    // The id is also in the first account of the profile.
    let same = verdict("20250212!0000002=");
    assert_eq!(same.verdict, Verdict::NotApplicable);
    assert_eq!(same.reason, Some(Reason::SameAsControl));
    assert_ne!(verdict("20250214-0000004").verdict, Verdict::NotApplicable);
}

/// Daily calls are limited, and cases share the account whose calls may be used up. So required clauses are
/// tested before expected ones.
#[test]
fn the_fifth_call_of_a_day_is_judged_by_the_clause_that_the_document_demands() {
    for jobs in ["1", "16", "64"] {
        let out = TempDir::new().unwrap();
        let output = xs2aspec(
            &["--fault", "limit.without-psu-ip/five", "--only", "limit", "--jobs", jobs],
            out.path(),
        );
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{jobs}: {said}");
        assert!(said.contains("deny  limit.without-psu-ip "), "{jobs}: {said}");
    }
}
