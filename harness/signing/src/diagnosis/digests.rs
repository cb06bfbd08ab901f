//! Checks a Digest header against its body (RFC 3230, section 4.3.2).

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    Held,
    base64_text::{self, Oddity, bytes_of_digits},
    json, public_key,
};
use crate::digest::Algorithm;

/// Longest JSON body for which other spellings are tried.
const LONGEST_JSON: usize = 256 * 1024;

/// Limit of the kinds of digests of a header that are reported.
const MOST: usize = 16;

/// One of the digests of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The part before the first equals sign, in uppercase, because case is not significant (section 4.1.1).
    pub token: String,
    /// The part after it.
    pub value: String,
    /// The kind of digest.
    pub is: Is,
}

/// The kind of a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Is {
    /// The digest of the body.
    Right(Algorithm),
    /// The digest of the body in an unusual encoding.
    Odd(Algorithm, Vec<Oddity>),
    /// Another digest.
    Wrong(Algorithm),
    /// A digest with an algorithm that the document does not name.
    Unknown,
    /// Not of the form `algorithm=value`.
    NoForm,
    /// An empty item of the list.
    Nothing,
}

/// Reads a header.
pub fn read(text: &str, body: &[u8]) -> Vec<Instance> {
    let hashes = Algorithm::ALL.map(|algorithm| (algorithm, algorithm.hash(body)));
    let instance = |part: &str| {
        let (token, value) = part.split_once('=').unwrap_or((part, ""));
        let known = hashes.iter().find(|(known, _)| known.token().eq_ignore_ascii_case(token));
        let is = match known {
            _ if part.is_empty() => Is::Nothing,
            _ if !part.contains('=') => Is::NoForm,
            None => Is::Unknown,
            Some((algorithm, hash)) => is(*algorithm, value, hash),
        };
        Instance { token: token.to_ascii_uppercase(), value: value.to_owned(), is }
    };
    let text = text.trim();
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let mut read: Vec<Instance> =
        bare.unwrap_or(text).split(',').map(|part| instance(part.trim_matches([' ', '\t']))).collect();
    if bare.is_some() {
        for one in &mut read {
            if let Is::Right(algorithm) = one.is {
                one.is = Is::Odd(algorithm, vec![Oddity::Quoted]);
            }
        }
    }
    read
}

fn is(algorithm: Algorithm, value: &str, hash: &[u8]) -> Is {
    if value == BASE64_STANDARD.encode(hash) {
        return Is::Right(algorithm);
    }
    let odd = base64_text::read(value, &|bytes| bytes == hash).map(|(_, oddities)| oddities);
    // These decode to text of another length, which no receiver accepts.
    match odd.filter(|odd| !odd.contains(&Oddity::Hexadecimal) && !odd.contains(&Oddity::Twice)) {
        Some(oddities) => Is::Odd(algorithm, oddities),
        None => Is::Wrong(algorithm),
    }
}

/// Checks a header, and returns each result with its severity.
pub(super) fn examine(text: &str, body: &[u8]) -> Vec<(Held, String)> {
    let read = read(text, body);
    let has_right = read.iter().any(|one| matches!(one.is, Is::Right(_) | Is::Odd(..)));
    let mut said: Vec<(Held, String)> = Vec::new();
    let mut kinds = Vec::new();
    for Instance { token, value, is } in &read {
        // Report each kind once, with the whole header: a list may be as long as a header.
        let kind = (std::mem::discriminant(is), token);
        if kinds.contains(&kind) || kinds.len() == MOST {
            continue;
        }
        kinds.push(kind);
        said.push(match is {
            Is::Right(algorithm) => (Held::Yes, format!("is the {} of the body", algorithm.token())),
            Is::Odd(algorithm, oddities) => {
                let (held, says) = odd(oddities);
                (held, format!("is the {} of the body, but {says}", algorithm.token()))
            }
            Is::Wrong(algorithm) => {
                let (expected, why) = (algorithm.header_value(body), why(*algorithm, value, body));
                (Held::No, format!("expected {expected}, found {text}: {why}"))
            }
            Is::Unknown if has_right => {
                (Held::Yes, format!("also has {token}, which the document does not name"))
            }
            Is::Nothing if has_right => (Held::Open, "has an empty item between two commas".to_owned()),
            Is::Unknown | Is::Nothing => {
                let hyphen = token.starts_with("SHA2") || token.starts_with("SHA5");
                let why = if hyphen { ": the hyphen of the name is missing" } else { "" };
                let expected = Algorithm::Sha256.header_value(body);
                (
                    Held::No,
                    format!("names neither SHA-256 nor SHA-512{why}: expected {expected}, found {text}"),
                )
            }
            Is::NoForm => {
                let expected = Algorithm::Sha256.header_value(body);
                (Held::No, format!("is not of the form algorithm=hash: expected {expected}, found {text}"))
            }
        });
    }
    said
}

/// Returns the violation of a header and the expected value, or None if it is correct.
pub fn fault(text: &str, body: &[u8]) -> Option<String> {
    examine(text, body).into_iter().find(|(held, _)| *held == Held::No).map(|(_, says)| says)
}

/// Returns a description of deviations, and the worst severity.
pub fn odd(oddities: &[Oddity]) -> (Held, String) {
    let held = oddities.iter().map(|oddity| oddity.held()).max().unwrap_or(Held::Yes);
    (held, oddities.iter().map(|oddity| oddity.says()).collect::<Vec<_>>().join(", and "))
}

/// Returns the likely reason that a hash is not that of the body.
fn why(algorithm: Algorithm, value: &str, body: &[u8]) -> String {
    let right = algorithm.hash(body);
    let (small, capitals) = (hex::encode(&right), hex::encode_upper(&right));
    if value.eq_ignore_ascii_case(&small) {
        return "it is written in hexadecimal, not in base64".to_owned();
    }
    if bytes_of_digits(value).is_some_and(|bytes| bytes.len() == right.len()) {
        return "it is written in hexadecimal, not in base64, and is not the hash of the body".to_owned();
    }
    let Some((found, _)) = base64_text::read(value, &|_| true) else {
        return "it is not base64 (RFC 4648, section 4)".to_owned();
    };
    let other = Algorithm::ALL.into_iter().find(|other| *other != algorithm && other.hash(body) == found);
    let text = std::str::from_utf8(body).unwrap_or_default();
    let is = |bytes: &[u8]| algorithm.hash(bytes) == found;
    let latin_1 = || text.chars().map(u8::try_from).collect::<Result<Vec<u8>, _>>().unwrap_or_default();
    let utf_16 = || text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let sha_1 = public_key::hash("SHA-1", body);
    let named = match () {
        () if found == small.as_bytes() => {
            "it is base64 of the hash in hexadecimal (lowercase), not of its bytes"
        }
        () if found == capitals.as_bytes() => {
            "it is base64 of the hash in hexadecimal (uppercase), not of its bytes"
        }
        () if found == algorithm.base64(body).as_bytes() => "it is base64 of base64",
        () if is(&right) => "it is the hash of the hash",
        () if is(small.as_bytes()) || is(capitals.as_bytes()) => "it is the hash of the hash in hexadecimal",
        () if is(algorithm.base64(body).as_bytes()) => "it is the hash of the hash in base64",
        () if other.is_some() => "it is a hash of the other algorithm",
        () if sha_1.is_some_and(|hash| hash == found) => "it is the SHA-1 of the body",
        () if is(b"") && !body.is_empty() => "it is the hash of an empty body",
        () if is(text.trim_end().as_bytes()) => "it is the hash of the body without its trailing white space",
        () if is(format!("{text}\n").as_bytes()) => "it is the hash of the body followed by a line end",
        () if is(format!("{text}\r\n").as_bytes()) => "it is the hash of the body followed by CRLF",
        () if is(text.replace("\r\n", "\n").as_bytes()) => {
            "it is the hash of the body with LF instead of CRLF"
        }
        () if is(text.replace('\n', "\r\n").as_bytes()) => {
            "it is the hash of the body with CRLF instead of LF"
        }
        () if is(format!("\u{feff}{text}").as_bytes()) => {
            "it is the hash of the body with a byte order mark before it"
        }
        () if !text.is_ascii() && is(&latin_1()) => "it is the hash of the body in ISO-8859-1",
        () if is(&utf_16()) => "it is the hash of the body in UTF-16",
        () if is(BASE64_STANDARD.encode(body).as_bytes()) => "it is the hash of the body in base64",
        () => {
            let text = Some(text).filter(|text| text.len() <= LONGEST_JSON).unwrap_or_default();
            let spelling = json::spellings(text).find(|(spelling, _)| is(spelling.as_bytes()));
            return spelling.map_or_else(
                || "no common mistake explains it".to_owned(),
                |(_, name)| format!("it is the hash of the JSON in another format: {name}"),
            );
        }
    };
    named.to_owned()
}
