//! `exchanges.har`: every exchange as HTTP Archive 1.2, for the network viewers of browsers and API tools.
//! Its values are masked, as in the record.

use std::io::{self, Write};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};
use xs2aspec_record::{Body, Event, Exchange, Header, ReadError, RunStarted};

use crate::{error::ReportsError, summary::RunSummary};

/// Writes the archive of a run: its exchanges in the order of the record, the oldest response first. Start
/// times are relative to the clock of the run or shard.
pub(crate) fn write(
    events: impl Iterator<Item = Result<Event, ReadError>>,
    summary: &RunSummary,
    out: &mut dyn Write,
) -> Result<(), ReportsError> {
    let draw = ReportsError::Draw;
    begin(summary, out).map_err(draw)?;
    let (mut start, mut separator) = (summary.start().clone(), "");
    for event in events {
        match event? {
            Event::RunStarted(part) => start = part,
            Event::Exchange(exchange) => {
                out.write_all(separator.as_bytes()).map_err(draw)?;
                serde_json::to_writer(&mut *out, &entry(&start, &exchange))
                    .map_err(|error| draw(error.into()))?;
                separator = ",";
            }
            _ => {}
        }
    }
    out.write_all(b"]}}").map_err(draw)
}

fn begin(summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
    let tool = &summary.start().tool;
    let (name, version) = tool.split_once(' ').unwrap_or((tool, ""));
    let creator = json!({"name": name, "version": version});
    // Readers who know the values of the target can substitute them for the pseudonyms. Custom fields begin
    // with `_`.
    let values = json!(summary.profile().map(|profile| &profile.values));
    let RunStarted { traffic, on_purpose, .. } = summary.start();
    // Recorded traffic is distinguished from the requests of a run.
    let traffic = traffic.filter(|_| !on_purpose).map(|traffic| format!(r#""_traffic":{},"#, json!(traffic)));
    let traffic = traffic.unwrap_or_default();
    write!(
        out,
        r#"{{"log":{{"version":"1.2","creator":{creator},{traffic}"_values":{values},"pages":[],"entries":["#
    )
}

/// Returns the clock of the run when the exchange began, as RFC 3339 with microseconds.
fn began(start: &RunStarted, exchange: &Exchange) -> String {
    let now = start.now.parse::<DateTime<Utc>>().unwrap_or_default();
    let at = TimeDelta::microseconds(i64::try_from(exchange.at).unwrap_or_default());
    now.checked_add_signed(at).unwrap_or(now).to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn entry(start: &RunStarted, exchange: &Exchange) -> Value {
    // A float holds the microseconds of a run exactly.
    #[expect(clippy::cast_precision_loss, reason = "a duration in milliseconds")]
    let took = exchange.micros as f64 / 1000.0;
    let request = &exchange.request;
    let query: Vec<Value> = request
        .url
        .split_once('?')
        .map(|(_, query)| query.split('&').filter(|part| !part.is_empty()))
        .into_iter()
        .flatten()
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let mut asked = json!({
        "method": request.method, "url": request.url, "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": headers(&request.headers), "queryString": query, "headersSize": -1,
        "bodySize": request.body.as_ref().map_or(0, size),
    });
    if let Some(body) = &request.body {
        asked["postData"] = posted(body, media_type(&request.headers));
    }
    let answer = exchange.response.as_ref();
    let fields = answer.map_or(&[][..], |answer| &answer.headers);
    let body = answer.and_then(|answer| answer.body.as_ref());
    let mut content = json!({"size": body.map_or(0, size), "mimeType": media_type(fields)});
    match body {
        Some(Body::Text(text)) => content["text"] = text.as_str().into(),
        Some(Body::Base64(code)) => {
            content["text"] = code.as_str().into();
            content["encoding"] = "base64".into();
        }
        None => {}
    }
    let mut entry = json!({
        "startedDateTime": began(start, exchange),
        "time": took,
        "request": asked,
        "response": {
            // A request without a response has status 0, as browsers write it.
            "status": answer.map_or(0, |answer| answer.status), "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": headers(fields), "content": content, "redirectURL": "", "headersSize": -1,
            "bodySize": body.map_or(0, size),
        },
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
        "_number": exchange.number,
        "comment": format!(
            "{} / {} (request {}){}", exchange.case, exchange.step, exchange.number,
            exchange.failure.as_ref().map(|failure| format!(": {failure}")).unwrap_or_default()
        ),
    });
    if let Some(failure) = &exchange.failure {
        entry["_failure"] = failure.as_str().into();
    }
    entry
}

/// Renders a request body. HAR 1.2 has a field for the encoding of response bodies only, so that of a request
/// body is in a custom field, whose name begins with `_`.
fn posted(body: &Body, media_type: &str) -> Value {
    match body {
        Body::Text(text) => json!({"mimeType": media_type, "text": text}),
        Body::Base64(code) => json!({
            "mimeType": media_type, "text": code, "_encoding": "base64",
            "comment": "binary body, encoded as base64",
        }),
    }
}

fn headers(headers: &[Header]) -> Vec<Value> {
    headers.iter().map(|Header(name, value)| json!({"name": name, "value": value})).collect()
}

fn media_type(headers: &[Header]) -> &str {
    let found = headers.iter().find(|Header(name, _)| name.eq_ignore_ascii_case("content-type"));
    found.map_or("", |Header(_, value)| value)
}

/// Returns the size of a recorded body, in bytes.
fn size(body: &Body) -> usize {
    match body {
        Body::Text(text) => text.len(),
        Body::Base64(code) => {
            code.len() / 4 * 3 - code.bytes().rev().take_while(|byte| *byte == b'=').count()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_no_text_says_how_it_is_written() {
        let text = posted(&Body::Text("{}".to_owned()), "application/json");
        assert_eq!(text, json!({"mimeType": "application/json", "text": "{}"}));
        let bytes = posted(&Body::of(b"\xff{}").unwrap(), "application/json");
        assert_eq!((&bytes["text"], &bytes["_encoding"]), (&json!("/3t9"), &json!("base64")));
        assert!(bytes["comment"].as_str().is_some_and(|says| says.contains("base64")));
    }
}
