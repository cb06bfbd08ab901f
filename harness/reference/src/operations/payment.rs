//! Payments: their creation response (the document, section Resources > Payment creation response), and what becomes of
//! them, which the document only mentions.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::link;
use crate::currency::Currency;
use crate::money::{Amount, amount};
use crate::operation::Product;
use crate::refusal::{Code, Refusal};
use crate::rules::{Breach, Rules};
use crate::seed;
use crate::state::{Payment, State, Status};

/// Creates a payment and answers with its id. One that the debtor account cannot pay is created and rejected: "a proper
/// error response, not a server failure" (section Errors).
pub(super) fn create(
    state: &State,
    product: Product,
    due: Amount,
    members: Map<String, Value>,
    rules: Rules,
) -> Result<Value, Refusal> {
    let funds_available = funds_available(due, &members);
    if !funds_available && rules.broken_by(Breach::FundsFail) {
        let (status, says) =
            (StatusCode::INTERNAL_SERVER_ERROR, "the bank failed on an account without funds");
        return Err(Refusal::new(status, Code::SystemError, "system.failure", says));
    }
    let status = if funds_available { Status::Rcvd } else { Status::Rjct };
    let id = state.create_payment(Payment { product, status, funds_available, members });
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
pub(super) fn details(state: &State, product: Product, id: Option<&String>) -> Result<Value, Refusal> {
    let (id, payment) = known(state, product, id)?;
    let mut members = payment.members;
    members.insert("paymentId".to_owned(), json!(id));
    members.insert("transactionStatus".to_owned(), json!(payment.status.text()));
    Ok(Value::Object(members))
}

/// The status of a payment. "Payment status responses carry a `fundsAvailable` attribute that marks a rejection for lack of
/// funds" (section Errors).
pub(super) fn status(state: &State, product: Product, id: Option<&String>) -> Result<Value, Refusal> {
    let (_, payment) = known(state, product, id)?;
    Ok(json!({ "transactionStatus": payment.status.text(), "fundsAvailable": payment.funds_available }))
}

/// Cancels a payment. "Deletion of a payment with status PDNG: refused with an error message" (section Errors).
pub(super) fn delete(
    state: &State,
    product: Product,
    id: Option<&String>,
    rules: Rules,
) -> Result<(), Refusal> {
    match id.and_then(|id| state.cancel(id, product)) {
        Some(Status::Pdng) if rules.broken_by(Breach::PendingDeleted) => Ok(()),
        None => Err(unknown()),
        Some(Status::Pdng) => {
            let says = "expected a payment that is not under way, found one with status PDNG";
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

/// Whether the debtor account can pay. An account that is not this bank's is not asked, and amounts in other currencies than
/// the account's are not converted: they are held against an account without any funds alone.
fn funds_available(due: Amount, members: &Map<String, Value>) -> bool {
    let debtor = members.get("debtorAccount");
    let mut numbers = ["iban", "bban"].into_iter().filter_map(|name| debtor?.get(name)?.as_str());
    let account = numbers.find_map(seed::account_by_number);
    match account.and_then(|account| Some((account, account.available?))) {
        None => true,
        Some((account, available)) => available > 0 && due.is_at_most(available, account.currency),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Object;
    use crate::seed::{EMPTY_ACCOUNT, PRIVATE_ACCOUNT};

    #[test]
    fn the_answer_names_the_payment() {
        let state = State::new(0);
        let answer = created(&state, Product::Ncbct, &json!({}));
        let id = answer["paymentId"].as_str().unwrap();
        assert_eq!(state.product(id), Some(Product::Ncbct));
        assert_eq!(answer["transactionFees"], json!({ "amount": "50.00", "currency": "NOK" }));
        assert_eq!(answer["transactionFeeIndicator"], true);
        let status = format!("/v1/payments/norwegian-cross-border-credit-transfers/{id}/status");
        assert_eq!(answer["_links"]["status"], json!({ "href": status, "verbs": ["GET"] }));
        assert_eq!(created(&state, Product::Periodic, &json!({}))["transactionFeeIndicator"], false);
    }

    fn created(state: &State, product: Product, members: &Value) -> Value {
        let due = json!({ "amount": "100000.00", "currency": "NOK" });
        let due = Object::root(due.as_object().unwrap(), "amount");
        let due = Amount::read(&due, Rules::kept()).unwrap();
        create(state, product, due, members.as_object().unwrap().clone(), Rules::kept()).unwrap()
    }

    #[test]
    fn lack_of_funds_is_a_rejected_payment_and_its_status_says_so() {
        let state = State::new(0);
        for number in [json!({ "iban": EMPTY_ACCOUNT.iban }), json!({ "bban": EMPTY_ACCOUNT.bban })] {
            let answer = created(&state, Product::Ncbct, &json!({ "debtorAccount": number }));
            assert_eq!(answer["transactionStatus"], "RJCT");
            assert_eq!(answer["tppMessages"][0]["code"], "PAYMENT_FAILED");
            let id = answer["paymentId"].as_str().unwrap().to_owned();
            let status = status(&state, Product::Ncbct, Some(&id)).unwrap();
            assert_eq!(status, json!({ "transactionStatus": "RJCT", "fundsAvailable": false }));
        }
        let funded = json!({ "debtorAccount": { "iban": PRIVATE_ACCOUNT.iban } });
        assert_eq!(created(&state, Product::Ncbct, &funded)["transactionStatus"], "RCVD");
    }

    #[test]
    fn a_payment_is_found_and_deleted_at_its_own_path_only() {
        let state = State::new(0);
        let id =
            created(&state, Product::Ncbct, &json!({ "creditorName": "Synthetic" }))["paymentId"].clone();
        let id = id.as_str().unwrap().to_owned();
        let shown = details(&state, Product::Ncbct, Some(&id)).unwrap();
        assert_eq!((&shown["creditorName"], &shown["paymentId"]), (&json!("Synthetic"), &json!(id)));
        assert!(details(&state, Product::Periodic, Some(&id)).is_err());
        assert!(delete(&state, Product::Periodic, Some(&id), Rules::kept()).is_err());
        assert!(delete(&state, Product::Ncbct, Some(&id), Rules::kept()).is_ok());
        let status = status(&state, Product::Ncbct, Some(&id)).unwrap();
        assert_eq!(status, json!({ "transactionStatus": "CANC", "fundsAvailable": true }));
    }

    #[test]
    fn a_pending_payment_is_not_deleted() {
        let state = State::new(0);
        let refusal = delete(&state, Product::Ncbct, Some(&"payment-pending-0001".to_owned()), Rules::kept())
            .unwrap_err();
        assert_eq!((refusal.status, refusal.code), (StatusCode::CONFLICT, Code::Conflict));
        assert_eq!(
            delete(&state, Product::Ncbct, None, Rules::kept()).unwrap_err().status,
            StatusCode::NOT_FOUND
        );
    }
}
