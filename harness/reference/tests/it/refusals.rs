//! Requests that violate the document get the status and the code of this bank.

use serde_json::json;

use crate::support::{CORPORATE_PSU, Call, PERIODIC, Signer, TRANSACTION, bank, signer};

#[tokio::test]
async fn headers() {
    let bank = bank(None).await;
    let header_required = "HTTP_HEADER_REQUIRED";
    for (call, expected) in [
        (Call::ncbct().without("x-request-id"), (400, header_required, "header.x-request-id.ncbct")),
        (Call::periodic().without("digest"), (400, header_required, "header.digest.periodic")),
        (Call::ncbct().without("psu-id"), (400, header_required, "header.psu-id.ncbct")),
        (Call::customers().without("x-request-id"), (400, header_required, "header.x-request-id.customers")),
        (
            Call::transaction().with("tpp-session-id", ""),
            (400, header_required, "header.tpp-session-id.transaction"),
        ),
        (Call::ncbct().with("psu-id", "me"), (400, "FORMAT_ERROR", "header.psu-id.format")),
        (Call::ncbct().with("psu-context", "private"), (400, "FORMAT_ERROR", "header.psu-context.format")),
        (
            Call::basket(&[]).with("x-accept-fix", "longer-name"),
            (400, "FORMAT_ERROR", "header.x-accept-fix.format"),
        ),
        (Call::ncbct().with("digest", "SHA-256=AAAA"), (400, "FORMAT_ERROR", "digest.length")),
        (
            Call::ncbct().with("psu-id", "00000000-0000-4000-8000-000000000000"),
            (401, "PSU_CREDENTIALS_INVALID", "header.psu-id.known"),
        ),
        (Call::ncbct().with("psu-context", "CORPORATE"), (400, "BAD_REQUEST", "error.corporate-id-missing")),
        (Call::ncbct().with("psu-id", CORPORATE_PSU), (400, "BAD_REQUEST", "error.corporate-id-missing")),
    ] {
        let reply = call.send(&bank).await;
        assert_eq!(reply.refusal(), expected);
        assert_eq!(reply.body["tppMessages"][0]["category"], "ERROR");
    }
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn signatures() {
    let bank = bank(None).await;
    for (call, rule) in [
        (Call::ncbct().signed().without("signature"), "header.signature.ncbct"),
        (Call::ncbct().signed().with("x-request-id", "another"), "signature.value"),
        (Call::ncbct().signed().with("tpp-signature-certificate", "AAAA"), "certificate.form"),
        (Call::ncbct().signed_over(&["date"], signer()), "signature.headers.digest"),
        (Call::customers().signed_over(&["date", "x-request-id"], &Signer::generate()), "signature.value"),
    ] {
        let reply = call.send_as_it_is(&bank).await;
        assert_eq!((reply.status, reply.rule()), (401, rule));
        assert!(reply.header("www-authenticate").is_some());
    }
    let unsigned = Call::ncbct().signed().without("tpp-signature-certificate").send_as_it_is(&bank).await;
    assert_eq!(unsigned.refusal(), (400, "HTTP_HEADER_REQUIRED", "header.tpp-signature-certificate.ncbct"));
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn bodies() {
    let bank = bank(None).await;
    let amount = |amount: &str, currency: &str| json!({ "amount": amount, "currency": currency });
    for (call, rule) in [
        (Call::ncbct().member("creditorName", json!("x".repeat(71))), "ncbct.creditor-name.length"),
        (
            Call::ncbct().member("regulatoryReportingCode", json!(null)),
            "ncbct.regulatory-reporting-code.required",
        ),
        (Call::ncbct().member("instructedAmount", amount("100.0", "JPY")), "amount.digits"),
        (Call::ncbct().member("instructedAmount", amount("100.00", "XXX")), "currency.listed"),
        (Call::periodic().member("monthsOfExecution", json!([3, 4, 3])), "periodic.months.duplicate"),
        (Call::periodic().member("frequency", json!("Hourly")), "periodic.frequency.listed"),
        (Call::basket(&vec!["x".to_owned(); 11]), "basket.payment-ids.limit"),
        (Call::ncbct().bytes(b"[]".to_vec()), "ncbct.body"),
        (Call::ncbct().bytes(b"{\"creditorName\":".to_vec()), "ncbct.body"),
        (Call::ncbct().bytes(Vec::new()), "ncbct.body"),
        (Call::periodic().bytes(b"\xff\xfe{}".to_vec()), "periodic.body"),
        (Call::ncbct().bytes([b"{\"a\":".to_vec(), vec![b'['; 200_000]].concat()), "ncbct.body"),
    ] {
        assert_eq!(call.send(&bank).await.refusal(), (400, "FORMAT_ERROR", rule));
    }
    let pointed = Call::ncbct().member("instructedAmount", amount("100.0", "JPY")).send(&bank).await;
    assert_eq!(pointed.body["tppMessages"][0]["path"], "/instructedAmount/amount");
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_mix_of_a_basket() {
    let bank = bank(None).await;
    let single = Call::ncbct().send(&bank).await.payment_id();
    let periodic = Call::periodic().send(&bank).await.payment_id();
    for ids in [vec![periodic.clone()], vec![single.clone(), periodic]] {
        let reply = Call::basket(&ids).send(&bank).await;
        assert_eq!(reply.refusal(), (400, "REFERENCE_MIX_INVALID", "basket.mix"));
    }
    let unknown = Call::basket(&[single, "unknown".to_owned()]).send(&bank).await;
    assert_eq!(unknown.refusal(), (400, "RESOURCE_UNKNOWN", "basket.payment-ids.known"));
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_fifth_call_without_an_address() {
    let bank = bank(None).await;
    let call = Call::transaction().without("psu-ip-address");
    for _ in 0..4 {
        assert_eq!(call.clone().send(&bank).await.status, 200);
    }
    let reply = call.send(&bank).await;
    assert_eq!(reply.refusal(), (429, "ACCESS_EXCEEDED", "limit.calls-without-psu-ip-address"));
    assert_eq!(Call::transaction().send(&bank).await.status, 200);
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn paths_methods_and_queries() {
    let bank = bank(None).await;
    for path in ["/", "/v1", "/v1/accounts/acc-corporate-0001", "/v1/sandbox/customers/"] {
        assert_eq!(Call::get(path).send(&bank).await.refusal(), (404, "NOT_FOUND", "http.path"));
    }
    let wrong = Call::get(PERIODIC).send(&bank).await;
    assert_eq!(wrong.refusal(), (405, "BAD_REQUEST", "http.method"));
    assert_eq!(wrong.header("allow"), Some("POST"));
    assert_eq!(Call::transaction().method("DELETE").send(&bank).await.status, 405);
    for path in
        [TRANSACTION.replace("0001/", "0009/"), format!("{TRANSACTION}9"), format!("{TRANSACTION}%ff")]
    {
        let reply = Call::transaction().path(&path).send(&bank).await;
        assert_eq!((reply.status, reply.code()), (404, "RESOURCE_UNKNOWN"), "{path}");
    }
    let reply = Call::customers().path("/v1/sandbox/customers?withAccounts=yes").send(&bank).await;
    assert_eq!(reply.refusal(), (400, "FORMAT_ERROR", "customers.with-accounts.type"));
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_basket_body_changed_under_its_digest() {
    let bank = bank(None).await;
    let id = Call::ncbct().send(&bank).await.payment_id();
    let reply = Call::basket(&[id]).with("digest", "SHA-256=AAAA").send(&bank).await;
    assert_eq!(reply.refusal(), (400, "FORMAT_ERROR", "digest.length"));
    bank.shutdown().await.unwrap();
}
