//! Reads the exchanges of the record of a run, which are masked.

use std::{collections::BTreeMap, io::BufRead};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, TimeDelta, Utc};
use xs2aspec_record::{Body, Event, Exchange, Header, TargetProfile, Untold};

use super::{InputError, Masked, Piece, Unread, body};
use xs2aspec_judge::traffic::{Payload, Received, Sent, Traffic};

/// Reads a record.
pub(super) fn read(
    name: &str,
    file: impl BufRead,
    take: &mut dyn FnMut(Piece) -> bool,
) -> Result<(), InputError> {
    let (mut now, mut is_of_a_run, mut is_of_others) = (DateTime::<Utc>::UNIX_EPOCH, true, false);
    for event in xs2aspec_record::events(file) {
        let event = event.map_err(|error| InputError::Form(name.to_owned(), error.to_string()))?;
        let goes_on = match event {
            Event::RunStarted(start) => {
                now = start.now.parse().unwrap_or(now);
                is_of_others = start.traffic.is_some();
                is_of_a_run = start.traffic.is_none() || start.on_purpose;
                take(Piece::Masked(Masked { values: BTreeMap::new(), is_of_a_run }))
            }
            Event::Profile(TargetProfile { values, .. }) => {
                take(Piece::Masked(Masked { values, is_of_a_run }))
            }
            Event::Exchange(exchange) => {
                let (number, request) = (exchange.number, exchange.request.clone());
                take(match traffic(now, exchange, is_of_others) {
                    Some(traffic) => Piece::Traffic(Box::new(traffic)),
                    None => Piece::Unread(Unread {
                        number,
                        method: request.method,
                        url: request.url,
                        why: "expected base64 (RFC 4648, section 4) in a body, found none".to_owned(),
                    }),
                })
            }
            _ => true,
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}

fn traffic(now: DateTime<Utc>, exchange: Exchange, is_of_others: bool) -> Option<Traffic> {
    let at = TimeDelta::microseconds(i64::try_from(exchange.at).unwrap_or_default());
    let request = exchange.request;
    let headers = fields(request.headers);
    let known = |of: (&str, Option<u16>), headers: &[(String, String)], body: Option<Body>| match body {
        None if is_of_others => Some(body::unrecorded(of, headers)),
        body => payload(body),
    };
    let posted = known((&request.method, None), &headers, request.body)?;
    let answer = match exchange.response {
        Some(answer) => {
            let (status, headers) = (answer.status, fields(answer.headers));
            let body = if exchange.failure.is_some() {
                Payload::Unknown(Untold::NotWhole)
            } else {
                known((&request.method, Some(status)), &headers, answer.body)?
            };
            Some(Received { status, headers, body })
        }
        None => None,
    };
    Some(Traffic {
        number: exchange.number,
        label: Some(format!("{} / {} (request {})", exchange.case, exchange.step, exchange.number)),
        began: now.checked_add_signed(at).unwrap_or(now),
        micros: exchange.micros,
        request: Sent { method: request.method, url: request.url, headers, body: posted, changed: None },
        answer,
        failure: exchange.failure,
    })
}

fn fields(headers: Vec<Header>) -> Vec<(String, String)> {
    headers.into_iter().map(|Header(name, value)| (name, value)).collect()
}

/// Returns the bytes of a body. Returns `None` if invalid base64 was found.
fn payload(body: Option<Body>) -> Option<Payload> {
    Some(Payload::Bytes(match body {
        None => Vec::new(),
        Some(Body::Text(text)) => text.into_bytes(),
        Some(Body::Base64(code)) => BASE64_STANDARD.decode(code).ok()?,
    }))
}
