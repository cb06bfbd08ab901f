//! Each operation accepts a valid request, with the response that the document describes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::{CORPORATE_ID, CORPORATE_PSU, Call, NCBCT, TRANSACTION, bank, signer};

#[tokio::test]
async fn payments() {
    let bank = bank(None).await;
    for call in [
        Call::ncbct(),
        Call::periodic(),
        Call::ncbct().path(&format!("{NCBCT}?allowLogicalDuplicate=true")),
        Call::ncbct().without("psu-id").with("X-PSU-IDENTITY", "01819000391"),
        Call::ncbct().with("PSU-Context", "PRIVATE").with("PSU-HTTP-Method", "POST").without("Date"),
        Call::periodic()
            .with("PSU-ID", CORPORATE_PSU)
            .with("PSU-Corporate-ID", CORPORATE_ID)
            .with("PSU-Context", "CORPORATE"),
    ] {
        let reply = call.send(&bank).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.header("x-request-id"), Some("6f1c7a52-8f0e-4f0e-9d55-0d4f7d6e2a11"));
        assert_eq!(reply.body["transactionStatus"], "RCVD");
        assert!(reply.body["paymentId"].is_string() && reply.body["_links"]["self"]["href"].is_string());
    }
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn baskets() {
    let bank = bank(None).await;
    let ids = [Call::ncbct().send(&bank).await.payment_id(), Call::ncbct().send(&bank).await.payment_id()];
    let reply = Call::basket(&ids).send(&bank).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.body["transactionStatus"], "RCVD");
    assert!(reply.body["basketId"].is_string());
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn customers() {
    let bank = bank(None).await;
    let reply = Call::customers().send(&bank).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let kinds: Vec<_> =
        reply.body.as_array().unwrap().iter().map(|customer| &customer["customerType"]).collect();
    assert_eq!(kinds, ["PRIVATE", "CORPORATE"]);
    let reply = Call::customers().path("/v1/sandbox/customers?withAccounts=false").send(&bank).await;
    assert_eq!(reply.body[0]["accounts"], json!([]));
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn transactions() {
    let bank = bank(None).await;
    let reply = Call::transaction().send(&bank).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let details = &reply.body["transactionsDetails"];
    assert_eq!(details["transactionAmount"], json!({ "amount": "1250.50", "currency": "NOK" }));
    for path in [
        "/v1/accounts/acc-corporate-0001/transactions/20250212!0000002=",
        "/v1/accounts/acc-corporate-0001/transactions/20250212%210000002%3D",
    ] {
        let reply = Call::transaction().path(path).send(&bank).await;
        assert_eq!(reply.body["transactionsDetails"]["currencyExchange"]["unitCurrency"], "EUR", "{reply:?}");
    }
    let batch = "/v1/accounts/acc-corporate-0001/transactions/20250213-0000003";
    let reply = Call::transaction().path(batch).send(&bank).await;
    assert_eq!(reply.body["transactionsDetails"]["batchNumberOfTransactions"], 2);
    let private = Call::get(&TRANSACTION.replace("corporate", "private")).without("psu-id");
    assert_eq!(private.send(&bank).await.status, 200);
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn signatures_in_their_other_forms() {
    let bank = bank(None).await;
    let pem = STANDARD.encode(signer().certificate_pem());
    let reply = Call::ncbct().signed().with("TPP-Signature-Certificate", &pem).send_as_it_is(&bank).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let order = ["tpp-redirect-uri", "x-request-id", "host", "psu-id", "digest", "date"];
    let reply = Call::ncbct().signed_over(&order, signer()).send_as_it_is(&bank).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_same_requests_get_the_same_answers() {
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let bank = bank(None).await;
        let (one, two) = (Call::ncbct().send(&bank).await, Call::periodic().send(&bank).await);
        bodies.push((one.body, two.body));
        bank.shutdown().await.unwrap();
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn a_payment_is_read_and_deleted_once_it_is_made() {
    let bank = bank(None).await;
    let made = Call::ncbct().send(&bank).await.body;
    let path = made["_links"]["self"]["href"].as_str().unwrap();
    let status = Call::get(made["_links"]["status"]["href"].as_str().unwrap());
    assert_eq!(status.clone().send(&bank).await.body["transactionStatus"], "RCVD");
    assert_eq!(Call::get(path).send(&bank).await.body["paymentId"], made["paymentId"]);
    let by_another = Call::transaction().path(path);
    assert_eq!(by_another.send(&bank).await.refusal(), (404, "RESOURCE_UNKNOWN", "payment.id.known"));
    assert_eq!(Call::get(path).method("DELETE").send(&bank).await.status, 204);
    assert_eq!(status.send(&bank).await.body["transactionStatus"], "CANC");
    let pending = format!("{NCBCT}/payment-pending-0001");
    let refused = Call::get(&pending).method("DELETE").send(&bank).await;
    assert_eq!(refused.refusal(), (409, "CONFLICT", "payment.deletion.pending"));
    bank.shutdown().await.unwrap();
}
