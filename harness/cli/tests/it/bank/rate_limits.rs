//! A target that is busy, or that limits the rate of requests.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};
use xs2aspec_record::{Event, Exchange, Verdict};

use crate::support::{ANY_BANK, command, printed, stub};

/// Runs the baseline payment against a server with these limits. Returns the exit code, the output and the
/// record.
fn run(server: &MockServer, limits: &str, only: &[&str]) -> (Option<i32>, String, Vec<Event>) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("bank.toml");
    let text = format!("base-url = {:?}\nlimits = {limits}\n{ANY_BANK}", server.uri());
    fs::write(&file, text).unwrap();
    let output = tokio::task::block_in_place(|| {
        command()
            .args(["run", "--quiet", "--target"])
            .arg(&file)
            .arg("--out")
            .arg(folder.path().join("out"))
            .args(only.iter().flat_map(|only| ["--only", only]))
            .output()
            .unwrap()
    });
    let record = xs2aspec_record::compressed::open_record(&folder.path().join("out/record.jsonl")).unwrap();
    let record = xs2aspec_record::read(std::io::BufReader::new(record)).unwrap();
    let said = printed(&output);
    (output.status.code(), said, record)
}

/// Starts a bank that is busy for the first `times` requests and then creates the payment.
async fn busy(times: u64, status: u16, retry_after: &str) -> MockServer {
    rejecting(times, ResponseTemplate::new(status).insert_header("retry-after", retry_after)).await
}

/// Starts a bank that rejects the first `times` requests and then creates the payment.
async fn rejecting(times: u64, rejection: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    if times > 0 {
        Mock::given(any()).respond_with(rejection).up_to_n_times(times).mount(&server).await;
    }
    let body = serde_json::json!({
        "transactionStatus": "RCVD", "paymentId": "p-1", "_links": {"self": {"href": "/v1/a", "verbs": ["GET"]}, "status": {"href": "/v1/b", "verbs": ["GET"]}},
        "transactionFees": {"currency": "NOK", "amount": "0.00"}, "transactionFeeIndicator": false,
    });
    stub::respond(&server, ResponseTemplate::new(201).set_body_json(body)).await;
    server
}

fn verdict(record: &[Event]) -> Verdict {
    let verdicts = record.iter().rev().find_map(|event| match event {
        Event::Verdict(verdict) => Some(verdict.verdict),
        _ => None,
    });
    verdicts.unwrap()
}

fn exchanges(record: &[Event]) -> impl Iterator<Item = &Exchange> {
    record
        .iter()
        .filter_map(|event| if let Event::Exchange(exchange) = event { Some(exchange) } else { None })
}

fn attempts(record: &[Event]) -> Vec<u32> {
    exchanges(record).map(|exchange| exchange.attempt).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_target_is_asked_again_as_often_as_is_right_and_then_nothing_is_said() {
    let plain = ["ncbct.path/plain"];
    // The target is busy for a moment: the request is resent, and the record has every attempt.
    let (exit, said, record) = run(&busy(2, 429, "1").await, "{ retries = 2 }", &plain);
    assert_eq!((exit, verdict(&record)), (Some(0), Verdict::Pass), "{said}");
    assert_eq!(attempts(&record), [1, 2, 3]);
    assert!(said.contains("3 exchanges (2 retried)"), "{said}");
    // The target is busy for too long: the case is inconclusive.
    for (times, wait, limits, expected) in [
        (9, "1", "{ retries = 1 }", &[1, 2][..]),
        (9, "3600", "{ retries = 1 }", &[1]),
        (9, "1", "{ retries = 0 }", &[1]),
    ] {
        let (exit, said, record) = run(&busy(times, 429, wait).await, limits, &plain);
        assert_eq!((exit, verdict(&record)), (Some(3), Verdict::Inconclusive), "{said}");
        assert_eq!(attempts(&record), expected, "{limits}");
    }
    // A target in maintenance may still have created the payment, so the run sends another one.
    for (times, wait, exit, expected) in [
        (1, "1", Some(0), &[1, 1][..]),
        (2, "1", Some(0), &[1, 1, 1]),
        (9, "1", Some(3), &[1, 1, 1]),
        (9, "3600", Some(3), &[1]),
    ] {
        let (code, said, record) = run(&busy(times, 503, wait).await, "{ retries = 2 }", &plain);
        assert_eq!((code, attempts(&record)), (exit, expected.to_vec()), "{said}");
        assert_eq!(verdict(&record) == Verdict::Pass, exit == Some(0), "{said}");
        let steps: BTreeSet<_> = exchanges(&record).map(|exchange| &exchange.step).collect();
        assert_eq!(steps.len(), expected.len(), "{steps:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_for_quotas_beside_a_short_time_is_no_quota_of_the_day() {
    let quota = |retry_after: Option<&str>| {
        let body = serde_json::json!({"tppMessages": [{"category": "ERROR", "code": "ACCESS_EXCEEDED"}]});
        let response = ResponseTemplate::new(429).set_body_json(body);
        match retry_after {
            Some(time) => response.insert_header("retry-after", time),
            None => response,
        }
    };
    for (retry_after, exit, attempts_made) in
        // Payments have no quota, so a 429 without Retry-After also means a busy moment.
        [(Some("1"), 0, &[1, 2][..]), (None, 0, &[1, 2]), (Some("3600"), 3, &[1])]
    {
        let server = rejecting(1, quota(retry_after)).await;
        let (code, said, record) = run(&server, "{ retries = 2 }", &["ncbct.path/plain"]);
        assert_eq!((code, attempts(&record)), (Some(exit), attempts_made.to_vec()), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_is_asked_in_a_second_than_the_profile_says() {
    let server = busy(0, 429, "1").await;
    let start = Instant::now();
    let (_, said, _) = run(&server, "{ per-second = 50 }", &["ncbct.purpose-code"]);
    let took = start.elapsed();
    let asked = stub::received(&server).await;
    assert!(asked >= 10, "{asked}: {said}");
    let least = Duration::from_millis(20) * u32::try_from(asked - 1).unwrap();
    assert!(took >= least, "{took:?} for {asked} requests");
}
