//! Values of a profile with 1, 2 or 3 characters are masked at their places, and only there.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};
use tempfile::TempDir;
use wiremock::{Request, ResponseTemplate};
use xs2aspec_record::{Body, Event};

use crate::support::{command, printed, recorded, stub};

/// Values by length, with their names in the profile.
const VALUES: [(&str, [&str; 3]); 7] = [
    ("account", ["1", "12", "123"]),
    ("transaction", ["2", "20", "201"]),
    ("session", ["3", "30", "300"]),
    ("psu", ["4", "40", "404"]),
    ("company", ["5", "50", "500"]),
    ("agreement", ["6", "60", "600"]),
    ("payment", ["7", "70", "700"]),
];

fn profile(base: &str, length: usize) -> String {
    let value = |name: &str| VALUES.iter().find(|(known, _)| *known == name).unwrap().1[length];
    format!(
        r#"base-url = "{base}"
environment = "sandbox"
session-id = "{}"
redirect-uri = "https://tpp.example/return"
limits = {{ retries = 0 }}
psu.private = {{ id = "{}" }}
psu.corporate = {{ id = "{}", corporate-id = "{}" }}
transaction = {{ account-id = "{}", transaction-id = "{}" }}
payment = {{ id = "{}", product = "norwegian-cross-border-credit-transfers", status = "PDNG" }}
capabilities = {{ sandbox = false, basket = false, corporate = true }}

[accounts]
debtor = {{ iban = "NO1400004200179", bban = "00004200179", currency = "NOK" }}
corporate-debtor = {{ iban = "NO1100004200330", currency = "NOK" }}
domestic-creditor = {{ iban = "NO5597100000036", bban = "97100000036" }}
foreign-creditor = {{ iban = "DE93999999990000000001", bban = "999999990000000001", agent = "AAAADEF0XXX", currency = "EUR" }}
"#,
        value("session"),
        value("psu"),
        value("company"),
        value("agreement"),
        value("account"),
        value("transaction"),
        value("payment"),
    )
}

/// Returns a response with ids at their places, and with equal numbers at other places.
fn answer(request: &Request, account: &str, transaction: &str) -> Value {
    let path = request.url.path();
    json!({
        "accountId": account,
        "transactionId": transaction,
        "resourceId": account,
        "paymentId": "0ca7a51e-1234-4201-8300-000000000123",
        "transactionStatus": "RCVD",
        "transactionFees": { "currency": "NOK", "amount": "1234.50" },
        "instructedAmount": { "currency": "NOK", "amount": "201.00" },
        "bookingDate": "2012-03-04",
        "numberOfTransactions": 12,
        "text": "1 of 12, 20 of 201",
        "seen": path,
        "_links": { "self": { "href": format!("/v1/accounts/{account}/transactions/{transaction}") } },
    })
}

/// Returns the values in a request at the places of the profile's values.
fn places(url: &str, headers: &[xs2aspec_record::Header]) -> BTreeMap<&'static str, String> {
    let mut places = BTreeMap::new();
    let segments: Vec<&str> = url.split('/').collect();
    for (name, before) in [("account", "accounts"), ("transaction", "transactions")] {
        if let Some(at) = segments.iter().position(|segment| *segment == before) {
            places.insert(name, segments[at + 1].to_owned());
        }
    }
    for (name, header) in
        [("session", "TPP-Session-ID"), ("psu", "PSU-ID"), ("agreement", "PSU-Corporate-ID")]
    {
        let found = headers.iter().find(|field| field.0.eq_ignore_ascii_case(header));
        places.extend(found.map(|field| (name, field.1.clone())));
    }
    places
}

#[tokio::test(flavor = "multi_thread")]
async fn short_values_are_masked_at_their_places_alone() {
    for length in 0..3 {
        let value = |name: &str| VALUES.iter().find(|(known, _)| *known == name).unwrap().1[length];
        let (account, transaction) = (value("account"), value("transaction"));
        let bank = stub::server(move |request: &Request| {
            let created = if request.method == "GET" { 200 } else { 201 };
            ResponseTemplate::new(created).set_body_json(answer(request, account, transaction))
        });
        let bank = bank.await;
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("bank.toml"), profile(&bank.uri(), length)).unwrap();
        let ran = |arguments: &[&str]| {
            let line = ["--target", "bank.toml"];
            let output = tokio::task::block_in_place(|| {
                command().current_dir(folder.path()).args(arguments).args(line).output().unwrap()
            });
            printed(&output)
        };
        let only = [
            "--only",
            "transaction.path",
            "--only",
            "ncbct.path",
            "--only",
            "error.corporate-id",
            "--only",
            "header.psu-id",
        ];
        let said = ran(&[&["run", "--seed", "1", "--out", "out"][..], &only].concat());
        let out = folder.path().join("out");
        let (verdicts, exchanges) = recorded(&out, &said);
        assert!(exchanges.len() > 20 && !verdicts.is_empty(), "{said}");
        let mut seen = BTreeMap::<&str, usize>::new();
        for exchange in &exchanges {
            for (name, found) in places(&exchange.request.url, &exchange.request.headers) {
                // Cases use other values at these places, which are not secret.
                assert_ne!(found, value(name), "{name} in {}", exchange.request.url);
                *seen.entry(name).or_default() += usize::from(found.contains('~'));
            }
            let Some(Body::Text(body)) = exchange.response.as_ref().and_then(|answer| answer.body.clone())
            else {
                continue;
            };
            let body: Value = serde_json::from_str(&body).unwrap();
            for (pointer, expected) in [
                ("/paymentId", "0ca7a51e-1234-4201-8300-000000000123"),
                ("/transactionStatus", "RCVD"),
                ("/transactionFees/amount", "1234.50"),
                ("/instructedAmount/amount", "201.00"),
                ("/bookingDate", "2012-03-04"),
                ("/text", "1 of 12, 20 of 201"),
            ] {
                assert_eq!(body.pointer(pointer), Some(&json!(expected)), "{pointer}");
            }
            assert_eq!(body["numberOfTransactions"], 12);
            for pointer in ["/accountId", "/transactionId", "/resourceId"] {
                let found = body.pointer(pointer).and_then(Value::as_str).unwrap();
                assert!(xs2aspec_spec::masks::is_pseudonym(found), "{pointer}: {found}");
            }
            let link = body["_links"]["self"]["href"].as_str().unwrap();
            assert!(
                !link.contains(&format!("/{account}/")) && !link.ends_with(&format!("/{transaction}")),
                "{link}"
            );
        }
        for name in ["account", "transaction", "session", "psu", "agreement"] {
            assert!(seen.get(name).is_some_and(|times| *times > 0), "{name}: {seen:?}");
        }
        let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
        for line in record.lines() {
            if let Event::Profile(profile) = serde_json::from_str(line).unwrap() {
                for name in ["session-id", "psu.private.id", "transaction.account-id", "payment.id"] {
                    assert!(xs2aspec_spec::masks::is_pseudonym(&profile.values[name]), "{name}");
                }
            }
        }
        // Reports, `doctor` and `explain` use the same masks.
        let mut texts = vec![said, ran(&["doctor"]), ran(&["explain", "transaction.path/plain"])];
        for format in ["har", "html", "junit", "markdown", "sarif", "ctrf"] {
            texts.push(crate::support::rendered(&out, format));
        }
        for text in &texts {
            let path = format!("accounts/{account}/");
            let near = text.find(&path).map(|at| text[at.saturating_sub(100)..at + 40].to_owned());
            assert_eq!(near, None);
        }
        for text in &texts[3..5] {
            assert!(text.contains("1234.50") && text.contains("0ca7a51e-1234-4201-8300-000000000123"));
        }
    }
}
