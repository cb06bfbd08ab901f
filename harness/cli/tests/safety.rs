//! Payments are made where they are worth nothing, and nowhere else.

use std::{
    fs,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use xs2aspec_record::{Event, Verdict};
use xs2aspec_runner::{Options, Profile, Session};
use xs2aspec_suite::{Depth, Suite, Tree};

/// A target that is not this machine: an address for documentation (RFC 5737), which nobody has.
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
        let output = Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
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
        assert!(said.contains(key) && said.contains("nothing was sent"), "{said}");
        assert!(took < Duration::from_secs(5));
        assert!(!folder.path().join("out").exists(), "nothing ran");
    }
    // With the opt-in it is tried, and is not there.
    assert_eq!(run(Some("environment = \"sandbox\""), &[]).0, Some(3));
}

#[tokio::test]
async fn a_production_system_is_only_read() {
    let bank = xs2aspec_reference::start(xs2aspec_reference::Config::default()).await.unwrap();
    let mut profile = Profile::reference(&bank.base_url()).unwrap();
    profile.is_production = true;
    let suite = Arc::new(Suite::load(Tree::embedded()).unwrap());
    let session = Session::new(Arc::clone(&suite), profile, 1, chrono::Utc::now()).unwrap();
    let plan = suite.plan(&[], &[], Depth::Quick).unwrap();
    let options = Options {
        jobs: 8,
        fail_fast: false,
        depth: Depth::Quick,
        only: vec![],
        skip: vec![],
        arguments: vec![],
        shard: None,
        quality: None,
        fault: None,
        variations: vec![],
        waivers: xs2aspec_runner::waiver::WaiversFile::default(),
        earlier: None,
        leave_in_doubt: false,
        interrupt: Arc::default(),
    };
    let (mut methods, mut judged, mut left) = (Vec::new(), 0, 0);
    xs2aspec_runner::run(Arc::new(session), &plan, &options, |event| match event {
        Event::Exchange(exchange) => methods.push(exchange.request.method.clone()),
        Event::Verdict(verdict) if verdict.verdict == Verdict::NotApplicable => {
            assert!(verdict.reason.as_ref().unwrap().contains("only read"), "{:?}", verdict.reason);
            left += 1;
        }
        Event::Verdict(_) => judged += 1,
        _ => {}
    })
    .await;
    methods.sort_unstable();
    methods.dedup();
    assert_eq!(methods, ["GET"]);
    assert!(judged > 50 && left > 200, "{judged} judged, {left} left out");
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_is_followed() {
    use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};
    let (here, elsewhere) = (MockServer::start().await, MockServer::start().await);
    let moved = ResponseTemplate::new(307).insert_header("Location", format!("{}/v1/", elsewhere.uri()));
    Mock::given(any()).respond_with(moved).mount(&here).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(201)).mount(&elsewhere).await;
    let folder = TempDir::new().unwrap();
    let output = tokio::task::block_in_place(|| {
        Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
            // Over the client that reuses connections, and with exact header names.
            .args(["run", "--quiet", "--only", "ncbct.path", "--only", "http.field-names/ncbct", "--target"])
            .args([&here.uri(), "--out"])
            .arg(folder.path())
            .output()
            .unwrap()
    });
    assert_eq!(output.status.code(), Some(1), "a redirect is no acceptance");
    assert!(!here.received_requests().await.unwrap().is_empty());
    assert!(elsewhere.received_requests().await.unwrap().is_empty(), "signed headers went to another host");
}
