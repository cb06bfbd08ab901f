//! A signed statement in a DSSE envelope, the envelope of in-toto attestations
//! (<https://github.com/secure-systems-lab/dsse>, version 1.0.2: protocol and envelope). The key is an RSA
//! key (RSASSA-PSS with SHA-256, RFC 8017 section 8.1, salt as long as the digest) or an Ed25519 key (RFC
//! 8032).

use aws_lc_rs::{
    encoding::{AsDer, PublicKeyX509Der},
    rand::SystemRandom,
    signature::{
        ED25519, Ed25519KeyPair, KeyPair, RSA_PSS_2048_8192_SHA256, RSA_PSS_SHA256, RsaKeyPair,
        UnparsedPublicKey,
    },
};
use base64::{Engine, prelude::BASE64_STANDARD};
use pem::Pem;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Type of the payload: an in-toto statement as JSON.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The start of a `SubjectPublicKeyInfo` of an Ed25519 key (RFC 8410 section 4). The 32 bytes of the key
/// follow.
const ED25519_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The reason why a statement cannot be signed or is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The private key is invalid.
    #[error(
        "expected an RSA key of at least 2048 bits or an Ed25519 key, PKCS#8 or PKCS#1 in PEM, found {0}"
    )]
    Key(String),
    /// The public key is invalid.
    #[error("expected a public key or a certificate in PEM, found {0}")]
    PublicKey(String),
    /// The crypto library failed to sign.
    #[error("the crypto library failed to sign")]
    Refused,
    /// The envelope is not in the expected form.
    #[error("expected a DSSE envelope, found {0}")]
    Form(String),
    /// The envelope names another key.
    #[error("it is signed by the key {found}, and not by {expected}")]
    OtherKey {
        /// Id of the key that should have signed.
        expected: String,
        /// Id that the envelope names.
        found: String,
    },
    /// The signature does not match the payload and the key.
    #[error("the signature is invalid")]
    Signature,
}

/// A key that signs statements.
pub enum SigningKey {
    /// RSASSA-PSS.
    Rsa(RsaKeyPair),
    /// Ed25519.
    Ed25519(Ed25519KeyPair),
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl SigningKey {
    /// Reads a private key in PEM without a passphrase.
    pub fn from_pem(text: &str) -> Result<Self, EnvelopeError> {
        let blocks = pem::parse_many(text).map_err(|_| EnvelopeError::Key("no PEM".into()))?;
        let key = blocks.iter().find(|block| block.tag().ends_with("PRIVATE KEY"));
        let key = key.ok_or_else(|| EnvelopeError::Key("no private key".into()))?;
        let der = key.contents();
        let is_pkcs1 = key.tag() == "RSA PRIVATE KEY";
        let rsa = if is_pkcs1 { RsaKeyPair::from_der(der) } else { RsaKeyPair::from_pkcs8(der) };
        match rsa {
            Ok(pair) => Ok(Self::Rsa(pair)),
            // Most tools write the key without its public half, which can be derived.
            Err(_) => Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
                .map(Self::Ed25519)
                .map_err(|error| EnvelopeError::Key(format!("one that was rejected: {error}"))),
        }
    }

    /// Returns its public half.
    pub fn public(&self) -> Result<PublicKey, EnvelopeError> {
        let refused = |_| EnvelopeError::Refused;
        let spki: PublicKeyX509Der<'_> = match self {
            Self::Rsa(pair) => pair.public_key().as_der().map_err(refused)?,
            Self::Ed25519(pair) => pair.public_key().as_der().map_err(refused)?,
        };
        Ok(PublicKey { spki: spki.as_ref().to_vec() })
    }

    /// Returns the envelope of a statement, as one line of JSON.
    pub fn seal(&self, statement: &[u8]) -> Result<String, EnvelopeError> {
        let message = pae(PAYLOAD_TYPE, statement);
        let sig = match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PSS_SHA256, &SystemRandom::new(), &message, &mut signature)
                    .map_err(|_| EnvelopeError::Refused)?;
                signature
            }
            Self::Ed25519(pair) => pair.sign(&message).as_ref().to_vec(),
        };
        let envelope = Envelope {
            payload: BASE64_STANDARD.encode(statement),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: vec![Signature { keyid: self.public()?.id(), sig: BASE64_STANDARD.encode(sig) }],
        };
        Ok(envelope.written())
    }
}

/// A key that verifies statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// `SubjectPublicKeyInfo` (RFC 5280 section 4.1), DER.
    spki: Vec<u8>,
}

impl PublicKey {
    /// Reads a public key in PEM.
    pub fn from_pem(text: &str) -> Result<Self, EnvelopeError> {
        let blocks = pem::parse_many(text).map_err(|_| EnvelopeError::PublicKey("no PEM".into()))?;
        match blocks.iter().find(|block| block.tag() == "PUBLIC KEY") {
            Some(block) => Ok(Self { spki: block.contents().to_vec() }),
            None => Err(EnvelopeError::PublicKey("no block `PUBLIC KEY`".into())),
        }
    }

    /// Returns the key with this `SubjectPublicKeyInfo` in DER, as in a certificate.
    pub fn from_der(spki: &[u8]) -> Self {
        Self { spki: spki.to_vec() }
    }

    /// Returns the key in PEM, in its canonical form.
    pub fn pem(&self) -> String {
        let config = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
        pem::encode_config(&Pem::new("PUBLIC KEY", self.spki.clone()), config)
    }

    /// Returns its id: the SHA-256 of the `SubjectPublicKeyInfo`, in hex.
    pub fn id(&self) -> String {
        hex::encode(Sha256::digest(&self.spki))
    }

    /// Returns the name of its signature scheme.
    pub fn scheme(&self) -> &'static str {
        if self.ed25519().is_some() { "Ed25519" } else { "RSASSA-PSS with SHA-256" }
    }

    fn ed25519(&self) -> Option<&[u8]> {
        self.spki.strip_prefix(&ED25519_PREFIX[..]).filter(|key| key.len() == 32)
    }

    /// Returns the statement of an envelope if this key signed it. Rejects any envelope that is not byte for
    /// byte as [`SigningKey::seal`] writes it.
    pub fn open(&self, envelope: &str) -> Result<Vec<u8>, EnvelopeError> {
        let form = |what: &str| EnvelopeError::Form(what.to_owned());
        let parsed: Envelope =
            serde_json::from_str(envelope).map_err(|error| EnvelopeError::Form(error.to_string()))?;
        if parsed.written() != envelope {
            return Err(form("one in another form"));
        }
        if parsed.payload_type != PAYLOAD_TYPE {
            return Err(form("a payload of another type"));
        }
        let [signature] = parsed.signatures.as_slice() else {
            return Err(form("several signatures or none"));
        };
        if signature.keyid != self.id() {
            return Err(EnvelopeError::OtherKey { expected: self.id(), found: signature.keyid.clone() });
        }
        let statement = BASE64_STANDARD.decode(&parsed.payload).map_err(|_| form("no base64"))?;
        let sig = BASE64_STANDARD.decode(&signature.sig).map_err(|_| form("no base64"))?;
        let message = pae(PAYLOAD_TYPE, &statement);
        let holds = match self.ed25519() {
            Some(key) => UnparsedPublicKey::new(&ED25519, key).verify(&message, &sig),
            None => UnparsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, &self.spki).verify(&message, &sig),
        };
        holds.map(|()| statement).map_err(|_| EnvelopeError::Signature)
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    keyid: String,
    sig: String,
}

impl Envelope {
    fn written(&self) -> String {
        // Cannot fail, because the value contains only strings.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// Returns the pre-authentication encoding of DSSE (protocol, section "Signature Definition"), which is
/// signed.
fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut encoded = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    encoded.extend_from_slice(payload);
    encoded
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a key generated for this test.
    pub(crate) fn ed25519() -> SigningKey {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        SigningKey::from_pem(&pem::encode(&Pem::new("PRIVATE KEY", pkcs8.as_ref()))).unwrap()
    }

    fn rsa() -> SigningKey {
        SigningKey::from_pem(include_str!("../../../fixtures/keys/tpp.key.pem")).unwrap()
    }

    #[test]
    fn what_is_signed_is_what_the_protocol_prints() {
        // From "Test Vectors" of the protocol.
        assert_eq!(
            pae("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }

    #[test]
    fn both_kinds_of_key_seal_and_open() {
        for key in [rsa(), ed25519()] {
            let public = key.public().unwrap();
            let read = PublicKey::from_pem(&public.pem()).unwrap();
            assert_eq!(read, public);
            let envelope = key.seal(b"{}").unwrap();
            assert_eq!(read.open(&envelope).unwrap(), b"{}");
        }
        let (one, other) = (ed25519(), ed25519().public().unwrap());
        let envelope = one.seal(b"{}").unwrap();
        assert!(matches!(other.open(&envelope), Err(EnvelopeError::OtherKey { .. })));
        let renamed = envelope.replace(&one.public().unwrap().id(), &other.id());
        assert_eq!(other.open(&renamed), Err(EnvelopeError::Signature));
    }

    #[test]
    fn every_other_byte_in_an_envelope_is_seen() {
        for key in [rsa(), ed25519()] {
            let public = key.public().unwrap();
            let envelope = key.seal(b"{\"a\":\"statement\"}").unwrap();
            for at in 0..envelope.len() {
                for change in [1u8, 0x20] {
                    let mut bytes = envelope.clone().into_bytes();
                    bytes[at] ^= change;
                    let Ok(text) = String::from_utf8(bytes) else { continue };
                    assert!(public.open(&text).is_err(), "byte {at} of {envelope}");
                }
            }
            assert!(public.open(&format!(" {envelope}")).is_err());
            assert!(public.open(envelope.trim_end()).is_err());
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert!(matches!(SigningKey::from_pem(text), Err(EnvelopeError::Key(_))));
            assert!(matches!(PublicKey::from_pem(text), Err(EnvelopeError::PublicKey(_))));
        }
    }
}
