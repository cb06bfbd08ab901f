//! Why a signature does not hold: reads a signed request as a bank does, and where something differs says
//! which part, and which habit of signing would explain it.
//!
//! An RSA signature gives back the hash that was signed (RFC 8017, section 8.2.2). So the text that somebody
//! signed need not be known: whoever guesses it right sees the same hash.

pub(crate) mod key_id;
mod public_key;
mod texts;

use aws_lc_rs::digest::{SHA256, digest as hash};
use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    certificate::{Certificate, KeyIdForm},
    digest::Algorithm,
    encoded_word,
    signature_header::ALGORITHM,
    signing_string::{RequestTarget, listed_headers, signing_string},
};
pub(crate) use public_key::PublicKey;
use texts::{difference, habits, other_body};

/// A request as it was received.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Headers that have to be signed where the request has them, in small letters.
    pub signed_headers: &'a [String],
    /// The header with the certificate, if there is one.
    pub certificate_header: Option<&'a str>,
    /// Header fields as (name, value).
    pub fields: &'a [(String, String)],
    /// Names of the fields whose values came as bytes that are not UTF-8, and are here as ISO-8859-1 has
    /// them.
    pub latin_1: &'a [String],
    /// Body; empty for none.
    pub body: &'a [u8],
    /// Method, path and query, where they are known.
    pub target: Option<&'a RequestTarget>,
    /// The text that the caller says it signed, where it is known.
    pub signed: Option<&'a str>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at: `Digest`, `keyId` ..
    pub part: String,
    /// Whether it is as it should be.
    pub holds: bool,
    /// What was found, and what would explain it.
    pub says: String,
}

/// Looks at everything that a signature rests on, in the order in which a bank does.
pub fn examine(received: &Received<'_>) -> Vec<Finding> {
    let mut seen = Examination { received, findings: Vec::new() };
    let certificate = seen.certificate();
    seen.content_length();
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

/// The parameters of a Signature header as they stand in it (draft-cavage-http-signatures-10, section 2.1),
/// the last of those that are there twice (section 2.2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameters {
    /// `keyId`.
    pub key_id: Option<String>,
    /// `algorithm`.
    pub algorithm: Option<String>,
    /// `headers`.
    pub headers: Option<String>,
    /// `signature`.
    pub signature: Option<String>,
}

impl Parameters {
    /// Reads a header that is no encoded word. What is not `name="value"` is passed over.
    pub fn read(text: &str) -> Self {
        let mut read = Self::default();
        let mut rest = text;
        while let Some((name, after)) = rest.split_once('=') {
            let name = name.trim_matches([' ', ',', '\t']);
            let after = after.trim_start();
            let Some(quoted) = after.strip_prefix('"') else {
                rest = after.split_once(',').map_or("", |(_, rest)| rest);
                continue;
            };
            let Some((value, after)) = quoted.split_once('"') else { break };
            let slot = match name {
                "keyId" => Some(&mut read.key_id),
                "algorithm" => Some(&mut read.algorithm),
                "headers" => Some(&mut read.headers),
                "signature" => Some(&mut read.signature),
                _ => None,
            };
            if let Some(slot) = slot {
                *slot = Some(value.to_owned());
            }
            rest = after;
        }
        read
    }
}

struct Examination<'a> {
    received: &'a Received<'a>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn say(&mut self, part: &str, holds: bool, says: impl Into<String>) {
        self.findings.push(Finding { part: part.to_owned(), holds, says: says.into() });
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

    /// A signing string in the bytes of the values that were received.
    fn as_sent(&self, text: &str) -> Vec<u8> {
        let lines = text.split('\n').map(|line| {
            let name = line.split_once(':').map_or("", |(name, _)| name);
            let bytes = line.chars().map(u8::try_from).collect::<Result<Vec<u8>, _>>();
            bytes.ok().filter(|_| self.is_latin_1(name)).unwrap_or_else(|| line.as_bytes().to_vec())
        });
        lines.collect::<Vec<_>>().join(&b'\n')
    }

    fn certificate(&mut self) -> Option<Certificate> {
        let part = self.received.certificate_header?;
        let Some(text) = self.field(part).map(str::to_owned) else {
            self.say(part, false, "is not there");
            return None;
        };
        let Ok(bytes) = BASE64_STANDARD.decode(&text) else {
            let why = if text.contains("BEGIN CERTIFICATE") {
                "is PEM as it stands; expected its base64 lines on one line, without BEGIN and END"
            } else if text.contains(' ') {
                "is no base64: it has blanks, as where the lines of PEM were joined with them"
            } else {
                "is no base64 (RFC 4648, section 4)"
            };
            self.say(part, false, why);
            return None;
        };
        let read = if bytes.starts_with(b"-----BEGIN") {
            self.say(part, true, "is base64 of PEM, which not every bank takes");
            Certificate::from_pem(&bytes)
        } else {
            Certificate::from_der(bytes)
        };
        match read {
            Ok(certificate) => {
                self.say(part, true, format!("names {}", certificate.key_id(&KeyIdForm::default())));
                Some(certificate)
            }
            Err(error) => {
                self.say(part, false, format!("holds no certificate: {error}"));
                None
            }
        }
    }

    fn content_length(&mut self) {
        const PART: &str = "Content-Length";
        let Some(text) = self.field(PART).map(str::to_owned) else { return };
        let length = self.received.body.len();
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || text.parse() != Ok(length) {
            let says = format!("{text} is not the length of the body ({length})");
            self.say(PART, false, says);
        }
    }

    fn digest(&mut self) {
        let body = self.received.body;
        let Some(text) = self.field("digest").map(str::to_owned) else {
            let is_due = self.received.signed_headers.iter().any(|name| name == "digest");
            if is_due && !body.is_empty() {
                self.say("Digest", false, "is not there, and the request has a body");
            }
            return;
        };
        let mut said = false;
        for part in text.split(',') {
            let (token, found) = part.trim().split_once('=').unwrap_or((part.trim(), ""));
            let known = Algorithm::ALL.into_iter().find(|known| known.token().eq_ignore_ascii_case(token));
            let Some(algorithm) = known else { continue };
            said = true;
            if found == algorithm.base64(body) {
                self.say("Digest", true, format!("is the {} of the body", algorithm.token()));
            } else {
                let expected = algorithm.header_value(body);
                let why = other_body(algorithm, found, body).unwrap_or("nothing that is usual explains it");
                self.say("Digest", false, format!("expected {expected}, found {text}: {why}"));
            }
        }
        if !said {
            self.say("Digest", false, format!("names neither SHA-256 nor SHA-512: {text}"));
        }
    }

    fn parameters(&mut self) -> Option<Parameters> {
        let Some(text) = self.field("signature").map(str::to_owned) else {
            self.say("Signature", false, "is not there");
            return None;
        };
        if !text.is_ascii() {
            let charset = if self.is_latin_1("signature") { "ISO-8859-1" } else { "UTF-8" };
            let says = format!(
                "has letters beyond ASCII in {charset} and stands bare: it has to be wrapped as =?{}?B?..?= (RFC 2047)",
                charset.to_ascii_lowercase()
            );
            self.say("Signature", false, says);
        }
        let word = text.starts_with("=?").then(|| encoded_word::unwrap(&text));
        let plain = match word {
            None => text,
            Some(Some(plain)) => {
                self.say("Signature", true, "is an encoded word (RFC 2047)");
                plain
            }
            Some(None) => {
                self.say("Signature", false, "begins as an encoded word and is none (RFC 2047, section 2)");
                return None;
            }
        };
        if has_stray_quotation_mark(&plain) {
            let says = "has a quotation mark inside a parameter, which ends there, since the draft has no escape for it; in keyId it \
                        is written \\22 (RFC 4514, section 2.4)";
            self.say("Signature", false, says);
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
            self.say("Signature", false, format!("lacks {}, as name=\"value\"", missing.join(" and ")));
        }
        Some(parameters)
    }

    fn key_id(&mut self, parameters: &Parameters, certificate: &Certificate) {
        const PART: &str = "keyId";
        let Some(found) = &parameters.key_id else { return };
        match key_id::compare(found, certificate) {
            Ok(says) => self.say(PART, true, says),
            Err(wrong) => wrong.into_iter().for_each(|says| self.say(PART, false, says)),
        }
    }

    fn algorithm(&mut self, parameters: &Parameters) {
        match parameters.algorithm.as_deref() {
            None => self.say("algorithm", true, "is not there; the draft does not demand it"),
            Some(ALGORITHM) => {}
            Some(other) => self.say("algorithm", false, format!("expected {ALGORITHM}, found {other}")),
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
                false,
                format!("the request has {}, which must be listed", left_out.join(", ")),
            );
        }
        let absent: Vec<&str> = listed
            .iter()
            .map(String::as_str)
            .filter(|name| *name != "(request-target)" && self.field(name).is_none())
            .collect();
        if !absent.is_empty() {
            self.say(
                "headers",
                false,
                format!("lists {}, which the request does not have", absent.join(", ")),
            );
        }
        if left_out.is_empty() && absent.is_empty() {
            self.say("headers", true, format!("lists {}", listed.join(" ")));
        }
    }

    fn signature(&mut self, parameters: &Parameters, certificate: &Certificate) {
        const PART: &str = "signature";
        let Some(text) = &parameters.signature else { return };
        let Ok(signature) = BASE64_STANDARD.decode(text) else {
            let url_safe = text.contains(['-', '_']);
            let why = if url_safe { ": it is in the URL-safe alphabet (section 5)" } else { "" };
            return self.say(PART, false, format!("is no base64 (RFC 4648, section 4){why}"));
        };
        let Some(key) = PublicKey::of(certificate) else {
            return self.say(PART, false, "the certificate is not of an RSA key");
        };
        if signature.len() != key.length {
            let says = format!(
                "expected {} bytes for the key of the certificate, found {}",
                key.length,
                signature.len()
            );
            return self.say(PART, false, says);
        }
        let Some(signed) = key.recovered(&signature) else {
            let says = "was made with another key than the certificate's, or with another padding or hash than \
                        RSASSA-PKCS1-v1_5 with SHA-256";
            return self.say(PART, false, says);
        };
        let headers = parameters.headers.as_deref().unwrap_or("date");
        let listed: Vec<&str> = headers.split_ascii_whitespace().collect();
        let ours = signing_string(&listed, self.received.fields, self.received.target);
        let ours = match ours {
            Ok(ours) => ours,
            Err(error) => return self.say(PART, false, error.to_string()),
        };
        let is_signed = |text: &str| hash(&SHA256, &self.as_sent(text)).as_ref() == signed;
        if is_signed(&ours) {
            return self.say(
                PART,
                true,
                "holds: it is over the signing string, by the key of the certificate",
            );
        }
        if let Some(theirs) = self.received.signed {
            let which =
                if is_signed(theirs) { "is over the text that was given" } else { "is over neither text" };
            return self.say(PART, false, format!("{which}; {}", difference(&ours, theirs)));
        }
        let guess = habits(&listed, self.received, &ours).into_iter().find(|(text, _)| is_signed(text));
        let says = match guess {
            Some((_, habit)) => format!("is by the key of the certificate, over another text: {habit}"),
            None => "is by the key of the certificate, over another text that no usual habit explains; give the text that was \
                     signed to see where it differs"
                .to_owned(),
        };
        self.say(PART, false, says);
    }
}

/// Whether a parameter goes on behind the quotation mark that ends it.
fn has_stray_quotation_mark(text: &str) -> bool {
    let behind = text.split('"').skip(2).step_by(2);
    behind.into_iter().any(|text| {
        let text = text.trim_start_matches([' ', '\t']);
        !text.is_empty() && !text.starts_with(',')
    })
}
