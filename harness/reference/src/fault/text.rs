//! Faults of free texts: characters that are counted in another way.

use xs2aspec_bank::operation::Operation;

use super::{kebab, on_member};
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
    each.flat_map(|(text, operation)| of_limit(text, operation)).collect()
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
