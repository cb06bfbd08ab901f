//! What a profile may say: the fields of its file, and the JSON Schema of them.

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

/// What every profile says, whatever the spec: the fields of [`File`].
pub(super) static FIELDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let schema = schemars::schema_for!(File).to_value();
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
});

/// What xs2aspec must know of one bank. Secrets stand in files and environment variables, never here; paths
/// are relative to this file.
// What it does not have is for the values that a spec knows.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(title = "xs2aspec target profile")]
pub(super) struct File {
    /// Name of the target, in every report.
    pub(super) name: Option<String>,
    /// Version of the target, in every report.
    pub(super) version: Option<String>,
    /// Who answers for the target, in every report: a team or a mailbox, no person.
    pub(super) contact: Option<String>,
    /// URL with any prefix, without the document's `/v1`.
    pub(super) base_url: String,
    /// Path by operation where it is not the document's.
    #[serde(default)]
    pub(super) paths: BTreeMap<String, String>,
    /// What the bank decided where the document leaves it free; asserted only when said.
    #[serde(default)]
    pub(super) choices: BTreeMap<String, String>,
    /// What a breach of a clause does where that is not what its strength says: `deny`, `warn` or `note`, by
    /// the id of the clause, a beginning of it, or a text with `*`; of several the last one counts.
    /// `warnings = "deny"` makes violations of all warnings.
    #[serde(default, deserialize_with = "levels")]
    #[schemars(with = "BTreeMap<String, LevelWord>")]
    pub(super) levels: Vec<LevelRule>,
    /// What the target offers.
    #[serde(default)]
    pub(super) capabilities: BTreeMap<String, bool>,
    /// Whether a created resource with status RJCT is one of the bank's forms of refusal; true unless said.
    pub(super) rejected_is_refusal: Option<bool>,
    /// What signs the requests; without it, the test key that everybody knows.
    #[serde(default)]
    pub(super) signing: Pair,
    /// PEM file of the only authorities that the target's TLS certificate may come from; the system's where
    /// absent.
    pub(super) authorities: Option<PathBuf>,
    /// What is shown where the target asks for a client certificate.
    #[serde(default)]
    pub(super) tls: Pair,
    /// Version of HTTP over TLS; `1.1` unless said. Cases about the bytes of headers are always sent with
    /// 1.1.
    pub(super) http: Option<Http>,
    /// Forward proxy (`http://HOST:PORT`) for this target; the usual variables (`HTTPS_PROXY`, `NO_PROXY` ..)
    /// count where absent, and not for a target on this machine.
    pub(super) proxy: Option<String>,
    /// Further header fields of each request, unsigned and masked in all reports.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Text>,
    /// Longest time for one exchange, in milliseconds; 10000 unless said, 300000 at most.
    #[schemars(range(min = 1, max = 300_000))]
    pub(super) deadline_ms: Option<u64>,
    /// Longest time for one connection to be there, in milliseconds; 5000 unless said, 60000 at most.
    #[schemars(range(min = 1, max = 60_000))]
    pub(super) connect_timeout_ms: Option<u64>,
    /// How much the target is asked at once, and how often again.
    #[serde(default)]
    pub(super) limits: Limit,
    /// Whether what is made there is worth nothing. Without it only a loopback address is a target.
    pub(super) environment: Option<Environment>,
    /// The base URL once more, for a production system that is read with `--allow-production`.
    pub(super) confirm_production: Option<String>,
    /// Executables that are run first; `${prepare.NAME.KEY}` in this file stands for what they print.
    #[serde(default)]
    pub(super) prepare: Vec<Prepare>,
}

/// A text, or where it is.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Text {
    /// The text itself, which is no secret.
    Plain(String),
    /// Where it is.
    Hidden(Hidden),
}

/// Where a secret is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(super) enum Hidden {
    /// In this environment variable.
    Env(String),
    /// In this file, without the end of its last line.
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
    /// PKCS#12 file of both.
    pub(super) pkcs12: Option<PathBuf>,
    /// Passphrase of the key or of the PKCS#12 file.
    #[serde(default, deserialize_with = "hidden")]
    pub(super) passphrase: Option<Hidden>,
    /// Executable that gets the signing string on its standard input and prints the RSA-SHA256 signature, for
    /// a key in hardware; only for `signing`.
    pub(super) command: Option<Vec<String>>,
}

/// A secret that is not where it should be is not quoted.
fn hidden<'a, D: Deserializer<'a>>(found: D) -> Result<Option<Hidden>, D::Error> {
    Option::deserialize(found).map_err(|_| {
        D::Error::custom("expected `{ env = \"..\" }` or `{ file = \"..\" }`: no secret stands in a profile")
    })
}

/// What a breach of a clause does.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum LevelWord {
    /// It is a violation.
    Deny,
    /// It is a warning.
    Warn,
    /// It is recorded.
    Note,
}

/// Returns levels in the order in which they stand.
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

/// How much the target is asked.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limit {
    /// Cases in flight at once, where `--jobs` does not say fewer.
    #[schemars(range(min = 1))]
    pub(super) in_flight: Option<usize>,
    /// Requests in a second, 0.01 or more.
    #[schemars(with = "Option<f64>", range(min = 0.01))]
    pub(super) per_second: Option<Spanned<f64>>,
    /// Requests in a second by operation, 0.01 or more.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub(super) operations: BTreeMap<String, Spanned<f64>>,
    /// How often a request is sent again where nothing can have been made by it; 2 unless said.
    #[schemars(range(max = 10))]
    pub(super) retries: Option<u32>,
    /// Longest time that the target may ask to wait (`Retry-After`), in seconds; 30 unless said.
    #[schemars(range(max = 600))]
    pub(super) longest_wait_s: Option<u64>,
    /// Longest time that an answer may take, in milliseconds; one that takes longer is a warning.
    #[schemars(range(min = 1, max = 300_000))]
    pub(super) slow_ms: Option<u64>,
}

/// The JSON Schema of profiles, for an editor: with the values, capabilities and choices that this suite
/// knows, and what they mean.
pub fn schema(suite: &Suite) -> Value {
    let mut schema = schemars::schema_for!(File).to_value();
    schema["additionalProperties"] = false.into();
    // It is read as a list, since the order counts.
    schema["properties"]["levels"]["default"] = json!({});
    let text = |says: &str| json!({"type": "string", "description": says});
    let tables = &mut schema["properties"];
    let spec = &suite.spec().profile;
    for (table, says) in &spec.tables {
        tables[table]["description"] = says.as_str().into();
    }
    // Further entries of a list have what its first one has.
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
            says.push_str("; the target is asked where nothing is said");
        }
        capabilities["properties"][&capability.name] = json!({"type": "boolean", "description": says});
    }
    let choices = &mut tables["choices"];
    choices["additionalProperties"] = false.into();
    for clause in suite.clauses().values() {
        if let Strength::Choice(choice) = &clause.strength {
            let form = suite.spec().signing.choices.find(&choice.key);
            let known = form.map(|form| format!("; knows {}", form.knows)).unwrap_or_default();
            let says = format!("{} Usually `{}`{known} ({}).", clause.says, choice.default, clause.id);
            choices["properties"][&choice.key] = text(&says);
        }
    }
    schema
}
