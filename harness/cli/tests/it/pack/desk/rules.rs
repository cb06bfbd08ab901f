//! The rules for a parcel that is handed over.

use chrono::{Days, NaiveDate};
use serde_json::{Map, Value};

use super::{Checked, Desk, format, is_country, is_digits};

impl Desk {
    pub(super) fn parcel(&self, body: &Map<String, Value>) -> Checked {
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
            let is_unseen = self.breaks("weight-at-locker") && body.get("service") == Some(&"locker".into());
            is("weight-least", grams >= 1 || is_unseen, "weight")?;
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
        let of_sender = given("sender").and_then(|sender| sender.get("phone"));
        let is_any = phone.is_some() || self.breaks("phone-of-sender") && of_sender.is_some();
        is("phone-required", service != "locker" || is_any, "phone")?;
        self.contents(given("contents").and_then(Value::as_array))?;
        given("insured").map_or(Ok(()), |insured| self.money(insured))?;
        given("pickupOn").map_or(Ok(()), |day| self.pickup(day))?;
        let reference = given("reference").map(|text| text.as_str().map_or(0, |text| text.chars().count()));
        is("reference-length", reference.is_none_or(|length| length <= 35), "reference")?;
        is("", reference.is_none_or(|length| length >= 1), "reference")?;
        let together = given("insured").is_some() && given("reference").is_some();
        is("", !(together && self.breaks("insured-with-reference")), "reference")?;
        let length = |text: &str| if self.breaks("note-bytes") { text.len() } else { text.chars().count() };
        let is_note = |note: &str| length(note) <= 100 || self.breaks("note-length");
        is("", given("note").is_none_or(|note| note.as_str().is_some_and(is_note)), "note")
    }

    fn person(&self, person: &Value, place: &str) -> Checked {
        let is = |fault: &str, holds: bool| {
            if holds || self.breaks(fault) { Ok(()) } else { Err(format(place)) }
        };
        let text = |member: &str| person.get(member).and_then(Value::as_str);
        let length = |member: &str, most: usize| {
            text(member).is_some_and(|text| (1..=most).contains(&text.chars().count()))
        };
        // A fault for senders only.
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
        let postcode = text("postcode")
            .is_some_and(|code| is_digits(code, 4..=4) || self.breaks("postcode-form"))
            || self.breaks("postcode-numeric")
                && text("postcode").is_some_and(|code| code.chars().filter(|c| c.is_numeric()).count() == 4);
        is("", postcode || is_unseen)?;
        let country = text("country").is_some_and(|code| is_country(code) || self.breaks("country-listed"));
        let is_any = place == "sender" && self.breaks("country-of-sender") && text("country").is_some();
        is("", country || is_unseen || is_any)?;
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
            let as_text = item.get("pieces").and_then(Value::as_str).and_then(|text| text.parse().ok());
            let pieces = if self.breaks("pieces-type") { pieces.or(as_text) } else { pieces };
            if self.breaks("items-unread") && !seen.is_empty() && !seen.contains(&what) {
                continue;
            }
            let is_what = (1..=30).contains(&what.chars().count());
            // Adjacent items, or all of them.
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
        let is_amount = amount.is_some_and(|(whole, part)| {
            let whole = if self.breaks("amount-plus") { whole.trim_start_matches('+') } else { whole };
            is_digits(whole, 1..=4) && is_digits(part, fraction)
        });
        let currency = money.get("currency").and_then(Value::as_str);
        let is_listed = currency.is_some_and(|code| {
            ["EUR", "NOK", "SEK", "DKK"].contains(&code) || self.breaks("currency-listed")
        });
        if is_amount && is_listed { Ok(()) } else { Err(format("insured")) }
    }

    pub(super) fn pickup(&self, day: &Value) -> Checked {
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
}

fn is_id(text: &str, letter: char, digits: usize) -> bool {
    text.strip_prefix(letter).is_some_and(|rest| is_digits(rest, digits..=digits))
}
