//! The TPP-Signature-Certificate header (the document, section Authentication, rule 1).

use num_bigint::{BigInt, Sign};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::RsaPublicKey;
use rsa::pkcs1v15::VerifyingKey;
use rsa::pkcs8::DecodePublicKey as _;
use sha2::Sha256;
use x509_cert::der::{Decode as _, DecodePem as _, Encode as _};

use crate::distinguished_name::DistinguishedName;
use crate::policy::certificate::{Counted, Form};

/// The parts of a TPP certificate that the bank uses. The bank does not check chain, validity and roles,
/// because the document does not define them.
pub(crate) struct Certificate {
    /// The DER content of the serial number: two's complement, big-endian (X.690 section 8.3).
    pub(crate) serial: Vec<u8>,
    pub(crate) issuer: DistinguishedName,
    /// The DER encoding of the subject, which is the same in all certificates of a TPP.
    pub(crate) subject: Vec<u8>,
    /// The subject in the notation of keyId.
    pub(crate) holder: Option<DistinguishedName>,
    /// The RSA key. None for a key of another type.
    pub(crate) rsa: Option<VerifyingKey<Sha256>>,
}

impl Certificate {
    /// Reads a header value: base64 of a certificate in DER or PEM.
    pub(crate) fn read(value: &str) -> Result<Self, CertificateError> {
        let bytes = STANDARD.decode(value).map_err(|_| CertificateError::Encoding)?;
        let certificate = if bytes.starts_with(b"-----BEGIN") {
            x509_cert::Certificate::from_pem(&bytes)
        } else {
            x509_cert::Certificate::from_der(&bytes)
        }
        .map_err(|_| CertificateError::NotACertificate)?;
        let certificate = certificate.tbs_certificate;
        let key =
            certificate.subject_public_key_info.to_der().map_err(|_| CertificateError::NotACertificate)?;
        Ok(Self {
            serial: certificate.serial_number.as_bytes().to_vec(),
            issuer: DistinguishedName::of_certificate(&certificate.issuer)
                .ok_or(CertificateError::NotACertificate)?,
            holder: DistinguishedName::of_certificate(&certificate.subject),
            subject: certificate.subject.to_der().map_err(|_| CertificateError::NotACertificate)?,
            rsa: RsaPublicKey::from_public_key_der(&key).ok().map(VerifyingKey::new),
        })
    }

    /// Returns the serial number. RFC 5280 section 4.1.2.2 requires it to be positive, but asks readers to
    /// handle zero and negative ones.
    fn serial_number(&self) -> BigInt {
        BigInt::from_signed_bytes_be(&self.serial)
    }

    /// Returns true if this hexadecimal number equals the serial number of the certificate. Case, leading
    /// zeros and separators (`:`, `-` or a space) are ignored. A negative number has a sign, or is written as
    /// in DER.
    pub(crate) fn has_serial(&self, hexadecimal: &str) -> bool {
        let (sign, digits) = match hexadecimal.strip_prefix('-') {
            Some(digits) => (Sign::Minus, digits),
            None => (Sign::Plus, hexadecimal),
        };
        let digits: Option<Vec<u8>> = digits
            .chars()
            .filter(|letter| !matches!(letter, ':' | '-' | ' '))
            .map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok()))
            .collect();
        let digits = digits.filter(|digits| !digits.is_empty());
        let Some(number) = digits.and_then(|digits| BigInt::from_radix_be(sign, &digits, 16)) else {
            return false;
        };
        let own = self.serial_number();
        number == own
            || own.sign() == Sign::Minus && number == BigInt::from_bytes_be(Sign::Plus, &self.serial)
    }

    /// Returns the serial number in hexadecimal, as keyId has it.
    pub(crate) fn serial_in_hex(&self) -> String {
        format!("{:X}", self.serial_number())
    }

    /// Returns true if this decimal number equals the serial number of the certificate.
    pub(crate) fn has_decimal_serial(&self, decimal: &str) -> bool {
        BigInt::parse_bytes(decimal.as_bytes(), 10).is_some_and(|number| number == self.serial_number())
    }
}

impl Form {
    /// Returns the encoding of the certificate in a base64 header value.
    pub(crate) fn of(value: &str) -> Self {
        // Base64 of `-----BEGIN`.
        if value.starts_with("LS0tLS1CRUdJTi") { Self::Pem } else { Self::Der }
    }
}

/// Returns the base64 at the start of a string.
pub(crate) fn base64(text: &str) -> &str {
    let is_of_base64 = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
    let end = text.find(|letter| !is_of_base64(letter)).unwrap_or(text.len());
    let padding = text[end..].chars().take_while(|letter| *letter == '=').count();
    &text[..end + padding]
}

/// The reason why a header value is not a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CertificateError {
    /// The value is not base64 (RFC 4648 section 4).
    #[error("expected a certificate in base64, found other characters or padding")]
    Encoding,
    /// The value is base64 of something else.
    #[error("expected an X.509 certificate, found other bytes")]
    NotACertificate,
}

/// A cache of certificates by header value, because parsing one takes longer than most requests.
#[derive(Default)]
pub struct Certificates {
    known: Mutex<HashMap<String, Arc<Certificate>>>,
    /// The certificates that [`Counted`] selects by keyId.
    named: Mutex<HashMap<String, Arc<Certificate>>>,
    /// The signatures that were valid before, if the policy verifies each only once.
    held: Mutex<HashSet<Vec<u8>>>,
}

impl Certificates {
    /// The capacity. A full cache is cleared to bound its memory.
    const LIMIT: usize = 256;

    pub(crate) fn read(&self, value: &str) -> Result<Arc<Certificate>, CertificateError> {
        if let Some(known) = self.known().get(value) {
            return Ok(Arc::clone(known));
        }
        let certificate = Arc::new(Certificate::read(value)?);
        let mut known = self.known();
        if known.len() >= Self::LIMIT {
            known.clear();
        }
        known.insert(value.to_owned(), Arc::clone(&certificate));
        Ok(certificate)
    }

    /// Returns the keys of all cached certificates.
    pub(crate) fn keys(&self) -> Vec<VerifyingKey<Sha256>> {
        self.known().values().filter_map(|known| known.rsa.clone()).collect()
    }

    /// Returns the certificate that counts under this keyId. `own` is the certificate of the request, sent
    /// from this device.
    pub(crate) fn that_counts(
        &self,
        counted: Counted,
        (key_id, device): (&str, Option<&str>),
        own: Arc<Certificate>,
    ) -> Arc<Certificate> {
        match (counted, device) {
            (Counted::First, _) => Arc::clone(self.named().entry(key_id.to_owned()).or_insert(own)),
            (Counted::Last, Some(device)) => {
                let before = self.named().insert(format!("{device} {key_id}"), Arc::clone(&own));
                before.unwrap_or(own)
            }
            _ => own,
        }
    }

    /// Returns true if this signature is valid now (`holds`) or was valid before.
    pub(crate) fn held(&self, signature: &[u8], holds: bool) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.contains(signature) || holds && held.insert(signature.to_owned())
    }

    fn named(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Certificate>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Certificate>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::certificate::{ISSUER, SERIAL, signer};

    #[test]
    fn both_forms_are_read() {
        let der = Certificate::read(&signer().certificate_base64()).unwrap();
        let pem = Certificate::read(&STANDARD.encode(signer().certificate_pem())).unwrap();
        for certificate in [der, pem] {
            assert!(certificate.has_serial(SERIAL));
            assert!(certificate.rsa.is_some());
            assert_eq!(Ok(&certificate.issuer), DistinguishedName::parse(ISSUER).as_ref());
        }
    }

    #[test]
    fn serial_numbers_are_compared_as_numbers() {
        let certificate = Certificate::read(&signer().certificate_base64()).unwrap();
        assert_eq!(SERIAL, "0F1E2D3C");
        for same in ["f1e2d3c", "0F1E2D3C", "000f1e2d3c", "0F:1E:2D:3C", "0f 1e 2d 3c"] {
            assert!(certificate.has_serial(same), "{same}");
        }
        for other in
            ["", "0", ":", "F1E2D3", "0F1E2D3C00", "-0F1E2D3C", "0x0F1E2D3C", "0F1E2D3G", "253635900"]
        {
            assert!(!certificate.has_serial(other), "{other}");
        }
        let mut negative = certificate;
        negative.serial = vec![0xfb];
        for same in ["-5", "-05", "fb", "00FB"] {
            assert!(negative.has_serial(same), "{same}");
        }
        assert!(!negative.has_serial("5") && !negative.has_serial("-FB"));
    }

    #[test]
    fn other_values() {
        let error = |value: &str| Certificate::read(value).map(|_| ()).unwrap_err();
        assert_eq!(error("not base64"), CertificateError::Encoding);
        assert_eq!(error("AAAA"), CertificateError::NotACertificate);
        assert_eq!(error(""), CertificateError::NotACertificate);
        assert_eq!(error(&STANDARD.encode("-----BEGIN CERTIFICATE-----")), CertificateError::NotACertificate);
        let whole = signer().certificate_base64();
        assert_eq!(error(&whole[..whole.len() - 8]), CertificateError::NotACertificate);
    }

    #[test]
    fn certificates_are_remembered() {
        let certificates = Certificates::default();
        let value = signer().certificate_base64();
        let first = certificates.read(&value).unwrap();
        assert!(Arc::ptr_eq(&first, &certificates.read(&value).unwrap()));
        assert!(certificates.read("AAAA").is_err());
    }
}
