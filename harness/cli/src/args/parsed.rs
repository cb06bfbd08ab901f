//! Values of arguments that are more than text.

use chrono::{DateTime, Utc};
use xs2aspec_suite::Depth;

/// A moment, RFC 3339.
pub(super) fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = DateTime::parse_from_rfc3339(text);
    time.map(|time| time.to_utc())
        .map_err(|_| "expected a time as in 2030-01-31T12:00:00Z (RFC 3339)".to_owned())
}

pub(super) fn depth(text: &str) -> Result<Depth, String> {
    let all = [Depth::Quick, Depth::Standard, Depth::Exhaustive];
    all.into_iter()
        .find(|depth| depth.word() == text)
        .ok_or_else(|| "expected quick, standard or exhaustive".to_owned())
}

pub(super) fn method(text: &str) -> Result<String, String> {
    if crate::message::is_token(text) {
        return Ok(text.to_owned());
    }
    Err("expected a method such as POST, without blanks (RFC 9110, section 9.1)".to_owned())
}
