//! Masks what belongs to persons and keys before anything is recorded: the values that the profile gives for PSUs and accounts,
//! signatures and certificates. Equal values stay recognisably equal within a run; runs with another seed mask differently.

use sha2::{Digest, Sha256};
use xs2aspec_record::{Body, Header, Request, Response};

use crate::{exchange::Answer, fill::Filled, profile::Profile};

/// Header fields that are masked whole, by name in lower case.
const WHOLE: [&str; 2] = ["signature", "tpp-signature-certificate"];

/// Replaces secrets by pseudonyms.
pub struct Masker {
    seed: u64,
    secrets: Vec<(String, String)>,
    /// Header fields that are masked whole because the profile adds them, by name in lower case.
    added: Vec<String>,
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Masker of {} values", self.secrets.len())
    }
}

impl Masker {
    /// A masker for the values of this profile.
    pub fn new(profile: &Profile, seed: u64) -> Self {
        let personal = |name: &str| {
            name.starts_with("psu.")
                || name.starts_with("transaction.")
                || name == "session-id"
                || (name.starts_with("accounts.") && matches!(name.rsplit('.').next(), Some("iban" | "bban")))
        };
        let secrets = profile.values.iter().filter(|(name, text)| personal(name) && !text.is_empty());
        let mut secrets: Vec<(String, String)> = secrets
            .map(|(name, text)| {
                let kind = name.rsplit('.').next().unwrap_or(name);
                (text.clone(), pseudonym(seed, kind, text))
            })
            .collect();
        // A BBAN stands inside its IBAN: the longer one first.
        secrets.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        let added = profile.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        Self { seed, secrets, added }
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for (secret, pseudonym) in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), pseudonym);
            }
        }
        masked
    }

    /// A request as it may be recorded.
    pub fn request(&self, request: &Filled) -> Request {
        Request {
            method: request.method.clone(),
            url: self.text(&request.url),
            headers: self.headers(&request.headers),
            body: self.body(&request.body),
        }
    }

    /// An answer as it may be recorded.
    pub fn response(&self, answer: &Answer) -> Response {
        Response {
            status: answer.status,
            headers: self.headers(&answer.headers),
            body: self.body(&answer.body),
        }
    }

    fn headers(&self, headers: &[(String, String)]) -> Vec<Header> {
        let value = |name: &str, value: &str| {
            let name = name.to_ascii_lowercase();
            if value.is_empty() || !(WHOLE.contains(&name.as_str()) || self.added.contains(&name)) {
                return self.text(value);
            }
            pseudonym(self.seed, &name, value)
        };
        headers.iter().map(|(name, text)| Header(name.clone(), value(name, text))).collect()
    }

    fn body(&self, bytes: &[u8]) -> Option<Body> {
        Body::of(bytes).map(|body| match body {
            Body::Text(text) => Body::Text(self.text(&text)),
            other @ Body::Base64(_) => other,
        })
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
    use super::*;

    #[test]
    fn no_secret_is_left_and_equal_values_stay_equal() {
        let profile = Profile::reference("http://127.0.0.1:1").unwrap();
        let masker = Masker::new(&profile, 7);
        let (psu, iban) = (&profile.values["psu.private.id"], &profile.values["accounts.debtor.iban"]);
        let request = Filled {
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
        assert_ne!(Masker::new(&profile, 8).text(psu), masker.text(psu));
    }
}
