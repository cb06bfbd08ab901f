//! What no bank would decide in its configuration: forgetting, taking turns, confusing two requests. Each is
//! a small program around the bank, which sees the request before and the response after.

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
    /// What this rule refuses is answered as what is done.
    Accepts(&'static str),
    /// An id that the bank does not know is taken for one that it knows.
    Finds(Likeness),
    /// The creation of a payment does something else besides.
    Creates(Creation),
    /// The deletion of a payment does something else besides, or nothing.
    Deletes(Deletion),
    /// Reading a payment or an account has a consequence.
    Reads(Reading),
    /// The list of customers is another.
    Lists(Listing),
    /// A payment counts as one that was made before, whatever became of it, if its amount is the same.
    RefusedTwins,
    /// Requests are looked at more narrowly.
    Narrow(Narrowness),
    /// After five wrong signatures in a row the next right one is refused.
    LockedAfterFive,
    /// When a transaction is read, a key id that came with two certificates from one device of a PSU is
    /// refused from then on.
    KeyIdOfTwo,
}

/// A request on its way into the bank.
pub(crate) struct Call<'a> {
    pub(crate) context: &'a Context,
    pub(crate) policy: &'a Policy,
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

    /// The path parameters and the body that a request is taken to have, where these are others.
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
                    let says = "expected a key that was not used wrongly five times, found one that was";
                    return Err(Refusal::unauthenticated("signature.locked", says).at("signature"));
                }
                handle()
            }
            (Self::KeyIdOfTwo, Operation::Transaction) if call.has_key_id_of_two() => {
                let says = "expected a key id of one certificate, found one that came with two";
                Err(Refusal::unauthenticated("signature.key-id", says).at("signature"))
            }
            _ => handle(),
        }
    }
}

impl Call<'_> {
    /// Whether the key id came with two certificates from this device of the PSU, now or before.
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

    /// The ids of the payments that it is about.
    fn payment_ids(&self) -> Vec<String> {
        payment_ids(self.operation, self.request.uri, self.request.body)
    }

    /// The first variable part of its path, and nothing if it has none.
    fn id(&self) -> &str {
        self.request.path_parameters.first().map_or("", String::as_str)
    }

    /// What the body of a payment would pay.
    fn amount(&self) -> String {
        let members = json::object(self.request.body).unwrap_or_default();
        members.get("instructedAmount").map(Value::to_string).unwrap_or_default()
    }

    /// The payments that it is about, as far as the bank has them.
    fn payments(&self) -> Vec<Payment> {
        self.payment_ids().iter().filter_map(|id| self.context.state.payment(id)).collect()
    }
}

/// The currency of a payment.
fn currency(payment: &Payment) -> Option<Value> {
    let members: Value = serde_json::from_str(&payment.members).ok()?;
    members.pointer("/instructedAmount/currency").cloned()
}
