//! Random requests generated from `/openapi.json`, valid and changed, get only responses that the description
//! allows.

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use xs2aspec_reference::Bank;

use crate::support::{Call, Reply, bank};

/// An operation of the description, with a validator for each allowed status.
struct Described {
    name: String,
    statuses: Vec<(u16, Option<Validator>)>,
}

impl Described {
    fn new(description: &Value, path: &str, method: &str) -> Self {
        let operation = &description["paths"][path][method];
        let statuses =
            operation["responses"].as_object().expect("responses").iter().map(|(status, response)| {
                let schema = response.pointer("/content/application~1json/schema");
                let validator = schema.map(|schema| {
                    let whole = json!({ "allOf": [schema], "components": description["components"] });
                    jsonschema::options().build(&whole).expect("a schema")
                });
                (status.parse().expect("a status"), validator)
            });
        Self { name: format!("{method} {path}"), statuses: statuses.collect() }
    }

    /// Returns the reason why the description does not allow a response, or None.
    fn complaint(&self, reply: &Reply) -> Option<String> {
        let Some((_, validator)) = self.statuses.iter().find(|(status, _)| *status == reply.status) else {
            return Some(format!("{}: status {} is not described: {}", self.name, reply.status, reply.body));
        };
        match validator {
            None if reply.body.is_null() => None,
            None => Some(format!("{}: {} has a body: {}", self.name, reply.status, reply.body)),
            Some(validator) => {
                let error = validator.iter_errors(&reply.body).next()?;
                Some(format!("{}: {}: {error} at {}", self.name, reply.status, error.instance_path()))
            }
        }
    }
}

/// A change of a valid request.
#[derive(Debug, Clone)]
enum Change {
    HeaderGone(String),
    Header(String, String),
    Member(String, Value),
}

const HEADERS: [&str; 12] = [
    "x-request-id",
    "tpp-session-id",
    "tpp-redirect-uri",
    "x-accept-fix",
    "psu-id",
    "psu-ip-address",
    "psu-context",
    "psu-corporate-id",
    "psu-http-method",
    "x-psu-identity",
    "digest",
    "date",
];

const MEMBERS: [&str; 23] = [
    "instructedAmount",
    "creditorName",
    "creditorAccount",
    "debtorAccount",
    "creditorAgent",
    "frequency",
    "startDate",
    "monthsOfExecution",
    "dayOfExecution",
    "endDate",
    "regulatoryReportingCode",
    "paymentIds",
    "purposeCode",
    "customerNumber",
    "customerName",
    "agreements",
    "currency",
    "balance",
    "transactionAmount",
    "bookingDate",
    "endToEndId",
    "debtorName",
    "unknown",
];

fn change() -> impl Strategy<Value = Change> {
    let header = prop::sample::select(&HEADERS[..]).prop_map(str::to_owned);
    let member = prop::sample::select(&MEMBERS[..]).prop_map(str::to_owned);
    let text = prop_oneof![Just("CORPORATE".to_owned()), Just("PRIVATE".to_owned()), "[ -~]{0,40}"];
    let value = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "\\PC{0,80}".prop_map(Value::from),
        prop::collection::vec(1..14_i32, 0..5).prop_map(Value::from),
        ("[0-9]{1,20}(\\.[0-9]{0,6})?", "NOK|EUR|JPY|KWD|XXX")
            .prop_map(|(amount, currency)| json!({ "amount": amount, "currency": currency })),
        ("[A-Z0-9]{0,36}", "NOK|EUR")
            .prop_map(|(iban, currency)| json!({ "iban": iban, "currency": currency })),
    ];
    prop_oneof![
        header.clone().prop_map(Change::HeaderGone),
        (header, text).prop_map(|(name, text)| Change::Header(name, text)),
        (member, value).prop_map(|(name, value)| Change::Member(name, value)),
    ]
}

fn changed(call: Call, change: &Change) -> Call {
    match change {
        Change::HeaderGone(name) => call.without(name),
        Change::Header(name, text) => call.with(name, text.trim()),
        Change::Member(name, value) => call.with_member(name, value.clone()),
    }
}

/// Returns a valid call of each operation, with its path and method in the description.
fn calls(payment: &str, basket: &str) -> Vec<(Call, String, &'static str)> {
    let ncbct = crate::support::NCBCT;
    let at = |path: String| Call::transaction().path(&path);
    let account = "/v1/accounts/acc-corporate-0001/transactions";
    let customers = crate::support::CUSTOMERS;
    let sandbox = |method, path, body| Call::sandbox(method, &format!("/v1/sandbox/{path}"), body);
    let at_customer = format!("{customers}/{{customerId}}/accounts");
    let at_account = |path| format!("/v1/sandbox/accounts/{{id}}/{path}");
    let customer =
        json!({ "customerNumber": "310000027", "customerType": "CORPORATE", "customerName": "Synthetic" });
    let new_account = json!({ "currency": "NOK" });
    let transaction = json!({ "transactionAmount": { "amount": "1.00", "currency": "NOK" } });
    let balance = json!({ "balance": "1000000.00" });
    vec![
        (Call::basket(&[payment.to_owned()]), crate::support::BASKET.to_owned(), "post"),
        (Call::ncbct(), ncbct.to_owned(), "post"),
        (Call::periodic(), crate::support::PERIODIC.to_owned(), "post"),
        (Call::customers(), crate::support::CUSTOMERS.to_owned(), "get"),
        (Call::transaction(), "/v1/accounts/{id}/transactions/{transactionId}".to_owned(), "get"),
        (at(account.to_owned()), "/v1/accounts/{id}/transactions".to_owned(), "get"),
        (Call::get(&format!("{ncbct}/{payment}")), format!("{ncbct}/{{paymentId}}"), "get"),
        (Call::get(&format!("{ncbct}/{payment}/status")), format!("{ncbct}/{{paymentId}}/status"), "get"),
        (
            Call::get(&format!("{ncbct}/{payment}")).method("DELETE"),
            format!("{ncbct}/{{paymentId}}"),
            "delete",
        ),
        (Call::get(&format!("{basket}/status")), "/v1/signing-baskets/{basketId}/status".to_owned(), "get"),
        (Call::sandbox("POST", customers, &customer), customers.to_owned(), "post"),
        (sandbox("POST", "customers/customer-0001/accounts", &new_account), at_customer, "post"),
        (
            sandbox("POST", "accounts/acc-corporate-0001/transactions", &transaction),
            at_account("transactions"),
            "post",
        ),
        (sandbox("PUT", "accounts/acc-corporate-0001/balance", &balance), at_account("balance"), "put"),
    ]
}

async fn prepared(bank: &Bank) -> (Value, String, String) {
    let description = Call::get("/openapi.json").send_as_it_is(bank).await.body;
    let payment = Call::ncbct().send(bank).await.payment_id();
    let basket = Call::basket(std::slice::from_ref(&payment)).send(bank).await;
    let id = basket.body["basketId"].as_str().expect("an id").to_owned();
    (description, payment, format!("{}/{id}", crate::support::BASKET))
}

#[test]
fn no_answer_is_outside_the_description() {
    let runtime = Runtime::new().unwrap();
    let bank = runtime.block_on(bank(None));
    let (description, payment, basket) = runtime.block_on(prepared(&bank));
    let described: Vec<(Call, Described)> = calls(&payment, &basket)
        .into_iter()
        .map(|(call, path, method)| (call, Described::new(&description, &path, method)))
        .collect();
    for (call, operation) in &described {
        let reply = runtime.block_on(call.clone().send(&bank));
        assert!(reply.status < 300, "{}: {reply:?}", operation.name);
        assert_eq!(operation.complaint(&reply), None);
    }
    let config = Config { cases: 1500, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (0..described.len(), prop::collection::vec(change(), 0..4));
    runner
        .run(&strategy, |(index, changes)| {
            let (call, operation) = &described[index];
            let call = changes.iter().fold(call.clone(), changed);
            let reply = runtime.block_on(call.send(&bank));
            prop_assert_eq!(operation.complaint(&reply), None);
            Ok(())
        })
        .unwrap();
    runtime.block_on(bank.shutdown()).unwrap();
}

/// The check can fail: a response that the description does not allow is reported.
#[tokio::test]
async fn an_answer_outside_the_description_is_complained_of() {
    let bank = bank(None).await;
    let (description, ..) = prepared(&bank).await;
    let operation = Described::new(&description, crate::support::CUSTOMERS, "get");
    let mut reply = Call::customers().send(&bank).await;
    assert_eq!(operation.complaint(&reply), None);
    reply.body[0]["customerType"] = json!("OTHER");
    assert!(operation.complaint(&reply).is_some());
    let missing = Call::get("/v1/nothing").send(&bank).await;
    assert!(operation.complaint(&missing).is_some());
    bank.shutdown().await.unwrap();
}
