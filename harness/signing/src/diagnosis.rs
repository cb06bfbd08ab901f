//! Why a signature does not hold: reads a signed request as a bank does, and where something differs says which part, and which habit
//! of signing would explain it.
//!
//! An RSA signature gives back the hash that was signed (RFC 8017, section 8.2.2). So the text that somebody signed need not be
//! known: whoever guesses it right sees the same hash.

use aws_lc_rs::digest::{SHA256, digest as hash};
use base64::{Engine, prelude::BASE64_STANDARD};
use num_bigint::BigUint;
use x509_cert::der::{Decode, asn1::Any};

use crate::{
    certificate::{Certificate, KeyIdForm, NameForm, SerialForm},
    digest::Algorithm,
    encoded_word,
    signature_header::ALGORITHM,
    signing_string::{RequestTarget, listed_headers, signing_string},
};

/// A request as it was received.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Header fields as (name, value).
    pub fields: &'a [(String, String)],
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
    pub part: &'static str,
    /// Whether it is as it should be.
    pub holds: bool,
    /// What was found, and what would explain it.
    pub says: String,
}

/// Looks at everything that a signature rests on, in the order in which a bank does.
pub fn examine(received: &Received<'_>) -> Vec<Finding> {
    let mut seen = Examination { received, findings: Vec::new() };
    let certificate = seen.certificate();
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

/// The parameters of a Signature header as they stand in it (draft-cavage-http-signatures-10, section 2.1), the last of those that
/// are there twice (section 2.2).
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
    fn say(&mut self, part: &'static str, holds: bool, says: impl Into<String>) {
        self.findings.push(Finding { part, holds, says: says.into() });
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.received
            .fields
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_matches([' ', '\t']))
    }

    fn certificate(&mut self) -> Option<Certificate> {
        const PART: &str = "TPP-Signature-Certificate";
        let Some(text) = self.field(PART).map(str::to_owned) else {
            self.say(PART, false, "is not there");
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
            self.say(PART, false, why);
            return None;
        };
        let read = if bytes.starts_with(b"-----BEGIN") {
            self.say(PART, true, "is base64 of PEM, which not every bank takes");
            Certificate::from_pem(&bytes)
        } else {
            Certificate::from_der(bytes)
        };
        match read {
            Ok(certificate) => {
                self.say(PART, true, format!("names {}", certificate.key_id(KeyIdForm::default())));
                Some(certificate)
            }
            Err(error) => {
                self.say(PART, false, format!("holds no certificate: {error}"));
                None
            }
        }
    }

    fn digest(&mut self) {
        let body = self.received.body;
        let Some(text) = self.field("digest").map(str::to_owned) else {
            if !body.is_empty() {
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
        let Some(found) = &parameters.key_id else { return };
        let usual = certificate.key_id(KeyIdForm::default());
        let forms = SerialForm::ALL
            .into_iter()
            .flat_map(|serial| NameForm::ALL.into_iter().map(move |issuer| KeyIdForm { serial, issuer }));
        if let Some(form) = forms.into_iter().find(|form| certificate.key_id(*form) == *found) {
            let says =
                format!("names the certificate; serial number {}, issuer {}", form.serial, form.issuer);
            return self.say("keyId", true, says);
        }
        let parts = found.strip_prefix("SN=").and_then(|rest| rest.split_once(",CA="));
        let Some((serial, issuer)) = parts else {
            return self.say(
                "keyId",
                false,
                format!("expected SN=<hex serial number>,CA=<issuer>, found {found}"),
            );
        };
        let digits = serial.trim_start_matches('0').to_ascii_uppercase();
        if digits != certificate.serial_hex() {
            let why = if serial == certificate.serial_decimal() {
                ": it is written in decimal"
            } else if digits.replace([':', ' ', '-'], "") == certificate.serial_hex() {
                ": it has separators"
            } else {
                ""
            };
            let says = format!("serial number: expected {}, found {serial}{why}", certificate.serial_hex());
            self.say("keyId", false, says);
        }
        if !NameForm::ALL.into_iter().any(|form| certificate.issuer(form) == issuer) {
            let expected = certificate.issuer(NameForm::default());
            self.say("keyId", false, format!("issuer: {}", difference(&expected, issuer)));
        } else if digits == certificate.serial_hex() {
            self.say("keyId", true, format!("names the certificate in other words than {usual}"));
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
        let due = listed_headers(self.received.fields);
        let left_out: Vec<&str> =
            due.iter().copied().filter(|name| !listed.iter().any(|listed| listed == name)).collect();
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
        let is_signed = |text: &str| hash(&SHA256, text.as_bytes()).as_ref() == signed;
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

/// What else a Digest may be of.
fn other_body(algorithm: Algorithm, found: &str, body: &[u8]) -> Option<&'static str> {
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
fn habits(listed: &[&str], received: &Received<'_>, ours: &str) -> Vec<(String, String)> {
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
    let document = listed_headers(received.fields);
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
fn difference(expected: &str, found: &str) -> String {
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

/// An RSA public key (RFC 8017, section 3.1).
struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    /// Bytes of the modulus.
    length: usize,
}

impl PublicKey {
    fn of(certificate: &Certificate) -> Option<Self> {
        let parts = Vec::<Any>::from_der(certificate.rsa_public_key()?).ok()?;
        let [modulus, exponent] = parts.as_slice() else { return None };
        let (modulus, exponent) =
            (BigUint::from_bytes_be(modulus.value()), BigUint::from_bytes_be(exponent.value()));
        let length = usize::try_from(modulus.bits().div_ceil(8)).ok()?;
        Some(Self { modulus, exponent, length })
    }

    /// The SHA-256 that a signature of the right form was made of (RFC 8017, section 9.2).
    fn recovered(&self, signature: &[u8]) -> Option<Vec<u8>> {
        /// `DigestInfo` of SHA-256 (section 9.2, note 1).
        const PREFIX: [u8; 19] = [
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
            0x00, 0x04, 0x20,
        ];
        let message = BigUint::from_bytes_be(signature).modpow(&self.exponent, &self.modulus).to_bytes_be();
        // The first byte is zero, and a number does not show it.
        let padded = message.strip_prefix(&[1])?;
        let padding = padded.iter().take_while(|byte| **byte == 0xFF).count();
        let info = padded[padding..].strip_prefix(&[0])?;
        let hash = info.strip_prefix(&PREFIX)?;
        (padding + hash.len() + PREFIX.len() + 3 == self.length && hash.len() == 32).then(|| hash.to_vec())
    }
}
