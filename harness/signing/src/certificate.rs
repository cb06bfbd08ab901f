//! The signing certificate: the value of its header, and the `keyId` that names it.

use std::{borrow::Cow, time::SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use num_bigint::{BigInt, BigUint, Sign};
use x509_cert::{
    der::{self, Decode, Encode, asn1::Any, oid::db::rfc5912::RSA_ENCRYPTION},
    ext::pkix::BasicConstraints,
};

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

/// The form of a certificate's name in `keyId`. The bank decides the details.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct KeyIdForm {
    /// The form of the serial number.
    pub serial: SerialForm,
    /// The form of the issuer.
    pub issuer: NameForm,
}

/// The form of a serial number in `keyId`: hexadecimal, without separators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SerialForm {
    /// With `A` to `F`, without leading zeros.
    #[default]
    UpperHex,
    /// With `a` to `f`, without leading zeros.
    LowerHex,
    /// In whole bytes, two digits each.
    Bytes,
    /// As in DER: in whole bytes, with the sign in the first one (X.690, section 8.3).
    Signed,
    /// A custom string.
    Text(String),
}

impl SerialForm {
    /// Every form that depends only on the number.
    pub const ALL: [Self; 4] = [Self::UpperHex, Self::LowerHex, Self::Bytes, Self::Signed];

    /// Returns a custom form, if the string is suitable: it has a digit, and fits in `keyId` before a comma.
    pub fn own(text: &str) -> Option<Self> {
        let fits = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '"' | ',');
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        (has_digit && text.chars().all(fits)).then(|| Self::Text(text.to_owned()))
    }
}

impl std::fmt::Display for SerialForm {
    /// Writes the form as a bank profile does.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UpperHex => "upper",
            Self::LowerHex => "lower",
            Self::Bytes => "bytes",
            Self::Signed => "signed",
            Self::Text(text) => text,
        })
    }
}

/// The reason that a certificate cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Not PEM, or damaged PEM.
    #[error("cannot read the certificate: not valid PEM: {0}")]
    Pem(#[from] pem::PemError),
    /// PEM without a certificate.
    #[error("expected a PEM block `CERTIFICATE`, found {}", blocks(found))]
    NoCertificate {
        /// Labels of the blocks found.
        found: Vec<String>,
    },
    /// The block is not an X.509 certificate.
    #[error("the PEM block does not contain an X.509 certificate in DER: {0}")]
    Der(#[from] x509_cert::der::Error),
}

impl Certificate {
    /// Reads the first certificate in PEM that is not an authority's, or else the first certificate. Text
    /// around the blocks is skipped.
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, CertificateError> {
        let mut all = Self::all_from_pem(pem)?;
        let at = all.iter().position(|one| !one.is_authority()).unwrap_or_default();
        Ok(all.swap_remove(at))
    }

    /// Reads all certificates in PEM. There must be at least one.
    pub fn all_from_pem(pem: impl AsRef<[u8]>) -> Result<Vec<Self>, CertificateError> {
        let found = pem::parse_many(pem)?;
        let blocks = found.iter().filter(|block| block.tag() == "CERTIFICATE");
        let all: Vec<Self> =
            blocks.map(|block| Self::from_der(block.contents())).collect::<Result<_, _>>()?;
        if all.is_empty() {
            let found = found.iter().map(|block| block.tag().to_owned()).collect();
            return Err(CertificateError::NoCertificate { found });
        }
        Ok(all)
    }

    /// Reads a certificate in DER.
    pub fn from_der(der: impl Into<Vec<u8>>) -> Result<Self, CertificateError> {
        let der = der.into();
        let parsed = x509_cert::Certificate::from_der(&universal::readable(&der))?;
        Ok(Self { der, parsed })
    }

    /// Returns true if it is marked as the certificate of an authority (RFC 5280, section 4.2.1.9).
    pub fn is_authority(&self) -> bool {
        let found = self.parsed.tbs_certificate.get::<BasicConstraints>();
        found.is_ok_and(|found| found.is_some_and(|(_, constraints)| constraints.ca))
    }

    /// Returns the certificate in DER, as it was read.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns its public key, of any kind: the `SubjectPublicKeyInfo` in DER.
    pub fn public_key_der(&self) -> Result<Vec<u8>, CertificateError> {
        Ok(self.parsed.tbs_certificate.subject_public_key_info.to_der()?)
    }

    /// Returns this certificate with the public key of another one, as a forger would. The authority's
    /// signature is unchanged and no longer valid.
    pub fn with_key_of(&self, other: &Self) -> Result<Self, CertificateError> {
        let mut forged = self.parsed.clone();
        let key = &other.parsed.tbs_certificate.subject_public_key_info;
        forged.tbs_certificate.subject_public_key_info.clone_from(key);
        Self::from_der(universal::restored(forged.to_der()?))
    }

    /// Returns the value of its header: base64 of the DER on one line, without PEM lines.
    pub fn header_value(&self) -> String {
        BASE64_STANDARD.encode(&self.der)
    }

    /// Returns the serial number. A negative one is read, although RFC 5280, section 4.1.2.2, requires
    /// positive ones.
    pub(crate) fn serial_number(&self) -> BigInt {
        BigInt::from_signed_bytes_be(self.parsed.tbs_certificate.serial_number.as_bytes())
    }

    /// Returns true if the serial number is negative.
    pub fn has_negative_serial(&self) -> bool {
        self.serial_number().sign() == Sign::Minus
    }

    /// Returns the serial number in uppercase hexadecimal, without leading zeros or separators. Zero is `0`.
    pub fn serial_hex(&self) -> String {
        self.serial(&SerialForm::UpperHex)
    }

    /// Returns the serial number in decimal, which banks must not accept.
    pub fn serial_decimal(&self) -> String {
        self.serial_number().to_string()
    }

    /// Returns the serial number as `keyId` contains it.
    pub fn serial(&self, form: &SerialForm) -> String {
        let number = self.serial_number();
        match form {
            SerialForm::UpperHex => format!("{number:X}"),
            SerialForm::LowerHex => format!("{number:x}"),
            SerialForm::Bytes => {
                let sign = if number.sign() == Sign::Minus { "-" } else { "" };
                format!("{sign}{}", hex::encode_upper(number.magnitude().to_bytes_be()))
            }
            SerialForm::Signed => hex::encode_upper(number.to_signed_bytes_be()),
            SerialForm::Text(text) => text.clone(),
        }
    }

    /// Returns the distinguished name of the issuer.
    pub fn issuer(&self) -> Name {
        Name::of(&self.parsed.tbs_certificate.issuer)
    }

    /// Returns the `keyId` of this certificate: `SN=<hex serial>,CA=<issuer>`.
    pub fn key_id(&self, form: &KeyIdForm) -> String {
        format!("SN={},CA={}", self.serial(&form.serial), self.issuer().write(&form.issuer))
    }

    /// Returns the first and the last moment of its validity (RFC 5280, section 4.1.2.5).
    pub fn validity(&self) -> (SystemTime, SystemTime) {
        let validity = &self.parsed.tbs_certificate.validity;
        (validity.not_before.to_system_time(), validity.not_after.to_system_time())
    }

    /// Returns the distinguished name of the subject.
    pub fn subject(&self) -> Name {
        Name::of(&self.parsed.tbs_certificate.subject)
    }

    /// Returns the organizationIdentifier of the subject (ETSI TS 119 495, section 5.2.1), if it has one.
    pub fn organisation_identifier(&self) -> Option<String> {
        let kind = qualified::ORGANISATION_IDENTIFIER.to_string();
        let subject = self.subject();
        let found = subject.attributes().find(|attribute| attribute.kind() == kind)?;
        found.text().map(str::to_owned)
    }

    /// Returns its qcStatements, if it has any.
    pub fn statements(&self) -> Option<Result<Statements, der::Error>> {
        let extensions = self.parsed.tbs_certificate.extensions.iter().flatten();
        let found = extensions.into_iter().find(|one| one.extn_id == qualified::QC_STATEMENTS)?;
        Some(Statements::read(found.extn_value.as_bytes()))
    }

    /// Returns the bits of the modulus of its RSA key, or None for another kind of key.
    pub fn rsa_bits(&self) -> Option<u64> {
        let parts = Vec::<Any>::from_der(self.rsa_public_key()?).ok()?;
        Some(BigUint::from_bytes_be(parts.first()?.value()).bits())
    }

    /// Returns the public key as an RFC 8017 `RSAPublicKey` in DER, or None for another kind of key.
    pub fn rsa_public_key(&self) -> Option<&[u8]> {
        let info = &self.parsed.tbs_certificate.subject_public_key_info;
        if info.algorithm.oid == RSA_ENCRYPTION { info.subject_public_key.as_bytes() } else { None }
    }
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The name is more useful than two thousand bytes of DER.
        f.debug_tuple("Certificate").field(&self.key_id(&KeyIdForm::default())).finish()
    }
}

/// `UniversalString` in names (RFC 5280, section 4.1.2.4), whose tag the DER reader does not support. It gets
/// the tag of an octet string, which names do not otherwise contain.
mod universal {
    use super::Cow;
    use crate::name::UNIVERSAL_STRING;

    const OCTET_STRING: u8 = 0x04;
    const SET: u8 = 0x31;

    pub(super) fn readable(der: &[u8]) -> Cow<'_, [u8]> {
        if !der.contains(&UNIVERSAL_STRING) {
            return Cow::Borrowed(der);
        }
        let mut read = der.to_vec();
        retag(&mut read, [0; 2], (UNIVERSAL_STRING, OCTET_STRING));
        Cow::Owned(read)
    }

    pub(super) fn restored(mut der: Vec<u8>) -> Vec<u8> {
        retag(&mut der, [0; 2], (OCTET_STRING, UNIVERSAL_STRING));
        der
    }

    /// Replaces the tags of values of names, which are in a sequence in a set. `above` has the tags of the
    /// two enclosing elements.
    fn retag(mut elements: &mut [u8], above: [u8; 2], change: (u8, u8)) {
        while let [tag, first, rest @ ..] = elements {
            let more = if *first & 0x80 == 0 { 0 } else { usize::from(*first & 0x7F) };
            let Some((length, rest)) = rest.split_at_mut_checked(more) else { return };
            let length = match more {
                0 => usize::from(*first),
                1..=4 => length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)),
                _ => return,
            };
            let Some((content, after)) = rest.split_at_mut_checked(length) else { return };
            if *tag & 0x20 != 0 {
                retag(content, [above[1], *tag], change);
            } else if *tag == change.0 && above[0] == SET {
                *tag = change.1;
            }
            elements = after;
        }
    }
}

fn blocks(found: &[String]) -> String {
    if found.is_empty() { "no block".to_owned() } else { format!("`{}`", found.join("`, `")) }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, SerialNumber};
    use x509_cert::der::DecodePem;

    use super::*;

    const PEM: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");
    const KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");

    /// Creates a self-signed certificate with this serial number and issuer.
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
        // In DER, 0x8F needs a zero byte before it (X.690, section 8.3), which is not a digit of the number.
        for (serial, hex) in
            [(&[0x0a, 0xbc][..], "ABC"), (&[0x00, 0x8f], "8F"), (&[0x10, 0x00], "1000"), (&[0], "0")]
        {
            assert_eq!(made(serial, "o").serial_hex(), hex);
        }
    }

    #[test]
    fn a_serial_number_has_a_form_for_each_bank() {
        const FORMS: [SerialForm; 4] = SerialForm::ALL;
        for (der, expected) in [
            (&[0x02, 0x8B][..], ["28B", "28b", "028B", "028B"]),
            (&[0x00, 0xE6], ["E6", "e6", "E6", "00E6"]),
            (&[0x00], ["0", "0", "00", "00"]),
            (&[0xFB], ["-5", "-5", "-05", "FB"]),
            (&[0xFF, 0x00], ["-100", "-100", "-0100", "FF00"]),
        ] {
            let mut certificate = made(&[1], "o");
            certificate.parsed.tbs_certificate.serial_number =
                x509_cert::serial_number::SerialNumber::from_der(
                    &[&[2, u8::try_from(der.len()).unwrap()], der].concat(),
                )
                .unwrap();
            assert_eq!(FORMS.map(|form| certificate.serial(&form)), expected, "{der:?}");
            assert_eq!(certificate.has_negative_serial(), expected[0].starts_with('-'));
        }
        assert_eq!(made(&[1], "o").serial(&SerialForm::own("0x1").unwrap()), "0x1");
        for no_text in ["", "uper", "1\"", "1,2", "1\n", "æ1"] {
            assert_eq!(SerialForm::own(no_text), None, "{no_text}");
        }
    }

    #[test]
    fn certificates_that_other_readers_refuse_are_read() {
        let universal = include_str!("../../../fixtures/vectors/certificates/universal-string.pem");
        let certificate = Certificate::from_pem(universal).unwrap();
        assert_eq!(certificate.issuer().write(&NameForm::Rfc4514), "CN=Seal CA,O=Tillit,C=NO");
        let encoded = certificate.issuer().attributes().nth(1).unwrap().encoded();
        assert!(encoded.starts_with("#1c1800000054"), "{encoded}");
        let forged = certificate.with_key_of(&Certificate::from_pem(PEM).unwrap()).unwrap();
        assert_eq!(forged.issuer(), certificate.issuer());
        let negative = include_str!("../../../fixtures/vectors/certificates/negative-serial.pem");
        assert_eq!(Certificate::from_pem(negative).unwrap().serial(&SerialForm::Signed), "FB");
    }

    #[test]
    fn of_several_certificates_the_one_that_signs_is_read() {
        let authority = include_str!("../../../fixtures/keys/ca.cert.pem");
        for pem in [format!("{PEM}{authority}"), format!("{authority}{PEM}")] {
            assert_eq!(Certificate::from_pem(&pem).unwrap(), Certificate::from_pem(PEM).unwrap());
            let all = Certificate::all_from_pem(&pem).unwrap();
            assert_eq!(all.iter().filter(|one| one.is_authority()).count(), 1);
        }
        assert!(Certificate::from_pem(authority).unwrap().is_authority());
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
        assert!(nothing.ends_with("found no block"), "{nothing}");
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
        // Text may precede the block (RFC 7468, section 2).
        for pem in [PEM, &format!("a line of text\n{PEM}")] {
            assert_eq!(other, Certificate::from_pem(pem).unwrap().parsed);
        }
    }
}
