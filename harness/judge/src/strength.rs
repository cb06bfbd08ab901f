//! What the ledger says of a clause, as the record says it.

use xs2aspec_record::Strength;
use xs2aspec_suite::Clause;

/// The strength of a clause, as the record says it, and the standard of a derived one.
pub(crate) fn strength(clause: &Clause) -> (Strength, Option<String>) {
    use xs2aspec_suite::Strength as Kind;
    match &clause.strength {
        Kind::Stated => (Strength::Stated, None),
        Kind::Derived(standard) => (Strength::Derived, Some(standard.clone())),
        Kind::Expected => (Strength::Expected, None),
        Kind::Choice(_) => (Strength::Choice, None),
        Kind::Observed(_) => (Strength::Observed, None),
        Kind::Untestable(_) => (Strength::Untestable, None),
    }
}
