//! Faults of query parameters: their form, and what they do.

use crate::operation::Operation;
use crate::rules::{
    Beside, Breach, Effect, Entry, FlagBreach as F, Place, Then, Treatment, TwinBreach, Variance, When,
};

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = queries();
    faults.extend(twins());
    faults
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
    let flags = [
        ("accounts.content/always", F::AccountsAlways, "Customers have accounts whatever is asked for."),
        (
            "agreements.content/always",
            F::AgreementsAlways,
            "Customers have agreements whatever is asked for.",
        ),
        ("accounts.content/never", F::AccountsNever, "Customers have no accounts where these are asked for."),
        (
            "agreements.content/never",
            F::AgreementsNever,
            "Customers have no agreements where these are asked for.",
        ),
        (
            "accounts.content/first-alone",
            F::FirstAlone,
            "Of withAccounts and withAgreements only the one that stands first is looked at.",
        ),
        (
            "accounts.content/agreements-too",
            F::AgreementsWithAccounts,
            "Without accounts there are no agreements.",
        ),
        (
            "agreements.content/accounts-too",
            F::AccountsWithAgreements,
            "Without agreements there are no accounts.",
        ),
    ];
    faults.extend(flags.map(|(name, breach, says)| {
        Entry::breach(format!("customers.with-{name}"), Breach::Flags(breach), says)
    }));
    for (clause, text, name) in [
        ("ncbct.allow-logical-duplicate.words", "1", "one"),
        ("customers.with-accounts.type", "yes", "yes"),
        ("customers.with-agreements.type", "", "empty"),
    ] {
        let says = format!("The parameter may be {text:?}, which is taken for true.");
        faults.push(Entry::breach(format!("{clause}/{name}"), Breach::Boolean(text), says));
    }
    faults.push(Entry::new(
        "ncbct.allow-logical-duplicate.type/any",
        vec![Effect::Variance(Variance::AnyFlag("allowLogicalDuplicate"))],
        "An allowLogicalDuplicate that is no boolean is not looked at.",
    ));
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
        (
            "meaning/same-accounts",
            TwinBreach::SameAccounts,
            "A payment between the same accounts is taken for the same.",
        ),
        (
            "meaning/any-creditor",
            TwinBreach::But("/creditorAccount"),
            "A payment that differs in the creditor's account alone is taken for the same.",
        ),
        (
            "meaning/any-currency",
            TwinBreach::But("/instructedAmount/currency"),
            "A payment that differs in the currency of its amount alone is taken for the same.",
        ),
        (
            "meaning/any-debtor",
            TwinBreach::But("/debtorAccount"),
            "A payment that differs in its PSU and the debtor's account alone is taken for the same.",
        ),
        ("of-anyone", TwinBreach::OfAnyone, "The payment of another PSU is taken for the same."),
    ];
    let entry = |(name, breach, says): (&str, TwinBreach, &str)| {
        let separator = if name.contains('/') { '.' } else { '/' };
        let name = format!("ncbct.allow-logical-duplicate{separator}{name}");
        Entry::breach(name, Breach::Twins(breach), says)
    };
    let passed = [
        ("not-to-a-bban", Place::Body("/creditorAccount/bban"), "to a bban"),
        ("not-from-a-bban", Place::Body("/debtorAccount/bban"), "from a bban"),
        ("not-with-a-day", Place::Body("/requestedExecutionDate"), "on a certain day"),
        ("not-with-a-text", Place::Body("/remittanceInformationUnstructured"), "with a text"),
        ("not-by-identity", Place::Header("x-psu-identity"), "of a PSU that X-PSU-IDENTITY names"),
    ];
    let passed = passed.map(|(name, place, which)| {
        let says = format!("A second payment {which} is accepted although the TPP allows none.");
        entry((&format!("meaning/{name}"), TwinBreach::Accepted, &says)).only(Beside::Value(place))
    });
    breaches.into_iter().map(entry).chain(passed).collect()
}
