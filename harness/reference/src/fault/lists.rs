//! Faults of closed lists: one value too few, values that are none of it, and values that are only like one
//! of it, at every place that has the list.

use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::{country, currency};

use super::{kebab, title};
use crate::rules::{Entry, Likeness, Pattern, Place, Then, Treatment, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

/// A closed list of a member.
struct List {
    /// The clause of values that must be accepted, and of those that must be refused; `{}` is the operation.
    clauses: (&'static str, &'static str),
    pointer: &'static str,
    operations: &'static [Operation],
    all: &'static [&'static str],
    /// Values that some bank does not know.
    unknown: &'static [&'static str],
    /// Values that some bank knows besides.
    besides: &'static [&'static str],
    /// The form of the values, as a pattern.
    form: &'static str,
    /// A value that is in order, as JSON text.
    valid: &'static str,
}

const CURRENCY: List = List {
    clauses: ("currency.listed", "currency.listed"),
    pointer: "/creditorAccount/currency",
    operations: &[N],
    all: &currency::LISTED,
    unknown: &["AED", "BYR", "CUC", "GGP", "RUB", "HRK", "MRO", "SPL", "STD", "TVD", "VEF", "XDR", "ZWD"],
    besides: &["BYN", "ZWG"],
    form: "^[A-Z]{3}$",
    valid: "\"NOK\"",
};

const COUNTRY: List = List {
    clauses: ("country.listed", "country.listed"),
    pointer: "/creditorAddress/country",
    operations: &[N],
    all: &country::LISTED,
    unknown: &["AX", "BQ", "GG", "IR", "PS", "SS", "TW", "UM", "ZW"],
    besides: &["XK", "UK", "EU", "AN"],
    form: "^[A-Z]{2}$",
    valid: "\"NO\"",
};

const LISTS: [List; 12] = [
    List {
        clauses: ("purpose-code.listed", "{}.purpose-code"),
        pointer: "/purposeCode",
        operations: &[N, P],
        all: &[
            "INVS", "SALA", "IDCP", "CASH", "CORT", "INTC", "PENS", "SSBE", "SUPP", "TAXS", "TREA", "VATX",
            "LOAN", "OTHR",
        ],
        unknown: &["INVS", "SALA", "IDCP", "SSBE", "TREA", "OTHR"],
        besides: &["GDDS", "CBFF"],
        // A longer list of the same standard has codes of the same form.
        form: "^[A-Z]{4}$",
        valid: "\"OTHR\"",
    },
    List {
        clauses: ("ncbct.regulatory-reporting-code.listed", "ncbct.regulatory-reporting-code.listed"),
        pointer: "/regulatoryReportingCode",
        operations: &[N],
        all: &[
            "14", "26", "29", "31", "35", "38", "41", "43", "45", "51", "52", "53", "71", "79", "81", "82",
        ],
        unknown: &["14", "26", "31", "45", "51", "71", "82"],
        besides: &["13", "15"],
        form: "^[0-9]{2}$",
        valid: "\"14\"",
    },
    List {
        clauses: ("periodic.frequency.listed", "periodic.frequency.listed"),
        pointer: "/frequency",
        operations: &[P],
        all: &FREQUENCIES,
        unknown: &FREQUENCIES,
        besides: &[],
        form: ".",
        valid: "\"Monthly\"",
    },
    List {
        clauses: ("periodic.execution-rule.listed", "periodic.execution-rule.listed"),
        pointer: "/executionRule",
        operations: &[P],
        all: &["following", "preceeding"],
        unknown: &["following", "preceeding"],
        besides: &[],
        form: ".",
        valid: "\"following\"",
    },
    COUNTRY,
    List { operations: &[P], unknown: &["AQ", "SX", "XX"], ..COUNTRY },
    CURRENCY,
    List { operations: &[P], unknown: &["ANG", "KPW", "ZMW"], besides: &["MRU", "VES"], ..CURRENCY },
    List {
        pointer: "/debtorAccount/currency",
        unknown: &["BGN", "IMP"],
        besides: &["SLE", "XCG"],
        ..CURRENCY
    },
    List {
        pointer: "/debtorAccount/currency",
        operations: &[P],
        unknown: &["JEP", "SLL"],
        besides: &["SSP", "VED"],
        ..CURRENCY
    },
    List {
        pointer: "/instructedAmount/currency",
        unknown: &["AFN", "LYD", "YER"],
        besides: &["STN", "BYN"],
        ..CURRENCY
    },
    List {
        pointer: "/instructedAmount/currency",
        operations: &[P],
        unknown: &["BIF", "MGA", "WST"],
        besides: &["VES", "ZWG"],
        ..CURRENCY
    },
];

const FREQUENCIES: [&str; 9] = [
    "Daily",
    "Weekly",
    "EveryTwoWeeks",
    "Monthly",
    "EveryTwoMonths",
    "Quarterly",
    "SemiAnnual",
    "Annual",
    "MonthlyVariable",
];

pub(super) fn faults() -> Vec<Entry> {
    let each = LISTS.iter().flat_map(|list| list.operations.iter().map(move |operation| (list, *operation)));
    each.flat_map(|(list, operation)| of_list(list, operation)).collect()
}

/// Banks that do not know one value, for each value of each list.
pub(super) fn one_less() -> Vec<Entry> {
    let each = LISTS.iter().flat_map(|list| list.operations.iter().map(move |operation| (list, *operation)));
    let values =
        each.flat_map(|(list, operation)| list.all.iter().map(move |value| (list, operation, *value)));
    values
        .filter(|(list, operation, value)| !may_refuse_all(*operation, list.pointer, &[*value]))
        .map(|(list, operation, value)| unknown(list, operation, value))
        .collect()
}

/// Whether a bank that refuses each of these values may keep the document: in which currency an account of
/// its own is, and whether a domestic payment can be in another one than its own, is for the bank to know.
/// All accounts and domestic payments of this bank are in `NOK`.
pub(super) fn may_refuse_all(operation: Operation, pointer: &str, values: &[&str]) -> bool {
    let is_own = operation == P || pointer.starts_with("/debtorAccount/");
    is_own && pointer.ends_with("/currency") && !values.contains(&"NOK")
}

/// A bank that does not know a value of a list.
fn unknown(list: &List, operation: Operation, value: &'static str) -> Entry {
    let (title, member) = (title(operation), list.pointer[1..].replace('/', " "));
    let clause = match list.clauses.0 {
        "currency.listed" if currency::is_withdrawn(value) => "currency.listed.withdrawn",
        "currency.listed" if currency::SANCTIONED.contains(&value) => "currency.listed.sanctioned",
        "country.listed" if country::SANCTIONED.contains(&value) => "country.listed.sanctioned",
        clause => clause,
    };
    let name = format!("{clause}/no-{}{}", value.to_lowercase(), suffix(list.pointer, operation));
    let says = format!("{title} does not know the value {value} of {member}.");
    let place = Place::Body(list.pointer);
    Entry::treats(name, Treatment { operation, place, when: When::Is(value), then: Then::Refuse }, says)
}

fn of_list(list: &List, operation: Operation) -> Vec<Entry> {
    let at = |when, then| Treatment { operation, place: Place::Body(list.pointer), when, then };
    let place = suffix(list.pointer, operation);
    let besides = list.clauses.1.replace("{}", operation.id());
    let (member, title) = (list.pointer[1..].replace('/', " "), title(operation));
    let take = Then::TakeFor(list.valid);
    let mut faults: Vec<Entry> = list
        .unknown
        .iter()
        .filter(|value| list.all.contains(value))
        .map(|value| unknown(list, operation, value))
        .collect();
    faults.extend(list.besides.iter().map(|value| {
        let says = format!("{title} accepts {value} as {member}.");
        let name = format!("{besides}/{}{place}", value.to_lowercase());
        Entry::treats(name, at(When::Is(value), take), says)
    }));
    faults.extend(
        [
            ("any", When::Matches(Pattern(list.form)), "any value of this form"),
            ("beginning", When::Like(Likeness::Beginning, list.all), "a text that begins with a value"),
        ]
        .map(|(name, when, what)| {
            let says = format!("{title} accepts {what} as {member}.");
            Entry::treats(format!("{besides}/{name}{place}"), at(when, take), says)
        }),
    );
    let name = format!("value.spaces/trimmed-{}-on-{operation}", kebab(list.pointer));
    let says = format!("{title} accepts a value with spaces around it as {member}.");
    faults.push(Entry::treats(name, at(When::Like(Likeness::Blanks, list.all), take), says));
    let (case, then) = match list.clauses.0 {
        "currency.listed" => ("currency.case", Then::Capitals),
        "country.listed" => ("country.case", Then::Capitals),
        // Digits have no letter case.
        "ncbct.regulatory-reporting-code.listed" => return faults,
        _ => ("listed.case", take),
    };
    let says = format!("{title} takes {member} in whatever letters.");
    let what = if case == "listed.case" { format!("-{}", kebab(list.pointer)) } else { String::new() };
    let place = place.trim_start_matches('-');
    let place = if place.is_empty() { operation.id() } else { place };
    let when = When::Like(Likeness::LetterCase, list.all);
    faults.push(Entry::treats(format!("{case}/any{what}-{place}"), at(when, then), says));
    faults
}

/// What tells the faults of one place from those of the others that have the same list.
fn suffix(pointer: &str, operation: Operation) -> String {
    match (pointer, operation) {
        ("/purposeCode", _) | ("/creditorAddress/country" | "/creditorAccount/currency", P) => {
            format!("-{operation}")
        }
        ("/debtorAccount/currency", _) => format!("-debtor-{operation}"),
        ("/instructedAmount/currency", _) => format!("-amount-{operation}"),
        _ => String::new(),
    }
}
