//! Reads the bodies of an entry. An archive may omit or truncate a body, or rewrite it.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    member::Member,
    quirks::{self, base64},
    spelling,
};
use xs2aspec_judge::traffic::{Payload, Received, Sent, header};
use xs2aspec_record::{Changed, Untold};
use xs2aspec_signing::diagnosis::{
    base64_text::Oddity,
    digests::{self, Is},
};

/// Replacement for a two-byte character that a tool could not write.
const REPLACED: &str = "??";

/// Methods whose requests usually have no body (RFC 9110, section 9.3).
const WITHOUT_BODY: [&str; 6] = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "TRACE"];

/// Returns the body of a request, and the reason why its bytes may differ from those sent.
pub(super) fn posted(request: &Member<'_>, sent: &Sent) -> (Payload, Option<Changed>) {
    let posted = request.member("postData");
    let length = length(&sent.headers);
    // Some recorders also write 0 for a body that they could not read.
    let size = request.member("bodySize").size();
    let said = length.or(size.filter(|size| *size > 0));
    let is_elsewhere = posted.member("_file").value.is_some() || sent.header("transfer-encoding").is_some();
    let is_usual_without = !is_elsewhere && WITHOUT_BODY.contains(&sent.method.as_str());
    let Some((text, bytes)) = shown(&posted) else {
        let parameters = posted.member("params").value.and_then(Value::as_array);
        return match said {
            Some(0) => (Payload::NONE, None),
            None if is_usual_without => (Payload::NONE, None),
            _ if parameters.is_some_and(|parameters| !parameters.is_empty()) => {
                unknown(Untold::ParametersAlone)
            }
            _ => unknown(Untold::LeftOut),
        };
    };
    let is_by_digest = |body: &[u8]| sent.header("digest").is_some_and(|digest| is_digest_of(digest, body));
    if bytes.is_empty() {
        let is_other = sent.header("digest").is_some() && !is_by_digest(&bytes);
        let is_said = said.is_none() && !is_other && !is_elsewhere && (size == Some(0) || is_usual_without);
        let is_empty = said == Some(0) || is_said;
        return if is_empty { (Payload::NONE, None) } else { unknown(Untold::LeftOut) };
    }
    if shows_not_all(&text, &bytes) {
        return unknown(Untold::BytesNotShown);
    }
    let is_said = |body: &[u8]| said == Some(body.len() as u64);
    let is_right = is_by_digest(&bytes);
    let is_wrong = sent.header("digest").is_some() && !is_right;
    let letters = quirks::letters(&text)
        .find(|body| is_by_digest(body) || !is_right && is_said(body) && length != Some(bytes.len() as u64));
    if let Some(body) = letters {
        return (Payload::Bytes(body), None);
    }
    // The size in an archive may be that of the string in the archive.
    if is_right || length == Some(bytes.len() as u64) || !is_wrong && is_said(&bytes) {
        let is_replaced = is_wrong && text.contains(REPLACED);
        return (Payload::Bytes(bytes), is_replaced.then_some(Changed::WrittenAnew));
    }
    let other = spelling::find(&text, &is_by_digest);
    if let Some(body) = other.as_ref().filter(|body| is_said(body)) {
        return (Payload::Bytes(body.clone()), None);
    }
    // Some browsers count the UTF-16 units in which they store a string.
    let is_counted = said == Some(text.encode_utf16().count() as u64);
    if is_counted && is_wrong && !text.is_ascii() {
        return unknown(Untold::ByteByByte);
    }
    match said.filter(|_| !is_counted && !is_said(&bytes)) {
        Some(said) => unknown(Untold::Part { have: bytes.len() as u64, said }),
        None if other.is_some() => (Payload::Bytes(bytes), Some(Changed::Respelled)),
        None => {
            let is_anew = is_wrong && spelling::may_be_of_the_archive(&text);
            (Payload::Bytes(bytes), is_anew.then_some(Changed::WrittenAnew))
        }
    }
}

/// Returns the body of the response to a request with this method.
pub(super) fn content(
    response: &Member<'_>,
    (method, status): (&str, u16),
    headers: &[(String, String)],
) -> Payload {
    let content = response.member("content");
    let length = length(headers);
    let has_none = has_none((method, Some(status)), headers);
    let size = content.member("size").size();
    let Some((text, bytes)) = shown(&content) else {
        return if has_none { Payload::NONE } else { Payload::Unknown(Untold::LeftOut) };
    };
    if bytes.is_empty() {
        let is_said = size == Some(0) && length.is_none() && !content.value.is_some_and(quirks::is_left_out);
        return if has_none || is_said { Payload::NONE } else { Payload::Unknown(Untold::LeftOut) };
    }
    if shows_not_all(&text, &bytes) {
        return Payload::Unknown(Untold::BytesNotShown);
    }
    if ["truncated", "_truncated"].iter().any(|name| content.member(name).value == Some(&true.into())) {
        return Payload::Unknown(Untold::CutOff);
    }
    let length = length.filter(|_| header(headers, "content-encoding").is_none());
    let said: Vec<u64> = length.into_iter().chain(size).collect();
    let is_said = |body: &[u8]| said.contains(&(body.len() as u64));
    let mut letters = quirks::letters(&text).peekable();
    if said.is_empty() && letters.peek().is_some() {
        return Payload::Unknown(Untold::ByteByByte);
    }
    if let Some(body) = letters.find(|body| is_said(body) && length != Some(bytes.len() as u64)) {
        return Payload::Bytes(body);
    }
    // Some tools write base64 without declaring it.
    let coded = if is_said(text.as_bytes()) { None } else { base64(&text).filter(|body| is_said(body)) };
    let bytes = coded.unwrap_or(bytes);
    let body = Payload::Bytes(bytes);
    let decoded = crate::coding::decoded_unless_json(Received { status, headers: headers.to_vec(), body });
    let Payload::Bytes(bytes) = decoded.body else { return decoded.body };
    // Converting from another charset to UTF-8 only makes a body longer. `size` may be the length before or
    // after the content coding, and some tools also write the difference.
    let have = bytes.len() as u64;
    let saved = content.member("compression").value.and_then(Value::as_i64);
    let is_whole = |size: u64| size.checked_add_signed(saved.unwrap_or_default()) == Some(have);
    match said.into_iter().max().filter(|said| have < *said && !is_whole(*said)) {
        Some(said) => Payload::Unknown(Untold::Part { have, said }),
        None => Payload::Bytes(bytes),
    }
}

/// Returns true if a message cannot have a body, by its Content-Length, the method of the request or the
/// status of the response (RFC 9110, sections 9.3, 15.3.5, 15.3.6 and 15.4.5).
fn has_none((method, status): (&str, Option<u16>), headers: &[(String, String)]) -> bool {
    let is_without = match status {
        Some(status) => method == "HEAD" || matches!(status, 204 | 205 | 304),
        None => WITHOUT_BODY.contains(&method),
    };
    is_without || length(headers) == Some(0)
}

/// Returns the body for a message without a body in a record of traffic, which may also mean that it was
/// unknown.
pub(super) fn unrecorded(of: (&str, Option<u16>), headers: &[(String, String)]) -> Payload {
    if has_none(of, headers) { Payload::NONE } else { Payload::Unknown(Untold::LeftOut) }
}

const fn unknown(why: Untold) -> (Payload, Option<Changed>) {
    (Payload::Unknown(why), None)
}

/// Returns the string of a body in the archive, and the bytes that it encodes.
fn shown<'a>(body: &Member<'a>) -> Option<(Cow<'a, str>, Vec<u8>)> {
    let text = body.member("text").optional_text()?;
    // HAR 1.2 has no encoding for a request. The archive of a run uses `_encoding`.
    let encoding = ["_encoding", "encoding"].iter().find_map(|name| body.member(name).optional_text());
    let is_base64 = encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"));
    let bytes = if is_base64 { base64(&text) } else { None };
    let bytes = bytes.unwrap_or_else(|| text.as_bytes().to_vec());
    Some((text, bytes))
}

/// Returns true if the string contains replacements for bytes that a tool could not decode.
fn shows_not_all(text: &str, bytes: &[u8]) -> bool {
    bytes.len() == text.len() && text.contains('\u{fffd}')
}

fn length(headers: &[(String, String)]) -> Option<u64> {
    header(headers, "content-length")?.trim().parse().ok()
}

/// Returns true if a Digest header (RFC 3230, section 4.3.2) contains the correct hash of a body.
fn is_digest_of(digest: &str, body: &[u8]) -> bool {
    digests::read(digest, body).into_iter().any(|one| match one.is {
        Is::Right(_) => true,
        Is::Odd(_, oddities) => oddities == [Oddity::Unpadded],
        _ => false,
    })
}
