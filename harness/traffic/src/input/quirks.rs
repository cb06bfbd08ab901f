//! The deviations of programs that write archives, and how each is read.
//!
//! | deviation | seen in | read as |
//! |---|---|---|
//! | numbers as strings, strings as numbers or booleans | converters, phone proxies | the other type |
//! | headers as one object, several values as a list | converters | one header for each value |
//! | status -1, 0 or none | Playwright, browsers, mitmproxy | no response |
//! | `_wasFulfilled` | Playwright | no response of the bank: a test created it |
//! | no time, an empty one, no offset, milliseconds | WebKit, converters | the Date header, else UTC |
//! | `:authority`, or neither it nor Host, in HTTP/2 and HTTP/3 | Chromium, Charles, mitmproxy | Host |
//! | `encoding` is `base64`, but the string is not base64 | ZAP, Firefox | the string |
//! | base64 in lines, without padding, URL-safe | Fiddler, converters | its bytes |
//! | UTF-8 with one character per byte | phone proxies | its bytes, if length or Digest prove it |
//! | rewritten JSON | mock servers | cannot be judged, if the Digest matches another spelling |
//! | an encoded body, as sent | BrowserMob | the decoded body |
//! | `_file`, size -1, `x-unknown`, no string | Playwright, browsers | a body that is not in the archive |
//! | `bodySize` counts UTF-16 | Firefox | a complete body |
//! | `size` of the encoded body, `compression` | mitmproxy | a complete body |
//! | one request listed twice, `_fetchedViaServiceWorker` | Chromium | one request |

use std::borrow::Cow;

use base64::{Engine, alphabet::STANDARD, engine};
use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::Value;

/// Decodes base64 with or without padding.
const BASE64: engine::GeneralPurpose = engine::GeneralPurpose::new(
    &STANDARD,
    engine::GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(engine::DecodePaddingMode::Indifferent),
);

/// Characters of windows-1252 for the bytes from 0x80 that differ from Latin-1.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Characters of Mac OS Roman for the bytes from 0x80.
const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›\u{fb01}\u{fb02}‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Characters of code page 437, used by consoles, for the bytes from 0x80.
const CODE_PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// Returns a value as a string.
pub(super) fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        _ => None,
    }
}

/// Returns a value as a number.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

/// Returns the status code, or 0 if there was no response.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in these bounds")]
pub(super) fn status(number: f64) -> Option<u16> {
    let is_code = number.fract() == 0.0 && (100.0..1000.0).contains(&number);
    if (-1.0..=0.0).contains(&number) { Some(0) } else { is_code.then_some(number as u16) }
}

/// Returns the time of a `startedDateTime`. `date` is the Date header of the exchange.
pub(super) fn time(value: Option<&Value>, date: Option<&str>) -> Option<DateTime<Utc>> {
    let text = value.and_then(Value::as_str).unwrap_or_default().trim();
    let whole = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .map(|time| time.to_utc());
    let date = || Some(DateTime::parse_from_rfc2822(date?.trim()).ok()?.to_utc());
    let without_offset = || {
        let text = text.replacen(' ', "T", 1);
        NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f").ok().map(|time| time.and_utc())
    };
    let milliseconds = || DateTime::from_timestamp_millis(value?.as_i64()?);
    whole.ok().or_else(date).or_else(without_offset).or_else(milliseconds)
}

/// Adds the host of an HTTP/2 or HTTP/3 request as a Host header, like a gateway to HTTP/1.1. See RFC 9113,
/// section 8.3.1, and RFC 9114, section 4.3.1.
pub(super) fn host_of_authority(
    headers: &mut Vec<(String, String)>,
    url: &str,
    version: Option<Cow<'_, str>>,
) {
    let has = |headers: &[(String, String)], name: &str| {
        headers.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    if has(headers, "host").is_some() {
        return;
    }
    let version = version.unwrap_or_default().to_ascii_lowercase();
    let is_newer = ["h2", "h3", "http/2", "http/3"].iter().any(|newer| version.starts_with(newer));
    if let Some(at) = has(headers, ":authority") {
        "Host".clone_into(&mut headers[at].0);
    } else if let Some((_, rest)) = url.split_once("://").filter(|_| is_newer) {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        headers.insert(0, ("Host".to_owned(), host.to_owned()));
    }
}

/// Decodes base64, including line breaks, missing padding and the URL-safe alphabet.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let usual = |character| match character {
        '-' => '+',
        '_' => '/',
        other => other,
    };
    let code: String = text.chars().filter(|character| !character.is_ascii_whitespace()).map(usual).collect();
    BASE64.decode(code).ok()
}

/// Returns the bytes of UTF-8 that was written with one character per byte, each the character of that number
/// or of a code page.
pub(super) fn letters(text: &str) -> impl Iterator<Item = Vec<u8>> {
    let of_number = |letter: char| u8::try_from(u32::from(letter)).ok();
    let of_page = |page: &str, letter: char| {
        let place = page.chars().position(|known| known == letter)?;
        u8::try_from(place + 0x80).ok()
    };
    let pages = [WINDOWS_1252, MAC_ROMAN, CODE_PAGE_437].into_iter().filter(|_| !text.is_ascii());
    pages.filter_map(move |page| {
        // Windows-1252 shares the numbers of the other characters with ISO 8859-1.
        let last = if page == WINDOWS_1252 { u8::MAX } else { 0x7f };
        let byte = |letter| of_number(letter).filter(|byte| *byte <= last).or_else(|| of_page(page, letter));
        let bytes: Vec<u8> = text.chars().map(byte).collect::<Option<_>>()?;
        std::str::from_utf8(&bytes).is_ok().then_some(bytes)
    })
}

/// Returns true if an empty string means a body that the recorder did not keep.
pub(super) fn is_left_out(content: &Value) -> bool {
    let media_type = content.get("mimeType").and_then(text).unwrap_or_default();
    content.get("_file").is_some_and(|file| !file.is_null()) || media_type.ends_with("x-unknown")
}

/// Returns true if a test responded instead of the bank.
pub(super) fn is_of_a_test(entry: &Value) -> bool {
    entry.get("_wasFulfilled") == Some(&Value::Bool(true))
}

/// Returns true if a service worker sent or forwarded the request of an entry.
pub(super) fn is_of_worker(entry: &Value) -> bool {
    let holders = [Some(entry), entry.get("request"), entry.get("response")];
    holders
        .into_iter()
        .flatten()
        .any(|holder| holder.get("_fetchedViaServiceWorker") == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use xs2aspec_judge::traffic::{Payload, Sent, Traffic};
    use xs2aspec_record::Changed;

    use super::*;
    use crate::input::{Piece, entry};

    /// Returns a request of 15 bytes and its response of 12 bytes.
    fn plain() -> Value {
        json!({
            "startedDateTime": "2026-01-05T10:00:00.000Z", "time": 12.5,
            "request": {
                "method": "POST", "url": "https://bank.example/v1/a?b=c", "httpVersion": "HTTP/1.1",
                "headers": [{"name": "Content-Length", "value": "15"}], "bodySize": 15,
                "postData": {"mimeType": "application/json", "text": "{\"name\":\"Blå\"}"},
            },
            "response": {
                "status": 201, "headers": [], "bodySize": 12,
                "content": {"mimeType": "application/json", "size": 12, "text": "{\"name\":\"b\"}"},
            },
        })
    }

    /// Merges a patch into a value. Null removes a field (RFC 7396).
    fn patched(value: &mut Value, patch: &Value) {
        let (Value::Object(members), Value::Object(changes)) = (&mut *value, patch) else {
            value.clone_from(patch);
            return;
        };
        for (name, change) in changes {
            if change.is_null() {
                members.remove(name);
            } else {
                patched(members.entry(name).or_insert(Value::Null), change);
            }
        }
    }

    fn read(patch: &Value) -> Result<Traffic, String> {
        let mut value = plain();
        patched(&mut value, patch);
        match entry::read(1, &value, DateTime::UNIX_EPOCH) {
            Piece::Traffic(traffic) => Ok(*traffic),
            Piece::Unread(unread) => Err(unread.why),
            _ => unreachable!("an entry is either"),
        }
    }

    /// Returns the body as a string, `?` if it is unknown, and the prefix `?=` if its bytes may differ.
    fn shown(body: &Payload, changed: Option<Changed>) -> String {
        let text = body.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        text.map_or_else(|| "?".to_owned(), |text| format!("{}{text}", changed.map_or("", |_| "?=")))
    }

    const WHOLE: &str = r#"{"name":"Blå"}"#;

    /// The SHA-256 of `WHOLE`, and of the same with one space.
    const COMPACT: &str = "SHA-256=EoHnb/msjbgbzYcgo1PJZ9SoPZpeD/AV2B4bEf9jhQ4=";
    const SPACED: &str = "sha-256=gR5v0/NKOq4QgtwLrt2H5M+dvZs5w7rm5xNWR9dSwKw=";

    fn field(name: &str, value: &str) -> Value {
        json!([{"name": name, "value": value}])
    }

    #[test]
    fn the_body_of_a_request_is_read_from_what_is_written_of_it() {
        let letters = "{\"name\":\"BlÃ¥\"}";
        let anew = "{\n  \"name\": \"Blå\"\n}";
        for (request, expected) in [
            (json!({}), WHOLE),
            // Omitted.
            (json!({"postData": null}), "?"),
            (json!({"postData": {"text": null, "params": [{"name": "a"}]}}), "?"),
            (json!({"postData": null, "headers": []}), "?"),
            (json!({"postData": null, "headers": [], "bodySize": 0}), "?"),
            (json!({"postData": null, "headers": [], "bodySize": -1, "method": "GET"}), ""),
            (json!({"postData": null, "headers": [], "bodySize": 0, "method": "DELETE"}), ""),
            (
                json!({"postData": {"text": null, "params": []}, "headers": [], "bodySize": -1, "method": "GET"}),
                "",
            ),
            (json!({"postData": null, "headers": [], "bodySize": 9, "method": "GET"}), "?"),
            (
                json!({"postData": null, "headers": field("transfer-encoding", "chunked"), "method": "GET", "bodySize": 0}),
                "?",
            ),
            (json!({"postData": null, "headers": field("content-length", "0")}), ""),
            (json!({"postData": {"text": "", "_file": "a.json"}, "headers": [], "bodySize": -1}), "?"),
            (json!({"postData": {"text": "", "_file": "a.json"}, "headers": [], "bodySize": 0}), "?"),
            (json!({"postData": {"text": ""}}), "?"),
            (json!({"postData": {"text": ""}, "headers": [], "bodySize": -1}), "?"),
            (json!({"postData": {"text": ""}, "headers": [], "bodySize": 0}), ""),
            (json!({"postData": {"text": ""}, "headers": field("Digest", COMPACT), "bodySize": 0}), "?"),
            (json!({"postData": {"text": ""}, "headers": field("Content-Length", "0")}), ""),
            (json!({"postData": "a"}), "?"),
            (json!({"postData": {"text": {"name": "b"}}}), "?"),
            // Truncated.
            (json!({"headers": field("content-length", "999")}), "?"),
            (json!({"headers": [], "bodySize": 999}), "?"),
            (json!({"postData": {"text": "{\"name\":\"Bl\u{fffd}\"}"}}), "?"),
            // Counted in another unit.
            (json!({"headers": [], "bodySize": 14}), WHOLE),
            (json!({"headers": [], "bodySize": -1}), WHOLE),
            (json!({"headers": [], "bodySize": null}), WHOLE),
            (json!({"headers": [], "bodySize": "15"}), WHOLE),
            // Base64.
            (json!({"postData": {"encoding": "base64", "text": "eyJuYW1lIjoiQmzDpSJ9"}}), WHOLE),
            (json!({"postData": {"_encoding": "base64", "text": "eyJuYW1l\r\nIjoiQmzDpSJ9\n"}}), WHOLE),
            (json!({"postData": {"encoding": "base64", "text": WHOLE}}), WHOLE),
            (json!({"postData": {"encoding": "utf-8", "text": WHOLE}}), WHOLE),
            // One character per byte.
            (json!({"postData": {"text": letters}}), WHOLE),
            (json!({"postData": {"text": letters}, "headers": [], "bodySize": 15}), WHOLE),
            (
                json!({"postData": {"text": letters}, "headers": field("Digest", COMPACT), "bodySize": -1}),
                WHOLE,
            ),
            (
                json!({"postData": {"text": letters}, "headers": field("Digest", COMPACT), "bodySize": 17}),
                WHOLE,
            ),
            (json!({"postData": {"text": letters}, "headers": [], "bodySize": 17}), letters),
            (json!({"postData": {"text": letters}, "headers": field("content-length", "17")}), letters),
            // Rewritten.
            (
                json!({"postData": {"text": anew}, "headers": field("Digest", COMPACT), "bodySize": -1}),
                "?={\n  \"name\": \"Blå\"\n}",
            ),
            (
                json!({"postData": {"text": anew}, "headers": field("Digest", SPACED), "bodySize": null}),
                "?={\n  \"name\": \"Blå\"\n}",
            ),
            (json!({"headers": field("Digest", "SHA-256=AAAA"), "bodySize": -1}), WHOLE),
            // Unlike Content-Length, the size may be that of the string in the archive.
            (
                json!({"postData": {"text": anew}, "headers": field("Digest", COMPACT), "bodySize": 20}),
                "?={\n  \"name\": \"Blå\"\n}",
            ),
            (
                json!({"postData": {"text": anew}, "headers": [
                {"name": "Digest", "value": COMPACT}, {"name": "Content-Length", "value": anew.len().to_string()}]}),
                anew,
            ),
            (
                json!({"postData": {"text": anew}, "headers": field("Digest", "SHA-256=AAAA"), "bodySize": -1}),
                "?={\n  \"name\": \"Blå\"\n}",
            ),
            // In Mac OS Roman and in code page 437.
            (
                json!({"postData": {"text": "{\"name\":\"Bl√•\"}"}, "headers": field("content-length", "15")}),
                WHOLE,
            ),
            (
                json!({"postData": {"text": "{\"name\":\"Bl├Ñ\"}"}, "headers": field("Digest", COMPACT)}),
                WHOLE,
            ),
            (
                json!({"postData": {"text": anew}, "headers": [
                {"name": "Digest", "value": COMPACT}, {"name": "Content-Length", "value": "15"}]}),
                WHOLE,
            ),
            (json!({"postData": {"text": anew}}), "?"),
        ] {
            let traffic = read(&json!({ "request": request })).unwrap();
            assert_eq!(shown(&traffic.request.body, traffic.request.changed), expected, "{request}");
        }
    }

    #[test]
    fn an_answer_is_read_from_what_is_written_of_it() {
        let body = r#"{"name":"b"}"#;
        let content = |content: Value| json!({ "content": content });
        let gzip = "H4sIAAAAAAACA6tWykvMTVWyUkpSqgUAz5UwjwwAAAA=";
        for (response, expected) in [
            (json!({}), body),
            // Omitted.
            (content(json!({"text": null})), "?"),
            (content(json!({"text": null, "size": 0})), "?"),
            (content(json!({"text": null, "size": -1, "_file": "a.json"})), "?"),
            (content(json!({"text": "", "size": -1})), "?"),
            (content(json!({"text": ""})), "?"),
            (content(json!({"text": "", "size": 0, "mimeType": "x-unknown"})), "?"),
            (content(json!({"text": "", "size": 0})), ""),
            (content(json!([])), "?"),
            (json!({"content": null}), "?"),
            (json!({"content": null, "bodySize": 0}), "?"),
            (json!({"content": {"text": "", "size": 0}, "headers": field("content-length", "130")}), "?"),
            (json!({"content": null, "headers": field("content-length", "0")}), ""),
            (json!({"content": {"text": null, "size": 0}, "status": 204}), ""),
            (json!({"content": {"text": null, "size": 0}, "status": 304}), ""),
            // Truncated.
            (content(json!({"size": 91})), "?"),
            (content(json!({"size": 12, "truncated": true})), "?"),
            (json!({"headers": field("Content-Length", "130")}), "?"),
            (content(json!({"size": 30, "compression": -18})), body),
            (content(json!({"size": 5})), body),
            (content(json!({"size": -1})), body),
            (content(json!({"size": null, "text": "{\"a\":\"\u{fffd}\"}"})), "?"),
            // Base64.
            (content(json!({"encoding": "base64", "text": "eyJuYW1lIjoiYiJ9"})), body),
            (content(json!({"encoding": "BASE64", "text": "eyJu\nYW1l\nIjoiYiJ9"})), body),
            (content(json!({"encoding": "base64", "text": body})), body),
            (content(json!({"encoding": "base64", "text": "Pz8-Pw", "size": 4})), "??>?"),
            // One character per byte.
            (content(json!({"text": "{\"name\":\"Ã¥\"}", "size": 13})), r#"{"name":"å"}"#),
            (content(json!({"text": "{\"name\":\"â‚¬\"}", "size": 14})), r#"{"name":"€"}"#),
            (
                json!({"headers": field("content-length", "13"), "content": {"text": "{\"name\":\"Ã¥\"}", "size": 15}}),
                r#"{"name":"å"}"#,
            ),
            (content(json!({"text": "{\"name\":\"Ã¥\"}", "size": 15})), "{\"name\":\"Ã¥\"}"),
            (content(json!({"text": "{\"name\":\"Ã¥\"}", "size": -1})), "?"),
            (content(json!({"text": "{\"name\":\"å\"}", "size": 12})), r#"{"name":"å"}"#),
            // With a content coding.
            (
                json!({"headers": field("content-encoding", "gzip"),
                "content": {"encoding": "base64", "text": gzip, "size": 12}}),
                body,
            ),
            (json!({"headers": field("content-encoding", "gzip")}), body),
            (
                json!({"headers": field("content-encoding", "br"), "content": {"encoding": "base64", "text": gzip}}),
                "?",
            ),
            (
                json!({"headers": field("content-encoding", "gzip"),
                "content": {"text": "", "size": 0}, "status": 200}),
                "",
            ),
            // No response.
            (json!({"status": 0}), "-"),
            (json!({"status": -1}), "-"),
            (json!({"status": null}), "-"),
            (json!({"status": "201"}), body),
            (json!({"status": 201.0}), body),
        ] {
            let traffic = read(&json!({ "response": response })).unwrap();
            let found = traffic.answer.map_or("-".to_owned(), |answer| shown(&answer.body, None));
            assert_eq!(found, expected, "{response}");
        }
        let head = read(&json!({"request": {"method": "HEAD"}, "response": {"content": null}})).unwrap();
        assert_eq!(head.answer.unwrap().body, Payload::NONE);
        assert_eq!(read(&json!({"response": null})).unwrap().answer, None);
        assert!(read(&json!({"_wasFulfilled": true})).unwrap().failure.is_some());
        assert_eq!(read(&json!({"_wasFulfilled": false})).unwrap().failure, None);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (patch, expected) in [
            (json!(null), "expected an object, found null"),
            (json!({"request": null}), "`request`: expected an object, found nothing"),
            (json!({"request": {"method": null}}), "`request.method`: expected a string, found nothing"),
            (json!({"request": {"url": ""}}), "`request.url`: expected a string, found an empty string"),
            (
                json!({"request": {"headers": true}}),
                "`request.headers`: expected a list, found true or false",
            ),
            (
                json!({"request": {"headers": [{"name": "a", "value": {"b": 1}}]}}),
                "`request.headers[0].value`: expected a string, found an object",
            ),
            (
                json!({"request": {"headers": [3]}}),
                "`request.headers[0].name`: expected a string, found nothing",
            ),
            (json!({"response": 3}), "`response`: expected an object, found the number 3"),
            (
                json!({"response": {"status": "ok"}}),
                "`response.status`: expected a status code, or 0 without a response, found a string",
            ),
            (
                json!({"response": {"status": 20000}}),
                "`response.status`: expected a status code, or 0 without a response, found the number 20000",
            ),
        ] {
            assert_eq!(read(&patch), Err(expected.to_owned()));
        }
    }

    #[test]
    fn header_fields_are_texts_whatever_they_are_written_as() {
        let fields =
            |headers: Value| read(&json!({"request": {"headers": headers}})).unwrap().request.headers;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            fields(
                json!([{"name": "a", "value": 5}, {"name": "b", "value": null}, {"name": "c", "value": true}])
            ),
            [pair("a", "5"), pair("b", ""), pair("c", "true")]
        );
        assert_eq!(fields(json!([{"name": "a", "value": ["b", "c"]}])), [pair("a", "b"), pair("a", "c")]);
        assert_eq!(read(&json!({"request": {"headers": null}})).unwrap().request.headers, []);
        let object = json!({"startedDateTime": "2026-01-05T10:00:00Z",
            "request": {"method": "GET", "url": "https://a/b", "headers": {"a": "b", "c": 1}}});
        let Piece::Traffic(traffic) = entry::read(1, &object, DateTime::UNIX_EPOCH) else { panic!() };
        assert_eq!(traffic.request.headers, [pair("a", "b"), pair("c", "1")]);
    }

    #[test]
    fn the_host_of_http_2_is_its_authority() {
        for (version, name, expected) in [
            ("h2", ":authority", Some("a.example")),
            ("HTTP/2.0", "host", Some("a.example")),
            ("http/2.0", "x", Some("bank.example")),
            ("h3", "x", Some("bank.example")),
            ("HTTP/3", "x", Some("bank.example")),
            ("http/2+quic/46", "x", Some("bank.example")),
            ("HTTP/1.1", "x", None),
            ("http/1.0", "x", None),
            ("", ":authority", Some("a.example")),
            ("", "x", None),
        ] {
            let patch = json!({"request": {"httpVersion": version, "headers": field(name, "a.example")}});
            let sent: Sent = read(&patch).unwrap().request;
            assert_eq!(sent.header("host"), expected, "{version} {name}");
            assert_eq!(sent.header(":authority"), None);
        }
    }

    #[test]
    fn the_time_is_that_of_the_entry_or_of_a_date_header() {
        let date = field("Date", "Mon, 05 Jan 2026 11:00:00 GMT");
        for (started, headers, expected) in [
            (json!("2026-01-05T10:00:00.000Z"), json!([]), "2026-01-05T10:00:00Z"),
            (json!("2026-01-05T10:00:00.1234567+01:00"), json!([]), "2026-01-05T09:00:00Z"),
            (json!("2026-01-05T10:00:00+0530"), json!([]), "2026-01-05T04:30:00Z"),
            (json!("2026-01-05T10:00:00"), date.clone(), "2026-01-05T11:00:00Z"),
            (json!("2026-01-05 10:00:00.5"), json!([]), "2026-01-05T10:00:00Z"),
            (json!(1_767_607_200_000_u64), json!([]), "2026-01-05T10:00:00Z"),
            (json!(""), date.clone(), "2026-01-05T11:00:00Z"),
            (json!("yesterday"), date.clone(), "2026-01-05T11:00:00Z"),
            (json!(null), date, "2026-01-05T11:00:00Z"),
            (json!(null), json!([]), "1970-01-01T00:00:00Z"),
        ] {
            let patch = json!({"startedDateTime": started, "request": {"headers": headers}});
            let began = read(&patch).unwrap().began;
            assert_eq!(began.timestamp(), expected.parse::<DateTime<Utc>>().unwrap().timestamp(), "{patch}");
        }
    }
}
