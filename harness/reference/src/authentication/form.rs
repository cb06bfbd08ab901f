//! Forms of a Signature header that only some banks take, and those that a fault does not understand.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{SIGNED_WHEN_PRESENT, refuse};
use crate::encoded_word;
use crate::header::Fields;
use crate::refusal::Refusal;
use crate::rules::{Breach, List, Rules, SignatureBreach as S, Values, Variance};
use crate::signature::{has_duplicates, knows_all};

/// Of which kinds a list of signed headers is; `text` is the whole header.
pub(super) fn kinds(text: &str, listed: &[String]) -> impl Iterator<Item = List> {
    let place = |name: &String| SIGNED_WHEN_PRESENT.iter().position(|known| known == name);
    let written = parameter(text, "headers=\"");
    let kinds = [
        (List::RequestTarget, listed.iter().any(|name| name == "(request-target)")),
        (List::Extra, listed.iter().any(|name| place(name).is_none() && !name.starts_with('('))),
        (List::Capitals, written.bytes().any(|byte| byte.is_ascii_uppercase())),
        (List::NoDate, !listed.iter().any(|name| name == "date")),
        (List::OtherOrder, !listed.iter().filter_map(place).is_sorted()),
    ];
    kinds.into_iter().filter(|(_, is_so)| *is_so).map(|(list, _)| list)
}

/// What stands between this and the next quotation mark, where it stands last.
fn parameter<'a>(text: &'a str, beginning: &str) -> &'a str {
    text.rsplit_once(beginning).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default()
}

/// What some banks want of the names of parameters, and the draft does not (section 2.2).
pub(super) fn check_names(text: &str, rules: Rules) -> Result<(), Refusal> {
    let broken = |breach| rules.broken_by(Breach::Signature(breach));
    let says = match () {
        () if broken(S::NoUnknown) && !knows_all(text) => {
            "expected the parameters of the draft, found another one"
        }
        () if broken(S::NoDuplicate) && has_duplicates(text) => {
            "expected each parameter once, found one twice"
        }
        () => return Ok(()),
    };
    Err(refuse("signature.parameters", says))
}

/// The header with its signature unwrapped, where that alone is an encoded word.
pub(super) fn without_word(text: &str) -> String {
    with_signature(text, |value| encoded_word::unwrap(value.as_bytes()).unwrap_or_else(|_| value.to_owned()))
}

/// The header with its signature in the usual alphabet of base64, where it is in the other one (RFC 4648
/// section 5).
pub(super) fn usual_alphabet(text: &str) -> String {
    with_signature(text, |value| value.replace('-', "+").replace('_', "/"))
}

/// The header with its signature in base64, where it is in hexadecimal digits.
pub(super) fn base64_of_digits(text: &str) -> String {
    with_signature(text, |value| {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = value.as_bytes().chunks(2).map(byte).collect();
        bytes.map_or_else(|| value.to_owned(), |bytes| BASE64_STANDARD.encode(bytes))
    })
}

/// The header with those characters of its signature that base64 has (RFC 4648 section 4).
pub(super) fn of_base64(text: &str) -> String {
    let is_of_base64 = |letter: &char| letter.is_ascii_alphanumeric() || "+/=".contains(*letter);
    with_signature(text, |value| value.chars().filter(is_of_base64).collect())
}

fn with_signature(text: &str, other: impl Fn(&str) -> String) -> String {
    let parts =
        text.split_once("signature=\"").and_then(|(before, rest)| Some((before, rest.split_once('"')?)));
    let Some((before, (value, after))) = parts else { return text.to_owned() };
    format!("{before}signature=\"{}\"{after}", other(value))
}

/// The header as one in UTF-8, where a bank has another idea of charsets. Those that the document does not
/// name are the bank's own.
pub(super) fn of_charset(header: Vec<u8>, rules: Rules) -> Vec<u8> {
    let text = String::from_utf8_lossy(&header);
    match text.strip_prefix("=?").and_then(|rest| rest.split_once('?')) {
        Some((charset, rest))
            if rules.broken_by(Breach::Signature(S::CharsetIgnored))
                || rules.varied_by(Variance::AnyCharset) && !charset.eq_ignore_ascii_case("iso-8859-1") =>
        {
            format!("=?utf-8?{rest}").into_bytes()
        }
        _ => header,
    }
}

/// Forms of the whole header that a fault does not understand, or wants.
pub(super) fn check_form(header: &[u8], text: &str, rules: Rules) -> Result<(), Refusal> {
    if !rules.breaches().any(|breach| matches!(breach, Breach::Signature(_))) {
        return Ok(());
    }
    let wrapped = String::from_utf8_lossy(header).to_ascii_lowercase();
    let is_wrapped = wrapped.starts_with("=?");
    let list = parameter(text, "headers=\"");
    let is_strange = |breach| match breach {
        Breach::Signature(S::NoQ) => is_wrapped && wrapped.contains("?q?"),
        Breach::Signature(S::NoB) => is_wrapped && wrapped.contains("?b?"),
        Breach::Signature(S::CharsetAsShown) => {
            let shown = ["=?utf-8?", "=?iso-8859-1?"];
            is_wrapped && !shown.iter().any(|shown| header.starts_with(shown.as_bytes()))
        }
        Breach::Signature(S::EncodingAsShown) => {
            is_wrapped && !header.windows(3).any(|part| matches!(part, b"?B?" | b"?Q?"))
        }
        Breach::Signature(S::NoBlanks) => has_blanks(text),
        Breach::Signature(S::NoLatin1) => wrapped.starts_with("=?iso-8859-1"),
        Breach::Signature(S::NoBare) => !is_wrapped,
        Breach::Signature(S::NoRsaSha256) => text.contains("algorithm=\"rsa-sha256\""),
        Breach::Signature(S::SortedList) => !list.split(' ').is_sorted(),
        _ => false,
    };
    if rules.breaches().any(is_strange) {
        return Err(refuse("signature.parameters.blanks", "expected a Signature header of another form"));
    }
    Ok(())
}

/// What a fault takes for the values that are signed.
pub(super) fn values(rules: Rules) -> Option<Values> {
    rules.breaches().find_map(|breach| match breach {
        Breach::Signature(S::Values(how)) => Some(how),
        _ => None,
    })
}

/// Whether there are blanks outside quotation marks.
fn has_blanks(text: &str) -> bool {
    text.split('"').step_by(2).any(|part| part.contains([' ', '\t']))
}

/// Forms of the header that only some banks take, since the document leaves them open.
pub(super) fn check_variant(text: &str, fields: Fields<'_>, rules: Rules) -> Result<(), Refusal> {
    if !rules.is_varied() {
        return Ok(());
    }
    // Of a parameter that is there twice the last counts (draft-cavage-http-signatures-10, section 2.2).
    let list = parameter(text, "headers=\"");
    let listed: Vec<String> = list.split(' ').map(str::to_ascii_lowercase).collect();
    let serial = text.rsplit_once("SN=").and_then(|(_, rest)| rest.split(',').next()).unwrap_or_default();
    let issuer = text.rsplit_once(",CA=").map(|(_, rest)| rest).unwrap_or_default();
    let place = |name: &String| SIGNED_WHEN_PRESENT.iter().position(|known| known == name);
    let unusual = [
        (Variance::AlgorithmDemanded, "parameters.algorithm", !text.contains("algorithm=")),
        (
            Variance::DateDemanded,
            "headers.date-absent",
            fields.bytes("date").is_none() || !listed.iter().any(|name| name == "date"),
        ),
        (Variance::ListFixed, "headers.extra", listed.iter().any(|name| place(name).is_none())),
        (Variance::OrderFixed, "headers.order", !listed.iter().filter_map(place).is_sorted()),
        (Variance::SmallLetters, "headers.case", list.bytes().any(|byte| byte.is_ascii_uppercase())),
        (Variance::SerialSmall, "key-id.serial", serial.bytes().any(|byte| byte.is_ascii_uppercase())),
        (Variance::IssuerForward, "key-id.issuer", issuer.starts_with("CN=")),
        (
            Variance::SerialAsShown,
            "key-id.serial",
            serial.starts_with('0') || serial.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'A'..=b'F')),
        ),
    ];
    let mut unusual = unusual.into_iter();
    if let Some((_, rule, _)) =
        unusual.find(|(variance, _, is_unusual)| *is_unusual && rules.varied_by(*variance))
    {
        let rule = format!("signature.{rule}");
        return Err(refuse(&rule, "expected a Signature header as the document shows it"));
    }
    Ok(())
}
