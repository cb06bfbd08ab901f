//! Maps each row of the tables and each way to violate it to a clause. If a rule file has a fault of the same
//! row, its clause is used.

use xs2aspec_bank::member::kebab_case;
use xs2aspec_bank::operation::Operation;

use super::table::Member;

/// Converts the name of a field for clause ids: `creditor-name`.
pub(super) fn subject(name: &str) -> String {
    match name {
        "dayOfExecution" => "day".to_owned(),
        "monthsOfExecution" => "months".to_owned(),
        "batchNumberOfTransactions" => "batch-number".to_owned(),
        _ => kebab_case(&name.replace("remittanceInformation", "remittance").replace('_', "")),
    }
}

/// Returns the first part of a pointer.
fn top(member: &Member) -> &'static str {
    member.pointer.split('/').nth(1).unwrap_or_default()
}

/// Returns the clause that requires a field.
pub(super) fn required(member: &Member) -> String {
    let operation = member.operation;
    match member.name() {
        "amount" => "amount.required".to_owned(),
        "currency" if top(member) == "instructedAmount" => "amount.currency".to_owned(),
        "currency" => format!("{operation}.{}.currency", subject(top(member))),
        "country" => format!("{operation}.{}.country", subject(top(member))),
        name => format!("{operation}.{}.required", subject(name)),
    }
}

/// Returns the clause that makes a field optional, or None if some requests require it.
pub(super) fn optional(member: &Member) -> Option<String> {
    match (top(member), member.name()) {
        ("creditorAddress", name) if name != "creditorAddress" => {
            Some(format!("{}.creditor-address.optional", member.operation))
        }
        (_, "iban" | "bban") => Some("account.identifier".to_owned()),
        (
            _,
            "creditorAgent"
            | "monthsOfExecution"
            | "regulatoryReportingCode"
            | "regulatoryReportingInformation",
        ) => None,
        (_, name) => Some(format!("{}.{}.optional", member.operation, subject(name))),
    }
}

/// Returns the clause that allows a field.
pub(super) fn taken(member: &Member) -> Option<String> {
    match (top(member), member.name()) {
        ("creditorAddress", name) if name != "creditorAddress" => Some("address.free-text".to_owned()),
        (_, "creditorAgent") => Some("ncbct.creditor-agent.bic".to_owned()),
        (_, "monthsOfExecution") => Some("periodic.months".to_owned()),
        (_, "regulatoryReportingCode") => Some("ncbct.regulatory-reporting-code.listed".to_owned()),
        (_, "regulatoryReportingInformation") => None,
        _ => optional(member),
    }
}

/// Returns the clause of the JSON type.
pub(super) fn of_type(member: &Member) -> String {
    let operation = member.operation;
    match member.name() {
        "amount" => "amount.string".to_owned(),
        "currency" => "currency.listed".to_owned(),
        "country" => "country.listed".to_owned(),
        "purposeCode" => unlisted(member),
        "executionRule" => "periodic.execution-rule.listed".to_owned(),
        "startDate" | "endDate" | "requestedExecutionDate" => format(member),
        "iban" | "bban" => format!("account.{}.length", member.name()),
        "street" => "address.street.length".to_owned(),
        "buildingNumber" | "postalCode" | "city" => "address.shape".to_owned(),
        name => format!("{operation}.{}.type", subject(name)),
    }
}

/// Returns the clause of a date.
pub(super) fn format(member: &Member) -> String {
    format!("{}.{}.format", member.operation, subject(member.name()))
}

/// Returns the clause of the maximum length.
pub(super) fn length(member: &Member) -> String {
    match member.name() {
        "iban" | "bban" => format!("account.{}.length", member.name()),
        "street" => "address.street.length".to_owned(),
        name => format!("{}.{}.length", member.operation, subject(name)),
    }
}

/// Returns the clause that counts characters.
pub(super) fn characters(member: &Member) -> String {
    match member.name() {
        "remittanceInformationUnstructured" | "regulatoryReportingInformation" => {
            format!("{}.non-ascii", length(member))
        }
        _ => "text.characters".to_owned(),
    }
}

/// Returns the clause that allows all characters.
pub(super) fn letters(member: &Member) -> String {
    match (member.operation, member.name()) {
        (Operation::Ncbct, "remittanceInformationUnstructured") => {
            "ncbct.remittance-unstructured.utf-8".to_owned()
        }
        _ if top(member) == "creditorAddress" => "address.free-text".to_owned(),
        _ => characters(member),
    }
}

/// Returns the clause that allows each value of a closed list.
pub(super) fn listed(member: &Member) -> String {
    match member.name() {
        name @ ("currency" | "country") => format!("{name}.listed"),
        "purposeCode" => "purpose-code.listed".to_owned(),
        name => format!("{}.{}.listed", member.operation, subject(name)),
    }
}

/// Returns the clause that forbids unlisted values.
pub(super) fn unlisted(member: &Member) -> String {
    match member.name() {
        "purposeCode" => format!("{}.purpose-code", member.operation),
        _ => listed(member),
    }
}

/// Returns the clause that forbids longer values, with or without a listed value in them.
pub(super) fn longer(member: &Member) -> String {
    match member.name() {
        "country" => "country.length".to_owned(),
        _ => unlisted(member),
    }
}

/// Returns the clause that forbids an empty string.
pub(super) fn empty(member: &Member) -> String {
    match (top(member), member.name()) {
        ("debtorAccount" | "creditorAccount", "currency") => "account.currency".to_owned(),
        (_, "country") => "address.country".to_owned(),
        _ => unlisted(member),
    }
}

/// Returns the clause of case sensitivity.
pub(super) fn case(member: &Member) -> String {
    match member.name() {
        name @ ("currency" | "country") => format!("{name}.case"),
        _ => "listed.case".to_owned(),
    }
}

/// Returns the clause of a response field, or None if no clause covers it.
pub(super) fn of_answer(member: &Member) -> Option<String> {
    let names: Vec<&str> = member
        .pointer
        .split('/')
        .skip(1)
        .filter(|name| !name.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    let one = |clause: &str| Some(clause.to_owned());
    if let ["href" | "verbs"] = names[names.len().saturating_sub(1)..] {
        return one(&format!("link.{}", names[names.len() - 1]));
    }
    match (member.operation, names.as_slice()) {
        (Operation::Customers, [.., "_links", "self" | "engagements"]) if names.len() > 2 => {
            one("customer.agreement.links")
        }
        (Operation::Customers, ["_links", "self"]) => one("customer.links.self"),
        (_, [.., "_links", _]) => one("links.shape"),
        (_, [.., "amount"]) => one("amount.string"),
        (_, [.., "transactionFees" | "transactionAmount", "currency"]) => one("amount.currency"),
        (_, [.., account, "iban" | "bban"]) if account.ends_with("Account") => {
            one(&format!("account.{}.length", member.name()))
        }
        (_, [.., account, "currency"]) if account.ends_with("Account") => None,
        (
            _,
            [
                ..,
                "remittanceInformationStructuredArray",
                name @ ("reference" | "referenceType" | "referenceIssuer"),
            ],
        ) => {
            let length = if *name == "reference" && member.most.is_none() { "" } else { ".length" };
            one(&format!("remittance-structured.{}{length}", subject(name)))
        }
        (Operation::Basket, [name]) => one(&format!("basket.response.{}", subject(name))),
        (Operation::Ncbct | Operation::Periodic, ["tppMessages", "text"]) => one("tpp-message.text.length"),
        (Operation::Ncbct | Operation::Periodic, ["tppMessages", name]) => {
            one(&format!("tpp-message.{}", subject(name)))
        }
        (Operation::Ncbct | Operation::Periodic, [name]) => {
            one(&format!("payment.response.{}", subject(name)))
        }
        (Operation::Customers, ["agreements", name]) => one(&format!("customer.agreement.{}", subject(name))),
        (Operation::Customers, [name]) => one(&format!("customer.{}", subject(name))),
        (Operation::Customers, []) => one("customers.response"),
        (Operation::Transaction, ["transactionsDetails"]) => one("transaction.wrapper"),
        (Operation::Transaction, ["transactionsDetails", "currencyExchange", name]) => {
            one(&format!("transaction.currency-exchange.{}", subject(name)))
        }
        (Operation::Transaction, ["transactionsDetails", "entryDetails", name]) => {
            one(&format!("transaction.entry.{}{}", subject(name), limit(member, name)))
        }
        (Operation::Transaction, ["transactionsDetails", name]) => {
            one(&format!("transaction.{}{}", subject(name), limit(member, name)))
        }
        (Operation::Status(_), ["transactionStatus"]) => one("payment.status.shape"),
        _ => None,
    }
}

/// Returns the suffix of clauses about strings with a limit.
fn limit(member: &Member, name: &str) -> &'static str {
    let is_limited = member.most.is_some() || name == "remittanceInformationUnstructuredArray";
    if is_limited { ".length" } else { "" }
}
