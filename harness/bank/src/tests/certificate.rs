//! A key of 2048 bits with a certificate, generated once per test binary.

use std::str::FromStr as _;
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::RsaPrivateKey;
use rsa::pkcs1v15::SigningKey;
use rsa::pkcs8::EncodePublicKey as _;
use rsa::signature::{SignatureEncoding as _, Signer as _};
use sha2::Sha256;
use x509_cert::Certificate;
use x509_cert::builder::{Builder as _, CertificateBuilder, Profile};
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{Encode as _, EncodePem as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::SubjectPublicKeyInfoOwned;
use x509_cert::time::Validity;

/// The serial number of the certificate, as in keyId.
pub(crate) const SERIAL: &str = "0F1E2D3C";

/// The distinguished name of the issuer, in the form of RFC 4514.
pub(crate) const ISSUER: &str = "CN=Synthetic Test CA,O=Synthetic Trust AS,C=NO";

/// The signer of test requests.
pub(crate) struct Signer {
    key: SigningKey<Sha256>,
    certificate: Certificate,
}

/// Returns the signer of this test binary.
pub(crate) fn signer() -> &'static Signer {
    static SIGNER: OnceLock<Signer> = OnceLock::new();
    SIGNER.get_or_init(Signer::generate)
}

impl Signer {
    /// Generates a key, and a certificate with the fixed serial number and issuer.
    pub(crate) fn generate() -> Self {
        let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        let public = key.to_public_key().to_public_key_der().unwrap();
        let public = SubjectPublicKeyInfoOwned::try_from(public.as_bytes()).unwrap();
        let key = SigningKey::<Sha256>::new(key);
        let issuer = Name::from_str(ISSUER).unwrap();
        let certificate = CertificateBuilder::new(
            Profile::Leaf { issuer, enable_key_agreement: false, enable_key_encipherment: false },
            SerialNumber::from(u32::from_str_radix(SERIAL, 16).unwrap()),
            Validity::from_now(Duration::from_secs(3600)).unwrap(),
            Name::from_str("CN=Synthetic TPP,O=Synthetic TPP AS,C=NO").unwrap(),
            public,
            &key,
        )
        .unwrap()
        .build::<rsa::pkcs1v15::Signature>()
        .unwrap();
        Self { key, certificate }
    }

    /// Returns the certificate in base64, as in TPP-Signature-Certificate.
    pub(crate) fn certificate_base64(&self) -> String {
        STANDARD.encode(self.certificate.to_der().unwrap())
    }

    /// Returns the certificate in PEM.
    pub(crate) fn certificate_pem(&self) -> String {
        self.certificate.to_pem(LineEnding::LF).unwrap()
    }

    /// Returns the base64 of the RSA-SHA256 signature of a signing string.
    pub(crate) fn sign(&self, signing_string: &[u8]) -> String {
        STANDARD.encode(self.key.sign(signing_string).to_bytes())
    }
}
