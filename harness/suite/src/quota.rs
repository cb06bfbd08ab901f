//! Determines which cases use up the daily quota of a bank.

use xs2aspec_spec::answer::Quota;

use crate::{case::Case, request::RequestSpec};

/// The capability of a target that lets a run use up its daily quota.
const QUOTA: &str = "quota";

impl RequestSpec {
    /// Returns true if a bank counts this request against the quota.
    pub fn is_call_of(&self, quota: &Quota) -> bool {
        // A value that is not a string is not empty.
        let value = self.header(&quota.without).map(|value| value.as_str().unwrap_or("other"));
        quota.counts(&self.operation, value)
    }
}

impl Case {
    /// Returns true if the case may run only if the run may use up the daily quota.
    pub fn needs_quota(&self) -> bool {
        self.needs.iter().any(|need| need == QUOTA)
    }

    /// Returns the key that decides the shard of the case. All cases that use the quota are in one shard,
    /// since several shards would use up its calls at the same time.
    pub(crate) fn shard_key(&self, quota: Option<&Quota>) -> &str {
        if self.needs_quota() || quota.is_some_and(|quota| self.calls(quota)) { QUOTA } else { &self.id }
    }

    fn calls(&self, quota: &Quota) -> bool {
        let is_prepared = self.before.iter().any(|step| step.request.is_call_of(quota));
        // A request takes memory once it is built. The copy releases it.
        is_prepared || self.operation() == quota.operation && self.request.clone().is_call_of(quota)
    }
}
