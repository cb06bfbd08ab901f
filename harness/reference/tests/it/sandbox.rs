//! Test data created at run time, and an adjustable clock.

use serde_json::{Value, json};
use xs2aspec_reference::{Bank, Clock, Config, Seed, start};

use crate::support::{CUSTOMERS, Call, bank, noon};

async fn made(bank: &Bank, path: &str, body: Value) -> Value {
    let reply = Call::sandbox("POST", path, &body).send(bank).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.body
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_new_customer_pays_from_a_new_account_and_sees_its_transactions() {
    let bank = bank(None).await;
    let customer = json!({
        "customerNumber": "310000027",
        "customerType": "CORPORATE",
        "customerName": "Synthetic Customer AS",
        "agreements": [{ "name": "Synthetic agreement" }]
    });
    let known = made(&bank, CUSTOMERS, customer.clone()).await;
    let again = Call::sandbox("POST", CUSTOMERS, &customer).send(&bank).await;
    assert_eq!((again.status, &again.body["tppMessages"][0]["code"]), (409, &json!("CONFLICT")));
    let listed = Call::customers().send(&bank).await.body;
    assert_eq!(listed[2]["customerId"], known["customerId"]);

    let href = text(&known["_links"]["self"]["href"]);
    let new = json!({ "currency": "NOK", "balance": "150000.00" });
    let account = made(&bank, &format!("{href}/accounts"), new).await;
    let listed = Call::customers().send(&bank).await.body;
    assert_eq!(listed[2]["accounts"], json!([account["bban"]]));

    let pay = || {
        let debtor = json!({ "iban": account["iban"], "currency": "NOK" });
        Call::ncbct()
            .member("debtorAccount", debtor)
            .with("PSU-ID", known["psuId"].as_str().unwrap())
            .with("PSU-Corporate-ID", known["agreements"][0]["id"].as_str().unwrap())
    };
    assert_eq!(pay().send(&bank).await.body["transactionStatus"], "RCVD");
    assert_eq!(pay().send(&bank).await.body["transactionStatus"], "RJCT", "the balance covers one payment");
    let id = text(&account["resourceId"]);
    let balance = json!({ "balance": "900000.00" });
    let reply =
        Call::sandbox("PUT", &format!("/v1/sandbox/accounts/{id}/balance"), &balance).send(&bank).await;
    assert_eq!((reply.status, &reply.body["balance"]["amount"]), (200, &json!("900000.00")));
    assert_eq!(pay().send(&bank).await.body["transactionStatus"], "RCVD");

    let transaction = json!({
        "transactionAmount": { "amount": "125.00", "currency": "NOK" },
        "creditorName": "Synthetic Shop"
    });
    let booked = made(&bank, &format!("/v1/sandbox/accounts/{id}/transactions"), transaction).await;
    let agreement = text(&known["agreements"][0]["id"]);
    let details = Call::get(&text(&booked["_links"]["transactionDetails"]["href"]));
    let reply = details.with("PSU-Corporate-ID", &agreement).send(&bank).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let details = &reply.body["transactionsDetails"];
    assert_eq!(
        (&details["creditorName"], &details["bookingDate"]),
        (&json!("Synthetic Shop"), &json!("2025-03-01"))
    );
    assert_eq!(details["transactionId"], booked["transactionId"]);
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn test_data_that_are_none_are_refused() {
    let bank = bank(None).await;
    let accounts = "/v1/sandbox/customers/customer-0001/accounts";
    let transactions = "/v1/sandbox/accounts/acc-private-0001/transactions";
    let amount = json!({ "amount": "1.00", "currency": "NOK" });
    for (method, path, body, status) in [
        ("POST", CUSTOMERS, json!({}), 400),
        (
            "POST",
            CUSTOMERS,
            json!({ "customerNumber": "1", "customerType": "PRIVATE", "customerName": "A" }),
            400,
        ),
        ("POST", CUSTOMERS, json!([]), 400),
        ("POST", accounts, json!({ "currency": "XXY" }), 400),
        ("POST", accounts, json!({ "currency": "NOK", "balance": "1.234" }), 400),
        ("POST", "/v1/sandbox/customers/nobody/accounts", json!({ "currency": "NOK" }), 404),
        ("POST", transactions, json!({}), 400),
        ("POST", transactions, json!({ "transactionAmount": amount, "batchIndicator": 7 }), 400),
        ("POST", transactions, json!({ "transactionAmount": amount, "bookingDate": "2025-02-30" }), 400),
        ("POST", "/v1/sandbox/accounts/none/transactions", json!({ "transactionAmount": amount }), 404),
        ("PUT", "/v1/sandbox/accounts/acc-private-0001/balance", json!({ "balance": 7 }), 400),
        ("PUT", "/v1/sandbox/accounts/none/balance", json!({ "balance": "1.00" }), 404),
    ] {
        let reply = Call::sandbox(method, path, &body).send(&bank).await;
        assert_eq!(reply.status, status, "{method} {path} {body}: {reply:?}");
        assert!(reply.body["tppMessages"][0]["text"].is_string());
    }
    let unsigned = Call::sandbox("POST", accounts, &json!({ "currency": "NOK" }));
    let reply = unsigned.send_as_it_is(&bank).await;
    assert_eq!(reply.status, 400, "requests for test data must be signed: {reply:?}");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_clock_is_moved_and_payments_go_on() {
    let now = Clock::at(Some(noon())).controlled();
    let bank = start(Config { now, ..Config::default() }).await.unwrap();
    let href = text(&Call::ncbct().send(&bank).await.body["_links"]["status"]["href"]);
    let move_to = |now: &str| Call::sandbox("PUT", "/clock", &json!({ "now": now }));
    let mut seen = Vec::new();
    for day in ["2025-03-01T12:00:00Z", "2025-03-02T00:00:00Z", "2025-03-03T09:30:00+02:00"] {
        let moved = move_to(day).send(&bank).await;
        assert_eq!(moved.status, 200, "{moved:?}");
        seen.push(text(&Call::get(&href).send(&bank).await.body["transactionStatus"]));
    }
    assert_eq!(seen, ["RCVD", "PDNG", "ACSC"]);
    assert_eq!(Call::get("/clock").send(&bank).await.body["now"], "2025-03-03T07:30:00+00:00");
    assert_eq!(move_to("tomorrow").send(&bank).await.status, 400);
    bank.shutdown().await.unwrap();
    let fixed = start(Config::default()).await.unwrap();
    assert_eq!(Call::get("/clock").send(&fixed).await.status, 404, "only with an adjustable clock");
    fixed.shutdown().await.unwrap();
    let public = Config {
        address: "0.0.0.0:0".parse().unwrap(),
        now: Clock::default().controlled(),
        ..Config::default()
    };
    assert!(start(public).await.unwrap_err().to_string().contains("loopback"));
}

#[tokio::test]
async fn a_bank_opens_with_other_data() {
    let text = include_str!("../../../bank/seed.json").replace("acc-private-0001", "acc-of-mine");
    let data = Seed::read(&text).unwrap().into();
    let bank = start(Config { data, ..Config::default() }).await.unwrap();
    let read = |account: &str| Call::get(&format!("/v1/accounts/{account}/transactions"));
    assert_eq!(read("acc-of-mine").send(&bank).await.status, 200);
    assert_eq!(read("acc-private-0001").send(&bank).await.status, 404);
    bank.shutdown().await.unwrap();
}
