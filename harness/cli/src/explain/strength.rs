//! Strengths of clauses, in sentences.

use xs2aspec_suite::Strength;

/// Returns the meaning of a strength in a sentence.
pub(super) fn meaning(strength: &Strength) -> &'static str {
    match strength {
        Strength::Stated => "stated: the document says so, in words or in a table",
        Strength::Derived(_) => "derived: it follows from a standard that the document names",
        Strength::Expected => {
            "expected: the plain reading, though another is possible; a violation is a warning"
        }
        Strength::Choice(_) => "choice: the document leaves it to the bank, and its profile decides",
        Strength::Observed(_) => "observed: the document expects nothing; the behavior is only recorded",
        Strength::Untestable(_) => "untestable: no request can show it",
    }
}
