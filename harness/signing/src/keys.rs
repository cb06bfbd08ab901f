//! Test keys: a made-up authority and two signing certificates of it, so that a suite can be tried without a real one.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_RSA_SHA256, RsaKeySize, date_time_ymd,
};

use crate::qualified::{Role, Statements};

/// The files that [`make`] writes: the certificate of the authority, then key and certificate of the TPP, then those of another
/// TPP, for cases in which key and certificate must not match, and further certificates of that key, each with something wrong.
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

/// What marks every certificate: subject and issuer are of this organisation.
const ORGANISATION: &str = "xs2aspec test material";

/// Roles of the made-up TPPs, and the made-up authority that gave them.
const ROLES: [Role; 2] = [Role::PaymentInitiation, Role::AccountInformation];
const AUTHORITY: (&str, &str) = ("xs2aspec test authority", "XX-TEST");

/// What a file of [`FILES`] is, in words.
pub fn says(name: &str) -> &'static str {
    match name {
        "ca.cert.pem" => "certificate of a made-up authority, whose key was thrown away",
        "tpp.key.pem" => "private key of the TPP that the suite plays, PKCS#8, RSA, 2048 bits",
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

/// Why no keys were made.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// A file is there, and was not to be overwritten. Nothing was written.
    #[error("expected no file `{}`, found one: say `--overwrite` to replace it, or name another folder", path.display())]
    Exists {
        /// The first such file.
        path: PathBuf,
    },
    /// The statements of a certificate could not be written.
    #[error("expected qcStatements, found that they cannot be written: {0}")]
    Statements(#[from] x509_cert::der::Error),
    /// A key or a certificate could not be made.
    #[error("expected a new key and certificate, found that the crypto library made none: {0}")]
    Crypto(#[from] rcgen::Error),
    /// The folder or a file could not be written.
    #[error("expected to write `{}`, found: {source}", path.display())]
    Write {
        /// Folder or file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Makes an authority, two signing keys and their certificates (RSA, 2048 bits, valid 2020 to 2099 but for those that say otherwise) and writes [`FILES`] into `folder`, which
/// is created if need be. Existing files stop it before anything is written, unless `overwrite` is set. The authority's own
/// key is thrown away.
///
/// The keys are random, and so are the serial numbers: nothing may rest on their values.
pub fn make(folder: &Path, overwrite: bool) -> Result<Vec<PathBuf>, KeysError> {
    let paths = FILES.map(|name| folder.join(name));
    if let Some(path) = paths.iter().find(|path| !overwrite && path.exists()) {
        return Err(KeysError::Exists { path: path.clone() });
    }
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
    fs::create_dir_all(folder).map_err(|source| KeysError::Write { path: folder.to_owned(), source })?;
    for (path, text) in paths.iter().zip(texts) {
        // The crypto library ends lines as the system does; the files are the same everywhere.
        write(path, &text.replace("\r\n", "\n"))
            .map_err(|source| KeysError::Write { path: path.clone(), source })?;
    }
    Ok(paths.to_vec())
}

/// Writes a file. A private key is for its owner alone, where the system knows owners.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if path.to_string_lossy().ends_with(".key.pem") {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let mut file = options.mode(0o600).open(path)?;
        // A file that was there keeps its own permissions.
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        return file.write_all(text.as_bytes());
    }
    options.open(path)?.write_all(text.as_bytes())
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
    // Fixed, so that a certificate does not depend on the day it was made.
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 12, 31);
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certificate, KeyIdForm, Signer, certificate::NameForm};

    fn read(folder: &Path, name: &str) -> Vec<u8> {
        fs::read(folder.join(name)).unwrap()
    }

    #[test]
    fn makes_two_pairs_of_one_authority() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("new");
        let written = make(&inner, false).unwrap();
        assert_eq!(written, FILES.map(|name| inner.join(name)));
        for name in FILES {
            assert!(read(&inner, name).starts_with(b"-----BEGIN "), "{name}");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::metadata(inner.join(name)).unwrap().permissions().mode() & 0o777;
                assert_eq!(mode == 0o600, name.ends_with(".key.pem"), "{name}: {mode:o}");
            }
        }
        let tpp = Signer::from_pem(read(&inner, "tpp.key.pem"), read(&inner, "tpp.cert.pem")).unwrap();
        let other = Signer::from_pem(read(&inner, "other.key.pem"), read(&inner, "other.cert.pem")).unwrap();
        let name = "CN=xs2aspec test CA,O=xs2aspec test material";
        assert_eq!(tpp.certificate().issuer().write(&NameForm::Rfc4514), name);
        assert_eq!(other.certificate().issuer().write(&NameForm::Rfc4514), name);
        let authority = Certificate::from_pem(read(&inner, "ca.cert.pem")).unwrap();
        assert_eq!(authority.issuer().write(&NameForm::Rfc4514), name);
        assert_ne!(tpp.certificate().serial_hex(), other.certificate().serial_hex());

        // A second run touches nothing, unless it is told to.
        let before = read(&inner, "tpp.key.pem");
        fs::remove_file(inner.join("ca.cert.pem")).unwrap();
        let refused = make(&inner, false).unwrap_err();
        assert!(matches!(&refused, KeysError::Exists { path } if path.ends_with("tpp.key.pem")), "{refused}");
        assert!(!inner.join("ca.cert.pem").exists());
        assert_eq!(read(&inner, "tpp.key.pem"), before);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(inner.join("tpp.key.pem"), fs::Permissions::from_mode(0o644)).unwrap();
        }
        make(&inner, true).unwrap();
        assert_ne!(read(&inner, "tpp.key.pem"), before);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(inner.join("tpp.key.pem")).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "a key that was open to all is closed");
        }
    }

    #[test]
    fn says_where_it_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(make(&file, false).unwrap_err().to_string().contains("file"));
    }

    #[test]
    fn the_committed_files_are_of_this_kind() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys"));
        for pair in ["tpp", "other"] {
            let key = read(folder, &format!("{pair}.key.pem"));
            assert!(
                key.starts_with(b"-----BEGIN PRIVATE KEY-----\n"),
                "a reader that skips nothing takes it"
            );
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
