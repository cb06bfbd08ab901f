//! Fills the placeholders of a request when it is sent: values of the profile, fresh ids, dates, digests and
//! signatures.
//!
//! Clock and identity are arguments: the same identity, clock and case give the same bytes.

mod calendar;
mod json;

use std::{cell::RefCell, collections::BTreeMap};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use xs2aspec_signing::{
    RequestTarget,
    encoded_word::{self, Charset, Encoding},
    signature_header::SignatureHeaderError,
};
use xs2aspec_suite::{BodySpec, Party, RequestSpec, Signing, Wrap, request, template};

use self::{
    calendar::{leap_day, month_end, workday, workday_of_month, year_end},
    json::write_json,
};
pub use crate::wire_request::WireRequest;
use crate::{
    identity::Root,
    profile::Profile,
    request_cache::RequestCache,
    request_signer::{RequestSigner, SignError, word},
    scope::Scope,
};

/// Longest body, in bytes, that is sent through the pooled client. Few servers stop reading before this size.
const MOST_POOLED: usize = 64 * 1024;

/// The placeholder for the Signature header that signing creates.
const SIGNATURE: &str = "${signature}";

/// The step name used for values that all requests of a case share.
const SHARED: &str = "";

/// The part of a step name that marks a request resent with other values.
pub(crate) const OTHER_VALUES: &str = "/other-values-";

/// The reason why a request cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// The profile lacks a value.
    #[error("the target profile has no `{0}`")]
    NotOffered(String),
    /// The request does not apply to this target, for this reason.
    #[error("{0}")]
    NotApplicable(String),
    /// A value from a response or the profile cannot be used in the request, for this reason.
    #[error("{0}")]
    Unusable(String),
    /// The request cannot be built, which is a defect of the suite.
    #[error("{0}")]
    Defect(String),
}

/// The inputs for filling a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestBuilder<'a> {
    /// The bank profile.
    pub profile: &'a Profile,
    /// The signer, which also computes digests.
    pub request_signer: &'a RequestSigner,
    /// The root of all ids and amounts.
    pub root: Root,
    /// The clock of the run.
    pub now: DateTime<Utc>,
    /// Id of the case.
    pub case: &'a str,
    /// Name of the step, with a number if it is sent several times.
    pub step: &'a str,
    /// The number of times that the request was sent, this time included.
    pub attempt: u32,
    /// Values kept from earlier responses, by `STEP.KEY`.
    pub kept: &'a BTreeMap<String, Value>,
    /// Signatures made earlier, when other targets get the same requests.
    pub signatures: Option<&'a RequestCache>,
}

impl RequestBuilder<'_> {
    /// Fills, digests and signs a request.
    pub fn fill(&self, spec: &RequestSpec) -> Result<WireRequest, FillError> {
        let body = self.body(&spec.body)?;
        let mut signing = self.signing(&spec.signing)?;
        let context =
            Context { body: Some(&body), certificate: signing.certificate, of: of(spec), signature: None };
        let url = self.url(spec)?;
        let mut headers = Vec::with_capacity(spec.headers.len());
        let (mut unsigned, mut others) = (Vec::new(), Vec::new());
        for (name, value) in spec.headers.iter() {
            if template::names(value).iter().any(|name| template::head(name) == "signature") {
                unsigned.push((headers.len(), value));
                headers.push((name.clone(), String::new()));
                continue;
            }
            let header = (name.clone(), text(self.value(value, context)?));
            others.push(header.clone());
            headers.push(header);
        }
        if !unsigned.is_empty() {
            let target = target_of(&spec.method, &url);
            // Text around a signature is in the same header, which is wrapped as a whole.
            let is_plain = unsigned.iter().all(|(_, value)| value.as_str() == Some(SIGNATURE));
            let whole = signing.wrap.filter(|_| !is_plain).and_then(word);
            if whole.is_some() || !is_plain && signing.wrap.is_none() {
                signing.wrap = Some(Wrap::Never);
            }
            let sign = || self.sign(&others, target, &signing);
            // A case with its own list of signed headers may sign the request target, which the cache does
            // not compare.
            let signature = match self.signatures.filter(|_| signing.headers.is_none()) {
                Some(known) => known.get_or_sign((self.case, self.step), &others, sign)?,
                None => sign()?,
            };
            let context = Context { signature: Some(&signature), ..context };
            for (at, value) in unsigned {
                let value = text(self.value(value, context)?);
                headers[at].1 = match signing.wrap {
                    _ if whole.is_none() && value.is_ascii() => value,
                    // The case requires a header that is not wrapped.
                    Some(Wrap::SignatureAlone) => return Err(wrapped()),
                    Some(Wrap::Never) if is_plain => return Err(wrapped()),
                    _ => {
                        let (charset, encoding) = whole.unwrap_or((Charset::Utf8, Encoding::B));
                        let unfit = |error: encoded_word::EncodedWordError| match whole {
                            Some(_) => FillError::NotApplicable(error.to_string()),
                            None => FillError::Defect(error.to_string()),
                        };
                        encoded_word::wrap(&value, charset, encoding).map_err(unfit)?
                    }
                };
            }
        }
        for (name, value) in &self.profile.headers {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                headers.push((name.clone(), value.clone()));
            }
        }
        // The pooled client adds an Accept header if there is none. It also gives up on a body that the
        // server does not read to the end, while the exact client still reads the response. A custom Host is
        // sent unchanged.
        let is_own = spec.header("accept").is_none()
            || ["host", "transfer-encoding"].iter().any(|name| spec.header(name).is_some());
        let exact = spec.exact || is_own || body.len() > MOST_POOLED;
        // Both clients spell names alike, so that a bank that expects one spelling (RFC 9110 section 5.1)
        // sees no other difference. The history then has the names as sent.
        for (name, _) in headers.iter_mut().filter(|(name, _)| !spec.spelled.contains(name)) {
            *name = in_title_case(name);
        }
        Ok(WireRequest { method: spec.method.clone(), url, headers, body, exact })
    }

    fn body(&self, body: &BodySpec) -> Result<Vec<u8>, FillError> {
        match body {
            BodySpec::None => Ok(Vec::new()),
            BodySpec::Raw(raw) => {
                let raw = self.value(raw, Context::NONE)?;
                Ok(template::as_bytes(&raw).unwrap_or_else(|| text(raw).into_bytes()))
            }
            BodySpec::Json(value, repeats) => {
                let value = self.value(value, Context::NONE)?;
                let mut again = BTreeMap::<&str, Vec<(String, Value)>>::new();
                for (pointer, value) in repeats {
                    let (parent, key) = pointer.rsplit_once('/').unwrap_or(("", pointer));
                    again
                        .entry(parent)
                        .or_default()
                        .push((key.replace("~1", "/").replace("~0", "~"), self.value(value, Context::NONE)?));
                }
                let mut out = Vec::new();
                write_json(&value, "", &again, &mut out);
                Ok(out)
            }
        }
    }

    /// Returns the URL, which is below the base URL. Percent-encodes all but unreserved characters in path
    /// and query values (RFC 3986 section 2.3).
    fn url(&self, spec: &RequestSpec) -> Result<String, FillError> {
        let scope =
            Scope::new(&self.profile.base_url).map_err(|error| FillError::Defect(error.to_string()))?;
        let path = self.profile.paths.get(&spec.operation).unwrap_or(&spec.path);
        let name = path.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
        let mut url = self.profile.base_url.clone();
        if let Some((name, link)) = name.and_then(|name| Some((name, self.kept.get(name)?))) {
            let link = text(link.clone());
            // A preview has the name of the link instead of its value.
            if link != format!("<{name}>") {
                return Self::link(&scope, &link);
            }
            url.push('/');
            url.push_str(&encode(&link));
        } else {
            url.push_str(&self.path(path)?);
        }
        for (index, (name, value)) in spec.query.iter().enumerate() {
            let value = text(self.value(value, Context::NONE)?);
            url.push(if index == 0 { '?' } else { '&' });
            url.push_str(&encode(name));
            url.push('=');
            url.push_str(&encode(&value));
        }
        scope.admit(&url).map_err(|error| FillError::Defect(error.to_string()))?;
        Ok(url)
    }

    /// Fills a path. Returns an error for an empty value or a dot segment, which would change the path (RFC
    /// 3986 section 5.2.4) and cannot be encoded.
    fn path(&self, path: &str) -> Result<String, FillError> {
        let unusable = RefCell::new(None);
        let encoded = |value: Value| {
            let is_id = matches!(&value, Value::String(_) | Value::Number(_));
            let value = text(value);
            let has_dots = value.split(['/', '\\']).any(|segment| [".", ".."].contains(&segment));
            if !is_id || value.is_empty() || has_dots {
                unusable.borrow_mut().get_or_insert_with(|| value.clone());
            }
            Value::String(encode(&value))
        };
        let filled = text(self.expand(&Value::from(path), Context::NONE, &encoded)?);
        match unusable.into_inner() {
            Some(value) => Err(FillError::Unusable(format!("{value:?} cannot be part of the path {path}"))),
            None if request::is_path(&filled) => Ok(filled),
            None => {
                Err(FillError::Defect(format!("the path {filled} does not start with exactly one slash")))
            }
        }
    }

    /// Returns the URL of a link in a response. Returns an error if it leaves the base URL, because only
    /// requests to the target are signed.
    fn link(scope: &Scope, link: &str) -> Result<String, FillError> {
        let away = || FillError::NotApplicable(format!("the link {link:?} is outside the base URL"));
        scope.resolve(link).map(String::from).ok_or_else(away)
    }

    fn signing(&self, signing: &Signing) -> Result<Signing, FillError> {
        let defect = |error: serde_json::Error| FillError::Defect(format!("`signing`: {error}"));
        let context = Context { certificate: signing.certificate, ..Context::NONE };
        let filled = self.value(&serde_json::to_value(signing).map_err(defect)?, context)?;
        serde_json::from_value(filled).map_err(defect)
    }

    fn sign(
        &self,
        headers: &[(String, String)],
        target: Option<RequestTarget>,
        signing: &Signing,
    ) -> Result<String, FillError> {
        self.request_signer.signature(headers, target, signing).map_err(|error| match error {
            // Another certificate could be sent this way.
            SignError::Header(SignatureHeaderError::EncodedWord(error)) => FillError::NotApplicable(format!(
                "the issuer of the certificate cannot be written in this character set: {error}"
            )),
            error => FillError::Defect(error.to_string()),
        })
    }

    fn value(&self, value: &Value, context: Context<'_>) -> Result<Value, FillError> {
        self.expand(value, context, &|value| value)
    }

    fn expand(
        &self,
        value: &Value,
        context: Context<'_>,
        map: &dyn Fn(Value) -> Value,
    ) -> Result<Value, FillError> {
        let failure = RefCell::new(None);
        let filled = template::expand(value, &|name| match self.lookup(name, context) {
            Ok(Some(value)) => Some(map(value)),
            Ok(None) => None,
            Err(error) => {
                failure.borrow_mut().get_or_insert(error);
                None
            }
        });
        match failure.into_inner() {
            Some(error) => Err(error),
            None => filled.and_then(template::compute).map_err(|error| match error {
                // The ending of a profile value is the bank's decision.
                template::ExpandError::NoSuchEnd(..) => FillError::NotApplicable(error.to_string()),
                error => FillError::Defect(error.to_string()),
            }),
        }
    }

    /// Returns the value of a placeholder. Returns None for `signature` before it is made.
    fn lookup(&self, name: &str, context: Context<'_>) -> Result<Option<Value>, FillError> {
        let defect = |what: &str| FillError::Defect(format!("`${{{name}}}`: {what}"));
        let rest = name.get(template::head(name).len() + 1..).unwrap_or_default();
        Ok(Some(Value::String(match template::head(name) {
            "target" => {
                let own = context.of.filter(|_| !rest.contains('.')).map(|entry| format!("{entry}.{rest}"));
                let own = own.and_then(|own| self.profile.values.get(&own));
                let value = own.or_else(|| self.profile.values.get(rest));
                value.ok_or_else(|| FillError::NotOffered(rest.to_owned()))?.clone()
            }
            "fresh" if self.attempt > 1 => {
                self.fresh(self.step, &format!("{rest}/attempt-{}", self.attempt)).to_string()
            }
            "fresh" => self.fresh(self.step, rest).to_string(),
            "shared" => self.fresh(SHARED, rest).to_string(),
            kind @ ("number" | "shared-number") => {
                let digits = rest.parse().ok().filter(|digits| (1..=18).contains(digits));
                let digits = digits.ok_or_else(|| defect("expected a number of digits from 1 to 18"))?;
                let step = if kind == "number" { self.step } else { SHARED };
                self.number(step, digits).to_string()
            }
            kind @ ("day" | "workday" | "month-end" | "year-end") => {
                let more = if kind == "day" { ", which may be negative" } else { "" };
                let known = || defect(&format!("expected `{kind}+NUMBER`{more}"));
                let day = self.day(rest).ok_or_else(known)?;
                match kind {
                    "workday" => workday(day),
                    "month-end" => month_end(day),
                    "year-end" => year_end(day),
                    _ => day,
                }
                .to_string()
            }
            "month-of" => {
                let known = "expected `month-of.28+NUMBER`, `month-of.30+NUMBER` or `month-of.31+NUMBER`";
                let found = rest.split_once('+').and_then(|(days, _)| {
                    let from = self.day(&rest[days.len() + 1..])?;
                    workday_of_month(from, days.parse().ok()?)
                });
                found.ok_or_else(|| defect(known))?.to_string()
            }
            "leap-day" => leap_day(self.now.date_naive()).to_string(),
            // IMF-fixdate, RFC 9110 section 5.6.7.
            "now" => self.now.format("%a, %d %b %Y %H:%M:%S GMT").to_string(),
            "host" => self.host(rest).ok_or_else(|| defect("expected host.capitals or host.with-port"))?,
            "certificate" => {
                let known = "expected certificate or certificate.other, alone or with .serial, .serial-decimal, .issuer, .subject or .pem";
                let (party, part) = match rest.strip_prefix("other") {
                    Some(part) => (Some(Party::Other), part.trim_start_matches('.')),
                    None => (context.certificate, rest),
                };
                self.request_signer.certificate(party, part).ok_or_else(|| defect(known))?
            }
            "digest" => {
                let body = context.body.ok_or_else(|| defect("a digest is allowed only in a header"))?;
                RequestSigner::digest(rest, body).ok_or_else(|| {
                    defect("expected digest.sha-256, alone or with .hexadecimal, .other-case, .other-begin or .other-end, digest.sha-512, alone or with the last two, or a bare hash: \
                         digest.sha-256.alone, digest.md5, digest.sha-1 or digest.sha-384")
                })?
            }
            "beginning" => {
                let whole = self.lookup(rest, context)?.map(text).unwrap_or_default();
                let why = "an id of digits alone may be the start of another id";
                let beginning = template::beginning(&whole);
                beginning.ok_or_else(|| FillError::NotApplicable(why.to_owned()))?.to_owned()
            }
            "signature" => {
                return match rest {
                    "" => Ok(context.signature.map(Value::from)),
                    "base64" => Ok(context.signature.map(|text| BASE64_STANDARD.encode(text).into())),
                    _ => Err(defect("expected signature or signature.base64")),
                };
            }
            _ => {
                let kept = self.kept.get(name).cloned();
                return kept.map(Some).ok_or_else(|| defect("no earlier step keeps a value with this name"));
            }
        })))
    }

    /// Returns the target's authority in an equivalent form (RFC 9110 section 4.2.3).
    fn host(&self, form: &str) -> Option<String> {
        let url = url::Url::parse(&self.profile.base_url).ok()?;
        let host = url.host_str()?;
        let port = |port: Option<u16>| port.map(|port| format!(":{port}")).unwrap_or_default();
        match form {
            "capitals" => Some(format!("{}{}", host.to_ascii_uppercase(), port(url.port()))),
            "with-port" => Some(format!("{host}{}", port(url.port_or_known_default()))),
            _ => None,
        }
    }

    /// Returns a UUID that no other case, step or run has.
    fn fresh(&self, step: &str, name: &str) -> uuid::Uuid {
        self.root.uuid(&[self.case, step, name])
    }

    /// Returns a number with this many digits and no leading zero. Cases use it in their amounts, so that no
    /// payment is a logical duplicate of another (the document does not define that term).
    fn number(&self, step: &str, digits: u32) -> u64 {
        let (high, low) = self.fresh(step, &format!("number.{digits}")).as_u64_pair();
        let least = 10_u64.pow(digits - 1);
        least + (high ^ low) % (9 * least)
    }

    fn day(&self, days: &str) -> Option<NaiveDate> {
        let days: i64 = days.parse().ok()?;
        self.now.date_naive().checked_add_signed(TimeDelta::try_days(days)?)
    }
}

/// Values that some placeholders depend on.
#[derive(Debug, Clone, Copy)]
struct Context<'a> {
    /// The body, for a Digest.
    body: Option<&'a [u8]>,
    /// The party whose certificate is sent.
    certificate: Option<Party>,
    /// The profile entry that the request is about, such as `psu.second`.
    of: Option<&'a str>,
    /// The Signature header, once it is made.
    signature: Option<&'a str>,
}

impl Context<'_> {
    const NONE: Self = Self { body: None, certificate: None, of: None, signature: None };
}

/// Returns the first profile entry that a header names, such as `psu.second` for `${target.psu.second.id}`.
/// Values of this entry take precedence over general ones, because a session may belong to one person.
fn of(spec: &RequestSpec) -> Option<&str> {
    spec.headers.iter().find_map(|(_, value)| {
        let name = value.as_str()?.strip_prefix("${target.")?.strip_suffix('}')?;
        let (entry, _) = name.rsplit_once('.').filter(|(entry, _)| entry.contains('.'))?;
        Some(entry)
    })
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// All but unreserved characters (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes all but unreserved characters.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Returns a header name in title case, as the pooled HTTP/1.1 client spells it.
fn in_title_case(name: &str) -> String {
    let mut before = '-';
    let letters = name.chars().map(|letter| {
        let is_first = std::mem::replace(&mut before, letter) == '-';
        if is_first { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    });
    letters.collect()
}

/// Returns the error for a header that the case requires unwrapped but that must be wrapped.
fn wrapped() -> FillError {
    let why = "the issuer of the certificate is not ASCII, so the header must be wrapped";
    FillError::NotApplicable(why.to_owned())
}

/// Returns the method and path of a request in the form that a signature covers.
fn target_of(method: &str, url: &str) -> Option<RequestTarget> {
    let uri: Uri = url.parse().ok()?;
    Some(RequestTarget { method: method.to_owned(), path: uri.path_and_query()?.to_string() })
}

#[cfg(test)]
mod tests;
