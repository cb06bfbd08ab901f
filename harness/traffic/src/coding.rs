//! Content codings of responses as they went over the wire.

use xs2aspec_judge::traffic::{Payload, Received};
use xs2aspec_record::Untold;
use xs2aspec_runner::exchange::{self, Answer};

/// Takes the content codings off a body. One that cannot be decoded is not known.
#[must_use]
pub fn decoded(received: Received) -> Received {
    let Received { status, headers, body } = received;
    let Payload::Bytes(body) = body else { return Received { status, headers, body } };
    let coded = Answer { status, headers, body };
    let body = match exchange::decoded(&coded) {
        Ok(None) => Payload::Bytes(coded.body),
        Ok(Some(plain)) => Payload::Bytes(plain),
        Err(error) => Payload::Unknown(Untold::NotDecoded { error: error.to_string() }),
    };
    Received { status, headers: coded.headers, body }
}

/// Takes the content codings off a body from a file. Most tools write the decoded body and keep the header
/// field. A coded body is no JSON.
pub(crate) fn decoded_unless_json(received: Received) -> Received {
    let is_json = |body: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    if received.body.bytes().is_some_and(is_json) { received } else { decoded(received) }
}
