//! Payments and baskets in the memory of the bank.

use chrono::NaiveDate;
use rust_decimal::Decimal;

use super::{Memory, State, Status};
use crate::fingerprint::Fingerprint;
use crate::operation::Product;
use crate::seed::EarlierPayment;

/// The PSU and the TPP of a payment, as far as the request named them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The PSU-ID.
    pub psu: Option<String>,
    /// The DER encoding of the subject of the TPP's certificate.
    pub(crate) tpp: Option<Vec<u8>>,
}

impl Owner {
    /// Returns true if the caller can see what belongs to this owner. A PSU or TPP that is not named is not
    /// compared.
    pub(crate) fn shows_to(&self, asking: &Self) -> bool {
        fn differ<T: PartialEq>(own: Option<&T>, other: Option<&T>) -> bool {
            own.zip(other).is_some_and(|(own, other)| own != other)
        }
        !differ(self.psu.as_ref(), asking.psu.as_ref()) && !differ(self.tpp.as_ref(), asking.tpp.as_ref())
    }
}

/// A payment.
#[derive(Clone, Debug)]
pub struct Payment {
    /// The product.
    pub product: Product,
    /// True for a bulk payment. Only seed data have them.
    pub(crate) is_bulk: bool,
    /// The recorded status. [`Payment::status_on`] derives the current one from it.
    pub status: Status,
    /// True if the debtor account could cover the payment.
    pub(crate) funds_available: bool,
    /// The fields as JSON text, which takes a fifth of the memory of parsed values.
    pub members: Box<str>,
    /// The fingerprint, to compare payments without parsing them.
    pub(crate) fingerprint: Fingerprint,
    /// The day of creation, or None for seed data.
    pub made: Option<NaiveDate>,
    /// The first day of execution, or None for seed data.
    pub(crate) from: Option<NaiveDate>,
    /// The resource id of the account and the amount that the payment uses up, if the account has a balance.
    pub(crate) takes: Option<(String, Decimal)>,
    /// The PSU and the TPP.
    pub owner: Owner,
}

impl Payment {
    /// Returns the status on a day.
    ///
    /// One day after its execution day a received payment is PDNG, and another day later ACSC. One day after
    /// its start a received series is ACTC.
    pub fn status_on(&self, today: NaiveDate) -> Status {
        let days = self.from.map_or(0, |from| (today - from).num_days());
        match (self.status, self.product) {
            (Status::Rcvd, Product::Ncbct) if days >= 2 => Status::Acsc,
            (Status::Rcvd, Product::Ncbct) if days == 1 => Status::Pdng,
            (Status::Rcvd, Product::Periodic) if days >= 1 => Status::Actc,
            (status, _) => status,
        }
    }

    /// Returns a payment of the seed data, whose TPP is unknown.
    pub(super) fn earlier(of: &EarlierPayment) -> Self {
        let owner = Owner { psu: of.psu_id.clone(), tpp: None };
        let funds_available = of.status != Status::Rjct;
        let (members, fingerprint, made, from, takes) =
            ("{}".into(), Fingerprint::default(), None, None, None);
        let (product, is_bulk, status) = (of.product, of.bulk, of.status);
        Self { product, is_bulk, status, funds_available, members, fingerprint, made, from, takes, owner }
    }

    /// Returns a payment with status RCVD.
    #[cfg(test)]
    pub(crate) fn received(product: Product) -> Self {
        let (payment_id, bulk, status, psu_id) = (String::new(), false, Status::Rcvd, None);
        Self::earlier(&EarlierPayment { payment_id, product, bulk, status, psu_id })
    }
}

impl State {
    /// Adds a payment, and returns its new id.
    pub(crate) fn create_payment(&self, payment: Payment, origin: u64) -> String {
        let id = self.memory().next_id(self.seed, origin);
        self.keep_payment(id, payment)
    }

    /// Adds a payment under this id.
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

    /// Adds a basket, and returns its new id.
    pub(crate) fn create_basket(&self, payment_ids: Vec<String>, origin: u64) -> String {
        let mut memory = self.memory();
        let id = memory.next_id(self.seed, origin);
        memory.baskets.put(id.clone(), payment_ids);
        id
    }

    /// Returns the next of ascending numbers of ten digits.
    pub(crate) fn next_number(&self) -> u64 {
        let mut memory = self.memory();
        memory.numbers += 1;
        1_000_000_000 + memory.numbers
    }

    /// Returns a payment.
    pub fn payment(&self, id: &str) -> Option<Payment> {
        self.memory().payment(id).cloned()
    }

    /// Returns true if a payment is among the `most` recently used ones.
    pub(crate) fn is_recent(&self, id: &str, most: usize) -> bool {
        self.memory().payments.iter().take(most).any(|(recent, _)| recent == id)
    }

    /// Returns true if a payment is in a basket.
    pub fn is_in_a_basket(&self, id: &str) -> bool {
        self.memory().baskets.iter().any(|(_, payments)| payments.iter().any(|payment| payment == id))
    }

    /// Sets the status of a payment.
    pub fn set_status(&self, id: &str, status: Status) {
        if let Some(payment) = self.memory().payment(id) {
            payment.status = status;
        }
    }

    /// Returns the matching payments with their ids, most recently used first. Those of the seed data are not
    /// included.
    pub fn payments(&self, says: impl Fn(&str, &Payment) -> bool) -> Vec<(String, Payment)> {
        let memory = self.memory();
        let found = memory.payments.iter().filter(|(id, payment)| says(id, payment));
        found.map(|(id, payment)| (id.clone(), payment.clone())).collect()
    }

    /// Returns the ids of all payments in the baskets of this payment.
    pub fn in_baskets_with(&self, id: &str) -> Vec<String> {
        let memory = self.memory();
        let baskets = memory.baskets.iter().map(|(_, payments)| payments);
        baskets.filter(|payments| payments.iter().any(|payment| payment == id)).flatten().cloned().collect()
    }

    /// Returns the payments of a basket, or None if one of them was dropped.
    pub(crate) fn basket(&self, id: &str) -> Option<Vec<Payment>> {
        let mut memory = self.memory();
        let ids = memory.baskets.get(id)?.clone();
        ids.iter().map(|id| memory.payment(id).cloned()).collect()
    }

    /// Returns true if one of the `most` recently used payments matches.
    pub(crate) fn any_payment(&self, most: usize, says: impl Fn(&Payment) -> bool) -> bool {
        self.memory().payments.iter().take(most).any(|(_, payment)| says(payment))
    }

    /// Returns the status of a basket: the "worst case over all payments in it". Returns None for an unknown
    /// basket.
    ///
    /// The document does not order the statuses. Here a basket is RJCT if one of its payments is, ACTC if all
    /// are PDNG or further, and RCVD otherwise.
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

    /// Cancels a payment, unless it is pending, settled or rejected. Returns its status after the call, or
    /// None for an unknown payment.
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
    /// Returns a payment of the memory.
    fn payment(&mut self, id: &str) -> Option<&mut Payment> {
        self.earlier.get_mut(id).or_else(|| self.payments.get_mut(id))
    }
}
