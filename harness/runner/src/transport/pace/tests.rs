//! Tests of the pace of requests and of resending.

use super::*;

fn pace(change: impl FnOnce(&mut Limits)) -> Pace {
    let mut limits =
        xs2aspec_judge::Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded())
            .unwrap()
            .limits;
    change(&mut limits);
    Pace::new(limits)
}

fn answer(status: u16, retry_after: &str) -> Answer {
    let headers = vec![("Retry-After".to_owned(), retry_after.to_owned())];
    Answer { status, headers, body: vec![] }
}

#[expect(clippy::unnecessary_wraps, reason = "same type as the result of an exchange")]
fn busy(status: u16, retry_after: &str) -> Result<Answer, ExchangeError> {
    Ok(answer(status, retry_after))
}

#[tokio::test(start_paused = true)]
async fn requests_keep_their_distance_each_operation_its_own() {
    let pace = pace(|limits| {
        limits.interval = Some(Duration::from_millis(10));
        limits.intervals.insert("ncbct".into(), Duration::from_millis(100));
    });
    let start = Instant::now();
    let mut seen = Vec::new();
    for operation in ["ncbct", "basket", "basket", "ncbct", "basket"] {
        pace.wait(operation).await;
        seen.push(start.elapsed().as_millis());
    }
    // The timer of the runtime has a resolution of one millisecond.
    let expected = [0, 10, 20, 100, 110];
    assert!(seen.iter().zip(expected).all(|(seen, due)| (due..=due + 2).contains(seen)), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_target_asks_for_holds_everything_back() {
    let pace = pace(|_| {});
    let start = Instant::now();
    assert!(pace.again("POST", &busy(429, "7"), 1, Instant::now()).await);
    assert_eq!(start.elapsed().as_secs(), 0, "it is the next request that waits");
    pace.wait("basket").await;
    assert_eq!(start.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_twice_that_may_have_made_something() {
    let broken = || Err(ExchangeError::Broken("".into()));
    let gone = || Err(ExchangeError::Unreachable("".into()));
    let late = || Err(ExchangeError::Deadline(Duration::ZERO));
    for (method, answer, attempt, again) in [
        ("POST", busy(429, "1"), 1, true),
        ("POST", busy(429, "1"), 2, true),
        ("POST", busy(429, "1"), 3, false),
        ("POST", busy(429, "31"), 1, false),
        ("POST", busy(429, "soon"), 1, true),
        ("POST", busy(429, "soon"), 3, false),
        ("POST", busy(503, "soon"), 1, false),
        ("GET", busy(503, "soon"), 1, true),
        ("POST", busy(503, "1"), 1, false),
        ("GET", busy(503, "1"), 1, true),
        ("POST", busy(502, ""), 1, false),
        ("GET", busy(502, ""), 1, true),
        ("GET", busy(504, ""), 2, true),
        ("GET", busy(504, ""), 3, false),
        ("GET", busy(500, "1"), 1, false),
        ("POST", gone(), 1, true),
        ("POST", gone(), 3, false),
        ("POST", broken(), 1, false),
        ("GET", broken(), 1, true),
        ("GET", late(), 1, false),
    ] {
        assert_eq!(
            pace(|_| {}).again(method, &answer, attempt, Instant::now()).await,
            again,
            "{method} {answer:?}"
        );
    }
    let never = pace(|limits| limits.retries = 0);
    assert!(!never.again("GET", &busy(429, "1"), 1, Instant::now()).await && never.held().is_none());
}

#[tokio::test(start_paused = true)]
async fn the_limits_that_a_target_names_are_kept() {
    let naming = |fields: &[(&str, &str)]| {
        let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Answer { status: 200, headers: headers.collect(), body: vec![] }
    };
    let took = Duration::from_millis(1);
    let policed = pace(|_| {});
    policed.wait("ncbct").await;
    let policy = naming(&[("RateLimit-Policy", "\"a\";q=10;w=1")]);
    policed.answered("ncbct", (&policy, false), took, 1);
    assert_eq!(policed.interval(), Some(Duration::from_millis(110)));
    let start = Instant::now();
    for _ in 0..10 {
        policed.wait("ncbct").await;
    }
    assert!(start.elapsed() >= Duration::from_millis(1100), "{:?}", start.elapsed());
    // Nothing is left until a window ends, and nothing is known of the next window.
    let used_up = pace(|_| {});
    let left = |left, reset| naming(&[("X-RateLimit-Remaining", left), ("X-RateLimit-Reset", reset)]);
    used_up.answered("ncbct", (&left("0", "7"), false), took, 1);
    let start = Instant::now();
    used_up.wait("ncbct").await;
    assert_eq!(start.elapsed().as_secs(), 7);
    // A window longer than the longest wait is not paced.
    let daily = pace(|_| {});
    daily.answered("ncbct", (&left("100", "80000"), false), took, 1);
    assert_eq!(daily.interval(), None);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_target_that_is_gone() {
    let pace = pace(|_| {});
    let gone = Err(ExchangeError::Unreachable("".into()));
    for _ in 0..GONE {
        assert!(pace.again("POST", &gone, 1, Instant::now()).await);
    }
    assert!(!pace.again("POST", &gone, 1, Instant::now()).await);
    assert!(!pace.again("POST", &busy(200, ""), 1, Instant::now()).await);
    assert!(pace.again("POST", &gone, 1, Instant::now()).await, "it is back");
}

#[tokio::test(start_paused = true)]
async fn a_target_without_time_is_asked_less_often_and_then_more_often_again() {
    let pace = pace(|_| {});
    let mut sent = Vec::new();
    for _ in 0..20 {
        sent.push(pace.wait("ncbct").await);
    }
    // Busy responses to all of them slow the run down once, not twenty times.
    for sent in &sent {
        pace.again("POST", &busy(429, "soon"), 1, *sent).await;
    }
    let interval = |pace: &Pace| Duration::from_secs_f64(1.0 / pace.slots().rate.unwrap().0);
    assert_eq!(interval(&pace), Duration::from_millis(100));
    let start = Instant::now();
    for _ in 0..3 {
        pace.wait("ncbct").await;
    }
    let took = start.elapsed();
    assert!(
        (FIRST_PAUSE + Duration::from_millis(200)..Duration::from_millis(410)).contains(&took),
        "{took:?}"
    );
    for _ in 0..20 {
        assert!(!pace.again("POST", &busy(201, ""), 1, start).await);
    }
    assert!(interval(&pace) < Duration::from_millis(50), "{:?}", interval(&pace));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_target_that_never_has_time() {
    let pace = pace(|_| {});
    let (answers, pauses) = ALWAYS_BUSY;
    for pause in 1..pauses {
        // All of these were in flight together, so they count as one pause.
        let sent = pace.wait("ncbct").await;
        for _ in 0..answers {
            assert!(pace.again("POST", &busy(429, "soon"), 1, sent).await, "{pause}");
        }
        tokio::time::advance(FIRST_PAUSE).await;
    }
    assert!(!pace.again("POST", &busy(429, "soon"), 1, Instant::now()).await);
    assert!(!pace.again("POST", &busy(200, ""), 1, Instant::now()).await);
    assert!(pace.again("POST", &busy(429, "soon"), 1, Instant::now()).await, "it is no longer busy");
}

#[test]
fn a_time_to_come_back_is_seconds_or_a_date() {
    let wait = |text: &str| retry_after(&answer(429, text));
    assert_eq!(wait(" 12 "), Some(Duration::from_secs(12)));
    assert_eq!(wait("Fri, 31 Dec 1999 23:59:59 GMT"), Some(Duration::ZERO));
    assert_eq!(wait("tomorrow"), None);
    let mut answer = answer(503, "Thu, 31 Jan 2030 12:00:30 GMT");
    answer.headers.push(("Date".into(), "Thu, 31 Jan 2030 12:00:00 GMT".into()));
    assert_eq!(retry_after(&answer), Some(Duration::from_secs(30)));
}
