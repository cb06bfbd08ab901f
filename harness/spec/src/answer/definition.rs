//! The file of answers as it is written: `fixtures/spec/answers.yaml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Where the file of answers stands in a tree.
pub const FILE: &str = "fixtures/spec/answers.yaml";

/// The folder of the samples in a tree: an answer of each shape, by the name of the shape.
pub const SAMPLES: &str = "fixtures/answers";

/// Everything that the file says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) operations: BTreeMap<String, Operation>,
    pub(super) shapes: BTreeMap<String, Shape>,
    /// Rules of every shape.
    #[serde(default)]
    pub(super) everywhere: Vec<Rule>,
    /// Why nothing is said of what is different from a sample.
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
    /// Operations of which the document shows no path or payload, so that a bank may not have them.
    #[serde(default)]
    pub(super) not_shown: Vec<String>,
    /// The clause of a member that is there twice, and of which the last value alone is right.
    pub(super) duplicate: Option<String>,
    pub(super) status: Option<Status>,
    #[serde(default)]
    pub(super) personal: Vec<String>,
}

/// The calls of a day that a bank must accept without a header, and need not accept beyond.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// The operation.
    pub operation: String,
    /// The header. A call with it does not count.
    pub without: String,
    /// The calls of a day.
    pub calls: usize,
    /// The error code of a call beyond them.
    pub code: String,
}

impl Quota {
    /// Returns true if a bank counts a request of this operation with this value of the header. An empty
    /// value may count as none.
    pub fn counts(&self, operation: &str, value: Option<&str>) -> bool {
        operation == self.operation && value.is_none_or(str::is_empty)
    }
}

/// The answers of an operation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Operation {
    /// Shape of a 2xx body.
    pub(super) shape: String,
    /// The clause, and the choice, of the exact status.
    pub(super) success_status: Option<String>,
    /// Shape of the body of a refusal, where the document shows one.
    pub(super) refusal: Option<String>,
}

/// A shape beside its schema.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// The clause that says which kind of JSON value the whole body is.
    pub(super) clause: String,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
}

/// A rule that a schema cannot say.
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

/// Answers of which nothing is said although they differ from a sample, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lawful {
    /// Places, as the matrix names them; `*` and `**` as in rules.
    pub(super) at: Vec<String>,
    /// Names of what is different; one that ends with `*` stands for all that begin so.
    pub(super) forms: Vec<String>,
    pub(super) because: String,
}

/// Another member has this value.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Condition {
    pub(super) at: String,
    pub(super) is: Value,
}

/// What is seen of a value. The strength of its clause says what it comes to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum Note {
    /// The member is absent.
    Absent,
    /// The member is present, and not null.
    Present,
    /// An array without elements.
    Empty,
    /// A number below this one.
    Below(i64),
    /// A text that is no IBAN.
    NoIban,
    /// A text that matches one pattern, and not another.
    Matches { pattern: String, unless: Option<String> },
    /// An object with none of these members.
    NoneOf(Vec<String>),
    /// A text that is none of those of the members beside it, which are all there.
    OtherThan(Vec<String>),
}

/// The clauses of amounts, and the limits that they name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Amount {
    /// The member of an amount that is its number.
    pub(super) number_member: String,
    /// The member that is its currency.
    pub(super) currency_member: String,
    /// It is a decimal number in some form.
    pub(super) form: String,
    /// A form that no plain number has.
    pub(super) unusual: String,
    /// One side of the point has no digit.
    pub(super) bare_point: String,
    pub(super) exponent: String,
    pub(super) precision: String,
    /// Digits before the point that no reading allows to be exceeded.
    pub(super) precision_digits: u32,
    /// More digits before the point than the scale leaves.
    pub(super) near: String,
    pub(super) near_digits: u32,
    pub(super) scale: String,
    /// Fraction digits that are allowed in any currency.
    pub(super) scale_digits: usize,
    /// Fraction digits of the currency.
    pub(super) digits: String,
    pub(super) fewer: String,
    /// Where fewer digits than those of the currency break another clause.
    pub(super) fewer_otherwise: Option<Otherwise>,
    pub(super) withdrawn: String,
    pub(super) not_applicable: String,
}

impl Amount {
    /// The clauses that every amount has to keep.
    pub(super) fn demanded(&self) -> [&str; 5] {
        [&self.form, &self.precision, &self.scale, &self.digits, &self.fewer].map(String::as_str)
    }

    /// Every clause.
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

/// The clause that holds where a header field of the request does not name a change.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Otherwise {
    /// The header field, a list of names with commas between them.
    pub(super) header: String,
    pub(super) name: String,
    pub(super) clause: String,
}

/// Where the codes of a refusal stand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Codes {
    /// The member that is the list of messages.
    pub(super) at: String,
    /// The member of a message that is its code.
    pub(super) member: String,
}

/// The status of a created resource.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    /// The member.
    pub(super) at: String,
    /// The value of a resource that was created and rejected.
    pub(super) rejected: String,
}
