//! Effects of the creation of a payment.

use serde::Deserialize;
use xs2aspec_bank::state::{Payment, Status};

use super::{Call, Outcome};

/// An effect of the creation of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Creation {
    /// Deleted payments of the same PSU become RCVD again.
    Revives,
    /// The payment gets the id of the payment that was last deleted on the same day for the same PSU.
    GivesDeletedId,
}

impl Creation {
    pub(super) fn around(self, call: &Call<'_>, handle: &dyn Fn() -> Outcome) -> Outcome {
        let (status, answer) = handle()?;
        let state = &call.context.state;
        let id = answer["paymentId"].as_str().unwrap_or_default();
        let Some(payment) = state.payment(id) else { return Ok((status, answer)) };
        let is_deleted = |other: &Payment| {
            other.status == Status::Canc
                && other.owner.psu == payment.owner.psu
                && (self == Self::Revives || other.made == payment.made)
        };
        let deleted = state.payments(|_, other| is_deleted(other));
        if self == Self::Revives {
            deleted.iter().map(|(id, _)| id).for_each(|id| state.set_status(id, Status::Rcvd));
            return Ok((status, answer));
        }
        let text = deleted.first().map(|(deleted, _)| answer.to_string().replace(id, deleted));
        let other = text.and_then(|text| serde_json::from_str(&text).ok());
        Ok((status, other.unwrap_or(answer)))
    }
}
