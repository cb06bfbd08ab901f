//! Values with placeholders. `${axis.column}` is filled in when cases are expanded, and
//! `${target.psu.private.id}` when a request is sent.
//!
//! A scalar that is a single placeholder takes the value with its type. Inside other text, the value becomes
//! text. A mapping with one key that starts with `$` is a function of its argument.

use std::{fmt::Write, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Map, Value};

/// First parts of the names that are filled in when a request is built, not when cases are expanded.
///
/// - `target`: a value of the bank profile
/// - `fresh`: a UUID for this request alone
/// - `number.N`: a number of N digits for this request alone
/// - `shared`, `shared-number.N`: the same in all requests of a case
/// - `day+N`: the date N days after the run's clock
/// - `workday+N`: the first workday from that date on
/// - `month-end+N`: the first end of a month from that date on that is neither a weekend nor a holiday
/// - `year-end+N`: the first 31 December from that date on
/// - `month-of.DAYS+N`: the first workday from that date on in a month of 28 (any February), 30 or 31 days
/// - `leap-day`: the next 29 February that is some months ahead
/// - `now`: the clock in the format of a Date header
/// - `host.capitals`, `host.with-port`: the target's authority in other notations that Host allows
/// - `digest`, `certificate`, `signature`: the results of signing
/// - `certificate.other`, and the parts `.serial`, `.serial-decimal`, `.issuer`, `.subject` and `.pem` of
///   either certificate
/// - `signature.base64`: the base64 of the Signature header
/// - `beginning.NAME`: the [`beginning`] of the value with that name
pub const RUN_TIME: [&str; 17] = [
    "target",
    "fresh",
    "number",
    "shared",
    "shared-number",
    "day",
    "workday",
    "month-end",
    "year-end",
    "month-of",
    "leap-day",
    "now",
    "host",
    "digest",
    "certificate",
    "signature",
    "beginning",
];

/// The reason why a value cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A `${` without its `}`.
    #[error("unclosed placeholder `${{` in `{0}`")]
    Open(String),
    /// A list or mapping inside a string.
    #[error("`${{{0}}}` is a list or a mapping and cannot be part of a string")]
    NotText(String),
    /// A function that does not exist.
    #[error(
        "unknown function `{0}`: expected one of $repeat, $concat, $join, $upper, $lower, $alternate, $lower-token, $drop-last, $without-last, $first, $last, $until, $bytes, $gzip"
    )]
    NoFunction(String),
    /// A string that lacks the required ending.
    #[error("{0:?} does not end in {1:?}")]
    NoSuchEnd(String, String),
    /// An argument that the function does not accept.
    #[error("`{0}` takes {1}")]
    Argument(&'static str, &'static str),
}

/// Fills in the placeholders that `fill` knows and keeps the others.
pub fn expand(value: &Value, fill: &dyn Fn(&str) -> Option<Value>) -> Result<Value, ExpandError> {
    match value {
        Value::String(text) => expand_text(text, fill),
        Value::Array(items) => {
            items.iter().map(|item| expand(item, fill)).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Object(members) => {
            let members: Map<_, _> = members
                .iter()
                .map(|(name, member)| Ok((name.clone(), expand(member, fill)?)))
                .collect::<Result<_, ExpandError>>()?;
            Ok(Value::Object(members))
        }
        other => Ok(other.clone()),
    }
}

/// Computes the functions in a value whose placeholders are filled in. Arguments that still contain
/// placeholders are kept.
pub fn compute(value: Value) -> Result<Value, ExpandError> {
    fn calls(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(calls),
            Value::Object(members) => {
                members.iter().any(|(name, member)| name.starts_with('$') || calls(member))
            }
            _ => false,
        }
    }
    if calls(&value) { computed(value) } else { Ok(value) }
}

fn computed(value: Value) -> Result<Value, ExpandError> {
    match value {
        Value::Array(items) => items.into_iter().map(computed).collect::<Result<_, _>>().map(Value::Array),
        Value::Object(members) => {
            let mut all = Map::new();
            for (name, member) in members {
                all.insert(name, computed(member)?);
            }
            match all.iter().next() {
                Some((name, argument)) if all.len() == 1 && name.starts_with('$') => call(name, argument),
                _ => Ok(Value::Object(all)),
            }
        }
        other => Ok(other),
    }
}

/// Returns the names of all placeholders in a value.
pub fn names(value: &Value) -> Vec<String> {
    fn collect(value: &Value, names: &mut Vec<String>) {
        match value {
            // Nearly all strings have none, and some are long.
            Value::String(text) if !text.as_bytes().contains(&b'$') => {}
            Value::String(text) => names.extend(pieces(text).filter_map(|piece| match piece {
                Piece::Name(name) => Some(name.to_owned()),
                Piece::Text(_) | Piece::Open => None,
            })),
            Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
            Value::Object(members) => members.values().for_each(|member| collect(member, names)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

/// Returns the first part of a placeholder's name: `target` of `target.psu.private.id`, `day` of `day+10`.
pub fn head(name: &str) -> &str {
    name.split(['.', '+']).next().unwrap_or(name)
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
    Open,
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(after) = rest.strip_prefix("${") else {
            let end = rest.find("${").unwrap_or(rest.len());
            let (text, tail) = rest.split_at(end);
            rest = tail;
            return Some(Piece::Text(text));
        };
        let Some((name, tail)) = after.split_once('}') else {
            rest = "";
            return Some(Piece::Open);
        };
        rest = tail;
        Some(Piece::Name(name))
    })
}

fn expand_text(text: &str, fill: &dyn Fn(&str) -> Option<Value>) -> Result<Value, ExpandError> {
    let mut parts = pieces(text);
    if let (Some(Piece::Name(name)), None) = (parts.next(), parts.next()) {
        return Ok(fill(name).unwrap_or_else(|| Value::String(text.to_owned())));
    }
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Open => return Err(ExpandError::Open(text.to_owned())),
            Piece::Name(name) => match fill(name) {
                None => _ = write!(filled, "${{{name}}}"),
                Some(Value::String(value)) => filled.push_str(&value),
                Some(Value::Array(_) | Value::Object(_)) => {
                    return Err(ExpandError::NotText(name.to_owned()));
                }
                Some(other) => filled.push_str(&other.to_string()),
            },
        }
    }
    Ok(Value::String(filled))
}

fn call(name: &str, argument: &Value) -> Result<Value, ExpandError> {
    let waits = !names(argument).is_empty();
    match name {
        "$repeat" => repeat(argument),
        "$bytes" | "$gzip" => bytes(name, argument),
        _ if waits => Ok(Value::Object(Map::from_iter([(name.to_owned(), argument.clone())]))),
        "$concat" => {
            let parts = argument.as_array().ok_or(ExpandError::Argument("$concat", "a list of strings"))?;
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            Ok(Value::String(parts.ok_or(ExpandError::Argument("$concat", "a list of strings"))?.concat()))
        }
        "$join" => {
            let lists = argument.as_array().ok_or(ExpandError::Argument("$join", "a list of lists"))?;
            let lists: Option<Vec<&Vec<Value>>> = lists.iter().map(Value::as_array).collect();
            let lists = lists.ok_or(ExpandError::Argument("$join", "a list of lists"))?;
            Ok(lists.into_iter().flatten().cloned().collect())
        }
        "$upper" => text_of("$upper", argument).map(|text| Value::String(text.to_uppercase())),
        "$lower" => text_of("$lower", argument).map(|text| Value::String(text.to_lowercase())),
        "$alternate" => text_of("$alternate", argument).map(|text| Value::String(alternate(text))),
        "$lower-token" => text_of("$lower-token", argument).and_then(lower_token).map(Value::String),
        "$drop-last" => drop_last(argument),
        "$without-last" => without_last(argument),
        "$first" => first(argument),
        "$last" => last(argument),
        "$until" => until(argument),
        _ => Err(ExpandError::NoFunction(name.to_owned())),
    }
}

/// Returns the bytes of `{$bytes: [TEXT or NUMBER, ..]}` or `{$gzip: TEXT}`. Strings are in UTF-8, and
/// numbers from 0 to 255 are single bytes. The bytes need be neither UTF-8 nor JSON, so no [`Value`] can hold
/// them.
pub fn as_bytes(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.get("$gzip").and_then(Value::as_str) {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        return packed.write_all(text.as_bytes()).and_then(|()| packed.finish()).ok();
    }
    let parts = value.get("$bytes")?.as_array()?;
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Value::String(text) => bytes.extend_from_slice(text.as_bytes()),
            other => bytes.push(other.as_u64().and_then(|number| u8::try_from(number).ok())?),
        }
    }
    Some(bytes)
}

/// Returns the function unchanged, since [`as_bytes`] evaluates it later. An argument without placeholders is
/// checked now.
fn bytes(name: &str, argument: &Value) -> Result<Value, ExpandError> {
    let value = Value::Object(Map::from_iter([(name.to_owned(), argument.clone())]));
    if !names(argument).is_empty() || as_bytes(&value).is_some() {
        return Ok(value);
    }
    Err(match name {
        "$gzip" => ExpandError::Argument("$gzip", "a string"),
        _ => ExpandError::Argument("$bytes", "a list of strings and of numbers from 0 to 255"),
    })
}

/// Returns a string without its last character and the digits before that. The digits are removed because the
/// start of a number may itself be a number that exists. Returns None if nothing remains.
pub fn beginning(text: &str) -> Option<&str> {
    let (last, _) = text.char_indices().next_back()?;
    Some(text[..last].trim_end_matches(|letter: char| letter.is_ascii_digit()))
        .filter(|kept| !kept.is_empty())
}

/// Returns the string before the first occurrence of a sign.
fn until(argument: &Value) -> Result<Value, ExpandError> {
    let part = |name: &str| argument.get(name).and_then(Value::as_str);
    let found = part("of").zip(part("sign")).and_then(|(text, sign)| text.split_once(sign));
    let (before, _) = found.ok_or(ExpandError::Argument("$until", "{of: TEXT, sign: TEXT in it}"))?;
    Ok(Value::from(before))
}

/// Returns the parts of `{of: TEXT, characters: NUMBER}`.
fn counted(argument: &Value) -> Option<(&str, usize)> {
    let characters = usize::try_from(argument.get("characters")?.as_u64()?).ok()?;
    Some((argument.get("of")?.as_str()?, characters))
}

/// Returns the first characters of a string, or all of it if it is shorter.
fn first(argument: &Value) -> Result<Value, ExpandError> {
    let (of, most) =
        counted(argument).ok_or(ExpandError::Argument("$first", "{of: TEXT, characters: NUMBER}"))?;
    Ok(Value::String(of.chars().take(most).collect()))
}

/// Returns the last characters of a string, or all of it if it is shorter.
fn last(argument: &Value) -> Result<Value, ExpandError> {
    let (of, most) =
        counted(argument).ok_or(ExpandError::Argument("$last", "{of: TEXT, characters: NUMBER}"))?;
    Ok(Value::String(of.chars().skip(of.chars().count().saturating_sub(most)).collect()))
}

fn drop_last(argument: &Value) -> Result<Value, ExpandError> {
    let wanted = ExpandError::Argument("$drop-last", "{of: TEXT, characters: NUMBER up to its length}");
    let (Some(of), Some(characters)) =
        (argument.get("of").and_then(Value::as_str), argument.get("characters").and_then(Value::as_u64))
    else {
        return Err(wanted);
    };
    let kept = usize::try_from(characters).ok().and_then(|last| of.chars().count().checked_sub(last));
    kept.map(|kept| Value::String(of.chars().take(kept).collect())).ok_or(wanted)
}

/// Returns a string without its required ending.
fn without_last(argument: &Value) -> Result<Value, ExpandError> {
    let part = |name: &str| argument.get(name).and_then(Value::as_str);
    let (Some(of), Some(text)) = (part("of"), part("text")) else {
        return Err(ExpandError::Argument("$without-last", "{of: TEXT, text: TEXT at its end}"));
    };
    let kept = of.strip_suffix(text).map(Value::from);
    kept.ok_or_else(|| ExpandError::NoSuchEnd(of.to_owned(), text.to_owned()))
}

fn repeat(argument: &Value) -> Result<Value, ExpandError> {
    let wanted = ExpandError::Argument("$repeat", "{of: TEXT, times: NUMBER up to 1048576}");
    match (argument.get("of"), argument.get("times").and_then(Value::as_u64)) {
        (Some(Value::String(of)), Some(times @ 0..=1_048_576)) => {
            Ok(Value::String(of.repeat(usize::try_from(times).unwrap_or_default())))
        }
        _ => Err(wanted),
    }
}

fn text_of<'a>(name: &'static str, argument: &'a Value) -> Result<&'a str, ExpandError> {
    argument.as_str().ok_or(ExpandError::Argument(name, "a string"))
}

/// Alternates lowercase and uppercase letters, so that the result differs from any letter case that a server
/// may prefer.
fn alternate(text: &str) -> String {
    let mut upper = true;
    text.chars()
        .map(|letter| {
            upper = !upper;
            if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
        })
        .collect()
}

/// Lowercases the token in `TOKEN=VALUE`, as the algorithm of a Digest may be written (RFC 3230, section
/// 4.1.1).
fn lower_token(text: &str) -> Result<String, ExpandError> {
    let (token, value) =
        text.split_once('=').ok_or(ExpandError::Argument("$lower-token", "a string that contains `=`"))?;
    Ok(format!("{}={value}", token.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill(name: &str) -> Option<Value> {
        match name {
            "list" => Some(json!([3, 3])),
            "n" => Some(json!(71)),
            "text" => Some(json!("x")),
            _ => None,
        }
    }

    #[test]
    fn a_whole_placeholder_keeps_its_type_and_unknown_ones_stay() {
        let value =
            json!({"a": "${list}", "b": ["<${n}|${text}>"], "c": "${target.id}", "d": "${target.id}/${n}"});
        let expected = json!({"a": [3, 3], "b": ["<71|x>"], "c": "${target.id}", "d": "${target.id}/71"});
        assert_eq!(expand(&value, &fill).unwrap(), expected);
    }

    #[test]
    fn a_list_inside_text_and_an_open_placeholder_are_errors() {
        assert_eq!(expand(&json!("a${list}"), &fill), Err(ExpandError::NotText("list".into())));
        assert_eq!(expand(&json!("a${list"), &fill), Err(ExpandError::Open("a${list".into())));
    }

    #[test]
    fn functions_are_computed_inside_out_and_wait_for_their_placeholders() {
        let value =
            expand(&json!({"$concat": ["NO", {"$repeat": {"of": "1", "times": "${n}"}}]}), &fill).unwrap();
        assert_eq!(compute(value).unwrap().as_str().unwrap().len(), 73);
        let waiting = json!({"$upper": "${target.id}"});
        assert_eq!(compute(waiting.clone()).unwrap(), waiting);
        assert_eq!(compute(json!({"$join": [["a"], [], ["b", "c"]]})).unwrap(), json!(["a", "b", "c"]));
        assert!(matches!(compute(json!({"$join": ["a"]})), Err(ExpandError::Argument("$join", _))));
        assert_eq!(compute(json!({"$alternate": "PSU-ID"})).unwrap(), json!("pSu-iD"));
        assert_eq!(compute(json!({"$lower": "PSU-ID"})).unwrap(), json!("psu-id"));
        let last = |of: &str| compute(json!({"$without-last": {"of": of, "text": "XXX"}}));
        assert_eq!(last("AAAADEF0XXX").unwrap(), json!("AAAADEF0"));
        assert_eq!(last("AAAADEF0"), Err(ExpandError::NoSuchEnd("AAAADEF0".into(), "XXX".into())));
        assert!(matches!(compute(json!({"$without-last": "a"})), Err(ExpandError::Argument(..))));
        assert_eq!(beginning("20250211-0000001"), Some("20250211-"));
        assert_eq!(beginning("payment-12="), Some("payment-"));
        assert_eq!((beginning("ab"), beginning("1012"), beginning("")), (Some("a"), None, None));
        assert_eq!(compute(json!({"$lower-token": "SHA-256=AbC="})).unwrap(), json!("sha-256=AbC="));
        assert!(matches!(
            compute(json!({"$lower-token": "SHA-256"})),
            Err(ExpandError::Argument("$lower-token", _))
        ));
        let cut = |characters| compute(json!({"$drop-last": {"of": "aæb", "characters": characters}}));
        assert_eq!((cut(2).unwrap(), cut(0).unwrap()), (json!("a"), json!("aæb")));
        assert!(matches!(cut(4), Err(ExpandError::Argument("$drop-last", _))));
        assert!(matches!(compute(json!({"$upcase": "a"})), Err(ExpandError::NoFunction(_))));
        assert!(matches!(compute(json!({"$upper": 3})), Err(ExpandError::Argument("$upper", _))));
        assert!(matches!(compute(json!({"$repeat": {"of": "a"}})), Err(ExpandError::Argument("$repeat", _))));
    }

    #[test]
    fn bytes_need_not_be_text() {
        let value = compute(json!({"$bytes": ["æ", 255, {"$repeat": {"of": "b", "times": 2}}]})).unwrap();
        assert_eq!(as_bytes(&value).unwrap(), [0xC3, 0xA6, 0xFF, b'b', b'b']);
        let waiting = json!({"$bytes": [{"$drop-last": {"of": "${target.id}", "characters": 1}}, 7]});
        assert_eq!(compute(waiting.clone()).unwrap(), waiting);
        let packed =
            as_bytes(&compute(json!({"$gzip": {"$repeat": {"of": "b", "times": 500}}})).unwrap()).unwrap();
        assert!(packed.starts_with(&[0x1f, 0x8b]) && packed.len() < 50, "RFC 1952 section 2.3.1");
        assert!(matches!(compute(json!({"$gzip": 1})), Err(ExpandError::Argument("$gzip", _))));
        for wrong in [json!({"$bytes": [256]}), json!({"$bytes": [-1]}), json!({"$bytes": "a"})] {
            assert!(matches!(compute(wrong), Err(ExpandError::Argument("$bytes", _))));
        }
        assert_eq!(as_bytes(&json!("a")), None);
    }

    #[test]
    fn names_and_heads_are_found() {
        assert_eq!(names(&json!({"a": ["${x.y}", "b${day+10}"]})), ["x.y", "day+10"]);
        assert_eq!((head("x.y"), head("day+10"), head("now")), ("x", "day", "now"));
    }
}
