//! The payment creation response (the document, section Resources > Payment creation response).

use serde_json::{Value, json};

use super::link;
use crate::currency::Currency;
use crate::money::amount;
use crate::operation::Operation;
use crate::state::{Product, State};

/// Creates a payment and answers with its id.
pub(super) fn create(state: &State, product: Product) -> Value {
    let id = state.create_payment(product);
    // Made-up prices: a cross-border transfer costs something, a domestic one does not.
    let (operation, fee) = match product {
        Product::Ncbct => (Operation::Ncbct, 5_000),
        Product::Periodic => (Operation::Periodic, 0),
    };
    let href = format!("{}/{id}", operation.route());
    json!({
        "paymentId": id,
        "transactionStatus": "RCVD",
        "transactionFees": amount(fee, Currency::NOK),
        "transactionFeeIndicator": fee > 0,
        "_links": {
            "self": link(&href, &["GET"]),
            "status": link(&format!("{href}/status"), &["GET"])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_names_the_payment() {
        let state = State::new(0);
        let answer = create(&state, Product::Ncbct);
        let id = answer["paymentId"].as_str().unwrap();
        assert_eq!(state.product(id), Some(Product::Ncbct));
        assert_eq!(answer["transactionFees"], json!({ "amount": "50.00", "currency": "NOK" }));
        assert_eq!(answer["transactionFeeIndicator"], true);
        let status = format!("/v1/payments/norwegian-cross-border-credit-transfers/{id}/status");
        assert_eq!(answer["_links"]["status"], json!({ "href": status, "verbs": ["GET"] }));
        assert_eq!(create(&state, Product::Periodic)["transactionFeeIndicator"], false);
    }
}
