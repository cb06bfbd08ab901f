//! The result of checking one response.

use serde_json::Value;

/// The result of checking one response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// Number of evaluated rules. Parsing the body and checking its schema count one each, and so does every
    /// further rule that found a value to judge. At least 1 for any 2xx response, 0 if the document requires
    /// nothing of it.
    pub checks: u32,
    /// Every mismatch, up to 200. A long list can violate one clause any number of times.
    pub findings: Vec<Finding>,
    /// Uses of freedoms that the document leaves to the bank.
    pub observations: Vec<Observation>,
    /// The body, if it is JSON, for any status.
    pub document: Option<Value>,
}

/// A violation of a clause in a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the clause.
    pub clause: String,
    /// The expectation.
    pub expected: String,
    /// The actual value, shortened.
    pub actual: String,
    /// The place: `body`, or `body/` with a JSON pointer (RFC 6901).
    pub at: String,
}

/// A fact that is recorded and is no violation by itself. If its clause is a choice of the bank, a bank
/// profile may require more than the default, and the caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Id of the clause that leaves the freedom.
    pub clause: String,
    /// The place as in [`Finding::at`], or the name of a header.
    pub at: String,
    /// The observed fact (`a relative reference`).
    pub text: String,
}
