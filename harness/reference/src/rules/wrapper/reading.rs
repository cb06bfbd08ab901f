//! Effects of reading a payment or an account.

use axum::http::StatusCode;
use chrono::NaiveDate;
use serde::Deserialize;
use xs2aspec_bank::header::{Fields, Header};
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::operations::unknown_payment;
use xs2aspec_bank::refusal::{Code, Refusal};

use super::{Call, Outcome};

/// An effect of reading a payment or an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reading {
    /// A payment becomes unknown after a caller who may not see it has asked for it.
    HidesRefused,
    /// A call with PSU-IP-Address counts as one without it, but is not rejected.
    CountsAttended,
    /// A call with PSU-IP-Address resets the count of those without it.
    ResetsCount,
    /// With PSU-IP-Address, consents expire if their age in days is in this range.
    LapsesBetween(i64, i64),
}

impl Reading {
    pub(super) fn around(self, call: &Call<'_>, handle: &dyn Fn() -> Outcome) -> Outcome {
        let (state, today, id) = (&call.context.state, call.context.clock.today(), call.id());
        let is_attended = Fields(call.request.headers).has(Header::PsuIpAddress);
        match (self, call.operation) {
            (
                Self::HidesRefused,
                Operation::Payment(product) | Operation::Status(product) | Operation::Deletion(product),
            ) => match handle() {
                Ok(_) if state.is_known("asked by another", id) => Err(unknown_payment()),
                Err(refusal) if refusal.rule == unknown_payment().rule => {
                    if state.payment(id).is_some_and(|payment| payment.product == product) {
                        state.is_new("asked by another", id);
                    }
                    Err(refusal)
                }
                outcome => outcome,
            },
            (Self::CountsAttended | Self::ResetsCount, Operation::Transaction | Operation::Transactions)
                if is_attended =>
            {
                // The count belongs to one day, so any other day resets it.
                let day = if self == Self::ResetsCount { NaiveDate::MIN } else { today };
                let answer = handle()?;
                state.count_unattended_call(id, day);
                Ok(answer)
            }
            (Self::LapsesBetween(from, to), Operation::Transaction | Operation::Transactions)
                if is_attended =>
            {
                let answer = handle()?;
                let age = state.account(id).map_or(0, |account| state.consent_age(&account, today));
                if !(from..=to).contains(&age) {
                    return Ok(answer);
                }
                let says =
                    format!("expected a consent at most {} days old, found one of {age} days", from - 1);
                let code = Code::ConsentExpired;
                Err(Refusal::new(StatusCode::UNAUTHORIZED, code, "limit.sca-renewal", says))
            }
            _ => handle(),
        }
    }
}
