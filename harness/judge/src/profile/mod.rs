//! The bank profile: everything that the suite must know about one bank.

mod authorize;
mod error;
mod file;
mod form;
mod prepare;
pub mod validate;
mod values;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use xs2aspec_record::{LevelRule, TargetProfile, digest};
use xs2aspec_signing::{Signer, signer::SignerError};
use xs2aspec_suite::ProfileSpec;

pub use authorize::{AuthorizedProfile, Permission};
pub use error::ProfileError;
pub(crate) use error::{near, syntax};
pub use form::schema;

/// The test key that is used if a profile names none. Marked test material, publicly known.
pub const TEST_KEY: &str = include_str!("../../../../fixtures/keys/tpp.key.pem");
/// The certificate of [`TEST_KEY`].
pub const TEST_CERTIFICATE: &str = include_str!("../../../../fixtures/keys/tpp.cert.pem");

/// The profile of the reference bank.
const REFERENCE: &str = include_str!("../../../../fixtures/targets/reference.toml");

/// A bank profile.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// Name, for reports.
    pub name: String,
    /// Version, for reports.
    pub version: Option<String>,
    /// Contact, for reports.
    pub contact: Option<String>,
    /// Base URL with any prefix, without a trailing slash.
    pub base_url: String,
    /// Values for `${target.*}` by dotted name.
    pub values: BTreeMap<String, String>,
    /// Names of the values that may appear in reports.
    pub public: BTreeSet<String>,
    /// Paths that differ from the document, by operation id.
    pub paths: BTreeMap<String, String>,
    /// Declared choices by the key of their clause.
    pub choices: BTreeMap<String, String>,
    /// Level rules that override the defaults: those of the profile, then those of the command line.
    pub levels: Vec<LevelRule>,
    /// Capabilities that are declared, or that the suite can test.
    pub capabilities: BTreeMap<String, Offered>,
    /// True if a created resource with status RJCT counts as a rejection.
    pub rejected_is_refusal: bool,
    /// True if the profile names the key, so that the target can be expected to know it. Only the reference
    /// bank knows the test key.
    pub own_key: bool,
    /// The signing key.
    pub key: Key,
    /// Certificate in PEM.
    pub certificate: String,
    /// The only authorities that may issue the target's TLS certificate, in PEM. None for those of the
    /// system.
    pub authorities: Option<String>,
    /// Client certificate and key in PEM, for targets that request one in the TLS handshake.
    pub client_certificate: Option<(String, String)>,
    /// HTTP version over TLS.
    pub http: Http,
    /// Forward proxy, instead of the one from the usual variables.
    pub proxy: Option<String>,
    /// Additional unsigned headers of each request, as required by a gateway in front of the bank. Masked
    /// like secrets.
    pub headers: BTreeMap<String, String>,
    /// Deadline for one exchange.
    pub deadline: Duration,
    /// Timeout for one connection.
    pub connect_timeout: Duration,
    /// Limits on parallel requests, rates and retries.
    pub limits: Limits,
    /// Strings printed by `[[prepare]]`, which may be secrets.
    pub prepared: Vec<String>,
    /// Declared kind of target: `sandbox` or `production`.
    pub environment: Option<Environment>,
    /// The base URL, repeated by the user to confirm that a production system may be read.
    pub confirm_production: Option<String>,
}

/// The signing key.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// A private key in PEM, without a passphrase.
    Pem(String),
    /// A command, for a key stored elsewhere.
    Command {
        /// Executable and arguments.
        command: Vec<String>,
        /// Working folder of the command.
        folder: PathBuf,
    },
}

impl Default for Key {
    fn default() -> Self {
        Self::Pem(TEST_KEY.to_owned())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pem(_) => f.write_str("***"),
            Self::Command { command, .. } => write!(f, "{command:?}"),
        }
    }
}

/// An HTTP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 (RFC 9113) if the target agrees to it in the TLS handshake, otherwise HTTP/1.1.
    #[serde(rename = "2")]
    Two,
}

/// Limits on parallel requests, rates and retries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of cases in flight.
    pub in_flight: Option<usize>,
    /// Minimum time between two requests.
    pub interval: Option<Duration>,
    /// Minimum time between two requests of an operation.
    pub intervals: BTreeMap<String, Duration>,
    /// Maximum number of retries for a request that cannot have created anything.
    pub retries: u32,
    /// Maximum wait that the target may request.
    pub longest_wait: Duration,
    /// Response time in milliseconds above which there is a warning.
    pub slow_ms: Option<u64>,
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// A test system. Resources created there have no value.
    Sandbox,
    /// A production system. Payments are real.
    Production,
}

impl Environment {
    /// Returns the spelling used in profiles.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Production => "production",
        }
    }
}

/// The availability of a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// Available.
    Yes,
    /// Declared absent in the profile.
    No,
    /// Tested before the run.
    Ask,
    /// Not mentioned in the profile.
    NotSaid,
}

impl Offered {
    /// Returns the spelling used in the history.
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "true",
            Self::No => "false",
            Self::Ask => "ask",
            Self::NotSaid => "not said",
        }
    }

    /// Parses the spelling used in the history.
    fn of_word(word: &str) -> Self {
        let all = [Self::Yes, Self::No, Self::Ask];
        all.into_iter().find(|offered| offered.word() == word).unwrap_or(Self::NotSaid)
    }
}

impl Profile {
    /// Returns the profile of the reference bank at this address.
    pub fn reference(base_url: &str) -> Result<Self, ProfileError> {
        let mut profile =
            file::parse("fixtures/targets/reference.toml", REFERENCE, None, ProfileSpec::embedded())?;
        base_url.clone_into(&mut profile.base_url);
        profile.own_key = true;
        Ok(profile)
    }

    /// Reads a profile and runs its `[[prepare]]` commands. Paths in it are relative to its folder.
    pub fn read(path: &Path, spec: &ProfileSpec) -> Result<Self, ProfileError> {
        file::parse(&path.display().to_string(), &text(path)?, path.parent(), spec)
    }

    /// Returns the signer. Returns an error if the key does not belong to the certificate.
    pub fn signer(&self) -> Result<Signer, SignerError> {
        match &self.key {
            Key::Pem(key) => Signer::from_pem(key, &self.certificate),
            Key::Command { command, folder } => {
                Signer::external(command.clone(), folder.clone(), &self.certificate)
            }
        }
    }
}

/// Returns the host and port of a URL.
fn host(url: &str) -> (String, u16) {
    let url = url::Url::parse(url).ok();
    let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
    let port = url.as_ref().and_then(url::Url::port_or_known_default).unwrap_or_default();
    (host.trim_matches(['[', ']']).to_owned(), port)
}

/// Returns true if a host is this machine.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads a text file.
pub(crate) fn text(path: &Path) -> Result<String, ProfileError> {
    xs2aspec_record::inputs::read_to_string(path)
        .map_err(|source| ProfileError::File { file: path.display().to_string(), source })
}

impl Profile {
    /// Returns the SHA-256, in hex, of the settings that decide how the target is tested and judged. Keys,
    /// certificates and the address are excluded, because shards may use different ones. Masked values
    /// contribute only their names, because a hash of a value would confirm a guess.
    pub fn sha256(&self) -> String {
        digest::sha256(self.canonical().as_bytes())
    }

    /// Returns the input of the digest: compact JSON with sorted fields, which must not change between
    /// versions.
    fn canonical(&self) -> String {
        let is_shown = |name: &String, text: &str| {
            self.public.contains(name) && !self.prepared.iter().any(|secret| text.contains(secret.as_str()))
        };
        let shown = self.values.iter().map(|(name, text)| {
            let text = if is_shown(name, text) { text.as_str() } else { "" };
            (name.as_str(), text)
        });
        let mut said = json!({
            "capabilities": self.said_capabilities(),
            "choices": self.choices,
            "environment": self.environment.map(Environment::word),
            "levels": Some(&self.levels).filter(|levels| !levels.is_empty()),
            "paths": self.paths,
            "rejected-is-refusal": self.rejected_is_refusal,
            "values": shown.collect::<BTreeMap<_, _>>(),
        });
        if let Value::Object(said) = &mut said {
            said.retain(|_, value| !value.is_null());
        }
        said.to_string()
    }

    fn said_capabilities(&self) -> BTreeMap<String, String> {
        self.capabilities.iter().map(|(name, kind)| (name.clone(), kind.word().to_owned())).collect()
    }

    /// Returns the part of the profile that the history keeps. `masked` masks values that are not public.
    pub fn seen(&self, masked: impl Fn(&str, &str) -> String) -> TargetProfile {
        let said = |table: &BTreeMap<String, String>| {
            table.iter().map(|(name, text)| (name.clone(), masked(name, text))).collect()
        };
        TargetProfile {
            choices: self.choices.clone(),
            capabilities: self.said_capabilities(),
            rejected_is_refusal: self.rejected_is_refusal,
            test_key: !self.own_key,
            paths: said(&self.paths),
            values: said(&self.values),
            certificate_sha256: digest::sha256(self.certificate.as_bytes()),
        }
    }

    /// Returns a profile for judging a history as its own profile did. It names no target.
    pub(crate) fn recorded(seen: &TargetProfile, spec: &ProfileSpec) -> Self {
        Self {
            name: "a record".to_owned(),
            base_url: "http://127.0.0.1".to_owned(),
            values: seen.values.clone(),
            public: spec.public(seen.values.keys().map(String::as_str)),
            paths: seen.paths.clone(),
            choices: seen.choices.clone(),
            capabilities: seen
                .capabilities
                .iter()
                .map(|(name, word)| (name.clone(), Offered::of_word(word)))
                .collect(),
            rejected_is_refusal: seen.rejected_is_refusal,
            own_key: !seen.test_key,
            ..Self::default()
        }
    }

    /// Returns the host and port of the base URL.
    pub fn host(&self) -> (String, u16) {
        host(&self.base_url)
    }

    /// Returns the host and port of the proxy in the profile.
    pub fn proxy_host(&self) -> Option<(String, u16)> {
        self.proxy.as_deref().map(host)
    }

    /// Returns true if the target is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host().0)
    }

    /// Returns the availability of a capability.
    pub fn capability(&self, name: &str) -> Offered {
        self.capabilities.get(name).copied().unwrap_or(Offered::NotSaid)
    }

    /// Returns the value of `${target.NAME}`.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.values.get(name).map(|text| Value::String(text.clone()))
    }
}

#[cfg(test)]
mod tests;
