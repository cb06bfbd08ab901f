//! The fields of a profile file, and their JSON Schema.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::LazyLock,
};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};
use toml::Spanned;
use xs2aspec_record::{Level, LevelRule, LevelSource};
use xs2aspec_suite::{Strength, Suite};

use super::{Environment, Http, prepare::Prepare};

/// The names of the fields in [`File`], which every profile has, whatever the document.
pub(super) static FIELDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let schema = schemars::schema_for!(File).to_value();
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
});

/// A bank profile: everything that xs2aspec must know about one bank. It contains no secrets, only the files
/// and environment variables that hold them. Paths are relative to this file.
// Unknown fields are allowed here because they may be values that the document defines.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(title = "xs2aspec target profile")]
pub(super) struct File {
    /// Name of the target, shown in every report.
    pub(super) name: Option<String>,
    /// Version of the target, shown in every report.
    pub(super) version: Option<String>,
    /// Contact for the target, shown in every report: a team or a mailbox, not a person.
    pub(super) contact: Option<String>,
    /// Base URL with any prefix, but without the document's `/v1`.
    pub(super) base_url: String,
    /// Paths by operation, if they differ from the document.
    #[serde(default)]
    pub(super) paths: BTreeMap<String, String>,
    /// Decisions of the bank where the document leaves it free. A choice is checked only if it is declared
    /// here.
    #[serde(default)]
    pub(super) choices: BTreeMap<String, String>,
    /// Levels of clauses, if they differ from the defaults: `deny`, `warn` or `note`, by clause id, a prefix
    /// of it, or a pattern with `*`. The last match counts. `warnings = "deny"` turns all warnings into
    /// violations.
    #[serde(default, deserialize_with = "levels")]
    #[schemars(with = "BTreeMap<String, LevelWord>")]
    pub(super) levels: Vec<LevelRule>,
    /// Capabilities of the target.
    #[serde(default)]
    pub(super) capabilities: BTreeMap<String, bool>,
    /// True if a created resource with status RJCT counts as a rejection (default: true).
    pub(super) rejected_is_refusal: Option<bool>,
    /// Signing key and certificate (default: the public test key).
    #[serde(default)]
    pub(super) signing: Pair,
    /// PEM file with the only authorities that may issue the target's TLS certificate (default: those of the
    /// system).
    pub(super) authorities: Option<PathBuf>,
    /// Client certificate for targets that request one.
    #[serde(default)]
    pub(super) tls: Pair,
    /// HTTP version over TLS (default: `1.1`). Cases about the bytes of headers are always sent with 1.1.
    pub(super) http: Option<Http>,
    /// Forward proxy for this target (`http://HOST:PORT`). By default the usual variables apply
    /// (`HTTPS_PROXY`, `NO_PROXY` ..), except for a target on this machine.
    pub(super) proxy: Option<String>,
    /// Additional headers for each request. They are not signed, and are masked in all reports.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Text>,
    /// Deadline for one exchange in milliseconds (default: 10000, maximum: 300000).
    #[schemars(range(min = 1, max = 300_000))]
    pub(super) deadline_ms: Option<u64>,
    /// Timeout for one connection in milliseconds (default: 5000, maximum: 60000).
    #[schemars(range(min = 1, max = 60_000))]
    pub(super) connect_timeout_ms: Option<u64>,
    /// Limits on parallel requests, rates and retries.
    #[serde(default)]
    pub(super) limits: Limit,
    /// Kind of system. Without it, only a loopback address may be tested.
    pub(super) environment: Option<Environment>,
    /// The base URL repeated, to confirm that a production system may be read with `--allow-production`.
    pub(super) confirm_production: Option<String>,
    /// Executables that run first. Their output replaces `${prepare.NAME.KEY}` in this file.
    #[serde(default)]
    pub(super) prepare: Vec<Prepare>,
}

/// A string, or the place of a secret.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Text {
    /// The string itself, which is not secret.
    Plain(String),
    /// The place of the secret.
    Hidden(Hidden),
}

/// The place of a secret.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(super) enum Hidden {
    /// An environment variable.
    Env(String),
    /// A file, without its final line break.
    File(PathBuf),
}

/// A key and its certificate: two PEM files, one PKCS#12 file, or a certificate and a command that signs.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Pair {
    /// PEM file of the private key.
    pub(super) key: Option<PathBuf>,
    /// PEM file of its certificate.
    pub(super) certificate: Option<PathBuf>,
    /// PKCS#12 file with both.
    pub(super) pkcs12: Option<PathBuf>,
    /// Passphrase of the key or of the PKCS#12 file.
    #[serde(default, deserialize_with = "hidden")]
    pub(super) passphrase: Option<Hidden>,
    /// Command that reads the signing string from standard input and prints the RSA-SHA256 signature, for a
    /// key in hardware. Only for `signing`.
    pub(super) command: Option<Vec<String>>,
}

/// Parses a secret's place. The error does not quote the value, which may be the secret itself.
fn hidden<'a, D: Deserializer<'a>>(found: D) -> Result<Option<Hidden>, D::Error> {
    Option::deserialize(found).map_err(|_| {
        D::Error::custom(
            "expected `{ env = \"..\" }` or `{ file = \"..\" }`: a profile must not contain secrets",
        )
    })
}

/// Level of a clause.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum LevelWord {
    /// A violation.
    Deny,
    /// A warning.
    Warn,
    /// Only recorded.
    Note,
}

/// Returns the level rules in the order of the file.
fn levels<'a, D: Deserializer<'a>>(found: D) -> Result<Vec<LevelRule>, D::Error> {
    let table = BTreeMap::<String, Spanned<LevelWord>>::deserialize(found)?;
    let mut rules: Vec<_> =
        table.into_iter().map(|(pattern, word)| (word.span().start, pattern, word)).collect();
    rules.sort_unstable_by_key(|(start, ..)| *start);
    let rule = |(_, pattern, word): (usize, String, Spanned<LevelWord>)| LevelRule {
        pattern,
        level: match word.into_inner() {
            LevelWord::Deny => Level::Deny,
            LevelWord::Warn => Level::Warn,
            LevelWord::Note => Level::Note,
        },
        by: LevelSource::Profile,
    };
    Ok(rules.into_iter().map(rule).collect())
}

/// Limits on requests to the target.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limit {
    /// Maximum number of cases in flight. A lower `--jobs` takes precedence.
    #[schemars(range(min = 1))]
    pub(super) in_flight: Option<usize>,
    /// Maximum number of requests per second, 0.01 or more.
    #[schemars(with = "Option<f64>", range(min = 0.01))]
    pub(super) per_second: Option<Spanned<f64>>,
    /// Maximum number of requests per second by operation, 0.01 or more.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub(super) operations: BTreeMap<String, Spanned<f64>>,
    /// Maximum number of retries for a request that cannot have created anything (default: 2).
    #[schemars(range(max = 10))]
    pub(super) retries: Option<u32>,
    /// Maximum wait that the target may request with `Retry-After`, in seconds (default: 30).
    #[schemars(range(max = 600))]
    pub(super) longest_wait_s: Option<u64>,
    /// Maximum response time in milliseconds. Slower responses are a warning.
    #[schemars(range(min = 1, max = 300_000))]
    pub(super) slow_ms: Option<u64>,
}

/// Returns the JSON Schema of profiles for editors, with the values, capabilities and choices that this suite
/// knows.
pub fn schema(suite: &Suite) -> Value {
    let mut schema = schemars::schema_for!(File).to_value();
    schema["additionalProperties"] = false.into();
    // The parser reads a list, because the order counts.
    schema["properties"]["levels"]["default"] = json!({});
    let text = |says: &str| json!({"type": "string", "description": says});
    let tables = &mut schema["properties"];
    let spec = &suite.spec().profile;
    for (table, says) in &spec.tables {
        tables[table]["description"] = says.as_str().into();
    }
    // Further entries of a list have the same keys as the first one.
    for value in spec.values.iter().filter(|value| value.entry_of.is_none()) {
        let mut steps: Vec<&str> = value.name.split('.').collect();
        let Some(last) = steps.pop() else { continue };
        let mut table = &mut *tables;
        for step in steps {
            table[step]["type"] = "object".into();
            table[step]["additionalProperties"] = false.into();
            table = &mut table[step]["properties"];
        }
        table[last] = text(&value.add);
    }
    for table in spec.lists.keys() {
        let entry = tables[table].take();
        tables[table] = json!({ "anyOf": [entry, { "type": "array", "items": entry }] });
    }
    let capabilities = &mut tables["capabilities"];
    capabilities["additionalProperties"] = false.into();
    for capability in &spec.capabilities {
        let mut says = capability.add.clone();
        if capability.ask.is_some() {
            says.push_str("; tested if not set");
        }
        capabilities["properties"][&capability.name] = json!({"type": "boolean", "description": says});
    }
    let choices = &mut tables["choices"];
    choices["additionalProperties"] = false.into();
    for clause in suite.clauses().values() {
        if let Strength::Choice(choice) = &clause.strength {
            let form = suite.spec().signing.choices.find(&choice.key);
            let known = form.map(|form| format!("; allowed: {}", form.knows)).unwrap_or_default();
            let says = format!("{} Usually `{}`{known} ({}).", clause.says, choice.default, clause.id);
            choices["properties"][&choice.key] = text(&says);
        }
    }
    schema
}
