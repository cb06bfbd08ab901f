//! What a signature that was received is, in the words of the rules for requests: its header field, and the
//! way of signing where it is not the document's.

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

/// What the rules write for a signature that is one, and for a certificate that is one.
const SIGNATURE: &str = "${signature}";
const CERTIFICATE: &str = "${certificate}";

/// The header field of the draft.
pub(crate) const FIELD: &str = "signature";

/// The way of signing, as the place of what is wrong.
const SIGNING: &str = "signing";

/// Certificates whose owners are known.
#[derive(Debug)]
pub(crate) struct Certificates {
    /// The one that the target profile has.
    pub(crate) own: Option<Certificate>,
    /// The one of the suite's cases for somebody else.
    pub(crate) other: Option<Certificate>,
    /// How a keyId is written.
    pub(crate) form: KeyIdForm,
}

impl Certificates {
    fn names(&self, key_id: &str, certificate: &Certificate) -> bool {
        certificate.key_id(&self.form) == key_id
    }
}

/// What was found of the signature of a request.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// How it is signed, where not as the document says; as a case file writes it.
    pub(crate) signing: Map<String, Value>,
    /// What stands for header fields in the eyes of the rules, by name in small letters.
    pub(crate) stands_for: Vec<(String, Value)>,
    /// What could not be looked at, and why.
    pub(crate) hidden: Vec<(String, Untold)>,
    /// What is another than usual, so that a bank might refuse it.
    pub(crate) unsure: Vec<Untold>,
    /// What is wrong, in words, by place.
    pub(crate) says: Vec<(String, String)>,
    /// The certificate, where it can be read.
    pub(crate) certificate: Option<Certificate>,
    /// Whether the certificate is that of the target profile.
    pub(crate) is_own: bool,
}

/// A certificate of the base64 of its PEM.
pub(crate) fn pem(text: &str) -> Option<Certificate> {
    Certificate::from_pem(BASE64_STANDARD.decode(text).ok()?).ok()
}

/// Looks at the signature of a request.
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
            let says = "of a parameter that is there twice the last counts".to_owned();
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

/// What stands behind the base64 of a certificate, if a text is that and more.
fn behind_certificate(text: &str) -> Option<&str> {
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/".contains(letter);
    let end = text.find(|letter| !is_base64(letter)).unwrap_or(text.len());
    let end = end + text[end..].find(|letter| letter != '=').unwrap_or(text.len() - end);
    let (code, rest) = text.split_at(end);
    let is_certificate = || Certificate::from_der(BASE64_STANDARD.decode(code).ok()?).ok();
    Some(rest).filter(|rest| !rest.is_empty() && is_certificate().is_some())
}

/// Returns true if a record masks a header, or a part of it.
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

    /// What is wrong with the Digest, where the whole body is known.
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
    /// The way of signing that a request has in place of the document's, and what is wrong in words.
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
            return way(name, format!("the parameter {parameter} is not there"));
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
                return way("key-id-words", "keyId is no SN=..,CA=..".to_owned());
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
            let says = format!("{left_out} is sent and not signed");
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

    /// What is wrong with the signature itself: the name of a way of signing, and words.
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
            // A list with what is not there is told by its own rule.
            Kind::Right | Kind::NoText => None,
            // No other algorithm is one of the document.
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

    /// Whether a signature was made with SHA-512 over the right text.
    fn is_sha_512(&self, parameters: &Parameters) -> bool {
        let listed = parameters.headers.as_deref().unwrap_or_default().to_ascii_lowercase();
        let listed: Vec<&str> = listed.split_ascii_whitespace().collect();
        let made = parameters.signature.as_deref().and_then(|text| self.made(text, &listed));
        made.is_some_and(|made| made.kind == Kind::Sha512)
    }

    /// What a signature over these headers was made of.
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

    /// A signing string without what says who somebody is.
    fn without_persons(&self, text: &str) -> String {
        let lines = text.split('\n').map(|line| match line.split_once(": ") {
            Some((name, value)) if self.masks.is_personal_header(name) || self.masks.hides_header(name) => {
                format!("{name}: ({} characters)", value.chars().count())
            }
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The header field that is another than was signed, and what was signed in its place, where that is
    /// known.
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

    /// Whether a header is written as one usually is: the parameters in their order, and the list of the
    /// document in its order.
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

    /// Whose key made a signature that is not by the key of its certificate.
    fn by_whom(&self, text: &str, certificate: &Certificate, says: String) -> (&'static str, String) {
        let is_by = |known: &Option<Certificate>| {
            let known = known.as_ref().filter(|known| known.der() != certificate.der());
            known.is_some_and(|known| verification::signed(text, known).is_some())
        };
        if is_by(&self.known.own) {
            ("other-certificate", "a certificate that is not that of the key that signed".to_owned())
        } else if is_by(&self.known.other) {
            ("other-key", "a signature with a key of another certificate".to_owned())
        } else {
            ("one-bit", says)
        }
    }

    fn target(&self) -> RequestTarget {
        let (path, query) = self.sent.target();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        RequestTarget { method: self.sent.method.clone(), path: format!("{path}{query}") }
    }

    /// Whether a signature holds by the first of the parameters that are there twice.
    fn holds_by_the_first(&self, plain: &str) -> bool {
        let mut first = Parameters::default();
        // What stands before a parameter of a name that was there before.
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

/// Whether a field is several encoded words, or one of a charset or an encoding that the document does not
/// name: what becomes of those is open.
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

/// Whether a header of parameters names one twice.
fn names_one_twice(plain: &str) -> bool {
    ["keyId=\"", "algorithm=\"", "headers=\"", "signature=\""]
        .into_iter()
        .any(|name| plain.match_indices(name).count() > 1)
}
