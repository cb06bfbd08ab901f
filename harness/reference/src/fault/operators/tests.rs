//! Each generated fault changes the response to at least one request of these tests.

mod probe;
mod signing;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::DateTime;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::table;
use crate::bank::{Config, InProcessBank};
use crate::fault::Fault;
use crate::rules::{Beside, Effect, Entry, Place, Treatment, When};
use probe::{Probe, bodies, remove, set, transaction};
use xs2aspec_bank::clock::Clock;
use xs2aspec_bank::header::{Fields, Header};
use xs2aspec_bank::operation::{Operation, Product};

/// Faults that no single request shows, by the start of their names, each with the reason.
const UNSHOWN: [(&str, &str); 17] = [
    ("certificate.foreign/any-known-key", "it needs two requests with different certificates"),
    ("signature.altered/seen-before-", "it needs two requests with the same signature"),
    ("signature.value.hash/", "the signer of these tests makes no other hash"),
    ("signature.algorithm.mismatch/hmac-", "the signer of these tests makes no HMAC"),
    ("signature.value/hexadecimal-", "the signer of these tests writes base64"),
    ("signature.parameters.blanks/refused-", "the signer of these tests writes no spaces around parameters"),
    (
        "digest.foreign-characters/passed-over-",
        "none of these requests has a Digest with quotes or trailing characters",
    ),
    ("transaction.batch-number.string/answer-text-in-private-", "private accounts show no batch number"),
    ("header.digest.format/passes-", "none of these requests has a Digest without an equals sign"),
    ("signature.headers.extra/not-verified-customers-alone", "the list has no PSU-IP-Address to sign"),
    ("http.no-server-error/30-february-", "it needs a day with matching months"),
    ("http.no-server-error/leap-day-and-", "it needs a day with a matching frequency"),
    ("http.no-server-error/day-31-from-a-month-of-30-", "it needs a start in a month of 30 days"),
    ("http.no-server-error/day-31-from-february-", "it needs a start in February"),
    ("periodic.day.end-of-month/no-31-from-a-month-of-30-", "it needs a start in a month of 30 days"),
    ("error.funds/marked-available-", "it needs an earlier payment without funds"),
    ("header.psu-context.absent/demanded-of-devices-in-", "it needs a request without a context"),
];

/// The maximum number of requests per fault.
const MOST: usize = 60;

/// Every n-th fault is tested in every run, and all of them nightly.
const SOME: usize = 12;

#[tokio::test]
async fn some_faults_show_in_a_request_of_their_own() {
    show(Fault::derived().step_by(SOME)).await;
}

#[tokio::test]
#[ignore = "takes a minute: nightly"]
async fn each_fault_shows_in_a_request_of_its_own() {
    show(Fault::derived()).await;
}

async fn show(faults: impl Iterator<Item = Fault>) {
    let mut clean = HashMap::new();
    let mut hidden = Vec::new();
    for fault in faults {
        let is_unshown = |(beginning, _): &(&str, &str)| fault.name().starts_with(beginning);
        let shows = shows(fault, &mut clean).await;
        if shows == UNSHOWN.iter().any(is_unshown) {
            hidden.push(fault.name());
        }
    }
    assert!(
        hidden.is_empty(),
        "{} faults do not show, or show although UNSHOWN lists them: {hidden:#?}",
        hidden.len()
    );
}

#[test]
fn names_are_unique_and_well_formed_and_every_operator_makes_faults() {
    let mut operators = BTreeMap::<&str, usize>::new();
    let mut names: BTreeSet<&str> = Fault::all().chain(Fault::interactions()).map(Fault::name).collect();
    for fault in Fault::derived() {
        let (clause, what) = fault.name().split_once('/').unwrap();
        let is_kebab =
            |part: &str| part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        assert!(clause.split('.').all(is_kebab) && is_kebab(what) && !what.is_empty(), "{fault}");
        assert!(fault.says().ends_with('.'), "{fault}: {}", fault.says());
        assert!(names.insert(fault.name()), "{fault} twice");
        *operators.entry(fault.operator().unwrap()).or_default() += 1;
    }
    let sum: usize = operators.values().sum();
    assert!(sum >= 3000 && operators.len() >= 30, "{sum} faults: {operators:#?}");
}

async fn shows(fault: Fault, clean: &mut HashMap<String, String>) -> bool {
    for probe in probes(fault.entry()) {
        let probe = probe.signed();
        let key = format!("{probe:?}");
        if !clean.contains_key(&key) {
            let said = said(None, &probe).await;
            clean.insert(key.clone(), said);
        }
        if said(Some(fault), &probe).await != clean[&key] {
            return true;
        }
    }
    false
}

/// Returns the response of a bank that just opened.
async fn said(fault: Option<Fault>, probe: &Probe) -> String {
    let now = DateTime::parse_from_rfc3339("2030-01-31T12:00:00Z").unwrap().to_utc();
    let faults = fault.into_iter().collect();
    let bank = InProcessBank::open(&Config { faults, now: Clock::at(Some(now)), ..Config::default() });
    let answer = bank.answer(probe.request()).await;
    format!("{} {}", answer.status(), String::from_utf8_lossy(answer.body()))
}

/// Returns requests that may show a fault, in its context.
fn probes(entry: &Entry) -> Vec<Probe> {
    let contexts: &[&str] = match entry.beside {
        Some(Beside::Is(_, context)) => &[context],
        _ => &["PRIVATE", "CORPORATE"],
    };
    let of_effect: Vec<Probe> = match (entry.effects.as_slice(), entry.beside) {
        ([Effect::Treats(treatment)], _) => of_treatment(treatment),
        ([.., Effect::Alters(alteration)], _) => plain(alteration.operation),
        ([Effect::Refuses(rule, ..)], _) => refused(rule),
        ([Effect::Policy(settings)], Some(Beside::On(operation))) if settings["certificate"].is_object() => {
            other_values(Header::TppSignatureCertificate, operation)
        }
        ([Effect::Policy(settings)], Some(Beside::On(operation))) if is_of_signing(settings) => {
            return signing::probes(operation);
        }
        ([Effect::Policy(settings)], beside) => of_settings(settings, beside),
        _ => panic!("no request is made for {}", entry.name),
    };
    let in_context = |probe: &Probe, context: &str| match probe.header("psu-context") {
        Some("PRIVATE") => probe.clone().with("psu-context", context),
        _ => probe.clone(),
    };
    of_effect
        .iter()
        .take(MOST)
        .flat_map(|probe| contexts.iter().map(move |one| in_context(probe, one)))
        .collect()
}

/// Returns true if the settings affect how a request is signed.
fn is_of_signing(settings: &Value) -> bool {
    ["digest", "certificate", "signature"].iter().any(|subject| settings.get(subject).is_some())
}

/// Returns requests that may show other settings.
fn of_settings(settings: &Value, beside: Option<Beside>) -> Vec<Probe> {
    if let Some(words) = settings.pointer("/query/also-true").and_then(Value::as_object) {
        let each = words.iter().filter_map(|(name, words)| Some((name, words[0].as_str()?)));
        return each.flat_map(|(name, text)| of_parameter(name, text)).collect();
    }
    let headers = &settings["headers"];
    if let Some(lacking) = headers["not-required"].get(0) {
        let header = Header::deserialize(&lacking["header"]).unwrap();
        return without(header, Operation::deserialize(&lacking["operation"]).unwrap());
    }
    let Some(Beside::On(operation)) = beside else { panic!("no request is made for {settings}") };
    match headers["forms-unread"].get(0) {
        Some(header) => other_values(Header::deserialize(header).unwrap(), operation),
        None => [("psu-context", "private"), ("psu-http-method", "post")]
            .map(|(name, value)| plain(operation)[0].clone().with(name, value))
            .into(),
    }
}

/// Returns valid requests of an operation.
fn plain(operation: Operation) -> Vec<Probe> {
    let full = Probe::full(operation);
    match operation {
        Operation::Transaction => ["20250211-0000001", "20250212!0000002=", "20250213-0000003"]
            .map(|id| full.clone().at(&transaction(id)))
            .into(),
        Operation::Status(Product::Periodic) => {
            vec![full.clone().at(&operation.route().replace("{paymentId}", "payment-pending-0002"))]
        }
        _ if operation.has_body() => {
            bodies(operation).iter().map(|body| full.clone().with_body(body)).collect()
        }
        _ => vec![full],
    }
}

fn of_treatment(treatment: &Treatment) -> Vec<Probe> {
    let operation = treatment.operation;
    match treatment.place {
        Place::Body(pointer) => {
            let each =
                bodies(operation).into_iter().flat_map(|body| with_values(&body, pointer, treatment.when));
            let is_meant = |body: &Value| {
                let mut members = body.as_object().unwrap().clone();
                treatment.body(operation, &mut members).is_err() || Value::Object(members) != *body
            };
            each.filter(is_meant).take(8).map(|body| Probe::full(operation).with_body(&body)).collect()
        }
        Place::Header(name) => {
            let plain = plain(operation);
            let values = if let When::Is(value) = treatment.when {
                vec![value.to_owned()]
            } else {
                let texts = values::texts().filter(|text| text.is_ascii() && !text.contains('\n'));
                let of_headers = ["*", "a, b", "a;q=0.5", "GEO:-1.0;-1.0", "Å"].map(str::to_owned);
                texts.chain(of_headers).collect()
            };
            let absent = plain.iter().map(|probe| probe.clone().without(name));
            let others = values.iter().map(|value| plain[0].clone().with(name, value));
            let neither = |probe: &Probe, one: &str, other: &str| probe.clone().without(one).without(other);
            let pairs = ["psu-id", "psu-context", "psu-corporate-id", "x-psu-authmethod-preferred"];
            let pairs = pairs.map(|other| neither(&plain[0], other, other));
            let signed = signing::probes(operation);
            let each = plain.iter().cloned().chain(absent).chain(others).chain(pairs).chain(signed);
            each.filter(|probe| treatment.head(operation, Fields(&probe.fields()), &probe.uri()).is_err())
                .collect()
        }
        Place::Query(name) => {
            let route = operation.route();
            let paths = [route.clone(), format!("{route}?{name}=true"), format!("{route}?{name}=false")];
            let paths = paths.into_iter().chain([format!("{route}?{name}=maybe")]);
            let each = paths.map(|path| plain(operation)[0].clone().at(&path));
            each.filter(|probe| treatment.head(operation, Fields(&probe.fields()), &probe.uri()).is_err())
                .collect()
        }
    }
}

/// Returns the body with each value of a condition, without the field, and unchanged.
fn with_values(body: &Value, pointer: &'static str, when: When) -> impl Iterator<Item = Value> + use<> {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let is_whole = pointer.is_empty();
    let mut values = if is_whole { vec![] } else { values::meant(when, name) };
    // An array with the valid value in it.
    values.extend(body.pointer(pointer).filter(|_| !is_whole).map(|own| json!([own])));
    let (body, mut absent) = (body.clone(), body.clone());
    if !is_whole {
        remove(&mut absent, pointer);
    }
    let first = [body.clone(), absent];
    first.into_iter().chain(values.into_iter().map(move |value| {
        let mut other = body.clone();
        set(&mut other, pointer, value);
        other
    }))
}

/// Returns requests that a conforming bank rejects by this rule.
fn refused(rule: &str) -> Vec<Probe> {
    let corporate =
        plain(Operation::Ncbct)[0].clone().with("psu-context", "CORPORATE").without("psu-corporate-id");
    let mix = Probe::full(Operation::Basket).with_body(&json!({ "paymentIds": ["payment-pending-0002"] }));
    let mut probes = vec![corporate, mix];
    for operation in Operation::SPECIFIED.into_iter().filter(|operation| rule.contains(operation.id())) {
        let fields =
            table::fields().into_iter().filter(|field| field.operation == operation && field.is_required);
        let fields = fields.filter(|field| rule.contains(field.name));
        probes.extend(fields.flat_map(|field| without(field.header.unwrap(), operation)));
        for member in table::requests() {
            let is_meant = member.operation == operation && member.parent().is_none();
            if is_meant && rule.contains(&xs2aspec_bank::member::kebab_case(member.name())) {
                let body = &bodies(operation)[0];
                let wrong = [json!({}), json!("x"), json!("x".repeat(300)), json!([1])];
                let mut absent = body.clone();
                remove(&mut absent, member.pointer);
                let each = wrong.into_iter().map(|value| {
                    let mut other = body.clone();
                    set(&mut other, member.pointer, value);
                    other
                });
                probes.extend(
                    [absent].into_iter().chain(each).map(|body| Probe::full(operation).with_body(&body)),
                );
            }
        }
    }
    probes
}

fn without(header: Header, operation: Operation) -> Vec<Probe> {
    let bare = |probe: Probe| match header {
        // Either of the two headers identifies the PSU.
        Header::PsuId if operation.creates_payment() => probe.without("psu-id").without("x-psu-identity"),
        _ => probe.without(header.name()),
    };
    let probes = plain(operation).into_iter().take(1);
    probes.map(bare).collect()
}

fn of_parameter(name: &str, text: &str) -> Vec<Probe> {
    let each = table::parameters().into_iter().filter(|parameter| parameter.name == name);
    each.flat_map(|parameter| {
        let path = format!("{}?{name}={text}", parameter.operation.route());
        plain(parameter.operation).into_iter().take(1).map(move |probe| probe.at(&path))
    })
    .collect()
}

fn other_values(header: Header, operation: Operation) -> Vec<Probe> {
    let plain = plain(operation).remove(0);
    let signed = |probe: Probe| probe.signed();
    match header {
        Header::TppSignatureCertificate => vec![signed(plain).with("tpp-signature-certificate", "x")],
        _ => vec![plain.with(header.name(), "x")],
    }
}
