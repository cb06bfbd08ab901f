//! Faults of the members of payment bodies: presence, JSON type and length (the document, sections Endpoints
//! > Create NCBCT payment, Create periodic NDCT payment, and Resources > Shared types).

use xs2aspec_bank::member::kebab_case;
use xs2aspec_bank::operation::Operation;

use super::title;
use crate::rules::{Beside, Entry, Pattern, Place, Sort, Then, Treatment, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

/// A member of a body as the faults need it.
struct Member {
    pointer: &'static str,
    /// The member's part of clause ids.
    clause: &'static str,
    operations: &'static [Operation],
    is_required: bool,
    /// JSON type, as [`When::NotType`] has it.
    kind: char,
    /// A value that is in order, as JSON text.
    valid: &'static str,
}

const fn required(
    pointer: &'static str,
    clause: &'static str,
    operations: &'static [Operation],
    kind: char,
    valid: &'static str,
) -> Member {
    Member { pointer, clause, operations, is_required: true, kind, valid }
}

const fn optional(
    pointer: &'static str,
    clause: &'static str,
    operations: &'static [Operation],
    kind: char,
    valid: &'static str,
) -> Member {
    Member { pointer, clause, operations, is_required: false, kind, valid }
}

const AMOUNT: &str = r#"{"amount":"250000.00","currency":"NOK"}"#;
const ACCOUNT: &str = r#"{"iban":"NO1400004200179","currency":"NOK"}"#;

const MEMBERS: [Member; 20] = [
    required("/instructedAmount", "instructed-amount", &[N, P], 'o', AMOUNT),
    required("/creditorName", "creditor-name", &[N, P], 's', r#""Synthetic""#),
    required("/creditorAccount", "creditor-account", &[N, P], 'o', ACCOUNT),
    required("/debtorAccount", "debtor-account", &[N, P], 'o', ACCOUNT),
    required("/startDate", "start-date", &[P], 's', r#""2030-03-01""#),
    required("/frequency", "frequency", &[P], 's', r#""Monthly""#),
    optional("/creditorAgent", "creditor-agent", &[N], 's', r#""TESTDEFF""#),
    optional("/creditorAddress", "creditor-address", &[N, P], 'o', r#"{"country":"NO"}"#),
    optional("/remittanceInformationUnstructured", "remittance-unstructured", &[N, P], 's', r#""Text""#),
    optional("/purposeCode", "purpose-code", &[N, P], 's', r#""OTHR""#),
    optional("/requestedExecutionDate", "requested-execution-date", &[N], 's', r#""2030-03-01""#),
    optional("/regulatoryReportingCode", "regulatory-reporting-code", &[N], 's', r#""14""#),
    optional("/regulatoryReportingInformation", "regulatory-reporting-information", &[N], 's', r#""Text""#),
    optional("/ultimateDebtor", "ultimate-debtor", &[P], 's', r#""Synthetic""#),
    optional("/executionRule", "execution-rule", &[P], 's', r#""following""#),
    optional("/endDate", "end-date", &[P], 's', r#""2031-03-01""#),
    optional("/monthsOfExecution", "months", &[P], 'a', "[1]"),
    optional("/dayOfExecution", "day", &[P], 's', r#""1""#),
    required("/creditorAccount/currency", "creditor-account.currency", &[N, P], 's', r#""NOK""#),
    required("/debtorAccount/currency", "debtor-account.currency", &[N, P], 's', r#""NOK""#),
];

/// Texts with a limit: clause, pointer, limit, and the operations that have them.
const LIMITS: [(&str, &str, usize, &[Operation]); 11] = [
    ("{}.creditor-name.length", "/creditorName", 70, &[N, P]),
    ("{}.remittance-unstructured.length", "/remittanceInformationUnstructured", 140, &[N, P]),
    ("ncbct.regulatory-reporting-information.length", "/regulatoryReportingInformation", 140, &[N]),
    ("periodic.ultimate-debtor.length", "/ultimateDebtor", 70, &[P]),
    ("address.street.length", "/creditorAddress/street", 70, &[N, P]),
    ("account.iban.length", "/creditorAccount/iban", 34, &[N, P]),
    ("account.iban.length", "/debtorAccount/iban", 34, &[N, P]),
    ("account.bban.length", "/creditorAccount/bban", 30, &[N, P]),
    ("account.bban.length", "/debtorAccount/bban", 30, &[N, P]),
    ("country.length", "/creditorAddress/country", 2, &[N]),
    ("country.length", "/creditorAddress/country", 2, &[P]),
];

/// In the form of a date.
const FORM: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

/// A day in another order, or with other separators.
const OTHER_ORDER: When =
    When::All(&[When::Matches(Pattern("^[^0-9]*(?:[0-9][^0-9]*){8}$")), When::Unmatched(Pattern(FORM))]);

/// In the form of a date, and none.
const IMPOSSIBLE: When = When::All(&[When::Matches(Pattern(FORM)), When::Not(&When::A(Sort::Day))]);

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    for member in &MEMBERS {
        for operation in member.operations {
            faults.extend(of_member(member, *operation));
        }
    }
    for (clause, pointer, limit, operations) in LIMITS {
        for operation in operations {
            faults.extend(of_limit(clause, pointer, limit, *operation));
        }
    }
    faults
}

fn of_member(member: &Member, operation: Operation) -> Vec<Entry> {
    let &Member { pointer, clause, is_required, kind, valid, .. } = member;
    let take = Then::TakeFor(valid);
    let entry = |name: String, when, then, says: &str| {
        let treatment = Treatment { operation, place: Place::Body(pointer), when, then };
        Entry::treats(name, treatment, format!("{} {says} {}.", title(operation), &pointer[1..]))
    };
    let mut faults = Vec::new();
    let is_currency = clause.ends_with(".currency");
    let missing =
        if is_currency { format!("{operation}.{clause}") } else { format!("{operation}.{clause}.required") };
    if is_required {
        faults.push(entry(
            format!("{missing}/not-demanded"),
            When::Absent,
            take,
            "accepts a request without",
        ));
        faults.push(entry(format!("{missing}/null"), When::Null, take, "accepts null as"));
        if !is_currency {
            faults.extend(other_names(pointer).into_iter().map(|(fault, other)| {
                let name = format!("json.names/{operation}-{clause}-{fault}");
                let says = format!("takes {} for", &other[1..]);
                entry(name, When::Absent, take, &says).only(Beside::Value(Place::Body(other)))
            }));
        }
    }
    // The forms of dates and lists have clauses of their own.
    let has_type =
        !is_currency && !valid.contains("203") && !matches!(clause, "purpose-code" | "execution-rule");
    if has_type {
        let any = format!("{operation}.{clause}.type/any");
        faults.push(entry(any, When::NotType(kind), take, "accepts a value of any JSON type as"));
    }
    // The document makes the agent and the regulatory members conditions; optional ones may be there or not.
    let is_optional = !matches!(clause, "creditor-agent" | "regulatory-reporting-code" | "months")
        && clause != "regulatory-reporting-information";
    if !is_required && is_optional {
        let name = |fault: &str| format!("{operation}.{clause}.optional/{fault}");
        faults.push(entry(name("demanded"), When::Absent, Then::Refuse, "refuses a request without"));
        faults.push(entry(name("refused"), When::Present, Then::Refuse, "refuses a request with"));
    }
    if kind == 's' && valid.contains("203") {
        let name = |fault: &str| format!("{operation}.{clause}.format/{fault}");
        faults.push(entry(name("any-text"), When::Matches(Pattern("")), take, "accepts any text as"));
        faults.push(entry(name("other-orders"), OTHER_ORDER, take, "accepts other orders and separators in"));
        faults.push(entry(name("impossible-days"), IMPOSSIBLE, take, "accepts days that no calendar has as"));
    }
    faults
}

/// What some readers of JSON take for the name of a member.
fn other_names(pointer: &'static str) -> Vec<(&'static str, &'static str)> {
    let (first, rest) = pointer[1..].split_at(1);
    let capital = format!("/{}{rest}", first.to_uppercase());
    let snake = format!("/{}", kebab_case(&pointer[1..]).replace('-', "_"));
    let mut names = vec![("begins-with-a-capital", capital)];
    if snake != pointer {
        names.push(("in-snake-case", snake));
    }
    // Made once, for as long as the program runs.
    names.into_iter().map(|(fault, name)| (fault, &*name.leak())).collect()
}

fn of_limit(clause: &str, pointer: &'static str, limit: usize, operation: Operation) -> Vec<Entry> {
    let clause = clause.replace("{}", operation.id());
    let shared = !clause.starts_with(operation.id());
    let place = pointer[1..].replace('/', " ");
    let suffix = if shared {
        format!("-{operation}{}", if pointer.starts_with("/debtor") { "-debtor" } else { "" })
    } else {
        String::new()
    };
    let entry = |fault: &str, when, then, says: String| {
        let treatment = Treatment { operation, place: Place::Body(pointer), when, then };
        Entry::treats(format!("{clause}/{fault}{suffix}"), treatment, says)
    };
    let title = title(operation);
    if limit == 2 {
        let take = Then::TakeFor("\"NO\"");
        let says = format!("{title} accepts a country of more than two letters.");
        return vec![entry("any", When::Longer(2), take, says)];
    }
    let one_more = match limit {
        70 => "seventy-one".to_owned(),
        other => (other + 1).to_string(),
    };
    let mut faults = vec![
        entry(
            &one_more,
            When::Characters(limit + 1),
            Then::Cut(limit),
            format!("{title} accepts {place} of {} characters and refuses more.", limit + 1),
        ),
        entry(
            "any",
            When::Longer(limit),
            Then::Cut(limit),
            format!("{title} cuts a longer {place} instead of refusing it."),
        ),
    ];
    // Whether an account of that number exists is the bank's to say.
    if !clause.starts_with("account.") {
        faults.push(entry(
            "one-less",
            When::Characters(limit),
            Then::Refuse,
            format!("{title} refuses {place} of {limit} characters."),
        ));
    }
    faults
}
