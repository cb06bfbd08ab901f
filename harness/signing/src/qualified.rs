//! Qualified statements of certificates for payment services: ETSI TS 119 495, section 5.1, in the extension
//! qcStatements (RFC 3739, section 3.2.6; ETSI EN 319 412-5).

use x509_cert::der::{
    Decode, Encode, Error, Tag,
    asn1::{Any, ObjectIdentifier, Utf8StringRef},
};

/// The extension qcStatements.
pub const QC_STATEMENTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.3");
/// The attribute organizationIdentifier of a subject (ETSI TS 119 495, section 5.2.1: `PSD`, country,
/// authority, number).
pub const ORGANISATION_IDENTIFIER: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.97");

const COMPLIANCE: ObjectIdentifier = ObjectIdentifier::new_unwrap("0.4.0.1862.1.1");
const TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("0.4.0.1862.1.6");
const SEAL: ObjectIdentifier = ObjectIdentifier::new_unwrap("0.4.0.1862.1.6.2");
const WEB: ObjectIdentifier = ObjectIdentifier::new_unwrap("0.4.0.1862.1.6.3");
const PSD2: ObjectIdentifier = ObjectIdentifier::new_unwrap("0.4.0.19495.2");

/// A role of a payment service provider (ETSI TS 119 495, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// `PSP_AS`: account servicing.
    AccountServicing,
    /// `PSP_PI`: payment initiation.
    PaymentInitiation,
    /// `PSP_AI`: account information.
    AccountInformation,
    /// `PSP_IC`: issuing of card-based payment instruments.
    CardIssuing,
}

impl Role {
    /// Every role, in the order of their numbers.
    pub const ALL: [Self; 4] =
        [Self::AccountServicing, Self::PaymentInitiation, Self::AccountInformation, Self::CardIssuing];

    /// Returns the name in a certificate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AccountServicing => "PSP_AS",
            Self::PaymentInitiation => "PSP_PI",
            Self::AccountInformation => "PSP_AI",
            Self::CardIssuing => "PSP_IC",
        }
    }

    /// Returns a description of what it allows.
    pub const fn says(self) -> &'static str {
        match self {
            Self::AccountServicing => "account servicing",
            Self::PaymentInitiation => "payment initiation",
            Self::AccountInformation => "account information",
            Self::CardIssuing => "issuing of card-based payment instruments",
        }
    }

    const fn oid(self) -> ObjectIdentifier {
        match self {
            Self::AccountServicing => ObjectIdentifier::new_unwrap("0.4.0.19495.1.1"),
            Self::PaymentInitiation => ObjectIdentifier::new_unwrap("0.4.0.19495.1.2"),
            Self::AccountInformation => ObjectIdentifier::new_unwrap("0.4.0.19495.1.3"),
            Self::CardIssuing => ObjectIdentifier::new_unwrap("0.4.0.19495.1.4"),
        }
    }
}

/// The statements of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statements {
    /// True if it has `QcCompliance`.
    pub is_qualified: bool,
    /// Its uses (`QcType`): `seal`, `website authentication`, or a dotted number.
    pub types: Vec<String>,
    /// Roles, by name, or by dotted number if unknown.
    pub roles: Vec<String>,
    /// Name and id of the authority that granted the roles (`nCAName`, `nCAId`).
    pub authority: Option<(String, String)>,
}

impl Statements {
    /// Reads the content of the extension qcStatements.
    pub fn read(extension: &[u8]) -> Result<Self, Error> {
        let mut read = Self::default();
        for statement in Vec::<Any>::from_der(extension)? {
            let parts = items(&statement)?;
            let Some(oid) = parts.first() else { continue };
            let info = parts.get(1);
            match (oid.decode_as::<ObjectIdentifier>()?, info) {
                (COMPLIANCE, _) => read.is_qualified = true,
                (TYPE, Some(info)) => {
                    for kind in items(info)? {
                        read.types.push(match kind.decode_as::<ObjectIdentifier>()? {
                            SEAL => "seal".to_owned(),
                            WEB => "website authentication".to_owned(),
                            other => other.to_string(),
                        });
                    }
                }
                (PSD2, Some(info)) => {
                    let fields = items(info)?;
                    let [roles, name, id] = fields.as_slice() else {
                        return Err(Tag::Sequence.value_error());
                    };
                    for role in items(roles)? {
                        let parts = items(&role)?;
                        let oid = parts.first().ok_or(Tag::Sequence.value_error())?;
                        let oid: ObjectIdentifier = oid.decode_as()?;
                        let known = Role::ALL.into_iter().find(|role| role.oid() == oid);
                        read.roles.push(known.map_or_else(|| oid.to_string(), |role| role.name().to_owned()));
                    }
                    read.authority = Some((text(name)?, text(id)?));
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// Returns the content of the extension for a seal with these roles, granted by this authority.
    pub fn of_seal(roles: &[Role], authority: (&str, &str)) -> Result<Vec<u8>, Error> {
        let role = |role: &Role| sequence(&[any(&role.oid())?, any(&Utf8StringRef::new(role.name())?)?]);
        let roles: Vec<Any> = roles.iter().map(role).collect::<Result<_, _>>()?;
        let info = sequence(&[
            sequence(&roles)?,
            any(&Utf8StringRef::new(authority.0)?)?,
            any(&Utf8StringRef::new(authority.1)?)?,
        ])?;
        let statements =
            [sequence(&[any(&TYPE)?, sequence(&[any(&SEAL)?])?])?, sequence(&[any(&PSD2)?, info])?];
        sequence(&statements)?.to_der()
    }
}

fn items(sequence: &Any) -> Result<Vec<Any>, Error> {
    Vec::from_der(&sequence.to_der()?)
}

fn text(value: &Any) -> Result<String, Error> {
    value.decode_as::<Utf8StringRef<'_>>().map(|text| text.as_str().to_owned())
}

fn any(value: &impl Encode) -> Result<Any, Error> {
    Any::from_der(&value.to_der()?)
}

fn sequence(items: &[Any]) -> Result<Any, Error> {
    Any::from_der(&items.to_vec().to_der()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let roles = [Role::PaymentInitiation, Role::AccountInformation];
        let written = Statements::of_seal(&roles, ("Synthetic Authority", "XX-SYN")).unwrap();
        let expected = Statements {
            is_qualified: false,
            types: vec!["seal".into()],
            roles: vec!["PSP_PI".into(), "PSP_AI".into()],
            authority: Some(("Synthetic Authority".into(), "XX-SYN".into())),
        };
        assert_eq!(Statements::read(&written).unwrap(), expected);
    }

    #[test]
    fn damaged_and_unknown_statements_are_no_panic() {
        let written = Statements::of_seal(&[Role::CardIssuing], ("A", "B")).unwrap();
        for end in 0..written.len() {
            assert!(Statements::read(&written[..end]).is_err());
        }
        let unknown = sequence(&[sequence(&[any(&ORGANISATION_IDENTIFIER).unwrap()]).unwrap()]).unwrap();
        assert_eq!(Statements::read(&unknown.to_der().unwrap()).unwrap(), Statements::default());
    }
}
