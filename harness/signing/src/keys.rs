//! Test keys: a fictitious authority and two signing certificates, so that the suite can be tried without
//! real ones.

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_RSA_SHA256, RsaKeySize, date_time_ymd,
};

use crate::{
    certificate::{Certificate, NameForm},
    qualified::{Role, Statements},
};

/// The files that [`make`] creates: the certificate of the authority, key and certificate of the TPP, and
/// those of another TPP for cases in which key and certificate must not match. The remaining ones are
/// defective certificates of the other key.
pub const FILES: [&str; 8] = [
    "ca.cert.pem",
    "tpp.key.pem",
    "tpp.cert.pem",
    "other.key.pem",
    "other.cert.pem",
    "other-expired.cert.pem",
    "other-early.cert.pem",
    "other-role.cert.pem",
];

/// The organization of every subject and issuer, which marks a certificate as test material.
const ORGANISATION: &str = "xs2aspec test material";

/// Roles of the fictitious TPPs, and the fictitious authority that granted them.
const ROLES: [Role; 2] = [Role::PaymentInitiation, Role::AccountInformation];
const AUTHORITY: (&str, &str) = ("xs2aspec test authority", "XX-TEST");

/// Describes a file of [`FILES`].
pub fn says(name: &str) -> &'static str {
    match name {
        "ca.cert.pem" => "certificate of a fictitious authority, whose key was discarded",
        "tpp.key.pem" => "private key of the suite's TPP, PKCS#8, RSA, 2048 bits",
        "tpp.cert.pem" => {
            "its certificate: an electronic seal with the roles PSP_PI and PSP_AI (ETSI TS 119 495)"
        }
        "other.key.pem" => {
            "private key of an unrelated TPP, for cases in which key and certificate must not match"
        }
        "other-expired.cert.pem" => "a certificate of that key that was valid until 2021",
        "other-early.cert.pem" => "a certificate of that key that is valid from 2090 on",
        "other-role.cert.pem" => {
            "a certificate of that key with no role but PSP_IC, which allows neither payments nor accounts"
        }
        _ => "its certificate",
    }
}

/// Returns true if a certificate in PEM names the organization of the certificates that [`make`] creates.
pub fn is_test_material(certificate: &str) -> bool {
    Certificate::from_pem(certificate)
        .is_ok_and(|certificate| certificate.subject().write(&NameForm::Rfc4514).contains(ORGANISATION))
}

/// The reason that no keys were created.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The statements of a certificate could not be written.
    #[error("cannot write qcStatements: {0}")]
    Statements(#[from] x509_cert::der::Error),
    /// A key or a certificate could not be created.
    #[error("the cryptographic library cannot create a key or certificate: {0}")]
    Crypto(#[from] rcgen::Error),
}

/// Creates an authority, two signing keys and their certificates (RSA, 2048 bits, valid from 2020 to 2099
/// unless noted otherwise), and returns the contents of [`FILES`]. The authority's own key is discarded.
///
/// Keys and serial numbers are random, so nothing may depend on their values.
pub fn make() -> Result<Vec<(&'static str, String)>, KeysError> {
    let authority_key = key()?;
    let authority_params = authority();
    let authority_certificate = authority_params.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority_params, authority_key);
    let (tpp_key, other_key) = (key()?, key()?);
    let tpp = signing("xs2aspec test TPP", "PSDXX-TEST-1", &ROLES)?.signed_by(&tpp_key, &issuer)?;
    let of_other = |roles| signing("xs2aspec other test TPP", "PSDXX-TEST-2", roles);
    let other = of_other(&ROLES)?.signed_by(&other_key, &issuer)?;
    let (mut expired, mut early) = (of_other(&ROLES)?, of_other(&ROLES)?);
    expired.not_after = date_time_ymd(2021, 1, 1);
    early.not_before = date_time_ymd(2090, 1, 1);
    let expired = expired.signed_by(&other_key, &issuer)?;
    let early = early.signed_by(&other_key, &issuer)?;
    let role = of_other(&[Role::CardIssuing])?.signed_by(&other_key, &issuer)?;
    let texts = [
        authority_certificate.pem(),
        tpp_key.serialize_pem(),
        tpp.pem(),
        other_key.serialize_pem(),
        other.pem(),
        expired.pem(),
        early.pem(),
        role.pem(),
    ];
    // The library uses the line ends of the system. The output must be the same everywhere.
    let texts = texts.map(|text| text.replace("\r\n", "\n"));
    Ok(FILES.into_iter().zip(texts).collect())
}

fn key() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)
}

fn authority() -> CertificateParams {
    let mut params = named("xs2aspec test CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn signing(common_name: &str, identifier: &str, roles: &[Role]) -> Result<CertificateParams, KeysError> {
    let mut params = named(common_name);
    params.distinguished_name.push(DnType::CustomDnType(vec![2, 5, 4, 97]), identifier);
    let statements = Statements::of_seal(roles, AUTHORITY)?;
    params.custom_extensions =
        vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 3], statements)];
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::ContentCommitment];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn named(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, ORGANISATION);
    params.distinguished_name.push(DnType::CommonName, common_name);
    // Fixed, so that a certificate does not depend on the day of its creation.
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 12, 31);
    params
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::{KeyIdForm, Signer};

    fn read(folder: &Path, name: &str) -> Vec<u8> {
        fs::read(folder.join(name)).unwrap()
    }

    #[test]
    fn makes_two_pairs_of_one_authority() {
        let made = make().unwrap();
        assert_eq!(made.iter().map(|(name, _)| *name).collect::<Vec<_>>(), FILES);
        for (name, text) in &made {
            assert!(text.starts_with("-----BEGIN "), "{name}: a strict PEM reader accepts it");
            assert_eq!(is_test_material(text), name.ends_with(".cert.pem"), "{name}");
        }
        let of = |name: &str| &made.iter().find(|(known, _)| *known == name).unwrap().1;
        let tpp = Signer::from_pem(of("tpp.key.pem"), of("tpp.cert.pem")).unwrap();
        let other = Signer::from_pem(of("other.key.pem"), of("other.cert.pem")).unwrap();
        let name = "CN=xs2aspec test CA,O=xs2aspec test material";
        assert_eq!(tpp.certificate().issuer().write(&NameForm::Rfc4514), name);
        assert_eq!(other.certificate().issuer().write(&NameForm::Rfc4514), name);
        let authority = Certificate::from_pem(of("ca.cert.pem")).unwrap();
        assert_eq!(authority.issuer().write(&NameForm::Rfc4514), name);
        assert_ne!(tpp.certificate().serial_hex(), other.certificate().serial_hex());
    }

    #[test]
    fn the_committed_files_are_of_this_kind() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys"));
        for pair in ["tpp", "other"] {
            let key = read(folder, &format!("{pair}.key.pem"));
            assert!(key.starts_with(b"-----BEGIN PRIVATE KEY-----\n"), "a strict PEM reader accepts it");
            let signer = Signer::from_pem(key, read(folder, &format!("{pair}.cert.pem"))).unwrap();
            let key_id = signer.certificate().key_id(&KeyIdForm::default());
            assert!(key_id.ends_with(",CA=CN=xs2aspec test CA,O=xs2aspec test material"), "{key_id}");
            let certificate = signer.certificate();
            assert_eq!(
                (
                    certificate.rsa_bits(),
                    certificate.subject().write(&NameForm::Rfc4514).contains("test TPP")
                ),
                (Some(2048), true)
            );
            let statements = certificate.statements().unwrap().unwrap();
            assert_eq!(
                (statements.types, statements.roles),
                (vec!["seal".into()], vec!["PSP_PI".into(), "PSP_AI".into()])
            );
            assert!(certificate.organisation_identifier().unwrap().starts_with("PSDXX-TEST-"));
        }
    }
}
