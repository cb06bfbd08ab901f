//! Describes a received signature in the terms of the request rules: its header, and how it differs from
//! signing as documented.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use xs2aspec_record::Untold;
use xs2aspec_signing::{
    Certificate, KeyIdForm, RequestTarget,
    diagnosis::{self, Held, Kind, Made, RSA_SHA_512, Received, digests},
    encoded_word, listed_headers,
    signature_header::ALGORITHM,
    signing_string::REQUEST_TARGET,
    verification::{self, KeyIdNames, Parameters},
};
use xs2aspec_spec::{MaskSpec, RequestRules, SigningSpec, masks::holds_pseudonym};

use super::message::Sent;

/// The placeholders that the rules use for a valid signature and a valid certificate.
const SIGNATURE: &str = "${signature}";
const CERTIFICATE: &str = "${certificate}";

/// The header defined by the draft.
pub(crate) const FIELD: &str = "signature";

/// The place of violations in the way of signing.
const SIGNING: &str = "signing";

/// Certificates with known owners.
#[derive(Debug)]
pub(crate) struct Certificates {
    /// The certificate of the profile.
    pub(crate) own: Option<Certificate>,
    /// The certificate of the unrelated TPP in the suite's cases.
    pub(crate) other: Option<Certificate>,
    /// The form of keyId.
    pub(crate) form: KeyIdForm,
}

impl Certificates {
    fn names(&self, key_id: &str, certificate: &Certificate) -> bool {
        certificate.key_id(&self.form) == key_id
    }
}

/// The result of examining a request's signature.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Differences from signing as documented, in the form of a case file.
    pub(crate) signing: Map<String, Value>,
    /// Placeholders for headers in the rules, by lowercase name.
    pub(crate) stands_for: Vec<(String, Value)>,
    /// Places that cannot be evaluated, with the reason.
    pub(crate) hidden: Vec<(String, Untold)>,
    /// Unusual properties that might make a bank reject the request.
    pub(crate) unsure: Vec<Untold>,
    /// Descriptions of violations, by place.
    pub(crate) says: Vec<(String, String)>,
    /// The certificate, if it can be read.
    pub(crate) certificate: Option<Certificate>,
    /// True if the certificate is that of the profile.
    pub(crate) is_own: bool,
}

/// Decodes a certificate from the base64 of its PEM.
pub(crate) fn pem(text: &str) -> Option<Certificate> {
    Certificate::from_pem(BASE64_STANDARD.decode(text).ok()?).ok()
}

/// Examines the signature of a request.
pub(crate) fn look(
    sent: &Sent,
    (spec, masks): (&SigningSpec, &MaskSpec),
    rules: &RequestRules,
    known: &Certificates,
) -> Found {
    let mut found = Found::default();
    let certificate = found.certificate(sent, spec, known);
    found.digest(sent);
    let Some(text) = sent.header(FIELD) else { return found };
    if is_masked(text) {
        found.hide(FIELD, SIGNATURE, Untold::Masked);
        return found;
    }
    if is_open(text) {
        found.hide(FIELD, SIGNATURE, Untold::EncodedOtherwise);
        return found;
    }
    let plain = if text.starts_with("=?") { encoded_word::unwrap(text) } else { Some(text.to_owned()) };
    let Some(plain) = plain else { return found };
    if plain.contains("\\\"") && verification::has_stray_quotation_mark(&plain) {
        found.hide(FIELD, SIGNATURE, Untold::QuotationMark);
        return found;
    }
    let parameters = Parameters::read(&plain);
    if let Some(why) = diagnosis::oddity(&plain) {
        found.says.push((format!("header/{FIELD}"), format!("one that {why}")));
    }
    if parameters.is_empty() {
        return found;
    }
    found.stands_for.push((FIELD.to_owned(), SIGNATURE.into()));
    let examination = Examination { sent, spec, rules, known, masks, certificate: certificate.as_ref() };
    if !examination.is_usual(text, &plain, &parameters) {
        found.unsure.push(Untold::UnusualSignature);
    }
    if let Some((signing, says)) = examination.flaw(&parameters, &mut found) {
        if names_one_twice(&plain) && examination.holds_by_the_first(&plain) {
            let value = format!("{SIGNATURE},signature=\"\"");
            found.stands_for.retain(|(name, _)| name != FIELD);
            found.stands_for.push((FIELD.to_owned(), value.into()));
            let says = "one with a duplicate parameter, whose last value counts".to_owned();
            found.says.push((format!("header/{FIELD}"), says));
            return found;
        }
        let oddity = diagnosis::oddity(&plain).filter(|_| parameters.is_incomplete());
        found.signing = signing;
        let says = oddity.map_or_else(|| says.clone(), |why| format!("{says}: the header {why}"));
        found.says.push((SIGNING.to_owned(), says));
    }
    found
}

/// Returns the part after the base64 of a certificate, if a string has more than that.
fn behind_certificate(text: &str) -> Option<&str> {
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/".contains(letter);
    let end = text.find(|letter| !is_base64(letter)).unwrap_or(text.len());
    let end = end + text[end..].find(|letter| letter != '=').unwrap_or(text.len() - end);
    let (code, rest) = text.split_at(end);
    let is_certificate = || Certificate::from_der(BASE64_STANDARD.decode(code).ok()?).ok();
    Some(rest).filter(|rest| !rest.is_empty() && is_certificate().is_some())
}

/// Returns true if the history masks a header, or a part of it.
pub(crate) fn is_masked(text: &str) -> bool {
    holds_pseudonym(text.as_bytes()) || (text.len() >= 3 && text.bytes().all(|byte| byte == b'*'))
}

impl Found {
    fn hide_signature(&mut self, why: Untold) {
        self.hidden.push((format!("header/{FIELD}"), why));
    }

    fn hide(&mut self, name: &str, stands_for: &str, why: Untold) {
        self.stands_for.push((name.to_owned(), stands_for.into()));
        let why = Untold::At { at: name.to_owned(), why: Box::new(why) };
        self.hidden.push((format!("header/{name}"), why));
    }

    fn certificate(&mut self, sent: &Sent, spec: &SigningSpec, known: &Certificates) -> Option<Certificate> {
        let name = spec.certificate_header.as_deref()?;
        let text = sent.header(name)?;
        let name = name.to_ascii_lowercase();
        if is_masked(text) {
            self.hide(&name, CERTIFICATE, Untold::Masked);
            return None;
        }
        if let Some(rest) = behind_certificate(text) {
            self.stands_for.push((name, format!("{CERTIFICATE}{rest}").into()));
            self.certificate = diagnosis::certificate(text).2;
            return None;
        }
        let (held, says, certificate) = diagnosis::certificate(text);
        match held {
            Held::Yes => self.stands_for.push((name, CERTIFICATE.into())),
            Held::Open => self.hide(&name, CERTIFICATE, Untold::Form { says }),
            Held::No => self.says.push((format!("header/{name}"), format!("one that {says}"))),
        }
        self.certificate.clone_from(&certificate);
        let certificate = certificate?;
        if held == Held::Yes && text.trim() != certificate.header_value() {
            self.unsure.push(Untold::Pem);
        }
        self.is_own = known.own.as_ref().is_some_and(|own| own.der() == certificate.der());
        Some(certificate)
    }

    /// Adds a violation in the Digest if the whole body is known.
    fn digest(&mut self, sent: &Sent) {
        let Some(body) = sent.body.bytes() else { return };
        // Several lines are one list (RFC 9110 section 5.3).
        let lines = sent.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("digest"));
        let text = lines.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(says) = digests::fault(&text, body).filter(|_| !text.is_empty()) {
            self.says.push(("header/digest".to_owned(), format!("one that {says}")));
        }
    }
}

struct Examination<'a> {
    sent: &'a Sent,
    spec: &'a SigningSpec,
    rules: &'a RequestRules,
    known: &'a Certificates,
    masks: &'a MaskSpec,
    certificate: Option<&'a Certificate>,
}

impl Examination<'_> {
    /// Returns the difference from signing as documented, and its description.
    fn flaw(&self, parameters: &Parameters, found: &mut Found) -> Option<(Map<String, Value>, String)> {
        let way = |name: &str, says: String| Some((self.rules.way(name).cloned()?, says));
        let found_to_be = |name: &str, says: String| {
            Some((Map::from_iter([("found".to_owned(), Value::from(name))]), says))
        };
        let missing = [
            ("without-key-id", "keyId", &parameters.key_id),
            ("without-headers", "headers", &parameters.headers),
            ("without-signature", "signature", &parameters.signature),
        ];
        if let Some((name, parameter, _)) = missing.into_iter().find(|(_, _, value)| value.is_none()) {
            return way(name, format!("the parameter {parameter} is missing"));
        }
        let algorithm = parameters.algorithm.as_deref().unwrap_or(ALGORITHM);
        if algorithm != ALGORITHM && algorithm.eq_ignore_ascii_case(ALGORITHM) {
            found.hide_signature(Untold::AlgorithmInOtherLetters { algorithm: algorithm.to_owned() });
        } else if algorithm != ALGORITHM {
            let says = format!("algorithm is {algorithm}");
            return match algorithm {
                "rsa-sha1" => found_to_be("sha-1", says),
                "hs2019" => way("algorithm-hs2019", says),
                RSA_SHA_512 if self.is_sha_512(parameters) => {
                    found.hide_signature(Untold::OtherAlgorithm { algorithm: algorithm.to_owned() });
                    None
                }
                _ => way("algorithm-hmac", says),
            };
        }
        let (key_id, list) = (parameters.key_id.as_deref()?, parameters.headers.as_deref()?);
        let listed: Vec<String> = list.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        let signature = self.signature(parameters.signature.as_deref()?, &listed, found);
        if let Some((name, says)) =
            signature.as_ref().filter(|(name, _)| ["other-key", "other-certificate"].contains(name))
        {
            return way(name, says.clone());
        }
        match self.certificate.map(|certificate| verification::key_id_names(key_id, certificate)) {
            Some((KeyIdNames::Nothing, says)) => return way("key-id-words", says),
            Some((KeyIdNames::Part, says)) => return found_to_be("key-id-part", says),
            Some((KeyIdNames::Another, says)) => return way("key-id-another-number", says),
            Some((KeyIdNames::Open, says)) => found.hide_signature(Untold::Form { says }),
            None if !(key_id.starts_with("SN=") && key_id.contains(",CA=")) => {
                return way("key-id-words", "keyId does not have the form SN=..,CA=..".to_owned());
            }
            Some((KeyIdNames::Certificate, _)) | None => {}
        }
        let of = |value: Value| value.as_object().cloned().unwrap_or_default();
        let is_there = |name: &str| name == REQUEST_TARGET || self.sent.header(name).is_some();
        if let Some(absent) = listed.iter().find(|name| !is_there(name)) {
            let says = format!("the list names {absent}, which is not sent");
            return Some((of(json!({"stated-headers": listed})), says));
        }
        let due = listed_headers(&self.spec.signed_headers, &self.sent.headers);
        if let Some(left_out) = due.iter().find(|name| !listed.contains(&name.as_str())) {
            let says = format!("{left_out} is sent but not signed");
            let kept: Vec<&String> = due.iter().filter(|name| listed.contains(&name.as_str())).collect();
            return Some((of(json!({"headers": kept})), says));
        }
        let (name, says) = signature?;
        match name {
            "altered" => {
                let (field, instead) = self.altered(&listed, parameters.signature.as_deref()?)?;
                Some((of(json!({"signed-as": {field: instead}})), says))
            }
            "other-hash" | "url-safe" | "foreign-characters" => found_to_be(name, says),
            name => way(name, says),
        }
    }

    /// Returns the flaw in the signature value: the name of a way of signing, and its description.
    fn signature(&self, text: &str, listed: &[&str], found: &mut Found) -> Option<(&'static str, String)> {
        let certificate = self.certificate?;
        if text.starts_with("=?") {
            found.hide_signature(Untold::EncodedAlone);
            return None;
        }
        let Made { kind, held, says, text: due } = self.made(text, listed)?;
        if held == Held::Open {
            found.hide_signature(Untold::Form { says: says.clone() });
        }
        let says = match due {
            Some(due) => {
                format!("one that {says}; the signing string is {:?}", self.without_persons(&due))
            }
            None => format!("one that {says}"),
        };
        let values = || listed.iter().filter_map(|name| self.sent.header(name));
        match kind {
            // A separate rule reports a list that names an absent header.
            Kind::Right | Kind::NoText => None,
            // The document defines no other algorithm.
            Kind::NotRsa => Some(("algorithm-hmac", says)),
            Kind::Sha512 | Kind::OtherHash => Some(("other-hash", says)),
            Kind::UrlSafe => Some(("url-safe", says)),
            Kind::ForeignCharacters => Some(("foreign-characters", says)),
            Kind::NotBase64 => Some(("not-base64", says)),
            Kind::OtherLength => Some(("too-short", says)),
            Kind::OtherKey => Some(self.by_whom(text, certificate, says)),
            Kind::OtherText if values().any(|value| !value.is_ascii()) => {
                found.hide_signature(Untold::OverBytes);
                None
            }
            Kind::OtherText if values().any(is_masked) => {
                found.hide_signature(Untold::OverMasked);
                None
            }
            Kind::OtherText if self.altered(listed, text).is_some() => Some(("altered", says)),
            Kind::OtherText => Some(("another-text", says)),
        }
    }

    /// Returns true if a signature was made with SHA-512 over the correct signing string.
    fn is_sha_512(&self, parameters: &Parameters) -> bool {
        let listed = parameters.headers.as_deref().unwrap_or_default().to_ascii_lowercase();
        let listed: Vec<&str> = listed.split_ascii_whitespace().collect();
        let made = parameters.signature.as_deref().and_then(|text| self.made(text, &listed));
        made.is_some_and(|made| made.kind == Kind::Sha512)
    }

    /// Returns how the signature over these headers was made.
    fn made(&self, text: &str, listed: &[&str]) -> Option<Made> {
        let target = self.target();
        let received = Received {
            signed_headers: &self.spec.signed_headers,
            certificate_header: None,
            fields: &self.sent.headers,
            latin_1: &[],
            body: self.sent.body.bytes().unwrap_or_default(),
            target: Some(&target),
            signed: None,
        };
        Some(Made::new(text, listed, &received, self.certificate?))
    }

    /// Returns a signing string with personal values hidden.
    fn without_persons(&self, text: &str) -> String {
        let lines = text.split('\n').map(|line| match line.split_once(": ") {
            Some((name, value)) if self.masks.is_personal_header(name) || self.masks.hides_header(name) => {
                format!("{name}: ({} characters)", value.chars().count())
            }
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the header that was changed after signing, with the value that was signed, if that is known.
    fn altered(&self, listed: &[&str], signature: &str) -> Option<(String, String)> {
        let hash = verification::signed(signature, self.certificate?)?;
        listed.iter().find_map(|name| {
            let instead = self.rules.signed_instead(name)?;
            let mut headers = self.sent.headers.clone();
            for (_, value) in headers.iter_mut().filter(|(known, _)| known.eq_ignore_ascii_case(name)) {
                instead.clone_into(value);
            }
            let due = verification::due(listed, &headers, Some(&self.target()));
            (due.as_ref() == Some(&hash)).then(|| ((*name).to_owned(), instead.to_owned()))
        })
    }

    /// Returns true if a header has the usual form: the parameters in order, and the documented list in
    /// order.
    fn is_usual(&self, text: &str, plain: &str, parameters: &Parameters) -> bool {
        let of = |value: &Option<String>| value.clone().unwrap_or_default();
        let due = listed_headers(&self.spec.signed_headers, &self.sent.headers).join(" ");
        let key_id = of(&parameters.key_id);
        let is_named = self.certificate.is_none_or(|certificate| self.known.names(&key_id, certificate));
        let usual = format!(
            "keyId=\"{key_id}\",algorithm=\"{ALGORITHM}\",headers=\"{due}\",signature=\"{}\"",
            of(&parameters.signature)
        );
        is_named && plain == usual && (text == plain) == plain.is_ascii()
    }

    /// Returns the owner of the key behind a signature that does not match its certificate.
    fn by_whom(&self, text: &str, certificate: &Certificate, says: String) -> (&'static str, String) {
        let is_by = |known: &Option<Certificate>| {
            let known = known.as_ref().filter(|known| known.der() != certificate.der());
            known.is_some_and(|known| verification::signed(text, known).is_some())
        };
        if is_by(&self.known.own) {
            ("other-certificate", "a certificate that does not belong to the signing key".to_owned())
        } else if is_by(&self.known.other) {
            ("other-key", "a signature made with the key of another certificate".to_owned())
        } else {
            ("one-bit", says)
        }
    }

    fn target(&self) -> RequestTarget {
        let (path, query) = self.sent.target();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        RequestTarget { method: self.sent.method.clone(), path: format!("{path}{query}") }
    }

    /// Returns true if a signature is valid when the first of each duplicate parameter counts.
    fn holds_by_the_first(&self, plain: &str) -> bool {
        let mut first = Parameters::default();
        // Reads up to each parameter in turn, so that an earlier occurrence is kept.
        for (at, _) in plain.match_indices('"').skip(1).step_by(2) {
            let read = Parameters::read(&plain[..=at]);
            first.key_id = first.key_id.or(read.key_id);
            first.algorithm = first.algorithm.or(read.algorithm);
            first.headers = first.headers.or(read.headers);
            first.signature = first.signature.or(read.signature);
        }
        self.flaw(&first, &mut Found::default()).is_none()
    }
}

/// Returns true if a header has several encoded words, or a charset or encoding that the document does not
/// name. The document does not say how a bank must treat those.
fn is_open(text: &str) -> bool {
    if !text.starts_with("=?") {
        return false;
    }
    let parts: Vec<&str> = text.split('?').collect();
    let [_, charset, encoding, _, _] = parts[..] else { return parts.len() > 5 };
    let charsets = ["utf-8", "iso-8859-1"];
    !charsets.iter().any(|known| charset.eq_ignore_ascii_case(known))
        || !["b", "q"].iter().any(|known| encoding.eq_ignore_ascii_case(known))
}

/// Returns true if a header names a parameter twice.
fn names_one_twice(plain: &str) -> bool {
    ["keyId=\"", "algorithm=\"", "headers=\"", "signature=\""]
        .into_iter()
        .any(|name| plain.match_indices(name).count() > 1)
}
