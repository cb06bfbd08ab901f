//! What the bank remembers between requests, in memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;
use serde_json::{Map, Value};

use crate::operation::Product;
use crate::seed::{self, Transaction};

/// The statuses of payments that this bank uses (the document, section States and transitions).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Received.
    Rcvd,
    /// Pending: under way, and no longer to be deleted.
    Pdng,
    /// Rejected.
    Rjct,
    /// Cancelled.
    Canc,
}

impl Status {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Rcvd => "RCVD",
            Self::Pdng => "PDNG",
            Self::Rjct => "RJCT",
            Self::Canc => "CANC",
        }
    }
}

/// A payment as the bank keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(crate) product: Product,
    pub(crate) status: Status,
    /// Whether the debtor account could pay it.
    pub(crate) funds_available: bool,
    /// The members it was made with.
    pub(crate) members: Map<String, Value>,
}

impl Payment {
    /// A payment that the bank has received.
    #[cfg(test)]
    pub(crate) fn received(product: Product) -> Self {
        Self { product, status: Status::Rcvd, funds_available: true, members: Map::new() }
    }
}

/// Payments, baskets, transactions and the calls counted for the daily limit.
pub(crate) struct State {
    seed: u64,
    transactions: Vec<Transaction>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    ids: u64,
    /// Values of headers that only some banks remember.
    seen: HashSet<(&'static str, String)>,
    payments: HashMap<String, Payment>,
    /// The payments of each basket.
    baskets: HashMap<String, Vec<String>>,
    unattended_calls: HashMap<&'static str, (NaiveDate, u32)>,
}

impl State {
    /// A bank that has just opened. Its ids follow from `seed` and from how many it has given out.
    pub(crate) fn new(seed: u64) -> Self {
        let earlier = seed::EARLIER_PAYMENTS.iter().map(|payment| {
            let (product, status) = (payment.product, payment.status);
            let funds_available = status != Status::Rjct;
            (payment.id.to_owned(), Payment { product, status, funds_available, members: Map::new() })
        });
        let memory = Memory { payments: earlier.collect(), ..Memory::default() };
        Self { seed, transactions: seed::transactions(), memory: Mutex::new(memory) }
    }

    /// Remembers a new payment, and returns its id.
    pub(crate) fn create_payment(&self, payment: Payment) -> String {
        let mut memory = self.memory();
        let id = memory.next_id(self.seed);
        memory.payments.insert(id.clone(), payment);
        id
    }

    /// Remembers a new basket, and returns its id.
    pub(crate) fn create_basket(&self, payment_ids: Vec<String>) -> String {
        let mut memory = self.memory();
        let id = memory.next_id(self.seed);
        memory.baskets.insert(id.clone(), payment_ids);
        id
    }

    /// Remembers a value of a header, and says whether it was there before.
    pub(crate) fn is_new(&self, header: &'static str, value: &str) -> bool {
        self.memory().seen.insert((header, value.to_owned()))
    }

    /// A payment that was created before.
    pub(crate) fn payment(&self, id: &str) -> Option<Payment> {
        self.memory().payments.get(id).cloned()
    }

    /// The product of a payment that was created before.
    pub(crate) fn product(&self, payment_id: &str) -> Option<Product> {
        self.memory().payments.get(payment_id).map(|payment| payment.product)
    }

    /// "Worst case over all payments in it": rejected if one of them is, otherwise received, since the document gives the
    /// other statuses no order. Nothing if there is no such basket.
    pub(crate) fn basket_status(&self, id: &str) -> Option<Status> {
        let memory = self.memory();
        let payments = memory.baskets.get(id)?;
        let rejected =
            |id: &String| memory.payments.get(id).is_some_and(|known| known.status == Status::Rjct);
        Some(if payments.iter().any(rejected) { Status::Rjct } else { Status::Rcvd })
    }

    /// Cancels a payment unless it is pending: the status that it then has, or nothing if there is no such payment.
    pub(crate) fn cancel(&self, id: &str, product: Product) -> Option<Status> {
        let mut memory = self.memory();
        let payment = memory.payments.get_mut(id).filter(|payment| payment.product == product)?;
        if payment.status != Status::Pdng {
            payment.status = Status::Canc;
        }
        Some(payment.status)
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

    /// The ids and details of the booked transactions of an account.
    pub(crate) fn transactions(&self, account: &str) -> impl Iterator<Item = (&str, &Value)> {
        let booked = self.transactions.iter().filter(move |booked| booked.account == account);
        booked.map(|booked| (booked.id, &booked.details))
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
            (0..1000).map(|_| state.create_basket(vec![])).collect::<Vec<_>>()
        };
        assert_eq!(ids(7), ids(7));
        assert_eq!(ids(7).into_iter().chain(ids(8)).collect::<HashSet<_>>().len(), 2000);
        let id = &ids(0)[0];
        assert_eq!((id.len(), &id[14..15]), (36, "8"));
    }

    #[test]
    fn payments_are_remembered() {
        let state = State::new(0);
        let create = |product| state.create_payment(Payment::received(product));
        let (one, two) = (create(Product::Ncbct), create(Product::Periodic));
        assert_eq!(state.product(&one), Some(Product::Ncbct));
        assert_eq!(state.product(&two), Some(Product::Periodic));
        assert_eq!(state.product(&state.create_basket(vec![])), None);
    }

    #[test]
    fn a_payment_is_cancelled_unless_it_is_pending() {
        let state = State::new(0);
        let id = state.create_payment(Payment::received(Product::Ncbct));
        assert_eq!(state.cancel(&id, Product::Periodic), None, "another product's path");
        assert_eq!(state.cancel(&id, Product::Ncbct), Some(Status::Canc));
        assert_eq!(state.payment(&id).unwrap().status, Status::Canc);
        assert_eq!(state.cancel("payment-pending-0001", Product::Ncbct), Some(Status::Pdng));
        assert_eq!(state.cancel("unknown", Product::Ncbct), None);
    }

    #[test]
    fn a_basket_is_as_bad_as_its_worst_payment() {
        let state = State::new(0);
        let good = state.create_payment(Payment::received(Product::Ncbct));
        let status = |ids: &[&str]| {
            let basket = state.create_basket(ids.iter().map(|id| (*id).to_owned()).collect());
            state.basket_status(&basket)
        };
        assert_eq!(status(&[&good]), Some(Status::Rcvd));
        assert_eq!(status(&[&good, "payment-rejected-0001"]), Some(Status::Rjct));
        assert_eq!(state.basket_status("unknown"), None);
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
