//! Controls how fast requests are sent, and when they are resent. It follows the limits of the profile, those
//! that the target names in its responses ([`named`]), and `Retry-After` (RFC 9110 section 10.2.3). A busy
//! target (429) gets requests at half the rate, which then rises with each response. The number of concurrent
//! requests depends on the response times ([`flow`](super::flow)).

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep, sleep_until};
use xs2aspec_judge::{
    answer::{Answer, ExchangeError, retry_after},
    profile::Limits,
};

use super::{
    flow::{Flow, UnderWay},
    named::{Policy, named},
};

/// First pause before a connection is retried. Each further pause is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// After this many failed connections in a row, the target counts as gone and is no longer waited for.
const GONE: u32 = 32;

/// First pause for a busy target without `Retry-After`. Each further pause for the same request is twice as
/// long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Number of consecutive busy responses, and of pauses among them, after which a busy target is no longer
/// waited for. Busy responses to concurrent requests count as one pause.
const ALWAYS_BUSY: (u32, u32) = (32, 4);
/// Lowest rate to which a busy target slows the run, in requests per second.
const SLOWEST: f64 = 2.0;
/// Growth of the rate while the target is not busy, in requests per second: the gain per second, and the
/// minimum gain per response.
const RECOVERY: (f64, f64) = (10.0, 0.25);
/// A reset within this time may have passed already.
const SHORT: Duration = Duration::from_secs(1);
/// The period over which the sending rate is measured.
const LOOK_BACK: Duration = Duration::from_secs(1);

/// Enforces the limits of one target over all cases in flight.
#[derive(Debug)]
pub(crate) struct Pace {
    limits: Limits,
    /// Limits the number of concurrent requests. `None` for a bank in this process.
    flow: Option<Flow>,
    slots: Mutex<Slots>,
    /// Number of consecutive failed connections.
    failed: AtomicU32,
    /// Number of consecutive busy responses, and of pauses since they started.
    busy: AtomicU32,
    pauses: AtomicU32,
}

/// The times from which requests may be sent.
#[derive(Debug, Default)]
struct Slots {
    all: Option<Instant>,
    operations: HashMap<String, Instant>,
    /// End of the pause that the target asked for.
    held: Option<Instant>,
    /// Time of the first busy response to the requests sent since the previous one.
    busy_since: Option<Instant>,
    /// Send times of the requests of the last second.
    sent: VecDeque<Instant>,
    /// Estimated rate that the target can handle, in requests per second, and the time of the estimate.
    /// `None` until the target was busy.
    rate: Option<(f64, Instant)>,
    /// Interval between requests that keeps the limits named by the target.
    named: Option<Duration>,
    /// Length of the window of its quota, which the target may name only at the start of a window.
    window: Option<Duration>,
    /// Number of times that everything was held back. A request with an older slot needs a new one.
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
            pauses: AtomicU32::new(0),
        }
    }

    /// Returns a pace for a bank in this process, which is never too busy.
    pub(crate) fn inside(limits: Limits) -> Self {
        Self { flow: None, ..Self::new(limits) }
    }

    /// Waits until one more request may be in flight.
    pub(crate) async fn enter(&self) -> Option<UnderWay<'_>> {
        match &self.flow {
            Some(flow) => Some(flow.enter().await),
            None => None,
        }
    }

    /// Adds a response, with a flag that is true if the response is final, the time it took, and the number
    /// of concurrent requests.
    pub(crate) fn answered(
        &self,
        operation: &str,
        (answer, is_final): (&Answer, bool),
        took: Duration,
        among: usize,
    ) {
        if let Some(flow) = &self.flow {
            if answer.status == 429 && !is_final {
                flow.halve(among);
            } else {
                flow.answered(operation, took, among);
            }
        }
        self.learn(answer);
    }

    /// Returns the current shortest interval between two requests.
    pub(crate) fn interval(&self) -> Option<Duration> {
        let slots = self.slots();
        let asked = slots.rate.filter(|_| !self.is_always_busy());
        let asked = asked.map(|(rate, _)| Duration::from_secs_f64(1.0 / rate));
        [self.limits.interval, asked, slots.named].into_iter().flatten().max()
    }

    /// Learns the limits named by a response. Windows longer than the longest wait are not paced. Their quota
    /// is used until it is exhausted.
    fn learn(&self, answer: &Answer) {
        let Some(limits) = named(answer) else { return };
        let longest = self.limits.longest_wait;
        let left = || limits.left.iter().filter(|left| left.reset <= longest);
        let mut slots = self.slots();
        let policies = limits.policies.iter().filter(|policy| policy.window <= longest);
        let mut interval = policies.map(|policy| policy.interval()).max();
        if let (None, Some(quota)) = (interval, limits.quota) {
            // At the start of a window, the time until the reset is the whole window.
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
                // Requests sent before the limits were known count as well.
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

    /// Waits until a request of this operation may be sent. Returns the time of sending.
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

    /// Takes the next free slot of an operation, or `None` without a limit. Also returns the number of times
    /// that everything was held back so far.
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

    /// Waits if a request may be resent. Returns true if so: it created nothing, the target asks for no
    /// longer wait than allowed, and there are retries left. `attempt` counts from 1, and `sent` is the time
    /// of sending.
    ///
    /// A request created nothing if there was no connection, or if the target was too busy for it (429, RFC
    /// 6585 section 4). A 503, a gateway error (502, 504) or a broken connection proves that only for a safe
    /// method (RFC 9110 section 9.2.1).
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
                let wait = pause(answer, attempt);
                self.note_busy(sent);
                if !self.has_patience(wait) {
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
            Ok(answer) if matches!(answer.status, 502 | 504) => {
                let is_again = may && only_reads;
                if is_again {
                    sleep(FIRST_WAIT * 2u32.saturating_pow(attempt - 1)).await;
                }
                is_again
            }
            Ok(_) => {
                self.speed_up();
                false
            }
            Err(_) => false,
        }
    }

    /// Returns true if the pause that a busy target asks for is acceptable.
    pub(crate) fn waits_for(&self, answer: &Answer) -> bool {
        self.has_patience(pause(answer, 1))
    }

    fn has_patience(&self, wait: Duration) -> bool {
        wait <= self.limits.longest_wait && self.limits.retries > 0 && !self.is_always_busy()
    }

    /// Returns true if the target was busy for too long to be waited for.
    fn is_always_busy(&self) -> bool {
        let (answers, pauses) = ALWAYS_BUSY;
        self.busy.load(Ordering::Relaxed) >= answers && self.pauses.load(Ordering::Relaxed) >= pauses
    }

    /// Counts a busy response. A request sent before the last pause started does not count as another pause.
    fn note_busy(&self, sent: Instant) {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let mut slots = self.slots();
        if slots.busy_since.is_none_or(|since| sent > since) {
            slots.busy_since = Some(Instant::now());
            self.pauses.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Halves the rate of the last second. Requests sent before the last reduction are ignored.
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

    /// Raises the rate a little, because the target is not busy.
    fn speed_up(&self) {
        self.busy.store(0, Ordering::Relaxed);
        self.pauses.store(0, Ordering::Relaxed);
        if let Some((rate, _)) = &mut self.slots().rate {
            let (requests, part) = RECOVERY;
            *rate += (requests / *rate).max(part);
        }
    }

    /// Holds everything back for a while.
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

/// Returns the pause before a busy target gets the request again, after this many attempts.
fn pause(answer: &Answer, attempt: u32) -> Duration {
    retry_after(answer).unwrap_or(FIRST_PAUSE * 2u32.saturating_pow(attempt - 1))
}

#[cfg(test)]
mod tests;
