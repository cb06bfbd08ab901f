//! The target profile: what the suite must know of one bank.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use serde_json::Value;
use xs2aspec_suite::{capability, problem};

/// Test key and certificate that are used where a profile names none. Marked test material, known to everybody.
pub const TEST_KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");
/// The certificate of [`TEST_KEY`].
pub const TEST_CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");

/// What a plain URL is taken to offer: the values that any bank can be given, none of those that it must have prepared.
const ANY_BANK: &str = include_str!("../../../fixtures/targets/any-bank.toml");
/// A commented profile to start from; what it says without comments fits the reference bank on port 8080.
pub const TEMPLATE: &str = include_str!("../../../fixtures/targets/template.toml");
/// The profile of the built-in reference bank.
const REFERENCE: &str = include_str!("../../../fixtures/targets/reference.toml");

/// A target, as its profile describes it.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Name, for reports.
    pub name: String,
    /// Base URL without a slash at its end; any prefix belongs to it.
    pub base_url: String,
    /// Values for `${target.*}` by dotted name.
    pub values: BTreeMap<String, String>,
    /// Paths that differ from the baselines', by operation id.
    pub paths: BTreeMap<String, String>,
    /// Declared choices by the key of their clause.
    pub choices: BTreeMap<String, String>,
    /// What the target offers.
    pub capabilities: BTreeMap<String, Offered>,
    /// Whether a created resource with status RJCT is one of the target's forms of refusal.
    pub rejected_is_refusal: bool,
    /// Private key, PEM.
    pub key: String,
    /// Certificate, PEM.
    pub certificate: String,
    /// Certificates of the only authorities that the target's TLS certificate may come from, PEM; the system's where absent.
    pub authorities: Option<String>,
    /// Certificate and key that are shown in the TLS handshake where the target asks for them, PEM.
    pub client_certificate: Option<(String, String)>,
    /// Header fields that each request has besides, unsigned: what a gateway in front of the bank wants. Masked like secrets.
    pub headers: BTreeMap<String, String>,
    /// Longest time that one exchange may take.
    pub deadline: Duration,
    /// Whether payments are real there, so that nothing may be sent that could make one.
    pub is_production: bool,
    /// What the profile says of the kind of target: `sandbox` or `production`.
    pub environment: Option<Environment>,
    /// The base URL, written a second time by whoever wants a production target to be read.
    pub confirm_production: Option<String>,
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// A test system: what is made there is worth nothing.
    Sandbox,
    /// Payments are real.
    Production,
}

/// Whether a target offers a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It is asked before the run.
    Ask,
}

/// Why a profile cannot be used. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The file, or one it names.
    #[error("{file}: cannot be read: {source}")]
    File {
        /// Path.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Not TOML, an unknown field, a missing one, a wrong type.
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        /// Path.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What was expected and what was found, with the near name.
        message: String,
    },
    /// A value that cannot be.
    #[error("{file}: {message}")]
    Value {
        /// Path.
        file: String,
        /// What was expected and what was found.
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    name: Option<String>,
    base_url: String,
    session_id: Option<String>,
    redirect_uri: Option<String>,
    #[serde(default)]
    x_accept_fix: BTreeMap<String, String>,
    #[serde(default)]
    psu: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    accounts: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    transaction: BTreeMap<String, String>,
    #[serde(default)]
    pending_payment: BTreeMap<String, String>,
    #[serde(default)]
    rejected_payment: BTreeMap<String, String>,
    #[serde(default)]
    paths: BTreeMap<String, String>,
    #[serde(default)]
    choices: BTreeMap<String, String>,
    #[serde(default)]
    capabilities: BTreeMap<String, bool>,
    rejected_is_refusal: Option<bool>,
    #[serde(default)]
    signing: Signing,
    authorities: Option<PathBuf>,
    #[serde(default)]
    tls: Signing,
    #[serde(default)]
    headers: BTreeMap<String, Secret>,
    deadline_ms: Option<u64>,
    environment: Option<Environment>,
    confirm_production: Option<String>,
}

/// A text, or the name of the environment variable that holds it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Secret {
    Text(String),
    Variable { env: String },
}

/// Files of a key and its certificate.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Signing {
    key: Option<PathBuf>,
    certificate: Option<PathBuf>,
}

impl Profile {
    /// The profile of the built-in reference bank at this address.
    pub fn reference(base_url: &str) -> Result<Self, ProfileError> {
        let mut profile = Self::parse("fixtures/targets/reference.toml", REFERENCE, None)?;
        base_url.clone_into(&mut profile.base_url);
        Ok(profile)
    }

    /// What can be asked of any bank at this URL.
    pub fn of_url(url: &str) -> Result<Self, ProfileError> {
        let mut profile = Self::parse("fixtures/targets/any-bank.toml", ANY_BANK, None)?;
        profile.base_url = checked_url("--target", url)?;
        profile.name.clone_from(&profile.base_url);
        Ok(profile)
    }

    /// Reads a profile. Paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        Self::parse(&path.display().to_string(), &text(path)?, path.parent())
    }

    fn parse(name: &str, text: &str, folder: Option<&Path>) -> Result<Self, ProfileError> {
        let file: File = toml::from_str(text).map_err(|error| syntax(name, text, &error))?;
        let at_home = |path: &PathBuf| self::text(&folder.unwrap_or(Path::new("")).join(path));
        let pair = |table: &str, files: &Signing| match (&files.key, &files.certificate) {
            (Some(key), Some(certificate)) => Ok(Some((at_home(key)?, at_home(certificate)?))),
            (None, None) => Ok(None),
            _ => Err(value(name, format!("`[{table}]` wants both `key` and `certificate`, or neither"))),
        };
        let (key, certificate) =
            pair("signing", &file.signing)?.unwrap_or((TEST_KEY.to_owned(), TEST_CERTIFICATE.to_owned()));
        let client_certificate = pair("tls", &file.tls)?.map(|(key, certificate)| (certificate, key));
        Ok(Self {
            name: file.name.clone().unwrap_or_else(|| file.base_url.clone()),
            base_url: checked_url(name, &file.base_url)?,
            values: values(name, &file)?,
            paths: file.paths.clone(),
            choices: file.choices.clone(),
            capabilities: capabilities(name, &file)?,
            rejected_is_refusal: file.rejected_is_refusal.unwrap_or(true),
            key,
            certificate,
            authorities: file.authorities.as_ref().map(at_home).transpose()?,
            client_certificate,
            headers: headers(name, &file)?,
            deadline: Duration::from_millis(file.deadline_ms.unwrap_or(10_000).max(1)),
            is_production: false,
            environment: file.environment,
            confirm_production: file.confirm_production,
        })
    }
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, ProfileError> {
    std::fs::read_to_string(path)
        .map_err(|source| ProfileError::File { file: path.display().to_string(), source })
}

fn value(file: &str, message: impl Into<String>) -> ProfileError {
    ProfileError::Value { file: file.to_owned(), message: message.into() }
}

pub(crate) fn syntax(file: &str, text: &str, error: &toml::de::Error) -> ProfileError {
    let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
    let mut message = error.message().lines().next().unwrap_or_default().to_owned();
    // The parser lists what it knows between backquotes; the near name is among them.
    let mut quoted = message.split('`').skip(1).step_by(2);
    if let (true, Some(found)) = (message.starts_with("unknown field"), quoted.next())
        && let Some(near) = problem::nearest(found, quoted)
    {
        message = format!("unknown field `{found}`; did you mean `{near}`?");
    }
    ProfileError::Syntax {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before.chars().rev().take_while(|letter| *letter != '\n').count() + 1,
        message,
    }
}

fn checked_url(file: &str, text: &str) -> Result<String, ProfileError> {
    let wrong = |why: String| value(file, format!("`{text}` is no base URL: {why}"));
    let url = reqwest::Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("expected `http://HOST..` or `https://HOST..`".into()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a query or a fragment".into()));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Every value under its dotted name; one that no request uses is a mistake.
fn values(name: &str, file: &File) -> Result<BTreeMap<String, String>, ProfileError> {
    let mut values = BTreeMap::new();
    let fix = ["basket", "ncbct", "periodic", "transaction"].map(|operation| (operation, "amount-as-string"));
    for (operation, usual) in fix {
        values.insert(format!("x-accept-fix.{operation}"), usual.to_owned());
    }
    let tables = [("psu", &file.psu), ("accounts", &file.accounts)];
    let nested = tables.into_iter().flat_map(|(table, rows)| {
        rows.iter().flat_map(move |(row, members)| {
            members.iter().map(move |(key, text)| (format!("{table}.{row}.{key}"), text.clone()))
        })
    });
    let flat = [
        ("x-accept-fix", &file.x_accept_fix),
        ("transaction", &file.transaction),
        ("pending-payment", &file.pending_payment),
        ("rejected-payment", &file.rejected_payment),
    ];
    let flat = flat.into_iter().flat_map(|(table, members)| {
        members.iter().map(move |(key, text)| (format!("{table}.{key}"), text.clone()))
    });
    let single = [("session-id", &file.session_id), ("redirect-uri", &file.redirect_uri)];
    let single = single.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.clone()?)));
    for (key, text) in nested.chain(flat).chain(single) {
        if capability::find(&capability::VALUES, &key).is_none() {
            return Err(unknown(name, "value", &key, capability::VALUES.iter().map(|offer| offer.name)));
        }
        values.insert(key, text);
    }
    Ok(values)
}

/// The further header fields, with the values of environment variables.
fn headers(name: &str, file: &File) -> Result<BTreeMap<String, String>, ProfileError> {
    let of = |(header, secret): (&String, &Secret)| {
        let text = match secret {
            Secret::Text(text) => text.clone(),
            Secret::Variable { env } => std::env::var(env).map_err(|_| {
                value(
                    name,
                    format!("`[headers] {header}` is in the environment variable `{env}`, which is not set"),
                )
            })?,
        };
        let fits = reqwest::header::HeaderName::from_bytes(header.as_bytes()).is_ok()
            && reqwest::header::HeaderValue::from_str(&text).is_ok();
        if fits {
            Ok((header.clone(), text))
        } else {
            Err(value(name, format!("`[headers] {header}` is no header field (RFC 9110 section 5)")))
        }
    };
    file.headers.iter().map(of).collect()
}

fn capabilities(name: &str, file: &File) -> Result<BTreeMap<String, Offered>, ProfileError> {
    let names = || capability::CAPABILITIES.iter().map(|offer| offer.name);
    if let Some(wrong) = file.capabilities.keys().find(|key| !names().any(|known| known == *key)) {
        return Err(unknown(name, "capability", wrong, names()));
    }
    Ok(names()
        .map(|capability| {
            let offered = match file.capabilities.get(capability) {
                Some(true) => Offered::Yes,
                None if matches!(capability, "sandbox" | "basket") => Offered::Ask,
                Some(false) | None => Offered::No,
            };
            (capability.to_owned(), offered)
        })
        .collect())
}

fn unknown<'a>(file: &str, what: &str, found: &'a str, known: impl Iterator<Item = &'a str>) -> ProfileError {
    let near =
        problem::nearest(found, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    value(file, format!("unknown {what} `{found}`{near}"))
}

impl Profile {
    /// Takes aim. Payments are real side effects: they are made on this machine, or where the profile says that the target is a
    /// sandbox. Anything else is only read, and that only if the caller allows it and the profile confirms the address.
    ///
    /// An error is one sentence that names the key to change; nothing may be sent then.
    pub fn aim(&mut self, allow_production: bool) -> Result<(), String> {
        let (host, _) = self.host();
        if self.is_loopback() || self.environment == Some(Environment::Sandbox) {
            return Ok(());
        }
        if !allow_production {
            return Err(format!(
                "{host} is not this machine, and nothing says that its payments are worth nothing: nothing was sent. For a test \
                 system, say `environment = \"sandbox\"` in its profile; to read a production system, give --allow-production"
            ));
        }
        if self.environment != Some(Environment::Production) {
            return Err(format!(
                "--allow-production reads {host} only if its profile says `environment = \"production\"`: nothing was sent"
            ));
        }
        if self.confirm_production.as_deref().map(|text| text.trim_end_matches('/')) != Some(&self.base_url) {
            return Err(format!(
                "--allow-production reads {host} only if its profile says `confirm-production = \"{}\"`: nothing was sent",
                self.base_url
            ));
        }
        self.is_production = true;
        Ok(())
    }

    /// Host and port of the base URL.
    pub fn host(&self) -> (String, u16) {
        let url = reqwest::Url::parse(&self.base_url).ok();
        let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
        let port = url.as_ref().and_then(reqwest::Url::port_or_known_default).unwrap_or_default();
        (host.trim_matches(['[', ']']).to_owned(), port)
    }

    /// Whether the target is on this machine.
    pub fn is_loopback(&self) -> bool {
        let (host, _) = self.host();
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// The value of `${target.NAME}`.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.values.get(name).map(|text| Value::String(text.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Profile::parse("bank.toml", text, None).unwrap_err().to_string()
    }

    #[test]
    fn the_shipped_profiles_can_be_read() {
        let reference = Profile::reference("http://127.0.0.1:1").unwrap();
        assert_eq!(reference.capabilities["basket"], Offered::Yes);
        let any = Profile::of_url("http://127.0.0.1:1/prefix/").unwrap();
        assert_eq!(
            (any.base_url.as_str(), any.capabilities["sandbox"]),
            ("http://127.0.0.1:1/prefix", Offered::Ask)
        );
        assert!(any.value("transaction.account-id").is_none());
        let template = Profile::parse("template.toml", TEMPLATE, None).unwrap();
        assert_eq!(template.environment, Some(Environment::Sandbox));
        // Each line that is commented out is one that a profile may have.
        let lines = TEMPLATE.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.starts_with('[') || rest.contains(" = ") => rest,
            _ => line,
        });
        let whole = lines.collect::<Vec<_>>().join("\n").replace("{ env = \"BANK_API_KEY\" }", "\"key\"");
        let missing = Profile::parse("template.toml", &whole, None).unwrap_err().to_string();
        assert!(missing.contains("signing.key.pem: cannot be read"), "{missing}");
        for offer in &capability::VALUES {
            let (table, key) = offer.name.rsplit_once('.').unwrap_or(("", offer.name));
            assert!(whole.contains(table) && whole.contains(key), "the template lacks {}", offer.name);
        }
    }

    #[test]
    fn only_sandboxes_and_this_machine_are_aimed_at() {
        let aimed = |lines: &str, allow| {
            let mut profile = Profile::parse("bank.toml", lines, None).unwrap();
            profile.aim(allow).map(|()| profile.is_production)
        };
        for here in ["127.0.0.1:1", "localhost", "[::1]:8080"] {
            assert_eq!(aimed(&format!("base-url = \"http://{here}\""), false), Ok(false));
        }
        let bank = "base-url = \"https://bank.example/xs2a/\"\n";
        let with = |more: &str| format!("{bank}{more}");
        assert_eq!(aimed(&with("environment = \"sandbox\""), false), Ok(false));
        for (more, allow, key) in [
            ("", false, "`environment = \"sandbox\"`"),
            ("environment = \"production\"", false, "--allow-production"),
            ("", true, "`environment = \"production\"`"),
            ("environment = \"production\"", true, "`confirm-production = \"https://bank.example/xs2a\"`"),
            ("environment = \"production\"\nconfirm-production = \"yes\"", true, "`confirm-production = "),
        ] {
            let error = aimed(&with(more), allow).unwrap_err();
            assert!(error.contains(key) && error.contains("nothing was sent"), "{more}: {error}");
        }
        let confirmed = "environment = \"production\"\nconfirm-production = \"https://bank.example/xs2a\"";
        assert_eq!(aimed(&with(confirmed), true), Ok(true));
    }

    #[test]
    fn each_mistake_names_itself_and_the_near_name() {
        let cases = [
            (
                "base-url = \"http://a\"\nnmae = \"x\"",
                "bank.toml:2:1: unknown field `nmae`; did you mean `name`?",
            ),
            ("name = \"x\"", "bank.toml:1:1: missing field `base-url`"),
            ("base-url = 3", "bank.toml:1:12: invalid type: integer `3`, expected a string"),
            ("base-url = \"ftp://a\"", "bank.toml: `ftp://a` is no base URL"),
            ("base-url = \"a\"", "is no base URL"),
            ("base-url = \"http://a?b\"", "has a query"),
            ("base-url = \"http://a\"\n[psu.privat]\nid = \"x\"", "did you mean `psu.private.id`?"),
            ("base-url = \"http://a\"\n[capabilities]\nbaskets = true", "did you mean `basket`?"),
            ("base-url = \"http://a\"\nenvironment = \"test\"", "expected `sandbox` or `production`"),
            ("base-url = \"http://a\"\n[signing]\nkey = \"k.pem\"", "wants both"),
            (
                "base-url = \"http://a\"\n[signing]\nkey = \"none.pem\"\ncertificate = \"none.pem\"",
                "none.pem: cannot be read",
            ),
            ("base-url = \"http://a\"\n[tls]\ncertificate = \"c.pem\"", "`[tls]` wants both"),
            (
                "base-url = \"http://a\"\n[headers]\nX-Key = { env = \"XS2ASPEC_NOT_SET\" }",
                "which is not set",
            ),
            ("base-url = \"http://a\"\n[headers]\n\"X Key\" = \"a\"", "is no header field"),
        ];
        for (text, expected) in cases {
            assert!(error(text).contains(expected), "{text}\n{}", error(text));
        }
    }
}
