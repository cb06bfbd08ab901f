//! The target profile: what the suite must know of one bank.

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

/// Test key and certificate that are used where a profile names none. Marked test material, known to
/// everybody.
pub const TEST_KEY: &str = include_str!("../../../../fixtures/keys/tpp.key.pem");
/// The certificate of [`TEST_KEY`].
pub const TEST_CERTIFICATE: &str = include_str!("../../../../fixtures/keys/tpp.cert.pem");

/// The profile of the built-in reference bank.
const REFERENCE: &str = include_str!("../../../../fixtures/targets/reference.toml");

/// A target, as its profile describes it.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// Name, for reports.
    pub name: String,
    /// Version, for reports.
    pub version: Option<String>,
    /// Who answers for it, for reports.
    pub contact: Option<String>,
    /// Base URL without a slash at its end; any prefix belongs to it.
    pub base_url: String,
    /// Values for `${target.*}` by dotted name.
    pub values: BTreeMap<String, String>,
    /// Names of the values that may be seen in reports.
    pub public: BTreeSet<String>,
    /// Paths that differ from the baselines', by operation id.
    pub paths: BTreeMap<String, String>,
    /// Declared choices by the key of their clause.
    pub choices: BTreeMap<String, String>,
    /// What a breach of a clause does, where it is not what its strength says: what the profile says, then
    /// the command line.
    pub levels: Vec<LevelRule>,
    /// What the target offers; nothing of what the profile does not say and the target is not asked.
    pub capabilities: BTreeMap<String, Offered>,
    /// Whether a created resource with status RJCT is one of the target's forms of refusal.
    pub rejected_is_refusal: bool,
    /// Whether the target is known to know the key: the profile names it. The test key is known to the
    /// reference bank alone.
    pub own_key: bool,
    /// What signs.
    pub key: Key,
    /// Certificate, PEM.
    pub certificate: String,
    /// Certificates of the only authorities that the target's TLS certificate may come from, PEM; the
    /// system's where absent.
    pub authorities: Option<String>,
    /// Certificate and key that are shown in the TLS handshake where the target asks for them, PEM.
    pub client_certificate: Option<(String, String)>,
    /// Version of HTTP over TLS.
    pub http: Http,
    /// Forward proxy, in place of the one that the usual variables name.
    pub proxy: Option<String>,
    /// Header fields that each request has besides, unsigned: what a gateway in front of the bank wants.
    /// Masked like secrets.
    pub headers: BTreeMap<String, String>,
    /// Longest time that one exchange may take.
    pub deadline: Duration,
    /// Longest time until a connection is there.
    pub connect_timeout: Duration,
    /// How much the target is asked.
    pub limits: Limits,
    /// Texts that `[[prepare]]` printed, which may be secrets.
    pub prepared: Vec<String>,
    /// What the profile says of the kind of target: `sandbox` or `production`.
    pub environment: Option<Environment>,
    /// The base URL, written a second time by whoever wants a production target to be read.
    pub confirm_production: Option<String>,
}

/// What signs the requests.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// A private key, PEM without a passphrase.
    Pem(String),
    /// A command, for a key that is elsewhere.
    Command {
        /// Executable and arguments.
        command: Vec<String>,
        /// Folder in which it runs.
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

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 (RFC 9113) where the target agrees to it in the TLS handshake, HTTP/1.1 elsewhere.
    #[serde(rename = "2")]
    Two,
}

/// How much a target is asked at once, and how often again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Cases in flight at once.
    pub in_flight: Option<usize>,
    /// Shortest time between two requests.
    pub interval: Option<Duration>,
    /// Shortest time between two requests of an operation.
    pub intervals: BTreeMap<String, Duration>,
    /// How often a request is sent again where nothing can have been made by it.
    pub retries: u32,
    /// Longest time that the target may ask to wait.
    pub longest_wait: Duration,
    /// Longest time that an answer may take before it is a warning, in milliseconds.
    pub slow_ms: Option<u64>,
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// A test system: what is made there is worth nothing.
    Sandbox,
    /// Payments are real.
    Production,
}

impl Environment {
    /// As a profile says it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Production => "production",
        }
    }
}

/// Whether a target offers a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// It does.
    Yes,
    /// It does not, as the profile says.
    No,
    /// It is asked before the run.
    Ask,
    /// Its profile does not say.
    NotSaid,
}

impl Offered {
    /// As a record says it.
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "true",
            Self::No => "false",
            Self::Ask => "ask",
            Self::NotSaid => "not said",
        }
    }

    /// Reads the word of a record.
    fn of_word(word: &str) -> Self {
        let all = [Self::Yes, Self::No, Self::Ask];
        all.into_iter().find(|offered| offered.word() == word).unwrap_or(Self::NotSaid)
    }
}

impl Profile {
    /// The profile of the built-in reference bank at this address.
    pub fn reference(base_url: &str) -> Result<Self, ProfileError> {
        let mut profile =
            file::parse("fixtures/targets/reference.toml", REFERENCE, None, ProfileSpec::embedded())?;
        base_url.clone_into(&mut profile.base_url);
        profile.own_key = true;
        Ok(profile)
    }

    /// Reads a profile. Paths in it are relative to its folder. Runs what it prepares.
    pub fn read(path: &Path, spec: &ProfileSpec) -> Result<Self, ProfileError> {
        file::parse(&path.display().to_string(), &text(path)?, path.parent(), spec)
    }

    /// What signs, with its certificate. A key of another certificate is found here.
    pub fn signer(&self) -> Result<Signer, SignerError> {
        match &self.key {
            Key::Pem(key) => Signer::from_pem(key, &self.certificate),
            Key::Command { command, folder } => {
                Signer::external(command.clone(), folder.clone(), &self.certificate)
            }
        }
    }
}

/// Host and port of a URL.
fn host(url: &str) -> (String, u16) {
    let url = url::Url::parse(url).ok();
    let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
    let port = url.as_ref().and_then(url::Url::port_or_known_default).unwrap_or_default();
    (host.trim_matches(['[', ']']).to_owned(), port)
}

/// Whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, ProfileError> {
    xs2aspec_record::inputs::read_to_string(path)
        .map_err(|source| ProfileError::File { file: path.display().to_string(), source })
}

impl Profile {
    /// SHA-256 over what decides how the target is asked and judged, in hex. Keys, certificates and the
    /// address, which may be another for each part of a run, are not in it. Of values that a record masks it
    /// has the names alone: a hash of a value would confirm a guess.
    pub fn sha256(&self) -> String {
        digest::sha256(self.canonical().as_bytes())
    }

    /// What the digest is made of: JSON without blanks, members in the order of their names. Another version
    /// writes the same.
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

    /// What a record keeps of the profile; `masked` hides the values of these names that are not public.
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

    /// A profile that judges as the recorded one did, and asks nobody.
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

    /// Host and port of the base URL.
    pub fn host(&self) -> (String, u16) {
        host(&self.base_url)
    }

    /// Host and port of the proxy that the profile names.
    pub fn proxy_host(&self) -> Option<(String, u16)> {
        self.proxy.as_deref().map(host)
    }

    /// Whether the target is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host().0)
    }

    /// Whether the target offers a capability.
    pub fn capability(&self, name: &str) -> Offered {
        self.capabilities.get(name).copied().unwrap_or(Offered::NotSaid)
    }

    /// The value of `${target.NAME}`.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.values.get(name).map(|text| Value::String(text.clone()))
    }
}

#[cfg(test)]
mod tests;
