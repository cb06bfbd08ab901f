//! Faults of the signing basket (the document, section Endpoints > Create payments signing basket), and
//! of what the bank remembers.

use axum::http::StatusCode;
use serde_json::Value;

use crate::operation::{Operation, Product};
use crate::refusal::Code;
use crate::rules::{
    Beside, Breach, Effect, End, Entry, ErrorBody, Form, MixBreach, Place, Then, Treatment, Variance, When,
};

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
        ("basket.mix/never", MixBreach::Never, "Bulk and periodic payments are accepted in baskets."),
        (
            "basket.mix/bulk",
            MixBreach::BulkToo,
            "Bulk payments are accepted in baskets, and periodic ones are not.",
        ),
        (
            "basket.mix/at-second",
            MixBreach::AtSecond,
            "A basket with a periodic payment is refused once, and then accepted.",
        ),
        ("basket.mix/pending", MixBreach::PendingToo, "Pending periodic payments are accepted in baskets."),
        (
            "basket.body/one-currency",
            MixBreach::OneCurrency,
            "Payments in several currencies are refused in a basket.",
        ),
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
    faults.extend(of_statuses());
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
    faults.extend(names_of_ids(ids));
    faults.push(no_status());
    faults.extend(deletions());
    faults
}

/// The names that a bank may take for `paymentIds`.
fn names_of_ids(ids: impl Fn(&str, When, &str) -> Entry) -> [Entry; 4] {
    let names = [
        ("begins-with-a-capital", "/PaymentIds"),
        ("in-snake-case", "/payment_ids"),
        ("longer-name", "/paymentIdsList"),
        ("shorter-name", "/paymentId"),
    ];
    names.map(|(fault, other)| {
        let says = format!("Basket creation takes {} for paymentIds.", &other[1..]);
        let name = if matches!(fault, "longer-name" | "shorter-name") {
            format!("basket.payment-ids.required/{fault}")
        } else {
            format!("json.names/basket-payment-ids-{fault}")
        };
        ids(&name, When::Absent, &says).only(Beside::Value(Place::Body(other)))
    })
}

/// What the bank remembers: statuses, deletions and calls.
fn of_statuses() -> Vec<Entry> {
    vec![
        Entry::breach(
            "basket.status.worst/received",
            Breach::BasketStatus,
            "A basket is received whatever its payments are.",
        ),
        Entry::new(
            "error.pdng/deleted",
            [Product::Ncbct, Product::Periodic]
                .map(|product| Effect::Breach(Breach::PendingDeleted(product)))
                .into(),
            "A payment with status PDNG is deleted.",
        ),
        Entry::breach(
            "basket.status.worst/of-the-first",
            Breach::BasketStatusOf(End::First),
            "The status of a basket is that of its first payment.",
        ),
        Entry::breach(
            "basket.status.worst/of-the-last",
            Breach::BasketStatusOf(End::Last),
            "The status of a basket is that of its last payment.",
        ),
        Entry::breach(
            "basket.payment-ids.limit/of-others",
            Breach::BasketLimitOfOthers,
            "A payment that comes again in a basket does not count.",
        ),
        Entry::new(
            "basket.payment-ids.unknown/taken",
            vec![Effect::Variance(Variance::AnyPayments)],
            "A basket may have payments that the bank does not know.",
        ),
        Entry::new(
            "basket.payment-ids.other-psu/taken",
            vec![Effect::Variance(Variance::PaymentsOfOthers)],
            "A basket may have payments of other PSUs.",
        ),
        Entry::breach(
            "basket.payment-ids.unknown/beyond-the-first",
            Breach::BasketKnown(End::First),
            "Only the first payment of a basket has to be known.",
        ),
        Entry::breach(
            "basket.payment-ids.unknown/before-the-last",
            Breach::BasketKnown(End::Last),
            "Only the last payment of a basket has to be known.",
        ),
        Entry::breach(
            "error.pdng/periodic-deleted",
            Breach::PendingDeleted(Product::Periodic),
            "A periodic payment with status PDNG is deleted.",
        ),
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
            "limit.without-psu-ip.four/three",
            Breach::UnattendedCalls(3),
            "Three calls a day without PSU-IP-Address are allowed.",
        ),
        Entry::breach(
            "limit.without-psu-ip/five",
            Breach::UnattendedCalls(5),
            "Five calls a day without PSU-IP-Address are allowed.",
        ),
    ]
}

/// Refusals to delete a pending payment that say nothing, or are not meant.
fn deletions() -> [Entry; 3] {
    let rule = "payment.deletion.pending";
    let form = |name: &str, body, says: &str| {
        Entry::new(
            format!("error.pdng.message/{name}"),
            vec![Effect::Forms(Form::ErrorsOf(rule, body))],
            says,
        )
    };
    [
        form("no-body", ErrorBody::Empty, "The deletion of a pending payment is refused without a body."),
        form(
            "no-message",
            ErrorBody::NoMessages,
            "The deletion of a pending payment is refused with an empty list.",
        ),
        Entry::breach(
            "error.pdng.stays/cancelled",
            Breach::PendingCancelled,
            "The deletion of a pending payment is refused, and the payment is cancelled.",
        ),
    ]
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
