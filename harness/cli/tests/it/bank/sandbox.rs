//! A typical test system: slow, with a rate limit in its headers, and sometimes unavailable.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Exchange, Verdict};
use xs2aspec_reference::{Busy, Config, Fault, start};

use crate::support::{REFERENCE, command, printed, recorded};

/// Runs against such a bank. Returns the exit code, the output, the verdicts and the exchanges.
async fn run(
    (busy, fault): (Busy, Option<&str>),
    folder: &Path,
    more: &[&str],
) -> (Option<i32>, String, Vec<CaseVerdict>, Vec<Exchange>) {
    let faults: Vec<Fault> = fault.into_iter().map(|name| name.parse().unwrap()).collect();
    let bank = start(Config { faults, busy, ..Config::default() }).await.unwrap();
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    assert_ne!(profile, REFERENCE);
    fs::write(folder.join("bank.toml"), profile).unwrap();
    let line = ["run", "--target", "bank.toml", "--seed", "1", "--out", "out"];
    let output =
        tokio::task::block_in_place(|| command().current_dir(folder).args(line).args(more).output().unwrap());
    let said = printed(&output);
    let (verdicts, exchanges) = recorded(&folder.join("out"), &said);
    (output.status.code(), said, verdicts, exchanges)
}

fn statuses(exchanges: &[Exchange], status: u16) -> usize {
    let answers = exchanges.iter().filter_map(|exchange| exchange.response.as_ref());
    answers.filter(|answer| answer.status == status).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_names_its_limit_never_has_to_say_it_twice() {
    let folder = TempDir::new().unwrap();
    let busy = Busy {
        latency: Duration::from_millis(20),
        per_second: Some(60),
        unavailable: Some(100),
        ..Busy::default()
    };
    let begun = Instant::now();
    let (_, said, verdicts, exchanges) = run((busy, None), folder.path(), &["--requests", "300"]).await;
    let took = begun.elapsed().as_secs_f64();
    // The first response states the limit, and the first request is sent alone.
    assert_eq!(statuses(&exchanges, 429), 0, "{said}");
    assert!(statuses(&exchanges, 503) > 0, "{said}");
    let findings: Vec<_> = verdicts.iter().filter(|verdict| !verdict.findings.is_empty()).collect();
    assert!(findings.is_empty(), "{findings:?}");
    // The bank was unavailable only for a moment.
    let told = verdicts.iter().filter(|verdict| verdict.verdict != Verdict::Flaky);
    let reasons: Vec<_> = told.filter_map(|verdict| verdict.reason.as_ref()).collect();
    assert!(!reasons.iter().any(|reason| reason.to_string().contains("503")), "{reasons:?}");
    let rate = f64::from(u32::try_from(exchanges.len()).unwrap()) / took;
    assert!(rate <= 61.0, "{rate} requests a second");

    let fault = "periodic.months.duplicate/only-adjacent";
    let more = ["--requests", "400", "--only", "periodic.months", "--quiet"];
    let (exit, said, verdicts, exchanges) = run((busy, Some(fault)), folder.path(), &more).await;
    assert_eq!((exit, statuses(&exchanges, 429)), (Some(1), 0), "{said}");
    let failed = verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail);
    assert!(
        failed.clone().count() > 0 && failed.clone().all(|one| one.clause == "periodic.months.duplicate"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_takes_long_says_so_at_its_start() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("bank.toml");
    let bank = start(Config::default()).await.unwrap();
    let limits = format!("{}\"\nlimits.per-second = 5", bank.base_url());
    fs::write(&out, REFERENCE.replace("http://127.0.0.1\"", &limits)).unwrap();
    let line = ["run", "--target", "bank.toml", "--requests", "300", "--out", "out"];
    let mut run = command();
    let mut run = run
        .current_dir(folder.path())
        .args(line)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = tokio::task::block_in_place(|| {
        let lines = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
        let said: Vec<String> = lines.take(2).collect();
        run.kill().unwrap();
        run.wait().unwrap();
        said
    });
    assert!(
        said[1].starts_with("about ") && said[1].ends_with(" seconds at 5 requests a second"),
        "{said:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_does_not_answer_is_given_up_when_it_was_said() {
    let folder = TempDir::new().unwrap();
    let busy = Busy { latency: Duration::from_secs(60), ..Busy::default() };
    let bank = start(Config { busy, ..Config::default() }).await.unwrap();
    let text = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"\ndeadline-ms = 3000", bank.base_url()));
    fs::write(folder.path().join("bank.toml"), text).unwrap();
    let begun = Instant::now();
    let said = tokio::task::block_in_place(|| {
        let line = [
            "run",
            "--target",
            "bank.toml",
            "--only",
            "periodic.months",
            "--only",
            "ncbct.path",
            "--only",
            "basket.body",
            "--out",
            "out",
        ];
        let output = command().current_dir(folder.path()).args(line).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        printed(&output)
    });
    let took = begun.elapsed().as_secs();
    // The first baseline requests wait for their deadline in parallel, and requests that depend on them are
    // not sent.
    assert!(took < 9, "{took} s: {said}");
    assert!(said.contains("no response yet; without one, the run stops in about 1 second\n"), "{said}");
    assert!(said.contains("no baseline request was accepted, so nothing else was tested\n"), "{said}");
    assert!(said.contains("\nno valid request was accepted: there was no response; try "), "{said}");
    let (_, exchanges) = recorded(&folder.path().join("out"), &said);
    assert!(exchanges.iter().all(|exchange| exchange.case.ends_with("/plain")), "{exchanges:?}");
    assert_eq!(exchanges.iter().filter(|exchange| exchange.case.starts_with("basket.")).count(), 0);
}
