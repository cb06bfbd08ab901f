//! Diagnoses wrong signatures: reads a signed request as a bank does, and names each part that differs, with
//! the mistake that would explain it.
//!
//! An RSA signature reveals the hash that was signed (RFC 8017, section 8.2.2). A guess of the signed text
//! can therefore be verified by its hash.

pub mod base64_text;
pub mod dates;
pub mod digests;
pub mod json;
pub(crate) mod key_id;
mod made;
mod parameters;
mod public_key;
mod texts;

use crate::{
    certificate::{Certificate, KeyIdForm},
    encoded_word,
    signature_header::ALGORITHM,
    signing_string::{RequestTarget, listed_headers},
};
pub use made::{Kind, Made, RSA_SHA_512};
pub use parameters::{Parameters, has_stray_quotation_mark, oddity};
pub(crate) use public_key::{Block, PublicKey, SHA_256, hash};

/// A request as it was received.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Headers that must be signed if the request has them, in lowercase.
    pub signed_headers: &'a [String],
    /// The header with the certificate, if there is one.
    pub certificate_header: Option<&'a str>,
    /// Headers as (name, value).
    pub fields: &'a [(String, String)],
    /// Names of the headers whose values were not UTF-8. Their values are decoded as ISO-8859-1 here.
    pub latin_1: &'a [String],
    /// The body, or empty if there is none.
    pub body: &'a [u8],
    /// Method, path and query, if they are known.
    pub target: Option<&'a RequestTarget>,
    /// The text that the caller reports to have signed, if known.
    pub signed: Option<&'a str>,
}

impl Received<'_> {
    /// Encodes a signing string in the bytes of the received values.
    pub(crate) fn as_sent(&self, text: &str) -> Vec<u8> {
        let is_latin_1 = |name: &str| self.latin_1.iter().any(|known| known.eq_ignore_ascii_case(name));
        let lines = text.split('\n').map(|line| {
            let name = line.split_once(':').map_or("", |(name, _)| name);
            let bytes = line.chars().map(u8::try_from).collect::<Result<Vec<u8>, _>>();
            bytes.ok().filter(|_| is_latin_1(name)).unwrap_or_else(|| line.as_bytes().to_vec())
        });
        lines.collect::<Vec<_>>().join(&b'\n')
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// It is correct.
    Yes,
    /// The document leaves it open: a bank may accept it or reject it.
    Open,
    /// It is wrong.
    No,
}

/// The result for one part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part: `Digest`, `keyId` and so on.
    pub part: String,
    /// The severity.
    pub held: Held,
    /// The result, and a likely explanation.
    pub says: String,
    /// The text that should have been signed, if another was.
    pub text: Option<String>,
}

/// Checks every part that a signature depends on, in the order in which a bank does.
pub fn examine(received: &Received<'_>) -> Vec<Finding> {
    let mut seen = Examination { received, findings: Vec::new() };
    let certificate = seen.certificate();
    seen.content_length();
    seen.date();
    seen.digest();
    if let Some(parameters) = seen.parameters() {
        if let Some(certificate) = &certificate {
            seen.key_id(&parameters, certificate);
        }
        seen.algorithm(&parameters);
        seen.list(&parameters);
        if let Some(certificate) = &certificate {
            seen.signature(&parameters, certificate);
        }
    }
    seen.findings
}

/// Reads a certificate in any encoding. Returns the severity of its encoding, a description, and the
/// certificate.
pub fn certificate(text: &str) -> (Held, String, Option<Certificate>) {
    let parse = |bytes: &[u8]| {
        let is_pem = bytes.starts_with(b"-----BEGIN");
        if is_pem { Certificate::from_pem(bytes) } else { Certificate::from_der(bytes) }
    };
    let Some((bytes, oddities)) = base64_text::read(text, &|bytes| parse(bytes).is_ok()) else {
        let says = match base64_text::read(text, &|_| true) {
            Some((bytes, oddities)) if oddities.is_empty() => {
                let why = parse(&bytes).err().map(|error| error.to_string()).unwrap_or_default();
                format!("does not contain a certificate: {why}")
            }
            _ => "is not the base64 (RFC 4648, section 4) of a certificate".to_owned(),
        };
        return (Held::No, says, None);
    };
    let Ok(certificate) = parse(&bytes) else {
        return (Held::No, "does not contain a certificate".to_owned(), None);
    };
    let (held, odd) = digests::odd(&oddities);
    let pem = if bytes.starts_with(b"-----BEGIN") {
        "; it is base64 of PEM, which not every bank accepts"
    } else {
        ""
    };
    let names = format!("names {}{pem}", certificate.key_id(&KeyIdForm::default()));
    let says = match held {
        Held::Yes => names,
        Held::Open => format!("{odd}, which not every bank reads; {names}"),
        Held::No => format!(
            "{odd}; expected the base64 of DER on one line, {} characters",
            certificate.header_value().len()
        ),
    };
    (held, says, Some(certificate))
}

struct Examination<'a> {
    received: &'a Received<'a>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn say(&mut self, part: &str, held: Held, says: impl Into<String>) {
        self.findings.push(Finding { part: part.to_owned(), held, says: says.into(), text: None });
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.received
            .fields
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_matches([' ', '\t']))
    }

    fn is_latin_1(&self, name: &str) -> bool {
        self.received.latin_1.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn certificate(&mut self) -> Option<Certificate> {
        let part = self.received.certificate_header?;
        let Some(text) = self.field(part).map(str::to_owned) else {
            self.say(part, Held::No, "is missing");
            return None;
        };
        let (held, says, certificate) = certificate(&text);
        self.say(part, held, says);
        certificate
    }

    fn content_length(&mut self) {
        const PART: &str = "Content-Length";
        let Some(text) = self.field(PART).map(str::to_owned) else { return };
        let length = self.received.body.len();
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || text.parse() != Ok(length) {
            let says = format!("{text} is not the length of the body ({length})");
            self.say(PART, Held::No, says);
        }
    }

    /// The format of a date does not affect the signature, but a bank may still reject it.
    fn date(&mut self) {
        let Some(text) = self.field("date").filter(|text| !dates::is_http_date(text)).map(str::to_owned)
        else {
            return;
        };
        let says = format!(
            "{text:?} is not an HTTP date{}: a bank may reject it; expected a date such as Sun, 06 Nov 1994 08:49:37 GMT (RFC 9110, section 5.6.7)",
            dates::oddity(&text)
        );
        self.say("Date", Held::No, says);
    }

    fn digest(&mut self) {
        let body = self.received.body;
        let Some(text) = self.field("digest").map(str::to_owned) else {
            let is_due = self.received.signed_headers.iter().any(|name| name == "digest");
            if is_due && !body.is_empty() {
                self.say("Digest", Held::No, "is missing, although the request has a body");
            }
            return;
        };
        for (held, says) in digests::examine(&text, body) {
            self.say("Digest", held, says);
        }
    }

    fn parameters(&mut self) -> Option<Parameters> {
        let Some(text) = self.field("signature").map(str::to_owned) else {
            self.say("Signature", Held::No, "is missing");
            return None;
        };
        if !text.is_ascii() {
            let charset = if self.is_latin_1("signature") { "ISO-8859-1" } else { "UTF-8" };
            let says = format!(
                "contains characters beyond ASCII in {charset} without encoding: it must be wrapped as =?{}?B?..?= (RFC 2047)",
                charset.to_ascii_lowercase()
            );
            self.say("Signature", Held::No, says);
        }
        let word = text.starts_with("=?").then(|| encoded_word::unwrap(&text));
        let plain = match word {
            None => text,
            Some(Some(plain)) => {
                self.say("Signature", Held::Yes, "is an encoded word (RFC 2047)");
                plain
            }
            Some(None) => {
                self.say(
                    "Signature",
                    Held::No,
                    "begins like an encoded word but is not one (RFC 2047, section 2)",
                );
                return None;
            }
        };
        let later = parameters::of_later_drafts(&plain);
        if !later.is_empty() {
            let says = format!("has {}, from a later draft: draft 10 ignores it", later.join(" and "));
            self.say("Signature", Held::Yes, says);
        }
        let parameters = Parameters::read(&plain);
        let missing: Vec<&str> = [
            ("keyId", &parameters.key_id),
            ("headers", &parameters.headers),
            ("signature", &parameters.signature),
        ]
        .into_iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| name)
        .collect();
        if !missing.is_empty() {
            let why = parameters::oddity(&plain).map(|why| format!(": it {why}")).unwrap_or_default();
            let says = format!("lacks {}, as name=\"value\"{why}", missing.join(" and "));
            self.say("Signature", Held::No, says);
        }
        Some(parameters)
    }

    fn key_id(&mut self, parameters: &Parameters, certificate: &Certificate) {
        const PART: &str = "keyId";
        let Some(found) = &parameters.key_id else { return };
        let (held, says) = key_id::compare(found, certificate);
        for says in says {
            self.say(PART, held, says);
        }
    }

    fn algorithm(&mut self, parameters: &Parameters) {
        match parameters.algorithm.as_deref() {
            None => self.say("algorithm", Held::Yes, "is missing; the draft does not require it"),
            // The finding for RSA-SHA512 depends on the signature.
            Some(ALGORITHM | RSA_SHA_512) => {}
            Some(other) if other.eq_ignore_ascii_case(ALGORITHM) => {
                self.say(
                    "algorithm",
                    Held::Open,
                    format!("is {other}: not every bank accepts another case than {ALGORITHM}"),
                );
            }
            Some(other) => self.say("algorithm", Held::No, format!("expected {ALGORITHM}, found {other}")),
        }
    }

    fn list(&mut self, parameters: &Parameters) {
        let Some(headers) = &parameters.headers else { return };
        let listed: Vec<String> = headers.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let due = listed_headers(self.received.signed_headers, self.received.fields);
        let left_out: Vec<&str> = due
            .iter()
            .map(String::as_str)
            .filter(|name| !listed.iter().any(|listed| listed == name))
            .collect();
        if !left_out.is_empty() {
            self.say(
                "headers",
                Held::No,
                format!("the request has {}, which must be listed", left_out.join(", ")),
            );
        }
        let absent: Vec<&str> = listed
            .iter()
            .map(String::as_str)
            .filter(|name| *name != "(request-target)" && self.field(name).is_none())
            .collect();
        if !absent.is_empty() {
            let why = if absent.iter().any(|name| name.starts_with('(')) {
                " (names in parentheses are from later drafts)"
            } else {
                ""
            };
            self.say(
                "headers",
                Held::No,
                format!("lists {}, which the request does not have{why}", absent.join(", ")),
            );
        }
        if left_out.is_empty() && absent.is_empty() {
            self.say("headers", Held::Yes, format!("lists {}", listed.join(" ")));
        }
    }

    fn signature(&mut self, parameters: &Parameters, certificate: &Certificate) {
        const PART: &str = "signature";
        let Some(text) = &parameters.signature else { return };
        let headers = parameters.headers.as_deref().unwrap_or("date");
        let listed: Vec<&str> = headers.split_ascii_whitespace().collect();
        let Made { kind, mut held, says, text } = Made::new(text, &listed, self.received, certificate);
        if parameters.algorithm.as_deref() == Some(RSA_SHA_512) {
            let is_so = kind == Kind::Sha512;
            held = if is_so { Held::Open } else { held };
            let says = format!("is {RSA_SHA_512}, which the draft does not define: expected {ALGORITHM}");
            self.say("algorithm", held.max(if is_so { Held::Open } else { Held::No }), says);
        }
        self.findings.push(Finding { part: PART.to_owned(), held, says, text });
    }
}
