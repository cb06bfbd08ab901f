//! A parcel desk, written by hand from its document alone (`fixtures/packs/parcels`): it obeys, or breaks one
//! sentence in one named way, or uses what the document leaves open in another way.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chrono::{DateTime, Days, NaiveDate, Utc};
use rustls::pki_types::alg_id;
use serde_json::{Map, Value, json};
use xs2aspec_signing::{Certificate, KeyIdForm, digest::Algorithm};

/// A request as it came.
pub(super) struct Asked<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: BTreeMap<String, String>,
    /// Header fields by their names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: &'a [u8],
}

/// A refusal: its status, code and text.
struct Refusal(u16, &'static str, String);

type Checked = Result<(), Refusal>;

/// A desk and its parcels.
pub(super) struct Desk {
    /// The sentence that it breaks, by a name of [`super::faults::FAULTS`].
    fault: Option<&'static str>,
    /// The freedom that it uses, by a name of [`super::faults::FREEDOMS`].
    freedom: Option<&'static str>,
    /// Who may ask.
    shop: Certificate,
    now: DateTime<Utc>,
    parcels: Mutex<BTreeMap<String, Value>>,
    number: AtomicU64,
}

impl Desk {
    pub(super) fn new(
        (fault, freedom): (Option<&'static str>, Option<&'static str>),
        shop: Certificate,
        now: DateTime<Utc>,
    ) -> Self {
        Self { fault, freedom, shop, now, parcels: Mutex::default(), number: AtomicU64::new(1) }
    }

    /// The status and body of its answer.
    pub(super) fn answer(&self, asked: &Asked<'_>) -> (u16, Value) {
        let answered = match (asked.method, asked.path.split('/').collect::<Vec<_>>().as_slice()) {
            ("GET", ["", "v2", "offices"]) => self.offices(asked),
            ("POST", ["", "v2", "parcels"]) => self.let_in(asked).and_then(|()| self.take(asked.body)),
            ("GET", ["", "v2", "parcels", id]) => self.let_in(asked).and_then(|()| self.track(id, asked)),
            ("DELETE", ["", "v2", "parcels", id]) => self.let_in(asked).and_then(|()| self.cancel(id)),
            ("PUT", ["", "v2", "parcels", id, "pickup"]) => {
                self.let_in(asked).and_then(|()| self.moved(id, asked.body))
            }
            _ => Err(Refusal(404, "UNKNOWN", "no such operation".to_owned())),
        };
        let (status, mut body) = answered.unwrap_or_else(|refusal| self.refused(refusal));
        if self.uses("talkative")
            && let Value::Object(members) = &mut body
        {
            members.insert("desk".to_owned(), json!({"at": "counter 7"}));
        }
        (status, body)
    }

    fn breaks(&self, fault: &str) -> bool {
        self.fault == Some(fault)
    }

    fn uses(&self, freedom: &str) -> bool {
        self.freedom == Some(freedom)
    }

    fn refused(&self, Refusal(status, code, text): Refusal) -> (u16, Value) {
        let status = if self.uses("precise") && code == "FORMAT" { 422 } else { status };
        let code = if self.breaks("format-code") && code == "FORMAT" { "STATE" } else { code };
        let mut problem = json!({"code": code, "text": text});
        if self.uses("terse") {
            problem = json!({"code": code});
        }
        if self.breaks("refusal-text") {
            problem["text"] = "x".repeat(201).into();
        }
        let body = json!({"problems": [problem]});
        let is_other = self.breaks("refusal-problems") && code == "FORMAT";
        (status, if is_other { json!({"error": code}) } else { body })
    }

    // Headers and signature.

    fn let_in(&self, asked: &Asked<'_>) -> Checked {
        self.headers(asked)?;
        self.signature(asked)
    }

    fn headers(&self, asked: &Asked<'_>) -> Checked {
        let wrong = |name: &str| Err(Refusal(400, "HEADER", format!("{name} is missing or wrong")));
        let field = |name: &str| asked.headers.get(name).map(String::as_str);
        for name in ["x-client-key", "x-trace", "date", "x-client-certificate", "signature"] {
            if field(name).is_none() && !self.breaks(&format!("{name}-missing")) {
                return wrong(name);
            }
        }
        let key = field("x-client-key").unwrap_or("SHOP000001");
        let is_key = |letter: u8| letter.is_ascii_uppercase() || letter.is_ascii_digit();
        if (key.len() != 10 || !key.bytes().all(is_key)) && !self.breaks("client-key-form") {
            return wrong("X-Client-Key");
        }
        let trace = field("x-trace").map(str::parse::<uuid::Uuid>);
        if trace.is_some_and(|trace| trace.is_err()) && !self.breaks("trace-form") {
            return wrong("X-Trace");
        }
        let date = field("date").map(DateTime::parse_from_rfc2822);
        let is_near = |date: DateTime<_>| (date.to_utc() - self.now).num_seconds().abs() <= 300;
        if date.is_some_and(|date| !date.is_ok_and(is_near)) && !self.breaks("date-window") {
            return wrong("Date");
        }
        let language = field("x-language").is_none_or(|tag| ["nb", "en", "fi"].contains(&tag));
        if !language && !self.breaks("language-listed") {
            return wrong("X-Language");
        }
        if !asked.body.is_empty() || asked.method == "POST" {
            let Some(digest) = field("digest") else {
                return if self.breaks("digest-missing") { Ok(()) } else { wrong("Digest") };
            };
            if digest != Algorithm::Sha256.header_value(asked.body) && !self.breaks("digest-unread") {
                return wrong("Digest");
            }
        }
        let shown = field("x-client-certificate").unwrap_or_default();
        let is_certificate =
            BASE64_STANDARD.decode(shown).is_ok_and(|der| Certificate::from_der(der).is_ok());
        if is_certificate || shown.is_empty() { Ok(()) } else { wrong("X-Client-Certificate") }
    }

    fn signature(&self, asked: &Asked<'_>) -> Checked {
        let wrong = |why: &str| Err(Refusal(401, "SIGNATURE", why.to_owned()));
        let Some(header) = asked.headers.get("signature") else { return Ok(()) };
        let parameters: BTreeMap<&str, &str> = header
            .split("\",")
            .filter_map(|parameter| parameter.split_once("=\""))
            .map(|(name, value)| (name.trim_start_matches(','), value.trim_end_matches('"')))
            .collect();
        let parameter = |name: &str| parameters.get(name).copied().unwrap_or_default();
        if parameter("algorithm") != "rsa-sha256" && !self.breaks("signature-algorithm") {
            return wrong("another algorithm");
        }
        if parameter("keyId") != self.shop.key_id(&KeyIdForm::default()) && !self.breaks("signature-key-id") {
            return wrong("another key");
        }
        let listed: Vec<&str> = parameter("headers").split(' ').collect();
        let wanted = ["x-trace", "x-client-key", "x-language", "digest", "date"];
        let wanted: Vec<&str> = wanted.into_iter().filter(|name| asked.headers.contains_key(*name)).collect();
        if listed != wanted && !self.breaks("signature-list") {
            return wrong("another list of headers");
        }
        let line = |name: &&str| Some(format!("{name}: {}", asked.headers.get(*name)?));
        let lines: Option<Vec<String>> = listed.iter().map(line).collect();
        let Some(lines) = lines else { return wrong("a listed header is not there") };
        let holds = verifies(&self.shop, &lines.join("\n"), parameter("signature"));
        if holds || self.breaks("signature-unread") {
            return Ok(());
        }
        wrong("it does not hold")
    }

    // Parcels.

    fn take(&self, body: &[u8]) -> Result<(u16, Value), Refusal> {
        let parsed = serde_json::from_slice::<Value>(body);
        if parsed.is_err() && self.breaks("server-error") {
            return Ok((500, json!({})));
        }
        let body = parsed.map_err(|_| format("body"))?;
        let body = body.as_object().ok_or_else(|| format("body"))?;
        self.parcel(body)?;
        let number = self.number.fetch_add(1, Ordering::SeqCst);
        let id = format!("P{number:011}");
        let mut parcel = json!({
            "parcelId": id,
            "state": if self.uses("quick") { "underway" } else { "registered" },
            "service": body["service"],
            "price": {"amount": "79.00", "currency": "NOK"},
        });
        if body["service"] == "office" && !self.breaks("answer-office-id") {
            parcel["officeId"] = body.get("officeId").cloned().unwrap_or_default();
        }
        if !self.uses("terse") {
            parcel["label"] = format!("https://desk.example/labels/{id}").into();
        }
        self.disfigure(&mut parcel);
        let id = parcel["parcelId"].as_str().unwrap_or_default().to_owned();
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner).insert(id, parcel.clone());
        Ok((if self.uses("quick") { 200 } else { 201 }, parcel))
    }

    /// What is wrong in the answer itself.
    fn disfigure(&self, parcel: &mut Value) {
        let members = parcel.as_object_mut().expect("a parcel is an object");
        match self.fault {
            Some("answer-parcel-id") => drop(
                members.insert("parcelId".to_owned(), json!(self.number.load(Ordering::SeqCst).to_string())),
            ),
            Some("answer-state") => drop(members.insert("state".to_owned(), json!("new"))),
            Some("answer-price") => drop(members.remove("price")),
            Some("answer-amount") => members["price"]["amount"] = json!(79),
            Some("answer-service") => drop(members.insert("service".to_owned(), json!("door"))),
            Some("answer-label") => drop(members.insert("label".to_owned(), "x".repeat(201).into())),
            _ => {}
        }
    }

    fn parcel(&self, body: &Map<String, Value>) -> Checked {
        let is = |fault: &str, holds: bool, member: &str| {
            if holds || self.breaks(fault) { Ok(()) } else { Err(format(member)) }
        };
        let given = |member: &str| body.get(member).filter(|value| !value.is_null());
        is("recipient-missing", given("recipient").is_some(), "recipient")?;
        for person in ["recipient", "sender"] {
            given(person).map_or(Ok(()), |value| self.person(value, person))?;
        }
        let weight = &body.get("weight").cloned().unwrap_or_default();
        let is_number = weight.is_i64() || self.breaks("weight-type") && weight.is_string();
        is("", is_number, "weight")?;
        if let Some(grams) = weight.as_i64() {
            is("weight-least", grams >= 1, "weight")?;
            let most = if self.breaks("weight-too-low") { 29_999 } else { 30_000 };
            is("weight-most", grams <= most, "weight")?;
        }
        let size = given("size").and_then(Value::as_str);
        let sizes = ["S", "M", "L", "XL"];
        let is_size = |size: &str| sizes.contains(&size) || self.breaks("size-listed");
        is("", size.is_some_and(is_size), "size")?;
        let is_heavy = weight.as_i64().is_some_and(|grams| grams > 20_000);
        let is_large = size.is_none_or(|size| ["L", "XL"].contains(&size));
        let is_small = self.breaks("size-heavy-small") && size == Some("S");
        is("size-heavy", !is_heavy || is_large || is_small, "size")?;
        let service = given("service").and_then(Value::as_str).unwrap_or_default();
        let known = ["door", "office", "locker"];
        let in_capitals = self.breaks("service-capitals") && known.contains(&&*service.to_lowercase());
        is("", known.contains(&service) || in_capitals, "service")?;
        let office = given("officeId");
        if service == "office" {
            is("office-id-required", office.is_some(), "officeId")?;
            let is_office = |office: &Value| office.as_str().is_some_and(|id| is_id(id, 'O', 4));
            is("office-id-form", office.is_none_or(is_office), "officeId")?;
        } else {
            is("office-id-absent", office.is_none(), "officeId")?;
        }
        let phone = given("recipient").and_then(|recipient| recipient.get("phone"));
        is("phone-required", service != "locker" || phone.is_some(), "phone")?;
        self.contents(given("contents").and_then(Value::as_array))?;
        given("insured").map_or(Ok(()), |insured| self.money(insured))?;
        given("pickupOn").map_or(Ok(()), |day| self.pickup(day))?;
        let reference = given("reference").map(|text| text.as_str().map_or(0, |text| text.chars().count()));
        is("reference-length", reference.is_none_or(|length| length <= 35), "reference")?;
        is("", reference.is_none_or(|length| length >= 1), "reference")?;
        let note = given("note").map(|note| note.as_str().is_some_and(|note| note.chars().count() <= 100));
        is("note-length", note.unwrap_or(true), "note")
    }

    fn person(&self, person: &Value, place: &str) -> Checked {
        let is = |fault: &str, holds: bool| {
            if holds || self.breaks(fault) { Ok(()) } else { Err(format(place)) }
        };
        let text = |member: &str| person.get(member).and_then(Value::as_str);
        let length = |member: &str, most: usize| {
            text(member).is_some_and(|text| (1..=most).contains(&text.chars().count()))
        };
        // A fault that is made for senders alone.
        let is_unseen = place == "sender" && self.breaks("sender-unread");
        is(
            "",
            length("name", 40)
                || is_unseen
                || self.breaks("name-length") && text("name").is_some_and(|name| !name.is_empty()),
        )?;
        let is_street =
            length("street", 60) || self.breaks("street-missing") && person.get("street").is_none();
        is("", is_street || is_unseen)?;
        let postcode =
            text("postcode").is_some_and(|code| is_digits(code, 4..=4) || self.breaks("postcode-form"));
        is("", postcode || is_unseen)?;
        let country = text("country").is_some_and(|code| is_country(code) || self.breaks("country-listed"));
        is("", country || is_unseen)?;
        let phone = person.get("phone").map(|phone| phone.as_str().unwrap_or_default());
        let is_phone = |phone: &str| phone.strip_prefix('+').is_some_and(|digits| is_digits(digits, 8..=12));
        is("phone-form", phone.is_none_or(is_phone))
    }

    fn contents(&self, contents: Option<&Vec<Value>>) -> Checked {
        let wrong = || Err(format("contents"));
        let Some(items) = contents else { return wrong() };
        let most = if self.breaks("contents-limit") { 6 } else { 5 };
        if items.len() > most || (items.is_empty() && !self.breaks("contents-empty")) {
            return wrong();
        }
        let mut seen = Vec::new();
        for item in items {
            let what = item.get("what").and_then(Value::as_str).unwrap_or_default();
            let pieces = item.get("pieces").and_then(Value::as_u64);
            let is_what = (1..=30).contains(&what.chars().count());
            // Items that follow each other, or all of them.
            let is_known = match self.fault {
                Some("contents-distinct") => false,
                Some("contents-distinct-beside") => seen.last() == Some(&what),
                _ => seen.contains(&what),
            };
            let is_number =
                pieces.is_some_and(|pieces| pieces >= 1 && (pieces <= 99 || self.breaks("pieces-most")));
            if !is_what || !is_number || is_known {
                return wrong();
            }
            seen.push(what);
        }
        Ok(())
    }

    fn money(&self, money: &Value) -> Checked {
        let amount = money.get("amount").and_then(Value::as_str).and_then(|text| text.split_once('.'));
        let fraction = if self.breaks("amount-digits") { 1..=3 } else { 2..=2 };
        let is_amount =
            amount.is_some_and(|(whole, part)| is_digits(whole, 1..=4) && is_digits(part, fraction));
        let currency = money.get("currency").and_then(Value::as_str);
        let is_listed = currency.is_some_and(|code| {
            ["EUR", "NOK", "SEK", "DKK"].contains(&code) || self.breaks("currency-listed")
        });
        if is_amount && is_listed { Ok(()) } else { Err(format("insured")) }
    }

    fn pickup(&self, day: &Value) -> Checked {
        let today = self.now.date_naive();
        let most = today + Days::new(if self.breaks("pickup-range") { 15 } else { 14 });
        let day = day.as_str().unwrap_or_default();
        let is_form = day.len() == 10 && day.split('-').count() == 3;
        match NaiveDate::parse_from_str(day, "%Y-%m-%d") {
            Ok(day) if (today..=most).contains(&day) => Ok(()),
            Err(_) if is_form && self.breaks("pickup-date") => Ok(()),
            _ => Err(format("pickupOn")),
        }
    }

    // The other operations.

    fn track(&self, id: &str, asked: &Asked<'_>) -> Result<(u16, Value), Refusal> {
        let parameter = |name: &str| asked.query.get(name).map(String::as_str);
        let events = parameter("events").is_none_or(|events| ["all", "last"].contains(&events));
        let most = if self.breaks("limit-most") { 99 } else { 50 };
        let is_number =
            |text: &str| is_digits(text, 1..=2) && text.parse().is_ok_and(|n: u32| (1..=most).contains(&n));
        if !events && !self.breaks("events-listed") || !parameter("limit").is_none_or(is_number) {
            return Err(format("query"));
        }
        let mut parcel = match self.known(id) {
            Err(_) if self.breaks("track-unknown") => return Ok((200, self.any())),
            parcel => parcel?,
        };
        if self.breaks("track-other") {
            parcel["parcelId"] = "P00000000000".into();
        }
        let mut events = vec![json!({"at": self.now.to_rfc3339(), "what": "handed over"})];
        if self.uses("talkative") {
            events.insert(0, json!({"at": self.now.to_rfc3339(), "what": "weighed"}));
        }
        if !self.breaks("answer-events") {
            parcel["events"] = events.into();
        }
        Ok((200, parcel))
    }

    /// Some parcel.
    fn any(&self) -> Value {
        let parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parcel = parcels.values().next().cloned().unwrap_or_default();
        parcel["events"] = json!([]);
        parcel
    }

    fn known(&self, id: &str) -> Result<Value, Refusal> {
        let parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
        let status = if self.breaks("unknown-status") { 400 } else { 404 };
        parcels.get(id).cloned().ok_or_else(|| Refusal(status, "UNKNOWN", "no such parcel".to_owned()))
    }

    fn cancel(&self, id: &str) -> Result<(u16, Value), Refusal> {
        let mut parcel = self.known(id)?;
        if parcel["state"] == "cancelled" && !self.breaks("cancel-twice") {
            return Err(Refusal(409, "STATE", "it is cancelled already".to_owned()));
        }
        parcel["state"] = "cancelled".into();
        if !self.breaks("answer-cancelled-on") {
            parcel["cancelledOn"] = self.now.date_naive().to_string().into();
        }
        if !self.breaks("cancel-kept") {
            let mut parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
            parcels.insert(id.to_owned(), parcel.clone());
        }
        Ok((200, parcel))
    }

    fn moved(&self, id: &str, body: &[u8]) -> Result<(u16, Value), Refusal> {
        let mut parcel = self.known(id)?;
        let body: Value = serde_json::from_slice(body).map_err(|_| format("body"))?;
        if !self.breaks("pickup-unread") {
            self.pickup(&body["pickupOn"])?;
        }
        if self.breaks("pickup-other") {
            parcel["parcelId"] = "P00000000000".into();
        }
        Ok((200, parcel))
    }

    fn offices(&self, asked: &Asked<'_>) -> Result<(u16, Value), Refusal> {
        if self.breaks("offices-signed") {
            self.let_in(asked)?;
        }
        if self.breaks("offices-headers") && asked.headers.contains_key("signature") {
            self.signature(asked)?;
        }
        let country = asked.query.get("country").map(String::as_str);
        let is_known = country.is_some_and(is_country)
            || self.breaks("offices-country") && country.is_some_and(|code| code.len() == 2);
        if !is_known || asked.query.get("postcode").is_some_and(|code| !is_digits(code, 4..=4)) {
            return Err(format("query"));
        }
        let lockers = if self.breaks("answer-lockers") { json!("no") } else { json!(false) };
        let office = json!({"officeId": "O0001", "name": "Station", "lockers": lockers});
        let offices = if self.uses("terse") { json!([]) } else { json!([office]) };
        Ok((200, json!({"offices": offices})))
    }
}

/// Whether a text has this RSA-SHA256 signature, in base64.
fn verifies(certificate: &Certificate, text: &str, signature: &str) -> bool {
    let Ok(signature) = BASE64_STANDARD.decode(signature) else { return false };
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let all = provider.signature_verification_algorithms.all;
    let known = all.iter().filter(|known| known.signature_alg_id() == alg_id::RSA_PKCS1_SHA256);
    let key = certificate.rsa_public_key().unwrap_or_default();
    known.into_iter().any(|known| known.verify_signature(key, text.as_bytes(), &signature).is_ok())
}

/// A rule of a member or parameter is broken.
fn format(member: &str) -> Refusal {
    Refusal(400, "FORMAT", format!("{member} breaks a rule"))
}

fn is_country(code: &str) -> bool {
    ["NO", "SE", "DK", "FI", "IS"].contains(&code)
}

fn is_digits(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_id(text: &str, letter: char, digits: usize) -> bool {
    text.strip_prefix(letter).is_some_and(|rest| is_digits(rest, digits..=digits))
}
