//! A bank that has too much to do now and then, as any bank may (RFC 6585 section 4): the document shows no
//! other limit than that of a day.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::refusal::{Code, Refusal};

/// How long it asks a client to wait, in seconds.
const WAIT: &str = "1";

/// Counts requests, and says which ones come too often.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    each: Option<NonZeroU32>,
    count: AtomicU32,
}

impl Busy {
    /// A bank that each so many requests is too many for; none is where there is no number.
    pub(crate) fn each(number: Option<u32>) -> Self {
        Self { each: number.and_then(NonZeroU32::new), count: AtomicU32::new(0) }
    }

    /// The refusal of the next request, if it is too many.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let each = self.each?;
        let number = self.count.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let says = "expected a request later, found one too many now";
        let refusal = || Refusal::new(StatusCode::TOO_MANY_REQUESTS, Code::SystemError, "http.busy", says);
        (number % each == 0).then(refusal)
    }

    /// Says in an answer when to come back.
    pub(crate) fn ask_to_come_back(answer: &mut Response) {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(WAIT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_third_request_is_too_many_and_none_where_there_is_no_number() {
        let refused = |busy: &Busy| (0..7).map(|_| busy.refusal().is_some()).collect::<Vec<_>>();
        assert_eq!(refused(&Busy::each(Some(3))), [false, false, true, false, false, true, false]);
        assert_eq!(refused(&Busy::each(None)), [false; 7]);
        assert_eq!(refused(&Busy::each(Some(0))), [false; 7]);
    }
}
