//! Faults of the members of payment bodies: presence, JSON type and length (the document, sections Endpoints
//! > Create NCBCT payment, Create periodic NDCT payment, and Resources > Shared types).

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::title;
use crate::member::kebab_case;
use crate::operation::Operation;
use crate::rules::{Beside, Breach, Entry, Place, Then, Treatment, Unreported, When};

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

/// A body whose first member is not the first one of the document's table.
fn begins_otherwise(members: &Map<String, Value>) -> bool {
    members.keys().next().is_some_and(|first| first != "instructedAmount")
}

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
    faults.extend(conditions());
    for operation in [N, P] {
        let treatment = Treatment {
            operation,
            place: Place::Body(""),
            when: When::Together(begins_otherwise),
            then: Then::Refuse,
        };
        faults.push(Entry::treats(
            format!("json.order/amount-first-{operation}"),
            treatment,
            format!("{} wants instructedAmount to be the first member.", title(operation)),
        ));
    }
    for operation in [Operation::Basket, N, P] {
        faults.push(Entry::breach(
            format!("{operation}.body.required/not-read"),
            Breach::BodyNotRead(operation),
            format!("{} takes a body that is no JSON object for a valid one.", title(operation)),
        ));
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
        faults.push(entry(name("any-text"), When::Text(|_| true), take, "accepts any text as"));
        faults.push(entry(
            name("other-orders"),
            When::Text(is_other_order),
            take,
            "accepts other orders and separators in",
        ));
        faults.push(entry(
            name("impossible-days"),
            When::Text(is_impossible),
            take,
            "accepts days that no calendar has as",
        ));
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

fn conditions() -> Vec<Entry> {
    let ncbct = |name: &str, pointer, when, then, says: &str| {
        let treatment = Treatment { operation: N, place: Place::Body(pointer), when, then };
        Entry::treats(name, treatment, says)
    };
    let mut faults = vec![
        ncbct(
            "ncbct.creditor-agent.bban/not-demanded",
            "/creditorAgent",
            When::AbsentWith("/creditorAccount/bban"),
            Then::TakeFor("\"TESTDEFF\""),
            "A cross-border payment to a bban may lack the agent.",
        ),
        ncbct(
            "ncbct.creditor-agent.bban/not-demanded-with-currency",
            "/creditorAgent",
            When::AbsentWith("/creditorAccount/currency"),
            Then::TakeFor("\"TESTDEFF\""),
            "A cross-border payment to a bban with a currency may lack the agent.",
        ),
        ncbct(
            "ncbct.creditor-agent.iban/demanded",
            "/creditorAgent",
            When::AbsentWith("/creditorAccount/iban"),
            Then::Refuse,
            "A cross-border payment to an iban must have an agent.",
        ),
        ncbct(
            "ncbct.remittance-unstructured.utf-8/ascii-only",
            "/remittanceInformationUnstructured",
            When::Text(|text| !text.is_ascii()),
            Then::Refuse,
            "The remittance text of a cross-border payment has to be ASCII.",
        ),
        ncbct(
            "ncbct.regulatory-reporting-code.listed/not-the-first-ones",
            "/regulatoryReportingCode",
            When::Text(|code| ["14", "26", "29"].contains(&code)),
            Then::Refuse,
            "The first codes of the list are refused.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.required/only-above",
            Breach::ReportingFrom(Decimal::new(10_000_001, 2)),
            "The regulatory members are required only above 100 000 NOK.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.required/not-to-nordic-countries",
            Breach::Unreported(Unreported::To(&["SE", "DK", "FI", "IS"])),
            "The regulatory members are not required of transfers to Nordic countries.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.required/not-to-a-norwegian-address",
            Breach::Unreported(Unreported::Address("NO")),
            "The regulatory members are not required of transfers to a creditor whose address is in Norway.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.required/not-to-switzerland",
            Breach::Unreported(Unreported::To(&["CH"])),
            "The regulatory members are not required of transfers to Switzerland.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.required/beyond-31-bits",
            Breach::Unreported(Unreported::Signed),
            "The regulatory members are required by the hundredths of the amount, as a signed number of 32 bits.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.required/beyond-32-bits",
            Breach::Unreported(Unreported::Unsigned),
            "The regulatory members are required by the hundredths of the amount, as a number of 32 bits.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-code.listed/not-of-small-ones",
            Breach::Unreported(Unreported::SmallCodes),
            "The regulatory reporting code of a transfer of less than 100 000 NOK is not looked at.",
        ),
        Entry::breach(
            "ncbct.regulatory-reporting-information.required/never",
            Breach::ReportingFrom(Decimal::MAX),
            "The regulatory members are never required.",
        ),
    ];
    for (name, pointer) in
        [("code", "/regulatoryReportingCode"), ("information", "/regulatoryReportingInformation")]
    {
        faults.push(ncbct(
            &format!("ncbct.regulatory-reporting-{name}.required/not-demanded"),
            pointer,
            When::Absent,
            Then::TakeFor("\"14\""),
            &format!("A cross-border payment never needs a regulatory reporting {name}."),
        ));
    }
    for operation in [N, P] {
        faults.extend(shared(operation));
    }
    faults
}

/// Members of the shared types.
fn shared(operation: Operation) -> Vec<Entry> {
    let entry = |name: &str, pointer, when, then, says: &str| {
        let treatment = Treatment { operation, place: Place::Body(pointer), when, then };
        Entry::treats(format!("{name}-{operation}"), treatment, format!("{} {says}.", title(operation)))
    };
    let neither: fn(&Value) -> bool =
        |account| account.is_object() && account.get("iban").is_none() && account.get("bban").is_none();
    let take = Then::TakeFor(ACCOUNT);
    let by_bban: fn(&Value) -> bool = |account| account.get("bban").is_some();
    let mut faults = vec![
        entry(
            "account.identifier/no-bban-debtor",
            "/debtorAccount",
            When::Value(by_bban),
            Then::Refuse,
            "refuses a debtor account that is named by its bban",
        ),
        entry(
            "account.identifier/none",
            "/creditorAccount",
            When::Value(neither),
            take,
            "accepts a creditor account without number",
        ),
        entry(
            "account.identifier/none-debtor",
            "/debtorAccount",
            When::Value(neither),
            take,
            "accepts a debtor account without number",
        ),
        entry(
            "account.currency/empty",
            "/creditorAccount/currency",
            When::Is(""),
            Then::TakeFor("\"NOK\""),
            "takes an empty currency of an account for NOK",
        ),
        entry(
            "address.country/empty",
            "/creditorAddress/country",
            When::Is(""),
            Then::TakeFor("\"NO\""),
            "takes an empty country of an address for Norway",
        ),
        entry(
            "address.country/null",
            "/creditorAddress/country",
            When::Null,
            Then::TakeFor("\"NO\""),
            "takes null as the country of an address for Norway",
        ),
        entry(
            "address.shape/any-type",
            "/creditorAddress/buildingNumber",
            When::NotType('s'),
            Then::TakeFor("\"1\""),
            "accepts any JSON type as a building number",
        ),
        entry(
            "address.shape/any-type-city",
            "/creditorAddress/city",
            When::NotType('s'),
            Then::TakeFor("\"1\""),
            "accepts any JSON type as a city",
        ),
        entry(
            "address.shape/any-type-postal-code",
            "/creditorAddress/postalCode",
            When::NotType('s'),
            Then::TakeFor("\"1\""),
            "accepts any JSON type as a postal code",
        ),
    ];
    let country = Treatment {
        operation,
        place: Place::Body("/creditorAddress/country"),
        when: When::AbsentWith("/creditorAddress"),
        then: Then::TakeFor("\"SE\""),
    };
    faults.push(Entry::treats(
        format!("{operation}.creditor-address.country/not-demanded"),
        country,
        format!("{} takes an address without country for one in Sweden.", title(operation)),
    ));
    let empty = Treatment {
        operation,
        place: Place::Body("/remittanceInformationUnstructured"),
        when: When::Is(""),
        then: Then::TakeFor("\"Text\""),
    };
    faults.push(Entry::treats(
        format!("{operation}.remittance-unstructured.empty/accepted"),
        empty,
        format!("{} accepts an empty remittance text.", title(operation)),
    ));
    faults
}

/// A day in another order, or with other separators.
fn is_other_order(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits == 8 && !has_form(text)
}

/// In the form of a date, and none.
fn is_impossible(text: &str) -> bool {
    has_form(text) && crate::date::parse(text).is_err()
}

fn has_form(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}
