//! A fault of each kind of rule is detected by a request that its clause forbids, and by no request that
//! another clause forbids. `xs2aspec prove` does the same for all faults.

use serde_json::{Value, json};
use xs2aspec_reference::Bank;

use crate::support::{Call, bank};

const PROBED: [&str; 5] = [
    "header.x-request-id.ncbct/not-required",
    "ncbct.creditor-name.length/seventy-one",
    "amount.digits/two-for-zero",
    "periodic.months.duplicate/only-adjacent",
    "basket.mix/first-payment-only",
];

/// Sends each probe and returns the faults whose probe was accepted. A conforming bank rejects all.
async fn accepted(bank: &Bank) -> Vec<&'static str> {
    let single = Call::ncbct().send(bank).await.payment_id();
    let periodic = Call::periodic().send(bank).await.payment_id();
    let amount = |amount: &str| json!({ "amount": amount, "currency": "JPY" });
    let name = |length| json!("x".repeat(length));
    let months = |months: Value| Call::periodic().member("monthsOfExecution", months);
    let probes = [
        ("header.x-request-id.ncbct/not-required", Call::ncbct().without("x-request-id")),
        ("ncbct.creditor-name.length/seventy-one", Call::ncbct().member("creditorName", name(71))),
        ("amount.digits/two-for-zero", Call::ncbct().member("instructedAmount", amount("100.00"))),
        ("periodic.months.duplicate/only-adjacent", months(json!([3, 4, 3]))),
        ("basket.mix/first-payment-only", Call::basket(&[single, periodic.clone()])),
        // Near each fault, where the clause still holds.
        ("", Call::periodic().without("x-request-id")),
        ("", Call::ncbct().without("tpp-session-id")),
        ("", Call::ncbct().member("creditorName", name(72))),
        ("", Call::periodic().member("creditorName", name(71))),
        ("", Call::ncbct().member("instructedAmount", amount("100.000"))),
        ("", months(json!([3, 3]))),
        ("", Call::basket(&[periodic])),
    ];
    let mut accepted = Vec::new();
    for (fault, call) in probes {
        let reply = call.send(bank).await;
        match reply.status {
            201 => accepted.push(fault),
            status => assert!((400..500).contains(&status), "{reply:?}"),
        }
    }
    accepted
}

#[tokio::test]
async fn an_honest_bank_accepts_none() {
    let bank = bank(None).await;
    assert_eq!(accepted(&bank).await, [""; 0]);
    bank.shutdown().await.unwrap();
}

#[tokio::test]
async fn each_fault_is_seen_and_only_where_it_should_be() {
    for fault in PROBED {
        let bank = bank(Some(fault)).await;
        assert_eq!(accepted(&bank).await, [fault]);
        bank.shutdown().await.unwrap();
    }
}
