//! The plain reading, and faults that violate it. Of the conforming bank and the bank with the fault, one
//! accepts each request and the other rejects it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use xs2aspec_reference::Bank;

use crate::support::{CORPORATE_PSU, CUSTOMERS, Call, NCBCT, PRIVATE_PSU, TRANSACTION, bank};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

fn iban(iban: &str) -> Value {
    json!({ "iban": iban, "currency": "NOK" })
}

fn amount(amount: &str, currency: &str) -> Value {
    json!({ "amount": amount, "currency": currency })
}

fn ncbct(name: &str, value: Value) -> Call {
    Call::ncbct().with_member(name, value)
}

fn periodic(name: &str, value: Value) -> Call {
    Call::periodic().with_member(name, value)
}

/// Returns a call with a changed JSON text.
fn body(change: impl FnOnce(String) -> Vec<u8>) -> Call {
    let call = Call::ncbct();
    let text = call.text();
    call.bytes(change(text))
}

/// Returns requests with accounts, addresses, amounts and codes that a conforming bank rejects.
fn refused() -> Vec<(&'static str, Call)> {
    let address = |member: &str, value: Value| json!({ "country": "NO", member: value });
    vec![
        ("account.iban.check-digits/foreign-ncbct", ncbct("creditorAccount", iban("DE94999999990000000001"))),
        (
            "account.iban.check-digits/any-debtor-iban-periodic",
            periodic("debtorAccount", iban("NO1500004200179")),
        ),
        (
            "account.iban.length/number-as-creditor-iban-ncbct",
            ncbct("creditorAccount", json!({ "iban": 1, "currency": "NOK" })),
        ),
        (
            "address.shape/number-as-creditor-address-postal-code-periodic",
            periodic("creditorAddress", address("postalCode", json!(1))),
        ),
        ("amount.digits.fewer/none-on-ncbct", ncbct("instructedAmount", amount("125000", "NOK"))),
        ("amount.digits.fewer/two-of-three-on-periodic", periodic("instructedAmount", amount("1.23", "KWD"))),
        ("amount.form.exponent/exponent-on-ncbct", ncbct("instructedAmount", amount("1e5", "NOK"))),
        ("amount.form.exponent/plus-on-periodic", periodic("instructedAmount", amount("+100.00", "NOK"))),
        ("value.spaces/trimmed-amount-on-ncbct", ncbct("instructedAmount", amount(" 125000.00", "NOK"))),
        ("amount.form/comma-on-periodic", periodic("instructedAmount", amount("100,00", "NOK"))),
        ("amount.form/other-digits-on-ncbct", ncbct("instructedAmount", amount("١٢٣٤٥٦.٠٠", "NOK"))),
        ("amount.negative/taken-on-ncbct", ncbct("instructedAmount", amount("-1.00", "NOK"))),
        (
            "amount.precision.total/whole-digits-on-ncbct",
            ncbct("instructedAmount", amount("12345678901234567.00", "NOK")),
        ),
        ("amount.zero/taken-on-periodic", periodic("instructedAmount", amount("0.00", "NOK"))),
        ("country.case/any-ncbct", ncbct("creditorAddress", address("country", json!("no")))),
        ("country.listed/xk-periodic", periodic("creditorAddress", address("country", json!("XK")))),
        (
            "currency.case/any-debtor-periodic",
            periodic("debtorAccount", json!({ "bban": "00004200179", "currency": "nok" })),
        ),
        (
            "currency.listed/byn",
            ncbct("creditorAccount", json!({ "iban": "NO6100004200594", "currency": "BYN" })),
        ),
        (
            "value.spaces/trimmed-instructed-amount-currency-on-ncbct",
            ncbct("instructedAmount", amount("125000.00", " NOK")),
        ),
    ]
}

/// Returns other requests that a conforming bank rejects.
fn other_refused() -> Vec<(&'static str, Call)> {
    let address = |member: &str, value: Value| json!({ "country": "NO", member: value });
    vec![
        ("date.form/time-as-start-date", periodic("startDate", json!("2025-04-15T00:00:00Z"))),
        ("date.form/line-break-as-end-date", periodic("endDate", json!("2026-04-15\n"))),
        ("date.form/week-as-requested-execution-date", ncbct("requestedExecutionDate", json!("2025-W40-1"))),
        ("digest.not-base64/hexadecimal", Call::ncbct().with("digest", &Call::ncbct().hexadecimal_digest())),
        ("digest.unknown-algorithm/md5", Call::ncbct().with("digest", "MD5=1B2M2Y8AsgTpgAmY7PhCfg==")),
        ("error.corporate-id/account-not-asked-on-ncbct", ncbct("debtorAccount", iban("NO1100004200330"))),
        (
            "error.corporate-id/context-not-asked-on-periodic",
            Call::periodic().with("psu-context", "CORPORATE"),
        ),
        ("error.corporate-id.person/person-not-asked-on-ncbct", Call::ncbct().with("psu-id", CORPORATE_PSU)),
        ("header.psu-id.unknown/taken-on-ncbct", Call::ncbct().with("psu-id", NOBODY)),
        ("header.psu-id.unknown/taken-on-transaction", Call::transaction().with("psu-id", NOBODY)),
        (
            "header.psu-id.unknown/identity-taken-on-periodic",
            Call::periodic().without("psu-id").with("x-psu-identity", "01819000000"),
        ),
        (
            "header.x-psu-identity.format/digits",
            Call::ncbct().without("psu-id").with("x-psu-identity", "018190 00391"),
        ),
        (
            "json.duplicate-keys/first",
            body(|text| format!("{},\"creditorName\":\"\"}}", text.trim_end_matches('}')).into_bytes()),
        ),
        (
            "json.null.request/creditor-address-city-ncbct",
            ncbct("creditorAddress", address("city", Value::Null)),
        ),
        ("json.null.request/end-date-periodic", periodic("endDate", Value::Null)),
        ("json.trailing/passed-over", body(|text| format!("{text} x").into_bytes())),
        ("json.trailing/another-value", body(|text| format!("{text}{{}}").into_bytes())),
        (
            "json.utf-8/latin-1",
            // The letter Å in ISO-8859-1.
            body(|text| text.bytes().map(|byte| if byte == b'M' { 0xc5 } else { byte }).collect()),
        ),
        ("listed.case/any-execution-rule-periodic", periodic("executionRule", json!("Following"))),
        ("listed.case/any-psu-http-method", Call::ncbct().with("psu-http-method", "post")),
        (
            "ncbct.allow-logical-duplicate.words/one",
            Call::ncbct().path(&format!("{NCBCT}?allowLogicalDuplicate=1")),
        ),
        ("ncbct.creditor-agent.form/small-letters", ncbct("creditorAgent", json!("testdeff"))),
        (
            "text.blanks/trimmed-creditor-name-ncbct",
            ncbct("creditorName", json!(format!(" {}", "x".repeat(70)))),
        ),
        ("ncbct.creditor-name.length/only-ascii", ncbct("creditorName", json!("å".repeat(71)))),
        (
            "ncbct.creditor-name.length/not-asked-beside-psu-device-id",
            ncbct("creditorName", json!("x".repeat(71))).with("psu-device-id", NOBODY),
        ),
        ("ncbct.creditor-name.type/number-as-creditor-name-ncbct", ncbct("creditorName", json!(7))),
        (
            "ncbct.requested-execution-date.past/yesterday",
            ncbct("requestedExecutionDate", json!("2025-02-28")),
        ),
        ("value.spaces/line-break-after-day", periodic("dayOfExecution", json!("1\n"))),
        ("periodic.day.impossible/zero", periodic("dayOfExecution", json!("00"))),
        ("periodic.end-date.before-start/same-month", periodic("endDate", json!("2025-04-01"))),
        ("periodic.execution-rule.preceding/taken", periodic("executionRule", json!("preceding"))),
        ("periodic.months.absent/taken", Call::periodic().member("monthsOfExecution", Value::Null)),
        ("periodic.months.empty/taken", periodic("monthsOfExecution", json!([]))),
        ("periodic.start-date.past/a-month", periodic("startDate", json!("2025-02-01"))),
        (
            "customers.with-accounts.type/yes",
            Call::customers().path(&format!("{CUSTOMERS}?withAccounts=yes")),
        ),
        ("transaction.path.unknown/another", Call::transaction().path(&format!("{TRANSACTION}9"))),
    ]
}

/// Returns requests that a conforming bank accepts.
fn accepted() -> Vec<(&'static str, Call)> {
    let creditor = |iban: &str| ncbct("creditorAccount", json!({ "iban": iban, "currency": "EUR" }));
    let address = |member: &str, value: &str| json!({ "country": "GB", member: value });
    vec![
        (
            "account.bban.letters/refused-on-periodic",
            periodic("creditorAccount", json!({ "bban": "WEST12345698765432", "currency": "GBP" })),
        ),
        ("account.iban.any-country/no-letters-on-ncbct", creditor("GB82WEST12345698765432")),
        (
            "address.free-text/building-letters-on-ncbct",
            ncbct("creditorAddress", address("buildingNumber", "12 B")),
        ),
        (
            "address.free-text/postal-blanks-on-periodic",
            periodic("creditorAddress", address("postalCode", "EC1A 1BB")),
        ),
        ("date.leap-day/refused-as-end-date", periodic("endDate", json!("2028-02-29"))),
        (
            "header.tpp-redirect-uri.absolute/no-app-on-ncbct",
            Call::ncbct().with("tpp-redirect-uri", "tpp.app:/back"),
        ),
        (
            "header.tpp-redirect-uri.absolute/no-fragment-on-transaction",
            Call::transaction().with("tpp-redirect-uri", "https://tpp.example/#a"),
        ),
        (
            "header.x-accept-fix.several/refused-on-basket",
            Call::basket(&["payment-pending-0001".to_owned()])
                .with("x-accept-fix", "amount-as-string, longer-name"),
        ),
        (
            "header.x-psu-identity.ncbct/no-d-number",
            Call::ncbct().without("psu-id").with("x-psu-identity", "41819000466"),
        ),
        ("ncbct.creditor-agent.bic/no-eight", ncbct("creditorAgent", json!("TESTDEFF"))),
        (
            "ncbct.remittance-unstructured.length.non-ascii/counts-bytes",
            ncbct("remittanceInformationUnstructured", json!("å".repeat(140))),
        ),
        (
            "text.characters/counts-utf-16-creditor-name-periodic",
            periodic("creditorName", json!("\u{1f600}".repeat(70))),
        ),
        ("periodic.day.leading-zero/refused", periodic("dayOfExecution", json!("01"))),
        ("currency.listed/no-mga-amount-periodic", periodic("instructedAmount", amount("1.00", "MGA"))),
    ]
}

async fn is_accepted(bank: &Bank, call: Call) -> bool {
    let reply = call.send(bank).await;
    assert!(reply.status < 500, "{reply:?}");
    reply.status < 300
}

#[tokio::test]
async fn the_honest_bank_takes_the_plain_reading() {
    let bank = bank(None).await;
    for (fault, call) in refused().into_iter().chain(other_refused()) {
        assert!(!is_accepted(&bank, call).await, "{fault}");
    }
    for (fault, call) in accepted() {
        assert!(is_accepted(&bank, call).await, "{fault}");
    }
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn each_fault_leaves_it() {
    let mut kept = Vec::new();
    for (wanted, calls) in [(true, refused()), (true, other_refused()), (false, accepted())] {
        for (fault, call) in calls {
            let bank = bank(Some(fault)).await;
            if is_accepted(&bank, call).await != wanted {
                kept.push(fault);
            }
            bank.shutdown().await.unwrap();
        }
    }
    assert_eq!(kept, [""; 0]);
}

/// Sends the same payment twice, and returns the status of the second.
async fn twin(fault: Option<&str>, query: &str) -> u16 {
    let bank = bank(fault).await;
    let path = format!("{NCBCT}{query}");
    Call::ncbct().send(&bank).await.payment_id();
    let other = ncbct("creditorName", json!("Another")).path(&format!("{NCBCT}?allowLogicalDuplicate=false"));
    let of_another = other.clone().with("psu-id", "5e2f8a41-7c36-4d19-b0e5-9a8b7c6d5e4f");
    assert_eq!(other.send(&bank).await.status, 201, "not a duplicate");
    if fault.is_none() {
        assert_eq!(of_another.send(&bank).await.status, 201, "the same payment of another PSU");
    }
    let status = Call::ncbct().path(&path).send(&bank).await.status;
    bank.shutdown().await.unwrap();
    status
}

#[tokio::test]
async fn the_same_payment_is_made_again_where_it_may() {
    assert_eq!(twin(None, "").await, 201);
    assert_eq!(twin(None, "?allowLogicalDuplicate=true").await, 201);
    assert_eq!(twin(None, "?allowLogicalDuplicate=false").await, 409);
    let meaning = |fault: &str| format!("ncbct.allow-logical-duplicate.meaning/{fault}");
    assert_eq!(twin(Some(&meaning("false-accepted")), "?allowLogicalDuplicate=false").await, 201);
    assert_eq!(twin(Some(&meaning("only-last")), "?allowLogicalDuplicate=false").await, 201);
    assert_eq!(twin(Some(&meaning("true-refused")), "?allowLogicalDuplicate=true").await, 409);
}

#[tokio::test]
async fn a_pending_payment_stays_and_its_refusal_has_a_text() {
    for (fault, has_text, status) in [
        (None, true, "PDNG"),
        (Some("error.pdng.message/no-body"), false, "PDNG"),
        (Some("error.pdng.message/no-message"), false, "PDNG"),
        (Some("error.pdng.stays/cancelled"), true, "CANC"),
    ] {
        let bank = bank(fault).await;
        let path = "/v1/periodic-payments/norwegian-domestic-credit-transfers/payment-pending-0002";
        let refused = Call::get(path).method("DELETE").send(&bank).await;
        assert_eq!((refused.status, !refused.text().is_empty()), (409, has_text), "{fault:?}");
        let after = Call::get(&format!("{path}/status")).send(&bank).await;
        assert_eq!(after.body["transactionStatus"], status, "{fault:?}");
        bank.shutdown().await.unwrap();
    }
}

/// The same key signs the same signing string, with other hashes.
#[tokio::test]
async fn signatures_with_another_hash_and_in_other_forms() {
    let call = || Call::ncbct().signed();
    let spaced = || {
        let names = ["keyId", "algorithm", "headers", "signature"];
        let header = names.iter().fold(call().header("signature").replace("\",", "\" , "), |header, name| {
            header.replace(&format!("{name}="), &format!("{name} = "))
        });
        call().with("signature", &header)
    };
    let word = |charset: &str| {
        let wrapped = format!("=?{charset}?B?{}?=", STANDARD.encode(call().header("signature")));
        call().with("signature", &wrapped)
    };
    let part = || {
        let header = call().header("signature").to_owned();
        let (before, rest) = header.split_once(",CA=").unwrap();
        let (issuer, after) = rest.split_once('"').unwrap();
        let name = issuer.split(',').find(|part| part.trim().starts_with("CN=")).unwrap().trim();
        call().with("signature", &format!("{before},CA={name}\"{after}"))
    };
    let honest = bank(None).await;
    for (fault, call, taken) in [
        ("signature.parameters.blanks/refused", spaced(), true),
        ("signature.wrap.case/charset-as-shown", word("UTF-8"), true),
        ("signature.key-id.part/common-name", part(), false),
        ("signature.key-id.part/any-part", part(), false),
    ] {
        let faulty = bank(Some(fault)).await;
        let statuses =
            [call.clone().send_as_it_is(&honest).await.status, call.send_as_it_is(&faulty).await.status];
        assert_eq!(statuses, if taken { [201, 401] } else { [401, 201] }, "{fault}");
        faulty.shutdown().await.unwrap();
    }
    honest.shutdown().await.unwrap();
}

#[tokio::test]
async fn payments_and_accounts_are_those_of_their_psu() {
    let bank = bank(None).await;
    let id = Call::ncbct().send(&bank).await.payment_id();
    let by = |psu| Call::basket(std::slice::from_ref(&id)).with("psu-id", psu);
    let other = "5e2f8a41-7c36-4d19-b0e5-9a8b7c6d5e4f";
    assert_eq!(by(other).send(&bank).await.refusal(), (400, "RESOURCE_UNKNOWN", "basket.payment-ids.known"));
    assert_eq!(by(PRIVATE_PSU).send(&bank).await.status, 201);
    let read = |psu| Call::get(&TRANSACTION.replace("corporate", "private")).with("psu-id", psu);
    assert_eq!(
        [read(PRIVATE_PSU).send(&bank).await.status, read(other).send(&bank).await.status],
        [200, 404]
    );
    bank.shutdown().await.unwrap();
}
