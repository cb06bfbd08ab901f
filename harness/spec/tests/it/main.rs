//! Tests of the spec through its public interface.

mod requests;
mod response_clauses;
mod response_mutations;
mod response_rows;
mod response_values;

use serde_json::Value;
use xs2aspec_spec::{Tree, answer::SAMPLES};

/// Returns the sample response of a shape, with all its fields.
fn sample(shape: &str) -> Value {
    let tree = Tree::embedded();
    let text = tree.text(&format!("{SAMPLES}/{shape}.json")).unwrap_or_else(|| panic!("{shape}"));
    serde_json::from_str(text).unwrap()
}
