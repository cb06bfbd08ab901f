//! The phases of a run. Each phase starts when all cases of the previous one have ended.

use xs2aspec_suite::{Case, Suite};

use crate::{judge, levels::strength};

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Baseline requests without setup. Other requests depend on them.
    First,
    /// The other baseline requests. They show whether an operation works at all, before other cases can
    /// change the state of the target.
    Plain,
    /// The calls that decide whether the daily quota is enforced. They run before other cases use up any of
    /// it.
    Quota,
    /// All other cases.
    Rest,
}

impl Phase {
    /// Returns the phase of a case.
    pub fn of(suite: &Suite, case: &Case) -> Self {
        let is_demanded =
            || suite.clauses().get(&case.clause).is_some_and(|clause| strength(clause).0.is_demanded());
        let quota = suite.answers().quota().filter(|_| case.needs_quota());
        let is_call = || quota.is_some_and(|quota| case.request.is_call_of(quota)) && is_demanded();
        match (case.is_plain, case.before.is_empty()) {
            (true, true) => Self::First,
            (true, false) => Self::Plain,
            (false, true) if judge::waits_for_quota(&case.expect) && is_call() => Self::Quota,
            (false, _) if case.expect.is_accepted() && is_call() => Self::Quota,
            (false, _) => Self::Rest,
        }
    }

    /// Returns true for the phases with baseline requests.
    pub fn is_plain(self) -> bool {
        self <= Self::Plain
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::Tree;

    use super::*;

    #[test]
    fn a_call_too_many_comes_before_what_others_ask() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        for (id, phase) in [
            ("customers.path/plain", Phase::First),
            ("basket.body/plain", Phase::Plain),
            ("limit.without-psu-ip.four/fourth", Phase::Quota),
            ("limit.without-psu-ip/fifth", Phase::Quota),
            ("limit.without-psu-ip/fifth/many-at-once", Phase::Rest),
            ("limit.without-psu-ip.scope/another-account", Phase::Rest),
            ("limit.without-value-in-psu-ip/fifth", Phase::Rest),
        ] {
            assert_eq!(Phase::of(&suite, suite.case(id).unwrap()), phase, "{id}");
        }
    }
}
