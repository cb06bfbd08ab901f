//! Limits the number of concurrent requests. In a target that slows down under load, requests wait for one
//! another. Fewer concurrent requests then get faster responses at the same throughput.
//!
//! The limit shrinks while most responses take much longer than the quickest of their operation. It grows by
//! one after each other round. This is additive increase, multiplicative decrease, as in TCP (RFC 5681
//! section 3.1). The first request is sent alone, because its response may name limits.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::timeout};

/// A response that takes this much longer than twice the quickest indicates waiting. Smaller differences are
/// noise on a busy machine or network.
const MUCH: Duration = Duration::from_millis(50);
/// Longest time that other requests wait for the first response.
const ALONE: Duration = Duration::from_secs(1);
/// Factor that reduces the limit when responses slow down.
const LESS: f64 = 0.8;

/// Limits the number of concurrent requests to what a target can handle.
#[derive(Debug)]
pub(super) struct Flow {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    under_way: usize,
    /// The limit.
    most: f64,
    /// True until the first request is done.
    is_alone: bool,
    /// The quickest response time of each operation.
    quickest: HashMap<String, Duration>,
    /// Responses in this round, and the slow ones among them.
    answers: usize,
    slow: usize,
}

/// A request in flight, until this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay<'a> {
    flow: &'a Flow,
    /// Number of requests in flight when it was sent, including it.
    pub(crate) among: usize,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.flow.state().under_way -= 1;
        self.flow.go_on();
    }
}

impl Flow {
    pub(super) fn new() -> Self {
        let state = State {
            under_way: 0,
            most: f64::INFINITY,
            is_alone: true,
            quickest: HashMap::new(),
            answers: 0,
            slow: 0,
        };
        Self { state: Mutex::new(state), freed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes waiting requests, as many as allowed.
    fn go_on(&self) {
        if std::mem::take(&mut self.state().is_alone) {
            self.freed.notify_waiters();
        }
        self.freed.notify_one();
    }

    /// Waits until one more request may be in flight.
    pub(super) async fn enter(&self) -> UnderWay<'_> {
        loop {
            let freed = self.freed.notified();
            let is_alone = {
                let mut state = self.state();
                let has_room = !state.is_alone && count(state.under_way) + 1.0 <= state.most;
                if state.under_way == 0 || has_room {
                    state.under_way += 1;
                    return UnderWay { flow: self, among: state.under_way };
                }
                state.is_alone
            };
            if !is_alone {
                freed.await;
            } else if timeout(ALONE, freed).await.is_err() {
                self.go_on();
            }
        }
    }

    /// Adds a response time. `among` requests were in flight.
    pub(super) fn answered(&self, operation: &str, took: Duration, among: usize) {
        let mut state = self.state();
        let quickest = if let Some(quickest) = state.quickest.get_mut(operation) {
            *quickest = took.min(*quickest);
            *quickest
        } else {
            state.quickest.insert(operation.to_owned(), took);
            took
        };
        state.answers += 1;
        state.slow += usize::from(took > quickest * 2 + MUCH);
        if state.answers < among {
            return;
        }
        if state.slow * 2 > state.answers {
            state.most = (count(among).min(state.most) * LESS).max(1.0);
        } else if state.most.is_finite() {
            state.most += 1.0;
            // One more waiting request may proceed.
            self.freed.notify_one();
        }
        (state.answers, state.slow) = (0, 0);
    }

    /// Halves the limit, because the target is busy.
    pub(super) fn halve(&self, among: usize) {
        let mut state = self.state();
        state.most = (count(among).min(state.most) / 2.0).max(1.0);
    }
}

fn count(requests: usize) -> f64 {
    f64::from(u32::try_from(requests).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::{
        sync::Semaphore,
        time::{Instant, sleep},
    };

    use super::*;

    /// Simulates a target that handles a number of requests at once within 200 ms each, with 16 senders.
    /// Returns the number of requests in flight at the end and of responses per second.
    async fn asked(at_once: usize) -> (usize, f64) {
        let (flow, target) = (Arc::new(Flow::new()), Arc::new(Semaphore::new(at_once)));
        let begun = Instant::now();
        let askers = (0..16).map(|_| {
            let (flow, target) = (Arc::clone(&flow), Arc::clone(&target));
            tokio::spawn(async move {
                let mut among = 0;
                for _ in 0..40 {
                    let under_way = flow.enter().await;
                    let sent = Instant::now();
                    let worker = target.acquire().await.unwrap();
                    sleep(Duration::from_millis(200)).await;
                    drop(worker);
                    flow.answered("ncbct", sent.elapsed(), under_way.among);
                    among = under_way.among;
                }
                among
            })
        });
        let askers: Vec<_> = askers.collect();
        let mut most = 0;
        for asker in askers {
            most = most.max(asker.await.unwrap());
        }
        (most, 640.0 / begun.elapsed().as_secs_f64())
    }

    #[tokio::test(start_paused = true)]
    async fn a_target_that_has_time_is_asked_as_much_as_anybody_wants() {
        let (among, rate) = asked(16).await;
        assert_eq!(among, 16);
        assert!((77.0..=80.1).contains(&rate), "{rate}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_target_that_serves_one_after_the_other_has_few_waiting_and_is_asked_no_less() {
        let (among, rate) = asked(1).await;
        assert!(among <= 5, "{among}");
        assert!((4.9..=5.1).contains(&rate), "{rate}");
        let (among, rate) = asked(4).await;
        assert!((4..=12).contains(&among), "{among}");
        assert!((19.0..=20.1).contains(&rate), "{rate}");
    }

    #[tokio::test(start_paused = true)]
    async fn half_as_many_are_asked_where_the_target_has_no_time() {
        let flow = Flow::new();
        drop(flow.enter().await);
        flow.halve(8);
        let mut under_way = Vec::new();
        for _ in 0..4 {
            under_way.push(flow.enter().await);
        }
        assert!(tokio::time::timeout(Duration::from_secs(1), flow.enter()).await.is_err());
        under_way.pop();
        assert_eq!(flow.enter().await.among, 4);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_request_goes_alone_and_nobody_waits_long_for_it() {
        let flow = Flow::new();
        let begun = Instant::now();
        let first = flow.enter().await;
        let second = flow.enter().await;
        assert_eq!((second.among, begun.elapsed().as_secs()), (2, 1));
        drop((first, second));
        let flow = Flow::new();
        drop(flow.enter().await);
        let (_first, second) = (flow.enter().await, flow.enter().await);
        assert_eq!((second.among, begun.elapsed().as_secs()), (2, 1), "the first response arrived");
    }
}
