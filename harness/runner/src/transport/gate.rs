//! The last layer before the wire. It blocks requests that the profile does not permit and requests beyond
//! the limit.

use std::sync::atomic::{AtomicU64, Ordering};

use xs2aspec_judge::{fill::WireRequest, profile::Permission};
use xs2aspec_record::Reason;
use xs2aspec_suite::Shard;

use crate::exchange::{Exchanged, Exchanger};

/// Counts requests and blocks those that may not be sent.
#[derive(Debug)]
pub(crate) struct Gate {
    exchanger: Exchanger,
    permission: Permission,
    /// The shard that sends the requests. Shard 2 of 3 numbers them 2, 5, 8 and so on, so that numbers are
    /// unique across shards.
    shard: Shard,
    /// Number of requests that passed.
    passed: AtomicU64,
    /// Number of requests that may pass.
    limit: AtomicU64,
    /// Number of these requests that are reserved for confirming verdicts.
    reserve: AtomicU64,
}

/// Permission to send one request, which is counted on creation.
#[must_use]
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    /// The number of the request.
    pub(crate) number: u64,
}

impl Gate {
    pub(crate) fn new(exchanger: Exchanger, permission: Permission, shard: Option<Shard>) -> Self {
        let [passed, limit, reserve] = [0, u64::MAX, 0].map(AtomicU64::new);
        let shard = shard.unwrap_or(Shard { number: 1, of: 1 });
        Self { exchanger, permission, shard, passed, limit, reserve }
    }

    /// Continues after the request with this number.
    pub(crate) fn go_on_after(&self, number: u64) {
        self.passed.store(number.div_ceil(self.shard.of.into()), Ordering::SeqCst);
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed.load(Ordering::SeqCst)
    }

    /// Returns the number of requests that may pass, including those that did.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::SeqCst)
    }

    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::SeqCst);
    }

    /// Reserves requests for confirming verdicts.
    pub(crate) fn set_reserve(&self, reserve: u64) {
        self.reserve.store(reserve, Ordering::SeqCst);
    }

    /// Returns the permission to send a request with this method.
    pub(crate) fn pass(&self, method: &str, is_confirming: bool) -> Result<Pass<'_>, Reason> {
        if !self.permission.covers(method) {
            return Err(Reason::OnlyRead);
        }
        let reserve = if is_confirming { 0 } else { self.reserve.load(Ordering::SeqCst) };
        let limit = self.limit().saturating_sub(reserve);
        let next = |passed: u64| (passed < limit).then_some(passed + 1);
        let before = self.passed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
        let before = before.map_err(|_| Reason::NoMoreRequests)?;
        if is_confirming {
            // This request was covered by the reserve.
            let fewer = |reserve: u64| reserve.checked_sub(1);
            self.reserve.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).ok();
        }
        let Shard { number, of } = self.shard;
        Ok(Pass { gate: self, number: before * u64::from(of) + u64::from(number) })
    }
}

impl Pass<'_> {
    /// Sends the request.
    pub(crate) async fn send(self, request: &WireRequest) -> Exchanged {
        self.gate.exchanger.send(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xs2aspec_judge::Profile;

    fn gate(permission: Permission, shard: Option<Shard>) -> Gate {
        Gate::new(
            Exchanger::new(
                &Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap(),
            )
            .unwrap(),
            permission,
            shard,
        )
    }

    #[test]
    fn no_more_pass_than_may() {
        let gate = gate(Permission::Everything, None);
        gate.go_on_after(3);
        gate.set_limit(50);
        let passed: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..20).filter(|_| gate.pass("POST", false).is_ok()).count()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((passed, gate.passed()), (47, 50));
        assert_eq!(gate.pass("GET", false).err(), Some(Reason::NoMoreRequests));
        gate.set_limit(51);
        assert_eq!(gate.pass("GET", false).ok().map(|pass| pass.number), Some(51));
        // Confirming requests use the reserve.
        gate.set_limit(54);
        gate.set_reserve(2);
        assert!(gate.pass("GET", false).is_ok());
        assert_eq!(gate.pass("GET", false).err(), Some(Reason::NoMoreRequests));
        assert!(gate.pass("GET", true).is_ok() && gate.pass("GET", true).is_ok());
        assert_eq!(gate.pass("GET", true).err(), Some(Reason::NoMoreRequests));
        // Earlier confirming requests take nothing from the other requests.
        gate.set_limit(57);
        gate.set_reserve(1);
        assert!(gate.pass("GET", true).is_ok());
        assert!(gate.pass("GET", false).is_ok() && gate.pass("GET", false).is_ok());
        assert_eq!(gate.pass("GET", false).err(), Some(Reason::NoMoreRequests));
    }

    #[test]
    fn each_number_is_of_one_shard_also_where_it_goes_on() {
        for (shard, expected) in
            [("1/1", [1, 2, 3, 4]), ("1/3", [1, 4, 7, 10]), ("2/3", [2, 5, 8, 11]), ("3/3", [3, 6, 9, 12])]
        {
            for sent in 0..expected.len() {
                let gate = gate(Permission::Everything, Some(shard.parse().unwrap()));
                gate.go_on_after(if sent == 0 { 0 } else { expected[sent - 1] });
                assert_eq!(gate.passed(), sent as u64, "{shard}");
                let numbers = expected[sent..].iter().map(|_| gate.pass("GET", false).ok().unwrap().number);
                assert!(numbers.eq(expected[sent..].iter().copied()), "{shard}");
            }
        }
    }

    #[test]
    fn what_is_not_permitted_does_not_pass_and_does_not_count() {
        let reads = gate(Permission::Reads, None);
        assert_eq!(reads.pass("DELETE", false).err(), Some(Reason::OnlyRead));
        assert!(reads.pass("GET", false).is_ok());
        assert_eq!(reads.passed(), 1);
        assert_eq!(gate(Permission::Nothing, None).pass("GET", false).err(), Some(Reason::OnlyRead));
    }
}
