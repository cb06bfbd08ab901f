//! Faults of the signing basket (the document, section Endpoints > Create payments signing basket), of
//! queries and of what the bank remembers.

use axum::http::StatusCode;
use serde_json::Value;

use crate::operation::{Operation, Product};
use crate::refusal::Code;
use crate::rules::{Breach, Effect, Entry, MixBreach, Place, Then, Treatment, TwinBreach, Variance, When};

pub(super) fn faults() -> Vec<Entry> {
    let mix = [
        (
            "basket.mix/first-payment-only",
            MixBreach::FirstOnly,
            "A periodic payment is refused only where it is the first payment of the basket.",
        ),
        (
            "basket.mix/last-payment-only",
            MixBreach::LastOnly,
            "A periodic payment is refused only where it is the last payment of the basket.",
        ),
        ("basket.mix/only-mixed", MixBreach::OnlyMixed, "A basket of periodic payments alone is accepted."),
        ("basket.mix/never", MixBreach::Never, "Periodic payments are accepted in baskets."),
        (
            "basket.body/no-cross-border",
            MixBreach::CrossBorderToo,
            "No payment at all may be put in a basket.",
        ),
    ];
    let mut faults: Vec<Entry> =
        mix.into_iter().map(|(name, breach, says)| Entry::breach(name, Breach::Mix(breach), says)).collect();
    let refusals = [
        ("status-409", StatusCode::CONFLICT, Code::ReferenceMixInvalid),
        ("status-422", StatusCode::UNPROCESSABLE_ENTITY, Code::ReferenceMixInvalid),
        ("other-code", StatusCode::BAD_REQUEST, Code::FormatError),
    ];
    for (name, status, code) in refusals {
        faults.push(Entry::new(
            format!("basket.mix/{name}"),
            vec![Effect::Refuses("basket.mix", status, code)],
            format!("A mixed basket is refused with {} and {}.", status.as_u16(), code.text()),
        ));
    }
    let limits = [
        ("basket.payment-ids.limit/eleven", 11, "A basket may have eleven payments."),
        ("basket.payment-ids.limit/none", usize::MAX, "A basket may have any number of payments."),
        ("basket.payment-ids.limit.ten/nine", 9, "A basket of ten payments is refused."),
    ];
    faults.extend(limits.map(|(name, limit, says)| Entry::breach(name, Breach::BasketLimit(limit), says)));
    faults.extend([
        Entry::breach(
            "basket.status.worst/received",
            Breach::BasketStatus,
            "A basket is received whatever its payments are.",
        ),
        Entry::breach("error.pdng/deleted", Breach::PendingDeleted, "A payment with status PDNG is deleted."),
        Entry::breach(
            "basket.payment-status.shown-to/anyone",
            Breach::ShownToAnyone,
            "Payments show to anyone, whatever the profile says.",
        ),
        Entry::breach(
            "limit.without-psu-ip/unlimited",
            Breach::UnattendedCalls(u32::MAX),
            "Calls without PSU-IP-Address are not limited.",
        ),
        Entry::breach(
            "limit.without-psu-ip/five",
            Breach::UnattendedCalls(5),
            "Five calls a day without PSU-IP-Address are allowed.",
        ),
    ]);
    let ids = |name: &str, when, says: &str| {
        let treatment = Treatment {
            operation: Operation::Basket,
            place: Place::Body("/paymentIds"),
            when,
            then: Then::TakeFor("[\"payment-pending-0001\"]"),
        };
        Entry::treats(name, treatment, says)
    };
    let not_all_texts: fn(&Value) -> bool =
        |ids| ids.as_array().is_some_and(|ids| !ids.iter().all(Value::is_string));
    faults.extend([
        ids(
            "basket.payment-ids.required/not-demanded",
            When::Absent,
            "Basket creation accepts a body without paymentIds.",
        ),
        ids(
            "basket.payment-ids.type/one-text",
            When::Value(Value::is_string),
            "One payment id need not be a list.",
        ),
        ids("basket.payment-ids.type/any", When::NotType('a'), "paymentIds may be of any JSON type."),
        ids(
            "basket.payment-ids.type/any-items",
            When::Value(not_all_texts),
            "The items of paymentIds may be of any JSON type.",
        ),
    ]);
    faults.push(no_status());
    faults.extend(twins());
    faults.extend(queries());
    faults
}

/// Other ideas of the same payment made again.
fn twins() -> Vec<Entry> {
    let breaches = [
        (
            "meaning/false-accepted",
            TwinBreach::Accepted,
            "The same payment is made again although it may not.",
        ),
        ("meaning/true-refused", TwinBreach::Refused, "The same payment is refused although it may be made."),
        ("meaning/only-last", TwinBreach::OnlyLast, "Only a payment made just before is taken for the same."),
        ("same-amount", TwinBreach::SameAmount, "A payment of the same amount is taken for the same."),
        ("of-anyone", TwinBreach::OfAnyone, "The payment of another PSU is taken for the same."),
    ];
    let entry = |(name, breach, says): (&str, TwinBreach, &str)| {
        let separator = if name.contains('/') { '.' } else { '/' };
        let name = format!("ncbct.allow-logical-duplicate{separator}{name}");
        Entry::breach(name, Breach::Twins(breach), says)
    };
    breaches.into_iter().map(entry).collect()
}

fn no_status() -> Entry {
    let treatment = Treatment {
        operation: Operation::Status(Product::Ncbct),
        place: Place::Header("x-request-id"),
        when: When::Present,
        then: Then::Refuse,
    };
    let says = "The status of a payment is not to be had at its path.";
    Entry::treats("basket.payment-status/not-there", treatment, says)
}

fn queries() -> Vec<Entry> {
    let parameters = [
        ("ncbct.allow-logical-duplicate", "allowLogicalDuplicate", Operation::Ncbct),
        ("customers.with-accounts", "withAccounts", Operation::Customers),
        ("customers.with-agreements", "withAgreements", Operation::Customers),
    ];
    let entry = |(clause, name, operation): (&str, &'static str, Operation), value: &'static str| {
        let treatment =
            Treatment { operation, place: Place::Query(name), when: When::Is(value), then: Then::Refuse };
        Entry::treats(
            format!("{clause}/no-{value}"),
            treatment,
            format!("The value {value} of {name} is refused."),
        )
    };
    let each = parameters.into_iter().flat_map(|one| ["true", "false"].map(move |value| (one, value)));
    let mut faults: Vec<Entry> = each.map(|(parameter, value)| entry(parameter, value)).collect();
    faults.push(Entry::new(
        "ncbct.allow-logical-duplicate.type/any",
        vec![Effect::Variance(Variance::AnyFlag("allowLogicalDuplicate"))],
        "An allowLogicalDuplicate that is no boolean is not looked at.",
    ));
    faults
}
