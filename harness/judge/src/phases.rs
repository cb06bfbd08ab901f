//! When the cases of a run have their turns: those of a turn begin when all of earlier turns have ended.

use xs2aspec_suite::{Case, Suite};

use crate::{judge, strength::strength};

/// The turn of plain requests that nothing prepares: others are prepared by them.
const FIRST: usize = 0;

/// The turn of the other plain requests. It is then known whether an operation works at all, before a target
/// can change.
const PLAIN: usize = 1;

/// The turn of the calls that decide whether the quota of the day holds. No other case has used up any of it
/// then, and none takes the call that is one too many.
const QUOTA: usize = 2;

/// The turn of all others.
const REST: usize = 3;

/// The turns of all cases of a run, by their positions, and how many of each turn have not ended.
pub struct Turns {
    of: Vec<usize>,
    open: [usize; REST + 1],
}

impl Turns {
    /// The turns of these cases, of which none waits yet.
    pub fn new<'a>(suite: &Suite, cases: impl Iterator<Item = &'a Case>) -> Self {
        Self { of: cases.map(|case| turn(suite, case)).collect(), open: [0; REST + 1] }
    }

    /// These cases are asked in this run.
    pub fn wait_for(&mut self, positions: &[usize]) {
        for at in positions {
            self.open[self.of[*at]] += 1;
        }
    }

    /// Where a case stands among the turns.
    pub fn of(&self, at: usize) -> usize {
        self.of[at]
    }

    /// Whether all of earlier turns have ended.
    pub fn has_come(&self, at: usize) -> bool {
        self.open[..self.of[at]].iter().all(|open| *open == 0)
    }

    /// Whether a case is the plain request of its operation.
    pub fn is_plain(&self, at: usize) -> bool {
        self.of[at] <= PLAIN
    }

    /// A case has ended.
    pub fn end(&mut self, at: usize) {
        self.open[self.of[at]] -= 1;
    }

    /// Whether a case is a plain request that nothing prepares.
    pub fn is_first(&self, at: usize) -> bool {
        self.of[at] == FIRST
    }

    /// Whether this was the last plain request that nothing prepares.
    pub fn ends_first(&self, at: usize) -> bool {
        self.is_first(at) && self.open[FIRST] == 0
    }

    /// Whether all plain requests have ended.
    pub fn is_after_plain(&self) -> bool {
        self.open[..=PLAIN].iter().all(|open| *open == 0)
    }
}

fn turn(suite: &Suite, case: &Case) -> usize {
    let is_demanded =
        || suite.clauses().get(&case.clause).is_some_and(|clause| strength(clause).0.is_demanded());
    let quota = suite.answers().quota().filter(|_| case.needs_quota());
    let is_call = || quota.is_some_and(|quota| case.request.is_call_of(quota)) && is_demanded();
    match (case.is_plain, case.before.is_empty()) {
        (true, true) => FIRST,
        (true, false) => PLAIN,
        (false, true) if judge::waits_for_quota(&case.expect) && is_call() => QUOTA,
        (false, _) if case.expect.is_accepted() && is_call() => QUOTA,
        (false, _) => REST,
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::Tree;

    use super::*;

    #[test]
    fn who_takes_a_call_too_many_comes_before_what_others_ask() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let ids = [
            "customers.path/plain",
            "basket.body/plain",
            "limit.without-psu-ip.four/fourth",
            "limit.without-psu-ip/fifth",
            "limit.without-psu-ip/fifth/many-at-once",
            "limit.without-psu-ip.scope/another-account",
            "limit.without-value-in-psu-ip/fifth",
        ];
        let cases = ids.map(|id| suite.case(id).unwrap());
        let mut turns = Turns::new(&suite, cases.into_iter());
        assert_eq!(turns.of, [FIRST, PLAIN, QUOTA, QUOTA, REST, REST, REST]);
        turns.wait_for(&[0, 1, 3, 4]);
        assert!(turns.has_come(0) && !turns.has_come(1) && !turns.is_after_plain());
        turns.end(0);
        assert!(turns.ends_first(0) && turns.has_come(1) && !turns.has_come(2));
        turns.end(1);
        assert!(turns.is_after_plain() && turns.has_come(3) && !turns.has_come(4) && !turns.ends_first(1));
        turns.end(3);
        assert!(turns.has_come(4) && !turns.is_plain(3));
    }
}
