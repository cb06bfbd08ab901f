//! Checks of ids, calls and requests against earlier exchanges.

use serde_json::json;
use xs2aspec_suite::Tree;

use super::*;
use crate::traffic::message::Payload;

const PATH: &str = "/v1/payments/norwegian-cross-border-credit-transfers";

/// A session with one exchange per minute.
struct Told {
    session: Session,
    rules: ClientRules,
    spec: (SigningSpec, MaskSpec),
    number: u64,
}

/// An exchange.
#[derive(Default)]
struct One<'a> {
    operation: &'a str,
    method: &'a str,
    path: &'a str,
    ids: &'a [(&'a str, &'a str)],
    headers: &'a [(&'a str, &'a str)],
    body: &'a str,
    lists: Option<&'a str>,
    /// Status, or None without a response.
    status: Option<u16>,
    answer: Value,
    made: &'a [&'a str],
}

impl Told {
    fn new() -> Self {
        let tree = Tree::embedded();
        let spec = (SigningSpec::load(&tree).unwrap(), MaskSpec::load(&tree).unwrap());
        let rules = ClientRules::load(&tree).unwrap();
        Self { session: Session::default(), rules, spec, number: 0 }
    }

    /// Returns the clauses that an exchange violates, and `?` for a place that cannot be judged.
    fn after(&mut self, one: &One<'_>) -> String {
        self.number += 1;
        let own = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let mut headers = own(one.headers);
        if !headers.iter().any(|(name, _)| name == "X-Request-ID") {
            headers.push(("X-Request-ID".to_owned(), format!("r-{}", self.number)));
        }
        let sent = Sent {
            method: one.method.to_owned(),
            url: format!("http://127.0.0.1{}", one.path),
            headers,
            body: Payload::Bytes(one.body.as_bytes().to_vec()),
            changed: None,
        };
        let began: DateTime<Utc> = "2030-01-31T12:00:00Z".parse().unwrap();
        let ids = own(one.ids);
        let exchange = Exchange {
            number: self.number,
            began: began + TimeDelta::minutes(i64::try_from(self.number).unwrap()),
            operation: Some(one.operation).filter(|operation| !operation.is_empty()),
            ids: &ids,
            lists: one.lists.map(str::to_owned),
            sent: &sent,
            asks: super::asks(&sent),
            status: one.status,
            document: Some(&one.answer),
            is_clean: true,
            is_known: &|id| id == "known",
        };
        let spec = (&self.spec.0, &self.spec.1);
        let told =
            self.session.look(&exchange, &self.rules, spec).into_iter().filter_map(|told| match told {
                super::Told::Wrong(wrong) => Some(wrong.clause),
                super::Told::Unsure(..) => Some("?".to_owned()),
                super::Told::Seen(_) => None,
            });
        let told: Vec<String> = told.collect();
        let made = one.made.iter().map(|id| (*id).to_owned()).collect();
        self.session.add(&exchange, &self.rules, spec, made);
        told.join(" ")
    }
}

fn creation<'a>(id: &'a [&'a str], status: &str) -> One<'a> {
    let headers = &[("PSU-ID", "one")];
    let (answer, status) = (json!({ "transactionStatus": status }), Some(201));
    One {
        operation: "ncbct",
        method: "POST",
        path: PATH,
        headers,
        status,
        answer,
        made: id,
        ..One::default()
    }
}

#[test]
fn ids_of_payments_are_told_by_what_was_made() {
    let mut told = Told::new();
    told.after(&creation(&["payment-0001"], "RCVD"));
    told.after(&creation(&["payment-0002"], "RCVD"));
    let basket = ("/v1/signing-baskets", &["basket-0001"][..]);
    told.after(&One {
        operation: "basket",
        method: "POST",
        path: basket.0,
        status: Some(201),
        made: basket.1,
        ..One::default()
    });
    let path = |id: &str| format!("{PATH}/{id}/status");
    for (id, psu, status, expected) in [
        ("payment-0001", "one", 200, ""),
        ("payment-0001", "one", 403, ""),
        ("payment-0001", "two", 404, "basket.payment-status.shown-to"),
        ("payment-0001", "two", 200, ""),
        ("payment-00", "one", 404, "payment.unknown"),
        ("payment-00", "one", 200, ""),
        ("PAYMENT-0001", "one", 404, "payment.unknown"),
        ("basket-0001", "one", 404, "payment.unknown"),
        ("made-before-the-record", "one", 404, "payment.unknown"),
        ("known", "one", 404, ""),
        ("undefined", "one", 404, "payment.unknown"),
        ("{payment-id}", "one", 200, "payment.unknown"),
        ("[object Object]", "one", 500, "payment.unknown"),
        (" ", "one", 400, "payment.unknown"),
    ] {
        let (path, ids, headers) = (path(id), [("payment.id", id)], [("PSU-ID", psu)]);
        let one = One {
            operation: "payment-status",
            method: "GET",
            path: &path,
            ids: &ids,
            headers: &headers,
            status: Some(status),
            ..One::default()
        };
        assert_eq!(told.after(&one), expected, "{id} of {psu}: {status}");
    }
}

#[test]
fn deletions_are_told_by_statuses_and_deletions_before_them() {
    let mut told = Told::new();
    told.after(&creation(&["payment-0001"], "PDNG"));
    told.after(&creation(&["payment-0002"], "RCVD"));
    let mut delete = |id: &str, status: u16| {
        let (path, ids) = (format!("{PATH}/{id}"), [("payment.id", id)]);
        told.after(&One {
            operation: "deletion",
            method: "DELETE",
            path: &path,
            ids: &ids,
            status: Some(status),
            ..One::default()
        })
    };
    assert_eq!(delete("payment-0001", 409), "error.pdng");
    assert_eq!(delete("payment-never-read", 429), "");
    assert_eq!(delete("payment-never-read", 409), "");
    assert_eq!(delete("payment-never-read", 429), "");
    assert_eq!(delete("payment-never-read", 409), "error.pdng", "the bank rejected it before");
    assert_eq!(delete("payment-0002", 204), "");
    assert_eq!(delete("payment-0002", 404), "payment.unknown");
    for (ids, status, expected) in [
        (r#"["payment-0001", "payment-0002"]"#, 400, "basket.payment-ids.deleted"),
        (r#"["payment-0001", "payment-0002"]"#, 201, ""),
        (r#"["payment-0001", "null"]"#, 400, "basket.payment-ids.unknown"),
        (r#"["payment-0001", "made-before"]"#, 400, ""),
    ] {
        let body = format!(r#"{{"paymentIds": {ids}}}"#);
        let one = One {
            operation: "basket",
            method: "POST",
            path: "/v1/signing-baskets",
            body: &body,
            status: Some(status),
            ..One::default()
        };
        assert_eq!(told.after(&one), expected, "{ids} {status}");
    }
}

#[test]
fn transactions_are_told_by_the_lists() {
    let mut told = Told::new();
    let read = |told: &mut Told, account: &str, id: &str, status: u16| {
        let path = format!("/v1/accounts/{account}/transactions/{id}");
        let ids = [("target.transaction.account-id", account), ("target.transaction.transaction-id", id)];
        let headers = [("PSU-IP-Address", "192.0.2.1")];
        told.after(&One {
            operation: "transaction",
            method: "GET",
            path: &path,
            ids: &ids,
            headers: &headers,
            status: Some(status),
            ..One::default()
        })
    };
    assert_eq!(read(&mut told, "acc-1", "t-1", 404), "");
    assert_eq!(read(&mut told, "acc-1", "undefined", 404), "transaction.path.unknown");
    assert_eq!(read(&mut told, "null", "t-1", 404), "transaction.path.account-id");
    let path = "/v1/accounts/acc-1/transactions";
    let answer = json!({"transactions": {"booked": [{"transactionId": "t-1"}]}});
    told.after(&One {
        method: "GET",
        path,
        lists: Some("acc-1"),
        status: Some(200),
        answer,
        ..One::default()
    });
    for (account, status, expected) in [
        ("acc-1", 404, ""),
        ("acc-3", 404, "transaction.path.account-id"),
        ("acc-3", 403, ""),
        ("known", 404, ""),
        ("undefined", 200, "transaction.path.account-id"),
    ] {
        let list = One { method: "GET", path, lists: Some(account), status: Some(status), ..One::default() };
        assert_eq!(told.after(&list), expected, "{account} {status}");
    }
    for (account, id, status, expected) in [
        ("acc-1", "t-1", 404, ""),
        ("acc-1", "t-2", 404, "transaction.path.unknown"),
        ("acc-1", "t-2", 200, ""),
        ("acc-2", "t-1", 404, "transaction.path.account-id"),
        ("acc-2", "t-9", 404, ""),
        ("known", "known", 404, ""),
    ] {
        assert_eq!(read(&mut told, account, id, status), expected, "{account} {id} {status}");
    }
}

#[test]
fn calls_without_the_header_are_counted_by_account_whatever_else_differs() {
    let mut told = Told::new();
    let mut read = |account: &str, headers: &[(&str, &str)], status: u16| {
        let path = format!("/v1/accounts/{account}/transactions/t");
        let ids = [("target.transaction.account-id", account), ("target.transaction.transaction-id", "t")];
        told.after(&One {
            operation: "transaction",
            method: "GET",
            path: &path,
            ids: &ids,
            headers,
            status: Some(status),
            ..One::default()
        })
    };
    assert_eq!(read("acc-1", &[], 401), "", "a rejected call does not count");
    for language in ["nn", "nb", "en"] {
        assert_eq!(read("acc-1", &[("Accept-Language", language)], 200), "");
    }
    assert_eq!(read("acc-1", &[("PSU-IP-Address", " ")], 200), "");
    assert_eq!(read("acc-2", &[], 200), "", "another account");
    assert_eq!(read("acc-1", &[("PSU-IP-Address", "192.0.2.1")], 200), "", "the PSU is present");
    assert_eq!(read("acc-1", &[], 429), "limit.without-psu-ip");
    assert_eq!(read("acc-1", &[("Accept-Language", "fr")], 200), "limit.without-psu-ip");
}

#[test]
fn a_request_id_is_one_of_its_own() {
    let mut told = Told::new();
    let mut send = |id: &str, path: &str, status: Option<u16>| {
        told.after(&One {
            operation: "customers",
            method: "GET",
            path,
            headers: &[("X-Request-ID", id)],
            status,
            ..One::default()
        })
    };
    assert_eq!(send("a", "/v1/sandbox/customers", Some(200)), "");
    assert_eq!(send("b", "/v1/sandbox/customers", None), "");
    assert_eq!(send("a", "/v1/sandbox/customers", Some(200)), "header.x-request-id.reuse");
    assert_eq!(send("b", "/v1/sandbox/customers", Some(200)), "?", "it had no response");
    assert_eq!(send("b", "/v1/sandbox/customers?withAccounts=true", Some(200)), "header.x-request-id.reuse");
    assert_eq!(send("***", "/a", Some(200)), "");
    assert_eq!(send("***", "/b", Some(200)), "", "masked");
    // Each TPP chooses its own ids.
    let mut of = |certificate: &str| {
        told.after(&One {
            operation: "customers",
            method: "GET",
            path: "/v1/sandbox/customers",
            headers: &[("X-Request-ID", "c"), ("TPP-Signature-Certificate", certificate)],
            status: Some(200),
            ..One::default()
        })
    };
    assert_eq!((of("one"), of("two")), (String::new(), String::new()));
    assert_eq!(of("two"), "header.x-request-id.reuse");
}
