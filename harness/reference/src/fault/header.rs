//! Faults of the request headers (the document, section Endpoints > Common request headers).

use axum::http::StatusCode;

use super::title;
use crate::header::{Header, parts};
use crate::operation::Operation;
use crate::refusal::Code;
use crate::rules::{Beside, Breach, Corporate, Effect, Entry, FieldNames, Place, Then, Treatment, When};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

/// Optional headers of which the document gives no form, with the operations that have them.
pub(super) const FREE: [(&str, &[Operation]); 12] = [
    ("accept", &Operation::SPECIFIED),
    ("accept-charset", &Operation::SPECIFIED),
    ("accept-encoding", &Operation::SPECIFIED),
    ("accept-language", &Operation::SPECIFIED),
    ("tpp-brand-logging-information", &[N]),
    ("psu-ip-port", &[B, N, P, T]),
    ("psu-user-agent", &[B, N, P, T]),
    ("psu-accept", &[B, N, P, T]),
    ("psu-accept-charset", &[B, N, P, T]),
    ("psu-accept-encoding", &[B, N, P, T]),
    ("psu-accept-language", &[B, N, P, T]),
    ("psu-geo-location", &[B, N, P, T]),
];

/// Headers that some bank may want although their column shows a dash.
const DASHES: [(&str, Operation); 8] = [
    ("digest", B),
    ("psu-context", B),
    ("digest", T),
    ("x-accept-fix", Operation::Customers),
    ("tpp-session-id", Operation::Customers),
    ("tpp-redirect-uri", Operation::Customers),
    ("psu-id", Operation::Customers),
    ("psu-ip-address", Operation::Customers),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    for operation in Operation::SPECIFIED {
        let clause = if operation == B { "basket.body".to_owned() } else { format!("{operation}.path") };
        faults.push(treats(
            format!("{clause}/not-there"),
            (operation, "x-request-id", When::Present),
            format!("{} is not to be had.", title(operation)),
        ));
        for (header, is_required) in parts(operation) {
            let name = header.name();
            if is_required {
                faults.push(not_required(header, operation));
            } else if !is_open(name, operation) {
                faults.extend(optional(name, operation));
            }
        }
    }
    for (name, operations) in FREE {
        // Whoever looks at these at all looks at them in one place, so that each is unknown on one operation.
        let fit = |operation: &Operation| {
            let taken = if *operation == N { 2 } else { 1 };
            optional(name, *operation).into_iter().take(taken)
        };
        faults.extend(operations.iter().flat_map(fit));
    }
    for (name, operation) in DASHES {
        faults.push(treats(
            format!("header.not-part/{name}-on-{operation}"),
            (operation, name, When::Absent),
            format!("{} demands {name}, which is no header of it.", title(operation)),
        ));
    }
    faults.extend(stand_ins());
    faults.extend(hosts());
    faults.extend(beside());
    faults.extend(values());
    faults.push(Entry::breach(
        "http.field-names/no-capitals",
        Breach::FieldNames(FieldNames::NoCapitals),
        "Header names in capital letters are not known.",
    ));
    faults.push(Entry::breach(
        "header.underscores/hyphens",
        Breach::FieldNames(FieldNames::Underscores),
        "Underscores in header names are taken for hyphens.",
    ));
    faults.push(Entry::breach(
        "http.field-names/no-mixture",
        Breach::FieldNames(FieldNames::NoMixture),
        "Header names in mixed letters are not known.",
    ));
    faults
}

/// Optional headers of which it is open whether they may be left out, or sent at all.
pub(super) fn is_open(name: &str, operation: Operation) -> bool {
    matches!((name, operation), ("psu-context" | "x-psu-identity", N | P) | ("psu-corporate-id", T))
}

/// A required header that may be missing where another field says the same.
fn stand_ins() -> impl Iterator<Item = Entry> {
    const STAND_INS: [(Header, Operation, &str); 8] = [
        (Header::PsuIpAddress, N, "x-forwarded-for"),
        (Header::PsuIpAddress, P, "forwarded"),
        (Header::PsuIpAddress, B, "x-real-ip"),
        (Header::XRequestId, N, "x-correlation-id"),
        (Header::XRequestId, P, "request-id"),
        (Header::TppRedirectUri, P, "referer"),
        (Header::TppRedirectUri, B, "tpp-nok-redirect-uri"),
        (Header::TppSessionId, N, "x-tpp-session-id"),
    ];
    STAND_INS.into_iter().map(|(header, operation, other)| {
        let name = header.name();
        Entry::breach(
            format!("header.{name}.{operation}/not-beside-{other}"),
            Breach::HeaderNotRequired(header, operation),
            format!("{} accepts a request with {other} and without {name}.", title(operation)),
        )
        .only(Beside::Value(Place::Header(other)))
    })
}

fn not_required(header: Header, operation: Operation) -> Entry {
    let name = header.name();
    Entry::breach(
        format!("header.{name}.{operation}/not-required"),
        Breach::HeaderNotRequired(header, operation),
        format!("{} accepts a request without {name}.", title(operation)),
    )
}

/// A bank that wants what is optional, and one that does not know it.
fn optional(name: &'static str, operation: Operation) -> [Entry; 2] {
    let entry = |fault: &str, when, does: &str| {
        treats(
            format!("header.{name}.{operation}/{fault}"),
            (operation, name, when),
            format!("{} refuses a request {does} {name}.", title(operation)),
        )
    };
    [entry("demanded", When::Absent, "without"), entry("refused", When::Present, "with")]
}

/// Banks that compare Accept with one value (RFC 9110 section 12.5.1).
fn media_ranges() -> impl Iterator<Item = Entry> {
    let entry = |operation: Operation, fault: &str, says: fn(&str) -> bool, which: &str| {
        treats(
            format!("http.accept.ranges/{fault}-on-{operation}"),
            (operation, "accept", When::Text(says)),
            format!("{} refuses an Accept {which}.", title(operation)),
        )
    };
    Operation::SPECIFIED.into_iter().flat_map(move |operation| {
        [
            entry(operation, "no-star", |value| value.contains('*'), "with a star"),
            entry(operation, "no-weight", |value| value.contains(";q="), "with a weight"),
        ]
    })
}

/// Banks that hold Host against one way of writing their address (RFC 9110 sections 4.2.3 and 7.2).
fn hosts() -> Vec<Entry> {
    let entry = |operation: Operation, fault: &str, says: fn(&str) -> bool, which: &str| {
        treats(
            format!("header.host.{operation}/{fault}"),
            (operation, "host", When::Text(says)),
            format!("{} refuses a Host {which}.", title(operation)),
        )
    };
    let each = |operation| {
        [
            entry(
                operation,
                "no-capitals",
                |host| host.bytes().any(|b| b.is_ascii_uppercase()),
                "in capitals",
            ),
            entry(operation, "no-port", |host| host.ends_with(":80"), "that names the default port"),
        ]
    };
    Operation::SPECIFIED.into_iter().flat_map(each).collect()
}

/// Optional headers that some banks want where another one is, and that plain requests have no say in.
fn beside() -> Vec<Entry> {
    let demanded = |clause: &str, operation, header, other, says: &str| {
        treats(format!("{clause}/demanded"), (operation, header, When::Without(other)), says)
    };
    let mut faults = vec![
        demanded(
            "header.psu-corporate-id.transaction",
            T,
            "psu-id",
            "psu-corporate-id",
            "Reading transaction details refuses a request of a named PSU without psu-corporate-id.",
        ),
        treats(
            "header.psu-corporate-id.transaction/refused",
            (T, "psu-corporate-id", When::Present),
            "Reading transaction details refuses a request with psu-corporate-id.",
        ),
    ];
    for operation in [N, P] {
        faults.push(demanded(
            &format!("header.x-psu-authmethod-preferred.{operation}"),
            operation,
            "tpp-redirect-preferred",
            "x-psu-authmethod-preferred",
            &format!(
                "{} refuses a request with tpp-redirect-preferred and without x-psu-authmethod-preferred.",
                title(operation)
            ),
        ));
    }
    faults
}

/// Faults of what header values may say.
fn values() -> Vec<Entry> {
    let mut faults = Vec::new();
    let listed: [(&str, &[&'static str]); 3] = [
        ("psu-http-method", &["GET", "POST", "PUT", "PATCH", "DELETE"]),
        ("psu-context", &["PRIVATE", "CORPORATE"]),
        ("tpp-redirect-preferred", &["true", "false"]),
    ];
    for (name, values) in listed {
        for value in values {
            // The plain request and those with one optional header show these as headers of the operation.
            let shown =
                matches!(*value, "POST" | "PRIVATE" | "CORPORATE") || name == "tpp-redirect-preferred";
            let operations: &[Operation] = if name == "psu-context" { &[N, P] } else { &[N] };
            for operation in operations {
                let clause = if shown { operation.id() } else { "format" };
                faults.push(treats(
                    format!("header.{name}.{clause}/no-{}", value.to_lowercase()),
                    (*operation, name, When::Is(value)),
                    format!("{} does not know the value {value} of {name}.", title(*operation)),
                ));
            }
        }
    }
    for header in [Header::PsuHttpMethod, Header::PsuContext, Header::PsuDeviceId, Header::PsuId] {
        let name = header.name();
        faults.push(Entry::breach(
            format!("header.{name}.format/any"),
            Breach::HeaderForm(header),
            format!("Any value of {name} is accepted."),
        ));
    }
    for header in [Header::PsuDeviceId, Header::PsuId] {
        let name = header.name();
        faults.push(Entry::breach(
            format!("header.{name}.notation/any"),
            Breach::UuidNotation(header),
            format!("A UUID in {name} may be in braces, as a URN or without hyphens."),
        ));
    }
    faults.push(treats(
        "header.x-accept-fix.basket.value/not-known",
        (B, "x-accept-fix", When::Is("amount-as-string")),
        "Basket creation refuses amount-as-string in X-Accept-Fix.",
    ));
    let other = Treatment {
        operation: B,
        place: Place::Header("x-accept-fix"),
        when: When::Text(|value| !value.eq_ignore_ascii_case("amount-as-string")),
        then: Then::Refuse,
    };
    faults.push(Entry::new(
        "header.x-accept-fix.basket.other/any-case",
        vec![Effect::Breach(Breach::HeaderForm(Header::XAcceptFix)), Effect::Treats(other)],
        "Basket creation takes amount-as-string in capital letters as well.",
    ));
    faults.push(Entry::breach(
        "header.x-accept-fix.basket.other/any",
        Breach::HeaderForm(Header::XAcceptFix),
        "Any value of X-Accept-Fix is accepted.",
    ));
    faults.extend(corporate_users());
    faults.extend(media_ranges());
    for (name, status) in [("forbidden", StatusCode::FORBIDDEN), ("unauthorized", StatusCode::UNAUTHORIZED)] {
        faults.push(Entry::new(
            format!("error.corporate-id/{name}"),
            vec![Effect::Refuses("error.corporate-id-missing", status, Code::BadRequest)],
            format!("A corporate user without PSU-Corporate-ID is refused with {}.", status.as_u16()),
        ));
    }
    faults
}

/// Banks that do not ask a corporate user for an agreement: at all, in one operation, in one way.
fn corporate_users() -> Vec<Entry> {
    let ways = [
        (Corporate::Person, "person", &[B, N, P, T][..], "A corporate PSU"),
        (Corporate::Context, "context", &[N, P, T], "A PSU in corporate context"),
        (Corporate::Account, "account", &[N, P], "Who pays from the account of a company"),
    ];
    let all = |(way, _, operations, _): (Corporate, &str, &'static [Operation], &str)| {
        operations.iter().map(move |operation| Effect::Breach(Breach::NoAgreement(*operation, way)))
    };
    let mut faults = vec![Entry::new(
        "error.corporate-id/not-asked",
        ways.into_iter().flat_map(all).collect(),
        "A corporate user need not name an agreement in PSU-Corporate-ID.",
    )];
    for (way, name, operations, who) in ways {
        faults.extend(operations.iter().map(|operation| {
            let clause = match (way, operation.creates_payment()) {
                (Corporate::Person, true) => "error.corporate-id.person",
                _ => "error.corporate-id",
            };
            Entry::breach(
                format!("{clause}/{name}-not-asked-on-{operation}"),
                Breach::NoAgreement(*operation, way),
                format!("{who} need not name an agreement ({operation})."),
            )
        }));
    }
    faults
}

fn treats(
    name: impl Into<String>,
    (operation, header, when): (Operation, &'static str, When),
    says: impl Into<String>,
) -> Entry {
    let treatment = Treatment { operation, place: Place::Header(header), when, then: Then::Refuse };
    Entry::treats(name, treatment, says)
}
