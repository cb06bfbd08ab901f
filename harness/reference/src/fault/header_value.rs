//! Faults of what header values may say where the document gives no closed form: lawful values that a bank
//! refuses on one operation, and people whom it takes for others.

use axum::http::StatusCode;

use super::title;
use crate::header::Header;
use crate::operation::Operation;
use crate::refusal::Code;
use crate::rules::{Breach, Effect, Entry, Place, Then, Treatment, Variance, When};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const S: Operation = Operation::Customers;
const T: Operation = Operation::Transaction;

/// Clause and name, header, operations, values that are refused, and which these are.
type Refused = (&'static str, &'static str, &'static [Operation], fn(&str) -> bool, &'static str);

#[rustfmt::skip]
const REFUSED: [Refused; 27] = [
    ("header.x-accept-fix.format/no-amount-as-string", "x-accept-fix", &[N, P, T], |value| value == "amount-as-string", "amount-as-string alone"),
    ("header.x-accept-fix.format/no-longer-name", "x-accept-fix", &[N, P, T], |value| value == "longer-name", "longer-name"),
    ("header.x-accept-fix.format/no-account-type", "x-accept-fix", &[N, P, T], |value| value == "cash-account-type-iso", "cash-account-type-iso"),
    ("header.x-accept-fix.format/no-switch", "x-accept-fix", &[N, P, T], |value| value.starts_with("cardaccount-"), "the name of the change to card accounts"),
    ("header.x-accept-fix.several/refused", "x-accept-fix", &[B, N, P, T], |value| value.contains(','), "several names"),
    ("header.x-accept-fix.several/no-more-than-two", "x-accept-fix", &[N, T], |value| value.matches(',').count() > 1, "more than two names"),
    ("header.x-request-id.format/only-uuids", "x-request-id", &[N, P, S, T], |value| !is_uuid(value), "what is no UUID"),
    ("header.x-request-id.format/short", "x-request-id", &[B, N], |value| value.len() > 64, "more than 64 characters"),
    ("header.tpp-session-id.format/only-uuids", "tpp-session-id", &[N, P, T], |value| !is_uuid(value), "what is no UUID"),
    ("header.psu-ip-address.format/no-ipv6", "psu-ip-address", &[N, P, T], |value| value.contains(':'), "an IPv6 address"),
    ("header.psu-ip-address.format/no-short-ipv6", "psu-ip-address", &[B, P], |value| value.contains("::"), "an IPv6 address with zeros left out"),
    ("header.tpp-redirect-uri.absolute/no-app", "tpp-redirect-uri", &[B, N, P, T], |value| !value.to_ascii_lowercase().starts_with("http"), "the address of an app"),
    ("header.tpp-redirect-uri.absolute/no-query", "tpp-redirect-uri", &[N, P], |value| value.contains('?'), "a query"),
    ("header.tpp-redirect-uri.absolute/no-fragment", "tpp-redirect-uri", &[N, T], |value| value.contains('#'), "a fragment"),
    ("header.tpp-redirect-uri.absolute/no-http", "tpp-redirect-uri", &[B, P], |value| value.starts_with("http:"), "an address without TLS"),
    ("http.content-type.charset/refused", "content-type", &[B, N, P], |value| value.contains(';'), "a parameter"),
    ("http.content-type.charset/capitals-refused", "content-type", &[N], |value| value.contains("UTF"), "a charset in capitals"),
    ("signature.headers.case/refused", "signature", &[N, T], |value| list(value).bytes().any(|byte| byte.is_ascii_uppercase()), "capital letters in the list of signed headers"),
    ("signature.headers.extra/refused", "signature", &[P, S], |value| ["host", "content-type", "psu-ip-address"].iter().any(|extra| list(value).contains(extra)), "signed headers that need not be signed"),
    ("signature.headers.request-target/not-known", "signature", &[P, T], |value| list(value).contains("(request-target)"), "the request target among the signed headers"),
    ("signature.headers.order/date-first", "signature", &[B, N], |value| list(value).split(' ').skip(1).any(|name| name == "date"), "a date that is not the first of the signed headers"),
    ("signature.headers.date-absent/refused", "signature", &[N, S], |value| !list(value).is_empty() && !list(value).contains("date"), "signatures that do not cover the date"),
    ("signature.parameters.blanks/comma", "signature", &[P], |value| value.contains(", "), "blanks behind the commas"),
    ("digest.list/refused", "digest", &[N, P], |value| value.contains(','), "several digests"),
    ("header.x-psu-identity.ncbct/no-d-number", "x-psu-identity", &[N], is_d_number, "a D-number"),
    ("header.x-psu-identity.periodic/no-d-number", "x-psu-identity", &[P], is_d_number, "a D-number"),
    ("header.x-psu-identity.ncbct/only-d-number", "x-psu-identity", &[N], |value| !is_d_number(value), "a national identity number"),
];

/// The same of headers that have a clause for each operation: the name is without it.
#[rustfmt::skip]
const REFUSED_IN_EACH: [Refused; 7] = [
    ("not-known", "accept-encoding", &[B, N, P, S, T], |value| !["gzip", "identity", ""].contains(&value), "codings other than gzip and identity"),
    ("no-star", "accept-charset", &[B, N, P, S, T], |value| value.contains('*'), "a star"),
    ("no-list", "accept-charset", &[B, N, P, S, T], |value| value.contains(','), "several charsets"),
    ("no-weight", "psu-accept", &[B, N, P, T], |value| value.contains(";q="), "a weight"),
    ("no-star", "psu-accept-charset", &[B, N, P, T], |value| value.contains('*'), "a star"),
    ("no-list", "psu-accept-encoding", &[B, N, P, T], |value| value.contains(','), "several codings"),
    ("no-minus", "psu-geo-location", &[B, N, P, T], |value| value.contains('-'), "a minus sign"),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults: Vec<Entry> = REFUSED
        .iter()
        .flat_map(|values| values.2.iter().map(move |operation| refused(values, *operation)))
        .collect();
    for (what, header, operations, says, which) in REFUSED_IN_EACH {
        faults.extend(operations.iter().map(|operation| {
            let name = format!("header.{header}.{operation}/{what}");
            treats(name, (*operation, header, When::Text(says)), &format!("{which} in {header}"))
        }));
    }
    for operation in [N, P] {
        faults.push(treats(
            format!("header.x-psu-identity.{operation}/not-alone"),
            (operation, "x-psu-identity", When::Without("psu-id")),
            "x-psu-identity without psu-id",
        ));
        faults.push(treats(
            format!("header.psu-context.absent/demanded-on-{operation}-alone"),
            (operation, "psu-context", When::Absent),
            "a request without psu-context",
        ));
    }
    faults.push(treats(
        "header.psu-context.absent/demanded-of-devices".to_owned(),
        (P, "psu-device-id", When::Without("psu-context")),
        "psu-device-id without psu-context",
    ));
    faults.push(Entry::new(
        "header.x-psu-identity.format/digits",
        vec![
            Effect::Breach(Breach::HeaderForm(Header::XPsuIdentity)),
            Effect::Breach(Breach::IdentityDigits),
        ],
        "What is no digit does not count in X-PSU-IDENTITY.",
    ));
    for operation in [N, P] {
        faults.push(Entry::new(
            format!("header.x-psu-identity.format/any-on-{operation}"),
            vec![
                Effect::Breach(Breach::HeaderForm(Header::XPsuIdentity)),
                Effect::Breach(Breach::UnknownIdentity(operation)),
            ],
            format!("{} accepts any X-PSU-IDENTITY.", title(operation)),
        ));
    }
    faults.push(Entry::breach(
        "header.psu-id.basket/replaced",
        Breach::IdentityOnBasket,
        "Basket creation accepts X-PSU-IDENTITY in place of PSU-ID.",
    ));
    for operation in [B, N, P, T] {
        faults.push(Entry::breach(
            format!("header.psu-id.unknown/taken-on-{operation}"),
            Breach::UnknownPsu(operation),
            format!("{} accepts a PSU-ID that nobody has.", title(operation)),
        ));
    }
    for operation in [N, P] {
        faults.push(Entry::breach(
            format!("header.psu-id.unknown/identity-taken-on-{operation}"),
            Breach::UnknownIdentity(operation),
            format!("{} accepts an X-PSU-IDENTITY that nobody has.", title(operation)),
        ));
    }
    for header in [Header::PsuContext, Header::PsuHttpMethod] {
        faults.push(Entry::new(
            format!("listed.case/any-{}", header.name()),
            vec![Effect::Variance(Variance::AnyLetterCase(header))],
            format!("The letter case of {} does not count.", header.name()),
        ));
    }
    faults.push(Entry::new(
        "error.corporate-id.code/forbidden",
        vec![Effect::Refuses("error.corporate-id-missing", StatusCode::BAD_REQUEST, Code::Forbidden)],
        "A corporate user without PSU-Corporate-ID is refused with FORBIDDEN.",
    ));
    faults
}

fn refused(&(name, header, operations, says, which): &Refused, operation: Operation) -> Entry {
    let name = if operations.len() > 1 { format!("{name}-on-{operation}") } else { name.to_owned() };
    treats(name, (operation, header, When::Text(says)), &format!("{which} in {header}"))
}

fn treats(name: String, (operation, header, when): (Operation, &'static str, When), what: &str) -> Entry {
    let treatment = Treatment { operation, place: Place::Header(header), when, then: Then::Refuse };
    Entry::treats(name, treatment, format!("{} refuses {what}.", title(operation)))
}

/// The list of signed headers.
fn list(signature: &str) -> &str {
    signature.rsplit_once("headers=\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default()
}

/// A number whose day of birth has 40 added to it.
fn is_d_number(identity: &str) -> bool {
    identity.starts_with(['4', '5', '6', '7'])
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
