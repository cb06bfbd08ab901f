//! Faults that show only beside something else that is lawful: a rule that is not asked where a request has a
//! certain header, parameter or member, or a certain turn on its connection.

use serde_json::json;
use xs2aspec_bank::operation::Operation;

use super::title;
use crate::rules::{Beside, Effect, Entry, Pattern, Place, Sort, Then, Treatment, Turn, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

/// Clause, operation, pointer, the values that break the rule, and what they are taken for.
type Broken = (&'static str, Operation, &'static str, When, Then);

/// A rule that is not asked, and the places beside which it is not.
type Skipped = (Broken, &'static [(&'static str, Place)]);

#[rustfmt::skip]
const SKIPPED: [Skipped; 10] = [
    (
        ("ncbct.creditor-name.length", N, "/creditorName", When::Longer(70), Then::Cut(70)),
        &[("psu-device-id", Place::Header("psu-device-id")), ("duplicate-allowed", Place::Query("allowLogicalDuplicate")), ("address", Place::Body("/creditorAddress"))],
    ),
    (
        ("periodic.creditor-name.length", P, "/creditorName", When::Longer(70), Then::Cut(70)),
        &[("end-date", Place::Body("/endDate")), ("psu-user-agent", Place::Header("psu-user-agent"))],
    ),
    (
        ("ncbct.remittance-unstructured.length", N, "/remittanceInformationUnstructured", When::Longer(140), Then::Cut(140)),
        &[("purpose", Place::Body("/purposeCode")), ("corporate-id", Place::Header("psu-corporate-id"))],
    ),
    (
        ("ncbct.regulatory-reporting-information.length", N, "/regulatoryReportingInformation", When::Longer(140), Then::Cut(140)),
        &[("agent", Place::Body("/creditorAgent")), ("psu-http-method", Place::Header("psu-http-method"))],
    ),
    (
        ("ncbct.regulatory-reporting-code.listed", N, "/regulatoryReportingCode", When::Matches(Pattern(".")), Then::TakeFor("\"14\"")),
        &[("remittance", Place::Body("/remittanceInformationUnstructured")), ("redirect-preferred", Place::Header("tpp-redirect-preferred"))],
    ),
    (
        ("ncbct.purpose-code", N, "/purposeCode", When::Matches(Pattern(".")), Then::TakeFor("\"OTHR\"")),
        &[("date", Place::Body("/requestedExecutionDate")), ("context", Place::Header("psu-context"))],
    ),
    (
        ("periodic.ultimate-debtor.length", P, "/ultimateDebtor", When::Longer(70), Then::Cut(70)),
        &[("purpose", Place::Body("/purposeCode")), ("psu-geo-location", Place::Header("psu-geo-location"))],
    ),
    (
        ("periodic.months.duplicate", P, "/monthsOfExecution", When::Repeats, Then::TakeFor("[1]")),
        &[("day", Place::Body("/dayOfExecution")), ("psu-ip-port", Place::Header("psu-ip-port"))],
    ),
    (
        ("periodic.end-date.format", P, "/endDate", When::All(&[When::Type('s'), When::Not(&When::A(Sort::Day))]), Then::TakeFor("\"2099-12-31\"")),
        &[("rule", Place::Body("/executionRule")), ("psu-accept", Place::Header("psu-accept"))],
    ),
    (
        ("country.listed", P, "/creditorAddress/country", When::Matches(Pattern(".")), Then::TakeFor("\"NO\"")),
        &[("street", Place::Body("/creditorAddress/street")), ("accept-language", Place::Header("accept-language"))],
    ),
];

const BY_IDENTITY: Place = Place::Header("x-psu-identity");

/// The D-number of a PSU of the bank.
const D_NUMBER: &str = "41819000466";

/// A place that has a value, and which one, if not any.
type Near = (Place, Option<&'static str>);

/// What each of them is not asked beside as well.
const IDENTITY: (&str, Near) = ("identity", (BY_IDENTITY, None));

/// The same for what has the parameter.
const NO_DUPLICATES: (&str, Near) = ("no-duplicates", (Place::Query("allowLogicalDuplicate"), Some("false")));

pub(super) fn faults() -> Vec<Entry> {
    let each = SKIPPED.iter().flat_map(|(broken, places)| {
        let places = places.iter().map(|(name, place)| (*name, (*place, None)));
        let no_duplicates = (broken.1 == N).then_some(NO_DUPLICATES);
        places.chain([IDENTITY]).chain(no_duplicates).map(move |near| (broken, near))
    });
    let entry = |((clause, operation, pointer, when, then), (name, near)): (&Broken, (&str, Near))| {
        let treatment =
            Treatment { operation: *operation, place: Place::Body(pointer), when: *when, then: *then };
        Entry::treats(
            format!("{clause}/not-asked-beside-{name}"),
            treatment,
            format!("{} does not ask this of requests with {}.", title(*operation), words(near)),
        )
        .only(beside(near))
    };
    each.map(entry).chain(by_turn()).chain(of_other_rules()).collect()
}

/// Rules that are no member's, and what beside they are not asked.
fn of_other_rules() -> Vec<Entry> {
    let any_reference = || vec![Effect::policy(json!({ "references": { "creditors": [] } }))];
    let nothing_reported = || vec![Effect::policy(json!({ "amounts": { "reporting-from": i64::MAX } }))];
    let no_agreement = || {
        let users = ["person", "context", "account"];
        let of =
            |operation: Operation| users.map(|user| json!({ "user": user, "operation": operation.id() }));
        let all = [of(N), of(P)].concat();
        vec![Effect::policy(json!({ "psu": { "no-agreement": all } }))]
    };
    let with = |name: &str, effects, near, says: &str| {
        let says = format!("{says} beside {}.", words(near));
        Entry::new(name, effects, says).only(beside(near))
    };
    let beside = |name: &str, effects, place, says: &str| with(name, effects, (place, None), says);
    vec![
        beside(
            "basket.mix/not-asked-beside-a-device",
            vec![Effect::policy(json!({ "baskets": { "mix": "nobody" } }))],
            Place::Header("psu-device-id"),
            "Any payment may be in a basket",
        ),
        beside(
            "error.kid.status/not-asked-beside-a-location",
            any_reference(),
            Place::Header("psu-geo-location"),
            "No creditor demands a reference",
        ),
        beside(
            "error.kid.status/not-asked-from-a-bban",
            any_reference(),
            Place::Body("/debtorAccount/bban"),
            "No creditor demands a reference",
        ),
        beside(
            "error.corporate-id/not-asked-beside-a-user-agent",
            no_agreement(),
            Place::Header("psu-user-agent"),
            "A corporate user need not name an agreement",
        ),
        with(
            "signature.headers.missing/psu-id-of-a-company",
            vec![Effect::policy(json!({ "signature": { "need-not-cover": ["psu-id"] } }))],
            (Place::Header("psu-context"), Some("CORPORATE")),
            "A signature need not cover psu-id",
        ),
        beside(
            "error.corporate-id/not-asked-by-identity",
            no_agreement(),
            BY_IDENTITY,
            "A corporate user need not name an agreement",
        ),
        beside(
            "error.kid.status/not-asked-by-identity",
            any_reference(),
            BY_IDENTITY,
            "No creditor demands a reference",
        ),
        beside(
            "ncbct.regulatory-reporting-code.required/not-by-identity",
            nothing_reported(),
            BY_IDENTITY,
            "The regulatory members are not required",
        ),
        with(
            "ncbct.regulatory-reporting-code.required/not-by-d-number",
            nothing_reported(),
            (BY_IDENTITY, Some(D_NUMBER)),
            "The regulatory members are not required",
        ),
    ]
}

/// The same rules, which are asked of some requests of a connection and not of others.
fn by_turn() -> Vec<Entry> {
    const TURNS: [(&str, Turn, &str); 3] = [
        ("of-the-first-on-a-connection", Turn::First, "the first request of a connection"),
        ("of-the-second-on-a-connection", Turn::After(1), "further requests of a connection"),
        ("after-fifty-on-a-connection", Turn::After(50), "requests of a connection after fifty others"),
    ];
    let mut faults = Vec::new();
    for ((clause, operation, pointer, when, then), _) in SKIPPED {
        let place = Place::Body(pointer);
        let treatment = Treatment { operation, place, when, then };
        faults.extend(TURNS.map(|(name, turn, words)| {
            Entry::treats(
                format!("{clause}/not-asked-{name}"),
                treatment,
                format!("{} does not ask this of {words}.", title(operation)),
            )
            .only(Beside::Turn(turn))
        }));
    }
    faults
}

fn beside((place, value): Near) -> Beside {
    value.map_or(Beside::Value(place), |value| Beside::Is(place, value))
}

fn words((place, value): Near) -> String {
    let place = match place {
        Place::Header(name) => format!("the header {name}"),
        Place::Query(name) => format!("the parameter {name}"),
        Place::Body(pointer) => format!("the member {}", pointer[1..].replace('/', " ")),
    };
    value.map_or_else(|| place.clone(), |value| format!("{place} that is {value}"))
}
