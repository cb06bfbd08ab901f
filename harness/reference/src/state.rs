//! What the bank remembers between requests, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;
use serde_json::Value;

use crate::seed::{self, Transaction};

/// The two payment products, which differ in whether a basket may hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Ncbct,
    Periodic,
}

/// Payments, transactions and the calls counted for the daily limit.
pub(crate) struct State {
    seed: u64,
    transactions: Vec<Transaction>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    ids: u64,
    payments: HashMap<String, Product>,
    unattended_calls: HashMap<&'static str, (NaiveDate, u32)>,
}

impl State {
    /// A bank that has just opened. Its ids follow from `seed` and from how many it has given out.
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, transactions: seed::transactions(), memory: Mutex::default() }
    }

    /// Remembers a new payment, and returns its id.
    pub(crate) fn create_payment(&self, product: Product) -> String {
        let mut memory = self.memory();
        let id = memory.next_id(self.seed);
        memory.payments.insert(id.clone(), product);
        id
    }

    /// The id of a new basket.
    pub(crate) fn create_basket(&self) -> String {
        self.memory().next_id(self.seed)
    }

    /// The product of a payment that was created before.
    pub(crate) fn product(&self, payment_id: &str) -> Option<Product> {
        self.memory().payments.get(payment_id).copied()
    }

    /// Counts a call without PSU-IP-Address, and returns how many there were on that account on that day.
    pub(crate) fn count_unattended_call(&self, account: &'static str, day: NaiveDate) -> u32 {
        let mut memory = self.memory();
        let (counted_on, calls) = memory.unattended_calls.entry(account).or_insert((day, 0));
        if *counted_on != day {
            (*counted_on, *calls) = (day, 0);
        }
        *calls = calls.saturating_add(1);
        *calls
    }

    /// The details of a booked transaction.
    pub(crate) fn transaction(&self, account: &str, id: &str) -> Option<&Value> {
        let booked = self.transactions.iter().find(|booked| booked.account == account && booked.id == id)?;
        Some(&booked.details)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// The next id, in the form of a UUID of version 8 (RFC 9562 section 5.8), which leaves its bits to whoever makes
    /// it: opaque to the TPP, and the same in every run with this seed.
    fn next_id(&mut self, seed: u64) -> String {
        self.ids += 1;
        let high = mixed(seed ^ mixed(self.ids));
        let low = mixed(high ^ self.ids);
        let high = high & !0xf000 | 0x8000;
        let low = low & !(0b11 << 62) | 0b10 << 62;
        let hex = format!("{high:016x}{low:016x}");
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

/// The finaliser of `SplitMix64`: spreads a counter over 64 bits, one to one.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_follow_from_the_seed() {
        let ids = |seed| {
            let state = State::new(seed);
            (0..1000).map(|_| state.create_basket()).collect::<Vec<_>>()
        };
        assert_eq!(ids(7), ids(7));
        assert_eq!(ids(7).into_iter().chain(ids(8)).collect::<HashSet<_>>().len(), 2000);
        let id = &ids(0)[0];
        assert_eq!((id.len(), &id[14..15]), (36, "8"));
    }

    #[test]
    fn payments_are_remembered() {
        let state = State::new(0);
        let (one, two) = (state.create_payment(Product::Ncbct), state.create_payment(Product::Periodic));
        assert_eq!(state.product(&one), Some(Product::Ncbct));
        assert_eq!(state.product(&two), Some(Product::Periodic));
        assert_eq!(state.product(&state.create_basket()), None);
    }

    #[test]
    fn calls_are_counted_by_account_and_day() {
        let state = State::new(0);
        let day = NaiveDate::from_ymd_opt(2025, 3, 1).unwrap();
        assert_eq!((1..=3).map(|_| state.count_unattended_call("a", day)).last(), Some(3));
        assert_eq!(state.count_unattended_call("b", day), 1);
        assert_eq!(state.count_unattended_call("a", day.succ_opt().unwrap()), 1);
    }
}
