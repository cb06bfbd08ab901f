//! What a record of ours masked, put back by whoever knows it: a pseudonym is the hash of a value with the
//! seed of the run, so that one that is known is recognised. Signatures are made once more and compared.

use xs2aspec_runner::{
    Profile, Session, certificate_encoding::CertificateEncoding, mask::Masker, request_signer::RequestSigner,
};
use xs2aspec_signing::RequestTarget;
use xs2aspec_spec::masks::is_pseudonym;
use xs2aspec_suite::{Party, Signing, Suite};

use crate::{
    input::Masked,
    traffic::{Payload, Sent, Traffic},
};

/// Puts back what was masked.
#[derive(Debug)]
pub struct Restorer {
    masker: Masker,
    /// Pseudonyms, each with what it stands for.
    values: Vec<(String, String)>,
    signer: Option<RequestSigner>,
    /// Ways of signing, the usual one first.
    ways: Vec<Signing>,
    certificate_header: Option<String>,
}

impl Restorer {
    /// A restorer of what a run with the same profile masked.
    pub fn new(session: &Session, by: Masked) -> Self {
        let (profile, suite) = (session.profile(), session.suite());
        let masker = Masker::new(profile, suite.spec().masks.clone(), by.seed);
        let named = profile.values.iter().filter(|(name, _)| !profile.public.contains(*name));
        let pseudonym = |(name, text): (&String, &String)| {
            let kind = name.rsplit('.').next().unwrap_or(name);
            (masker.pseudonym(kind, text), text.clone())
        };
        let values = named.map(pseudonym).collect();
        let signer = signer(suite, profile);
        let certificate_header = suite.spec().signing.certificate_header.clone();
        Self { values, signer, ways: ways(suite), certificate_header, masker }
    }

    /// Puts back what is known.
    pub fn restore(&self, traffic: &mut Traffic) {
        let sent = &mut traffic.request;
        let before = sent.body.clone();
        sent.url = self.text(&sent.url);
        for (_, value) in &mut sent.headers {
            *value = self.text(value);
        }
        if let Payload::Bytes(bytes) = &mut sent.body {
            self.bytes(bytes);
        }
        self.certificate(sent);
        self.signature(sent);
        sent.is_restored = sent.body != before;
        if let Some(answer) = &mut traffic.answer {
            for (_, value) in &mut answer.headers {
                *value = self.text(value);
            }
            if let Payload::Bytes(bytes) = &mut answer.body {
                self.bytes(bytes);
            }
        }
    }

    fn text(&self, text: &str) -> String {
        if !text.contains('~') {
            return text.to_owned();
        }
        self.values.iter().fold(text.to_owned(), |text, (pseudonym, value)| text.replace(pseudonym, value))
    }

    /// A body that is no text stays as it is.
    fn bytes(&self, bytes: &mut Vec<u8>) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let restored = self.text(text);
            if restored != text {
                *bytes = restored.into_bytes();
            }
        }
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
        let known: Vec<String> = parties
            .into_iter()
            .flat_map(|party| [signer.certificate(party, ""), signer.certificate(party, "pem")])
            .flatten()
            .collect();
        let small = name.to_ascii_lowercase();
        for (_, value) in sent.headers.iter_mut().filter(|(known, _)| known.eq_ignore_ascii_case(name)) {
            let same = known
                .iter()
                .find(|text| is_pseudonym(value) && self.masker.pseudonym(&small, text) == *value);
            if let Some(text) = same {
                value.clone_from(text);
            }
        }
    }

    fn signature(&self, sent: &mut Sent) {
        const NAME: &str = "signature";
        let Some(masked) = sent.header(NAME).filter(|text| is_pseudonym(text)).map(str::to_owned) else {
            return;
        };
        let Some(signer) = &self.signer else { return };
        let others: Vec<(String, String)> =
            sent.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case(NAME)).cloned().collect();
        let (path, query) = sent.target();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let target = RequestTarget { method: sent.method.clone(), path: format!("{path}{query}") };
        let made = self.ways.iter().find_map(|way| {
            let text = signer.signature(&others, Some(target.clone()), way).ok()?;
            (self.masker.pseudonym(NAME, &text) == masked).then_some(text)
        });
        let Some(text) = made else { return };
        for (_, value) in sent.headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case(NAME)) {
            value.clone_from(&text);
        }
    }
}

fn signer(suite: &Suite, profile: &Profile) -> Option<RequestSigner> {
    let spec = &suite.spec().signing;
    let encoding = CertificateEncoding::of(&profile.choices, &spec.choices).ok()?;
    RequestSigner::new(profile.signer().ok()?, encoding, &spec.signed_headers).ok()
}

/// The ways in which the cases of a suite sign, those first that need no placeholder: the usual one.
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
