//! A parcel desk, written by hand from its document alone (`fixtures/packs/parcels`). It conforms, or has one
//! named fault, or uses one freedom of the document in another way.

mod entrance;
mod rules;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use xs2aspec_signing::Certificate;

/// A received request.
pub(super) struct Asked<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: BTreeMap<String, String>,
    /// Headers by lowercase name.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: &'a [u8],
}

/// A rejection with its status, code and text.
struct Refusal(u16, &'static str, String);

type Checked = Result<(), Refusal>;

/// A desk and its parcels.
pub(super) struct Desk {
    /// The fault, one of [`super::faults::FAULTS`].
    fault: Option<&'static str>,
    /// The freedom, one of [`super::faults::FREEDOMS`].
    freedom: Option<&'static str>,
    /// The certificate of the admitted client.
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

    /// Returns the status and the body of the response.
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

    pub(super) fn uses(&self, freedom: &str) -> bool {
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

    /// Applies a fault to the response itself.
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

    /// Returns some parcel.
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

/// Returns the rejection for a field or parameter that violates a rule.
fn format(member: &str) -> Refusal {
    Refusal(400, "FORMAT", format!("{member} breaks a rule"))
}

fn is_country(code: &str) -> bool {
    ["NO", "SE", "DK", "FI", "IS"].contains(&code)
}

fn is_digits(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
