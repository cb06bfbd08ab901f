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

use tokio::time::{Instant, sleep, sleep_until};
use xs2aspec_judge::{
    answer::{Answer, ExchangeError, retry_after},
    profile::Limits,
};

use super::{
    flow::{Flow, UnderWay},
    named::{Policy, named},
};

/// First wait before a connection is tried again; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// After so many connections in a row that failed a target is gone, and nobody waits for it any more.
const GONE: u32 = 32;

/// First pause of a target that has no time and does not say how long; each further one for the same request
/// is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// After so many answers in a row that the target has no time, nobody waits for it any more; if it was left
/// alone so often in between, as it asked. One moment in which it has no time for all that is under way is
/// none of these.
const ALWAYS_BUSY: (u32, u32) = (32, 4);
/// Fewest requests in a second that a busy target slows the run down to.
const SLOWEST: f64 = 2.0;
/// How many more requests in a second there are each second while the target has time, and which part of them
/// at least.
const RECOVERY: (f64, f64) = (10.0, 0.25);
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
    /// Answers since the last one for which the target had time, and how often it was left alone since.
    busy: AtomicU32,
    pauses: AtomicU32,
}

/// From when on something may be sent.
#[derive(Debug, Default)]
struct Slots {
    all: Option<Instant>,
    operations: HashMap<String, Instant>,
    /// As the target asked.
    held: Option<Instant>,
    /// When it first said so of what was sent since the last time.
    busy_since: Option<Instant>,
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
            pauses: AtomicU32::new(0),
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

    /// Takes an answer, whether it is what it is however long anybody waits, and how long it took among so
    /// many requests at once.
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
    /// RFC 6585 section 4). A 503, a gateway that failed (502, 504) or a connection that broke says that
    /// only of a method that makes nothing (RFC 9110 section 9.2.1).
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

    /// Whether a target that had no time for a request is waited for as long as it asks.
    pub(crate) fn waits_for(&self, answer: &Answer) -> bool {
        self.has_patience(pause(answer, 1))
    }

    fn has_patience(&self, wait: Duration) -> bool {
        wait <= self.limits.longest_wait && self.limits.retries > 0 && !self.is_always_busy()
    }

    /// Whether the target had no time for so long that nobody waits for it.
    fn is_always_busy(&self) -> bool {
        let (answers, pauses) = ALWAYS_BUSY;
        self.busy.load(Ordering::Relaxed) >= answers && self.pauses.load(Ordering::Relaxed) >= pauses
    }

    /// Counts an answer that the target has no time. What was sent before the last pause began says nothing
    /// of the target after it.
    fn note_busy(&self, sent: Instant) {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let mut slots = self.slots();
        if slots.busy_since.is_none_or(|since| sent > since) {
            slots.busy_since = Some(Instant::now());
            self.pauses.fetch_add(1, Ordering::Relaxed);
        }
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
        self.pauses.store(0, Ordering::Relaxed);
        if let Some((rate, _)) = &mut self.slots().rate {
            let (requests, part) = RECOVERY;
            *rate += (requests / *rate).max(part);
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

/// How long a target without time is left alone after so many attempts.
fn pause(answer: &Answer, attempt: u32) -> Duration {
    retry_after(answer).unwrap_or(FIRST_PAUSE * 2u32.saturating_pow(attempt - 1))
}

#[cfg(test)]
mod tests;
