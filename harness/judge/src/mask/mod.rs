//! Masks secrets and personal values before anything is recorded:
//!
//! - values of the profile in any notation (`finder`, `view`, `secret`), and short ones at their places
//!   (`near`)
//! - personal fields of responses (`json`, `learned`)
//! - signatures, certificates, digests and the headers of a gateway (`header`)
//!
//! Equal values have equal pseudonyms within a run and different ones in other runs (`key`).

mod finder;
mod header;
mod json;
mod key;
mod learned;
mod near;
mod secret;
mod view;

use std::{
    borrow::Cow,
    fmt,
    io::{Read as _, Write as _},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::Value;
use xs2aspec_record::{Body, Finding, Header, Request, Response};
use xs2aspec_spec::{
    MaskSpec,
    masks::{Privacy, holds_pseudonym, is_digest, is_secret},
};
use xs2aspec_suite::Suite;

use self::{
    finder::{Finder, Found, replaced},
    json::Form,
    near::Near,
    secret::Secret,
};
pub use self::{
    json::Field,
    key::{MaskKey, MaskKeyError},
    learned::Learned,
};
use crate::{answer::Answer, fill::WireRequest, profile::Profile};

/// Maximum size of a decompressed body in bytes.
const MOST: u64 = 8 * 1024 * 1024;

/// Returns the privacy of a field by its name.
pub type Rule<'a> = &'a dyn Fn(&str) -> Privacy;

/// Returns the recorded form of a field's value.
pub type Mask<'a> = &'a dyn Fn(&str, &Field) -> String;

/// Replaces secrets with pseudonyms.
pub struct Masker {
    key: MaskKey,
    spec: MaskSpec,
    /// The document under test, in lowercase. Its words are not secrets.
    document: String,
    secrets: Vec<Secret>,
    finder: Finder,
    near: Near,
    /// Headers that the profile adds, in lowercase.
    added: Vec<String>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masker({} values)", self.secrets.len())
    }
}

impl Masker {
    /// Returns a masker for the values of a profile and the rules of the document.
    pub fn new(profile: &Profile, suite: &Suite, key: MaskKey) -> Self {
        let document = suite.spec().document.text().to_lowercase();
        let secrets = secret::of_profile(profile, &document);
        Self {
            key,
            spec: suite.spec().masks.clone(),
            finder: Finder::new(&secrets),
            near: Near::new(&secrets, profile, suite),
            secrets,
            added: profile.headers.keys().map(|name| name.to_ascii_lowercase()).collect(),
            document,
        }
    }

    /// Returns a masker for a history, in which everything is masked already.
    pub fn of_record() -> Self {
        Self {
            key: MaskKey::random(),
            spec: MaskSpec::default(),
            document: String::new(),
            secrets: Vec::new(),
            finder: Finder::new(&[]),
            near: Near::default(),
            added: Vec::new(),
        }
    }

    /// Returns the same masker with another key.
    #[must_use]
    pub fn with_key(self, key: MaskKey) -> Self {
        Self { key, ..self }
    }

    /// Returns the pseudonym of a string.
    pub fn pseudonym(&self, kind: &str, text: &str) -> String {
        self.key.pseudonym(kind, text)
    }

    /// Returns the recorded form of a profile value.
    pub fn value(&self, name: &str, text: &str) -> String {
        let secret =
            self.secrets.iter().find(|secret| secret.name.as_deref() == Some(name) && secret.text == text);
        secret.map_or_else(|| self.text(text), |secret| secret.pseudonym(&self.key, ""))
    }

    /// Masks the secrets in a string.
    pub fn text(&self, text: &str) -> String {
        self.text_with(text, &Learned::default())
    }

    /// Masks the secrets and the learned values in a string.
    pub fn text_with(&self, text: &str, learned: &Learned) -> String {
        self.masked(text, &Field::default(), learned)
    }

    /// Masks a finding. Its place stays the same in every run.
    pub fn finding(&self, finding: &mut Finding, learned: &Learned, rule: Rule<'_>) {
        let name = finding.at.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default();
        let personal = match rule(name) {
            Privacy::Personal(kind) => Some(kind),
            _ => None,
        };
        let field = Field { name: name.to_owned(), personal, is_plain: false };
        for text in [&mut finding.expected, &mut finding.actual] {
            let mut found = self.found(text, &Field::default(), learned);
            for piece in json::pieces(text, rule) {
                // A sentence contains quoted values. If the quoted string is the whole text, it is a value
                // and not a sentence.
                if piece.form == Form::String || piece.at.len() == text.len() {
                    let of_value = self.found(&text[piece.at.clone()], &field, learned).into_iter();
                    found.extend(of_value.map(|found| found.moved(piece.at.start)));
                }
            }
            *text = string(&replaced(text.as_bytes(), found));
        }
        finding.at = self.place(&finding.at, learned);
    }

    /// Returns a place in a message, with `*` for each step that contains a secret.
    pub fn place(&self, at: &str, learned: &Learned) -> String {
        let step = |step| {
            let masked = self.text_with(step, learned);
            if holds_pseudonym(masked.as_bytes()) { "*".to_owned() } else { step.to_owned() }
        };
        at.split('/').map(step).collect::<Vec<_>>().join("/")
    }

    /// Learns the personal values of a response, except those from its request, because the suite invents
    /// them.
    pub fn learn(&self, request: &WireRequest, answer: &Answer, learned: &mut Learned) {
        let sent = String::from_utf8_lossy(&request.body);
        let values = Self::values(&answer.body, &|name| self.spec.privacy(name)).into_iter();
        let mut found: Vec<_> = values.filter_map(|(field, text)| Some((field.personal?, text))).collect();
        found.extend(learned::numbers(&String::from_utf8_lossy(&answer.body)));
        for (name, value) in &answer.headers {
            found.extend(learned::numbers(value));
            if is_secret(name) {
                found.extend(Self::parts(value).into_iter().map(|text| (name.clone(), text)));
            }
        }
        found.retain(|(_, text)| !learned::is_sent(text, &request.url, &sent, &self.document));
        learned.add(found, &self.document);
    }

    /// Learns values with their kinds. `others` are masked only at their places.
    pub fn learn_values(
        &self,
        values: Vec<(String, String)>,
        others: Vec<(String, String)>,
        learned: &mut Learned,
    ) {
        learned.add(values, &self.document);
        learned.add_places(others);
    }

    /// Returns the values of a JSON body with their fields.
    pub fn values(body: &[u8], rule: Rule<'_>) -> Vec<(Field, String)> {
        let text = decoded(body);
        if !json::is_begun(&text) {
            return Vec::new();
        }
        let is_value = |piece: &json::Piece<'_>| {
            let is_literal = piece.form == Form::Bare && ["null", "true", "false"].contains(&&*piece.text);
            piece.form != Form::Name && !is_literal
        };
        let values = json::pieces(&text, rule).into_iter().filter(is_value);
        values.map(|piece| (piece.field, piece.text.into_owned())).collect()
    }

    /// Returns the account and person numbers in a string with their kinds.
    pub fn numbers(text: &str) -> Vec<(String, String)> {
        learned::numbers(text)
    }

    /// Returns the value of a header and its parts: the credentials after a scheme, and their decoded form.
    pub fn parts(value: &str) -> Vec<String> {
        secret::of_header(value).into_iter().map(|(_, text)| text).collect()
    }

    /// Returns true if a string starts like JSON.
    pub fn is_json(text: &str) -> bool {
        json::is_begun(text)
    }

    /// Returns the recorded form of a request.
    pub fn request(&self, request: &WireRequest) -> Request {
        let (headers, body) = self.message(&request.headers, &request.body, &Learned::default(), false);
        Request { method: request.method.clone(), url: self.text(&request.url), headers, body }
    }

    /// Returns the recorded form of a response, with the learned values masked.
    pub fn response(&self, answer: &Answer, learned: &Learned) -> Response {
        let (headers, body) = self.message(&answer.headers, &answer.body, learned, true);
        Response { status: answer.status, headers, body }
    }

    fn message(
        &self,
        headers: &[(String, String)],
        bytes: &[u8],
        learned: &Learned,
        has_secrets: bool,
    ) -> (Vec<Header>, Option<Body>) {
        let body = self.body(bytes, learned);
        let is_masked = body != Body::of(bytes);
        let masked = |(name, value): &(String, String)| {
            let secret = || (has_secrets && is_secret(name)).then(|| self.credentials(name, value));
            let hidden = self.of_key(name, value, headers).or_else(secret);
            let hidden = hidden.or_else(|| self.digest(name, value, is_masked));
            Header(name.clone(), hidden.unwrap_or_else(|| self.header(name, value, learned)))
        };
        (headers.iter().map(masked).collect(), body)
    }

    /// Returns a header with its secrets masked.
    pub fn header(&self, name: &str, value: &str, learned: &Learned) -> String {
        self.masked(value, &Field { name: name.to_owned(), ..Field::default() }, learned)
    }

    /// Masks the words of a header that contains a signature or certificate or that the profile adds.
    /// `others` are the headers of the message, whose names are not secret.
    pub fn of_key(&self, name: &str, value: &str, others: &[(String, String)]) -> Option<String> {
        if self.added.iter().any(|added| added.eq_ignore_ascii_case(name)) {
            return Some(self.credentials(name, value));
        }
        let shows = |word: &str| {
            let is_header = || others.iter().any(|(name, _)| name.eq_ignore_ascii_case(word));
            let is_of_document = || word.len() > 3 && self.document.contains(&word.to_lowercase());
            let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
            self.spec.shows_word(word) || is_header() || !has_digit && is_of_document()
        };
        let kind = name.to_ascii_lowercase();
        self.spec
            .hides_header(name)
            .then(|| header::masked(value, &shows, &|text| self.pseudonym(&kind, text)))
    }

    /// Masks a header computed from a body with masked parts, because it would confirm a guess.
    pub fn digest(&self, name: &str, value: &str, is_masked: bool) -> Option<String> {
        let kind = name.to_ascii_lowercase();
        let pseudonym = |text: &str| self.pseudonym(&kind, text);
        (is_masked && is_digest(name)).then(|| header::masked(value, &header::is_algorithm, &pseudonym))
    }

    /// Masks a secret header, but keeps the scheme of credentials.
    pub fn credentials(&self, name: &str, value: &str) -> String {
        let kind = name.to_ascii_lowercase();
        header::credentials(value, &|text| self.pseudonym(&kind, text))
    }

    /// Returns a body with secrets and learned values masked.
    fn body(&self, bytes: &[u8], learned: &Learned) -> Option<Body> {
        let rule = |name: &str| self.spec.privacy(name);
        self.body_by(bytes, &rule, &|text, field| self.masked(text, field, learned))
    }

    /// Returns a body with its values replaced by `mask`. JSON remains valid, but numbers may become strings.
    pub fn body_by(&self, bytes: &[u8], rule: Rule<'_>, mask: Mask<'_>) -> Option<Body> {
        match Body::of(bytes)? {
            Body::Text(text) => Some(Body::Text(body_text(&text, rule, mask))),
            Body::Base64(_) => Body::of(&self.body_bytes(bytes, rule, mask)),
        }
    }

    fn body_bytes<'a>(&self, bytes: &'a [u8], rule: Rule<'_>, mask: Mask<'_>) -> Cow<'a, [u8]> {
        if let Some(text) = unzipped(bytes) {
            return zipped(&text, &body_text(&text, rule, mask), bytes);
        }
        let text = decoded(bytes);
        if json::is_begun(&text) {
            return Cow::Owned(encoded(&body_text(&text, rule, mask)));
        }
        replaced(bytes, self.finder.find(bytes, true, &self.key))
    }

    /// Returns the value of a field with secrets and learned values masked.
    pub fn masked(&self, text: &str, field: &Field, learned: &Learned) -> String {
        string(&replaced(text.as_bytes(), self.found(text, field, learned)))
    }

    /// Returns the pseudonym of a whole value: a known one if there is one, otherwise one of this kind.
    pub fn whole(&self, kind: &str, text: &str, learned: &Learned) -> String {
        let known = self.secrets.iter().find(|secret| secret.text == text);
        let known = known.map(|secret| secret.pseudonym(&self.key, ""));
        known.or_else(|| learned.exact(text, &self.key)).unwrap_or_else(|| self.pseudonym(kind, text))
    }

    /// Finds the parts of a field's value that must be masked.
    fn found(&self, text: &str, field: &Field, learned: &Learned) -> Vec<Found> {
        let bytes = text.as_bytes();
        let mut found = self.near.in_paths(bytes, &self.key);
        if !field.name.is_empty() {
            found.extend(self.near.at(&field.name, bytes, &self.key));
        }
        found.extend(self.finder.find(bytes, !field.is_plain, &self.key));
        // A profile value has one pseudonym, whatever field name a response uses.
        let is_whole = found.iter().any(|found| found.at == (0..text.len()));
        if field.personal.is_some()
            && !is_whole
            && let Some(pseudonym) = learned.exact(text, &self.key)
        {
            return vec![Found { at: 0..text.len(), pseudonym }];
        }
        found.extend(learned.find(bytes, !field.is_plain, &self.key));
        found
    }
}

fn body_text(text: &str, rule: Rule<'_>, mask: Mask<'_>) -> String {
    if !json::is_begun(text) {
        return mask(text, &Field::default());
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for piece in json::pieces(text, rule) {
        // A name is masked only if it contains a value that is masked anywhere.
        let of_name = Field { is_plain: true, ..Field::default() };
        let masked = mask(&piece.text, if piece.form == Form::Name { &of_name } else { &piece.field });
        if masked != piece.text {
            let json = Value::from(masked).to_string();
            out.push_str(&text[done..piece.at.start]);
            out.push_str(if piece.form == Form::Bare { &json } else { &json[1..json.len() - 1] });
            done = piece.at.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Decodes bytes as UTF-8, or else as ISO 8859-1, in which each byte is a character.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let of_latin = |_| Cow::Owned(bytes.iter().copied().map(char::from).collect());
    std::str::from_utf8(bytes).map_or_else(of_latin, Cow::Borrowed)
}

/// Encodes a string as ISO 8859-1.
fn encoded(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect()
}

/// Converts bytes to a string. They are valid UTF-8, because masks replace whole characters and pseudonyms
/// are ASCII.
fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn unzipped(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    GzDecoder::new(bytes).take(MOST).read_to_string(&mut text).ok().map(|_| text)
}

/// Compresses the masked text. Returns the original bytes if nothing was masked.
fn zipped<'a>(text: &str, masked: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    if masked == text {
        return Cow::Borrowed(bytes);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(masked.as_bytes()).and_then(|()| encoder.finish());
    Cow::Owned(written.unwrap_or_else(|error| unreachable!("writing to memory: {error}")))
}

#[cfg(test)]
mod tests;
