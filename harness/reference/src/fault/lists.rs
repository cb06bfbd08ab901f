//! Faults of closed lists: one value too few, or any value.

use super::title;
use crate::operation::Operation;
use crate::rules::{Entry, Place, Then, Treatment, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

/// A closed list of a member.
struct List {
    /// The clause of values that must be accepted, and of those that must be refused.
    clauses: (&'static str, &'static str),
    pointer: &'static str,
    operations: &'static [Operation],
    /// Values that some bank does not know.
    values: &'static [&'static str],
}

const LISTS: [List; 6] = [
    List {
        clauses: ("purpose-code.listed", "{}.purpose-code"),
        pointer: "/purposeCode",
        operations: &[N, P],
        values: &["INVS", "SALA", "IDCP", "SSBE", "TREA", "OTHR"],
    },
    List {
        clauses: ("ncbct.regulatory-reporting-code.listed", "ncbct.regulatory-reporting-code.listed"),
        pointer: "/regulatoryReportingCode",
        operations: &[N],
        values: &["14", "26", "31", "45", "51", "71", "82"],
    },
    List {
        clauses: ("periodic.frequency.listed", "periodic.frequency.listed"),
        pointer: "/frequency",
        operations: &[P],
        values: &[
            "Daily",
            "Weekly",
            "EveryTwoWeeks",
            "Monthly",
            "EveryTwoMonths",
            "Quarterly",
            "SemiAnnual",
            "Annual",
            "MonthlyVariable",
        ],
    },
    List {
        clauses: ("periodic.execution-rule.listed", "periodic.execution-rule.listed"),
        pointer: "/executionRule",
        operations: &[P],
        values: &["following", "preceeding"],
    },
    List {
        clauses: ("country.listed", "country.listed"),
        pointer: "/creditorAddress/country",
        operations: &[N],
        values: &["AX", "BQ", "GG", "PS", "SS", "TW", "UM", "ZW"],
    },
    List {
        clauses: ("currency.listed", "currency.listed"),
        pointer: "/creditorAccount/currency",
        operations: &[N],
        values: &["AED", "BYR", "CUC", "GGP", "HRK", "MRO", "SPL", "STD", "TVD", "VEF", "XDR", "ZWD"],
    },
];

/// Name, pointer, operation, whether a text is on the list, and a text that is.
type Outside = (&'static str, &'static str, Operation, fn(&str) -> bool, &'static str);

/// Values of lists that no bank of this interface has.
const OUTSIDE: [Outside; 6] = [
    ("country.listed/any-periodic", "/creditorAddress/country", P, is_country, "\"NO\""),
    ("currency.listed/any-periodic", "/creditorAccount/currency", P, is_currency, "\"NOK\""),
    ("currency.listed/any-debtor-ncbct", "/debtorAccount/currency", N, is_currency, "\"NOK\""),
    ("currency.listed/any-debtor-periodic", "/debtorAccount/currency", P, is_currency, "\"NOK\""),
    ("currency.listed/any-amount-ncbct", "/instructedAmount/currency", N, is_currency, "\"NOK\""),
    ("currency.listed/any-amount-periodic", "/instructedAmount/currency", P, is_currency, "\"NOK\""),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    for list in &LISTS {
        for operation in list.operations {
            faults.extend(of_list(list, *operation));
        }
    }
    for (name, pointer, operation, outside, valid) in OUTSIDE {
        let treatment = Treatment {
            operation,
            place: Place::Body(pointer),
            when: When::Text(outside),
            then: Then::TakeFor(valid),
        };
        let says = format!(
            "{} accepts any code of this form as {}.",
            title(operation),
            pointer[1..].replace('/', " ")
        );
        faults.push(Entry::treats(name, treatment, says));
    }
    faults
}

fn of_list(list: &List, operation: Operation) -> Vec<Entry> {
    let at = |when, then| Treatment { operation, place: Place::Body(list.pointer), when, then };
    let several = if list.operations.len() > 1 { format!("-{operation}") } else { String::new() };
    let (known, unknown) = list.clauses;
    let unknown = unknown.replace("{}", operation.id());
    let member = list.pointer[1..].replace('/', " ");
    let mut faults: Vec<Entry> = list
        .values
        .iter()
        .map(|value| {
            let name = format!("{known}/no-{}{several}", value.to_lowercase());
            let says = format!("{} does not know the value {value} of {member}.", title(operation));
            Entry::treats(name, at(When::Is(value), Then::Refuse), says)
        })
        .collect();
    let valid = match list.pointer {
        "/purposeCode" => "\"OTHR\"",
        "/regulatoryReportingCode" => "\"14\"",
        "/frequency" => "\"Monthly\"",
        "/executionRule" => "\"following\"",
        "/creditorAddress/country" => "\"NO\"",
        _ => "\"NOK\"",
    };
    let any: fn(&str) -> bool = match list.pointer {
        "/creditorAddress/country" => is_country,
        "/creditorAccount/currency" => is_currency,
        // A longer list of the same standard has codes of the same form.
        "/purposeCode" => |text| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_uppercase()),
        "/regulatoryReportingCode" => {
            |text| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => |text| !text.is_empty(),
    };
    let says = format!("{} accepts any value of this form as {member}.", title(operation));
    faults.push(Entry::treats(
        format!("{unknown}/any{several}"),
        at(When::Text(any), Then::TakeFor(valid)),
        says,
    ));
    faults
}

fn is_country(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}
