//! Effects of the deletion of a payment.

use serde::Deserialize;
use xs2aspec_bank::operation::Product;
use xs2aspec_bank::state::Status;

use super::{Call, Outcome};

/// An effect of the deletion of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Deletion {
    /// A received payment stays as it is.
    Nothing,
    /// The payment becomes RCVD.
    Revives,
    /// The payment is cancelled although a rule that starts like this rejects the request.
    DoneThoughRefused(&'static str),
    /// All payments of the same PSU are cancelled.
    AllOfPsu,
    /// All payments of the same PSU with the same fields are cancelled.
    Twins,
    /// All payments in the same baskets are cancelled.
    Baskets,
}

impl Deletion {
    pub(super) fn around(self, call: &Call<'_>, product: Product, handle: &dyn Fn() -> Outcome) -> Outcome {
        let (state, id) = (&call.context.state, call.id());
        let Some(payment) = state.payment(id) else { return handle() };
        let outcome = handle().inspect_err(|refusal| match self {
            Self::DoneThoughRefused(rule @ "payment.deletion.pending") if refusal.rule == rule => {
                state.set_status(id, Status::Canc);
            }
            Self::DoneThoughRefused(rule) if refusal.rule.starts_with(rule) => {
                state.cancel(id, product, call.context.clock.today());
            }
            _ => {}
        })?;
        let cancel = |id: &String| state.set_status(id, Status::Canc);
        let cancel_others = |is_alike: bool| {
            let others = state.payments(|_, other| {
                other.owner.psu == payment.owner.psu
                    && other.status == Status::Rcvd
                    && (!is_alike || other.members == payment.members)
            });
            others.iter().map(|(id, _)| id).for_each(cancel);
        };
        match self {
            Self::Nothing if payment.status == Status::Rcvd => {
                state.keep_payment(id.to_owned(), payment);
            }
            Self::Revives => state.set_status(id, Status::Rcvd),
            Self::AllOfPsu => cancel_others(false),
            Self::Twins => cancel_others(true),
            Self::Baskets => state.in_baskets_with(id).iter().for_each(cancel),
            Self::Nothing | Self::DoneThoughRefused(_) => {}
        }
        Ok(outcome)
    }
}
