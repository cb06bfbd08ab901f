//! Content codings of responses.

use xs2aspec_judge::traffic::{Payload, Received};
use xs2aspec_record::Untold;
use xs2aspec_runner::exchange::{self, Answer};

/// Decodes the content codings of a body. A body that cannot be decoded counts as unknown.
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

/// Decodes the content codings of a body from a file. Most tools write the decoded body and keep the header.
/// JSON is not encoded.
pub(crate) fn decoded_unless_json(received: Received) -> Received {
    let is_json = |body: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    if received.body.bytes().is_some_and(is_json) { received } else { decoded(received) }
}
