//! Freedoms over several requests: what a bank remembers, and how it counts.

use crate::operation::{Operation, Product};
use crate::rules::{Effect, Entry, Place, StateVariance as S, Then, Treatment, Variance, When};

/// Name, freedom, and a sentence.
const VARIANCES: [(&str, S, &str); 8] = [
    ("payment.deletion.effect/gone", S::DeletedIsGone, "A deleted payment is not to be had any more."),
    ("payment.deletion.effect/rejected", S::DeletedIsRejected, "A deleted payment has the status RJCT."),
    (
        "payment.status.follows/accepted-at-once",
        S::AcceptedAtOnce,
        "A payment that was received is accepted a moment later.",
    ),
    ("payment.id.distinct/numbers", S::IdsAreNumbers, "Ids of payments are ascending numbers."),
    (
        "basket.payment-ids.deleted/rejected",
        S::DeletedInBasketRejected,
        "A basket with a deleted payment is created, and rejected.",
    ),
    ("basket.payment-ids.used/refused", S::OneBasket, "A payment may be in one basket."),
    (
        "limit.without-psu-ip.four/of-all-accounts",
        S::CallsOfAllAccounts,
        "Calls without PSU-IP-Address are counted for all accounts together.",
    ),
    (
        "limit.consent-age.attended/ninety-days",
        S::ConsentsOf90Days,
        "A consent is good for 90 days, and those that are older than 120 were renewed.",
    ),
];

pub(super) fn variations() -> Vec<Entry> {
    let varied =
        |(name, variance, says)| Entry::new(name, vec![Effect::Variance(Variance::State(variance))], says);
    let not_offered = |product| {
        let place = Place::Header("x-request-id");
        Effect::Treats(Treatment {
            operation: Operation::Deletion(product),
            place,
            when: When::Present,
            then: Then::Refuse,
        })
    };
    let mut all: Vec<Entry> = VARIANCES.into_iter().map(varied).collect();
    all.push(Entry::new(
        "transaction.shown-to/any-tpp-undeclared",
        vec![Effect::Variance(Variance::ReadByAnyone)],
        "Transactions show to any TPP.",
    ));
    all.push(Entry::new(
        "status.pdng.deletion-path/not-offered",
        [Product::Ncbct, Product::Periodic].map(not_offered).into(),
        "Payments cannot be deleted.",
    ));
    all
}
