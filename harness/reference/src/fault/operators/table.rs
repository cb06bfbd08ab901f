//! The rows of the bank's own tables. Fields of requests and responses come from the OpenAPI description
//! (`openapi/schemas.json`), which tests compare with the bank. Headers and parameters are those that the
//! bank reads.

use serde_json::Value;
use xs2aspec_bank::header::{self, Header};
use xs2aspec_bank::openapi;
use xs2aspec_bank::operation::{Operation, Product};
use xs2aspec_bank::operations;

/// Optional headers without a format in the document.
const FREE: [&str; 12] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "tpp-brand-logging-information",
    "psu-ip-port",
    "psu-user-agent",
    "psu-accept",
    "psu-accept-charset",
    "psu-accept-encoding",
    "psu-accept-language",
    "psu-geo-location",
];

/// The kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A value of a closed list.
    Word,
    Date,
    /// A string of another form: an amount, a BIC, a day.
    Form,
    Integer,
    Boolean,
    List,
    Object,
}

impl Kind {
    /// Returns the JSON type, as in `When::Type`.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Text | Self::Word | Self::Date | Self::Form => 's',
            Self::Integer => 'n',
            Self::Boolean => 'b',
            Self::List => 'a',
            Self::Object => 'o',
        }
    }
}

/// A field of a request or a response.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) operation: Operation,
    /// The JSON pointer. Of each array, the first and the second item have rows.
    pub(super) pointer: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    /// The values of a closed list, sorted.
    pub(super) words: &'static [&'static str],
    /// The minimum and the maximum number of characters.
    pub(super) least: usize,
    pub(super) most: Option<usize>,
}

impl Member {
    /// Returns the last part of the pointer.
    pub(super) fn name(&self) -> &'static str {
        self.pointer.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the pointer of the enclosing object or array, or None at the top level.
    pub(super) fn parent(&self) -> Option<&'static str> {
        self.pointer.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
    }
}

/// A request header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) operation: Operation,
    pub(super) name: &'static str,
    /// None for headers without a rule in the document.
    pub(super) header: Option<Header>,
    pub(super) is_required: bool,
}

impl Field {
    /// Returns the allowed values, or an empty list if the header has no closed list.
    pub(super) fn words(&self) -> &'static [&'static str] {
        self.header.map(header::listed).unwrap_or_default()
    }
}

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) operation: Operation,
    pub(super) name: &'static str,
}

/// Returns every field of the requests that the document specifies, without array items.
pub(super) fn requests() -> Vec<Member> {
    let schema = |operation| Some((operation, openapi::request_schema(operation)?));
    let schemas = Operation::SPECIFIED.into_iter().filter_map(schema);
    let rows = schemas.flat_map(|(operation, schema)| members(operation, schema));
    rows.filter(|member| !member.name().starts_with(|first: char| first.is_ascii_digit())).collect()
}

/// Returns every field of the responses that the document covers.
pub(super) fn answers() -> Vec<Member> {
    let statuses = [Operation::Status(Product::Ncbct), Operation::Status(Product::Periodic)];
    let operations = Operation::SPECIFIED.into_iter().chain(statuses);
    let members = operations.flat_map(|operation| members(operation, openapi::answer_schema(operation)));
    members.filter(is_shown).collect()
}

/// Returns true if the seed data has the field somewhere.
fn is_shown(member: &Member) -> bool {
    let pointer = member.pointer;
    let has = |part: &str| pointer.contains(part);
    let is_of_entry = has("/entryDetails/");
    let is_second_verb = pointer.ends_with("/verbs/1");
    let absent = match member.operation {
        Operation::Customers => {
            has("/0/agreements/")
                || has("/agreements/1")
                || has("/1/cardAccounts/")
                || has("/cardAccounts/1")
                || pointer == "/1/accounts/1"
                || has("/engagements/1")
                || has("/_links/status")
        }
        Operation::Transaction => {
            is_of_entry
                && (has("Account/iban") || has("Array/1") || has("/referenceType") || has("/referenceIssuer"))
                || has("Array/1/referenceType")
                || has("Array/1/referenceIssuer")
        }
        _ => false,
    };
    !absent && !(is_second_verb && !(member.operation.creates_payment() && has("/self/")))
}

/// Returns every header of every operation.
pub(super) fn fields() -> Vec<Field> {
    let mut fields = Vec::new();
    for operation in Operation::SPECIFIED {
        fields.extend(header::parts(operation).map(|(header, is_required)| Field {
            operation,
            name: header.name(),
            header: Some(header),
            is_required,
        }));
        let has = |name: &str| match name {
            "tpp-brand-logging-information" => operation == Operation::Ncbct,
            name => name.starts_with("accept") || operation != Operation::Customers,
        };
        let free = FREE.into_iter().filter(|name| has(name));
        fields.extend(free.map(|name| Field { operation, name, header: None, is_required: false }));
    }
    fields
}

/// Returns every query parameter of every operation.
pub(super) fn parameters() -> Vec<Parameter> {
    let each = Operation::SPECIFIED.into_iter();
    each.flat_map(|operation| {
        operations::parameters(operation).iter().map(move |name| Parameter { operation, name })
    })
    .collect()
}

fn members(operation: Operation, schema: &str) -> Vec<Member> {
    let schemas = openapi::schemas();
    let mut members = Vec::new();
    walk(&schemas, &schemas[schema], (operation, "", true), &mut members);
    members
}

/// Returns the relations of the links in an operation's responses.
fn relations(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Basket => &["status"],
        Operation::Transaction => &["transactionDetails"],
        _ => &["self", "status"],
    }
}

fn walk(
    schemas: &Value,
    schema: &Value,
    (operation, pointer, is_required): (Operation, &str, bool),
    members: &mut Vec<Member>,
) {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return walk(schemas, &schemas[name], (operation, pointer, is_required), members);
    }
    if !pointer.is_empty() {
        members.push(member(schema, operation, pointer, is_required));
    }
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.iter().any(|one| one == name);
        walk(schemas, property, (operation, &format!("{pointer}/{name}"), is_required), members);
    }
    if schema["items"].is_object() {
        for index in ["0", "1"] {
            walk(schemas, &schema["items"], (operation, &format!("{pointer}/{index}"), false), members);
        }
    }
    if schema["additionalProperties"].is_object() {
        for name in relations(operation) {
            let at = format!("{pointer}/{name}");
            walk(schemas, &schema["additionalProperties"], (operation, &at, false), members);
        }
    }
}

fn member(schema: &Value, operation: Operation, pointer: &str, is_required: bool) -> Member {
    let words: Vec<&'static str> = schema["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|word| Some(&*word.as_str()?.to_owned().leak()))
        .collect();
    let kind = match schema["type"].as_str() {
        Some("array") => Kind::List,
        Some("object") => Kind::Object,
        Some("integer") => Kind::Integer,
        Some("boolean") => Kind::Boolean,
        _ if !words.is_empty() => Kind::Word,
        _ if schema["format"] == "date" => Kind::Date,
        _ if schema["pattern"].is_string() => Kind::Form,
        _ => Kind::Text,
    };
    let number = |name: &str| schema[name].as_u64().and_then(|number| usize::try_from(number).ok());
    Member {
        operation,
        // Leaked once for the life of the process.
        pointer: pointer.to_owned().leak(),
        kind,
        is_required,
        words: words.leak(),
        least: number("minLength").unwrap_or_default(),
        most: number("maxLength"),
    }
}

/// Returns a valid value of a request field as JSON text.
pub(super) fn valid(member: &Member) -> &'static str {
    let is_of_debtor = member.pointer.starts_with("/debtor");
    match member.name() {
        "instructedAmount" => r#"{"amount":"250000.00","currency":"NOK"}"#,
        "amount" => r#""250000.00""#,
        "currency" => r#""NOK""#,
        "country" => r#""NO""#,
        "creditorAgent" => r#""TESTDEFF""#,
        "creditorAccount" => r#"{"iban":"NO6100004200594","currency":"NOK"}"#,
        "debtorAccount" => r#"{"iban":"NO1400004200179","currency":"NOK"}"#,
        "creditorAddress" => r#"{"country":"NO"}"#,
        "iban" if is_of_debtor => r#""NO1400004200179""#,
        "iban" => r#""NO6100004200594""#,
        "bban" if is_of_debtor => r#""00004200179""#,
        "bban" => r#""00004200411""#,
        "frequency" => r#""Monthly""#,
        "executionRule" => r#""following""#,
        "purposeCode" => r#""OTHR""#,
        "regulatoryReportingCode" => r#""14""#,
        "startDate" => r#""2030-03-01""#,
        "requestedExecutionDate" => r#""2099-12-01""#,
        "endDate" => r#""2099-12-31""#,
        "monthsOfExecution" => "[1]",
        "paymentIds" => r#"["payment-pending-0001"]"#,
        "dayOfExecution" => r#""1""#,
        _ => r#""Synthetic""#,
    }
}
