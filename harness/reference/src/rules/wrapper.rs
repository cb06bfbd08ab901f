//! Wrappers: behavior that no bank would configure, such as forgetting, alternating, or confusing two
//! requests. Each is code around the bank, which sees the request before and the response after.

mod creation;
mod deletion;
mod listing;
mod lookup;
mod reading;
mod strictness;

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use xs2aspec_bank::header::Header;
use xs2aspec_bank::json;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::operations::{self, Context, Request, twin};
use xs2aspec_bank::policy::Policy;
use xs2aspec_bank::refusal::{Code, Refusal};
use xs2aspec_bank::state::{Payment, Status};

use self::creation::Creation;
use self::deletion::Deletion;
use self::listing::Listing;
use self::lookup::Likeness;
use self::reading::Reading;
use self::strictness::Narrowness;
use super::beside::payment_ids;

/// The result of a request.
pub(crate) type Outcome = Result<(StatusCode, Value), Refusal>;

/// A wrapper around the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wrapper {
    /// Rejects a basket with payments in several currencies.
    OneCurrency,
    /// Cancels all payments of a basket that is rejected for a periodic payment.
    RefusedBasketCancels,
    /// Ignores payments in a basket that were rejected on the same day.
    RejectedTodayPasses,
    /// Responds to rejections by this rule as if the request had succeeded.
    Accepts(&'static str),
    /// Replaces an unknown id with a known one.
    Finds(Likeness),
    /// Adds an effect to the creation of a payment.
    Creates(Creation),
    /// Adds an effect to the deletion of a payment, or undoes it.
    Deletes(Deletion),
    /// Adds an effect to reading a payment or an account.
    Reads(Reading),
    /// Changes the list of customers.
    Lists(Listing),
    /// Rejects a payment as a logical duplicate if an earlier request had the same amount, even if that was
    /// rejected.
    RefusedTwins,
    /// Rejects requests that a strict bank rejects.
    Narrow(Narrowness),
    /// Rejects the first valid signature after five invalid ones in a row.
    LockedAfterFive,
    /// Rejects a keyId, when a transaction is read, once one PSU device has sent it with two certificates.
    KeyIdOfTwo,
}

/// A request to the bank.
pub(crate) struct Call<'a> {
    pub(crate) context: &'a Context,
    pub(crate) policy: &'a Policy,
    pub(crate) operation: Operation,
    pub(crate) request: &'a Request<'a>,
}

impl Wrapper {
    /// Handles a request with these wrappers. The first one is the outermost.
    pub(crate) fn around_all(wrappers: &[Self], call: &Call<'_>, handle: &dyn Fn() -> Outcome) -> Outcome {
        match wrappers {
            [] => handle(),
            [first, rest @ ..] => first.around(call, &|| Self::around_all(rest, call, handle)),
        }
    }

    /// Returns the replaced path parameters and body of a request, or None if they stay as they are.
    pub(crate) fn rewrite(self, call: &Call<'_>) -> Option<(Vec<String>, Vec<u8>)> {
        match self {
            Self::Finds(likeness) => likeness.rewrite(call),
            _ => None,
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
                    let state = &call.context.state;
                    call.payment_ids().iter().for_each(|id| state.set_status(id, Status::Canc));
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
            (Self::Accepts(rule), _) => match handle() {
                Err(refusal) if refusal.rule == rule => Ok((StatusCode::NO_CONTENT, Value::Null)),
                outcome => outcome,
            },
            (Self::Creates(creation), _) => creation.around(call, handle),
            (Self::Deletes(deletion), Operation::Deletion(product)) => deletion.around(call, product, handle),
            (Self::Reads(reading), _) => reading.around(call, handle),
            (Self::Lists(listing), Operation::Customers) => listing.around(call, handle),
            (Self::RefusedTwins, Operation::Ncbct) => {
                let state = &call.context.state;
                let is_first = state.count("asked", &call.amount()) == 1;
                let (status, answer) = handle()?;
                let query = call.request.uri.query().unwrap_or_default();
                if !is_first && query.contains("allowLogicalDuplicate=false") {
                    state.set_status(answer["paymentId"].as_str().unwrap_or_default(), Status::Canc);
                    return Err(twin());
                }
                Ok((status, answer))
            }
            (Self::Narrow(narrowness), _) => {
                narrowness.check(call)?;
                handle()
            }
            (Self::LockedAfterFive, _) => {
                let Call { context, policy, operation, request } = *call;
                let state = &context.state;
                let since = state.times("right signatures", "").to_string();
                if operations::authenticate(context, policy, operation, request).is_err() {
                    state.count("wrong signatures", &since);
                    return handle();
                }
                state.count("right signatures", "");
                if state.times("wrong signatures", &since) >= 5 {
                    let says = "expected a key without five invalid signatures in a row, found a locked one";
                    return Err(Refusal::unauthenticated("signature.locked", says).at("signature"));
                }
                handle()
            }
            (Self::KeyIdOfTwo, Operation::Transaction) if call.has_key_id_of_two() => {
                let says = "expected a keyId with one certificate, found one with two";
                Err(Refusal::unauthenticated("signature.key-id", says).at("signature"))
            }
            _ => handle(),
        }
    }
}

impl Call<'_> {
    /// Returns true if the PSU device has sent the keyId with two certificates, including this request.
    fn has_key_id_of_two(&self) -> bool {
        let (fields, state) = (self.request.head().fields, &self.context.state);
        let header = fields.text(Header::Signature).unwrap_or_default();
        let named = header.split_once("keyId=\"").and_then(|(_, rest)| rest.split_once('"'));
        let Some((device, (key_id, _))) = fields.text(Header::PsuDeviceId).zip(named) else { return false };
        let key_id = &format!("{device} {key_id}");
        let certificate = fields.text(Header::TppSignatureCertificate).unwrap_or_default();
        if !state.is_first("key-id", key_id, &certificate) {
            state.is_new("key-id-of-two", key_id);
        }
        state.is_known("key-id-of-two", key_id)
    }

    /// Returns the ids of the payments that the request refers to.
    fn payment_ids(&self) -> Vec<String> {
        payment_ids(self.operation, self.request.uri, self.request.body)
    }

    /// Returns the first path parameter, or an empty string.
    fn id(&self) -> &str {
        self.request.path_parameters.first().map_or("", String::as_str)
    }

    /// Returns the amount in the body of a payment.
    fn amount(&self) -> String {
        let members = json::object(self.request.body).unwrap_or_default();
        members.get("instructedAmount").map(Value::to_string).unwrap_or_default()
    }

    /// Returns the payments that the request refers to, as far as the bank knows them.
    fn payments(&self) -> Vec<Payment> {
        self.payment_ids().iter().filter_map(|id| self.context.state.payment(id)).collect()
    }
}

/// Returns the currency of a payment.
fn currency(payment: &Payment) -> Option<Value> {
    let members: Value = serde_json::from_str(&payment.members).ok()?;
    members.pointer("/instructedAmount/currency").cloned()
}
