//! One entry of an HTTP archive (HAR 1.2), as Chromium, Firefox, mitmproxy and converters write it.

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, Utc};
use serde_json::Value;

use xs2aspec_judge::traffic::{Payload, Received, Sent, Traffic};

/// Reads an entry. The error says which member is wrong, what was expected and what was found.
pub fn traffic(number: u64, entry: &Value) -> Result<Traffic, String> {
    let entry = Member { at: String::new(), value: Some(entry) };
    entry.object()?;
    let request = entry.member("request");
    request.object()?;
    let response = entry.member("response");
    let sent = Sent {
        method: request.member("method").text()?.to_owned(),
        url: url(&request.member("url"))?,
        headers: headers(&request.member("headers"))?,
        body: Payload::NONE,
        is_restored: false,
    };
    let sent = Sent { body: posted(&request, &sent)?, ..sent };
    let (answer, failure) = answer(&entry, &response)?;
    Ok(Traffic {
        number,
        label: entry.member("comment").optional_text()?.map(str::to_owned),
        began: time(&entry.member("startedDateTime"))?,
        micros: duration(&entry.member("time"))?,
        request: sent,
        answer,
        failure,
    })
}

/// A member of an entry, if it is there.
struct Member<'a> {
    /// Its path.
    at: String,
    value: Option<&'a Value>,
}

impl<'a> Member<'a> {
    fn member(&self, name: &str) -> Member<'a> {
        let at = if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) };
        Member { at, value: self.value.and_then(|value| value.get(name)).filter(|value| !value.is_null()) }
    }

    fn item(&self, number: usize, value: &'a Value) -> Member<'a> {
        Member { at: format!("{}[{number}]", self.at), value: Some(value) }
    }

    fn wrong(&self, expected: &str) -> String {
        let found = match self.value {
            None => "nothing".to_owned(),
            Some(Value::Null) => "null".to_owned(),
            Some(Value::Bool(_)) => "true or false".to_owned(),
            Some(Value::Number(number)) => format!("the number {number}"),
            Some(Value::String(_)) => "a text".to_owned(),
            Some(Value::Array(_)) => "a list".to_owned(),
            Some(Value::Object(_)) => "an object".to_owned(),
        };
        if self.at.is_empty() {
            format!("expected {expected}, found {found}")
        } else {
            format!("`{}`: expected {expected}, found {found}", self.at)
        }
    }

    fn object(&self) -> Result<(), String> {
        if self.value.is_some_and(Value::is_object) { Ok(()) } else { Err(self.wrong("an object")) }
    }

    fn text(&self) -> Result<&'a str, String> {
        self.value.and_then(Value::as_str).ok_or_else(|| self.wrong("a text"))
    }

    fn optional_text(&self) -> Result<Option<&'a str>, String> {
        self.value.map(|_| self.text()).transpose()
    }

    fn optional_number(&self) -> Result<Option<f64>, String> {
        self.value.map(|value| value.as_f64().ok_or_else(|| self.wrong("a number"))).transpose()
    }

    /// A number of bytes; nothing where it is not known, for which archives write -1.
    fn size(&self) -> Result<Option<u64>, String> {
        let number = self.optional_number()?.filter(|number| *number >= 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded, and not below 0"
        )]
        let whole = |number: f64| number.min(9e15) as u64;
        Ok(number.map(whole))
    }
}

fn url(member: &Member<'_>) -> Result<String, String> {
    let url = member.text()?;
    if url.is_empty() {
        Err(format!("`{}`: expected a URL, found an empty text", member.at))
    } else {
        Ok(url.to_owned())
    }
}

fn time(member: &Member<'_>) -> Result<DateTime<Utc>, String> {
    const EXPECTED: &str = "a date and time with its offset (ISO 8601), such as 2026-01-05T10:00:00.000Z";
    let text = member.text().map_err(|_| member.wrong(EXPECTED))?;
    let read = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"));
    read.map(|time| time.with_timezone(&Utc))
        .map_err(|_| format!("`{}`: expected {EXPECTED}, found another text", member.at))
}

fn duration(member: &Member<'_>) -> Result<u64, String> {
    let millis = member.optional_number()?.unwrap_or_default().clamp(0.0, 1e12);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, and not below 0")]
    let micros = (millis * 1000.0) as u64;
    Ok(micros)
}

fn headers(member: &Member<'_>) -> Result<Vec<(String, String)>, String> {
    let Some(value) = member.value else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or_else(|| member.wrong("a list"))?;
    let field = |(number, item): (usize, &Value)| {
        let item = member.item(number, item);
        item.object()?;
        let value = item.member("value").optional_text()?.unwrap_or_default();
        Ok((item.member("name").text()?.to_owned(), value.to_owned()))
    };
    items.iter().enumerate().map(field).collect()
}

/// The body of a request. An archive may leave it out, and say of it only how long it was.
fn posted(request: &Member<'_>, sent: &Sent) -> Result<Payload, String> {
    let posted = request.member("postData");
    let size = request.member("bodySize").size()?;
    let said = sent.header("content-length").and_then(|text| text.trim().parse::<u64>().ok());
    if posted.value.is_none() {
        return Ok(match said.or(size) {
            None | Some(0) => Payload::NONE,
            Some(size) => Payload::Unknown(format!("is not in the archive ({size} bytes)")),
        });
    }
    posted.object()?;
    let member = posted.member("text");
    let Some(text) = member.optional_text()? else {
        return Ok(Payload::Unknown("is in the archive by its parameters alone".to_owned()));
    };
    // HAR 1.2 has no member for the encoding of what was sent: `_encoding` is that of a run's own archive.
    let encoding = [posted.member("_encoding"), posted.member("encoding")];
    let encoding = encoding.iter().map(Member::optional_text).collect::<Result<Vec<_>, _>>()?;
    let bytes = decoded(&member, text, encoding.into_iter().flatten().next())?;
    if shows_not_all(text, &bytes) {
        return Ok(Payload::Unknown(NOT_SHOWN.to_owned()));
    }
    let utf_16 = text.encode_utf16().count() as u64;
    let length = bytes.len() as u64;
    // Browsers count the letters of a text as they keep it, in UTF-16.
    let is_whole = |size: u64| size == length || size == utf_16;
    match said.or(size.filter(|size| *size > 0)).filter(|size| !is_whole(*size)) {
        Some(size) => Ok(Payload::Unknown(format!("is {length} of {size} bytes in the archive"))),
        None => Ok(Payload::Bytes(bytes)),
    }
}

/// Why a body is not known whose archive has U+FFFD for some of its bytes.
const NOT_SHOWN: &str = "has bytes that the archive does not show";

/// Whether something stands for bytes that a tool could not read as text.
fn shows_not_all(text: &str, bytes: &[u8]) -> bool {
    bytes.len() == text.len() && text.contains('\u{fffd}')
}

fn decoded(member: &Member<'_>, text: &str, encoding: Option<&str>) -> Result<Vec<u8>, String> {
    match encoding {
        None | Some("") => Ok(text.as_bytes().to_vec()),
        Some(name) if name.eq_ignore_ascii_case("base64") => BASE64_STANDARD
            .decode(text)
            .map_err(|_| format!("`{}`: expected base64 (RFC 4648, section 4), found none", member.at)),
        Some(other) => {
            Err(format!("`{}`: expected the encoding `base64` or none, found `{}`", member.at, short(other)))
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The answer, and why there is none or no whole one.
fn answer(entry: &Member<'_>, response: &Member<'_>) -> Result<(Option<Received>, Option<String>), String> {
    if response.value.is_none() {
        return Ok((None, Some("the archive has no answer".to_owned())));
    }
    response.object()?;
    let member = response.member("status");
    let status = match member.value {
        None => 0,
        Some(value) => {
            let number = value.as_u64().filter(|number| *number == 0 || (100..=999).contains(number));
            let number = number.and_then(|number| u16::try_from(number).ok());
            number.ok_or_else(|| member.wrong("a status code, or 0 where there was no answer"))?
        }
    };
    let errors = [entry.member("_failure"), response.member("_error"), response.member("_failure")];
    let errors = errors.iter().map(Member::optional_text).collect::<Result<Vec<_>, _>>()?;
    let failure = errors.into_iter().flatten().find(|error| !error.is_empty()).map(str::to_owned);
    let headers = headers(&response.member("headers"))?;
    let body = content(response)?;
    if status == 0 {
        return Ok((None, Some(failure.unwrap_or_else(|| "there was no answer".to_owned()))));
    }
    Ok((Some(Received { status, headers, body }), failure))
}

/// The body of an answer. An archive may leave it out, or cut it.
fn content(response: &Member<'_>) -> Result<Payload, String> {
    let content = response.member("content");
    if content.value.is_none() {
        let size = response.member("bodySize").size()?.unwrap_or_default();
        let is_there = size > 0;
        return Ok(if is_there {
            Payload::Unknown("is not in the archive".to_owned())
        } else {
            Payload::NONE
        });
    }
    content.object()?;
    let size = content.member("size").size()?;
    let member = content.member("text");
    let Some(text) = member.optional_text()? else {
        let sent = response.member("bodySize").size()?;
        let none = size.or(sent).unwrap_or_default() == 0;
        return Ok(if none { Payload::NONE } else { Payload::Unknown("is not in the archive".to_owned()) });
    };
    let bytes = decoded(&member, text, content.member("encoding").optional_text()?)?;
    if shows_not_all(text, &bytes) {
        return Ok(Payload::Unknown(NOT_SHOWN.to_owned()));
    }
    let is_cut =
        content.member("truncated").value.or(content.member("_truncated").value) == Some(&Value::Bool(true));
    let length = bytes.len() as u64;
    // `size` is that before or after a content coding; a text of another charset only gets longer in UTF-8.
    match size {
        Some(size) if length < size => {
            Ok(Payload::Unknown(format!("is {length} of {size} bytes in the archive")))
        }
        _ if is_cut => Ok(Payload::Unknown("is cut off in the archive".to_owned())),
        _ => Ok(Payload::Bytes(bytes)),
    }
}
