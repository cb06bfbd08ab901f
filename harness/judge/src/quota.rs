//! The daily quota of calls. A rejected call counts against the bank only if calls were left. This run or an
//! earlier one may have used them up.

use xs2aspec_suite::{Case, Expectation, RequestSpec};

use crate::{Judge, answer::Answer, judge, profile::Offered, trail::Trail};

/// The capability that declares the quota unused before the run.
const UNUSED_QUOTA: &str = "quota-unused";

/// Too Many Requests (RFC 6585 section 4).
const TOO_MANY: u16 = 429;

/// Bad Request (RFC 9110 section 15.5.1): the request is wrong, however many calls are left.
const BAD_REQUEST: u16 = 400;

/// The meaning of a rejected call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quota {
    /// The quota may be used up, so the rejection does not count.
    UsedUp,
    /// The bank rejects this request.
    Refusal,
}

impl Judge {
    /// Returns the number of calls that a bank allows per day.
    pub fn calls_of_a_day(&self) -> usize {
        self.suite().answers().quota().map_or(0, |quota| quota.calls)
    }

    /// Returns true if a bank counts a request against the quota.
    pub(crate) fn is_call(&self, request: &RequestSpec) -> bool {
        self.suite().answers().quota().is_some_and(|quota| request.is_call_of(quota))
    }

    /// Returns true if an operation has a quota.
    pub(crate) fn has_quota(&self, operation: &str) -> bool {
        self.suite().answers().quota().is_some_and(|quota| quota.operation == operation)
    }

    /// Returns the meaning of a response for a case that uses the quota. Returns None if it is not about the
    /// quota.
    pub(crate) fn quota(&self, case: &Case, answer: &Answer, trail: &Trail<'_>) -> Option<Quota> {
        let is_named = judge::is_quota(answer, self.suite().answers());
        let is_busy = answer.status == TOO_MANY;
        if trail.calls_before.is_some() {
            return match &case.expect {
                Expectation::Accepted => self.rejected_call(case, answer, trail),
                Expectation::Refused(refusal) if !refusal.quota => {
                    (is_named || is_busy).then_some(Quota::UsedUp)
                }
                Expectation::Observed => is_busy.then_some(Quota::Refusal),
                _ => None,
            };
        }
        if !(case.needs_quota() && case.expect.is_accepted() && (is_named || is_busy)) {
            return None;
        }
        // A call with the header does not count.
        if !case.is_changed() {
            return is_named.then_some(Quota::Refusal);
        }
        let is_sure = (self.is_after_another(case) || !case.before.is_empty()) && self.has_unused_quota();
        Some(if is_sure { Quota::Refusal } else { Quota::UsedUp })
    }

    /// Returns the meaning of a rejected call that the bank must accept while calls are left. Returns None if
    /// the request is not a call or was not rejected.
    pub(crate) fn rejected_call(&self, case: &Case, answer: &Answer, trail: &Trail<'_>) -> Option<Quota> {
        let quota = self.suite().answers().quota().filter(|_| (400..500).contains(&answer.status))?;
        let before = trail.calls_before?;
        // Until a call has been accepted, an earlier run on the same day may have used them up, whatever the
        // profile says.
        let is_first = case.before.is_empty() && !self.is_after_another(case);
        let is_about_request =
            answer.status == BAD_REQUEST && !judge::is_quota(answer, self.suite().answers());
        let is_left = self.has_unused_quota() && before < quota.calls && (!is_first || is_about_request);
        Some(if is_left { Quota::Refusal } else { Quota::UsedUp })
    }

    fn has_unused_quota(&self) -> bool {
        self.profile().capability(UNUSED_QUOTA) == Offered::Yes
    }

    /// Returns true if the control of a case is an accepted call of the same quota.
    fn is_after_another(&self, case: &Case) -> bool {
        self.control_of(case).is_some_and(|control| {
            control.needs_quota() && control.is_changed() && control.expect.is_accepted()
        })
    }
}
