//! What the deletion of a payment does besides, or instead.

use serde::Deserialize;
use xs2aspec_bank::operation::Product;
use xs2aspec_bank::state::Status;

use super::{Call, Outcome};

/// What the bank does when a payment is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Deletion {
    /// Nothing: a payment that was received stays so.
    Nothing,
    /// The payment is received again.
    Revives,
    /// What a rule that begins so refuses is done all the same.
    DoneThoughRefused(&'static str),
    /// All payments of the same PSU are cancelled.
    AllOfPsu,
    /// All payments of the same PSU that have the same members are cancelled.
    Twins,
    /// All payments that are in a basket with it are cancelled.
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
