//! The last layer before the wire. What the profile was not authorized for does not pass, nor does
//! a request beyond the limit.

use std::sync::atomic::{AtomicU64, Ordering};

use xs2aspec_judge::{fill::WireRequest, profile::Permission, stop::Held};

use crate::exchange::{Exchanged, Exchanger};

/// Counts what is sent, and holds back what may not be.
#[derive(Debug)]
pub(crate) struct Gate {
    exchanger: Exchanger,
    permission: Permission,
    /// Requests that passed.
    passed: AtomicU64,
    /// How many may pass in all.
    limit: AtomicU64,
    /// How many of them are only for requests that confirm verdicts.
    reserve: AtomicU64,
}

/// Leave to send one request, which counts from here on.
#[must_use]
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    /// The number of the request, from 1.
    pub(crate) number: u64,
}

impl Gate {
    pub(crate) fn new(exchanger: Exchanger, permission: Permission) -> Self {
        let [passed, limit, reserve] = [0, u64::MAX, 0].map(AtomicU64::new);
        Self { exchanger, permission, passed, limit, reserve }
    }

    /// Goes on counting from here.
    pub(crate) fn go_on_after(&self, passed: u64) {
        self.passed.store(passed, Ordering::SeqCst);
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed.load(Ordering::SeqCst)
    }

    /// Requests that may pass in all, those that did included.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::SeqCst)
    }

    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::SeqCst);
    }

    /// So many are only for requests that confirm verdicts.
    pub(crate) fn set_reserve(&self, reserve: u64) {
        self.reserve.store(reserve, Ordering::SeqCst);
    }

    /// Leave to send a request with this method.
    pub(crate) fn pass(&self, method: &str, is_confirming: bool) -> Result<Pass<'_>, Held> {
        if !self.permission.covers(method) {
            return Err(Held::Forbidden);
        }
        let reserve = if is_confirming { 0 } else { self.reserve.load(Ordering::SeqCst) };
        let limit = self.limit().saturating_sub(reserve);
        let next = |passed: u64| (passed < limit).then_some(passed + 1);
        let before = self.passed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
        let before = before.map_err(|_| Held::UsedUp)?;
        if is_confirming {
            // It was kept for this one.
            let fewer = |reserve: u64| reserve.checked_sub(1);
            self.reserve.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).ok();
        }
        Ok(Pass { gate: self, number: before + 1 })
    }
}

impl Pass<'_> {
    /// Sends it.
    pub(crate) async fn send(self, request: &WireRequest) -> Exchanged {
        self.gate.exchanger.send(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xs2aspec_judge::Profile;

    fn gate(permission: Permission) -> Gate {
        Gate::new(
            Exchanger::new(
                &Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap(),
            )
            .unwrap(),
            permission,
        )
    }

    #[test]
    fn no_more_pass_than_may() {
        let gate = gate(Permission::Everything);
        gate.go_on_after(3);
        gate.set_limit(50);
        let passed: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..20).filter(|_| gate.pass("POST", false).is_ok()).count()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((passed, gate.passed()), (47, 50));
        assert_eq!(gate.pass("GET", false).err(), Some(Held::UsedUp));
        gate.set_limit(51);
        assert_eq!(gate.pass("GET", false).ok().map(|pass| pass.number), Some(51));
        // What confirms verdicts has requests of its own.
        gate.set_limit(54);
        gate.set_reserve(2);
        assert!(gate.pass("GET", false).is_ok());
        assert_eq!(gate.pass("GET", false).err(), Some(Held::UsedUp));
        assert!(gate.pass("GET", true).is_ok() && gate.pass("GET", true).is_ok());
        assert_eq!(gate.pass("GET", true).err(), Some(Held::UsedUp));
        // It takes nothing from the others when it comes before them.
        gate.set_limit(57);
        gate.set_reserve(1);
        assert!(gate.pass("GET", true).is_ok());
        assert!(gate.pass("GET", false).is_ok() && gate.pass("GET", false).is_ok());
        assert_eq!(gate.pass("GET", false).err(), Some(Held::UsedUp));
    }

    #[test]
    fn what_is_not_permitted_does_not_pass_and_does_not_count() {
        let reads = gate(Permission::Reads);
        assert_eq!(reads.pass("DELETE", false).err(), Some(Held::Forbidden));
        assert!(reads.pass("GET", false).is_ok());
        assert_eq!(reads.passed(), 1);
        assert_eq!(gate(Permission::Nothing).pass("GET", false).err(), Some(Held::Forbidden));
    }
}
