//! What only a bank with a fault remembers.

use chrono::NaiveDate;

use super::{Payment, State, Status};

impl State {
    /// How often this came with this key, this time included.
    pub(crate) fn count(&self, kind: &'static str, key: &str) -> u32 {
        let mut memory = self.memory();
        let counted = memory.seen.entry((kind, key.to_owned())).or_default();
        let count = counted.parse::<u32>().unwrap_or_default().saturating_add(1);
        *counted = count.to_string();
        count
    }

    /// A payment whose id begins so.
    pub(crate) fn payment_begun_by(&self, beginning: &str) -> Option<Payment> {
        let memory = self.memory();
        let found = memory.payments.iter().find(|(id, _)| id.starts_with(beginning));
        found.map(|(_, payment)| payment.clone())
    }

    /// Gives a payment another status.
    pub(crate) fn set_status(&self, id: &str, status: Status) {
        if let Some(payment) = self.memory().payment(id) {
            payment.status = status;
        }
    }

    /// What was deleted for a PSU is received again.
    pub(crate) fn revive(&self, psu: Option<&str>) {
        let mut memory = self.memory();
        for (_, payment) in &mut memory.payments {
            if payment.status == Status::Canc && payment.owner.psu.as_deref() == psu {
                payment.status = Status::Rcvd;
            }
        }
    }

    /// Cancels whatever was received for the PSU of a payment.
    pub(crate) fn cancel_all_with(&self, id: &str, is_alike: impl Fn(&Payment, &Payment) -> bool) {
        let mut memory = self.memory();
        let Some(own) = memory.payment(id).cloned() else { return };
        let all = memory.payments.iter_mut().map(|(_, payment)| payment);
        let of_psu = all.filter(|one| one.owner.psu == own.owner.psu && one.status == Status::Rcvd);
        for payment in of_psu.filter(|payment| is_alike(&own, payment)) {
            payment.status = Status::Canc;
        }
    }

    /// Cancels whatever is in a basket with a payment.
    pub(crate) fn cancel_baskets_with(&self, id: &str) {
        let mut memory = self.memory();
        let has_it = |payments: &&Vec<String>| payments.iter().any(|payment| payment == id);
        let baskets = memory.baskets.iter().map(|(_, payments)| payments);
        let together: Vec<String> = baskets.filter(has_it).flatten().cloned().collect();
        for id in together {
            if let Some(payment) = memory.payment(&id) {
                payment.status = Status::Canc;
            }
        }
    }

    /// The id of a payment of this PSU that was deleted on this day, that of the last one.
    pub(crate) fn deleted_id(&self, psu: Option<&str>, today: NaiveDate) -> Option<String> {
        let memory = self.memory();
        let found = memory.payments.iter().find(|(_, payment)| {
            payment.status == Status::Canc
                && payment.owner.psu.as_deref() == psu
                && payment.made == Some(today)
        });
        found.map(|(id, _)| id.clone())
    }
}
