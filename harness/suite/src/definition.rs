//! The shape of case files and baselines, as an author writes them. The JSON Schema for editors is made from
//! these types.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use xs2aspec_spec::yaml::At;

/// One case for each form of each place (`fixtures/spec/requests.yaml`): mistakes and lawful values. The
/// rules of the place say what must come back, and which clause says so.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FormGroup {
    /// What the places begin with: `body/`, `header/`, `query/`, `signing`, or nothing for the request as a
    /// whole; every place where it is left out.
    pub at: Option<String>,
    /// How the forms are met.
    #[serde(default)]
    pub met: Met,
    /// Whether members of members are places too.
    #[serde(default = "nested")]
    pub nested: bool,
    /// Operations; all of them where nothing is said.
    #[serde(default)]
    pub operations: Vec<String>,
}

fn nested() -> bool {
    true
}

/// How forms are met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Met {
    /// Each alone in a request.
    #[default]
    Alone,
    /// Mistakes beside the lawful forms of each of the surroundings.
    Surrounded,
    /// Lawful forms of all places at once, so that every two of them are in one request.
    Paired,
}

/// One case, multiplied by its axes. Every text may hold placeholders: `${axis}`, `${axis.column}`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Group {
    /// Id of the clause that the cases show.
    pub clause: String,
    /// What follows the clause in the case's id; by default the names of the axes' rows, joined with `/`.
    pub name: Option<String>,
    /// Why the case is as it is, where that is not plain.
    pub about: Option<String>,
    /// The lists that the case is multiplied by, in the order in which their names stand in the id.
    #[serde(default)]
    pub axes: IndexMap<String, At<Axis>>,
    /// Axes that go forward together instead of being multiplied; each list names axes with equally many
    /// rows.
    #[serde(default)]
    pub zip: Vec<Vec<String>>,
    /// Name of the valid request that the case starts from (`fixtures/requests/NAME.yaml`).
    pub baseline: String,
    /// Requests that prepare the judged one; they replace those of the baseline.
    pub before: Option<Vec<Step>>,
    /// What is different from the baseline, in order.
    #[serde(default)]
    pub change: Vec<At<Change>>,
    /// How the request is signed, where not as the document says.
    #[serde(default)]
    pub signing: Signing,
    /// Id of the accepted case whose request is the valid twin of this one; the plain request of its
    /// operation where nothing is said, and `none` for that plain request itself.
    pub control: Option<String>,
    /// What the case comes to when its control is refused: `inconclusive`, or `observed` where the control
    /// itself is the bank's choice.
    #[serde(default)]
    pub if_control_refused: IfControlRefused,
    /// Capabilities of the target without which the case does not apply.
    #[serde(default)]
    pub needs: Vec<String>,
    /// From which depth on the cases run: `standard`, or `exhaustive` for what takes long.
    #[serde(default)]
    pub depth: Depth,
    /// What must come back: `accepted`, `refused`, `observed`, or one of these with conditions.
    #[schemars(schema_with = "expectation_schema")]
    pub expect: At<Value>,
}

/// A list that a case is multiplied by: written out as `rows` or `values`, or taken from a table, from the
/// places of the spec or from the entries of a profile.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Axis {
    /// Named rows. A row that is a mapping may hold `when: {axis.column: VALUE or [VALUES]}` and then exists
    /// only there.
    pub rows: Option<IndexMap<String, At<Value>>>,
    /// Scalars that are their own names. They may hold placeholders of axes: `${place.most+1}`.
    pub values: Option<Vec<Value>>,
    /// Name of a table (`fixtures/tables/NAME.csv`); each line is a row, each column a text.
    pub table: Option<String>,
    /// The places of requests (`fixtures/spec/requests.yaml`) whose rows say this: name and value, list of
    /// values, or `any`. Its columns are what the row says: `operation`, `at`, `clause`, ..
    pub places: Option<IndexMap<String, Value>>,
    /// The further entries of a table of which a profile may have several: `2`, `3`, ..
    pub entries: Option<Entries>,
    /// Which lines of the table: column and value, or column and list of values.
    #[serde(default, rename = "where")]
    pub filter: IndexMap<String, Value>,
    /// Column of the table that names the row; by default the first.
    pub name: Option<String>,
}

/// Further entries of a table of a profile, as rows. There are as many as `fixtures/spec/profile.yaml` says,
/// and more where a profile has more.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entries {
    /// Name of the table.
    pub of: String,
    /// Columns of a row, each with the key of the entry whose value it is.
    pub columns: IndexMap<String, String>,
}

/// One difference from a baseline. Exactly one of the verbs, with `to` where it needs a value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Change {
    /// Gives a header, query parameter, body member or the path this value, adding it if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Takes a header, query parameter or body member away; it must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove: Option<String>,
    /// Sends a header or body member a second time, with this value; it must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<String>,
    /// Writes the name of a header in another way; it must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
    /// Sends these characters, or `{$bytes: ..}` or `{$gzip: ..}`, as the body, whatever they are. `${body}`
    /// in them is the body so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub to: Option<Value>,
}

/// `to: null` sets null; only a missing `to` is none.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// How a request is signed, where not as the document says. Texts may hold placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Signing {
    /// Name to state as algorithm. The signature is RSA-SHA256 whatever it says.
    pub algorithm: Option<String>,
    /// Header names to sign and to state, in this order.
    pub headers: Option<Vec<String>>,
    /// Header names to state, whatever is signed.
    pub stated_headers: Option<Vec<String>>,
    /// Header values to sign in place of those that are sent, as if they were changed after signing. A header
    /// that is not sent is signed and stated too.
    pub signed_as: IndexMap<String, String>,
    /// Text to sign in place of the signing string, so that the signature belongs to another request.
    pub signing_string: Option<String>,
    /// Text, or a function that gives one, to state as keyId.
    pub key_id: Option<Value>,
    /// Text to state as signature.
    pub signature: Option<String>,
    /// The hash to sign with, whatever the algorithm says.
    pub hash: Option<SigningHash>,
    /// Turns over the last bit of the signature.
    pub corrupted: bool,
    /// How the signature is written, in place of base64.
    pub written: Option<Written>,
    /// Ends the signing string with a line feed, which stands between its lines alone
    /// (draft-cavage-http-signatures-10, section 2.3).
    pub line_feed: bool,
    /// Writes blanks around the equals signs and commas between the parameters of the Signature header.
    pub spaced: bool,
    /// Parameters to leave out of the Signature header.
    pub without: Vec<SignatureParameter>,
    /// Whose key signs, in place of the TPP's own.
    pub key: Option<Party>,
    /// Whose certificate is sent and named in keyId, in place of the TPP's own.
    pub certificate: Option<Party>,
    /// How the Signature header is wrapped as an encoded word (RFC 2047).
    pub wrap: Option<Wrap>,
}

impl Signing {
    /// What is different from signing as the document says, in words: `signing/key-id = "SN=1"`.
    pub fn describe(&self) -> Vec<String> {
        self.differing().iter().map(|(name, value)| format!("signing/{name} = {value}")).collect()
    }

    /// What is different from signing as the document says, as a case file writes it.
    pub fn differing(&self) -> Map<String, Value> {
        if *self == Self::default() {
            return Map::new();
        }
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return Map::new() };
        let set = |value: &Value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => true,
        };
        fields.into_iter().filter(|(_, value)| set(value)).collect()
    }
}

/// A parameter of the Signature header (draft-cavage-http-signatures-10, section 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureParameter {
    /// `keyId`.
    KeyId,
    /// `algorithm`.
    Algorithm,
    /// `headers`.
    Headers,
    /// `signature`.
    Signature,
}

/// Whose key or certificate, where not the TPP's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    /// An unrelated TPP's: test material that the suite carries (`fixtures/keys/other.*`).
    Other,
    /// That TPP's, with a certificate that is over.
    OtherExpired,
    /// That TPP's, with a certificate that has not begun.
    OtherEarly,
    /// That TPP's, with a certificate without a role for payments or accounts.
    OtherRole,
    /// That TPP's key, in a certificate that is the own one in all else: serial number, issuer and subject.
    /// No authority signed it.
    Forged,
}

/// How a signature is written that is not in base64 (RFC 4648, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// In the URL-safe alphabet of base64 (RFC 4648, section 5).
    UrlSafe,
    /// In hexadecimal digits.
    Hexadecimal,
}

/// A hash or padding that the document does not name for signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SigningHash {
    /// SHA-1.
    #[serde(rename = "sha-1")]
    Sha1,
    /// SHA-384.
    #[serde(rename = "sha-384")]
    Sha384,
    /// SHA-512.
    #[serde(rename = "sha-512")]
    Sha512,
    /// SHA-256 with the padding of RSASSA-PSS (RFC 8017, section 8.1).
    #[serde(rename = "sha-256-pss")]
    Sha256Pss,
    /// No signature but an HMAC with SHA-256, whose key is the public key of the certificate in PEM.
    #[serde(rename = "hmac-sha-256")]
    HmacSha256,
}

/// What is put into an encoded word, and its character set and encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Wrap {
    /// Nothing. The case does not apply where the header is not plain ASCII.
    #[serde(rename = "never")]
    Never,
    /// The signature parameter alone; utf-8, base64.
    #[serde(rename = "signature-alone")]
    SignatureAlone,
    /// utf-8, base64.
    #[serde(rename = "utf-8/B")]
    Utf8B,
    /// utf-8, quoted.
    #[serde(rename = "utf-8/Q")]
    Utf8Q,
    /// iso-8859-1, base64.
    #[serde(rename = "iso-8859-1/B")]
    Latin1B,
    /// iso-8859-1, quoted.
    #[serde(rename = "iso-8859-1/Q")]
    Latin1Q,
}

/// A request that prepares the judged one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    /// Name, for `${NAME.KEY}` in later requests.
    pub name: String,
    /// Name of the valid request to send.
    pub baseline: String,
    /// What is different from the baseline.
    #[serde(default)]
    pub change: Vec<At<Change>>,
    /// Values to keep from the answer: key and place (`id: body/paymentId`); `sent/NAME` is a header that the
    /// request had.
    #[serde(default)]
    pub keep: IndexMap<String, String>,
    /// How it is signed, where not as the document says.
    #[serde(default)]
    pub signing: Signing,
    /// How often to send it; with `times` every kept value is a list.
    pub times: Option<Value>,
    /// Sends all `times` of it at once over connections of their own, and not one after the other.
    #[serde(default)]
    pub at_once: bool,
    /// Keys of `keep` of which no value may come twice; one that does breaks the clause.
    #[serde(default)]
    pub distinct: Vec<String>,
    /// What must come back: `accepted`, `any` where a refusal is as good, `refusal-passes`,
    /// `refusal-observed`, `refused` or `rejected`.
    #[serde(default)]
    pub expect: StepExpect,
}

/// What must come back from a preparing request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepExpect {
    /// Acceptance.
    #[default]
    Accepted,
    /// Acceptance or a refusal: the request has done its work either way, such as using up a quota that may
    /// be used up already.
    Any,
    /// Acceptance; or a refusal, which is itself what the clause demands: the case then passes, and its own
    /// request is not sent.
    RefusalPasses,
    /// Acceptance; or a refusal, by which the target says that it has no such thing: the case is then
    /// observed, and its own request not sent.
    RefusalObserved,
    /// A refusal. Acceptance is for another case to judge: this one is then observed, and its own request not
    /// sent.
    Refused,
    /// Something that is made and rejected. Where the target makes it otherwise, or not at all, the case is
    /// observed, and its own request not sent.
    Rejected,
}

/// How much of the suite a run has. Each depth holds the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// The cases that were shown to catch the most, and one of each clause that a group shows where these
    /// have none: for pull requests.
    Quick,
    /// Everything but what takes long.
    #[default]
    Standard,
    /// Everything.
    Exhaustive,
}

impl Depth {
    /// The word used in case files, on the command line and in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Exhaustive => "exhaustive",
        }
    }
}

/// What a case comes to when its control is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IfControlRefused {
    /// Could not be told.
    #[default]
    Inconclusive,
    /// The target need not accept the control; what it does is recorded.
    Observed,
}

/// A valid request, or one made from another by changes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "xs2aspec baseline")]
pub struct Baseline {
    /// What the request is.
    pub about: String,
    /// Name of the baseline that this one changes; then only `change`, `before` and `needs` may be given.
    pub extends: Option<String>,
    /// Differences from the extended baseline.
    #[serde(default)]
    pub change: Vec<At<Change>>,
    /// Operation id.
    pub operation: Option<String>,
    /// HTTP method.
    pub method: Option<String>,
    /// Path below the base URL; values put into it are percent-encoded.
    pub path: Option<String>,
    /// Header fields in the order of the wire.
    #[serde(default)]
    pub headers: IndexMap<String, Value>,
    /// JSON body; none where it is absent.
    pub body: Option<Value>,
    /// Requests that prepare this one.
    pub before: Option<Vec<Step>>,
    /// Capabilities of the target without which the request cannot be made.
    #[serde(default)]
    pub needs: Vec<String>,
}

fn expectation_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "description": "What must come back.",
        "oneOf": [
            { "enum": ["accepted", "refused", "answered", "observed"] },
            { "type": "string", "pattern": "^\\$\\{.*\\}$" },
            { "type": "object", "additionalProperties": false, "required": ["refused"], "properties": { "refused": {
                "type": "object", "additionalProperties": false, "properties": {
                    "status": { "type": ["integer", "array"], "items": { "type": "integer" }, "description": "Exact status or statuses, only where the document gives them." },
                    "code": { "type": ["string", "array"], "items": { "type": "string" }, "description": "Code of the refusal, or codes one of which it has, only where the document gives them." },
                    "or-rejected": { "type": "boolean", "description": "A resource that is created and rejected is a refusal here, whatever the profile says." },
                    "nothing-created": { "type": "boolean", "description": "A resource that is created and rejected is no refusal here." },
                    "text": { "type": "boolean", "description": "The body of the refusal has a text." },
                    "quota": { "type": "boolean", "description": "A 429 is the refusal here, and not a busy target." }
                } } } },
            { "type": "object", "additionalProperties": false, "required": ["body"], "properties": { "body": {
                "type": "object", "minProperties": 1, "propertyNames": { "pattern": "^(/|$)" },
                "description": "What the body of a 2xx answer has: JSON pointer and value, null where there is nothing; or `{ or-nothing: VALUE }`, `{ one-of: [VALUES] }`, `{ same-as: VALUE, but: [MEMBERS], and-more: true or everywhere }`, `{ unlike: EARLIER_BODY }`, `{ has: ITEM, of: ITEM }`, `{ after: VALUE, allowed: { VALUE: [VALUES] } }`, `{ is: VALUE, once: { POINTER: VALUE } }`. Asked for again, for some seconds, while it has not." } } },
            { "type": "object", "additionalProperties": false, "required": ["choice"], "properties": { "choice": {
                "type": "object", "description": "What is expected for each value of the clause's choice; observed for any other.",
                "additionalProperties": { "enum": ["accepted", "refused", "answered", "observed"] }
            } } }
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn signing_is_described_by_what_differs() {
        let signing = |value| serde_json::from_value::<Signing>(value).unwrap().describe();
        assert_eq!(signing(json!({})), Vec::<String>::new());
        assert_eq!(
            signing(
                json!({"key": "other", "corrupted": true, "without": ["key-id"], "signed-as": {"date": ""}})
            ),
            [
                r#"signing/signed-as = {"date":""}"#,
                "signing/corrupted = true",
                r#"signing/without = ["key-id"]"#,
                r#"signing/key = "other""#
            ]
        );
        assert!(serde_json::from_value::<Signing>(json!({"keyid": "x"})).is_err());
    }
}
