//! What it means that a target refuses for a quota.

use xs2aspec_suite::{Case, Expectation};

use super::{Session, outcome::Quota};
use crate::{
    exchange::Answer,
    judge::{self, Outcome},
    profile::Offered,
};

/// The capability that says that nobody used any of that quota before the run.
const UNUSED_QUOTA: &str = "quota-unused";

impl Session {
    /// Whether some calls of an operation have a quota: a case uses it up.
    pub(super) fn has_quota(&self, operation: &str) -> bool {
        self.suite.cases().iter().any(|case| judge::uses_quota(case) && case.operation() == operation)
    }

    /// Returns what a rejection means for a case that uses a quota.
    pub(super) fn quota(&self, case: &Case, answer: &Answer, outcome: Outcome) -> Option<Quota> {
        if !judge::uses_quota(case) {
            return None;
        }
        // Only what leaves something out uses up the quota: whatever else it is refused to was not to count.
        if !case.is_changed() {
            let is_refused = case.expect.is_accepted() && judge::is_quota(answer, self.suite.answers());
            return is_refused.then_some(Quota::Refusal);
        }
        let is_busy = answer.status == 429;
        let is_after_another = self.is_after_another(case);
        // The document does not say which rejection means that the quota is used up.
        let may_mean_it = is_busy
            || judge::is_quota(answer, self.suite.answers())
            || is_after_another && outcome.is_refusal();
        if case.expect.is_accepted() && may_mean_it {
            // What was there a moment ago may have been the last of it.
            let is_sure = (is_after_another || !case.before.is_empty())
                && self.profile.capability(UNUSED_QUOTA) == Offered::Yes;
            return Some(if is_sure { Quota::Refusal } else { Quota::UsedUp });
        }
        // Where nothing is demanded, this is what a quota leads to, and no target that is busy.
        (is_busy && case.expect == Expectation::Observed).then_some(Quota::Refusal)
    }

    /// Returns true if the control of a case is a call of the same quota, which was accepted before it.
    fn is_after_another(&self, case: &Case) -> bool {
        let control = case.control.as_deref().and_then(|id| self.suite.case(id));
        control.is_some_and(|control| {
            judge::uses_quota(control) && control.is_changed() && control.expect.is_accepted()
        })
    }
}
