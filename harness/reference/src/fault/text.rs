//! Faults of free texts: characters that are counted in another way, and texts that are none for some banks.

use super::{kebab, on_member};
use crate::operation::Operation;
use crate::rules::{Count, Entry, Then, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

/// A text with a limit: pointer, limit, operations, its clause, and that of texts at the limit that are not
/// ASCII.
type Limited = (&'static str, usize, &'static [Operation], &'static str, &'static str);

#[rustfmt::skip]
const LIMITED: [Limited; 5] = [
    ("/creditorName", 70, &[N, P], "{}.creditor-name.length", "text.characters"),
    ("/ultimateDebtor", 70, &[P], "{}.ultimate-debtor.length", "text.characters"),
    ("/creditorAddress/street", 70, &[N, P], "address.street.length", "text.characters"),
    ("/remittanceInformationUnstructured", 140, &[N, P], "{}.remittance-unstructured.length", "{}.remittance-unstructured.length.non-ascii"),
    ("/regulatoryReportingInformation", 140, &[N], "{}.regulatory-reporting-information.length", "{}.regulatory-reporting-information.length.non-ascii"),
];

pub(super) fn faults() -> Vec<Entry> {
    let each = LIMITED.iter().flat_map(|text| text.2.iter().map(move |operation| (text, *operation)));
    let mut faults: Vec<Entry> = each.flat_map(|(text, operation)| of_limit(text, operation)).collect();
    faults.extend([N, P].into_iter().flat_map(addresses));
    faults.extend([N, P].map(|operation| {
        let name = format!("{operation}.remittance-unstructured.empty/dropped");
        let says = "takes an empty remittance text for none";
        on_member(operation, "/remittanceInformationUnstructured", name, (When::Is(""), Then::Drop), says)
    }));
    faults
}

/// Banks with an idea of addresses of their own.
fn addresses(operation: Operation) -> [Entry; 8] {
    let refused = |pointer: &'static str, name: &str, says: fn(&str) -> bool, what: &str| {
        let name = format!("address.free-text/{name}-on-{operation}");
        let says_so = format!("refuses {what}");
        on_member(operation, pointer, name, (When::Text(says), Then::Refuse), &says_so)
    };
    [
        refused(
            "/creditorAddress/buildingNumber",
            "building-letters",
            has_letters,
            "a building number with letters",
        ),
        refused(
            "/creditorAddress/buildingNumber",
            "building-blanks",
            |text| text.contains([' ', '-', '/']),
            "a building number of several words",
        ),
        refused("/creditorAddress/postalCode", "postal-letters", has_letters, "a postal code with letters"),
        refused(
            "/creditorAddress/postalCode",
            "postal-length",
            |text| text.len() != 4,
            "a postal code that has not four characters",
        ),
        refused(
            "/creditorAddress/postalCode",
            "postal-blanks",
            |text| text.contains([' ', '-']),
            "a postal code of two parts",
        ),
        refused(
            "/creditorAddress/city",
            "city-other",
            |text| !text.chars().all(|letter| letter.is_alphabetic() || letter == ' '),
            "a city with other characters than letters",
        ),
        refused(
            "/creditorAddress/city",
            "city-not-ascii",
            |text| !text.is_ascii(),
            "a city that is not ASCII",
        ),
        refused(
            "/creditorAddress/street",
            "street-digits",
            |text| text.bytes().any(|byte| byte.is_ascii_digit()),
            "a street with digits",
        ),
    ]
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

fn of_limit(&(pointer, limit, _, clause, at_limit): &Limited, operation: Operation) -> Vec<Entry> {
    let member = pointer[1..].replace('/', " ");
    let name = |clause: &str, fault: &str| {
        let shared = !clause.starts_with("{}");
        let place = if shared { format!("-{}-{operation}", kebab(pointer)) } else { String::new() };
        format!("{}/{fault}{place}", clause.replace("{}", operation.id()))
    };
    let longer = |clause: &str, fault: &str, count, uncounted: &str| {
        let then = Then::Cut(limit);
        let says = format!("does not count {uncounted} in {member}");
        on_member(operation, pointer, name(clause, fault), (When::Forgiven(count, limit), then), &says)
    };
    let shorter = |clause: &str, fault: &str, count, counted: &str| {
        let says = format!("counts {counted} in {member}");
        on_member(
            operation,
            pointer,
            name(clause, fault),
            (When::Overcounted(count, limit), Then::Refuse),
            &says,
        )
    };
    vec![
        longer("text.blanks", "trimmed", Count::Trimmed, "blanks around the text"),
        longer(clause, "only-ascii", Count::Ascii, "characters beyond ASCII"),
        longer(clause, "longest-line", Count::LongestLine, "lines other than the longest"),
        longer(clause, "without-marks", Count::WithoutMarks, "marks that combine with letters"),
        shorter(at_limit, "counts-bytes", Count::Bytes, "bytes"),
        shorter("text.characters", "counts-utf-16", Count::Units, "units of UTF-16"),
    ]
}
