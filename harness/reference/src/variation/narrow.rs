//! What only a strict bank asks of a request, and what it says when it refuses one.

use crate::rules::{Effect, Entry, Narrowness, Wrapper};

pub(super) fn variations() -> Vec<Entry> {
    NARROW
        .into_iter()
        .map(|(name, narrowness, says)| {
            Entry::new(name, vec![Effect::Wraps(Wrapper::Narrow(narrowness))], says)
        })
        .collect()
}

const NARROW: [(&str, Narrowness, &str); 5] = [
    (
        "header.not-part.sent/unknown-refused",
        Narrowness::KnownHeaders,
        "Headers of the PSU, the TPP and of this kind of interfaces that the document does not list are refused.",
    ),
    (
        "header.not-part.sent/all-refused",
        Narrowness::OwnHeaders,
        "Headers of other operations are refused, whichever they are.",
    ),
    ("header.not-part.sent/twice-refused", Narrowness::OneLine, "A header comes in one line."),
    (
        "header.not-part.sent/parameters-refused",
        Narrowness::KnownParameters,
        "Query parameters that the document does not list are refused.",
    ),
    (
        "error.funds/of-unknown-debtors",
        Narrowness::KnownDebtors,
        "A payment from an account that the bank does not have is refused.",
    ),
];
