//! The value of the `Signature` header (draft-cavage-http-signatures-10, sections 2.1 and 4).

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    certificate::KeyIdForm,
    encoded_word::{Charset, EncodedWordError, Encoding, wrap},
    other_hash::OtherHash,
    signer::{Signer, SignerError},
    signing_string::{RequestTarget, SigningStringError, signing_string},
};

/// The name of the algorithm in the header (draft, appendix E.2).
pub const ALGORITHM: &str = "rsa-sha256";

/// Options for signing a request. The default is the valid form, and each field deviates from it in one way.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The signed headers, which are also the `headers` parameter, in this order and case.
    /// [`listed_headers`](crate::listed_headers) returns those that a request has.
    pub listed: Vec<String>,
    /// Method and path, required only if `listed` has `(request-target)`.
    pub target: Option<RequestTarget>,
    /// A text to sign instead of the signing string. With it, listed headers need not be in the request.
    pub text: Option<String>,
    /// The form of the certificate's name, if `key_id` is valid.
    pub key_id_form: KeyIdForm,
    /// The `keyId` parameter.
    pub key_id: Parameter,
    /// The `algorithm` parameter. It does not change the signature, which is always RSA-SHA256.
    pub algorithm: Parameter,
    /// The `headers` parameter. It does not change the signature, which always covers `listed`.
    pub headers: Parameter,
    /// The `signature` parameter.
    pub signature: Parameter,
    /// Another hash for the signature. It does not change the `algorithm` parameter.
    pub hash: Option<OtherHash>,
    /// True to flip one bit of a valid signature, so that only its value is wrong.
    pub corrupted: bool,
    /// The use of an encoded word.
    pub wrap: Wrap,
}

/// One parameter of the header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Parameter {
    /// The valid value.
    #[default]
    Legal,
    /// This string between the quotation marks, unescaped.
    Text(String),
    /// No parameter.
    Absent,
}

/// The use of an encoded word (RFC 2047) for the value of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// Only for a value that is not ASCII, in utf-8 and B.
    #[default]
    WhenNeeded,
    /// Always, with this character set and encoding.
    Always(Charset, Encoding),
    /// Never.
    Never,
}

/// A signature header, and the text that was signed.
#[derive(Clone, PartialEq, Eq)]
pub struct Signed {
    /// The value of the `Signature` header.
    pub value: String,
    /// The signed text, in UTF-8. It contains the PSU's id.
    pub signing_string: String,
}

/// The reason that a request cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignatureHeaderError {
    /// The signing string cannot be built.
    #[error(transparent)]
    SigningString(#[from] SigningStringError),
    /// The key does not sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The value does not fit the character set of the encoded word.
    #[error(transparent)]
    EncodedWord(#[from] EncodedWordError),
}

/// Signs a request with these headers, given as (name, value) with names in any case.
///
/// The parameters have the order of the draft's examples (appendix C): `keyId`, `algorithm`, `headers`,
/// `signature`, each in quotation marks, joined with commas. The draft has no escape for a quotation mark
/// inside a parameter.
pub fn sign<N: AsRef<str>, V: AsRef<str>>(
    signer: &Signer,
    fields: &[(N, V)],
    options: &Options,
) -> Result<Signed, SignatureHeaderError> {
    let text = match &options.text {
        Some(text) => text.clone(),
        None => signing_string(&options.listed, fields, options.target.as_ref())?,
    };
    let mut signature = match options.hash {
        Some(hash) => signer.sign_with(hash, text.as_bytes())?,
        None => signer.sign(text.as_bytes())?,
    };
    if options.corrupted {
        signature = corrupted(&signature);
    }
    let parameters = [
        ("keyId", &options.key_id, signer.certificate().key_id(&options.key_id_form)),
        ("algorithm", &options.algorithm, ALGORITHM.to_owned()),
        ("headers", &options.headers, options.listed.join(" ")),
        ("signature", &options.signature, signature),
    ];
    let stated: Vec<String> = parameters
        .into_iter()
        .filter_map(|(name, parameter, legal)| match parameter {
            Parameter::Legal => Some(format!("{name}=\"{legal}\"")),
            Parameter::Text(text) => Some(format!("{name}=\"{text}\"")),
            Parameter::Absent => None,
        })
        .collect();
    Ok(Signed { value: wrapped(stated.join(","), options.wrap)?, signing_string: text })
}

impl std::fmt::Debug for Signed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signed").field("value", &"***").field("signing_string", &"***").finish()
    }
}

fn wrapped(value: String, when: Wrap) -> Result<String, EncodedWordError> {
    match when {
        Wrap::Always(charset, encoding) => wrap(&value, charset, encoding),
        Wrap::WhenNeeded if !value.is_ascii() => wrap(&value, Charset::Utf8, Encoding::B),
        Wrap::WhenNeeded | Wrap::Never => Ok(value),
    }
}

/// Flips the last bit of a signature. [`Signer::sign`] returns base64, and anything else is unchanged.
fn corrupted(signature: &str) -> String {
    let mut bytes = BASE64_STANDARD.decode(signature).unwrap_or_default();
    match bytes.last_mut() {
        Some(last) => {
            *last ^= 1;
            BASE64_STANDARD.encode(bytes)
        }
        None => signature.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::*;
    use crate::{certificate::Certificate, encoded_word::unwrap};

    const KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");
    const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");
    const FIELDS: [(&str, &str); 4] =
        [("PSU-ID", "p"), ("Date", "now"), ("X-Request-ID", "r"), ("PSU-IP-Address", "192.0.2.1")];

    fn lawful() -> Options {
        Options {
            listed: ["date", "x-request-id", "psu-id"].map(str::to_owned).to_vec(),
            ..Options::default()
        }
    }

    fn signed(options: &Options) -> Signed {
        sign(&Signer::from_pem(KEY, CERTIFICATE).unwrap(), &FIELDS, options).unwrap()
    }

    /// Returns the text between the quotation marks of a parameter of an unwrapped value.
    fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
        let (_, rest) = value.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    }

    fn verifies(signed: &Signed) -> bool {
        let certificate = Certificate::from_pem(CERTIFICATE).unwrap();
        let public =
            UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, certificate.rsa_public_key().unwrap());
        let signature = BASE64_STANDARD.decode(parameter(&signed.value, "signature").unwrap()).unwrap();
        public.verify(signed.signing_string.as_bytes(), &signature).is_ok()
    }

    #[test]
    fn the_default_is_the_legal_form() {
        let signed = signed(&lawful());
        assert_eq!(signed.signing_string, "date: now\nx-request-id: r\npsu-id: p");
        let key_id = Certificate::from_pem(CERTIFICATE).unwrap().key_id(&KeyIdForm::default());
        let start = format!(
            r#"keyId="{key_id}",algorithm="rsa-sha256",headers="date x-request-id psu-id",signature=""#
        );
        assert!(signed.value.starts_with(&start), "{}", signed.value);
        assert!(signed.value.ends_with('"'));
        assert!(verifies(&signed));
    }

    #[test]
    fn each_parameter_can_be_wrong_alone() {
        let text = || Parameter::Text("wrong".to_owned());
        let cases = [
            ("keyId", Options { key_id: text(), ..lawful() }),
            ("algorithm", Options { algorithm: text(), ..lawful() }),
            ("headers", Options { headers: text(), ..lawful() }),
            ("signature", Options { signature: text(), ..lawful() }),
        ];
        let legal = signed(&lawful());
        for (name, options) in cases {
            let wrong = signed(&options);
            assert_eq!(wrong.signing_string, legal.signing_string);
            for other in ["keyId", "algorithm", "headers", "signature"] {
                let expected = if other == name { Some("wrong") } else { parameter(&legal.value, other) };
                assert_eq!(parameter(&wrong.value, other), expected, "{other} where {name} is wrong");
            }
        }
    }

    #[test]
    fn a_parameter_can_be_left_out() {
        let options = Options { algorithm: Parameter::Absent, ..lawful() };
        let value = signed(&options).value;
        assert!(value.starts_with("keyId=") && value.contains("\",headers=\""), "{value}");
        assert_eq!(parameter(&value, "algorithm"), None);
        let all = Options {
            key_id: Parameter::Absent,
            headers: Parameter::Absent,
            signature: Parameter::Absent,
            ..options
        };
        assert_eq!(signed(&all).value, "");
    }

    #[test]
    fn a_corrupted_signature_is_as_long_and_does_not_verify() {
        let legal = signed(&lawful());
        let corrupted = signed(&Options { corrupted: true, ..lawful() });
        assert_eq!(corrupted.value.len(), legal.value.len());
        assert!(verifies(&legal) && !verifies(&corrupted));
    }

    #[test]
    fn another_list_is_signed_and_stated_as_given() {
        let listed = ["(request-target)", "PSU-IP-Address", "date"].map(str::to_owned).to_vec();
        let target = RequestTarget { method: "POST".into(), path: "/v1/x".into() };
        let signed = signed(&Options { listed, target: Some(target), ..lawful() });
        assert_eq!(
            signed.signing_string,
            "(request-target): post /v1/x\npsu-ip-address: 192.0.2.1\ndate: now"
        );
        assert_eq!(parameter(&signed.value, "headers"), Some("(request-target) PSU-IP-Address date"));
        assert!(verifies(&signed));
    }

    #[test]
    fn an_absent_header_needs_another_text() {
        let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
        let mut options = Options { listed: vec!["digest".to_owned()], ..lawful() };
        let refused = sign(&signer, &FIELDS, &options).unwrap_err();
        assert_eq!(refused.to_string(), "the request has no header `digest`, which is listed");
        options.text = Some("digest: SHA-256=none".to_owned());
        let made = sign(&signer, &FIELDS, &options).unwrap();
        assert_eq!(made.signing_string, "digest: SHA-256=none");
        assert_eq!(parameter(&made.value, "headers"), Some("digest"));
        assert!(verifies(&made));
    }

    #[test]
    fn the_whole_value_is_wrapped() {
        let bare = signed(&lawful()).value;
        for (charset, encoding, start) in [
            (Charset::Utf8, Encoding::B, "=?utf-8?B?"),
            (Charset::Utf8, Encoding::Q, "=?utf-8?Q?"),
            (Charset::Iso8859_1, Encoding::B, "=?iso-8859-1?B?"),
            (Charset::Iso8859_1, Encoding::Q, "=?iso-8859-1?Q?"),
        ] {
            let word = signed(&Options { wrap: Wrap::Always(charset, encoding), ..lawful() }).value;
            assert!(word.starts_with(start), "{word}");
            assert_eq!(unwrap(&word), Some(bare.clone()));
        }
    }

    #[test]
    fn only_a_value_beyond_ascii_is_wrapped_by_default() {
        let key_id = Parameter::Text("SN=1,CA=CN=Prøve".to_owned());
        let mut options = Options { key_id, ..lawful() };
        let wrapped = signed(&options).value;
        assert!(wrapped.starts_with("=?utf-8?B?"), "{wrapped}");
        options.wrap = Wrap::Never;
        let bare = signed(&options).value;
        assert_eq!(unwrap(&wrapped), Some(bare.clone()));
        assert!(bare.starts_with("keyId=\"SN=1,CA=CN=Prøve\""));
        options.key_id = Parameter::Text("Ā".to_owned());
        options.wrap = Wrap::Always(Charset::Iso8859_1, Encoding::Q);
        let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
        assert!(matches!(sign(&signer, &FIELDS, &options), Err(SignatureHeaderError::EncodedWord(_))));
    }

    #[test]
    fn debug_shows_neither_signature_nor_psu() {
        let shown = format!("{:?}", signed(&lawful()));
        assert_eq!(shown, r#"Signed { value: "***", signing_string: "***" }"#);
    }
}
