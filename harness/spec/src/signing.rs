//! The signing of requests: which headers are signed, and which notation a bank expects for the certificate.

use serde::Deserialize;

use crate::{problem::Problem, tree::Tree, yaml, yaml::At};

/// Path of the file in a tree.
pub const FILE: &str = "fixtures/spec/signing.yaml";

/// Path of the table of headers, which has every signed header that the document itself defines.
const HEADERS: &str = "fixtures/tables/headers.csv";

/// Headers that HTTP or the draft of signatures defines, and that the table need not have.
const STANDARD: [&str; 6] = ["(request-target)", "content-length", "content-type", "date", "digest", "host"];

/// A document's rules for signatures. Empty if it has none.
#[derive(Debug, Clone, Default)]
pub struct SigningSpec {
    /// The header with the certificate.
    pub certificate_header: Option<String>,
    /// The header with an identifier that is unique to each call.
    pub request_id_header: Option<String>,
    /// The lowercase names of headers that are signed if a request has them, in this order.
    pub signed_headers: Vec<String>,
    /// The choices of a bank profile that decide how the certificate is written.
    pub choices: CertificateChoices,
}

/// The choices of a bank profile that decide how the certificate is written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CertificateChoices {
    /// Its serial number in keyId.
    pub serial: Option<FormChoice>,
    /// Its issuer in keyId.
    pub issuer: Option<FormChoice>,
    /// The certificate in its header.
    pub certificate: Option<FormChoice>,
}

/// A choice between notations.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormChoice {
    /// Key in `[choices]` of a bank profile.
    pub key: String,
    /// Words for the usual notation, in addition to its name.
    #[serde(default)]
    pub usual: Vec<String>,
    /// The supported notations, for messages and for the schema of profiles.
    pub knows: String,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    certificate_header: Option<At<String>>,
    request_id_header: Option<At<String>>,
    #[serde(default)]
    signed_headers: Vec<At<String>>,
    #[serde(default)]
    choices: CertificateChoices,
}

impl SigningSpec {
    /// Reads the rules of a tree. Returns empty rules if the tree has no such file.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let Some(text) = tree.text(FILE) else { return Ok(Self::default()) };
        let file: File = yaml::read(FILE, text)?;
        let table = tree.text(HEADERS).map(headers);
        let mut signed_headers: Vec<String> = Vec::new();
        for header in &file.signed_headers {
            let name = &header.value;
            if signed_headers.contains(name) {
                return Err(header.problem(FILE, format!("duplicate header `{name}`")));
            }
            if *name != name.to_ascii_lowercase() {
                let message = format!("expected a lowercase header, found `{name}`");
                return Err(header.problem(FILE, message));
            }
            signed_headers.push(name.clone());
        }
        for header in
            file.signed_headers.iter().chain(&file.certificate_header).chain(&file.request_id_header)
        {
            let name = header.value.to_ascii_lowercase();
            let is_known = STANDARD.contains(&name.as_str());
            if let Some(known) = table.as_ref().filter(|known| !is_known && !known.contains(&name)) {
                let problem = header.problem(FILE, format!("{HEADERS} has no header `{}`", header.value));
                return Err(problem.nearest(&name, known.iter().map(String::as_str)));
            }
        }
        Ok(Self {
            certificate_header: file.certificate_header.map(|header| header.value),
            request_id_header: file.request_id_header.map(|header| header.value),
            signed_headers,
            choices: file.choices,
        })
    }
}

impl CertificateChoices {
    /// Returns the choice with this key.
    pub fn find(&self, key: &str) -> Option<&FormChoice> {
        self.all().find(|choice| choice.key == key)
    }

    /// Returns all choices that exist.
    pub fn all(&self) -> impl Iterator<Item = &FormChoice> {
        [&self.serial, &self.issuer, &self.certificate].into_iter().flatten()
    }
}

/// Returns the lowercase names in the table of headers.
fn headers(table: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let at = reader.headers().ok().and_then(|names| names.iter().position(|name| name == "header"));
    let rows = reader.records().filter_map(Result::ok);
    let names = rows.filter_map(|row| row.get(at?).map(str::to_ascii_lowercase));
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "name,header\na,X-Call-Id\nb,X-Certificate\n";

    fn load(text: &str) -> Result<SigningSpec, String> {
        SigningSpec::load(&Tree::of(&[(FILE, text), (HEADERS, TABLE)])).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_document_may_sign_other_headers_or_none() {
        let spec = load("certificate-header: X-Certificate\nsigned-headers: [host, x-call-id]\n").unwrap();
        assert_eq!(spec.signed_headers, ["host", "x-call-id"]);
        assert_eq!(
            (spec.certificate_header.as_deref(), spec.request_id_header),
            (Some("X-Certificate"), None)
        );
        assert!(SigningSpec::load(&Tree::default()).unwrap().signed_headers.is_empty());
    }

    #[test]
    fn each_mistake_is_named_with_its_place() {
        for (text, expected) in [
            (
                "signed-headers: [date, x-cal-id]",
                "1:24: fixtures/tables/headers.csv has no header `x-cal-id`",
            ),
            ("signed-headers: [x-cal-id]", "did you mean `x-call-id`?"),
            ("certificate-header: X-Certificates", "did you mean `x-certificate`?"),
            ("signed-headers: [date, date]", "1:24: duplicate header `date`"),
            ("signed-headers: [Date]", "1:18: expected a lowercase header, found `Date`"),
            ("signed-header: [date]", "did you mean `signed-headers`?"),
            ("choices: { serial: { key: a, usul: [b] } }", "did you mean `usual`?"),
        ] {
            let problem = load(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }
}
