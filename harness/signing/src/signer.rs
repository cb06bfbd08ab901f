//! Signs with a private key and its certificate.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use aws_lc_rs::{
    digest,
    rand::SystemRandom,
    signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey},
};
use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    certificate::{Certificate, CertificateError},
    command::{self, CommandError},
    other_hash::{self, OtherHash},
};

/// The shortest and the longest accepted modulus, in bits.
const BITS: std::ops::RangeInclusive<usize> = 2048..=4096;

/// Limit of the cached signatures, about 400 bytes each.
const MOST_REMEMBERED: usize = 50_000;

/// The first text that a command must sign.
const PROBE: &[u8] = b"xs2aspec asks whether key and certificate belong together";

/// Time limit for a command to sign.
const PATIENCE: Duration = Duration::from_secs(60);

/// A private RSA key and the certificate of its public key. It is cheap to clone and shared between threads.
#[derive(Clone)]
pub struct Signer {
    shared: Arc<Shared>,
}

/// The location of the private key.
enum Key {
    /// In memory.
    Rsa(RsaKeyPair),
    /// In hardware or elsewhere. A command signs with it.
    Command {
        /// Executable and arguments.
        command: Vec<String>,
        /// Folder in which it runs.
        folder: PathBuf,
    },
}

struct Shared {
    key: Key,
    certificate: Certificate,
    /// Signatures by the SHA-256 of the signed text. An RSA signature costs more than the rest of a request.
    made: Mutex<HashMap<[u8; 32], String>>,
}

/// The reason that a key cannot be read, does not match its certificate, or does not sign.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// The certificate cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Not PEM, or damaged PEM. The original message is omitted, because it may quote the key.
    #[error("expected a private key in PEM, found damaged PEM")]
    Pem,
    /// PEM of something else.
    #[error("expected a PEM block `PRIVATE KEY` (PKCS#8) or `RSA PRIVATE KEY` (PKCS#1), found {found}")]
    NoKey {
        /// Labels of the blocks found, or a note that there are none.
        found: String,
    },
    /// The key is encrypted with a passphrase.
    #[error("expected a private key without a passphrase, found an encrypted one")]
    Encrypted,
    /// The block does not contain an RSA key, or the RSA key is invalid.
    #[error("expected a valid RSA private key of {} to {} bits: {reason}", BITS.start(), BITS.end())]
    Rejected {
        /// The reason given by the cryptographic library, which does not quote the key.
        reason: String,
    },
    /// The modulus is too short or too long.
    #[error("expected an RSA key of {} to {} bits, found {bits}", BITS.start(), BITS.end())]
    Size {
        /// Bits of the modulus, in whole bytes.
        bits: usize,
    },
    /// The certificate is for another kind of key.
    #[error("expected a certificate with an RSA key, found another kind of key in {certificate}")]
    CertificateNotRsa {
        /// Its `keyId`.
        certificate: String,
    },
    /// The certificate is for another key.
    #[error(
        "the certificate does not match the private key; it is the certificate of another key: {certificate}"
    )]
    ForeignCertificate {
        /// Its `keyId`.
        certificate: String,
    },
    /// The cryptographic library failed to sign.
    #[error("the cryptographic library failed to sign")]
    Refused,
    /// The command that signs gave no result.
    #[error("the signing command failed: {0}")]
    Command(#[from] CommandError),
    /// The output of the command is not a signature with the certificate's key.
    #[error(
        "`{program}` must print the RSA-SHA256 signature of its input, in base64 or as bytes, made with the key of {certificate}; \
         it printed {printed} other bytes"
    )]
    NoSignature {
        /// The executable.
        program: String,
        /// `keyId` of the certificate.
        certificate: String,
        /// Number of bytes it printed.
        printed: usize,
    },
}

impl Signer {
    /// Reads a private key (unencrypted PKCS#8, or PKCS#1 for RSA) and its certificate, and checks that they
    /// match. Of several certificates, it uses the one of the key.
    pub fn from_pem(key: impl AsRef<[u8]>, certificate: impl AsRef<[u8]>) -> Result<Self, SignerError> {
        let key = rsa_key(key.as_ref())?;
        let mut all = Certificate::all_from_pem(certificate.as_ref())?;
        let is_of_key = |one: &Certificate| one.rsa_public_key() == Some(key.public_key().as_ref());
        let certificate = match all.iter().position(is_of_key) {
            Some(at) => all.swap_remove(at),
            None => Certificate::from_pem(certificate)?,
        };
        Self::new(Key::Rsa(key), certificate)
    }

    /// Creates a signer for a key that is elsewhere. `command`, run in `folder`, receives the text to sign on
    /// its standard input and prints the RSA-SHA256 signature, in base64 or as bytes. It is run once
    /// immediately, to check that its key matches the certificate.
    pub fn external(
        command: Vec<String>,
        folder: PathBuf,
        certificate: impl AsRef<[u8]>,
    ) -> Result<Self, SignerError> {
        let signer = Self::new(Key::Command { command, folder }, Certificate::from_pem(certificate)?)?;
        signer.sign(PROBE)?;
        Ok(signer)
    }

    /// Returns the certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.shared.certificate
    }

    /// Returns the base64 of a signature with another hash, which no label of the document allows. A signing
    /// command supports no other hash, so its signature is made over a changed text instead.
    pub fn sign_with(&self, hash: OtherHash, signing_string: &[u8]) -> Result<String, SignerError> {
        if hash == OtherHash::HmacSha256 {
            let key = self.certificate().public_key_der()?;
            return Ok(BASE64_STANDARD.encode(other_hash::hmac(key, signing_string)));
        }
        let Key::Rsa(key) = &self.shared.key else {
            return self.sign(&[signing_string, b" "].concat());
        };
        let signature = other_hash::sign(key, hash, signing_string).ok_or(SignerError::Refused)?;
        Ok(BASE64_STANDARD.encode(signature))
    }

    /// Returns the RSA-SHA256 signature (RSASSA-PKCS1-v1_5, RFC 8017, section 8.2) of these bytes, in base64.
    /// It is deterministic.
    pub fn sign(&self, signing_string: &[u8]) -> Result<String, SignerError> {
        let digest = digest::digest(&digest::SHA256, signing_string);
        let digest: [u8; 32] = digest.as_ref().try_into().map_err(|_| SignerError::Refused)?;
        if let Some(signature) = self.made().get(&digest) {
            return Ok(signature.clone());
        }
        let signature = match &self.shared.key {
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                // PKCS#1 v1.5 needs no random numbers. The argument exists for other paddings.
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signing_string, &mut signature)
                    .map_err(|_| SignerError::Refused)?;
                signature
            }
            Key::Command { command, folder } => {
                let printed = command::run(command, folder, signing_string, PATIENCE)?;
                self.checked(&printed, signing_string).ok_or_else(|| SignerError::NoSignature {
                    program: command.first().cloned().unwrap_or_default(),
                    certificate: self.certificate().key_id(&crate::KeyIdForm::default()),
                    printed: printed.len(),
                })?
            }
        };
        let signature = BASE64_STANDARD.encode(signature);
        let mut made = self.made();
        if made.len() < MOST_REMEMBERED {
            made.insert(digest, signature.clone());
        }
        Ok(signature)
    }

    fn made(&self) -> MutexGuard<'_, HashMap<[u8; 32], String>> {
        self.shared.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the signature that a command printed, if it is valid for the certificate's key.
    fn checked(&self, printed: &[u8], signed: &[u8]) -> Option<Vec<u8>> {
        let text: Vec<u8> = printed.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let public = UnparsedPublicKey::new(
            &RSA_PKCS1_2048_8192_SHA256,
            self.certificate().rsa_public_key().unwrap_or_default(),
        );
        [BASE64_STANDARD.decode(text).unwrap_or_default(), printed.to_owned()]
            .into_iter()
            .find(|signature| public.verify(signed, signature).is_ok())
    }

    fn new(key: Key, certificate: Certificate) -> Result<Self, SignerError> {
        if let Key::Rsa(key) = &key {
            size(key.public_modulus_len() * 8)?;
        }
        let name = || certificate.key_id(&crate::KeyIdForm::default());
        match (certificate.rsa_public_key(), &key) {
            (None, _) => Err(SignerError::CertificateNotRsa { certificate: name() }),
            (Some(public), Key::Rsa(key)) if public != key.public_key().as_ref() => {
                Err(SignerError::ForeignCertificate { certificate: name() })
            }
            _ => Ok(Self { shared: Arc::new(Shared { key, certificate, made: Mutex::default() }) }),
        }
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("key", &"***").field("certificate", self.certificate()).finish()
    }
}

fn size(bits: usize) -> Result<(), SignerError> {
    if BITS.contains(&bits) { Ok(()) } else { Err(SignerError::Size { bits }) }
}

fn rsa_key(pem: &[u8]) -> Result<RsaKeyPair, SignerError> {
    let found = pem::parse_many(pem).map_err(|_| SignerError::Pem)?;
    let parsed = found.iter().find_map(|block| match block.tag() {
        // The obsolete format of encrypted PKCS#1 (RFC 1421, section 4.6.1.1).
        "RSA PRIVATE KEY" if block.headers().get("Proc-Type").is_some() => Some(Err(SignerError::Encrypted)),
        "ENCRYPTED PRIVATE KEY" => Some(Err(SignerError::Encrypted)),
        "PRIVATE KEY" => Some(RsaKeyPair::from_pkcs8(block.contents()).map_err(|e| rejected(&e))),
        "RSA PRIVATE KEY" => Some(RsaKeyPair::from_der(block.contents()).map_err(|e| rejected(&e))),
        _ => None,
    });
    parsed.unwrap_or_else(|| {
        let labels: Vec<String> = found.iter().map(|block| format!("`{}`", block.tag())).collect();
        let found = if labels.is_empty() { "no block".to_owned() } else { labels.join(", ") };
        Err(SignerError::NoKey { found })
    })
}

fn rejected(error: &aws_lc_rs::error::KeyRejected) -> SignerError {
    SignerError::Rejected { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use pem::Pem;

    use super::*;

    const KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");
    const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");
    const OTHER_KEY: &str = include_str!("../../../fixtures/keys/other.key.pem");
    const OTHER_CERTIFICATE: &str = include_str!("../../../fixtures/keys/other.cert.pem");

    fn failure(key: &str, certificate: &str) -> String {
        Signer::from_pem(key, certificate).unwrap_err().to_string()
    }

    /// Returns the key of the fixtures as PKCS#1, which begins at byte 26 in PKCS#8 of a 2048-bit RSA key
    /// (RFC 5958, section 2).
    fn pkcs1() -> Vec<u8> {
        pem::parse(KEY).unwrap().contents()[26..].to_vec()
    }

    #[test]
    fn what_is_signed_verifies_under_the_certificate() {
        let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
        let signature = signer.sign(b"date: now").unwrap();
        let public = UnparsedPublicKey::new(
            &RSA_PKCS1_2048_8192_SHA256,
            signer.certificate().rsa_public_key().unwrap(),
        );
        let bytes = BASE64_STANDARD.decode(&signature).unwrap();
        public.verify(b"date: now", &bytes).unwrap();
        public.verify(b"date: then", &bytes).unwrap_err();
        assert_eq!(signature, signer.clone().sign(b"date: now").unwrap(), "PKCS#1 v1.5 is deterministic");
    }

    #[test]
    fn a_command_signs_as_the_key_would() {
        let by = |script: String| {
            Signer::external(vec!["sh".into(), "-c".into(), script], PathBuf::new(), CERTIFICATE)
        };
        // A command that knows the signatures of two texts. The first is the probe.
        let knowing = |key, certificate| {
            let signer = Signer::from_pem(key, certificate).unwrap();
            let [asked, now] = [PROBE, b"date: now"].map(|text| signer.sign(text).unwrap());
            format!("case \"$(cat)\" in date*) printf %s {now};; *) printf %s {asked};; esac")
        };
        let expected = Signer::from_pem(KEY, CERTIFICATE).unwrap().sign(b"date: now").unwrap();
        let script = knowing(KEY, CERTIFICATE);
        for script in [script.clone(), format!("({script}) | base64 -d"), format!("({script}) | fold -w 64")]
        {
            assert_eq!(by(script).unwrap().sign(b"date: now").unwrap(), expected);
        }
        let signer = by(script).unwrap();
        assert!(signer.sign(b"another text").unwrap_err().to_string().contains("printed 344 other bytes"));
        let foreign = by(knowing(OTHER_KEY, OTHER_CERTIFICATE)).unwrap_err().to_string();
        assert!(foreign.contains("made with the key of SN="), "{foreign}");
        assert!(
            by("exit 1".into()).unwrap_err().to_string().contains("the signing command failed: `sh` ended")
        );
    }

    #[test]
    fn pkcs1_and_pkcs8_are_the_same_key() {
        let old = pem::encode(&Pem::new("RSA PRIVATE KEY", pkcs1()));
        assert_eq!(
            Signer::from_pem(old, CERTIFICATE).unwrap().sign(b"x").unwrap(),
            Signer::from_pem(KEY, CERTIFICATE).unwrap().sign(b"x").unwrap()
        );
    }

    #[test]
    fn key_and_certificate_must_belong_together() {
        assert!(failure(KEY, OTHER_CERTIFICATE).contains("certificate of another key: SN="));
        assert!(failure(OTHER_KEY, CERTIFICATE).contains("certificate of another key: SN="));
        let elliptic = rcgen::generate_simple_self_signed(Vec::<String>::new()).unwrap().cert.pem();
        assert!(failure(KEY, &elliptic).contains("another kind of key"));
    }

    #[test]
    fn wrong_pem_is_named() {
        assert!(failure(CERTIFICATE, CERTIFICATE).ends_with("found `CERTIFICATE`"));
        assert!(failure("", CERTIFICATE).ends_with("found no block"));
        assert!(failure(&KEY.replacen("MII", "M!I", 1), CERTIFICATE).ends_with("found damaged PEM"));
        assert!(failure(KEY, KEY).ends_with("found `PRIVATE KEY`"));
    }

    #[test]
    fn an_encrypted_key_is_named() {
        let new = pem::encode(&Pem::new("ENCRYPTED PRIVATE KEY", vec![0]));
        let mut old = Pem::new("RSA PRIVATE KEY", vec![0]);
        old.headers_mut().add("Proc-Type", "4,ENCRYPTED").unwrap();
        for pem in
            [new, pem::encode_config(&old, pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF))]
        {
            assert!(failure(&pem, CERTIFICATE).ends_with("found an encrypted one"));
        }
    }

    #[test]
    fn other_keys_and_other_sizes_are_refused() {
        let elliptic = rcgen::KeyPair::generate().unwrap().serialize_pem();
        assert!(failure(&elliptic, CERTIFICATE).contains("expected a valid RSA private key"));
        let cut = pem::encode(&Pem::new("RSA PRIVATE KEY", &pkcs1()[..500]));
        assert!(failure(&cut, CERTIFICATE).contains("expected a valid RSA private key"));
        for bits in [1024, 2040, 4104, 8192] {
            assert!(size(bits).unwrap_err().to_string().ends_with(&format!("found {bits}")));
        }
        for bits in [2048, 3072, 4096] {
            size(bits).unwrap();
        }
    }

    #[test]
    fn debug_shows_no_key_and_threads_may_share() {
        fn shared<T: Send + Sync + Clone>(_: &T) {}
        let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
        shared(&signer);
        let shown = format!("{signer:?}");
        assert!(shown.starts_with("Signer { key: \"***\", certificate: Certificate(\"SN="), "{shown}");
    }
}
