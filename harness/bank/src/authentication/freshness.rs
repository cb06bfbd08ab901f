//! Limits on age and repetition of a request. The document sets none, so the default policy skips both
//! checks.

use chrono::DateTime;

use crate::clock::Clock;
use crate::header::{Fields, Header};
use crate::policy::signature::Signature as Policy;
use crate::refusal::Refusal;
use crate::state::State;

pub(crate) fn check(
    fields: Fields<'_>,
    state: &State,
    clock: &Clock,
    policy: &Policy,
) -> Result<(), Refusal> {
    for header in &policy.once {
        if !state.is_new(header.name(), &fields.text(*header).unwrap_or_default()) {
            let rule = match header {
                Header::Signature => "signature.replay".to_owned(),
                _ => format!("header.{}.reuse", header.name()),
            };
            let says = "expected an unused value, found a used one";
            return Err(Refusal::format(rule, says).at(header.name()));
        }
    }
    let Some(minutes) = policy.date_within else { return Ok(()) };
    let date = fields.bytes("date").and_then(|bytes| String::from_utf8(bytes).ok());
    let date = date.and_then(|text| DateTime::parse_from_rfc2822(&text).ok());
    if date.is_some_and(|date| (clock.now() - date.to_utc()).num_minutes().abs() <= minutes) {
        return Ok(());
    }
    let says = format!("expected a Date of the last {minutes} minutes, found none");
    Err(Refusal::unauthenticated("signature.headers.date-stale", says).at("date"))
}
