//! Replaces pseudonyms with the values of a profile. A record contains the pseudonym of each named value.
//! Signatures, certificates and digests have no names. They are recomputed, masked with the mask key of the
//! run, and compared.

use std::collections::HashMap;

use serde_json::Value;
use xs2aspec_judge::{
    Judge, Profile,
    certificate_encoding::CertificateEncoding,
    fill::encode,
    mask::Masker,
    request_signer::RequestSigner,
    traffic::{Payload, Sent, Traffic, vocabulary::filled},
};
use xs2aspec_record::Changed;
use xs2aspec_signing::RequestTarget;
use xs2aspec_spec::masks::{holds_pseudonym, pseudonyms};
use xs2aspec_suite::{Party, Signing, Suite, template};

use crate::input::Masked;

const SIGNATURE: &str = "signature";
const DIGEST: &str = "digest";

/// Restores masked values.
#[derive(Debug)]
pub struct Restorer<'a> {
    masker: &'a Masker,
    /// Values by pseudonym.
    values: HashMap<String, String>,
    signer: Option<RequestSigner>,
    /// Ways of signing, the usual one first.
    ways: Vec<Signing>,
    /// Digest headers in the form of the cases.
    digests: Vec<Value>,
    certificate_header: Option<String>,
}

impl<'a> Restorer<'a> {
    /// Returns a restorer for what a run with the same profile masked.
    pub fn new(judge: &'a Judge, by: &Masked) -> Self {
        let (profile, suite) = (judge.profile(), judge.suite());
        let mut values = HashMap::new();
        for (name, pseudonym) in &by.values {
            let value = profile.values.get(name).filter(|_| holds_pseudonym(pseudonym.as_bytes()));
            if let (Some(value), Some((kind, digits))) = (value, pseudonym.rsplit_once('~')) {
                let written = |writing: &str| format!("{kind}.{writing}~{digits}");
                values.insert(written("lowercase"), value.to_lowercase());
                values.insert(written("uppercase"), value.to_uppercase());
                values.insert(pseudonym.clone(), value.clone());
            }
        }
        Self {
            masker: judge.masker(),
            values,
            signer: signer(suite, profile),
            ways: ways(suite),
            digests: digests(suite),
            certificate_header: suite.spec().signing.certificate_header.clone(),
        }
    }

    /// Restores the known values.
    pub fn restore(&self, traffic: &mut Traffic) {
        let sent = &mut traffic.request;
        let before = sent.body.clone();
        sent.url = self.text(&sent.url, &encode);
        self.message(&mut sent.headers, &mut sent.body);
        if sent.body != before {
            sent.changed = Some(Changed::Masked);
        }
        self.certificate(sent);
        self.digest(sent);
        self.signature(sent);
        if let Some(answer) = &mut traffic.answer {
            self.message(&mut answer.headers, &mut answer.body);
        }
    }

    fn message(&self, headers: &mut [(String, String)], body: &mut Payload) {
        for (_, value) in headers {
            *value = self.text(value, &str::to_owned);
        }
        // A body that is not UTF-8 stays unchanged.
        if let Payload::Bytes(bytes) = body
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            *bytes = self.text(text, &str::to_owned).into_bytes();
        }
    }

    fn text(&self, text: &str, write: &dyn Fn(&str) -> String) -> String {
        let (mut out, mut done) = (String::new(), 0);
        for at in pseudonyms(text.as_bytes()) {
            if let Some(value) = self.values.get(&text[at.clone()]) {
                out.push_str(&text[done..at.start]);
                out.push_str(&write(value));
                done = at.end;
            }
        }
        out.push_str(&text[done..]);
        out
    }

    fn certificate(&self, sent: &mut Sent) {
        let (Some(name), Some(signer)) = (&self.certificate_header, &self.signer) else { return };
        let parties = [
            None,
            Some(Party::Other),
            Some(Party::OtherExpired),
            Some(Party::OtherEarly),
            Some(Party::OtherRole),
        ];
        let mut known = parties
            .into_iter()
            .flat_map(|party| [signer.certificate(party, ""), signer.certificate(party, "pem")])
            .flatten();
        let is_own =
            |text: &String| self.masker.of_key(name, text, &sent.headers).as_deref() == sent.header(name);
        if let Some(text) = known.find(is_own) {
            replace(sent, name, &text);
        }
    }

    fn digest(&self, sent: &mut Sent) {
        let Some(body) = sent.body.bytes() else { return };
        let digest = |name: &str| RequestSigner::digest(name.strip_prefix("digest.")?, body).map(Value::from);
        let mut made =
            self.digests.iter().filter_map(|value| filled(value, &digest)?.as_str().map(str::to_owned));
        let is_own = |text: &String| self.masker.digest(DIGEST, text, true).as_deref() == sent.header(DIGEST);
        if let Some(text) = made.find(is_own) {
            replace(sent, DIGEST, &text);
        }
    }

    fn signature(&self, sent: &mut Sent) {
        let (Some(signer), Some(masked)) = (&self.signer, sent.header(SIGNATURE)) else { return };
        if !holds_pseudonym(masked.as_bytes()) {
            return;
        }
        let is_other = |(name, _): &&(String, String)| !name.eq_ignore_ascii_case(SIGNATURE);
        let others: Vec<(String, String)> = sent.headers.iter().filter(is_other).cloned().collect();
        let (path, query) = sent.target();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let target = RequestTarget { method: sent.method.clone(), path: format!("{path}{query}") };
        let made = self.ways.iter().find_map(|way| {
            let text = signer.signature(&others, Some(target.clone()), way).ok()?;
            (self.masker.of_key(SIGNATURE, &text, &sent.headers).as_deref() == Some(masked)).then_some(text)
        });
        if let Some(text) = made {
            replace(sent, SIGNATURE, &text);
        }
    }
}

/// Replaces the value of a header.
fn replace(sent: &mut Sent, name: &str, text: &str) {
    for (_, value) in sent.headers.iter_mut().filter(|(known, _)| known.eq_ignore_ascii_case(name)) {
        text.clone_into(value);
    }
}

/// Returns the Digest headers of the cases that depend only on the body.
fn digests(suite: &Suite) -> Vec<Value> {
    let mut digests = Vec::new();
    for value in suite.cases().iter().filter_map(|case| case.request.header(DIGEST)) {
        let is_of_body = template::names(value).iter().all(|name| template::head(name) == DIGEST);
        if is_of_body && !digests.contains(value) {
            digests.push(value.clone());
        }
    }
    digests
}

fn signer(suite: &Suite, profile: &Profile) -> Option<RequestSigner> {
    let spec = &suite.spec().signing;
    let encoding = CertificateEncoding::of(&profile.choices, &spec.choices).ok()?;
    RequestSigner::new(profile.signer().ok()?, encoding, &spec.signed_headers).ok()
}

/// Returns the ways of signing that the cases use without placeholders, the usual one first.
fn ways(suite: &Suite) -> Vec<Signing> {
    let mut ways = vec![Signing::default()];
    for case in suite.cases() {
        let has_placeholder =
            case.request.signing.differing().values().any(|value| value.to_string().contains("${"));
        if !has_placeholder && !ways.contains(&case.request.signing) {
            ways.push(case.request.signing.clone());
        }
    }
    ways
}
