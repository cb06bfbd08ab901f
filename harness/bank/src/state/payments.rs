//! Payments and baskets, as the bank remembers them.

use chrono::NaiveDate;
use rust_decimal::Decimal;

use super::{Memory, State, Status};
use crate::fingerprint::Fingerprint;
use crate::operation::Product;
use crate::seed::EarlierPayment;

/// Whose a payment is: the PSU and the TPP that it was made for, as far as the request named them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The PSU-ID of this bank.
    pub psu: Option<String>,
    /// The DER encoding of the subject of the TPP's certificate.
    pub(crate) tpp: Option<Vec<u8>>,
}

impl Owner {
    /// Whether what is this owner's shows to whoever asks. Where one of them names no PSU, or no TPP, there
    /// is nothing to compare.
    pub(crate) fn shows_to(&self, asking: &Self) -> bool {
        fn differ<T: PartialEq>(own: Option<&T>, other: Option<&T>) -> bool {
            own.zip(other).is_some_and(|(own, other)| own != other)
        }
        !differ(self.psu.as_ref(), asking.psu.as_ref()) && !differ(self.tpp.as_ref(), asking.tpp.as_ref())
    }
}

/// A payment as the bank keeps it.
#[derive(Clone, Debug)]
pub struct Payment {
    /// What it is a payment of.
    pub product: Product,
    /// Whether it pays many at once. None is made here: such payments are as old as the bank.
    pub(crate) is_bulk: bool,
    /// The status that it was given; what has become of a received one is [`Payment::status_on`].
    pub status: Status,
    /// Whether the debtor account could pay it.
    pub(crate) funds_available: bool,
    /// The members it was made with, as JSON text: a fifth of what they take as values.
    pub members: Box<str>,
    /// By which payments of other members are told from it.
    pub(crate) fingerprint: Fingerprint,
    /// The day on which it was made, if the bank was open then.
    pub made: Option<NaiveDate>,
    /// The day from which on it is executed, if it was made while the bank was open.
    pub(crate) from: Option<NaiveDate>,
    /// What it takes from an account with a balance: resource id and value.
    pub(crate) takes: Option<(String, Decimal)>,
    /// Whose it is.
    pub owner: Owner,
}

impl Payment {
    /// A received payment is under way a day after the day of its execution, and settled a day later; a
    /// received series has begun then.
    pub fn status_on(&self, today: NaiveDate) -> Status {
        let days = self.from.map_or(0, |from| (today - from).num_days());
        match (self.status, self.product) {
            (Status::Rcvd, Product::Ncbct) if days >= 2 => Status::Acsc,
            (Status::Rcvd, Product::Ncbct) if days == 1 => Status::Pdng,
            (Status::Rcvd, Product::Periodic) if days >= 1 => Status::Actc,
            (status, _) => status,
        }
    }

    /// One that was made before the bank opened, by a TPP that nobody remembers.
    pub(super) fn earlier(of: &EarlierPayment) -> Self {
        let owner = Owner { psu: of.psu_id.clone(), tpp: None };
        let funds_available = of.status != Status::Rjct;
        let (members, fingerprint, made, from, takes) =
            ("{}".into(), Fingerprint::default(), None, None, None);
        let (product, is_bulk, status) = (of.product, of.bulk, of.status);
        Self { product, is_bulk, status, funds_available, members, fingerprint, made, from, takes, owner }
    }

    /// A payment that the bank has received.
    #[cfg(test)]
    pub(crate) fn received(product: Product) -> Self {
        let (payment_id, bulk, status, psu_id) = (String::new(), false, Status::Rcvd, None);
        Self::earlier(&EarlierPayment { payment_id, product, bulk, status, psu_id })
    }
}

impl State {
    /// Remembers a new payment, and returns its id.
    pub(crate) fn create_payment(&self, payment: Payment, origin: u64) -> String {
        let id = self.memory().next_id(self.seed, origin);
        self.keep_payment(id, payment)
    }

    /// Remembers a payment under this id.
    pub fn keep_payment(&self, id: String, payment: Payment) -> String {
        let mut memory = self.memory();
        if let Some((account, value)) =
            payment.takes.as_ref().filter(|_| !matches!(payment.status, Status::Rjct | Status::Canc))
        {
            *memory.taken.entry(account.clone()).or_default() += value;
        }
        memory.payments.put(id.clone(), payment);
        id
    }

    /// Remembers a new basket, and returns its id.
    pub(crate) fn create_basket(&self, payment_ids: Vec<String>, origin: u64) -> String {
        let mut memory = self.memory();
        let id = memory.next_id(self.seed, origin);
        memory.baskets.put(id.clone(), payment_ids);
        id
    }

    /// The next one of ascending numbers of ten digits.
    pub(crate) fn next_number(&self) -> u64 {
        let mut memory = self.memory();
        memory.numbers += 1;
        1_000_000_000 + memory.numbers
    }

    /// A payment that was created before.
    pub fn payment(&self, id: &str) -> Option<Payment> {
        self.memory().payment(id).cloned()
    }

    /// Whether a payment is among so many that were made or asked for last.
    pub(crate) fn is_recent(&self, id: &str, most: usize) -> bool {
        self.memory().payments.iter().take(most).any(|(recent, _)| recent == id)
    }

    /// Whether a payment is in some basket.
    pub fn is_in_a_basket(&self, id: &str) -> bool {
        self.memory().baskets.iter().any(|(_, payments)| payments.iter().any(|payment| payment == id))
    }

    /// Gives a payment another status, whatever its own one is.
    pub fn set_status(&self, id: &str, status: Status) {
        if let Some(payment) = self.memory().payment(id) {
            payment.status = status;
        }
    }

    /// The payments that this says yes to, with their ids: those that were made or asked for last come first.
    /// Those that the bank began with are not among them.
    pub fn payments(&self, says: impl Fn(&str, &Payment) -> bool) -> Vec<(String, Payment)> {
        let memory = self.memory();
        let found = memory.payments.iter().filter(|(id, payment)| says(id, payment));
        found.map(|(id, payment)| (id.clone(), payment.clone())).collect()
    }

    /// The ids of all payments that are in a basket with this one.
    pub fn in_baskets_with(&self, id: &str) -> Vec<String> {
        let memory = self.memory();
        let baskets = memory.baskets.iter().map(|(_, payments)| payments);
        baskets.filter(|payments| payments.iter().any(|payment| payment == id)).flatten().cloned().collect()
    }

    /// The payments of a basket, as long as the bank remembers all of them.
    pub(crate) fn basket(&self, id: &str) -> Option<Vec<Payment>> {
        let mut memory = self.memory();
        let ids = memory.baskets.get(id)?.clone();
        ids.iter().map(|id| memory.payment(id).cloned()).collect()
    }

    /// Whether this says yes to any of the payments made last, so many at most.
    pub(crate) fn any_payment(&self, most: usize, says: impl Fn(&Payment) -> bool) -> bool {
        self.memory().payments.iter().take(most).any(|(_, payment)| says(payment))
    }

    /// "Worst case over all payments in it": rejected if one of them is, accepted if each is under way or
    /// further, otherwise received; the document gives the statuses no order. Nothing if there is no such
    /// basket.
    pub(crate) fn basket_status(&self, id: &str, today: NaiveDate) -> Option<Status> {
        let mut memory = self.memory();
        let payments = memory.baskets.get(id)?.clone();
        let status = |id: &String| memory.payment(id).map(|payment| payment.status_on(today));
        let statuses: Vec<Status> = payments.iter().filter_map(status).collect();
        let is_under_way = |status: &Status| matches!(status, Status::Pdng | Status::Acsc | Status::Actc);
        Some(if statuses.contains(&Status::Rjct) {
            Status::Rjct
        } else if !statuses.is_empty() && statuses.iter().all(is_under_way) {
            Status::Actc
        } else {
            Status::Rcvd
        })
    }

    /// Cancels a payment unless it is under way, settled or rejected: the status that it then has, or nothing
    /// if there is no such payment.
    pub fn cancel(&self, id: &str, product: Product, today: NaiveDate) -> Option<Status> {
        let mut memory = self.memory();
        let payment = memory.payment(id).filter(|payment| payment.product == product)?;
        let status = payment.status_on(today);
        if matches!(status, Status::Pdng | Status::Acsc | Status::Rjct) {
            return Some(status);
        }
        let before = std::mem::replace(&mut payment.status, Status::Canc);
        let takes = payment.takes.clone().filter(|_| before != Status::Canc);
        if let Some((account, value)) = takes {
            let sum = memory.taken.entry(account).or_default();
            *sum = (*sum - value).max(Decimal::ZERO);
        }
        Some(Status::Canc)
    }
}

impl Memory {
    /// A payment, if it is remembered.
    fn payment(&mut self, id: &str) -> Option<&mut Payment> {
        self.earlier.get_mut(id).or_else(|| self.payments.get_mut(id))
    }
}
