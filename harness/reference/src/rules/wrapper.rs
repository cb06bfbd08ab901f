//! What no bank would decide in its configuration: forgetting, taking turns, confusing two requests. Each is
//! a small program around the bank, which sees the request before and the response after.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::json;
use crate::operation::Operation;
use crate::operations::{Context, Request};
use crate::refusal::{Code, Refusal};
use crate::state::{Payment, Status};

/// What the bank does with a request.
pub(crate) type Outcome = Result<(StatusCode, Value), Refusal>;

/// A program around the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wrapper {
    /// Payments in several currencies are refused in a basket.
    OneCurrency,
    /// A basket that is refused for a series cancels all payments that it names.
    RefusedBasketCancels,
    /// A payment that was rejected on the same day does not count in a basket.
    RejectedTodayPasses,
}

/// A request on its way into the bank.
pub(crate) struct Call<'a> {
    pub(crate) context: &'a Context,
    pub(crate) operation: Operation,
    pub(crate) request: &'a Request<'a>,
}

impl Wrapper {
    /// Lets the bank handle a request, as these wrappers have it: the first one is the outermost.
    pub(crate) fn around_all(wrappers: &[Self], call: &Call<'_>, handle: &dyn Fn() -> Outcome) -> Outcome {
        match wrappers {
            [] => handle(),
            [first, rest @ ..] => first.around(call, &|| Self::around_all(rest, call, handle)),
        }
    }

    fn around(self, call: &Call<'_>, handle: &dyn Fn() -> Outcome) -> Outcome {
        match (self, call.operation) {
            (Self::OneCurrency, Operation::Basket) => {
                let outcome = handle()?;
                let payments = call.payments();
                let currencies: Vec<_> = payments.iter().map(currency).collect();
                if currencies.windows(2).any(|pair| pair[0] != pair[1]) {
                    let says = "expected payments of one currency, found several";
                    return Err(Refusal::new(
                        StatusCode::BAD_REQUEST,
                        Code::ReferenceMixInvalid,
                        "basket.mix",
                        says,
                    ));
                }
                Ok(outcome)
            }
            (Self::RefusedBasketCancels, Operation::Basket) => handle().inspect_err(|refusal| {
                if refusal.rule == "basket.mix" {
                    call.payment_ids().iter().for_each(|id| call.context.state.cancel_anyway(id));
                }
            }),
            (Self::RejectedTodayPasses, Operation::Basket) => {
                let (status, mut answer) = handle()?;
                let today = call.context.clock.today();
                let counts = |payment: &Payment| {
                    payment.status_on(today) == Status::Rjct && payment.made != Some(today)
                };
                if answer["transactionStatus"] == "RJCT" && !call.payments().iter().any(counts) {
                    answer["transactionStatus"] = json!("RCVD");
                }
                Ok((status, answer))
            }
            _ => handle(),
        }
    }
}

impl Call<'_> {
    /// The ids that the body of a basket names.
    fn payment_ids(&self) -> Vec<String> {
        let members = json::object(self.request.body).unwrap_or_default();
        let ids = members.get("paymentIds").and_then(Value::as_array).into_iter().flatten();
        ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
    }

    /// The payments that the body of a basket names, as far as the bank has them.
    fn payments(&self) -> Vec<Payment> {
        self.payment_ids().iter().filter_map(|id| self.context.state.payment(id)).collect()
    }
}

/// The currency of a payment.
fn currency(payment: &Payment) -> Option<Value> {
    let members: Value = serde_json::from_str(&payment.members).ok()?;
    members.pointer("/instructedAmount/currency").cloned()
}
