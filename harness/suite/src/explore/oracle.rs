//! What must become of a request: a pure function of the request, the model and how it is signed. It looks at the whole request and
//! knows nothing of how it was made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::model::{Kind, Member, Model};
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

    fn open(&mut self, why: impl Into<String>) {
        self.open.push(why.into());
    }
}

/// What is made before a request: how many payments of each operation, by the name under which the request speaks of them.
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
    match found.open.into_iter().next() {
        Some(why) => Verdict::Open(why),
        None => Verdict::Accepted,
    }
}

/// Whether a text holds something that only the target's profile or the signing knows.
fn is_opaque(text: &str) -> bool {
    text.contains("${")
}

fn headers(model: &Model, request: &RequestSpec, plain: &RequestSpec, found: &mut Found) {
    let Some(operation) = model.operations.get(&request.operation) else { return };
    let text = |name: &str| request.header(name).and_then(Value::as_str);
    let same = |name: &str| request.header(name) == plain.header(name);
    for field in &operation.headers {
        let clause = format!("header.{}.{}", field.name, request.operation);
        let format = format!("header.{}.format", field.name);
        let times =
            request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&field.header)).count();
        if times > 1 {
            found.open(format!("{} is sent {times} times", field.header));
        }
        // A function is of what only signing knows.
        if let Some(function @ Value::Object(_)) = request.header(&field.header) {
            match (field.header.as_str(), function.get("$lower-token")) {
                ("Digest", Some(Value::String(of))) if known_digest(of) => {}
                _ => found.head(format),
            }
            continue;
        }
        let Some(value) = text(&field.header) else {
            match field.presence.as_str() {
                // L168, L169: an identity is an alternative, which a bank may take or not.
                "R" if field.header == "PSU-ID" && text("X-PSU-IDENTITY").is_some() => {
                    found.open("the PSU is named by X-PSU-IDENTITY alone");
                }
                "R" => found.head(clause),
                // L172, L316: both have rules of their own where they are absent.
                _ if field.header == "PSU-Context" && plain.header("PSU-Context").is_some() => {
                    found.open("PSU-Context is absent");
                }
                _ if field.header == "PSU-IP-Address" => {
                    found.open("calls without PSU-IP-Address are counted")
                }
                _ => {}
            }
            continue;
        };
        if same(&field.header) || !value.is_empty() && value == field.sample {
            continue;
        }
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
                    if other.is_empty()
                        || ["private", "corporate"].contains(&other.to_lowercase().as_str()) =>
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
            "x-accept-fix" if value.is_empty() => found.head(clause),
            "x-accept-fix" if request.operation == "basket" && !value.contains("amount-as-string") => {
                found.head("header.x-accept-fix.basket.value");
            }
            "x-accept-fix" => found.open("which changes a bank knows is its own"),
            "TPP-Redirect-URI" | "PSU-IP-Address" if value.is_empty() => found.head(clause),
            "Digest" => digest(value, &format, found),
            "TPP-Signature-Certificate" => {
                if value != "${certificate}" {
                    found.head(format);
                }
            }
            "Signature" => {
                // Section 2.2 of the draft: what it does not know is ignored.
                const UNKNOWN: [&str; 2] =
                    ["origin=\"synthetic\",${signature}", "${signature},origin=\"synthetic\""];
                if !UNKNOWN.contains(&value) {
                    found.head(format);
                }
            }
            "PSU-Corporate-ID" if request.operation == "transaction" => {
                found.open("the account is that of a private PSU");
            }
            "PSU-Corporate-ID" if value == "${target.psu.corporate.corporate-id}" => {
                if text("PSU-ID") != Some("${target.psu.corporate.id}") {
                    found.open("the agreement is not that of the PSU");
                }
            }
            "TPP-Redirect-Preferred" if value == "true" || value == "false" => {}
            "PSU-IP-Port" if !value.is_empty() && value.parse::<u16>().is_ok_and(|port| port > 0) => {}
            "PSU-User-Agent" if !value.is_empty() && value.is_ascii() => {}
            "TPP-Brand-Logging-Information" if !value.is_empty() && value.is_ascii() => {}
            // Strings without a form that the document gives.
            _ => found.open(format!("what {} may hold", field.header)),
        }
    }
    // L302
    let is_corporate = text("PSU-ID") == Some("${target.psu.corporate.id}");
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
    let BodySpec::Json(Value::Object(members), repeats) = &request.body else {
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
            Some(value) if member.kind == Kind::Ids => ids(value, prepared, found),
            Some(value) => self::member(model, request, members, member, value, found),
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

fn member(
    model: &Model,
    request: &RequestSpec,
    members: &Map<String, Value>,
    member: &Member,
    value: &Value,
    found: &mut Found,
) {
    let clause = |suffix: &str| format!("{}.{suffix}", member.clause);
    let name = &member.at;
    match member.kind {
        Kind::Text => match value {
            Value::String(text) => {
                let count = text.chars().count();
                let most = member.most.unwrap_or(usize::MAX);
                if text.is_empty() && member.least == Some(1) {
                    found.broken(clause("empty"));
                } else if text.is_empty() {
                    found.open(format!("an empty {name}"));
                } else if text.is_ascii() && count > most {
                    found.broken(clause("length"));
                } else if !text.is_ascii() && (!member.utf8 || text.len() > most) {
                    found.open(format!("other letters in {name}"));
                } else if text.chars().any(char::is_control) || text.trim() != text {
                    found.open(format!("blanks and controls in {name}"));
                }
            }
            Value::Array(_) | Value::Object(_) => found.broken(clause("type")),
            Value::Bool(_) if name.starts_with("regulatory") || name == "ultimateDebtor" => {
                found.broken(clause("type"))
            }
            Value::Number(_) if name.starts_with("remittance") => found.broken(clause("type")),
            _ => found.open(format!("another type of {name}")),
        },
        Kind::Words => {
            let listed = member.listed.clone().unwrap_or_else(|| clause("listed"));
            match value {
                Value::String(text) if member.words.contains(text) => {}
                Value::String(text) if is_open(member, text) => found.open(format!("the value of {name}")),
                Value::Number(number) if member.words.contains(&number.to_string()) => {
                    found.open(format!("a number as {name}"));
                }
                Value::Array(_) | Value::Object(_) | Value::Bool(_)
                    if name == "frequency" || name == "regulatoryReportingCode" =>
                {
                    found.broken(clause("type"));
                }
                // What is none of the words is none of them in another type.
                _ => found.broken(listed),
            }
        }
        Kind::Amount => amount(model, request, member, value, found),
        Kind::Account => account(model, member, value, found),
        Kind::Address => address(model, member, value, found),
        Kind::Bic => match value {
            Value::String(text) if is_opaque(text) || is_bic(text) => {
                // L208 says when it is required, and not that it may be there otherwise.
                let bban = members.get("creditorAccount").and_then(|account| account.get("bban"));
                if bban.is_none() {
                    found.open("an agent beside an iban");
                }
                if !is_opaque(text) {
                    found.open("whether the agent is that of the account");
                }
            }
            // L208 calls it a code; the pattern of L27 is that of another type.
            Value::String(_) => found.open("the form of an agent"),
            _ => found.broken(clause("type")),
        },
        Kind::Date => date(member, value, found),
        Kind::Months => months(members, value, found),
        Kind::Day => match value {
            Value::String(text) => {
                let is_number =
                    !text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
                match text.parse::<u8>() {
                    Ok(1..=28) if is_number && !text.starts_with('0') => {}
                    _ if is_number => found.open("days that not every month has"),
                    _ => found.broken("periodic.day.form"),
                }
            }
            Value::Array(_) | Value::Object(_) | Value::Bool(_) => found.broken(clause("type")),
            _ => found.open("a number as dayOfExecution"),
        },
        Kind::Ids => {}
    }
}

/// Words that differ from those of the list in what the document does not speak of.
fn is_open(member: &Member, text: &str) -> bool {
    let alike = |word: &String| word.eq_ignore_ascii_case(text);
    member.open.iter().any(|word| word == text) || member.words.iter().any(alike)
}

fn is_bic(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!(bytes.len(), 8 | 11)
        && bytes[..6].iter().all(u8::is_ascii_uppercase)
        && matches!(bytes[6], b'A'..=b'Z' | b'2'..=b'9')
        && matches!(bytes[7], b'A'..=b'N' | b'P'..=b'Z' | b'0'..=b'9')
        && bytes[8..].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn listed_currency(
    model: &Model,
    value: Option<&Value>,
    absent: &str,
    empty: &str,
    found: &mut Found,
) -> bool {
    match value {
        None | Some(Value::Null) => found.broken(absent),
        Some(Value::String(text)) if text.is_empty() => found.broken(empty),
        Some(Value::String(text)) if is_opaque(text) || model.currencies.contains(text) => return true,
        Some(Value::String(text)) if model.currencies.contains(&text.to_uppercase()) => {
            found.open("letter case of currencies");
        }
        Some(_) => found.broken("currency.listed"),
    }
    false
}

fn amount(model: &Model, request: &RequestSpec, member: &Member, value: &Value, found: &mut Found) {
    let Value::Object(parts) = value else { return found.broken(format!("{}.type", member.clause)) };
    let is_listed =
        listed_currency(model, parts.get("currency"), "amount.currency", "currency.listed", found);
    let text = match parts.get("amount") {
        None | Some(Value::Null) => return found.broken("amount.required"),
        Some(Value::String(text)) => digits_of(text),
        Some(Value::Number(_)) => return found.open("an amount as a number"),
        Some(_) => return found.broken("amount.string"),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || text.ends_with('.') {
        return found.open("the form of an amount");
    }
    if whole.len() > 18 {
        found.broken("amount.precision");
    }
    if !is_listed {
        return;
    }
    let currency = parts.get("currency").and_then(Value::as_str).unwrap_or_default();
    let Some(digits) = model.digits.get(currency) else { return found.open("digits of this currency") };
    if fraction.len() > *digits {
        // L20. A domestic payment in other money may be taken or not, and what breaks a rule is refused all the same.
        return found.broken("amount.digits");
    }
    if fraction.len() < *digits {
        found.open("fewer digits than the currency has");
    }
    if member.domestic && currency != "NOK" {
        found.open("a domestic payment in other money");
    }
    let units: f64 = text.parse().unwrap_or_default();
    let too_small = currency == "NOK" && member.least.is_some_and(|least| units < least as f64);
    if too_small || units <= 0.0 || whole.len() > 13 || whole.len() > 1 && whole.starts_with('0') {
        found.open(format!("the size of an amount of {}", request.operation));
    } else if currency != "NOK"
        && model.amounts.get(currency).is_none_or(|known| digits_of(known).len() < whole.len())
    {
        found.open("whether the account holds so much");
    } else if currency == "NOK" && units > 1_000_000.0 {
        found.open("whether the account holds so much");
    }
}

fn account(model: &Model, member: &Member, value: &Value, found: &mut Found) {
    let Value::Object(parts) = value else { return found.broken(format!("{}.type", member.clause)) };
    let is_listed = listed_currency(
        model,
        parts.get("currency"),
        &format!("{}.currency", member.clause),
        "account.currency",
        found,
    );
    let currency = parts.get("currency").and_then(Value::as_str).unwrap_or_default();
    let is_own = is_opaque(currency) || member.currency.as_deref() == Some(currency);
    if is_listed && !is_own && !member.any_currency {
        found.open("whether the account is in this currency");
    }
    let text = |name: &str| parts.get(name);
    match (text("iban"), text("bban")) {
        (None | Some(Value::Null), None | Some(Value::Null)) => found.broken("account.identifier"),
        (Some(_), Some(_)) => found.open("an account with two numbers"),
        (Some(Value::String(iban)), None) => number(member, iban, "account.iban.length", 34, "iban", found),
        (None, Some(Value::String(bban))) => number(member, bban, "account.bban.length", 30, "bban", found),
        _ => found.open("another type of account number"),
    }
    if parts.keys().any(|name| !["iban", "bban", "currency"].contains(&name.as_str())) {
        found.open("more members of an account");
    }
}

fn number(member: &Member, text: &str, clause: &str, most: usize, form: &str, found: &mut Found) {
    let own = member.account.as_ref().map(|account| format!("${{target.accounts.{account}.{form}}}"));
    if Some(text) == own.as_deref()
        || member.at == "debtorAccount" && text == "${target.accounts.corporate-debtor.iban}"
    {
        return;
    }
    if is_opaque(text) {
        return found.open("an account of somebody else");
    }
    if text.chars().count() > most {
        found.broken(clause);
    } else {
        found.open("whether there is such an account");
    }
}

fn address(model: &Model, member: &Member, value: &Value, found: &mut Found) {
    let Value::Object(parts) = value else { return found.broken(format!("{}.type", member.clause)) };
    match parts.get("country") {
        None => found.broken(format!("{}.country", member.clause)),
        Some(Value::Null) => found.broken("address.country"),
        Some(Value::String(code)) if code.is_empty() => found.broken("address.country"),
        Some(Value::String(code)) if model.countries.contains(code) => {}
        Some(Value::String(code)) if model.countries.contains(&code.to_uppercase()) => {
            found.open("letter case of countries");
        }
        Some(Value::String(code)) if code.chars().count() > 2 => found.broken("country.length"),
        Some(Value::String(_)) => found.broken("country.listed"),
        Some(_) => found.open("another type of country"),
    }
    for (name, part) in parts {
        match (name.as_str(), part) {
            ("country", _) => {}
            ("street", Value::String(text)) if text.is_ascii() && text.len() > 70 => {
                found.broken("address.street.length");
            }
            ("street" | "buildingNumber" | "postalCode" | "city", Value::String(text)) => {
                let is_plain = text.is_ascii() && !text.is_empty() && text.len() <= 70 && text.trim() == text;
                if !is_plain || name != "street" && text.len() > 16 {
                    found.open(format!("what {name} may hold"));
                }
            }
            ("buildingNumber" | "postalCode" | "city", Value::Array(_) | Value::Object(_)) => {
                found.broken("address.shape");
            }
            _ => found.open(format!("another type of {name}")),
        }
    }
}

fn date(member: &Member, value: &Value, found: &mut Found) {
    let format = || format!("{}.format", member.clause);
    match value {
        Value::String(text) if text.starts_with("${workday+") => {
            let own = member.days.unwrap_or(10);
            let days = text.trim_start_matches("${workday+").trim_end_matches('}').parse::<u32>();
            if !days.clone().is_ok_and(|days| days >= own.min(5) && days <= 200)
                || member.days.is_some_and(|least| days.is_ok_and(|days| days < least))
            {
                found.open(format!("{} so near", member.at));
            }
        }
        Value::String(text) if is_opaque(text) => found.open("a date that the target knows"),
        Value::String(text) if is_basic(text) => found.open("the basic format of ISO 8601"),
        Value::String(text) if is_date(text) => found.open(format!("{} so far away", member.at)),
        _ => found.broken(format()),
    }
}

fn is_basic(text: &str) -> bool {
    text.len() == 8
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && is_date(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
}

/// Whether a text is a calendar date of ISO 8601 in its extended format.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, length| {
        (part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<u32>().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn months(members: &Map<String, Value>, value: &Value, found: &mut Found) {
    let Value::Array(items) = value else { return found.broken("periodic.months.type") };
    if items.iter().any(|item| item.as_i64().is_none()) {
        return found.broken("periodic.months.type");
    }
    if members.get("frequency") != Some(&Value::from("MonthlyVariable")) {
        return found.open("months of another frequency");
    }
    let numbers: Vec<i64> = items.iter().filter_map(Value::as_i64).collect();
    let distinct: BTreeSet<i64> = numbers.iter().copied().collect();
    if numbers.iter().any(|month| !(1..=12).contains(month)) {
        found.broken("periodic.months.range");
    }
    if distinct.len() < numbers.len() {
        found.broken("periodic.months.duplicate");
    }
    if numbers.is_empty() || distinct.contains(&12) || !numbers.is_sorted() {
        found.open("no month, December, or months in another order");
    }
}

fn ids(value: &Value, prepared: &Prepared, found: &mut Found) {
    // A placeholder of payments that are made in a row stands for the list of their ids.
    let of = |text: &str| prepared.get(text.trim_start_matches("${").trim_end_matches(".id}"));
    let texts: Vec<&str> = match value {
        Value::String(text) if of(text).is_some_and(|(_, times)| *times > 1) => vec![text],
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect()
        }
        _ => return found.broken("basket.payment-ids.type"),
    };
    let known: Vec<&(String, usize)> = texts.iter().filter_map(|text| of(text)).collect();
    let count: usize = known.iter().map(|(_, times)| times).sum::<usize>() + texts.len() - known.len();
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    if count > 10 {
        found.broken("basket.payment-ids.limit");
    }
    if known.iter().any(|(operation, _)| operation == "periodic") {
        found.status = Some(400);
        found.code = Some("REFERENCE_MIX_INVALID");
        found.broken("basket.mix");
    }
    if texts.is_empty() || distinct.len() < texts.len() || known.len() < texts.len() {
        found.open("empty, repeated or unknown ids");
    }
}
