//! The signing certificate: the value of the header that holds it, and the `keyId` that names it.

use std::{fmt::Write, time::SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use num_bigint::BigUint;
use x509_cert::der::{self, Decode, Encode, asn1::Any, oid::db::rfc5912::RSA_ENCRYPTION};

pub use crate::name::NameForm;
use crate::{
    name::Name,
    qualified::{self, Statements},
};

/// An X.509 certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    der: Vec<u8>,
    parsed: x509_cert::Certificate,
}

/// How a certificate is named in `keyId`. A bank decides the details.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct KeyIdForm {
    /// How the serial number is written.
    pub serial: SerialForm,
    /// How the issuer is written.
    pub issuer: NameForm,
}

/// How a serial number is written in `keyId`: always hexadecimal, without leading zeros or separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SerialForm {
    /// With `A` to `F`.
    #[default]
    UpperHex,
    /// With `a` to `f`.
    LowerHex,
}

impl SerialForm {
    /// Every form.
    pub const ALL: [Self; 2] = [Self::UpperHex, Self::LowerHex];
}

impl std::fmt::Display for SerialForm {
    /// As a target profile says it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UpperHex => "upper",
            Self::LowerHex => "lower",
        })
    }
}

/// Why a certificate cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Not PEM, or damaged PEM.
    #[error("expected a certificate in PEM, found text that is none: {0}")]
    Pem(#[from] pem::PemError),
    /// PEM, but no certificate in it.
    #[error("expected a PEM block `CERTIFICATE`, found {}", blocks(found))]
    NoCertificate {
        /// Labels of the blocks that are there.
        found: Vec<String>,
    },
    /// The block is not an X.509 certificate.
    #[error("expected an X.509 certificate in DER inside the PEM block, found something else: {0}")]
    Der(#[from] x509_cert::der::Error),
}

impl Certificate {
    /// Reads the first certificate of a PEM text; of a chain that is the signing certificate. Text around the
    /// blocks is skipped.
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, CertificateError> {
        let found = pem::parse_many(pem)?;
        match found.iter().find(|block| block.tag() == "CERTIFICATE") {
            Some(block) => Self::from_der(block.contents()),
            None => Err(CertificateError::NoCertificate {
                found: found.iter().map(|block| block.tag().to_owned()).collect(),
            }),
        }
    }

    /// Reads a certificate in DER.
    pub fn from_der(der: impl Into<Vec<u8>>) -> Result<Self, CertificateError> {
        let der = der.into();
        let parsed = x509_cert::Certificate::from_der(&der)?;
        Ok(Self { der, parsed })
    }

    /// The certificate in DER, as it was read.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Its public key, of whatever kind: the `SubjectPublicKeyInfo` in DER.
    pub fn public_key_der(&self) -> Result<Vec<u8>, CertificateError> {
        Ok(self.parsed.tbs_certificate.subject_public_key_info.to_der()?)
    }

    /// This certificate with the public key of another one: what somebody makes who wants to be taken for its
    /// owner. The signature of the authority is left as it was, and fits it no more.
    pub fn with_key_of(&self, other: &Self) -> Result<Self, CertificateError> {
        let mut forged = self.parsed.clone();
        let key = &other.parsed.tbs_certificate.subject_public_key_info;
        forged.tbs_certificate.subject_public_key_info.clone_from(key);
        Self::from_der(forged.to_der()?)
    }

    /// The value of the header that holds it: base64 of the DER on one line, without PEM lines.
    pub fn header_value(&self) -> String {
        BASE64_STANDARD.encode(&self.der)
    }

    /// The serial number in upper-case hexadecimal, without leading zeros or separators; `0` for zero.
    ///
    /// A negative number, which RFC 5280, section 4.1.2.2, forbids, comes out as its two's complement.
    pub fn serial_hex(&self) -> String {
        let bytes = self.parsed.tbs_certificate.serial_number.as_bytes();
        let digits = bytes.iter().fold(String::new(), |mut out, byte| {
            // Writing to a String cannot fail.
            _ = write!(out, "{byte:02X}");
            out
        });
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() { "0".to_owned() } else { significant.to_owned() }
    }

    /// The serial number in decimal, which no bank is to read.
    pub fn serial_decimal(&self) -> String {
        BigUint::from_bytes_be(self.parsed.tbs_certificate.serial_number.as_bytes()).to_string()
    }

    /// The serial number as keyId has it.
    pub fn serial(&self, form: SerialForm) -> String {
        match form {
            SerialForm::UpperHex => self.serial_hex(),
            SerialForm::LowerHex => self.serial_hex().to_ascii_lowercase(),
        }
    }

    /// The distinguished name of the issuing authority.
    pub fn issuer(&self) -> Name {
        Name::of(&self.parsed.tbs_certificate.issuer)
    }

    /// The `keyId` of this certificate: `SN=<hex serial>,CA=<issuer>`.
    pub fn key_id(&self, form: &KeyIdForm) -> String {
        format!("SN={},CA={}", self.serial(form.serial), self.issuer().write(&form.issuer))
    }

    /// The first and the last moment of its validity (RFC 5280, section 4.1.2.5).
    pub fn validity(&self) -> (SystemTime, SystemTime) {
        let validity = &self.parsed.tbs_certificate.validity;
        (validity.not_before.to_system_time(), validity.not_after.to_system_time())
    }

    /// The distinguished name of whom it is for.
    pub fn subject(&self) -> Name {
        Name::of(&self.parsed.tbs_certificate.subject)
    }

    /// The organizationIdentifier of the subject (ETSI TS 119 495, section 5.2.1), if it has one.
    pub fn organisation_identifier(&self) -> Option<String> {
        let kind = qualified::ORGANISATION_IDENTIFIER.to_string();
        let subject = self.subject();
        let found = subject.attributes().find(|attribute| attribute.kind() == kind)?;
        found.text().map(str::to_owned)
    }

    /// What its qcStatements say, if it has any.
    pub fn statements(&self) -> Option<Result<Statements, der::Error>> {
        let extensions = self.parsed.tbs_certificate.extensions.iter().flatten();
        let found = extensions.into_iter().find(|one| one.extn_id == qualified::QC_STATEMENTS)?;
        Some(Statements::read(found.extn_value.as_bytes()))
    }

    /// Bits of the modulus of its RSA key; `None` for another kind of key.
    pub fn rsa_bits(&self) -> Option<u64> {
        let parts = Vec::<Any>::from_der(self.rsa_public_key()?).ok()?;
        Some(BigUint::from_bytes_be(parts.first()?.value()).bits())
    }

    /// The public key as an RFC 8017 `RSAPublicKey` in DER; `None` for a certificate of another kind of key.
    pub fn rsa_public_key(&self) -> Option<&[u8]> {
        let info = &self.parsed.tbs_certificate.subject_public_key_info;
        if info.algorithm.oid == RSA_ENCRYPTION { info.subject_public_key.as_bytes() } else { None }
    }
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Two lines of name say more than two thousand bytes of DER.
        f.debug_tuple("Certificate").field(&self.key_id(&KeyIdForm::default())).finish()
    }
}

fn blocks(found: &[String]) -> String {
    if found.is_empty() { "no block at all".to_owned() } else { format!("`{}`", found.join("`, `")) }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, SerialNumber};
    use x509_cert::der::DecodePem;

    use super::*;

    const PEM: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");
    const KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");

    /// A self-signed certificate with this serial number and this issuer.
    fn made(serial: &[u8], organisation: &str) -> Certificate {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let mut params = CertificateParams::default();
        params.serial_number = Some(SerialNumber::from_slice(serial));
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, organisation);
        params.distinguished_name.push(DnType::CustomDnType(vec![2, 5, 4, 97]), "PSDXX-TEST-1");
        params.distinguished_name.push(DnType::CommonName, "test CA");
        Certificate::from_der(params.self_signed(&key).unwrap().der().to_vec()).unwrap()
    }

    #[test]
    fn header_value_is_the_der_on_one_line() {
        let value = Certificate::from_pem(PEM).unwrap().header_value();
        let lines: String = PEM.lines().skip_while(|line| !line.starts_with("-----")).collect();
        let body = lines
            .trim_start_matches("-----BEGIN CERTIFICATE-----")
            .trim_end_matches("-----END CERTIFICATE-----");
        assert_eq!(value, body);
        assert!(value.bytes().all(|byte| byte.is_ascii_graphic()));
    }

    #[test]
    fn serial_numbers_in_decimal() {
        for (serial, expected) in
            [(&[0x8F][..], "143"), (&[1, 0], "256"), (&[0xFF; 8], "18446744073709551615")]
        {
            assert_eq!(made(serial, "a").serial_decimal(), expected);
        }
    }

    #[test]
    fn serial_numbers_lose_leading_zeros_and_sign_byte() {
        // 0x8F needs a zero byte before it in DER (X.690, section 8.3), which is no digit of the number.
        for (serial, hex) in
            [(&[0x0a, 0xbc][..], "ABC"), (&[0x00, 0x8f], "8F"), (&[0x10, 0x00], "1000"), (&[0], "0")]
        {
            assert_eq!(made(serial, "o").serial_hex(), hex);
        }
    }

    #[test]
    fn key_id_names_serial_and_issuer() {
        let certificate = made(&[0x0a, 0xbc], "A, \"B\" + C");
        assert_eq!(
            certificate.key_id(&KeyIdForm::default()),
            r"SN=ABC,CA=CN=test CA,2.5.4.97=#0c0c50534458582d544553542d31,O=A\, \22B\22 \+ C"
        );
        let lower = KeyIdForm { serial: SerialForm::LowerHex, ..KeyIdForm::default() };
        assert!(certificate.key_id(&lower).starts_with("SN=abc,CA=CN="));
    }

    #[test]
    fn a_forged_certificate_is_the_same_with_another_key() {
        let own = Certificate::from_pem(PEM).unwrap();
        let other = made(&[1], "o");
        let forged = own.with_key_of(&other).unwrap();
        assert_eq!(forged.public_key_der().unwrap(), other.public_key_der().unwrap());
        assert_eq!(forged.key_id(&KeyIdForm::default()), own.key_id(&KeyIdForm::default()));
        assert_eq!(forged.subject().write(&NameForm::Rfc4514), own.subject().write(&NameForm::Rfc4514));
        assert_ne!(forged.der(), own.der());
    }

    #[test]
    fn other_pem_and_no_pem_are_told_apart() {
        let key = Certificate::from_pem(KEY).unwrap_err().to_string();
        assert_eq!(key, "expected a PEM block `CERTIFICATE`, found `PRIVATE KEY`");
        let nothing = Certificate::from_pem("hello").unwrap_err().to_string();
        assert!(nothing.ends_with("found no block at all"), "{nothing}");
        let damaged = PEM.replacen("MII", "M!I", 1);
        assert!(matches!(Certificate::from_pem(damaged), Err(CertificateError::Pem(_))));
        let foreign = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(Certificate::from_pem(foreign), Err(CertificateError::Der(_))));
    }

    #[test]
    fn a_name_has_four_forms() {
        let certificate = Certificate::from_pem(PEM).unwrap();
        let name = certificate.parsed.tbs_certificate.issuer.to_string();
        let [plain, spaced, forward, forward_spaced] =
            NameForm::ALL.map(|form| certificate.issuer().write(&form));
        assert_eq!(plain, name);
        assert!(plain.contains(',') && !plain.contains(", "), "{plain}");
        assert_eq!(spaced.replace(", ", ","), plain);
        let backwards: Vec<&str> = forward.rsplit(',').collect();
        assert_eq!(backwards.join(","), plain);
        assert_eq!(forward_spaced.replace(", ", ","), forward);
    }

    #[test]
    fn only_rsa_has_an_rsa_key() {
        assert!(Certificate::from_pem(PEM).unwrap().rsa_public_key().is_some());
        assert_eq!(made(&[1], "o").rsa_public_key(), None);
    }

    #[test]
    fn a_strict_pem_reader_takes_the_fixture_too() {
        let other = x509_cert::Certificate::from_pem(PEM).unwrap();
        // A line of text may stand above the block (RFC 7468, section 2).
        for pem in [PEM, &format!("a line of text\n{PEM}")] {
            assert_eq!(other, Certificate::from_pem(pem).unwrap().parsed);
        }
    }
}
