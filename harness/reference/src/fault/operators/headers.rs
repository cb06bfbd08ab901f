//! Operators on headers: presence, listed values, and formats.

use serde_json::json;
use xs2aspec_bank::header::Header;
use xs2aspec_bank::operation::Operation;

use super::table::{self, Field};
use super::{Made, Operator, apply, slug};
use crate::rules::rows::title;
use crate::rules::{Beside, Effect, Entry, Pattern, Place, Then, When};

/// A header, its clause, the valid values that are rejected, and a description of them.
type Refused = (&'static str, &'static str, &'static str, When, &'static str);

#[rustfmt::skip]
const REFUSED: [Refused; 22] = [
    ("long-id-refused", "x-request-id", "header.x-request-id.format", When::Longer(36), "more than 36 characters"),
    ("short-id-refused", "x-request-id", "header.x-request-id.format", matches("^.{0,7}$"), "fewer than 8 characters"),
    ("digits-refused", "x-request-id", "header.x-request-id.format", matches("^[0-9]*$"), "only digits"),
    ("other-id-refused", "x-request-id", "header.x-request-id.format", matches("[._:/]"), "periods, underscores, slashes and colons"),
    ("blanks-refused", "x-request-id", "header.x-request-id.format", matches(" "), "spaces"),
    ("long-session-refused", "tpp-session-id", "header.tpp-session-id.format", When::Longer(36), "more than 36 characters"),
    ("short-session-refused", "tpp-session-id", "header.tpp-session-id.format", matches("^.{0,7}$"), "fewer than 8 characters"),
    ("session-digits-refused", "tpp-session-id", "header.tpp-session-id.format", matches("^[0-9]*$"), "only digits"),
    ("other-session-refused", "tpp-session-id", "header.tpp-session-id.format", matches("[._:/]"), "periods, underscores, slashes and colons"),
    ("session-blanks-refused", "tpp-session-id", "header.tpp-session-id.format", matches(" "), "spaces"),
    ("ipv6-refused", "psu-ip-address", "header.psu-ip-address.format", matches(":"), "an IPv6 address"),
    ("short-ipv6-refused", "psu-ip-address", "header.psu-ip-address.format", matches("::"), "an abbreviated IPv6 address"),
    ("mapped-ipv4-refused", "psu-ip-address", "header.psu-ip-address.format", matches(r":.*\.|\..*:"), "an IPv4-mapped IPv6 address"),
    ("capital-ipv6-refused", "psu-ip-address", "header.psu-ip-address.format", matches("[A-Z]"), "an uppercase IPv6 address"),
    ("app-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", When::Unmatched(Pattern("^(?i-u:http)")), "a URI of an app"),
    ("query-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", matches(r"\?"), "a query"),
    ("fragment-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", matches("#"), "a fragment"),
    ("http-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", matches("^http:"), "an http URI"),
    ("port-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", matches(":.*:"), "a port"),
    ("percent-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", matches("%"), "percent-encoding"),
    ("long-uri-refused", "tpp-redirect-uri", "header.tpp-redirect-uri.absolute", When::Longer(255), "more than 255 characters"),
    ("capital-uuid-refused", "psu-device-id", "header.psu-device-id.{}", matches("[A-Z]"), "an uppercase UUID"),
];

const fn matches(pattern: &'static str) -> When {
    When::Matches(Pattern(pattern))
}

/// Headers whose format can stay unchecked, with the clause of the format.
const FORMS: [(Header, &str); 6] = [
    (Header::PsuId, "header.psu-id.format"),
    (Header::PsuDeviceId, "header.psu-device-id.format"),
    (Header::PsuContext, "header.psu-context.format"),
    (Header::PsuHttpMethod, "header.psu-http-method.format"),
    (Header::XAcceptFix, "header.x-accept-fix.basket.other"),
    (Header::TppSignatureCertificate, "header.tpp-signature-certificate.format"),
];

pub(super) fn faults() -> Vec<Entry> {
    let fields = table::fields();
    let mut operators: Vec<Operator<Field>> = presence();
    operators.push(Operator::several("value-unknown", |row: &Field| {
        let unknown = |value: &&'static str| {
            let clause = value_clause(row);
            made(row, &clause, (When::Is(value), Then::Refuse), &format!("does not know {value} in"))
                .of(slug(value))
        };
        // On the basket, other names are valid only together with amount-as-string.
        let is_alone = |value: &&&str| {
            row.operation != Operation::Basket || row.name != "x-accept-fix" || **value == "amount-as-string"
        };
        row.words().iter().filter(is_alone).map(unknown).collect()
    }));
    operators.extend(REFUSED.map(|(name, header, clause, when, what)| {
        Operator::new(name, move |row: &Field| {
            let clause = clause.replace("{}", row.operation.id());
            let says = format!("rejects {what} in");
            (row.name == header).then(|| made(row, &clause, (when, Then::Refuse), &says))
        })
    }));
    let mut faults = apply(&operators, &fields, |row| (row.operation, row.name));
    faults.extend(forms(&fields));
    faults.extend(not_asked_beside(&fields));
    faults
}

fn presence() -> Vec<Operator<Field>> {
    let optional = |name, when: When, then: Then, says: &'static str| {
        Operator::new(name, move |row: &Field| {
            let is_asked = !row.is_required && !is_open(row.name, row.operation);
            let clause = match then {
                Then::Fail => "http.no-server-error".to_owned(),
                _ => format!("header.{}.{}", row.name, row.operation),
            };
            is_asked.then(|| made(row, &clause, (when, then), says))
        })
    };
    vec![
        optional("header-demanded", When::Absent, Then::Refuse, "rejects a request without"),
        optional("header-not-known", When::Present, Then::Refuse, "rejects a request with"),
        optional("header-fails", When::Present, Then::Fail, "fails on a request with"),
        Operator::new("header-absence-fails", |row: &Field| {
            let of = (When::Absent, Then::Fail);
            row.is_required.then(|| made(row, "http.no-server-error", of, "fails on a request without"))
        }),
        Operator::new("header-not-demanded", |row: &Field| {
            let header = row.header.filter(|_| row.is_required)?;
            let says = format!("{} accepts a request without {}.", title(row.operation), row.name);
            Some(Made::new(required(row), lacks(header, row.operation), says))
        }),
    ]
}

/// Returns the faults that leave a format unchecked in one operation, and those that ignore the case of
/// listed values there.
fn forms(fields: &[Field]) -> Vec<Entry> {
    let mut faults = Vec::new();
    for row in fields {
        let Some(header) = row.header else { continue };
        let on = |clause: &str, what: &'static str, effect, says: &str| {
            let name = format!("{clause}/{}-{}-{what}", row.operation, row.name);
            let says = format!("{} {says} {}.", title(row.operation), row.name);
            Entry::new(name, vec![effect], says).only(Beside::On(row.operation)).by(what)
        };
        for (_, clause) in FORMS.iter().filter(|(of, _)| *of == header) {
            if header == Header::XAcceptFix && row.operation != Operation::Basket {
                continue;
            }
            let effect = match header {
                Header::TppSignatureCertificate => {
                    Effect::policy(json!({ "certificate": { "takes-others": true } }))
                }
                _ => form_unread(header),
            };
            faults.push(on(clause, "form-not-read", effect, "does not check the format of"));
        }
        if matches!(header, Header::PsuContext | Header::PsuHttpMethod) {
            let effect = Effect::policy(json!({ "headers": { "any-notation": [row.name] } }));
            faults.push(on("listed.case", "header-case-ignored", effect, "ignores the case of"));
        }
    }
    faults
}

/// Returns true for optional headers whose presence or absence the document leaves open.
fn is_open(name: &str, operation: Operation) -> bool {
    match name {
        "psu-context" | "x-psu-identity" => matches!(operation, Operation::Ncbct | Operation::Periodic),
        "psu-corporate-id" => operation == Operation::Transaction,
        _ => false,
    }
}

/// Allows requests of an operation to lack a required header.
fn lacks(header: Header, operation: Operation) -> Effect {
    let lacking = json!({ "header": header.name(), "operation": operation.id() });
    Effect::policy(json!({ "headers": { "not-required": [lacking] } }))
}

/// Leaves the format of a header unchecked, and the PSU that it names unidentified.
fn form_unread(header: Header) -> Effect {
    let name = header.name();
    let mut settings = json!({ "headers": { "forms-unread": [name] } });
    if header == Header::PsuId {
        settings["psu"] = json!({ "unknown-taken": [{ "header": name }] });
    }
    Effect::policy(settings)
}

/// Returns faults that accept a request without a required header if it has an optional one.
fn not_asked_beside(fields: &[Field]) -> Vec<Entry> {
    let mut faults = Vec::new();
    for row in fields.iter().filter(|row| row.is_required) {
        let Some(header) = row.header else { continue };
        let others = fields.iter().filter(|other| other.operation == row.operation && !other.is_required);
        for other in others.filter(|other| !(header == Header::PsuId && other.name == "x-psu-identity")) {
            let name =
                format!("{}/{}-{}-not-asked-beside-{}", required(row), row.operation, row.name, other.name);
            let says = format!(
                "{} accepts a request without {} if it has {}.",
                title(row.operation),
                row.name,
                other.name
            );
            let entry = Entry::new(name, vec![lacks(header, row.operation)], says);
            faults.push(entry.only(Beside::Value(Place::Header(other.name))).by("header-not-asked-beside"));
        }
    }
    faults
}

fn required(row: &Field) -> String {
    format!("header.{}.{}", row.name, row.operation)
}

fn value_clause(row: &Field) -> String {
    let (name, operation) = (row.name, row.operation);
    let is_of_basket = operation == Operation::Basket;
    match row.header {
        Some(Header::XAcceptFix) if is_of_basket => "header.x-accept-fix.basket.value".to_owned(),
        Some(Header::XAcceptFix | Header::PsuHttpMethod) => format!("header.{name}.format"),
        _ => format!("header.{name}.{operation}"),
    }
}

fn made(row: &Field, clause: &str, of: (When, Then), says: &str) -> Made {
    let place = (row.operation, Place::Header(row.name));
    Made::treats(clause, place, of, &format!("{says} {}", row.name))
}
