//! Fills the placeholders of a request when it is sent: values of the target, fresh ids, dates, digests and signatures.
//!
//! Clock and seed are arguments: the same seed, clock and case give the same bytes.

use std::{cell::RefCell, collections::BTreeMap};

use chrono::{DateTime, Datelike, Days, NaiveDate, Utc, Weekday};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use xs2aspec_suite::{BodySpec, RequestSpec, template};

use crate::{profile::Profile, seal::Seal};

/// A request as bytes: what is digested, signed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// HTTP method.
    pub method: String,
    /// Whole URL.
    pub url: String,
    /// Header fields in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// Body; empty for none.
    pub body: Vec<u8>,
    /// Whether the header section must go out exactly so.
    pub exact: bool,
}

/// Why a request cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// The profile lacks a value.
    #[error("the target profile has no `{0}`")]
    NotOffered(String),
    /// The request cannot be made; a defect of the suite.
    #[error("{0}")]
    Defect(String),
}

/// What a request is filled from.
#[derive(Debug, Clone, Copy)]
pub struct Filler<'a> {
    /// The target.
    pub profile: &'a Profile,
    /// Digests and signs.
    pub seal: &'a Seal,
    /// Seed of fresh ids.
    pub seed: u64,
    /// The run's clock.
    pub now: DateTime<Utc>,
    /// Id of the case.
    pub case: &'a str,
    /// Name of the step, with its number where it is sent several times.
    pub step: &'a str,
    /// Values kept from earlier answers, by `STEP.KEY`.
    pub kept: &'a BTreeMap<String, Value>,
}

impl Filler<'_> {
    /// Fills, digests and signs.
    pub fn fill(&self, spec: &RequestSpec) -> Result<Filled, FillError> {
        let body = self.body(&spec.body)?;
        let url = self.url(spec)?;
        let mut headers = Vec::with_capacity(spec.headers.len());
        let mut unsigned = Vec::new();
        for (name, value) in &spec.headers {
            if template::names(value).iter().any(|name| name == "signature") {
                unsigned.push(headers.len());
            }
            headers.push((name.clone(), text(self.value(value, Some(&body))?)));
        }
        if !unsigned.is_empty() {
            let others: Vec<(String, String)> = headers
                .iter()
                .enumerate()
                .filter(|(at, _)| !unsigned.contains(at))
                .map(|(_, header)| header.clone())
                .collect();
            let signature = self.seal.signature(&others, &spec.signing).map_err(FillError::Defect)?;
            for at in unsigned {
                headers[at].1 = headers[at].1.replace("${signature}", &signature);
            }
        }
        // The client behind the plain path adds an Accept header where there is none.
        let exact = spec.exact || spec.header("accept").is_none();
        Ok(Filled { method: spec.method.clone(), url, headers, body, exact })
    }

    fn body(&self, body: &BodySpec) -> Result<Vec<u8>, FillError> {
        match body {
            BodySpec::None => Ok(Vec::new()),
            BodySpec::Raw(raw) => Ok(text(self.value(raw, None)?).into_bytes()),
            BodySpec::Json(value, repeats) => {
                let value = self.value(value, None)?;
                let mut again = BTreeMap::<&str, Vec<(String, Value)>>::new();
                for (pointer, value) in repeats {
                    let (parent, key) = pointer.rsplit_once('/').unwrap_or(("", pointer));
                    again
                        .entry(parent)
                        .or_default()
                        .push((key.replace("~1", "/").replace("~0", "~"), self.value(value, None)?));
                }
                let mut out = Vec::new();
                write_json(&value, "", &again, &mut out);
                Ok(out)
            }
        }
    }

    /// Values put into a path or query are percent-encoded but for unreserved characters (RFC 3986 section 2.3).
    fn url(&self, spec: &RequestSpec) -> Result<String, FillError> {
        let path = self.profile.paths.get(&spec.operation).unwrap_or(&spec.path);
        let path =
            self.expand(&Value::String(path.clone()), None, &|value| Value::String(encode(&text(value))))?;
        let mut url = format!("{}{}", self.profile.base_url, text(path));
        for (index, (name, value)) in spec.query.iter().enumerate() {
            let value = text(self.value(value, None)?);
            url.push(if index == 0 { '?' } else { '&' });
            url.push_str(&encode(name));
            url.push('=');
            url.push_str(&encode(&value));
        }
        Ok(url)
    }

    fn value(&self, value: &Value, body: Option<&[u8]>) -> Result<Value, FillError> {
        self.expand(value, body, &|value| value)
    }

    fn expand(
        &self,
        value: &Value,
        body: Option<&[u8]>,
        map: &dyn Fn(Value) -> Value,
    ) -> Result<Value, FillError> {
        let failure = RefCell::new(None);
        let filled = template::expand(value, &|name| match self.lookup(name, body) {
            Ok(Some(value)) => Some(map(value)),
            Ok(None) => None,
            Err(error) => {
                failure.borrow_mut().get_or_insert(error);
                None
            }
        });
        match failure.into_inner() {
            Some(error) => Err(error),
            None => filled.and_then(template::compute).map_err(|error| FillError::Defect(error.to_string())),
        }
    }

    /// The value of a placeholder; `None` for `signature`, which is filled last.
    fn lookup(&self, name: &str, body: Option<&[u8]>) -> Result<Option<Value>, FillError> {
        let defect = |what: &str| FillError::Defect(format!("`${{{name}}}`: {what}"));
        let rest = name.get(template::head(name).len() + 1..).unwrap_or_default();
        let value = match template::head(name) {
            "target" => self.profile.value(rest).ok_or_else(|| FillError::NotOffered(rest.to_owned()))?,
            "fresh" => Value::String(self.fresh(rest).to_string()),
            "number" => {
                let digits = rest.parse().ok().filter(|digits| (1..=18).contains(digits));
                let digits = digits.ok_or_else(|| defect("expected `number.DIGITS` from 1 to 18"))?;
                Value::String(self.number(digits).to_string())
            }
            "day" => {
                Value::String(self.day(rest).ok_or_else(|| defect("expected `day+NUMBER`"))?.to_string())
            }
            "workday" => {
                let day = self.day(rest).ok_or_else(|| defect("expected `workday+NUMBER`"))?;
                Value::String(workday(day).to_string())
            }
            // IMF-fixdate, RFC 9110 section 5.6.7.
            "now" => Value::String(self.now.format("%a, %d %b %Y %H:%M:%S GMT").to_string()),
            "certificate" => Value::String(self.seal.certificate_header().to_owned()),
            "digest" => {
                let body = body.ok_or_else(|| defect("a digest can only stand in a header"))?;
                Value::String(
                    Seal::digest(rest, body)
                        .ok_or_else(|| defect("known are digest.sha-256 and digest.sha-512"))?,
                )
            }
            "signature" => return Ok(None),
            _ => self.kept.get(name).cloned().ok_or_else(|| defect("nothing was kept under this name"))?,
        };
        Ok(Some(value))
    }

    /// A UUID that no other case, step or run with another seed has.
    fn fresh(&self, name: &str) -> uuid::Uuid {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        for part in [self.case, self.step, name] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// A number with so many digits, the first of which is not zero. Amounts differ by it from case to case, so that no payment
    /// is a logical duplicate of another (the document leaves open what that is).
    fn number(&self, digits: u32) -> u64 {
        let (high, low) = self.fresh(&format!("number.{digits}")).as_u64_pair();
        let least = 10_u64.pow(digits - 1);
        least + (high ^ low) % (9 * least)
    }

    fn day(&self, days: &str) -> Option<NaiveDate> {
        self.now.date_naive().checked_add_days(Days::new(days.parse().ok()?))
    }
}

/// The first Wednesday from this day on that is no holiday with a fixed date. Every holiday that moves with Easter, and every
/// weekend, falls on another day, so that no calendar of bank holidays need be known.
fn workday(from: NaiveDate) -> NaiveDate {
    const FIXED: [(u32, u32); 8] = [(1, 1), (5, 1), (5, 17), (6, 23), (12, 24), (12, 25), (12, 26), (12, 31)];
    from.iter_days()
        .find(|day| day.weekday() == Weekday::Wed && !FIXED.contains(&(day.month(), day.day())))
        .unwrap_or(from)
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn encode(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// Compact JSON, with members that are written a second time at the end of their object.
fn write_json(value: &Value, pointer: &str, again: &BTreeMap<&str, Vec<(String, Value)>>, out: &mut Vec<u8>) {
    if again.is_empty() {
        out.extend_from_slice(value.to_string().as_bytes());
        return;
    }
    match value {
        Value::Object(members) => {
            let twice = again.get(pointer).into_iter().flatten();
            let all = members
                .iter()
                .map(|member| (member, true))
                .chain(twice.map(|(key, value)| ((key, value), false)));
            out.push(b'{');
            for (index, ((key, member), first)) in all.enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(Value::String(key.clone()).to_string().as_bytes());
                out.push(b':');
                // What is written a second time is written whole.
                let below = if first { format!("{pointer}/{key}") } else { "\0".to_owned() };
                write_json(member, &below, again, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_json(item, &format!("{pointer}/{index}"), again, out);
            }
            out.push(b']');
        }
        scalar => out.extend_from_slice(scalar.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_workday_is_never_a_weekend_a_moving_holiday_or_a_fixed_one() {
        let start = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        for day in start.iter_days().take(4000) {
            let found = workday(day);
            assert_eq!(found.weekday(), Weekday::Wed);
            assert!((found - day).num_days() < 21, "{day} {found}");
        }
        // 17 May 2028 and 24 December 2031 are Wednesdays.
        assert_eq!(
            workday(NaiveDate::from_ymd_opt(2028, 5, 17).unwrap()),
            NaiveDate::from_ymd_opt(2028, 5, 24).unwrap()
        );
        assert_eq!(
            workday(NaiveDate::from_ymd_opt(2031, 12, 24).unwrap()),
            NaiveDate::from_ymd_opt(2032, 1, 7).unwrap()
        );
    }

    #[test]
    fn path_values_are_percent_encoded() {
        assert_eq!(encode("a!b=c/æ"), "a%21b%3Dc%2F%C3%A6");
    }

    #[test]
    fn a_member_can_be_written_twice() {
        let again = BTreeMap::from([
            ("/a", vec![("b".to_owned(), json!({"c": 1}))]),
            ("", vec![("d".to_owned(), json!(2))]),
        ]);
        let mut out = Vec::new();
        write_json(&json!({"a": {"b": 3, "x": [1]}, "d": 1}), "", &again, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":{"b":3,"x":[1],"b":{"c":1}},"d":1,"d":2}"#);
    }
}
