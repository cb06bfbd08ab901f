//! Targets that show a created resource only after a delay.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use xs2aspec_record::Verdict;

use super::turn::{Gateway, Ran, run, turned};

/// Runs against a target that shows a payment this long after its creation.
fn shown_after(time: Duration) -> Ran {
    let made = Mutex::new(Instant::now());
    let error = r#"{"tppMessages":[{"category":"ERROR","code":"RESOURCE_UNKNOWN"}]}"#;
    let gateway = Gateway::start(None, move |request| {
        if request.starts_with(b"POST /v1/payments/") {
            *made.lock().unwrap() = Instant::now();
        }
        let is_late = request.starts_with(b"GET /v1/payments/") && made.lock().unwrap().elapsed() < time;
        is_late.then(|| turned("404 Not Found", "application/json", error))
    });
    // One case at a time: another new payment would hide the payment again.
    let cases = ["basket.payment-status/own", "basket.payment-status.shown-to/another-tpp"];
    run(&gateway.url, &["--only", cases[0], "--only", cases[1], "--jobs", "1"])
}

#[test]
fn a_payment_that_shows_a_moment_later_is_waited_for() {
    let ran = shown_after(Duration::from_millis(300));
    let of = |id: &str| ran.verdicts.iter().find(|verdict| verdict.case == id).unwrap();
    let own = of("basket.payment-status/own");
    assert_eq!(own.verdict, Verdict::Pass, "{own:?}");
    assert!(own.observations.iter().any(|seen| seen.contains("after 750 ms")), "{own:?}");
    assert_eq!(of("basket.payment-status.shown-to/another-tpp").verdict, Verdict::Pass);
    assert_eq!((ran.count(Verdict::Inconclusive), ran.code), (0, Some(0)), "{}", ran.said);
    let again = ran.exchanges.iter().filter(|exchange| exchange.step.starts_with("request/")).count();
    assert_eq!(again, 2, "the others wait before they ask");
}

#[test]
fn a_payment_that_never_shows_is_not_accepted() {
    let ran = shown_after(Duration::from_secs(3600));
    let own = ran.verdicts.iter().find(|verdict| verdict.case == "basket.payment-status/own").unwrap();
    assert_ne!(own.verdict, Verdict::Pass, "{own:?}");
    assert!(own.observations.is_empty() && ran.code != Some(0), "{own:?}\n{}", ran.said);
}
