//! A busy bank, as test systems are: slow, rate-limited, and sometimes unavailable.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use tokio::time::{Instant, sleep};

/// The latency and the load limits of a bank. Requests that they reject do not reach its rules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Busy {
    /// The minimum time of each response, in addition to the time that the bank needs.
    pub latency: Duration,
    /// The maximum number of requests in any second. Excess requests get 429, and each response states how
    /// many are left.
    pub per_second: Option<u32>,
    /// The interval of 429 responses: every n-th request gets one, with Retry-After of a second (RFC 6585
    /// section 4).
    pub too_many: Option<u32>,
    /// The interval of 503 responses: every n-th request gets one.
    pub unavailable: Option<u64>,
}

/// The window of the rate limit.
const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Seen {
    /// The number of requests within the rate limit.
    all: u64,
    /// The arrival times of those in the last window.
    last: VecDeque<Instant>,
}

impl Busy {
    /// Returns true if nothing is limited or delayed.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }

    /// Adds latency and limits to a bank.
    pub(crate) fn over(self, router: Router) -> Router {
        if self.is_idle() {
            return router;
        }
        let seen = Arc::<Mutex<Seen>>::default();
        router.layer(middleware::from_fn(move |request: Request, next: Next| {
            let seen = Arc::clone(&seen);
            async move { self.answer(&seen, request, next).await }
        }))
    }

    async fn answer(self, seen: &Mutex<Seen>, request: Request, next: Next) -> Response {
        let (left, is_unavailable) = self.take(seen, Instant::now());
        sleep(self.latency).await;
        let mut answer = match left {
            Some(_) if !is_unavailable => next.run(request).await,
            left => {
                // Unread bytes of a request would close its connection.
                drop(to_bytes(request.into_body(), usize::MAX).await);
                match left {
                    None => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response(),
                    Some(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
                }
            }
        };
        if let Some(quota) = self.per_second {
            let left = left.unwrap_or_default();
            let fields = [
                ("ratelimit-policy", format!("\"sandbox\";q={quota};w={}", WINDOW.as_secs())),
                ("ratelimit", format!("\"sandbox\";r={left};t={}", WINDOW.as_secs())),
            ];
            for (name, value) in fields {
                if let Ok(value) = HeaderValue::try_from(value) {
                    answer.headers_mut().insert(name, value);
                }
            }
        }
        answer
    }

    /// Counts a request. Returns how many more fit into this window, or None if this one does not fit, and
    /// true if the bank is unavailable.
    fn take(self, seen: &Mutex<Seen>, now: Instant) -> (Option<u32>, bool) {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        while seen.last.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            seen.last.pop_front();
        }
        let used = u32::try_from(seen.last.len()).unwrap_or(u32::MAX);
        let left = match self.per_second {
            None => Some(u32::MAX),
            Some(quota) => quota.checked_sub(used + 1),
        };
        if left.is_none() {
            return (None, false);
        }
        seen.last.push_back(now);
        seen.all += 1;
        if self.too_many.is_some_and(|each| seen.all.is_multiple_of(each.into())) {
            return (None, false);
        }
        // The middle of each interval, so that a run does not start with a 503.
        let is_unavailable = self.unavailable.is_some_and(|each| seen.all % each == each / 2);
        (left, is_unavailable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_come_through_in_any_second() {
        let (seen, begin) = (Mutex::default(), Instant::now());
        let busy = Busy { per_second: Some(3), unavailable: Some(4), ..Busy::default() };
        let at = |millis: u64| busy.take(&seen, begin + Duration::from_millis(millis));
        assert_eq!([at(0), at(100), at(200)], [(Some(2), false), (Some(1), true), (Some(0), false)]);
        assert_eq!([at(300), at(999)], [(None, false); 2]);
        assert_eq!([at(1000), at(1050)], [(Some(0), false), (None, false)]);
        let (seen, busy) = (Mutex::default(), Busy { too_many: Some(3), ..Busy::default() });
        let refused = (0..7).map(|_| busy.take(&seen, begin).0.is_none()).collect::<Vec<_>>();
        assert_eq!(refused, [false, false, true, false, false, true, false]);
        assert!(Busy::default().is_idle() && !busy.is_idle());
    }
}
