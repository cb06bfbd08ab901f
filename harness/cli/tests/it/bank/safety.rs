//! Payments are created on test systems only.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use wiremock::ResponseTemplate;
use xs2aspec_reference::Config;

use crate::support::{REFERENCE, command, counting::Counting, stub};

/// A remote target, at an address for documentation (RFC 5737).
const ELSEWHERE: &str = "http://192.0.2.1/xs2a";

#[test]
fn a_target_elsewhere_is_not_touched_unless_it_is_a_sandbox() {
    let folder = TempDir::new().unwrap();
    let profile = folder.path().join("bank.toml");
    let run = |text: Option<&str>, more: &[&str]| {
        let target = match text {
            None => ELSEWHERE.to_owned(),
            Some(text) => {
                fs::write(&profile, format!("base-url = \"{ELSEWHERE}\"\ndeadline-ms = 200\n{text}"))
                    .unwrap();
                profile.to_str().unwrap().to_owned()
            }
        };
        let start = Instant::now();
        let output = command()
            .args(["run", "--quiet", "--out"])
            .arg(folder.path().join("out"))
            .args(["--target", &target])
            .args(more)
            .output()
            .unwrap();
        let took = start.elapsed();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), took)
    };
    for (text, more, key) in [
        (None, &[][..], "environment = \"sandbox\""),
        (Some(""), &[], "environment = \"sandbox\""),
        (Some("environment = \"production\""), &[], "--allow-production"),
        (Some(""), &["--allow-production"], "environment = \"production\""),
        (Some("environment = \"production\""), &["--allow-production"], "confirm-production = "),
    ] {
        let (exit, said, took) = run(text, more);
        assert_eq!(exit, Some(2), "{said}");
        assert!(said.contains(key) && said.contains("refusing to send requests"), "{said}");
        assert!(took < Duration::from_secs(15), "{took:?}");
        assert!(!folder.path().join("out").exists(), "nothing ran");
    }
    // With the opt-in, the run tries to connect, and fails.
    assert_eq!(run(Some("environment = \"sandbox\""), &[]).0, Some(3));
}

/// Returns the profile of the reference bank at this address, marked as a production system.
fn production(base_url: &str, more: &str) -> String {
    let profile = REFERENCE;
    let profile =
        profile.replacen("base-url = \"http://127.0.0.1\"", &format!("base-url = {base_url:?}\n{more}"), 1);
    assert!(profile.contains(base_url));
    profile
}

/// A tunnel to a production system starts on this machine, so its address looks like that of a test system.
#[tokio::test(flavor = "multi_thread")]
async fn a_production_system_behind_a_loopback_address_is_only_read() {
    let bank = Counting::start(Some(Config::default())).await;
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("bank.toml"), folder.path().join("out"));
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let says = "environment = \"production\"";
    let confirmed = format!("{says}\nconfirm-production = {:?}", bank.url);
    let xs2aspec = |profile: &str, arguments: &[&str]| {
        fs::write(file, production(&bank.url, profile)).unwrap();
        let output = tokio::task::block_in_place(|| {
            command().args(arguments).args(["--target", file]).output().unwrap()
        });
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said, bank.methods())
    };
    let commands: [&[&str]; 7] = [
        &["run", "--quiet", "--out", out],
        // Skips the cases whose quota the previous run has used up.
        &[
            "run",
            "--quiet",
            "--depth",
            "quick",
            "--shard",
            "1/2",
            "--skip",
            "limit",
            "--skip",
            "header.psu-ip-address",
            "--out",
            out,
        ],
        &["doctor"],
        &["curl", "ncbct.path/plain"],
        &["curl", "basket.body/plain"],
        &["curl", "customers.path/plain"],
        &["explore", "--budget", "50"],
    ];
    let allow = "--allow-production";
    for command in commands {
        for (profile, more, key) in [
            (says, &[][..], allow),
            (&confirmed, &[], allow),
            (says, &[allow], "confirm-production"),
            ("", &[allow], says),
            (&format!("confirm-production = {:?}", bank.url), &[], says),
        ] {
            if command[0] == "explore" && !more.is_empty() {
                continue;
            }
            let (exit, said, methods) = xs2aspec(profile, &[command, more].concat());
            assert_eq!(exit, Some(2), "{command:?} {profile}: {said}");
            assert!(
                said.contains(key) && said.contains("refusing to send requests"),
                "{command:?} {profile}: {said}"
            );
            assert!(methods.is_empty(), "{command:?} {profile} sent {methods:?}");
        }
    }
    assert!(!Path::new(out).exists(), "nothing ran");

    // An allowed and confirmed production system is only read.
    for (command, reads) in
        [(0, 100), (1, 20), (2, 1), (3, 0), (4, 0), (5, 0)].map(|(at, reads)| (commands[at], reads))
    {
        let (exit, said, methods) = xs2aspec(&confirmed, &[command, &[allow]].concat());
        assert!(methods.iter().all(|method| method == "GET"), "{command:?} sent {methods:?}");
        assert!(methods.len() >= reads, "{command:?} sent {}: {said}", methods.len());
        let prints = command[0] == "curl" && command[1].starts_with("customers");
        assert_eq!(said.contains("curl -"), prints, "{command:?}: {said}");
        if command[0] == "doctor" {
            assert!(said.contains("a production system; only requests that read are sent"), "{said}");
        } else if command[0] == "curl" && !prints {
            assert_eq!(exit, Some(2), "{command:?}: {said}");
            assert!(said.contains("a production system only gets read requests"), "{command:?}: {said}");
        } else {
            assert_ne!(exit, Some(2), "{command:?}: {said}");
        }
    }
    let record = crate::support::read_record(Path::new(out).join("record.jsonl")).unwrap();
    assert!(record.contains(r#""code":"only-read""#));

    // The same server as a test system gets all requests, so the counts above come from a rule, not from an
    // unreachable server.
    let (exit, said, methods) = xs2aspec("environment = \"sandbox\"", commands[1]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(methods.iter().any(|method| method == "POST"), "{methods:?}");
}

/// Sequences are not run, even if each of their requests only reads. Together, requests may have an effect.
#[tokio::test(flavor = "multi_thread")]
async fn no_sequence_is_sent_to_a_production_system() {
    let bank = Counting::start(Some(Config::default())).await;
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("bank.toml"), folder.path().join("out"));
    let run = |profile: &str, more: &[&str]| {
        fs::write(&file, production(&bank.url, profile)).unwrap();
        // Sequences of reads, sequences that create something first, and sequences that use up a quota.
        let areas = ["transaction.stays", "customers.stays", "payment*", "limit.without-psu-ip"];
        let only: Vec<&str> = areas.iter().flat_map(|area| ["--only", area]).collect();
        let files = [file.to_str().unwrap(), "--out", out.to_str().unwrap()];
        let output = tokio::task::block_in_place(|| {
            command().args(["run", "--quiet", "--target"]).args(files).args(only).args(more).output().unwrap()
        });
        (output.status.code(), bank.methods())
    };
    let confirmed = format!("environment = \"production\"\nconfirm-production = {:?}", bank.url);
    let (_, sent) = run(&confirmed, &["--allow-production"]);
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    let cases: Vec<serde_json::Value> =
        record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let exchanges = cases.iter().filter(|event| event["event"] == "exchange");
    let suite = xs2aspec_suite::Suite::load(xs2aspec_suite::Tree::embedded()).unwrap();
    for exchange in exchanges {
        let case = suite.case(exchange["case"].as_str().unwrap()).unwrap();
        assert!(case.only_reads(), "{} was sent", case.id);
    }
    assert!(!sent.is_empty() && sent.iter().all(|method| method == "GET"), "{sent:?}");
    // The previous run used calls of the daily quota, which the profile declares unused.
    let (exit, all) = run("environment = \"sandbox\"", &["--skip", "limit.without-psu-ip"]);
    assert_eq!(exit, Some(0));
    assert!(all.len() > 10 * sent.len(), "{} and {}", all.len(), sent.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_is_followed() {
    let elsewhere = stub::server(ResponseTemplate::new(201)).await;
    let redirect = ResponseTemplate::new(307).insert_header("location", format!("{}/v1/", elsewhere.uri()));
    let here = stub::server(redirect).await;
    let folder = TempDir::new().unwrap();
    let output = tokio::task::block_in_place(|| {
        command()
            // Uses both HTTP clients: the one that reuses connections, and the one for exact header names.
            .args(["run", "--quiet", "--only", "ncbct.path", "--only", "http.field-names/ncbct", "--target"])
            .args([&here.uri(), "--out"])
            .arg(folder.path())
            .output()
            .unwrap()
    });
    assert_eq!(output.status.code(), Some(1), "a redirect is no acceptance");
    assert!(stub::received(&here).await > 0);
    assert_eq!(stub::received(&elsewhere).await, 0, "signed headers went to another host");
}
