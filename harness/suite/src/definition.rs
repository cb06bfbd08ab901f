//! The shape of case files and baselines, as an author writes them. The JSON Schema for editors is generated
//! from these types.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use xs2aspec_spec::yaml::At;

/// One case for each form of each place (`fixtures/spec/requests.yaml`): invalid and allowed values. The
/// rules of the place determine the expected response and its clause.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FormGroup {
    /// Start of the places: `body/`, `header/`, `query/`, `signing`, or empty for the request as a whole.
    /// Every place if omitted.
    pub at: Option<String>,
    /// The way in which the forms are combined.
    #[serde(default)]
    pub met: Met,
    /// True if fields of objects in fields are places too.
    #[serde(default = "nested")]
    pub nested: bool,
    /// Operations. All of them if omitted.
    #[serde(default)]
    pub operations: Vec<String>,
}

fn nested() -> bool {
    true
}

/// The way in which forms are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Met {
    /// Each alone in a request.
    #[default]
    Alone,
    /// Invalid values, each together with the allowed forms of one of the surroundings.
    Surrounded,
    /// Allowed forms of all places at once, so that every two of them are in one request.
    Paired,
}

/// One case, multiplied by its axes. Every string may contain placeholders: `${axis}`, `${axis.column}`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Group {
    /// Id of the clause that the cases test.
    pub clause: String,
    /// The part of the case id after the clause. By default, the names of the axes' rows, joined with `/`.
    pub name: Option<String>,
    /// An explanation of the case, if it is not obvious.
    pub about: Option<String>,
    /// The lists that multiply the case, in the order in which their names appear in the id.
    #[serde(default)]
    pub axes: IndexMap<String, At<Axis>>,
    /// Axes that advance together instead of being multiplied. Each list names axes with the same number of
    /// rows.
    #[serde(default)]
    pub zip: Vec<Vec<String>>,
    /// Name of the valid request that the case starts from (`fixtures/requests/NAME.yaml`).
    pub baseline: String,
    /// Requests that prepare the judged one. They replace those of the baseline.
    pub before: Option<Vec<Step>>,
    /// Differences from the baseline, in order.
    #[serde(default)]
    pub change: Vec<At<Change>>,
    /// Deviation from the signing in the document.
    #[serde(default)]
    pub signing: Signing,
    /// Id of the accepted case whose request is the valid twin of this one. By default, the baseline case of
    /// its operation. `none` marks that baseline case itself.
    pub control: Option<String>,
    /// The verdict if the control is rejected: `inconclusive`, or `observed` if the control itself is the
    /// bank's choice.
    #[serde(default)]
    pub if_control_refused: IfControlRefused,
    /// Capabilities that the target needs for the case.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The lowest depth at which the cases run: `standard`, or `exhaustive` for those that take long.
    #[serde(default)]
    pub depth: Depth,
    /// The expected response: `accepted`, `refused`, `observed`, or one of these with conditions.
    #[schemars(schema_with = "expectation_schema")]
    pub expect: At<Value>,
}

/// A list that multiplies a case. Its rows are written as `rows` or `values`, or come from a table, from the
/// places of the spec or from the entries of a profile.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Axis {
    /// Named rows. A row that is a mapping may have `when: {axis.column: VALUE or [VALUES]}` and then exists
    /// only in these combinations.
    pub rows: Option<IndexMap<String, At<Value>>>,
    /// Scalars that are their own names. They may contain placeholders of axes: `${place.most+1}`.
    pub values: Option<Vec<Value>>,
    /// Name of a table (`fixtures/tables/NAME.csv`). Each line is a row, and each column a string.
    pub table: Option<String>,
    /// The places of requests (`fixtures/spec/requests.yaml`) with these properties: name and value, list of
    /// values, or `any`. The columns are all properties of the place: `operation`, `at`, `clause`, ..
    pub places: Option<IndexMap<String, Value>>,
    /// The further entries of a table that a profile may repeat: `2`, `3`, ..
    pub entries: Option<Entries>,
    /// The lines of the table to use: column and value, or column and list of values.
    #[serde(default, rename = "where")]
    pub filter: IndexMap<String, Value>,
    /// Column of the table that names the row. By default the first one.
    pub name: Option<String>,
}

/// Further entries of a table of a profile, as rows. There are as many as `fixtures/spec/profile.yaml` says,
/// and more if a profile has more.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entries {
    /// Name of the table.
    pub of: String,
    /// Columns of a row, each with the key of its value in the entry.
    pub columns: IndexMap<String, String>,
}

/// One difference from a baseline: exactly one of the verbs, with `to` if it needs a value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Change {
    /// Sets a header, query parameter, body field or the path to this value. Adds it if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Removes a header, query parameter or body field, which must exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove: Option<String>,
    /// Sends a header or body field a second time with this value. It must exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<String>,
    /// Writes the name of a header differently. The header must exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
    /// Sends these characters, or `{$bytes: ..}` or `{$gzip: ..}`, as the body, even if they are not JSON.
    /// `${body}` in them is the body so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub to: Option<Value>,
}

/// Reads `to: null` as null. Only a missing `to` is `None`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Deviations from the signing in the document. Strings may contain placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Signing {
    /// Name to state as the algorithm. The signature is RSA-SHA256 in any case.
    pub algorithm: Option<String>,
    /// Names of headers to sign and to state, in this order.
    pub headers: Option<Vec<String>>,
    /// Names of headers to state, whatever is signed.
    pub stated_headers: Option<Vec<String>>,
    /// Values of headers to sign instead of those that are sent, as if the headers were changed after
    /// signing. A header that is not sent is signed and stated too.
    pub signed_as: IndexMap<String, String>,
    /// String to sign instead of the signing string, so that the signature belongs to another request.
    pub signing_string: Option<String>,
    /// String, or a function that returns one, to state as keyId.
    pub key_id: Option<Value>,
    /// String to state as the signature.
    pub signature: Option<String>,
    /// The hash to sign with, whatever the algorithm says.
    pub hash: Option<SigningHash>,
    /// Inverts the last bit of the signature.
    pub corrupted: bool,
    /// Encoding of the signature instead of base64.
    pub written: Option<Written>,
    /// Ends the signing string with a line feed, which belongs only between its lines
    /// (draft-cavage-http-signatures-10, section 2.3).
    pub line_feed: bool,
    /// Writes spaces around the equals signs and commas between the parameters of the Signature header.
    pub spaced: bool,
    /// Parameters to omit from the Signature header.
    pub without: Vec<SignatureParameter>,
    /// Owner of the key that signs, instead of the TPP itself.
    pub key: Option<Party>,
    /// Owner of the certificate that is sent and named in keyId, instead of the TPP itself.
    pub certificate: Option<Party>,
    /// The way to wrap the Signature header as an encoded word (RFC 2047).
    pub wrap: Option<Wrap>,
}

impl Signing {
    /// Returns the deviations from the signing in the document, one line each: `signing/key-id = "SN=1"`.
    pub fn describe(&self) -> Vec<String> {
        self.differing().iter().map(|(name, value)| format!("signing/{name} = {value}")).collect()
    }

    /// Returns the deviations from the signing in the document, as in a case file.
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

/// The owner of a key or certificate, other than the TPP itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    /// An unrelated TPP, with test material of the suite (`fixtures/keys/other.*`).
    Other,
    /// That TPP, with an expired certificate.
    OtherExpired,
    /// That TPP, with a certificate that is not valid yet.
    OtherEarly,
    /// That TPP, with a certificate without a role for payments or accounts.
    OtherRole,
    /// That TPP's key in a certificate with the serial number, issuer and subject of the TPP's own one. No
    /// authority signed it.
    Forged,
}

/// An encoding of a signature other than base64 (RFC 4648, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// The URL-safe alphabet of base64 (RFC 4648, section 5).
    UrlSafe,
    /// Hexadecimal digits.
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
    /// An HMAC with SHA-256 instead of a signature. Its key is the public key of the certificate in PEM.
    #[serde(rename = "hmac-sha-256")]
    HmacSha256,
}

/// The content of an encoded word, with its character set and encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Wrap {
    /// No encoded word. The case does not apply if the header is not plain ASCII.
    #[serde(rename = "never")]
    Never,
    /// The signature parameter alone, in utf-8 and base64.
    #[serde(rename = "signature-alone")]
    SignatureAlone,
    /// The header in utf-8, base64.
    #[serde(rename = "utf-8/B")]
    Utf8B,
    /// The header in utf-8, quoted.
    #[serde(rename = "utf-8/Q")]
    Utf8Q,
    /// The header in iso-8859-1, base64.
    #[serde(rename = "iso-8859-1/B")]
    Latin1B,
    /// The header in iso-8859-1, quoted.
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
    /// Differences from the baseline.
    #[serde(default)]
    pub change: Vec<At<Change>>,
    /// Values to keep from the response: key and place (`id: body/paymentId`). `sent/NAME` is a header of the
    /// request.
    #[serde(default)]
    pub keep: IndexMap<String, String>,
    /// Deviation from the signing in the document.
    #[serde(default)]
    pub signing: Signing,
    /// Number of times to send it. With `times`, every kept value is a list.
    pub times: Option<Value>,
    /// Sends all `times` requests at once over their own connections, not one after the other.
    #[serde(default)]
    pub at_once: bool,
    /// Keys of `keep` whose values must be distinct. A repeated value violates the clause.
    #[serde(default)]
    pub distinct: Vec<String>,
    /// The expected response: `accepted`, `any` if a rejection is as good, `refusal-passes`,
    /// `refusal-observed`, `refused` or `rejected`.
    #[serde(default)]
    pub expect: StepExpect,
}

/// The expected response to a preparing request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepExpect {
    /// Acceptance.
    #[default]
    Accepted,
    /// Acceptance or a rejection. The request has its effect either way, such as using up a quota that may
    /// already be used up.
    Any,
    /// Acceptance, or a rejection that is itself what the clause requires. The case then passes, and its own
    /// request is not sent.
    RefusalPasses,
    /// Acceptance, or a rejection, which says that the target lacks the feature. The case is then observed,
    /// and its own request is not sent.
    RefusalObserved,
    /// A rejection. Another case judges acceptance, so this one is then observed, and its own request is not
    /// sent.
    Refused,
    /// A resource that is created and rejected. If the target does anything else, the case is observed, and
    /// its own request is not sent.
    Rejected,
}

/// The extent of a run. Each depth includes the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// The most effective cases, and one case of each clause in a group that has none of them. Meant for pull
    /// requests.
    Quick,
    /// All cases except those that take long.
    #[default]
    Standard,
    /// All cases.
    Exhaustive,
}

impl Depth {
    /// Returns the word used in case files, on the command line and in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Exhaustive => "exhaustive",
        }
    }
}

/// The verdict of a case whose control is rejected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IfControlRefused {
    /// The case is inconclusive.
    #[default]
    Inconclusive,
    /// The target need not accept the control, so its response to the case is only recorded.
    Observed,
}

/// A valid request, or one that changes another one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "xs2aspec baseline")]
pub struct Baseline {
    /// A description of the request.
    pub about: String,
    /// Name of the baseline that this one changes. Only `change`, `before` and `needs` are then allowed.
    pub extends: Option<String>,
    /// Differences from the extended baseline.
    #[serde(default)]
    pub change: Vec<At<Change>>,
    /// Operation id.
    pub operation: Option<String>,
    /// HTTP method.
    pub method: Option<String>,
    /// Path below the base URL. Values inserted into it are percent-encoded.
    pub path: Option<String>,
    /// Headers in the order of the wire.
    #[serde(default)]
    pub headers: IndexMap<String, Value>,
    /// JSON body, if there is one.
    pub body: Option<Value>,
    /// Requests that prepare this one.
    pub before: Option<Vec<Step>>,
    /// Capabilities that the target needs for the request.
    #[serde(default)]
    pub needs: Vec<String>,
}

fn expectation_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "description": "The expected response.",
        "oneOf": [
            { "enum": ["accepted", "refused", "answered", "observed"] },
            { "type": "string", "pattern": "^\\$\\{.*\\}$" },
            { "type": "object", "additionalProperties": false, "required": ["refused"], "properties": { "refused": {
                "type": "object", "additionalProperties": false, "properties": {
                    "status": { "type": ["integer", "array"], "items": { "type": "integer" }, "description": "Exact status or statuses. Only if the document gives them." },
                    "code": { "type": ["string", "array"], "items": { "type": "string" }, "description": "Code of the rejection, or a list with its code. Only if the document gives them." },
                    "or-rejected": { "type": "boolean", "description": "A resource that is created and rejected counts as a rejection, whatever the profile says." },
                    "nothing-created": { "type": "boolean", "description": "A resource that is created and rejected does not count as a rejection." },
                    "text": { "type": "boolean", "description": "The body of the rejection has a text." },
                    "quota": { "type": "boolean", "description": "A 429 is the expected rejection, not the sign of a busy target." }
                } } } },
            { "type": "object", "additionalProperties": false, "required": ["body"], "properties": { "body": {
                "type": "object", "minProperties": 1, "propertyNames": { "pattern": "^(/|$)" },
                "description": "Required values in the body of a 2xx response: JSON pointer and value, null for an absent field, or `{ or-nothing: VALUE }`, `{ one-of: [VALUES] }`, `{ same-as: VALUE, but: [MEMBERS], and-more: true or everywhere }`, `{ unlike: EARLIER_BODY }`, `{ has: ITEM, of: ITEM }`, `{ after: VALUE, allowed: { VALUE: [VALUES] } }`, `{ is: VALUE, once: { POINTER: VALUE } }`. The request is repeated for some seconds until the body has them." } } },
            { "type": "object", "additionalProperties": false, "required": ["choice"], "properties": { "choice": {
                "type": "object", "description": "The expectation for each value of the clause's choice. Any other value is observed.",
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
