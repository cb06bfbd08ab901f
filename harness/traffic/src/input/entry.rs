//! Reads one entry of an HTTP archive (HAR 1.2). `quirks` lists the deviations of recorders.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Piece, Unread, body, member::Member, quirks};
use xs2aspec_judge::traffic::{Payload, Received, Sent, Traffic};

/// Reads an entry. `now` is its time if it has no other.
pub(super) fn read(number: u64, entry: &Value, now: DateTime<Utc>) -> Piece {
    let entry = Member { at: String::new(), value: Some(entry) };
    let request = entry.member("request");
    match traffic(number, (&entry, &request), now) {
        Ok(traffic) => Piece::Traffic(Box::new(traffic)),
        Err(why) => {
            let text = |name: &str| request.member(name).text().unwrap_or_default().into_owned();
            Piece::Unread(Unread { number, method: text("method"), url: text("url"), why })
        }
    }
}

/// Reads a complete entry. The error names the field, the expected value and the actual one.
fn traffic(
    number: u64,
    (entry, request): (&Member<'_>, &Member<'_>),
    now: DateTime<Utc>,
) -> Result<Traffic, String> {
    entry.object()?;
    request.object()?;
    let method = request.member("method").text()?.into_owned();
    let url = request.member("url").text()?.into_owned();
    let mut headers = headers(&request.member("headers"))?;
    quirks::host_of_authority(&mut headers, &url, request.member("httpVersion").optional_text());
    let mut sent = Sent { method, url, headers, body: Payload::NONE, changed: None };
    (sent.body, sent.changed) = body::posted(request, &sent);
    let (answer, failure) = answer(entry, &sent.method)?;
    let date = answer.as_ref().and_then(|answer| answer.header("date"));
    let date = sent.header("date").or(date);
    Ok(Traffic {
        number,
        label: entry.member("comment").optional_text().map(Cow::into_owned),
        began: quirks::time(entry.member("startedDateTime").value, date).unwrap_or(now),
        micros: duration(&entry.member("time")),
        request: sent,
        answer,
        failure,
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, and not below 0")]
fn duration(member: &Member<'_>) -> u64 {
    (member.number().unwrap_or_default().clamp(0.0, 1e12) * 1000.0) as u64
}

fn headers(member: &Member<'_>) -> Result<Vec<(String, String)>, String> {
    let mut fields = Vec::new();
    match member.value {
        None => {}
        Some(Value::Array(items)) => {
            for (number, item) in items.iter().enumerate() {
                let item = member.item(number, item);
                field(&item.member("name").text()?, &item.member("value"), &mut fields)?;
            }
        }
        Some(Value::Object(members)) => {
            for name in members.keys() {
                field(name, &member.member(name), &mut fields)?;
            }
        }
        Some(_) => return Err(member.wrong("a list")),
    }
    // A header with an empty name is invalid, and its value may be a secret.
    fields.retain(|(name, _)| !name.is_empty());
    Ok(fields)
}

fn field(name: &str, value: &Member<'_>, fields: &mut Vec<(String, String)>) -> Result<(), String> {
    if let Some(Value::Array(values)) = value.value {
        return values
            .iter()
            .enumerate()
            .try_for_each(|(number, one)| field(name, &value.item(number, one), fields));
    }
    let text =
        value.value.map(|_| value.optional_text().ok_or_else(|| value.wrong("a string"))).transpose()?;
    fields.push((name.to_owned(), text.unwrap_or_default().into_owned()));
    Ok(())
}

/// Returns the response, and the reason if it is missing or incomplete.
fn answer(entry: &Member<'_>, method: &str) -> Result<(Option<Received>, Option<String>), String> {
    let response = entry.member("response");
    let errors = [
        entry.member("_failure"),
        response.member("_error"),
        response.member("_failure"),
        response.member("_failureText"),
    ];
    let error = errors.iter().filter_map(Member::optional_text).find(|error| !error.is_empty());
    let mut failure = error.map(Cow::into_owned);
    if response.value.is_none() {
        return Ok((None, Some(failure.unwrap_or_else(|| "the archive has no response".to_owned()))));
    }
    response.object()?;
    let member = response.member("status");
    let status = match member.value.map(|_| member.number()) {
        None => 0,
        Some(Some(number)) => quirks::status(number).ok_or_else(|| member.wrong(STATUS))?,
        Some(None) => return Err(member.wrong(STATUS)),
    };
    if status == 0 {
        return Ok((None, Some(failure.unwrap_or_else(|| "there was no response".to_owned()))));
    }
    if entry.value.is_some_and(quirks::is_of_a_test) {
        failure = Some("the response is from a test, not from the bank".to_owned());
    }
    let headers = headers(&response.member("headers"))?;
    let body = body::content(&response, (method, status), &headers);
    Ok((Some(Received { status, headers, body }), failure))
}

const STATUS: &str = "a status code, or 0 without a response";
