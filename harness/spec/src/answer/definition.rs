//! The rules for responses as written in `fixtures/spec/answers.yaml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Path of the rules for responses in a tree.
pub const FILE: &str = "fixtures/spec/answers.yaml";

/// Folder of the sample responses in a tree, one file per shape.
pub const SAMPLES: &str = "fixtures/answers";

/// The contents of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) operations: BTreeMap<String, Operation>,
    pub(super) shapes: BTreeMap<String, Shape>,
    /// Rules that apply to every shape.
    #[serde(default)]
    pub(super) everywhere: Vec<Rule>,
    /// Reasons why some differences from a sample are allowed.
    #[serde(default)]
    pub(super) lawful: Vec<Lawful>,
    pub(super) amount: Option<Amount>,
    pub(super) server_error: String,
    pub(super) one_success_status: Option<String>,
    pub(super) field_lines: Option<String>,
    pub(super) content_type: String,
    pub(super) null: String,
    pub(super) refusal_body: String,
    pub(super) codes: Codes,
    pub(super) quota: Option<Quota>,
    /// Operations whose path or payload the document does not show, so a bank may lack them.
    #[serde(default)]
    pub(super) not_shown: Vec<String>,
    /// The clause for a duplicate field whose last value alone is right.
    pub(super) duplicate: Option<String>,
    pub(super) status: Option<Status>,
    #[serde(default)]
    pub(super) personal: Vec<String>,
}

/// The daily calls without a certain header that a bank must accept. It may reject further ones.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Name of the operation.
    pub operation: String,
    /// Name of the header. A call that has it does not count.
    pub without: String,
    /// Number of calls per day.
    pub calls: usize,
    /// The error code for calls beyond the quota.
    pub code: String,
}

impl Quota {
    /// Returns true if a bank counts a request of this operation with this header value. A bank may treat an
    /// empty value as absent.
    pub fn counts(&self, operation: &str, value: Option<&str>) -> bool {
        operation == self.operation && value.is_none_or(str::is_empty)
    }
}

/// The responses of an operation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Operation {
    /// Shape of a 2xx body.
    pub(super) shape: String,
    /// The clause of the exact success status, which is also the key of the choice.
    pub(super) success_status: Option<String>,
    /// Shape of the body of a rejection, if the document shows one.
    pub(super) refusal: Option<String>,
}

/// The part of a shape that is not in its schema.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// The clause that defines the JSON type of the whole body.
    pub(super) clause: String,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
}

/// A rule that JSON Schema cannot express.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    pub(super) at: Vec<String>,
    pub(super) when: Option<Condition>,
    pub(super) clause: Option<String>,
    pub(super) says: Option<String>,
    #[serde(default)]
    pub(super) amount: bool,
    pub(super) present_iff: Option<Condition>,
    pub(super) note: Option<Note>,
}

/// Differences from a sample that violate no clause, and the reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lawful {
    /// Places, named as in the matrix, with `*` and `**` as in rules.
    pub(super) at: Vec<String>,
    /// Names of the differences. A name that ends with `*` matches all names that start with it.
    pub(super) forms: Vec<String>,
    pub(super) because: String,
}

/// A condition on the value of another field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Condition {
    pub(super) at: String,
    pub(super) is: Value,
}

/// A property of a value that is recorded. The strength of its clause decides its level.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum Note {
    /// The field is absent.
    Absent,
    /// The field is present and not null.
    Present,
    /// An array without elements.
    Empty,
    /// A number below this one.
    Below(i64),
    /// A string that is not an IBAN.
    NoIban,
    /// A string that matches one pattern but not the other.
    Matches { pattern: String, unless: Option<String> },
    /// An object with none of these fields.
    NoneOf(Vec<String>),
    /// A string that differs from all of these sibling fields, which are all present.
    OtherThan(Vec<String>),
}

/// The clauses about amounts, with their limits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Amount {
    /// Name of the field with the number.
    pub(super) number_member: String,
    /// Name of the field with the currency.
    pub(super) currency_member: String,
    /// The clause that the number is a decimal number in some notation.
    pub(super) form: String,
    /// The clause for notations that no ordinary number has, such as leading zeros.
    pub(super) unusual: String,
    /// The clause for a point with no digit on one side.
    pub(super) bare_point: String,
    pub(super) exponent: String,
    pub(super) precision: String,
    /// The highest number of digits before the point that any reading allows.
    pub(super) precision_digits: u32,
    /// The clause for more digits before the point than the scale leaves room for.
    pub(super) near: String,
    pub(super) near_digits: u32,
    pub(super) scale: String,
    /// The highest number of fraction digits in any currency.
    pub(super) scale_digits: usize,
    /// The clause for the number of fraction digits of the currency.
    pub(super) digits: String,
    pub(super) fewer: String,
    /// The clause that replaces `fewer` for some requests.
    pub(super) fewer_otherwise: Option<Otherwise>,
    pub(super) withdrawn: String,
    pub(super) not_applicable: String,
}

impl Amount {
    /// Returns the clauses that every amount must meet.
    pub(super) fn demanded(&self) -> [&str; 5] {
        [&self.form, &self.precision, &self.scale, &self.digits, &self.fewer].map(String::as_str)
    }

    /// Returns every clause about amounts.
    pub(super) fn clauses(&self) -> impl Iterator<Item = &str> {
        let seen = [
            &self.unusual,
            &self.bare_point,
            &self.exponent,
            &self.near,
            &self.withdrawn,
            &self.not_applicable,
        ]
        .map(String::as_str);
        let otherwise = self.fewer_otherwise.iter().map(|otherwise| otherwise.clause.as_str());
        self.demanded().into_iter().chain(seen).chain(otherwise)
    }
}

/// A clause that applies unless a request header lists a certain name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Otherwise {
    /// The header, a comma-separated list of names.
    pub(super) header: String,
    pub(super) name: String,
    pub(super) clause: String,
}

/// The location of the codes in a rejection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Codes {
    /// Name of the field with the list of messages.
    pub(super) at: String,
    /// Name of the field of a message with its code.
    pub(super) member: String,
}

/// The status of a created resource.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    /// Name of the field.
    pub(super) at: String,
    /// The value for a resource that was created and rejected.
    pub(super) rejected: String,
}
