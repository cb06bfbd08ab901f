//! Payments: creation (the document, section Resources > Payment creation response), and the operations that
//! the document only mentions: details, status and deletion.

use std::hash::{DefaultHasher, Hash, Hasher};

use http::StatusCode;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

use super::{Context, link};
use crate::account_number;
use crate::currency::Currency;
use crate::date;
use crate::fingerprint::Fingerprint;
use crate::money::{Amount, amount};
use crate::operation::Product;
use crate::policy::{Ids, WithoutFunds};
use crate::psu::Caller;
use crate::refusal::{Code, Refusal};
use crate::state::{Payment, State, Status};

/// Creates a payment and returns its creation response.
///
/// A payment that the debtor account cannot cover is created with status RJCT: "a proper error response, not
/// a server failure" (section Errors).
pub(super) fn create(
    caller: &Caller<'_>,
    product: Product,
    due: Amount,
    members: Map<String, Value>,
    origin: u64,
) -> Result<Value, Refusal> {
    let Caller { bank: Context { state, clock, .. }, today, .. } = *caller;
    let policy = &caller.policy.payments;
    let (has_funds, takes) = funds(state, due, &members);
    let funds_available = has_funds || policy.without_funds == WithoutFunds::Received;
    if !funds_available && policy.without_funds == WithoutFunds::Refused {
        let says = "expected an account with funds, found one without";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Code::PaymentFailed, "payment.funds", says));
    }
    let status = if funds_available { Status::Rcvd } else { Status::Rjct };
    let wanted = match product {
        Product::Ncbct => members.get("requestedExecutionDate"),
        Product::Periodic => members.get("startDate"),
    };
    let from = wanted
        .and_then(Value::as_str)
        .and_then(|text| date::parse(text).ok())
        .map_or(today, |wanted| wanted.max(today));
    let payment = Payment {
        product,
        is_bulk: false,
        status,
        funds_available,
        fingerprint: Fingerprint::of(&members),
        members: Value::Object(members).to_string().into(),
        made: Some(today),
        from: Some(from),
        // Creating a series does not reserve funds.
        takes: takes.filter(|_| product == Product::Ncbct),
        owner: caller.owner.clone(),
    };
    let id = match policy.ids {
        Ids::Opaque => state.create_payment(payment, origin),
        Ids::Numbers => state.keep_payment(state.next_number().to_string(), payment),
        Ids::Seconds => state.keep_payment(clock.now().timestamp().to_string(), payment),
        Ids::OfMembers => state.keep_payment(id_of_members(&payment), payment),
    };
    // The prices are made up: a cross-border transfer has a fee, a domestic one does not.
    let fee = match product {
        Product::Ncbct => 5_000,
        Product::Periodic => 0,
    };
    let href = format!("{}/{id}", product.path());
    let mut answer = json!({
        "paymentId": id,
        "transactionStatus": status,
        "transactionFees": amount(fee, Currency::NOK),
        "transactionFeeIndicator": fee > 0,
        "_links": {
            "self": link(&href, &["GET", "DELETE"]),
            "status": link(&format!("{href}/status"), &["GET"])
        }
    });
    if !funds_available {
        let text = "payment.funds: expected an account with funds, found one without";
        answer["tppMessages"] = json!([{ "category": "ERROR", "code": Code::PaymentFailed, "text": text }]);
    }
    Ok(answer)
}

fn id_of_members(payment: &Payment) -> String {
    let mut hasher = DefaultHasher::new();
    (payment.product.path(), &payment.members).hash(&mut hasher);
    format!("payment-{:016x}", hasher.finish())
}

/// Returns the fields that a payment was created with, its id and its status.
pub(super) fn details(product: Product, id: Option<&String>, caller: &Caller<'_>) -> Result<Value, Refusal> {
    let (id, payment) = known(caller, product, id)?;
    let status = payment.status_on(caller.today);
    let mut members: Map<String, Value> = serde_json::from_str(&payment.members).unwrap_or_default();
    members.insert("paymentId".to_owned(), json!(id));
    members.insert("transactionStatus".to_owned(), json!(status));
    Ok(Value::Object(members))
}

/// Returns the status of a payment: "payment status responses carry a `fundsAvailable` attribute that marks a
/// rejection for lack of funds" (section Errors).
pub(super) fn status(product: Product, id: Option<&String>, caller: &Caller<'_>) -> Result<Value, Refusal> {
    let (_, payment) = known(caller, product, id)?;
    let status = payment.status_on(caller.today);
    Ok(json!({ "transactionStatus": status, "fundsAvailable": payment.funds_available }))
}

/// Cancels a payment: "Deletion of a payment with status PDNG: refused with an error message" (section
/// Errors).
pub(super) fn delete(product: Product, id: Option<&String>, caller: &Caller<'_>) -> Result<(), Refusal> {
    let (id, _) = known(caller, product, id)?;
    match caller.bank.state.cancel(id, product, caller.today) {
        None => Err(unknown()),
        Some(status @ (Status::Pdng | Status::Acsc)) => Err(pending(status)),
        Some(_) => Ok(()),
    }
}

fn pending(status: Status) -> Refusal {
    let says = format!("expected a payment that is not under way, found one with status {}", json!(status));
    Refusal::conflict("payment.deletion.pending", &says)
}

/// Returns the payment with this id, if it is one of the product and the caller may see it.
fn known<'a>(
    caller: &Caller<'_>,
    product: Product,
    id: Option<&'a String>,
) -> Result<(&'a str, Payment), Refusal> {
    let policy = &caller.policy.payments;
    let is_remembered =
        |id: &&String| policy.remembered.is_none_or(|most| caller.bank.state.is_recent(id, most));
    let id = id.filter(is_remembered).ok_or_else(unknown)?;
    let is_kept = |payment: &Payment| !policy.forgets_deleted || payment.status != Status::Canc;
    let payment =
        caller.bank.state.payment(id).filter(|payment| payment.product == product && is_kept(payment));
    Ok((id, payment.filter(|payment| caller.sees(payment)).ok_or_else(unknown)?))
}

/// Rejects an id that does not name a payment of the product.
pub fn unknown() -> Refusal {
    Refusal::unknown("payment.id.known", "paymentId", "a payment of this product")
}

/// Returns true if the debtor account can pay, and the amount to take from it.
///
/// Accounts of other banks are assumed to have funds. An amount in another currency than the account's is not
/// converted, and fails only if the account has no funds at all.
fn funds(state: &State, due: Amount, members: &Map<String, Value>) -> (bool, Option<(String, Decimal)>) {
    let account =
        account_number::all(members.get("debtorAccount")).find_map(|number| state.account_by_number(number));
    let Some((account, Some(left))) = account else { return (true, None) };
    let value = due.value_in(account.currency());
    let is_enough = left > Decimal::ZERO && value.is_none_or(|value| value <= left);
    (is_enough, value.map(|value| (account.resource_id.clone(), value)))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDate, Utc};

    use super::*;
    use crate::member::Object;
    use crate::policy::Policy;
    use crate::seed::PRIVATE_ACCOUNT;
    use crate::state::Owner;

    fn at(day: u32) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(&format!("2030-01-{day:02}T12:00:00Z")).unwrap().to_utc()
    }

    fn day(day: u32) -> NaiveDate {
        at(day).date_naive()
    }

    fn bank() -> Context {
        Context::built_in(at(1))
    }

    fn owner(name: &str) -> Owner {
        Owner { psu: Some(name.to_owned()), tpp: Some(name.into()) }
    }

    fn caller(bank: &Context, day: NaiveDate) -> Caller<'_> {
        Caller::of(bank, owner("a"), day)
    }

    fn created(bank: &Context, product: Product, members: &Value) -> Value {
        let due = json!({ "amount": "100000.00", "currency": "NOK" });
        let due = Object::root(due.as_object().unwrap(), "amount");
        let due = Amount::read(&due, &Policy::document().amounts).unwrap();
        create(&caller(bank, day(1)), product, due, members.as_object().unwrap().clone(), 0).unwrap()
    }

    fn id(answer: &Value) -> String {
        answer["paymentId"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_answer_names_the_payment() {
        let bank = bank();
        let answer = created(&bank, Product::Ncbct, &json!({}));
        let id = id(&answer);
        assert_eq!(bank.state.payment(&id).unwrap().product, Product::Ncbct);
        assert_eq!(answer["transactionFees"], json!({ "amount": "50.00", "currency": "NOK" }));
        assert_eq!(answer["transactionFeeIndicator"], true);
        let status = format!("/v1/payments/norwegian-cross-border-credit-transfers/{id}/status");
        assert_eq!(answer["_links"]["status"], json!({ "href": status, "verbs": ["GET"] }));
        assert_eq!(created(&bank, Product::Periodic, &json!({}))["transactionFeeIndicator"], false);
    }

    #[test]
    fn lack_of_funds_is_a_rejected_payment_and_its_status_says_so() {
        let bank = bank();
        for number in [json!({ "iban": "NO8900004200187" }), json!({ "bban": "00004200187" })] {
            let answer = created(&bank, Product::Ncbct, &json!({ "debtorAccount": number }));
            assert_eq!(answer["transactionStatus"], "RJCT");
            assert_eq!(answer["tppMessages"][0]["code"], "PAYMENT_FAILED");
            let status = status(Product::Ncbct, Some(&id(&answer)), &caller(&bank, day(1))).unwrap();
            assert_eq!(status, json!({ "transactionStatus": "RJCT", "fundsAvailable": false }));
        }
        let funded = json!({ "debtorAccount": { "iban": "NO1400004200179" } });
        assert_eq!(created(&bank, Product::Ncbct, &funded)["transactionStatus"], "RCVD");
    }

    #[test]
    fn a_balance_is_used_up_until_payments_are_cancelled() {
        let bank = bank();
        bank.state.set_balance(PRIVATE_ACCOUNT, "250000.00".to_owned()).unwrap();
        let from = json!({ "debtorAccount": { "iban": "NO1400004200179" } });
        let create = || created(&bank, Product::Ncbct, &from);
        let first = create();
        let statuses: Vec<Value> =
            [create(), create()].map(|answer| answer["transactionStatus"].clone()).into();
        assert_eq!(statuses, ["RCVD", "RJCT"], "the balance covers two payments");
        delete(Product::Ncbct, Some(&id(&first)), &caller(&bank, day(1))).unwrap();
        assert_eq!(create()["transactionStatus"], "RCVD", "a cancelled payment frees its amount");
        bank.state.set_balance(PRIVATE_ACCOUNT, "100000.00".to_owned()).unwrap();
        assert_eq!(create()["transactionStatus"], "RCVD", "a new balance starts over");
    }

    #[test]
    fn payments_go_through_their_statuses_day_by_day() {
        let bank = bank();
        let status = |product, id: &String, day| {
            status(product, Some(id), &caller(&bank, day)).unwrap()["transactionStatus"].clone()
        };
        let single = id(&created(&bank, Product::Ncbct, &json!({ "requestedExecutionDate": "2030-01-05" })));
        let seen = [1, 5, 6, 7, 30].map(|on| status(Product::Ncbct, &single, day(on)));
        assert_eq!(seen, ["RCVD", "RCVD", "PDNG", "ACSC", "ACSC"]);
        let dates = json!({ "startDate": "2030-01-03", "requestedExecutionDate": "2030-01-20" });
        let series = id(&created(&bank, Product::Periodic, &dates));
        let seen = [1, 3, 4].map(|on| status(Product::Periodic, &series, day(on)));
        assert_eq!(seen, ["RCVD", "RCVD", "ACTC"]);
        for under_way in [6, 7] {
            let refusal = delete(Product::Ncbct, Some(&single), &caller(&bank, day(under_way)));
            assert_eq!(refusal.unwrap_err().status, StatusCode::CONFLICT);
        }
        let basket = bank.state.create_basket(vec![single], 0);
        let seen = [1, 6, 7].map(|on| bank.state.basket_status(&basket, day(on)).unwrap());
        assert_eq!(seen, [Status::Rcvd, Status::Actc, Status::Actc]);
    }

    #[test]
    fn a_payment_is_found_and_deleted_at_its_own_path_only() {
        let bank = bank();
        let today = caller(&bank, day(1));
        let id = id(&created(&bank, Product::Ncbct, &json!({ "creditorName": "Synthetic" })));
        let shown = details(Product::Ncbct, Some(&id), &today).unwrap();
        assert_eq!((&shown["creditorName"], &shown["paymentId"]), (&json!("Synthetic"), &json!(id)));
        assert!(details(Product::Periodic, Some(&id), &today).is_err());
        assert!(delete(Product::Periodic, Some(&id), &today).is_err());
        assert!(delete(Product::Ncbct, Some(&id), &today).is_ok());
        let status = status(Product::Ncbct, Some(&id), &today).unwrap();
        assert_eq!(status, json!({ "transactionStatus": "CANC", "fundsAvailable": true }));
    }

    #[test]
    fn what_a_bank_does_not_keep_is_unknown() {
        let bank = bank();
        let [first, second] = [1, 2].map(|_| id(&created(&bank, Product::Ncbct, &json!({}))));
        let read = |id, setting: Value| {
            let policy = Policy::set(&json!({ "payments": setting }));
            status(Product::Ncbct, Some(id), &Caller { policy, ..caller(&bank, day(1)) }).is_ok()
        };
        assert!(!read(&first, json!({ "remembered": 1 })) && read(&second, json!({ "remembered": 1 })));
        assert!(read(&second, json!({ "forgets-deleted": true })));
        delete(Product::Ncbct, Some(&second), &caller(&bank, day(1))).unwrap();
        assert!(!read(&second, json!({ "forgets-deleted": true })));
    }

    #[test]
    fn a_pending_payment_is_not_deleted() {
        let bank = bank();
        let caller = Caller { owner: Owner::default(), ..caller(&bank, day(1)) };
        let delete = |id: Option<&String>| delete(Product::Ncbct, id, &caller).unwrap_err();
        let refusal = delete(Some(&"payment-pending-0001".to_owned()));
        assert_eq!((refusal.status, refusal.code), (StatusCode::CONFLICT, Code::Conflict));
        assert_eq!(delete(None).status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn a_payment_shows_to_its_psu_and_tpp() {
        let bank = bank();
        let id = id(&created(&bank, Product::Ncbct, &json!({})));
        let read = |owner: Owner, policy: &'static Policy| {
            let caller = Caller { policy, owner, ..caller(&bank, day(1)) };
            status(Product::Ncbct, Some(&id), &caller).map_err(|refusal| refusal.status)
        };
        let unknown = Err(StatusCode::NOT_FOUND);
        assert!(read(owner("a"), Policy::document()).is_ok());
        assert!(read(Owner::default(), Policy::document()).is_ok(), "an unnamed caller is not compared");
        assert_eq!(read(Owner { psu: owner("b").psu, ..owner("a") }, Policy::document()), unknown);
        assert_eq!(read(Owner { tpp: owner("b").tpp, ..owner("a") }, Policy::document()), unknown);
        let shown_to = |who| Policy::set(&json!({ "payments": { "shown-to": who } }));
        assert!(read(owner("b"), shown_to("anyone")).is_ok());
        assert_eq!(read(owner("b"), shown_to("any-psu")), unknown);
        assert!(read(Owner { psu: owner("b").psu, ..owner("a") }, shown_to("any-psu")).is_ok());
        let delete = |owner| delete(Product::Ncbct, Some(&id), &Caller { owner, ..caller(&bank, day(1)) });
        assert_eq!(delete(owner("b")).unwrap_err().status, StatusCode::NOT_FOUND);
        assert!(delete(owner("a")).is_ok());
    }
}
