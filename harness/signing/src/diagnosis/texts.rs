//! Texts that are signed by mistake, each with its explanation.

use std::fmt::Write as _;

use super::{Received, base64_text::percent_decoded, dates};
use crate::{
    digest::Algorithm,
    signing_string::{REQUEST_TARGET, listed_headers, signing_string},
};

/// Returns other texts that may have been signed by mistake, each with its explanation.
pub(super) fn habits<'a>(
    listed: &'a [&'a str],
    received: &'a Received<'a>,
    ours: &'a str,
) -> impl Iterator<Item = (String, String)> + 'a {
    let lines: Vec<&str> = ours.split('\n').collect();
    let of_lines = lines.clone().into_iter().enumerate().flat_map(move |(at, line)| {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        let (begin, end) = (lines[..at].to_vec(), lines[at + 1..].to_vec());
        of_line(name, value, received).map(move |(changed, habit)| {
            let changed = changed.as_deref().into_iter();
            let lines: Vec<&str> = begin.iter().copied().chain(changed).chain(end.iter().copied()).collect();
            (lines.join("\n"), habit)
        })
    });
    of_text(listed, received, ours).into_iter().chain(of_lines)
}

/// Returns mistakes in the whole text.
fn of_text(listed: &[&str], received: &Received<'_>, ours: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = ours.split('\n').collect();
    let all =
        |map: &dyn Fn(&str) -> String| lines.iter().map(|line| map(line)).collect::<Vec<_>>().join("\n");
    let as_listed = listed
        .iter()
        .zip(&lines)
        .map(|(name, line)| format!("{name}{}", &line[name.len().min(line.len())..]));
    let as_sent = all(&|line| {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        let sent = received.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        format!("{}: {value}", sent.map_or(name, |(sent, _)| sent))
    });
    let (mut sorted, mut backwards) = (lines.clone(), lines.clone());
    sorted.sort_unstable();
    backwards.reverse();
    let mut habits: Vec<(String, String)> = [
        (format!("{ours}\n"), "it has a line end after the last line"),
        (format!("{ours}\r\n"), "it has CRLF after the last line"),
        (ours.replace('\n', "\r\n"), "its lines end with CRLF, not with LF"),
        (
            format!("{}\r\n", ours.replace('\n', "\r\n")),
            "each of its lines ends with CRLF, including the last",
        ),
        (ours.replace('\n', "\\n"), "its lines are joined with \\n as two characters"),
        (ours.replace('\n', ""), "its lines are joined without LF"),
        (ours.replace('\n', " "), "its lines are joined with spaces"),
        (ours.replace('\n', ","), "its lines are joined with commas"),
        (ours.replace('\n', ", "), "its lines are joined with commas"),
        (all(&|line| line.replacen(": ", ":", 1)), "there is no space after the colons"),
        (all(&|line| line.replacen(": ", "=", 1)), "names and values are joined with `=`"),
        (all(&str::to_lowercase), "its values are in lowercase"),
        (
            all(&|line| line.split_once(": ").map_or(line, |(_, value)| value).to_owned()),
            "it has the values without their names",
        ),
        (as_listed.collect::<Vec<_>>().join("\n"), "its names have the case of the list, not lowercase"),
        (as_sent, "its names have the case of the request, not lowercase"),
        (sorted.join("\n"), "its lines are sorted by name"),
        (backwards.join("\n"), "its lines are in reverse order"),
        (String::from_utf8_lossy(received.body).into_owned(), "it is the body"),
        (String::new(), "it is empty"),
    ]
    .map(|(text, habit)| (text, habit.to_owned()))
    .to_vec();
    let document = listed_headers(received.signed_headers, received.fields);
    if let Ok(text) = signing_string(&document, received.fields, received.target) {
        habits.push((text, format!("it covers {}, which is not what the list contains", document.join(" "))));
    }
    if let Some(target) = received.target {
        let line = format!("{REQUEST_TARGET}: {} {}", target.method.to_ascii_lowercase(), target.path);
        habits.push((
            format!("{line}\n{ours}"),
            "it begins with (request-target), which is not listed".to_owned(),
        ));
    }
    habits
}

/// Returns mistakes in one line: the line that is signed instead, or None if it is omitted.
fn of_line<'a>(
    name: &'a str,
    value: &'a str,
    received: &'a Received<'a>,
) -> impl Iterator<Item = (Option<String>, String)> + 'a {
    let mut values = vec![
        (String::new(), format!("{name} is empty in it")),
        (value.to_lowercase(), format!("{name} is in lowercase in it")),
        (value.to_uppercase(), format!("{name} is in uppercase in it")),
        (format!("\"{value}\""), format!("{name} is in quotation marks in it")),
    ];
    if name == "digest" {
        if let Some((_, hash)) = value.split_once('=') {
            values.push((hash.to_owned(), "digest is without its algorithm in it".to_owned()));
        }
        for algorithm in Algorithm::ALL {
            let habit =
                format!("digest is the {} of the body in it, but the request has another", algorithm.token());
            values.push((algorithm.header_value(received.body), habit));
            values
                .push((algorithm.base64(received.body), "digest is without its algorithm in it".to_owned()));
        }
    }
    let named = |(value, habit): (String, &str)| (value, format!("{name} is {habit} in it"));
    values.extend(in_other_urls(value).into_iter().map(named));
    if let Some((method, path)) = value.split_once(' ').filter(|_| name == REQUEST_TARGET) {
        let host = received
            .fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("host"))
            .map_or("", |(_, host)| host);
        let paths = [
            (format!("{} {path}", method.to_uppercase()), "with its method in uppercase"),
            (format!("{method} {}", path.split('?').next().unwrap_or(path)), "without its query"),
            (format!("{method} https://{host}{path}"), "a whole URL"),
            (path.to_owned(), "without its method"),
        ];
        values.extend(paths.map(named));
    }
    let dates = (name == "date").then(|| dates::others(value));
    let values =
        values.into_iter().filter(move |(changed, _)| changed != value).chain(dates.into_iter().flatten());
    let lines = values.map(move |(changed, habit)| (Some(format!("{name}: {changed}")), habit));
    std::iter::once((None, format!("it lacks {name}"))).chain(lines)
}

/// Returns a value as code that handles URLs or markup would change it (RFC 3986, section 2.1).
fn in_other_urls(value: &str) -> Vec<(String, &'static str)> {
    let encoded = |kept: &str| encoded(value, kept);
    let decoded = percent_decoded(value);
    let mut values = vec![
        (encoded("-_.~"), "percent-encoded"),
        (encoded("-_.!~*'()"), "percent-encoded"),
        (encoded("-_.!~*'();,/?:@&=+$#"), "percent-encoded"),
        (encoded("-_.~/:?&=%"), "percent-encoded"),
        (encoded("-_.*").replace("%20", "+"), "encoded as in a form"),
        (value.replace('&', "&amp;"), "with HTML escapes"),
        (value.replace('/', "\\/"), "with JSON escapes"),
        (format!("{value}/"), "with a trailing slash"),
        (value.trim_end_matches('/').to_owned(), "without its trailing slash"),
        (value.split(['?', '#']).next().unwrap_or(value).to_owned(), "without its query"),
    ];
    if value.contains('%') {
        values.push((in_case(value, char::to_ascii_lowercase), "with its percent-encoding in lowercase"));
        values.push((in_case(value, char::to_ascii_uppercase), "with its percent-encoding in uppercase"));
    }
    if let Some(decoded) = decoded {
        values.push((decoded.clone(), "percent-decoded"));
        values.push((decoded.replace('+', " "), "decoded as in a form"));
        values.extend(percent_decoded(&decoded).map(|twice| (twice, "decoded twice")));
    }
    values.push((value.replace('+', " "), "with spaces instead of plus signs"));
    values
}

/// Percent-encodes a string except ASCII letters, digits and the characters in `kept`.
fn encoded(text: &str, kept: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let letter = char::from(byte);
        if byte.is_ascii_alphanumeric() || kept.contains(letter) && byte.is_ascii() {
            out.push(letter);
        } else {
            // Writing to a String cannot fail.
            _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// Changes the case of the digits after percent signs.
fn in_case(text: &str, case: fn(&char) -> char) -> String {
    let mut left = 0;
    text.chars()
        .map(|letter| {
            let changed = if left > 0 { case(&letter) } else { letter };
            left = if letter == '%' { 2 } else { usize::saturating_sub(left, 1) };
            changed
        })
        .collect()
}

/// Describes the first difference of two texts: line, byte, and the text there.
pub(super) fn difference(expected: &str, found: &str) -> String {
    let at = expected.bytes().zip(found.bytes()).take_while(|(one, other)| one == other).count();
    if at == expected.len() && at == found.len() {
        return "both are the same".to_owned();
    }
    let line = expected[..boundary(expected, at)].matches('\n').count() + 1;
    let rest = |text: &str| {
        let from = boundary(text, at.min(text.len()));
        let shown: String = text[from..].chars().take(24).collect();
        if shown.is_empty() { "its end".to_owned() } else { format!("{shown:?}") }
    };
    format!("differs from byte {} (line {line}): expected {}, found {}", at + 1, rest(expected), rest(found))
}

/// Returns the last character boundary at or before this byte.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
