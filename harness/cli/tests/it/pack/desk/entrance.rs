//! Headers and signature: the admission of a request.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chrono::DateTime;
use rustls::pki_types::alg_id;
use xs2aspec_signing::{Certificate, KeyIdForm, digest::Algorithm};

use super::{Asked, Checked, Desk, Refusal};

impl Desk {
    pub(super) fn let_in(&self, asked: &Asked<'_>) -> Checked {
        self.headers(asked)?;
        self.signature(asked)
    }

    fn headers(&self, asked: &Asked<'_>) -> Checked {
        let wrong = |name: &str| Err(Refusal(400, "HEADER", format!("{name} is missing or wrong")));
        let field = |name: &str| asked.headers.get(name).map(String::as_str);
        for name in ["x-client-key", "x-trace", "date", "x-client-certificate", "signature"] {
            if field(name).is_none() && !self.breaks(&format!("{name}-missing")) {
                return wrong(name);
            }
        }
        let key = field("x-client-key").unwrap_or("SHOP000001");
        let is_unseen = self.breaks("client-key-with-language") && field("x-language").is_some();
        let is_key = |letter: u8| letter.is_ascii_uppercase() || letter.is_ascii_digit();
        if (key.len() != 10 || !key.bytes().all(is_key)) && !self.breaks("client-key-form") && !is_unseen {
            return wrong("X-Client-Key");
        }
        let trace = field("x-trace").map(str::parse::<uuid::Uuid>);
        let is_long = field("x-trace").is_none_or(|trace| trace.len() == 36) || self.breaks("trace-shape");
        if (!is_long || trace.is_some_and(|trace| trace.is_err())) && !self.breaks("trace-form") {
            return wrong("X-Trace");
        }
        let date = field("date").map(DateTime::parse_from_rfc2822);
        let is_near = |date: DateTime<_>| (date.to_utc() - self.now).num_seconds().abs() <= 300;
        let is_right = date.is_none_or(|date| match date {
            Ok(date) => is_near(date) || self.breaks("date-window"),
            Err(_) => self.breaks("date-form"),
        });
        if !is_right {
            return wrong("Date");
        }
        let language = field("x-language").is_none_or(|tag| ["nb", "en", "fi"].contains(&tag));
        let is_moved = self.breaks("language-of-pickup") && asked.method == "PUT";
        if !language && !self.breaks("language-listed") && !is_moved {
            return wrong("X-Language");
        }
        if !asked.body.is_empty() || asked.method == "POST" {
            let Some(digest) = field("digest") else {
                return if self.breaks("digest-missing") { Ok(()) } else { wrong("Digest") };
            };
            if digest != Algorithm::Sha256.header_value(asked.body) && !self.breaks("digest-unread") {
                return wrong("Digest");
            }
        }
        let shown = field("x-client-certificate").unwrap_or_default();
        let is_certificate =
            BASE64_STANDARD.decode(shown).is_ok_and(|der| Certificate::from_der(der).is_ok());
        let is_empty = field("x-client-certificate").is_none() || self.breaks("certificate-empty");
        if is_certificate || shown.is_empty() && is_empty { Ok(()) } else { wrong("X-Client-Certificate") }
    }

    pub(super) fn signature(&self, asked: &Asked<'_>) -> Checked {
        let wrong = |why: &str| Err(Refusal(401, "SIGNATURE", why.to_owned()));
        let Some(header) = asked.headers.get("signature") else { return Ok(()) };
        let parameters: BTreeMap<&str, &str> = header
            .split("\",")
            .filter_map(|parameter| parameter.split_once("=\""))
            .map(|(name, value)| (name.trim_start_matches(','), value.trim_end_matches('"')))
            .collect();
        let parameter = |name: &str| parameters.get(name).copied().unwrap_or_default();
        if parameter("algorithm") != "rsa-sha256" && !self.breaks("signature-algorithm") {
            return wrong("another algorithm");
        }
        if parameter("keyId") != self.shop.key_id(&KeyIdForm::default()) && !self.breaks("signature-key-id") {
            return wrong("another key");
        }
        let listed: Vec<&str> = parameter("headers").split(' ').collect();
        let wanted = ["x-trace", "x-client-key", "x-language", "digest", "date"];
        let wanted: Vec<&str> = wanted.into_iter().filter(|name| asked.headers.contains_key(*name)).collect();
        if listed != wanted && !self.breaks("signature-list") {
            return wrong("another list of headers");
        }
        let line = |name: &&str| Some(format!("{name}: {}", asked.headers.get(*name)?));
        let lines: Option<Vec<String>> = listed.iter().map(line).collect();
        let Some(lines) = lines else { return wrong("a listed header is not there") };
        let holds = verifies(&self.shop, &lines.join("\n"), parameter("signature"));
        if holds || self.breaks("signature-unread") {
            return Ok(());
        }
        wrong("it does not hold")
    }
}

/// Returns true if a text has this RSA-SHA256 signature in base64.
fn verifies(certificate: &Certificate, text: &str, signature: &str) -> bool {
    let Ok(signature) = BASE64_STANDARD.decode(signature) else { return false };
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let all = provider.signature_verification_algorithms.all;
    let known = all.iter().filter(|known| known.signature_alg_id() == alg_id::RSA_PKCS1_SHA256);
    let key = certificate.rsa_public_key().unwrap_or_default();
    known.into_iter().any(|known| known.verify_signature(key, text.as_bytes(), &signature).is_ok())
}
