//! What the rules say of one answer.

use serde_json::Value;

/// What the rules say of one answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// How many rules were evaluated: reading the body and its schema count one each, and so does every
    /// further rule that found a value to judge. At least 1 for any 2xx; 0 for an answer of which nothing is
    /// demanded.
    pub checks: u32,
    /// Every mismatch, up to 200: a long list can break one clause without end.
    pub findings: Vec<Finding>,
    /// What the answer does where the document leaves it free.
    pub observations: Vec<Observation>,
    /// The body, where it is JSON; of any status.
    pub document: Option<Value>,
}

/// Something in an answer that breaks a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the clause.
    pub clause: String,
    /// What was expected.
    pub expected: String,
    /// What was found, shortened.
    pub actual: String,
    /// Where: `body` or `body/` with a JSON pointer (RFC 6901).
    pub at: String,
}

/// Something that is recorded and never a violation by itself. Where its clause is a choice of the bank, a
/// target profile may demand more than the default, and the caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Id of the clause that leaves the freedom.
    pub clause: String,
    /// Where, as in [`Finding::at`], or the name of a header.
    pub at: String,
    /// What was seen (`a relative reference`).
    pub text: String,
}
