//! The forms in which a bank requires certificate names and certificates, as its profile declares them.

use std::{collections::BTreeMap, fmt};

use xs2aspec_signing::{
    Certificate, KeyIdForm,
    certificate::{NameForm, SerialForm},
    name::{Template, TemplateError},
};
use xs2aspec_suite::{CertificateChoices, FormChoice};

/// The forms of certificate names and certificates that the document leaves to the bank and its profile
/// declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CertificateEncoding {
    /// The form in which keyId names a certificate.
    pub key_id: KeyIdForm,
    /// The form of the certificate in its header.
    pub certificate: CertificateForm,
    /// The key of the issuer choice, for messages.
    issuer_key: String,
}

/// The form of a certificate in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CertificateForm {
    /// Base64 of the DER form.
    #[default]
    Der,
    /// Base64 of the PEM form.
    Pem,
}

impl CertificateForm {
    const ALL: [Self; 2] = [Self::Der, Self::Pem];
}

impl fmt::Display for CertificateForm {
    /// Writes the form as a bank profile spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Der => "base64 of DER",
            Self::Pem => "base64 of PEM",
        })
    }
}

impl CertificateEncoding {
    /// Returns the forms that the choices of a profile declare.
    pub fn of(
        said: &BTreeMap<String, String>,
        spec: &CertificateChoices,
    ) -> Result<Self, CertificateEncodingError> {
        let issuer_key = spec.issuer.as_ref().map(|choice| choice.key.clone()).unwrap_or_default();
        let issuer = match said.get(&issuer_key).filter(|text| Template::is_meant(text)) {
            Some(text) => Template::read(text)
                .map(NameForm::Template)
                .map_err(|error| CertificateEncodingError::Issuer { key: issuer_key.clone(), error })?,
            None => declared(said, spec.issuer.as_ref(), &NameForm::ALL)?,
        };
        let own = spec.serial.as_ref().and_then(|choice| SerialForm::own(said.get(&choice.key)?));
        let serial = match own {
            Some(own) => own,
            None => declared(said, spec.serial.as_ref(), &SerialForm::ALL)?,
        };
        Ok(Self {
            key_id: KeyIdForm { serial, issuer },
            certificate: declared(said, spec.certificate.as_ref(), &CertificateForm::ALL)?,
            issuer_key,
        })
    }

    /// Returns the encodings that differ from these choices in exactly one, each with its key and value.
    pub(crate) fn others(
        said: &BTreeMap<String, String>,
        spec: &CertificateChoices,
    ) -> Vec<(String, String, Self)> {
        let words = [
            (spec.serial.as_ref(), SerialForm::ALL.map(|form| form.to_string()).to_vec()),
            (spec.issuer.as_ref(), NameForm::ALL.map(|form| form.to_string()).to_vec()),
            (spec.certificate.as_ref(), CertificateForm::ALL.map(|form| form.to_string()).to_vec()),
        ];
        let Ok(own) = Self::of(said, spec) else { return Vec::new() };
        let each = words.into_iter().filter_map(|(choice, words)| Some((choice?.key.clone(), words)));
        let each = each.flat_map(|(key, words)| words.into_iter().map(move |word| (key.clone(), word)));
        each.filter_map(|(key, word)| {
            let mut said = said.clone();
            said.insert(key.clone(), word.clone());
            let other = Self::of(&said, spec).ok().filter(|other| *other != own)?;
            Some((key, word, other))
        })
        .collect()
    }

    /// Returns an error if the certificate's issuer lacks a part that the template needs.
    pub fn fit(&self, certificate: &Certificate) -> Result<(), CertificateEncodingError> {
        match &self.key_id.issuer {
            NameForm::Template(template) => template
                .write(&certificate.issuer())
                .map(drop)
                .map_err(|error| CertificateEncodingError::Issuer { key: self.issuer_key.clone(), error }),
            _ => Ok(()),
        }
    }
}

/// Returns the form that a profile declares for a choice. Returns the usual form if the profile leaves it out
/// or names it.
fn declared<T: Default + Clone + ToString>(
    said: &BTreeMap<String, String>,
    choice: Option<&FormChoice>,
    forms: &[T],
) -> Result<T, CertificateEncodingError> {
    match choice.and_then(|choice| Some((choice, said.get(&choice.key)?))) {
        Some((choice, said)) if !choice.usual.contains(said) => {
            let form = forms.iter().find(|form| form.to_string() == *said);
            form.cloned().ok_or_else(|| CertificateEncodingError::Form {
                key: choice.key.clone(),
                found: said.clone(),
                known: choice.knows.clone(),
            })
        }
        _ => Ok(T::default()),
    }
}

/// An error in the forms that a profile declares.
#[derive(Debug, thiserror::Error)]
pub enum CertificateEncodingError {
    /// The template cannot be parsed or does not fit the certificate.
    #[error("`[choices]` of the target profile: \"{key}\": {error}")]
    Issuer {
        /// The key.
        key: String,
        /// The reason.
        error: TemplateError,
    },
    /// The form is unknown.
    #[error("`[choices]` of the target profile: \"{key}\": expected {known}, found `{found}`")]
    Form {
        /// The key.
        key: String,
        /// The value found.
        found: String,
        /// The allowed values.
        known: String,
    },
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::{SigningSpec, Tree};

    use super::*;

    #[test]
    fn the_others_differ_in_one_choice_each() {
        let choices = SigningSpec::load(&Tree::embedded()).unwrap().choices;
        let others = |said: &BTreeMap<String, String>| -> Vec<String> {
            let others = CertificateEncoding::others(said, &choices).into_iter();
            others.map(|(key, word, _)| format!("{key}: {word}")).collect()
        };
        let usual = others(&BTreeMap::new());
        assert_eq!(usual.len(), 7, "{usual:?}");
        let (key, lower) = (choices.serial.as_ref().unwrap().key.clone(), "lower".to_owned());
        let of_lower = others(&BTreeMap::from([(key.clone(), lower.clone())]));
        assert!(usual.contains(&format!("{key}: lower")) && of_lower.contains(&format!("{key}: upper")));
        for (word, form) in [
            ("bytes", Some(SerialForm::Bytes)),
            ("signed", Some(SerialForm::Signed)),
            ("any", Some(SerialForm::UpperHex)),
            ("0x0F", Some(SerialForm::Text("0x0F".to_owned()))),
            ("uper", None),
        ] {
            let read = CertificateEncoding::of(&BTreeMap::from([(key.clone(), word.to_owned())]), &choices);
            assert_eq!(read.ok().map(|read| read.key_id.serial), form, "{word}");
        }
    }

    #[test]
    fn each_form_is_one_that_its_choice_knows() {
        let choices = SigningSpec::load(&Tree::embedded()).unwrap().choices;
        for (choice, forms) in [
            (choices.serial, SerialForm::ALL.map(|form| form.to_string()).to_vec()),
            (choices.issuer, NameForm::ALL.map(|form| form.to_string()).to_vec()),
            (choices.certificate, CertificateForm::ALL.map(|form| form.to_string()).to_vec()),
        ] {
            let knows = choice.unwrap().knows;
            for form in forms {
                assert!(knows.contains(&format!("`{form}`")), "{knows}: {form}");
            }
        }
    }
}
