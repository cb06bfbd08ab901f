//! Faults of JSON types: a value of one other type is accepted, at every place whose value is a text or an
//! object (the document, sections Endpoints and Resources > Shared types).

use xs2aspec_bank::operation::Operation;

use super::{kebab, on_member};
use crate::rules::{Entry, Then, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

/// Pointer, operations, clause of other types (`{}` is the operation), and a value that is in order.
type Typed = (&'static str, &'static [Operation], &'static str, &'static str);

#[rustfmt::skip]
const TEXTS: [Typed; 25] = [
    ("/creditorName", &[N, P], "{}.creditor-name.type", r#""Synthetic""#),
    ("/creditorAgent", &[N], "ncbct.creditor-agent.type", r#""TESTDEFF""#),
    ("/ultimateDebtor", &[P], "periodic.ultimate-debtor.type", r#""Synthetic""#),
    ("/remittanceInformationUnstructured", &[N, P], "{}.remittance-unstructured.type", r#""Text""#),
    ("/purposeCode", &[N, P], "purpose-code.listed", r#""OTHR""#),
    ("/requestedExecutionDate", &[N], "ncbct.requested-execution-date.format", r#""2099-12-01""#),
    ("/regulatoryReportingCode", &[N], "ncbct.regulatory-reporting-code.type", r#""14""#),
    ("/regulatoryReportingInformation", &[N], "ncbct.regulatory-reporting-information.type", r#""Text""#),
    ("/startDate", &[P], "periodic.start-date.format", r#""2030-03-01""#),
    ("/endDate", &[P], "periodic.end-date.format", r#""2099-12-31""#),
    ("/executionRule", &[P], "periodic.execution-rule.listed", r#""following""#),
    ("/frequency", &[P], "periodic.frequency.type", r#""Monthly""#),
    ("/dayOfExecution", &[P], "periodic.day.type", r#""1""#),
    ("/instructedAmount/amount", &[N, P], "amount.string", r#""250000.00""#),
    ("/instructedAmount/currency", &[N, P], "currency.listed", r#""NOK""#),
    ("/creditorAccount/iban", &[N, P], "account.iban.length", r#""NO6100004200594""#),
    ("/creditorAccount/bban", &[N, P], "account.bban.length", r#""00004200411""#),
    ("/creditorAccount/currency", &[N, P], "currency.listed", r#""NOK""#),
    ("/debtorAccount/iban", &[N, P], "account.iban.length", r#""NO1400004200179""#),
    ("/debtorAccount/bban", &[N, P], "account.bban.length", r#""00004200179""#),
    ("/debtorAccount/currency", &[N, P], "currency.listed", r#""NOK""#),
    ("/creditorAddress/street", &[N, P], "address.street.length", r#""Street""#),
    ("/creditorAddress/buildingNumber", &[N, P], "address.shape", r#""1""#),
    ("/creditorAddress/postalCode", &[N, P], "address.shape", r#""0001""#),
    ("/creditorAddress/country", &[N, P], "country.listed", r#""NO""#),
];

const OBJECTS: [Typed; 3] = [
    (
        "/creditorAccount",
        &[N, P],
        "{}.creditor-account.type",
        r#"{"iban":"NO6100004200594","currency":"NOK"}"#,
    ),
    ("/debtorAccount", &[N, P], "{}.debtor-account.type", r#"{"iban":"NO1400004200179","currency":"NOK"}"#),
    ("/creditorAddress", &[N, P], "{}.creditor-address.type", r#"{"country":"NO"}"#),
];

const NUMBER: (char, &str, &str) = ('n', "number", "a number");
const OTHERS: [(char, &str, &str); 3] =
    [('b', "boolean", "a boolean"), ('a', "list", "a list"), ('o', "object", "an object")];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    // A number is what people write for a text of digits; of the other types each place has one.
    for (at, typed) in TEXTS.iter().enumerate() {
        for operation in typed.1 {
            faults.extend([NUMBER, OTHERS[at % 3]].map(|kind| of_type(typed, *operation, kind)));
        }
    }
    for (at, typed) in OBJECTS.iter().enumerate() {
        let kind = [('s', "text", "a text"), OTHERS[1]][at % 2];
        faults.extend(typed.1.iter().map(|operation| of_type(typed, *operation, kind)));
    }
    for (pointer, operations) in NULLS {
        faults.extend(operations.iter().map(|operation| {
            let name = format!("json.null.request/{}-{operation}", kebab(pointer));
            let says = format!("takes null as {} for none", pointer[1..].replace('/', " "));
            on_member(*operation, pointer, name, (When::Null, Then::Drop), &says)
        }));
    }
    faults
}

/// Members that need not be there.
const NULLS: [(&str, &[Operation]); 14] = [
    ("/creditorAgent", &[N]),
    ("/creditorAddress", &[N, P]),
    ("/ultimateDebtor", &[P]),
    ("/remittanceInformationUnstructured", &[N, P]),
    ("/purposeCode", &[N, P]),
    ("/requestedExecutionDate", &[N]),
    ("/executionRule", &[P]),
    ("/endDate", &[P]),
    ("/monthsOfExecution", &[P]),
    ("/dayOfExecution", &[P]),
    ("/creditorAccount/bban", &[N, P]),
    ("/debtorAccount/bban", &[N, P]),
    ("/creditorAddress/street", &[N, P]),
    ("/creditorAddress/city", &[N, P]),
];

/// A value of this type is taken for one that is in order.
fn of_type(
    (pointer, _, clause, valid): &Typed,
    operation: Operation,
    (letter, kind, words): (char, &str, &str),
) -> Entry {
    let clause = clause.replace("{}", operation.id());
    let name = format!("{clause}/{kind}-as-{}-{operation}", kebab(pointer));
    let says = format!("accepts {words} as {}", pointer[1..].replace('/', " "));
    on_member(operation, pointer, name, (When::Type(letter), Then::TakeFor(valid)), &says)
}
