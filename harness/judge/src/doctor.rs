//! Suggests why a target rejects a baseline request, and which profile key to change.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use xs2aspec_record::{Body, Exchange, Response};
use xs2aspec_signing::Certificate;
use xs2aspec_spec::ProfileSpec;

use crate::{
    answer::{Cause, ExchangeError},
    judge::is_page,
};

/// The longest body that counts as empty, such as `{}` or `null`.
const NOTHING: usize = 4;

/// Clock differences up to this many seconds are ignored. Some banks reject a signed Date that is a minute
/// off.
const SKEW: i64 = 60;

/// The validity of a certificate at a given time (RFC 5280 section 4.1.2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Valid until then.
    Until(DateTime<Utc>),
    /// Expired then.
    Expired(DateTime<Utc>),
    /// Valid from then on.
    NotYet(DateTime<Utc>),
}

impl Validity {
    /// Returns the validity of a certificate.
    pub fn new(certificate: &Certificate, now: DateTime<Utc>) -> Self {
        let (from, until) = certificate.validity();
        match SystemTime::from(now) {
            now if now > until => Self::Expired(until.into()),
            now if now < from => Self::NotYet(from.into()),
            _ => Self::Until(until.into()),
        }
    }
}

/// Returns how many seconds the target's clock is ahead, according to the Date of a response (RFC 9110
/// section 6.6.1).
pub fn clock_skew(exchange: &Exchange, now: DateTime<Utc>) -> Option<i64> {
    let response = exchange.response.as_ref()?;
    let date = response.headers.iter().find(|header| header.0.eq_ignore_ascii_case("date"))?;
    let date = DateTime::parse_from_rfc2822(&date.1).ok()?;
    Some((date.to_utc() - now).num_seconds())
}

/// Returns a hint for a clock that is this many seconds ahead.
pub fn clock_hint(ahead: i64) -> String {
    if ahead.abs() <= SKEW {
        return "in step with this machine".to_owned();
    }
    let word = if ahead > 0 { "ahead" } else { "behind" };
    format!("the target is {} s {word}: it may reject signed dates", ahead.abs())
}

/// Returns the likely cause of a missing response, with the profile key to change.
pub fn failure_hint(error: &ExchangeError) -> Option<&'static str> {
    let cause = match error {
        ExchangeError::Unreachable(trouble) | ExchangeError::Broken(trouble) => trouble.cause,
        ExchangeError::Deadline(_) => return Some("the target is slow: increase `deadline-ms`"),
        ExchangeError::Coding(_)
        | ExchangeError::Request(_)
        | ExchangeError::OutOfScope(_)
        | ExchangeError::Tls(_) => return None,
    };
    match cause {
        Cause::NoTls => Some("the target does not use TLS there: use `http://` in `base-url`"),
        Cause::ClientCertificate => Some("the target requires another client certificate: see `[tls]`"),
        Cause::NothingInCommon => Some(
            "the target supports other cipher suites or TLS versions, or it requires a client certificate: see `[tls]`",
        ),
        Cause::Untrusted => Some(
            "the target's certificate is from an unknown authority or for another name: set `authorities`, or correct the host in `base-url`",
        ),
        Cause::Proxy => Some("the proxy does not reach the target: check `proxy`"),
        Cause::NoHttp => {
            Some("the target uses TLS there, or does not speak HTTP: use `https://` in `base-url`")
        }
        Cause::Other => None,
    }
}

/// Returns the likely cause of a rejection, with the profile key to change.
pub fn refusal_hint(operation: &str, response: &Response, spec: &ProfileSpec) -> Option<String> {
    let said = response.body.as_ref().map(Body::shown).unwrap_or_default();
    let header = response.headers.iter().find(|header| header.0.eq_ignore_ascii_case("content-type"));
    let is_page = header.is_some_and(|header| is_page(&header.1));
    match response.status {
        200..=299 if is_page => {
            Some("the address leads to a web page instead of the interface: check `base-url`".to_owned())
        }
        200..=299 if response.body.as_ref().is_none_or(|body| body.shown().len() <= NOTHING) => Some(
            "a server that accepts everything is there instead of the interface: check `base-url`".to_owned(),
        ),
        300..=399 => Some("the base URL redirects elsewhere: change `base-url`".to_owned()),
        429 => Some("too many requests: reduce `--jobs`, or try again another day".to_owned()),
        500.. => Some("the target has an internal error".to_owned()),
        status => spec.hint(operation, status, &said).or_else(|| match status {
            401 | 403 => {
                Some("the target must know `[signing] certificate` and permit it this operation".to_owned())
            }
            404 | 405 => {
                Some(format!("the path is wrong: check `[paths] {operation}`, or the prefix in `base-url`"))
            }
            _ => None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::{answer::Trouble, profile::TEST_CERTIFICATE};

    #[test]
    fn a_certificate_that_is_not_valid_is_told() {
        let certificate = Certificate::from_pem(TEST_CERTIFICATE).unwrap();
        let (from, until) = certificate.validity();
        let at = |time: SystemTime, days| {
            Validity::new(&certificate, DateTime::<Utc>::from(time) + TimeDelta::days(days))
        };
        assert_eq!(at(from, 1), Validity::Until(until.into()));
        assert_eq!(at(until, 1), Validity::Expired(until.into()));
        assert_eq!(at(from, -1), Validity::NotYet(from.into()));
    }

    #[test]
    fn each_failure_that_a_profile_can_change_has_its_key() {
        let broken = |cause| ExchangeError::Broken(Trouble { cause, says: String::new() });
        for (cause, key) in [
            (Cause::NoTls, "`base-url`"),
            (Cause::ClientCertificate, "`[tls]`"),
            (Cause::NothingInCommon, "cipher suites"),
            (Cause::Untrusted, "`authorities`"),
            (Cause::Proxy, "`proxy`"),
            (Cause::NoHttp, "`https://`"),
        ] {
            assert!(failure_hint(&broken(cause)).unwrap().contains(key), "{cause:?}");
        }
        assert_eq!(failure_hint(&broken(Cause::Other)), None);
    }

    #[test]
    fn each_refusal_has_its_likely_cause() {
        let table = [
            ("ncbct", 401, r#"{"tppMessages":[{"code":"PSU_CREDENTIALS_INVALID"}]}"#, "`[psu.private] id`"),
            ("ncbct", 400, r#"{"path":"X-Accept-Fix"}"#, "`x-accept-fix = { ncbct = "),
            ("basket", 400, "TPP-Redirect-URI is not registered", "`redirect-uri`"),
            ("basket", 400, "no such TPP-Session-ID", "`session-id`"),
            ("ncbct", 401, "KID_MISSING", "`[signing] certificate`"),
            ("periodic", 400, "Digest does not fit", "`[signing] key`"),
            ("periodic", 400, r#"{"path":"/debtorAccount/iban"}"#, "`[accounts.debtor]`"),
            ("periodic", 400, r#"{"path":"/creditorAccount"}"#, "`[accounts.domestic-creditor]`"),
            ("ncbct", 400, r#"{"path":"/creditorAgent"}"#, "`[accounts.foreign-creditor]`"),
            ("transaction", 401, "CONSENT_UNKNOWN", "`[transaction] account-id`"),
            ("transaction", 404, "", "`[transaction] account-id`"),
            ("basket", 404, "", "`[paths] basket`"),
            ("customers", 404, "<html>", "`base-url`"),
            ("ncbct", 403, "", "`[signing] certificate`"),
            ("ncbct", 302, "", "`base-url`"),
            ("ncbct", 429, "", "`--jobs`"),
            ("ncbct", 503, "", "internal error"),
        ];
        for (operation, status, body, expected) in table {
            let response = Response { status, headers: vec![], body: Some(Body::Text(body.to_owned())) };
            let found = refusal_hint(operation, &response, ProfileSpec::embedded()).unwrap();
            assert!(found.contains(expected), "{operation} {status} {body}: {found}");
        }
        let html = vec![xs2aspec_record::Header("content-type".into(), "Text/HTML; charset=utf-8".into())];
        let page = Response { status: 200, headers: html, body: None };
        let found = refusal_hint("ncbct", &page, ProfileSpec::embedded()).unwrap();
        assert!(found.contains("a web page") && found.contains("`base-url`"), "{found}");
        for body in [None, Some(Body::Text("{}".to_owned())), Some(Body::Text("null".to_owned()))] {
            let nothing = Response { status: 200, headers: vec![], body };
            let found = refusal_hint("ncbct", &nothing, ProfileSpec::embedded()).unwrap();
            assert!(found.contains("`base-url`"), "{found}");
        }
        let plain = Response { status: 400, headers: vec![], body: None };
        assert_eq!(refusal_hint("ncbct", &plain, ProfileSpec::embedded()), None);
    }

    #[test]
    fn clocks_that_differ_are_told() {
        assert_eq!(clock_hint(-60), "in step with this machine");
        assert!(clock_hint(61).contains("61 s ahead") && clock_hint(-3600).contains("3600 s behind"));
    }
}
