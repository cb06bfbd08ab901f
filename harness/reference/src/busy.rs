//! A bank as test systems are: slow, with a limit that it names, and sometimes out of service.

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

/// How slow a bank is, and how much it takes. What it refuses for that, none of its rules sees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Busy {
    /// How long each answer takes, and whatever the bank takes besides.
    pub latency: Duration,
    /// Requests in each second, whenever it begins; one more is refused with 429. Each answer names what is
    /// left.
    pub per_second: Option<u32>,
    /// Each so manieth request is refused with 429, and may come back a second later (RFC 6585, section 4).
    pub too_many: Option<u32>,
    /// Each so manieth request is refused with 503.
    pub unavailable: Option<u64>,
}

/// The window of the limit.
const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Seen {
    /// Requests, those that were refused for want of time left out.
    all: u64,
    /// Those of the last window, by when they came.
    last: VecDeque<Instant>,
}

impl Busy {
    /// Whether it is like any other bank.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }

    /// The same bank, busy.
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
                // What is not read of a request would end its connection.
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

    /// Counts a request: how many more there may be in this window, none where it is one too many; and
    /// whether the bank is out of service.
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
        // The middle of each hundred, so that no run begins with one.
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
