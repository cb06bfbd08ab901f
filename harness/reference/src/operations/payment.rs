//! Payments: their creation response (the document, section Resources > Payment creation response), and what becomes of
//! them, which the document only mentions.

use axum::http::StatusCode;
use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::{Context, link};
use crate::currency::Currency;
use crate::date;
use crate::money::{Amount, amount};
use crate::operation::Product;
use crate::refusal::{Code, Refusal};
use crate::rules::{Breach, Rules};
use crate::state::{Payment, State, Status};

/// Creates a payment and answers with its id. One that the debtor account cannot pay is created and rejected: "a proper
/// error response, not a server failure" (section Errors).
pub(super) fn create(
    context: &Context,
    product: Product,
    due: Amount,
    members: Map<String, Value>,
    origin: u64,
) -> Result<Value, Refusal> {
    let Context { state, rules, clock, .. } = context;
    let (funds_available, takes) = funds(state, due, &members);
    if !funds_available && rules.broken_by(Breach::FundsFail) {
        let (status, says) =
            (StatusCode::INTERNAL_SERVER_ERROR, "the bank failed on an account without funds");
        return Err(Refusal::new(status, Code::SystemError, "system.failure", says));
    }
    let status = if funds_available { Status::Rcvd } else { Status::Rjct };
    let wanted =
        ["requestedExecutionDate", "startDate"].into_iter().find_map(|name| members.get(name)?.as_str());
    let today = clock.today();
    let from = wanted.and_then(|text| date::parse(text).ok()).map_or(today, |wanted| wanted.max(today));
    // A series takes nothing before its days.
    let takes = takes.filter(|_| product == Product::Ncbct);
    let payment = Payment { product, status, funds_available, members, from: Some(from), takes };
    let id = state.create_payment(payment, origin);
    // Made-up prices: a cross-border transfer costs something, a domestic one does not.
    let fee = match product {
        Product::Ncbct => 5_000,
        Product::Periodic => 0,
    };
    let href = format!("{}/{id}", product.path());
    let mut answer = json!({
        "paymentId": id,
        "transactionStatus": status.text(),
        "transactionFees": amount(fee, Currency::NOK),
        "transactionFeeIndicator": fee > 0,
        "_links": {
            "self": link(&href, &["GET", "DELETE"]),
            "status": link(&format!("{href}/status"), &["GET"])
        }
    });
    if !funds_available {
        let text = "payment.funds: expected an account with funds, found one without";
        answer["tppMessages"] =
            json!([{ "category": "ERROR", "code": Code::PaymentFailed.text(), "text": text }]);
    }
    Ok(answer)
}

/// The members that a payment was made with, its id and its status.
pub(super) fn details(
    state: &State,
    product: Product,
    id: Option<&String>,
    today: NaiveDate,
) -> Result<Value, Refusal> {
    let (id, payment) = known(state, product, id)?;
    let status = payment.status_on(today);
    let mut members = payment.members;
    members.insert("paymentId".to_owned(), json!(id));
    members.insert("transactionStatus".to_owned(), json!(status.text()));
    Ok(Value::Object(members))
}

/// The status of a payment. "Payment status responses carry a `fundsAvailable` attribute that marks a rejection for lack of
/// funds" (section Errors).
pub(super) fn status(
    state: &State,
    product: Product,
    id: Option<&String>,
    today: NaiveDate,
) -> Result<Value, Refusal> {
    let (_, payment) = known(state, product, id)?;
    Ok(
        json!({ "transactionStatus": payment.status_on(today).text(), "fundsAvailable": payment.funds_available }),
    )
}

/// Cancels a payment. "Deletion of a payment with status PDNG: refused with an error message" (section Errors).
pub(super) fn delete(
    state: &State,
    product: Product,
    id: Option<&String>,
    today: NaiveDate,
    rules: Rules,
) -> Result<(), Refusal> {
    match id.and_then(|id| state.cancel(id, product, today)) {
        Some(Status::Pdng) if rules.broken_by(Breach::PendingDeleted) => Ok(()),
        None => Err(unknown()),
        Some(status @ (Status::Pdng | Status::Acsc)) => {
            let says =
                format!("expected a payment that is not under way, found one with status {}", status.text());
            Err(Refusal::new(StatusCode::CONFLICT, Code::Conflict, "payment.deletion.pending", says))
        }
        Some(_) => Ok(()),
    }
}

fn known<'a>(state: &State, product: Product, id: Option<&'a String>) -> Result<(&'a str, Payment), Refusal> {
    let id = id.ok_or_else(unknown)?;
    let payment = state.payment(id).filter(|payment| payment.product == product).ok_or_else(unknown)?;
    Ok((id, payment))
}

fn unknown() -> Refusal {
    let says = "expected a payment of this product, found an unknown id";
    Refusal::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, "payment.id.known", says).at("paymentId")
}

/// Whether the debtor account can pay, and what then is taken from it. An account that is not this bank's is not asked, and amounts in
/// other currencies than the account's are not converted: they are held against an account without any funds alone.
fn funds(state: &State, due: Amount, members: &Map<String, Value>) -> (bool, Option<(String, u128)>) {
    let debtor = members.get("debtorAccount");
    let mut numbers = ["iban", "bban"].into_iter().filter_map(|name| debtor?.get(name)?.as_str());
    let account = numbers.find_map(|number| state.account_by_number(number));
    let Some((account, Some(left))) = account else { return (true, None) };
    let units = due.minor_units(account.currency());
    let is_enough = left > 0 && units.is_none_or(|units| units <= left);
    (is_enough, units.map(|units| (account.resource_id.clone(), units)))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::certificate::Certificates;
    use crate::clock::Clock;
    use crate::member::Object;
    use crate::rules::Rules;
    use crate::seed::{PRIVATE_ACCOUNT, Seed};

    fn at(day: u32) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(&format!("2030-01-{day:02}T12:00:00Z")).unwrap().to_utc()
    }

    fn day(day: u32) -> NaiveDate {
        at(day).date_naive()
    }

    fn bank() -> Context {
        Context {
            rules: Rules::kept(),
            clock: Clock::at(Some(at(1))),
            state: State::new(0, &Seed::built_in(), day(1)),
            certificates: Certificates::default(),
        }
    }

    fn created(bank: &Context, product: Product, members: &Value) -> Value {
        let due = json!({ "amount": "100000.00", "currency": "NOK" });
        let due = Object::root(due.as_object().unwrap(), "amount");
        let due = Amount::read(&due, Rules::kept()).unwrap();
        create(bank, product, due, members.as_object().unwrap().clone(), 0).unwrap()
    }

    fn id(answer: &Value) -> String {
        answer["paymentId"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_answer_names_the_payment() {
        let bank = bank();
        let answer = created(&bank, Product::Ncbct, &json!({}));
        let id = id(&answer);
        assert_eq!(bank.state.product(&id), Some(Product::Ncbct));
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
            let status = status(&bank.state, Product::Ncbct, Some(&id(&answer)), day(1)).unwrap();
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
        assert_eq!(statuses, ["RCVD", "RJCT"], "two of 100 000 are paid, and a third is not");
        delete(&bank.state, Product::Ncbct, Some(&id(&first)), day(1), Rules::kept()).unwrap();
        assert_eq!(create()["transactionStatus"], "RCVD", "what was cancelled is there again");
    }

    #[test]
    fn payments_go_through_their_statuses_day_by_day() {
        let bank = bank();
        let status = |product, id: &String, day| {
            status(&bank.state, product, Some(id), day).unwrap()["transactionStatus"].clone()
        };
        let single = id(&created(&bank, Product::Ncbct, &json!({ "requestedExecutionDate": "2030-01-05" })));
        let seen = [1, 5, 6, 7, 30].map(|on| status(Product::Ncbct, &single, day(on)));
        assert_eq!(seen, ["RCVD", "RCVD", "PDNG", "ACSC", "ACSC"]);
        let series = id(&created(&bank, Product::Periodic, &json!({ "startDate": "2030-01-03" })));
        let seen = [1, 3, 4].map(|on| status(Product::Periodic, &series, day(on)));
        assert_eq!(seen, ["RCVD", "RCVD", "ACTC"]);
        for under_way in [6, 7] {
            let refusal = delete(&bank.state, Product::Ncbct, Some(&single), day(under_way), Rules::kept());
            assert_eq!(refusal.unwrap_err().status, StatusCode::CONFLICT);
        }
        let basket = bank.state.create_basket(vec![single], 0);
        let seen = [1, 6, 7].map(|on| bank.state.basket_status(&basket, day(on)).unwrap().text());
        assert_eq!(seen, ["RCVD", "ACTC", "ACTC"]);
    }

    #[test]
    fn a_payment_is_found_and_deleted_at_its_own_path_only() {
        let bank = bank();
        let state = &bank.state;
        let id = id(&created(&bank, Product::Ncbct, &json!({ "creditorName": "Synthetic" })));
        let shown = details(state, Product::Ncbct, Some(&id), day(1)).unwrap();
        assert_eq!((&shown["creditorName"], &shown["paymentId"]), (&json!("Synthetic"), &json!(id)));
        assert!(details(state, Product::Periodic, Some(&id), day(1)).is_err());
        assert!(delete(state, Product::Periodic, Some(&id), day(1), Rules::kept()).is_err());
        assert!(delete(state, Product::Ncbct, Some(&id), day(1), Rules::kept()).is_ok());
        let status = status(state, Product::Ncbct, Some(&id), day(1)).unwrap();
        assert_eq!(status, json!({ "transactionStatus": "CANC", "fundsAvailable": true }));
    }

    #[test]
    fn a_pending_payment_is_not_deleted() {
        let bank = bank();
        let delete =
            |id: Option<&String>| delete(&bank.state, Product::Ncbct, id, day(1), Rules::kept()).unwrap_err();
        let refusal = delete(Some(&"payment-pending-0001".to_owned()));
        assert_eq!((refusal.status, refusal.code), (StatusCode::CONFLICT, Code::Conflict));
        assert_eq!(delete(None).status, StatusCode::NOT_FOUND);
    }
}
