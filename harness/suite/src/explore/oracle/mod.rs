//! What must become of a request: a pure function of the request, the model and how it is signed. It looks at
//! the whole request and knows nothing of how it was made.

mod members;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::model::{Header, Kind, Member, Model};
use crate::request::{BodySpec, RequestSpec};

/// What a request must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted: it keeps every rule, and no rule leaves anything open.
    Accepted,
    /// It is refused, because of the first of these clauses; it breaks all of them.
    Refused {
        /// The clauses.
        clauses: Vec<String>,
        /// Whether nothing may be created by it.
        nothing_created: bool,
        /// The status, where the document gives one.
        status: Option<u16>,
        /// The code, where the document gives one.
        code: Option<&'static str>,
    },
    /// The bank chooses, and its profile says what: accept or refuse. The clause that leaves it the choice.
    Choice(&'static str),
    /// Both answers are right, for this reason.
    Open(String),
}

/// What is found in a request.
#[derive(Debug, Default)]
struct Found {
    broken: Vec<String>,
    /// A rule of headers or signing: nothing may be created.
    of_head: bool,
    status: Option<u16>,
    code: Option<&'static str>,
    choices: Vec<&'static str>,
    open: Vec<String>,
}

impl Found {
    fn broken(&mut self, clause: impl Into<String>) {
        self.broken.push(clause.into());
    }

    fn head(&mut self, clause: impl Into<String>) {
        self.of_head = true;
        self.broken.push(clause.into());
    }

    fn choice(&mut self, clause: &'static str) {
        self.choices.push(clause);
    }

    fn open(&mut self, why: impl Into<String>) {
        self.open.push(why.into());
    }
}

/// What is made before a request: how many payments of each operation, by the name under which the request
/// speaks of them.
pub type Prepared = BTreeMap<String, (String, usize)>;

/// Judges a request of an operation. `plain` is its baseline.
pub fn judge(model: &Model, request: &RequestSpec, plain: &RequestSpec, prepared: &Prepared) -> Verdict {
    let mut found = Found::default();
    headers(model, request, plain, &mut found);
    signing(model, request, &mut found);
    queries(model, request, &mut found);
    body(model, request, plain, prepared, &mut found);
    if !found.broken.is_empty() {
        let Found { broken, of_head, status, code, .. } = found;
        // Which of several rules a bank names is its own.
        let is_one = broken.len() == 1;
        let (status, code) = (status.filter(|_| is_one), code.filter(|_| is_one));
        return Verdict::Refused { clauses: broken, nothing_created: of_head, status, code };
    }
    match (found.open.into_iter().next(), found.choices.as_slice()) {
        (Some(why), _) => Verdict::Open(why),
        (None, []) => Verdict::Accepted,
        (None, [clause]) => Verdict::Choice(clause),
        (None, _) => Verdict::Open("several choices of the bank".to_owned()),
    }
}

/// Whether a text holds something that only the target's profile or the signing knows.
fn is_opaque(text: &str) -> bool {
    text.contains("${")
}

fn headers(model: &Model, request: &RequestSpec, plain: &RequestSpec, found: &mut Found) {
    let Some(operation) = model.operations.get(&request.operation) else { return };
    let text = |name: &str| request.header(name).and_then(Value::as_str);
    for field in &operation.headers {
        self::field(request, plain, field, found);
    }
    // L302
    let is_corporate = text("PSU-ID") == Some("${target.psu.corporate.id}");
    let is_of_company = request.path.contains("${target.transaction.batch-account-id}");
    if request.operation == "transaction" && is_of_company != is_corporate {
        found.open("the account is that of another PSU");
    }
    if is_corporate && text("PSU-Corporate-ID").is_none() {
        if ["ncbct", "periodic"].contains(&request.operation.as_str()) {
            found.status = Some(400);
            found.broken("error.corporate-id");
        } else {
            found.open("a corporate PSU without its agreement");
        }
    }
    let known = |name: &str| {
        let listed = operation.headers.iter().any(|field| field.header.eq_ignore_ascii_case(name));
        listed || plain.header(name).is_some()
    };
    if request.headers.iter().any(|(name, _)| !known(name)) {
        found.open("a header that the operation does not list");
    }
}

/// A header field that the operation lists.
fn field(request: &RequestSpec, plain: &RequestSpec, field: &Header, found: &mut Found) {
    let text = |name: &str| request.header(name).and_then(Value::as_str);
    let same = |name: &str| request.header(name) == plain.header(name);
    let clause = format!("header.{}.{}", field.name, request.operation);
    let format = format!("header.{}.format", field.name);
    let times = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&field.header)).count();
    if times > 1 {
        found.open(format!("{} is sent {times} times", field.header));
    }
    // A function is of what only signing knows.
    if let Some(function @ Value::Object(_)) = request.header(&field.header) {
        match (field.header.as_str(), function.get("$lower-token")) {
            ("Digest", Some(Value::String(of))) if known_digest(of) => {}
            _ => found.head(format),
        }
        return;
    }
    let Some(value) = text(&field.header) else {
        match field.presence.as_str() {
            // L168, L169: an identity is an alternative, which a bank may take or not.
            "R" if field.header == "PSU-ID" && text("X-PSU-IDENTITY").is_some() => {
                match request.operation.as_str() {
                    "ncbct" => found.choice("header.x-psu-identity.ncbct"),
                    "periodic" => found.choice("header.x-psu-identity.periodic"),
                    _ => found.open("the PSU is named by X-PSU-IDENTITY alone"),
                }
            }
            "R" => found.head(clause),
            // L172, L316: both have rules of their own where they are absent.
            _ if field.header == "PSU-Context" && plain.header("PSU-Context").is_some() => {
                found.open("PSU-Context is absent");
            }
            _ if field.header == "PSU-IP-Address" => {
                found.open("calls without PSU-IP-Address are counted");
            }
            _ => {}
        }
        return;
    };
    if same(&field.header) || !value.is_empty() && value == field.sample {
        return;
    }
    value_of(request, field, value, format, found);
}

/// The changes that the document publishes (L335).
const PUBLISHED: [&str; 4] = [
    "amount-as-string",
    "longer-name",
    "cash-account-type-iso",
    "cardaccount-switch-originalamount-and-transactionamount",
];

/// The value of a header field, where it is not that of the plain request.
fn value_of(request: &RequestSpec, field: &Header, value: &str, format: String, found: &mut Found) {
    let text = |name: &str| request.header(name).and_then(Value::as_str);
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let lengths = [8, 4, 4, 4, 12];
    let is_uuid = |text: &str| is_hexadecimal(text) && text.split('-').map(str::len).eq(lengths);
    match field.header.as_str() {
        "PSU-ID" if value == "${target.psu.corporate.id}" => {}
        "PSU-ID" | "PSU-Device-ID" if !is_uuid(value) => {
            if value.is_empty() && field.presence != "R"
                || is_opaque(value) && !value.contains("}0") && !value.starts_with('x')
            {
                found.open(format!("{} may count as absent", field.header));
            } else {
                found.head(format);
            }
        }
        "PSU-Device-ID" => {}
        "PSU-ID" => found.open("nobody knows this PSU"),
        "PSU-Context" => match value {
            "PRIVATE" => {}
            "CORPORATE" => {
                // A context that is not that of the PSU has no rule.
                if text("PSU-ID") != Some("${target.psu.corporate.id}") {
                    found.open("the context is not that of the PSU");
                }
            }
            other
                if other.is_empty() || ["private", "corporate"].contains(&other.to_lowercase().as_str()) =>
            {
                found.open("letter case of PSU-Context");
            }
            _ => found.head(format),
        },
        "PSU-HTTP-Method" => {
            const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
            if METHODS.contains(&value) {
            } else if value.is_empty() || METHODS.contains(&value.to_uppercase().as_str()) {
                found.open("letter case of PSU-HTTP-Method");
            } else {
                found.head(format);
            }
        }
        _ if value.is_empty() && field.presence != "R" && field.header != "PSU-Corporate-ID" => {
            found.open(format!("{} may count as absent", field.header));
        }
        "x-accept-fix"
            if request.operation == "basket"
                && !value.is_empty()
                && !value.split(',').any(|name| PUBLISHED.contains(&name.trim())) =>
        {
            found.head("header.x-accept-fix.basket.other");
        }
        "x-accept-fix" => found.open("which changes a bank knows is its own"),
        "Digest" => digest(value, &format, found),
        "TPP-Signature-Certificate" => {
            if value != "${certificate}" {
                found.head(format);
            }
        }
        "Signature" => {
            // Section 2.2 of the draft: what it does not know is ignored, and of what is there twice the last
            // counts.
            let (before, after) = value.split_once("${signature}").unwrap_or((value, "no signature"));
            let is_unknown = |text: &str| text.starts_with("origin=");
            let ends_right = after.is_empty() || after == ",${signature}";
            let begins_right = before.is_empty() || before.ends_with("\",");
            if !(begins_right && (ends_right || after.strip_prefix(',').is_some_and(is_unknown))) {
                let is_twice = begins_right && after.starts_with(",signature=");
                found.head(if is_twice { "signature.parameters.duplicate".to_owned() } else { format });
            }
        }
        "Host" if value.starts_with("${host.") => {}
        "PSU-Corporate-ID" if value == "${target.psu.corporate.corporate-id}" => {
            if text("PSU-ID") != Some("${target.psu.corporate.id}") {
                found.open("the agreement is not that of the PSU");
            }
        }
        "TPP-Redirect-Preferred" if value == "true" || value == "false" => {}
        "PSU-IP-Port" if !value.is_empty() && value.parse::<u16>().is_ok_and(|port| port > 0) => {}
        "PSU-User-Agent" | "TPP-Brand-Logging-Information" if !value.is_empty() && value.is_ascii() => {}
        // Strings without a form that the document gives.
        _ => found.open(format!("what {} may hold", field.header)),
    }
}

fn known_digest(value: &str) -> bool {
    ["${digest.sha-256}", "${digest.sha-512}"].contains(&value)
}

fn digest(value: &str, format: &str, found: &mut Found) {
    if known_digest(value) {
        return;
    }
    match value.split_once('=') {
        None => found.head(format),
        Some(("SHA-256" | "SHA-512", hash)) => {
            let length = if value.starts_with("SHA-256") { 44 } else { 88 };
            if hash.len() == length {
                found.head("digest.wrong-hash");
            } else {
                found.head("digest.wrong-length");
            }
        }
        Some(_) => found.head("digest.unknown-algorithm"),
    }
}

fn signing(model: &Model, request: &RequestSpec, found: &mut Found) {
    let signing = &request.signing;
    if *signing == crate::definition::Signing::default() {
        return;
    }
    if let Some(class) = model.signing.iter().find(|class| class.signing == *signing) {
        if !class.accepted {
            found.head(&class.clause);
        }
        return;
    }
    let due = due(request);
    match (&signing.headers, &signing.stated_headers, signing.signed_as.is_empty()) {
        (Some(list), None, true) if list.len() < due.len() && list.iter().all(|name| due.contains(name)) => {
            found.head("signature.headers.missing");
        }
        (None, Some(list), true) if list.iter().any(|name| request.header(name).is_none()) => {
            found.head("signature.headers.not-sent");
        }
        (Some(list), Some(stated), true) if *stated == due && list.len() < due.len() => {
            found.head("signature.value");
        }
        (None, None, false) => found.head("signature.altered"),
        _ => found.open("a way of signing that the model does not have"),
    }
}

/// The headers that are to be signed (L277), in small letters: those of the list that are sent.
pub(super) fn due(request: &RequestSpec) -> Vec<String> {
    const SIGNED: [&str; 6] =
        ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];
    SIGNED.into_iter().filter(|name| request.header(name).is_some()).map(str::to_owned).collect()
}

fn queries(model: &Model, request: &RequestSpec, found: &mut Found) {
    let known = model.operations.get(&request.operation).map_or(&[][..], |operation| &operation.queries);
    for (name, value) in &request.query {
        let of_it = known.iter().find(|query| query.at == *name);
        if !of_it.is_some_and(|query| query.words.iter().any(|word| value == word)) {
            found.open(format!("what {name} means"));
        }
    }
}

fn body(model: &Model, request: &RequestSpec, plain: &RequestSpec, prepared: &Prepared, found: &mut Found) {
    let Some(operation) = model.operations.get(&request.operation) else { return };
    if matches!(plain.body, BodySpec::None) {
        if request.body != plain.body {
            found.open("a body where there is none");
        }
        return;
    }
    let (Some(members), repeats) = (request.members(), request.repeats()) else {
        return found.broken(format!("{}.body.required", request.operation));
    };
    if !repeats.is_empty() {
        found.open("a member that is there twice");
    }
    for member in &operation.members {
        let value = members.get(&member.at);
        match value {
            None if member.required => required(request, members, member, found),
            None => {}
            Some(Value::Null) if member.kind == Kind::Ids => found.broken(format!("{}.type", member.clause)),
            Some(Value::Null) if member.required => required(request, members, member, found),
            Some(Value::Null) => found.open(format!("null as {}", member.at)),
            Some(value) if member.kind == Kind::Ids => members::ids(value, prepared, found),
            Some(value) => members::member(model, request, members, member, value, found),
        }
    }
    if members.keys().any(|name| operation.members.iter().all(|member| member.at != *name)) {
        found.open("a member that the document does not list");
    }
    // L208
    let account = members.get("creditorAccount");
    let has_bban = account.and_then(|account| account.get("bban")).is_some();
    if request.operation == "ncbct" && has_bban && members.get("creditorAgent").is_none() {
        found.broken("ncbct.creditor-agent.bban");
    }
    // L242: months go with one frequency.
    let variable = members.get("frequency") == Some(&Value::from("MonthlyVariable"));
    if request.operation == "periodic" && variable != members.contains_key("monthsOfExecution") {
        found.open("months and frequency");
    }
    // L238 to L243 do not say what day, end and frequency mean for each other.
    let frequency = members.get("frequency").and_then(Value::as_str).unwrap_or_default();
    if members.contains_key("dayOfExecution") && frequency != "Monthly" {
        found.open("a day of another frequency");
    }
    if members.contains_key("endDate")
        && !["Daily", "Weekly", "EveryTwoWeeks", "Monthly"].contains(&frequency)
    {
        found.open("whether there is a payment before the end");
    }
}

fn required(request: &RequestSpec, members: &Map<String, Value>, member: &Member, found: &mut Found) {
    let is_regulatory = member.at.starts_with("regulatory");
    let threshold =
        units(members).is_some_and(|units| units >= 100_000.0) && currency(members) == Some("NOK");
    if !is_regulatory || threshold && request.operation == "ncbct" {
        found.broken(format!("{}.required", member.clause));
    } else {
        found.open("regulatory members of smaller amounts and other currencies");
    }
}

fn currency(members: &Map<String, Value>) -> Option<&str> {
    members.get("instructedAmount")?.get("currency")?.as_str()
}

/// The amount, if it is one.
fn units(members: &Map<String, Value>) -> Option<f64> {
    digits_of(members.get("instructedAmount")?.get("amount")?.as_str()?).parse().ok()
}

/// A text in which each `${number.N}` is N digits.
fn digits_of(text: &str) -> String {
    let mut parts = text.split("${number.");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (count, rest) = part.split_once('}').unwrap_or(("0", part));
        out.push_str(&"5".repeat(count.parse().unwrap_or(0)));
        out.push_str(rest);
    }
    out
}
