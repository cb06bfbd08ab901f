//! How fast a target is asked, and when again: the limits of its profile, those that it names in its answers
//! ([`named`]), and what it asks for otherwise (`Retry-After`, RFC 9110 section 10.2.3). A target that has no
//! time (429) is asked half as often from then on, and a little more often with each answer; how many
//! requests it gets at once depends on how fast it answers ([`flow`](super::flow)).

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    flow::{Flow, UnderWay},
    named::{Policy, named},
};
use crate::{
    exchange::{Answer, ExchangeError},
    profile::Limits,
};

/// First wait before a connection is tried again; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// After so many connections in a row that failed a target is gone, and nobody waits for it any more.
const GONE: u32 = 32;

/// First pause of a target that has no time and does not say how long; each further one for the same request
/// is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// After so many answers in a row that the target has no time, nobody waits for it any more.
const ALWAYS_BUSY: u32 = 32;
/// Fewest requests in a second that a busy target slows the run down to.
const SLOWEST: f64 = 2.0;
/// How many more requests in a second there are each second while the target has time.
const RECOVERY: f64 = 10.0;
/// A reset that is no farther away may have passed already.
const SHORT: Duration = Duration::from_secs(1);
/// The second that is looked back to see how fast the target was asked.
const LOOK_BACK: Duration = Duration::from_secs(1);

/// Keeps the limits of one target over all cases that are in flight.
#[derive(Debug)]
pub(crate) struct Pace {
    limits: Limits,
    /// What keeps the number of requests at once; nothing for a bank in this process.
    flow: Option<Flow>,
    slots: Mutex<Slots>,
    /// Connections that failed since the last one that did not.
    failed: AtomicU32,
    /// Answers since the last one for which the target had time.
    busy: AtomicU32,
}

/// From when on something may be sent.
#[derive(Debug, Default)]
struct Slots {
    all: Option<Instant>,
    operations: HashMap<String, Instant>,
    /// As the target asked.
    held: Option<Instant>,
    /// When the requests of the last second were sent.
    sent: VecDeque<Instant>,
    /// Requests in a second that the target seems to have time for, and since when; nothing as long as it has
    /// time for all.
    rate: Option<(f64, Instant)>,
    /// The distance of requests that keeps the limits that the target named.
    named: Option<Duration>,
    /// How long the window of its quota is, where it said so only at its beginning.
    window: Option<Duration>,
    /// How often everything was held back: whoever has a slot of before takes another one.
    holds: u64,
}

impl Slots {
    fn note(&mut self, now: Instant) {
        while self.sent.front().is_some_and(|sent| now - *sent >= LOOK_BACK) {
            self.sent.pop_front();
        }
        self.sent.push_back(now);
    }
}

impl Pace {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            flow: Some(Flow::new()),
            slots: Mutex::default(),
            failed: AtomicU32::new(0),
            busy: AtomicU32::new(0),
        }
    }

    /// The same for a bank in this process, which has time for all.
    pub(crate) fn inside(limits: Limits) -> Self {
        Self { flow: None, ..Self::new(limits) }
    }

    /// Waits until one more request may be under way.
    pub(crate) async fn enter(&self) -> Option<UnderWay<'_>> {
        match &self.flow {
            Some(flow) => Some(flow.enter().await),
            None => None,
        }
    }

    /// Takes an answer, and how long it took among so many requests at once.
    pub(crate) fn answered(&self, operation: &str, answer: &Answer, took: Duration, among: usize) {
        if let Some(flow) = &self.flow {
            if matches!(answer.status, 429) {
                flow.halve(among);
            } else {
                flow.answered(operation, took, among);
            }
        }
        self.learn(answer);
    }

    /// The shortest time between two requests, as it is kept now.
    pub(crate) fn interval(&self) -> Option<Duration> {
        let slots = self.slots();
        let asked = slots.rate.filter(|_| !self.is_always_busy());
        let asked = asked.map(|(rate, _)| Duration::from_secs_f64(1.0 / rate));
        [self.limits.interval, asked, slots.named].into_iter().flatten().max()
    }

    /// Learns the limits that an answer names. A window that is longer than anybody waits is not paced for:
    /// what it leaves is used as long as it lasts.
    fn learn(&self, answer: &Answer) {
        let Some(limits) = named(answer) else { return };
        let longest = self.limits.longest_wait;
        let left = || limits.left.iter().filter(|left| left.reset <= longest);
        let mut slots = self.slots();
        let policies = limits.policies.iter().filter(|policy| policy.window <= longest);
        let mut interval = policies.map(|policy| policy.interval()).max();
        if let (None, Some(quota)) = (interval, limits.quota) {
            // Until the first request of a window ends, the rest of it is all of it.
            let whole = left().filter(|left| left.requests + 1 >= quota && !left.reset.is_zero());
            slots.window = whole.map(|left| left.reset).chain(slots.window).max();
            interval = slots.window.map(|window| Policy { quota, window }.interval());
        }
        let is_paced = interval.is_some();
        let mut held = None;
        for left in left() {
            if left.requests == 0 && (!is_paced || left.reset > SHORT) {
                held = held.max(Some(left.reset.max(SHORT)));
            } else if !is_paced && left.requests > 0 {
                let rest = Policy { quota: left.requests, window: left.reset };
                interval = interval.max(Some(rest.interval()));
            }
        }
        if interval.is_some() {
            let now = Instant::now();
            if slots.named.is_none()
                && let Some(interval) = interval
            {
                // What was sent before the limits were known counts as well.
                let sent = slots.sent.iter().filter(|sent| now - **sent < LOOK_BACK).count();
                let due = now + interval * u32::try_from(sent).unwrap_or(u32::MAX);
                slots.all = slots.all.max(Some(due));
                slots.holds += 1;
            }
            slots.named = interval;
        }
        drop(slots);
        if let Some(held) = held {
            self.hold(held);
        }
    }

    /// Waits until a request of this operation may be sent. When that was.
    pub(crate) async fn wait(&self, operation: &str) -> Instant {
        loop {
            while let Some(held) = self.held() {
                sleep_until(held).await;
            }
            let (slot, holds) = self.slot(operation);
            if let Some(slot) = slot {
                sleep_until(slot).await;
            }
            let now = Instant::now();
            let mut slots = self.slots();
            if slots.holds == holds && slots.held.is_none_or(|held| held <= now) {
                slots.note(now);
                return now;
            }
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next free slot of an operation, none where nothing limits it; and how often everything was
    /// held back until then.
    fn slot(&self, operation: &str) -> (Option<Instant>, u64) {
        let own = self.limits.intervals.get(operation).copied();
        let interval = self.interval();
        let mut slots = self.slots();
        let holds = slots.holds;
        if interval.is_none() && own.is_none() {
            return (None, holds);
        }
        let slot = [slots.all, slots.operations.get(operation).copied()].into_iter().flatten().max();
        let slot = slot.map_or_else(Instant::now, |slot| slot.max(Instant::now()));
        if let Some(interval) = interval {
            slots.all = Some(slot + interval);
        }
        if let Some(interval) = own {
            slots.operations.insert(operation.to_owned(), slot + interval);
        }
        (Some(slot), holds)
    }

    fn held(&self) -> Option<Instant> {
        let slots = self.slots();
        slots.held.filter(|held| *held > Instant::now())
    }

    /// Waits where a request may be sent again, and says whether it may: nothing can have been made by it,
    /// the target does not ask for more patience than there is, and it was not sent too often already.
    /// `attempt` counts from 1; `sent` is when it was sent.
    ///
    /// Nothing was made where there was no connection, or where the target had no time for the request (429,
    /// RFC 6585 section 4). A 503 or a connection that broke says that only of a method that makes nothing
    /// (RFC 9110 section 9.2.1).
    pub(crate) async fn again(
        &self,
        method: &str,
        answer: &Result<Answer, ExchangeError>,
        attempt: u32,
        sent: Instant,
    ) -> bool {
        let only_reads = matches!(method, "GET" | "HEAD");
        let may = attempt <= self.limits.retries;
        if !matches!(answer, Err(ExchangeError::Unreachable(_))) {
            self.failed.store(0, Ordering::Relaxed);
        }
        match answer {
            Ok(answer) if matches!(answer.status, 429 | 503) => {
                let wait = retry_after(answer).unwrap_or(FIRST_PAUSE * 2u32.saturating_pow(attempt - 1));
                self.busy.fetch_add(1, Ordering::Relaxed);
                if wait > self.limits.longest_wait || self.limits.retries == 0 || self.is_always_busy() {
                    return false;
                }
                if answer.status == 429 {
                    self.slow_down(sent);
                }
                self.hold(wait);
                may && (only_reads || answer.status == 429)
            }
            Err(ExchangeError::Unreachable(_)) => {
                let failed = self.failed.fetch_add(1, Ordering::Relaxed);
                if may && failed < GONE {
                    sleep(FIRST_WAIT * 2u32.saturating_pow(attempt - 1)).await;
                    return true;
                }
                false
            }
            Err(ExchangeError::Broken(_)) => may && only_reads,
            Ok(_) => {
                self.speed_up();
                false
            }
            Err(_) => false,
        }
    }

    /// Whether the target had no time for so long that nobody waits for it.
    fn is_always_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) >= ALWAYS_BUSY
    }

    /// Asks half as often as in the last second. What was sent before the last time that happened says
    /// nothing new.
    fn slow_down(&self, sent: Instant) {
        let now = Instant::now();
        let mut slots = self.slots();
        if slots.rate.is_some_and(|(_, since)| sent <= since) {
            return;
        }
        let seen = slots.sent.iter().filter(|sent| now - **sent < LOOK_BACK).count();
        let seen = f64::from(u32::try_from(seen).unwrap_or(u32::MAX));
        let rate = slots.rate.map_or(seen, |(rate, _)| rate.min(seen));
        slots.rate = Some(((rate / 2.0).max(SLOWEST), now));
    }

    /// Asks a little more often: the target has time.
    fn speed_up(&self) {
        self.busy.store(0, Ordering::Relaxed);
        if let Some((rate, _)) = &mut self.slots().rate {
            *rate += RECOVERY / *rate;
        }
    }

    /// Holds back everything for a while.
    fn hold(&self, wait: Duration) {
        let mut slots = self.slots();
        let until = Instant::now() + wait;
        if slots.held.is_some_and(|held| held >= until) {
            return;
        }
        slots.held = Some(until);
        slots.holds += 1;
        if slots.all.is_some() {
            slots.all = Some(until);
        }
    }
}

/// How long a target asks to wait: seconds, or a date, which is held against its own clock where it tells it.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let text = answer.header("retry-after")?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc());
    let now = answer.header("date").and_then(date).unwrap_or_else(Utc::now);
    Some((date(text)? - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(change: impl FnOnce(&mut Limits)) -> Pace {
        let mut limits =
            crate::Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded())
                .unwrap()
                .limits;
        change(&mut limits);
        Pace::new(limits)
    }

    fn answer(status: u16, retry_after: &str) -> Answer {
        let headers = vec![("Retry-After".to_owned(), retry_after.to_owned())];
        Answer { status, headers, body: vec![] }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as an exchange ends")]
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
        // The timer of the runtime has steps of a millisecond.
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
        policed.answered("ncbct", &naming(&[("RateLimit-Policy", "\"a\";q=10;w=1")]), took, 1);
        assert_eq!(policed.interval(), Some(Duration::from_millis(110)));
        let start = Instant::now();
        for _ in 0..10 {
            policed.wait("ncbct").await;
        }
        assert!(start.elapsed() >= Duration::from_millis(1100), "{:?}", start.elapsed());
        // Nothing is left until a window ends, and nothing is known of the next one.
        let used_up = pace(|_| {});
        let left = |left, reset| naming(&[("X-RateLimit-Remaining", left), ("X-RateLimit-Reset", reset)]);
        used_up.answered("ncbct", &left("0", "7"), took, 1);
        let start = Instant::now();
        used_up.wait("ncbct").await;
        assert_eq!(start.elapsed().as_secs(), 7);
        // What is longer than anybody waits is used up as fast as any.
        let daily = pace(|_| {});
        daily.answered("ncbct", &left("100", "80000"), took, 1);
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
        // All of them find no time: that is one thing, and not twenty.
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
        for _ in 1..ALWAYS_BUSY {
            assert!(pace.again("POST", &busy(429, "soon"), 1, Instant::now()).await);
        }
        assert!(!pace.again("POST", &busy(429, "soon"), 1, Instant::now()).await);
        assert!(!pace.again("POST", &busy(200, ""), 1, Instant::now()).await);
        assert!(pace.again("POST", &busy(429, "soon"), 1, Instant::now()).await, "it has time again");
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
}
