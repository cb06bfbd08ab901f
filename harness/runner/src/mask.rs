//! Masks what belongs to persons and keys before anything is recorded: what the profile gives for PSUs,
//! accounts, cards and payments, and what its `[[prepare]]` printed; in answers, what stands for persons and
//! accounts though nobody sent it; signatures, certificates and the headers of a gateway. Equal values stay
//! recognisably equal within a run; runs with another seed mask differently.

use aho_corasick::{AhoCorasick, MatchKind};
use serde::de::IgnoredAny;
use serde_json::Value;
use sha2::{Digest, Sha256};
use xs2aspec_record::{Body, Header, Request, Response};
use xs2aspec_spec::{MaskSpec, masks::Privacy};

use crate::{exchange::Answer, fill::WireRequest, profile::Profile};

/// Shortest text of a personal member that is replaced wherever it stands: a shorter one is also a part of
/// other words.
const SHORTEST: usize = 4;

/// Texts with what stands in their place.
pub type Pairs = Vec<(String, String)>;

/// Replaces secrets by pseudonyms.
pub struct Masker {
    seed: u64,
    /// What the document says of headers and members.
    spec: MaskSpec,
    /// Finds the secrets, the longest of those that begin at one place: a BBAN stands inside its IBAN.
    finder: AhoCorasick,
    /// What stands in their places, in the order of the finder.
    pseudonyms: Vec<String>,
    /// Header fields that are masked whole because the profile adds them, by name in lower case.
    added: Vec<String>,
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Masker of {} values", self.pseudonyms.len())
    }
}

impl Masker {
    /// A masker for the values of this profile, and for what the document says is to be masked.
    pub fn new(profile: &Profile, spec: MaskSpec, seed: u64) -> Self {
        let values = profile.values.iter().filter(|(name, _)| !profile.public.contains(*name));
        let values = values.map(|(name, text)| (name.rsplit('.').next().unwrap_or(name), text.as_str()));
        let prepared = profile.prepared.iter().map(|text| ("prepared", text.as_str()));
        let prepared = prepared.filter(|(_, text)| text.len() >= SHORTEST);
        let headers = profile.headers.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let mut secrets = Pairs::new();
        for (kind, text) in values.chain(prepared).chain(headers.filter(|(_, text)| text.len() >= SHORTEST)) {
            let pseudonym = pseudonym(seed, kind, text);
            // Cases write an account or a person in other letter cases and with other blanks, to see what
            // becomes of it.
            for written in [text.to_owned(), text.to_lowercase(), text.to_uppercase(), grouped(text)] {
                if !written.is_empty() && !secrets.iter().any(|(known, _)| *known == written) {
                    secrets.push((written, pseudonym.clone()));
                }
            }
        }
        let added = profile.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        let (texts, pseudonyms): (Vec<String>, Vec<String>) = secrets.into_iter().unzip();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        // Too many or too long secrets would be megabytes of them.
        let finder = finder.unwrap_or_else(|error| unreachable!("secrets of a profile: {error}"));
        Self { seed, spec, finder, pseudonyms, added }
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        self.finder.replace_all(text, &self.pseudonyms)
    }

    /// The text without secrets and without what was learned from an answer.
    pub fn text_with(&self, text: &str, learned: &Pairs) -> String {
        replaced(&self.text(text), learned)
    }

    /// What stands in the place of a text of this kind.
    pub fn pseudonym(&self, kind: &str, text: &str) -> String {
        pseudonym(self.seed, kind, text)
    }

    /// What an answer tells of persons and accounts that its request did not: members that say so by their
    /// names, and whatever has the form of an account or person number.
    pub fn learn(&self, request: &WireRequest, answer: &Answer, learned: &mut Pairs) {
        let text = String::from_utf8_lossy(&answer.body);
        let sent = String::from_utf8_lossy(&request.body);
        let mut found = Vec::new();
        match serde_json::from_slice(&answer.body) {
            Ok(document) => self.members(&document, "", &mut found),
            Err(_) => self.texts(&text, &mut found),
        }
        found.retain(|(_, text)| text.chars().count() >= SHORTEST);
        numbers(&text, &mut found);
        for (_, value) in &answer.headers {
            numbers(value, &mut found);
        }
        for (kind, text) in found {
            let is_new = !learned.iter().any(|(known, _)| *known == text);
            if is_new && !sent.contains(&text) && !request.url.contains(&text) {
                let pseudonym = pseudonym(self.seed, &kind, &text);
                // As JSON writes it, where that is another text.
                let json = Value::from(text.as_str()).to_string();
                let json = json[1..json.len() - 1].to_owned();
                if json != text {
                    learned.push((json, pseudonym.clone()));
                }
                learned.push((text, pseudonym));
            }
        }
        longest_first(learned);
    }

    /// A request as it may be recorded.
    pub fn request(&self, request: &WireRequest) -> Request {
        Request {
            method: request.method.clone(),
            url: self.text(&request.url),
            headers: self.headers(&request.headers),
            body: self.body(&request.body),
        }
    }

    /// An answer as it may be recorded, without what was learned from it.
    pub fn response(&self, answer: &Answer, learned: &Pairs) -> Response {
        let headers = self.headers(&answer.headers).into_iter();
        Response {
            status: answer.status,
            headers: headers.map(|Header(name, value)| Header(name, replaced(&value, learned))).collect(),
            body: self.body(&answer.body).map(|body| match body {
                Body::Text(text) => Body::Text(without(&text, learned)),
                other @ Body::Base64(_) => other,
            }),
        }
    }

    fn headers(&self, headers: &[(String, String)]) -> Vec<Header> {
        let value = |name: &str, value: &str| {
            let name = name.to_ascii_lowercase();
            if value.is_empty() || !(self.spec.hides_header(&name) || self.added.contains(&name)) {
                return self.text(value);
            }
            pseudonym(self.seed, &name, value)
        };
        headers.iter().map(|(name, text)| Header(name.clone(), value(name, text))).collect()
    }

    /// A body that is no text may hold a secret all the same.
    fn body(&self, bytes: &[u8]) -> Option<Body> {
        Body::of(bytes).map(|body| match body {
            Body::Text(text) => Body::Text(self.text(&text)),
            Body::Base64(_) => Body::of(&self.finder.replace_all_bytes(bytes, &self.pseudonyms))
                .unwrap_or(Body::Text(String::new())),
        })
    }

    /// Texts below members that are personal by name, with that name.
    fn members(&self, value: &Value, name: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) if !name.is_empty() => found.push((name.to_owned(), text.clone())),
            Value::Number(number) if !name.is_empty() => found.push((name.to_owned(), number.to_string())),
            Value::Array(items) => items.iter().for_each(|item| self.members(item, name, found)),
            Value::Object(object) => {
                for (key, value) in object {
                    match self.spec.privacy(key) {
                        Privacy::Plain => self.members(value, "", found),
                        Privacy::Personal(name) => self.members(value, &name, found),
                        Privacy::Inherited => self.members(value, name, found),
                    }
                }
            }
            _ => {}
        }
    }

    /// The same in what is no document, or only the beginning of one.
    fn texts(&self, text: &str, found: &mut Vec<(String, String)>) {
        let mut privacy = Privacy::Inherited;
        let mut rest = text;
        while let Some(start) = rest.find('"') {
            rest = &rest[start + 1..];
            let mut escaped = false;
            let end = rest.find(|letter| {
                let ends = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            });
            let (text, after) = end.map_or((rest, ""), |end| (&rest[..end], &rest[end + 1..]));
            if after.trim_start().starts_with(':') {
                privacy = self.spec.privacy(text);
            } else if let Privacy::Personal(name) = &privacy {
                found.push((name.clone(), text.to_owned()));
            }
            rest = after;
        }
    }
}

/// A BBAN stands inside its IBAN: the longer one first.
fn longest_first(pairs: &mut Pairs) {
    pairs.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
}

fn replaced(text: &str, pairs: &Pairs) -> String {
    let mut masked = text.to_owned();
    for (secret, pseudonym) in pairs {
        if masked.contains(secret.as_str()) {
            masked = masked.replace(secret.as_str(), pseudonym);
        }
    }
    masked
}

/// A body without what was learned from it. One that is a document stays one, though a number becomes a text.
fn without(text: &str, learned: &Pairs) -> String {
    let masked = replaced(&without_personal(text, learned), learned);
    if masked == text || serde_json::from_str::<IgnoredAny>(&masked).is_ok() {
        return masked;
    }
    let Ok(mut document) = serde_json::from_str::<Value>(text) else { return masked };
    mask(&mut document, learned);
    document.to_string()
}

/// An account number in groups of four, as people write it (ISO 13616).
fn grouped(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// IBANs with right check digits (ISO 13616), and numbers of 11 digits, as accounts and persons have them in
/// Norway.
fn numbers(text: &str, found: &mut Vec<(String, String)>) {
    for word in text.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        if word.len() == 11 && word.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push(("number".to_owned(), word.to_owned()));
        } else if is_iban(word) {
            found.push(("iban".to_owned(), word.to_owned()));
        }
    }
}

fn is_iban(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    let bytes = upper.as_bytes();
    let has_form = (15..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit);
    has_form
        && bytes[4..].iter().chain(&bytes[..4]).fold(0, |rest, byte| match byte {
            b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
            letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
        }) == 1
}

/// The text, if it is a document in which a personal text is still left because it is written with escapes,
/// without that one.
fn without_personal(text: &str, learned: &Pairs) -> String {
    if learned.is_empty() || !text.contains("\\u") {
        return text.to_owned();
    }
    let Ok(mut document) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let before = document.clone();
    mask(&mut document, learned);
    if document == before { text.to_owned() } else { document.to_string() }
}

fn mask(value: &mut Value, learned: &Pairs) {
    match value {
        Value::String(text) => *text = replaced(text, learned),
        Value::Number(number) => {
            let text = number.to_string();
            let masked = replaced(&text, learned);
            if masked != text {
                *value = masked.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, learned)),
        Value::Object(object) => object.values_mut().for_each(|item| mask(item, learned)),
        _ => {}
    }
}

fn pseudonym(seed: u64, kind: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(text);
    let hash = hash.finalize();
    format!("{kind}~{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}

#[cfg(test)]
mod tests {
    use xs2aspec_spec::Tree;

    use super::*;

    fn masker_of(profile: &Profile, seed: u64) -> Masker {
        Masker::new(profile, MaskSpec::load(&Tree::embedded()).unwrap(), seed)
    }

    #[test]
    fn no_secret_is_left_and_equal_values_stay_equal() {
        let profile = Profile::reference("http://127.0.0.1:1").unwrap();
        let masker = masker_of(&profile, 7);
        let (psu, iban) = (&profile.values["psu.private.id"], &profile.values["accounts.debtor.iban"]);
        let request = WireRequest {
            method: "POST".into(),
            url: "http://127.0.0.1:1/v1".into(),
            headers: vec![("PSU-ID".into(), psu.clone()), ("Signature".into(), "keyId=\"a\"".into())],
            body: format!("{{\"a\":\"{iban}\",\"b\":\"{iban}\"}}").into_bytes(),
            exact: false,
        };
        let recorded = serde_json::to_string(&masker.request(&request)).unwrap();
        assert!(
            !recorded.contains(psu) && !recorded.contains(iban) && !recorded.contains("keyId"),
            "{recorded}"
        );
        let mark = recorded.split("iban~").nth(1).unwrap()[..8].to_owned();
        assert_eq!(recorded.matches(&mark).count(), 2);
        assert_ne!(masker_of(&profile, 8).text(psu), masker.text(psu));
    }

    fn filled(body: &str) -> WireRequest {
        let url = "http://127.0.0.1:1/v1".into();
        WireRequest { method: "POST".into(), url, headers: vec![], body: body.into(), exact: false }
    }

    #[test]
    fn answers_tell_nothing_of_persons_but_what_was_sent() {
        let masker = masker_of(&Profile::reference("http://127.0.0.1:1").unwrap(), 7);
        let body = r#"{"creditorName":"Sent By Us","debtorName":"Canary One","agreements":[{"name":"K\u00e5re \"K\" Canary"}],
            "note":"paid by 12345678911 from DE89370400440532013000","code":"DE00370400440532013000","customerNumber":4711471147}"#;
        let headers = vec![("X-Account".to_owned(), "NO9386011117947".to_owned())];
        let answer = Answer { status: 200, headers, body: body.into() };
        let mut learned = Pairs::new();
        masker.learn(&filled(r#"{"creditorName":"Sent By Us"}"#), &answer, &mut learned);
        let recorded = serde_json::to_string(&masker.response(&answer, &learned)).unwrap();
        for secret in ["Canary", "12345678911", "DE89370400440532013000", "NO9386011117947", "4711471147"] {
            assert!(!recorded.contains(secret), "{secret}: {recorded}");
        }
        assert!(recorded.contains("Sent By Us"), "what a case sends is no secret");
        assert!(recorded.contains("DE00370400440532013000"), "no account: its check digits are wrong");
        assert!(!masker.text_with("got Canary One", &learned).contains("Canary"));
        let Some(Body::Text(text)) = masker.response(&answer, &learned).body else { panic!("a text") };
        let document: Value = serde_json::from_str(&text).unwrap();
        assert!(document["customerNumber"].is_string(), "a masked number leaves a document: {text}");
    }

    #[test]
    fn the_beginning_of_an_answer_tells_nothing_either() {
        let masker = masker_of(&Profile::reference("http://127.0.0.1:1").unwrap(), 7);
        let body = r#"{"debtorName":"Canary One","other":"Shown","name":["K \"Canary", "Canary Tw"#;
        for end in 20..=body.len() {
            let answer = Answer { status: 200, headers: vec![], body: body[..end].into() };
            let mut learned = Pairs::new();
            masker.learn(&filled(""), &answer, &mut learned);
            let recorded = serde_json::to_string(&masker.response(&answer, &learned)).unwrap();
            assert!(!recorded.contains("Canary"), "{recorded}");
            assert_eq!(recorded.contains("Shown"), body[..end].contains("Shown"), "{recorded}");
        }
    }

    #[test]
    fn other_ways_of_writing_and_bytes_that_are_no_text_are_masked() {
        let profile = Profile::reference("http://127.0.0.1:1").unwrap();
        let masker = masker_of(&profile, 7);
        let iban = &profile.values["accounts.debtor.iban"];
        let mark = masker.text(iban);
        for written in [iban.to_lowercase(), grouped(iban)] {
            assert_eq!(masker.text(&written), mark, "{written}");
        }
        let mut request = filled("");
        request.body = [&b"\xff"[..], iban.as_bytes(), b" ", iban.as_bytes()].concat();
        let Some(Body::Base64(code)) = masker.request(&request).body else { panic!("no text") };
        let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, code).unwrap();
        assert_eq!(bytes, [&b"\xff"[..], mark.as_bytes(), b" ", mark.as_bytes()].concat());
    }
}
