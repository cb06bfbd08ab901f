//! Targets that start to reject everything in the middle of a run, because of an expired token, a ban or a
//! login page. Also gateways that limit the rate of requests.

use std::{
    collections::BTreeSet,
    fs,
    io::{Result, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use tempfile::TempDir;
use tokio::runtime::Runtime;
use xs2aspec_record::{
    Came, CaseVerdict, Culprit, Exchange, Foreign, Got, Hint, Look, PlainRejected, Reason, Verdict,
};
use xs2aspec_reference::{Bank, Config};

use super::server::message;
use crate::support::{REFERENCE, command, is_again, printed, recorded};

/// Returns a response to send instead of that of the bank.
type Answers = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

/// A reference bank behind a gateway that responds to some requests itself.
///
/// `wiremock` cannot forward the bytes of another server or close a connection without a response.
pub(super) struct Gateway {
    pub(super) url: String,
    _bank: (Runtime, Bank),
}

impl Gateway {
    /// Starts a gateway. `answer` may return a response to send instead of that of the bank. Empty bytes
    /// close the connection.
    pub(super) fn start(
        fault: Option<&str>,
        answer: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        // Not generic, so that the test program has this code once, and not once for each response.
        Self::started(fault, Arc::new(answer))
    }

    fn started(fault: Option<&str>, answer: Arc<Answers>) -> Self {
        let runtime = Runtime::new().unwrap();
        let faults = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        let bank =
            runtime.block_on(xs2aspec_reference::start(Config { faults, ..Config::default() })).unwrap();
        let address = bank.address();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                let answer = Arc::clone(&answer);
                thread::spawn(move || -> Result<()> {
                    client.set_nodelay(true)?;
                    loop {
                        let request = message(&mut client)?;
                        let answered = if let Some(answered) = answer(&request) {
                            if answered.is_empty() {
                                return Ok(());
                            }
                            answered
                        } else {
                            let mut bank = TcpStream::connect(address)?;
                            bank.write_all(&request)?;
                            message(&mut bank)?
                        };
                        client.write_all(&answered)?;
                        client.flush()?;
                    }
                });
            }
        });
        Self { url, _bank: (runtime, bank) }
    }
}

/// The exit code, the output and the record of a run.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) said: String,
    pub(super) verdicts: Vec<CaseVerdict>,
    pub(super) exchanges: Vec<Exchange>,
}

impl Ran {
    pub(super) fn count(&self, word: Verdict) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.verdict == word).count()
    }
}

fn profile(folder: &Path, url: &str) -> String {
    let file = folder.join("bank.toml");
    fs::write(&file, REFERENCE.replace("\"http://127.0.0.1\"", &format!("{url:?}"))).unwrap();
    file.display().to_string()
}

pub(super) fn run(url: &str, arguments: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let target = profile(folder.path(), url);
    run_at(&target, &folder, arguments)
}

/// Runs against a target, given as the file of its profile or its URL.
fn run_at(target: &str, folder: &TempDir, arguments: &[&str]) -> Ran {
    let out = folder.path().join("out");
    let xs2aspec = || command();
    let output = xs2aspec()
        .args(["run", "--quiet", "--seed", "1", "--target", target, "--out"])
        .arg(&out)
        .args(arguments)
        .output()
        .unwrap();
    let said = printed(&output);
    let (verdicts, exchanges) = recorded(&out, &said);
    // Rejudging the record gives the same verdicts.
    let again = xs2aspec().arg("rejudge").arg(&out).output().unwrap();
    let judged = String::from_utf8(again.stdout).unwrap() + &String::from_utf8(again.stderr).unwrap();
    // Verdicts that depend on other requests do not follow from the responses of a case.
    let untold = verdicts.iter().filter(|verdict| verdict.unconfirmed).count();
    let expected = format!(" 0 changed, {untold} could not be rejudged");
    assert!(judged.contains(&expected), "{expected}: {judged}");
    Ran { code: output.status.code(), said, verdicts, exchanges }
}

/// A marker in the responses of a target that has turned.
const MARK: &str = "no more of this";

pub(super) fn turned(status: &str, media: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

#[test]
fn a_key_that_is_accepted_is_no_reason_for_a_rejection() {
    let page = turned("400 Bad Request", "text/html; charset=utf-8", "<html>Status 400</html>");
    let is_payment = |request: &[u8]| request.starts_with(b"POST /v1/p");
    let gateway = Gateway::start(None, move |request| is_payment(request).then(|| page.clone()));
    let why = |ran: &Ran| {
        let plain = ran.verdicts.iter().find(|verdict| verdict.case == "ncbct.path/plain");
        let Reason::PlainRejected(rejected) = plain.unwrap().why() else { panic!("{}", ran.said) };
        *rejected
    };
    let ran = run(&gateway.url, &["--only", "ncbct.path", "--only", "transaction.path"]);
    assert_eq!(ran.code, Some(3), "{}", ran.said);
    let PlainRejected { came, hint, .. } = why(&ran);
    let page = Got { foreign: Some(Foreign::Page), ..Got::status(400) };
    assert_eq!((came, hint), (Came::Got(page), Some(Hint::Values)), "{}", ran.said);
    // Without a request that reads, it is unknown whether the target knows the key.
    let ran = run(&gateway.url, &["--only", "ncbct.path"]);
    assert_eq!(why(&ran).hint, Some(Hint::TestKey), "{}", ran.said);
}

#[test]
fn what_a_target_refuses_when_it_refuses_everything_says_nothing() {
    let error = format!(r#"{{"tppMessages":[{{"category":"ERROR","code":"FORBIDDEN","text":"{MARK}"}}]}}"#);
    let page = format!("<html>{MARK}</html>");
    let answers = [
        turned("429 Too Many Requests", "application/json", &error),
        turned("401 Unauthorized", "application/json", &error),
        turned("403 Forbidden", "application/json", &error),
        turned("503 Service Unavailable", "application/json", &error),
        turned("200 OK", "text/html", &page),
        turned("403 Forbidden", "text/html", &page),
    ];
    let turns = [(26, &["--only", "periodic.months.duplicate"][..]), (501, &["--depth", "quick"])];
    // In parallel, since most of the time the runs wait for the target to recover.
    thread::scope(|all| {
        for (at, arguments) in turns {
            for answer in &answers {
                all.spawn(move || is_not_held_against_it(at, arguments, answer));
            }
        }
    });
}

/// Asserts that a target is not accused of anything, if it sends this response from this request on.
fn is_not_held_against_it(at: usize, arguments: &[&str], answer: &[u8]) {
    let (seen, given) = (AtomicUsize::new(0), answer.to_owned());
    let what = format!("{at} {}", String::from_utf8_lossy(answer));
    let gateway = Gateway::start(Some("periodic.months.duplicate/only-adjacent"), move |_| {
        (seen.fetch_add(1, Ordering::SeqCst) + 1 >= at).then(|| given.clone())
    });
    let ran = run(&gateway.url, arguments);
    assert!(matches!(ran.code, Some(1 | 3)), "{:?} {what}\n{}", ran.code, ran.said);
    let is_turned = |exchange: &&Exchange| {
        // The record marks the request as resent, and it is not the one that the case was judged by.
        if is_again(exchange.look) {
            return false;
        }
        let body = exchange.response.as_ref().and_then(|response| response.body.as_ref());
        body.is_some_and(|body| body.shown().contains(MARK))
    };
    let met: BTreeSet<&str> =
        ran.exchanges.iter().filter(is_turned).map(|exchange| exchange.case.as_str()).collect();
    assert!(met.len() > 5, "{what}\n{}", ran.said);
    for verdict in ran.verdicts.iter().filter(|verdict| met.contains(verdict.case.as_str())) {
        let is_answered = verdict.expected.starts_with("answered");
        assert!(
            is_answered
                || !matches!(verdict.verdict, Verdict::Pass | Verdict::Fail)
                || verdict.control.is_none(),
            "{verdict:?}\n{what}"
        );
    }
    let unconfirmed: BTreeSet<&Reason> = ran
        .verdicts
        .iter()
        .filter(|verdict| verdict.unconfirmed)
        .filter_map(|verdict| verdict.reason.as_ref())
        .collect();
    let is_busy = what.contains("429") || what.contains("503");
    assert!(is_busy || !unconfirmed.is_empty(), "{what}\n{}", ran.said);
    // At most one immediate and one late failure for each of 7 operations.
    assert!(unconfirmed.len() <= 14, "{unconfirmed:#?}");
}

#[test]
fn a_target_that_is_sound_to_the_end_is_asked_a_little_more() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&arrived);
    let gateway = Gateway::start(None, move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        None
    });
    let ran = run(&gateway.url, &["--depth", "quick"]);
    assert_eq!((ran.code, ran.count(Verdict::Inconclusive)), (Some(0), 0), "{}", ran.said);
    let kept = ran.exchanges.len();
    assert_eq!(arrived.load(Ordering::SeqCst), kept, "each request is in the record");
    let again = ran.exchanges.iter().filter(|one| is_again(one.look)).count();
    assert!(again > 0 && again < kept / 20, "{again} of {kept} requests are asked again in between");
}

#[test]
fn a_gateway_that_lets_through_so_much_in_a_second_breaks_nothing() {
    // A token bucket of 30, refilled with 100 per second.
    let bucket = Mutex::new((30.0_f64, Instant::now()));
    let (refused, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (told, counted) = (Arc::clone(&refused), Arc::clone(&asked));
    let gateway = Gateway::start(None, move |_| {
        let mut bucket = bucket.lock().unwrap();
        let filled = bucket.0 + bucket.1.elapsed().as_secs_f64() * 100.0;
        *bucket = (filled.min(30.0), Instant::now());
        counted.fetch_add(1, Ordering::SeqCst);
        if bucket.0 >= 1.0 {
            bucket.0 -= 1.0;
            return None;
        }
        told.fetch_add(1, Ordering::SeqCst);
        Some(turned("429 Too Many Requests", "text/html", "<html>slow down</html>"))
    });
    let ran = run(&gateway.url, &["--only", "periodic.months*", "--only", "customers*"]);
    let (refused, all) = (refused.load(Ordering::SeqCst), asked.load(Ordering::SeqCst));
    assert_eq!(ran.count(Verdict::Fail) + ran.count(Verdict::Inconclusive), 0, "{}", ran.said);
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    assert!(refused > 0 && refused * 4 < all, "{refused} of {all} requests were too many");
    // X-Request-ID is unique per call, so that of a resent request is another one.
    let ids: BTreeSet<_> =
        ran.exchanges.iter().filter_map(|one| one.request.header("X-Request-ID")).collect();
    assert_eq!(ids.len(), ran.exchanges.len());
    assert!(ran.exchanges.iter().any(|exchange| exchange.attempt > 1));
}

#[test]
fn a_gateway_without_time_is_not_taken_for_a_quota() {
    thread::scope(|all| {
        all.spawn(|| has_no_time(None, Verdict::Pass));
        all.spawn(|| has_no_time(Some("limit.without-psu-ip/unlimited"), Verdict::Fail));
    });
}

/// Asserts the verdict of the fifth call, while the bank is busy for every second call without
/// PSU-IP-Address.
fn has_no_time(fault: Option<&str>, expected: Verdict) {
    let seen = AtomicUsize::new(0);
    let gateway = Gateway::start(fault, move |request| {
        let text = String::from_utf8_lossy(request).to_ascii_lowercase();
        let is_call = text.starts_with("get /v1/accounts/") && !text.contains("psu-ip-address");
        let is_busy = is_call && seen.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        is_busy.then(|| turned("429 Too Many Requests\r\nRetry-After: 0", "text/plain", "slow down"))
    });
    // One case at a time: parallel requests would change which calls find the bank busy.
    let ran = run(&gateway.url, &["--only", "limit.without-psu-ip", "--jobs", "1"]);
    let fifth = ran.verdicts.iter().find(|verdict| verdict.case == "limit.without-psu-ip/fifth").unwrap();
    assert_eq!(fifth.verdict, expected, "{fifth:?}\n{}", ran.said);
    let reached = ran.exchanges.iter().filter(|exchange| {
        let status = exchange.response.as_ref().map_or(0, |response| response.status);
        let is_call = exchange.request.url.contains("/transactions/")
            && !exchange.request.headers.iter().any(|header| header.0 == "PSU-IP-Address");
        is_call && (status == 200 || status == 429 && exchange.attempt > 1)
    });
    assert!(reached.count() >= 5, "five calls reach the bank");
}

#[test]
fn a_quota_that_earlier_runs_used_up_says_nothing() {
    let gateway = Gateway::start(None, |_| None);
    let case = "header.psu-ip-address.transaction/absent";
    for run_of_the_day in 1..=5 {
        let ran = run(&gateway.url, &["--only", "header.psu-ip-address.transaction"]);
        let verdict = ran.verdicts.iter().find(|verdict| verdict.case == case).unwrap();
        let (word, code) = if run_of_the_day < 5 { (Verdict::Pass, 0) } else { (Verdict::Inconclusive, 3) };
        assert_eq!((verdict.verdict, ran.code), (word, Some(code)), "{run_of_the_day}: {verdict:?}");
        let expected = (run_of_the_day == 5).then_some(Reason::DailyCalls);
        assert_eq!(verdict.reason, expected, "{run_of_the_day}");
    }
}

#[test]
fn a_bank_that_does_not_know_a_payment_has_baskets_all_the_same() {
    // Like a REST service, it responds with 404 to a basket of payments that it did not create.
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let gateway = Gateway::start(None, move |request| {
        let text = String::from_utf8_lossy(request);
        let is_unknown =
            text.starts_with("POST /v1/signing-baskets") && text.contains("paymentIds\":[\"none");
        counter.fetch_add(usize::from(text.starts_with("POST /v1/signing-baskets")), Ordering::SeqCst);
        let error = r#"{"tppMessages":[{"category":"ERROR","code":"RESOURCE_UNKNOWN"}]}"#;
        is_unknown.then(|| turned("404 Not Found", "application/json", error))
    });
    let ran = run_at(&gateway.url, &TempDir::new().unwrap(), &["--only", "basket.body/plain"]);
    let plain = ran.verdicts.iter().find(|verdict| verdict.case == "basket.body/plain").unwrap();
    assert_eq!(plain.verdict, Verdict::Pass, "{plain:?}\n{}", ran.said);
    assert!(asked.load(Ordering::SeqCst) > 1, "the operation was looked for first");
}

#[test]
fn a_request_with_many_lawful_forms_that_is_refused_once_and_then_accepted_is_flaky() {
    let seen = AtomicUsize::new(0);
    let error = r#"{"tppMessages":[{"category":"ERROR","code":"FORMAT_ERROR","text":"not now"}]}"#;
    let refusal = turned("400 Bad Request", "application/json", error);
    let gateway = Gateway::start(None, move |request| {
        let is_one = String::from_utf8_lossy(request).contains("withAccounts=");
        (is_one && seen.fetch_add(1, Ordering::SeqCst) == 1).then(|| refusal.clone())
    });
    let ran = run(&gateway.url, &["--only", "customers.path/pairs-*"]);
    assert!(ran.verdicts.iter().all(|verdict| verdict.verdict.is_pass()), "{}", ran.said);
    // The record states it.
    let is_seen = |verdict: &&CaseVerdict| matches!(verdict.reason, Some(Reason::RejectedOnce { .. }));
    let rejected: Vec<_> = ran.verdicts.iter().filter(is_seen).collect();
    let [verdict] = rejected.as_slice() else { panic!("{}", ran.said) };
    let again = ran.exchanges.iter().filter(|one| one.case == verdict.case && one.look.is_none());
    let steps: Vec<&str> = again.map(|one| one.step.as_str()).collect();
    assert_eq!(steps, ["request", "request/other-values-2", "request/other-values-3"], "{verdict:?}");
}

#[test]
fn a_refusal_is_held_against_a_bank_if_it_comes_again_with_other_values() {
    const CASE: &str = "header.psu-user-agent.ncbct/PSU-User-Agent/punctuation";
    // The rejected requests, and the verdict of the case.
    let table: [(&[usize], Verdict, usize); 4] = [
        (&[], Verdict::Pass, 1),
        (&[0], Verdict::Flaky, 3),
        (&[0, 1], Verdict::Fail, 2),
        (&[0, 2], Verdict::Inconclusive, 3),
    ];
    for (refused, word, requests) in table {
        let seen = AtomicUsize::new(0);
        let gateway = Gateway::start(None, move |request| {
            let text = String::from_utf8_lossy(request).to_ascii_lowercase();
            let is_asked = text.contains("psu-user-agent: mozilla");
            (is_asked && refused.contains(&seen.fetch_add(1, Ordering::SeqCst)))
                .then(|| turned("409 Conflict", "text/plain", "as before"))
        });
        let ran = run(&gateway.url, &["--only", CASE]);
        let verdict = ran.verdicts.iter().find(|verdict| verdict.case == CASE).unwrap();
        assert_eq!(verdict.verdict, word, "{refused:?}\n{}", ran.said);
        let is_own = |one: &&Exchange| one.case == CASE && one.step.starts_with("request");
        assert_eq!(ran.exchanges.iter().filter(is_own).count(), requests, "{refused:?}");
    }
}

#[test]
fn a_valid_request_that_is_rejected_after_another_one_is_a_violation_in_its_company() {
    const AFTER: &str = "header.psu-user-agent.ncbct/PSU-User-Agent/punctuation";
    const CASE: &str = "ncbct.creditor-name.length/creditorName/words";
    let is_after = AtomicBool::new(false);
    let gateway = Gateway::start(None, move |request| {
        let text = String::from_utf8_lossy(request).to_ascii_lowercase();
        let is_rejected = is_after.swap(text.contains("psu-user-agent: mozilla"), Ordering::SeqCst);
        is_rejected.then(|| turned("409 Conflict", "text/plain", "one at a time"))
    });
    let ran = run(&gateway.url, &["--jobs", "1", "--only", AFTER, "--only", CASE]);
    let verdict = ran.verdicts.iter().find(|verdict| verdict.case == CASE).unwrap();
    assert_eq!(verdict.verdict, Verdict::Fail, "{}", ran.said);
    let Some(Culprit::Company { cases }) = verdict.culprit.as_deref() else { panic!("{verdict:?}") };
    assert_eq!(cases.last().map(String::as_str), Some(AFTER));
    let judged = ran.exchanges.iter().find(|one| Some(one.number) == verdict.exchange).unwrap();
    assert_eq!((judged.step.as_str(), judged.look), ("in-company/request", Some(Look::Company)));
}
