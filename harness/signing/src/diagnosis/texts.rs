//! Texts that are digested or signed by mistake, each with the habit that leads there.

use super::Received;
use crate::{
    digest::Algorithm,
    signing_string::{listed_headers, signing_string},
};

/// What else a Digest may be of.
pub(super) fn other_body(algorithm: Algorithm, found: &str, body: &[u8]) -> Option<&'static str> {
    let is = |text: &[u8]| algorithm.base64(text) == found;
    let text = std::str::from_utf8(body).unwrap_or_default();
    let hex =
        |found: &str| found.len().is_multiple_of(2) && found.bytes().all(|byte| byte.is_ascii_hexdigit());
    match () {
        () if found.trim_end_matches('=') == algorithm.base64(body).trim_end_matches('=') => {
            Some("it is the right hash without the padding of base64")
        }
        () if hex(found) => Some("it is written in hexadecimal, not in base64"),
        () if is(b"") => Some("it is the hash of no body at all"),
        () if is(text.trim_end().as_bytes()) => {
            Some("it is the hash of the body without the blanks or the line end behind it")
        }
        () if is(format!("{text}\n").as_bytes()) => {
            Some("it is the hash of the body with a line end behind it")
        }
        () if is(text.replace("\r\n", "\n").as_bytes()) => {
            Some("it is the hash of the body with LF in place of CRLF")
        }
        () if is(text.replace('\n', "\r\n").as_bytes()) => {
            Some("it is the hash of the body with CRLF in place of LF")
        }
        () if is(without_blanks(text).as_bytes()) => {
            Some("it is the hash of the JSON without blanks between its members")
        }
        () if Algorithm::ALL.into_iter().any(|other| other.base64(body) == found) => {
            Some("it is a hash of the other algorithm")
        }
        () => None,
    }
}

/// JSON without blanks outside its texts.
fn without_blanks(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    json.chars()
        .filter(|letter| {
            let keep = quoted || !letter.is_ascii_whitespace();
            if *letter == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = *letter == '\\' && !escaped;
            keep
        })
        .collect()
}

/// Other texts that are signed by mistake, each with the habit that leads there.
pub(super) fn habits(listed: &[&str], received: &Received<'_>, ours: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = ours.split('\n').collect();
    let all =
        |map: &dyn Fn(&str) -> String| lines.iter().map(|line| map(line)).collect::<Vec<_>>().join("\n");
    let mut habits = vec![
        (format!("{ours}\n"), "it has a line end behind the last line".to_owned()),
        (ours.replace('\n', "\r\n"), "its lines end with CRLF, not with LF".to_owned()),
        (ours.replace('\n', ""), "its lines are joined without LF".to_owned()),
        (ours.replace('\n', " "), "its lines are joined with blanks".to_owned()),
        (all(&|line| line.replacen(": ", ":", 1)), "there is no blank behind the colons".to_owned()),
        (all(&|line| line.replacen(": ", "=", 1)), "names and values are joined with `=`".to_owned()),
        (all(&str::to_lowercase), "its values are in small letters".to_owned()),
        (
            all(&|line| line.split_once(": ").map_or(line, |(_, value)| value).to_owned()),
            "it has the values without their names".to_owned(),
        ),
    ];
    let as_listed: Vec<String> = listed
        .iter()
        .zip(&lines)
        .map(|(name, line)| format!("{name}{}", &line[name.len().min(line.len())..]))
        .collect();
    habits.push((
        as_listed.join("\n"),
        "its names are as the list writes them, not in small letters".to_owned(),
    ));
    let as_sent = lines.iter().map(|line| {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        let sent = received.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        format!("{}: {value}", sent.map_or(name, |(sent, _)| sent))
    });
    habits.push((
        as_sent.collect::<Vec<_>>().join("\n"),
        "its names are as they are sent, not in small letters".to_owned(),
    ));
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    habits.push((sorted.join("\n"), "its lines are sorted by name".to_owned()));
    let mut backwards = lines.clone();
    backwards.reverse();
    habits.push((backwards.join("\n"), "its lines are in the contrary order of the list".to_owned()));
    let document = listed_headers(received.signed_headers, received.fields);
    if let Ok(text) = signing_string(&document, received.fields, received.target) {
        habits.push((text, format!("it is over {}, which is not what the list says", document.join(" "))));
    }
    if let Some(target) = received.target {
        let line = format!("(request-target): {} {}", target.method.to_ascii_lowercase(), target.path);
        habits.push((
            format!("{line}\n{ours}"),
            "it begins with (request-target), which is not listed".to_owned(),
        ));
    }
    for (at, line) in lines.iter().enumerate() {
        let name = line.split_once(": ").map_or(*line, |(name, _)| name);
        let with = |changed: Option<String>| {
            let mut changed_lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            match changed {
                Some(line) => changed_lines[at] = line,
                None => drop(changed_lines.remove(at)),
            }
            changed_lines.join("\n")
        };
        let value = line.split_once(": ").map_or("", |(_, value)| value);
        habits.push((with(None), format!("it lacks {name}")));
        habits.push((with(Some(format!("{name}: "))), format!("{name} is empty in it")));
        habits.push((
            with(Some(format!("{name}: {}", value.to_lowercase()))),
            format!("{name} is in small letters in it"),
        ));
        habits.push((
            with(Some(format!("{name}: {}", value.to_uppercase()))),
            format!("{name} is in capital letters in it"),
        ));
        if let Some(hash) = value.split_once('=').map(|(_, hash)| hash).filter(|_| name == "digest") {
            habits.push((
                with(Some(format!("{name}: {hash}"))),
                "digest is without its algorithm in it".to_owned(),
            ));
            for algorithm in Algorithm::ALL {
                let value = algorithm.header_value(received.body);
                let habit =
                    format!("digest is {} of the body in it, and another one is sent", algorithm.token());
                habits.push((with(Some(format!("{name}: {value}"))), habit));
            }
        }
    }
    habits
}

/// Where two texts differ: line, byte, and what stands there.
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

/// The last beginning of a character at or before this byte.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
