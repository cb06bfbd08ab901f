//! Fingerprints of payments. The bank compares a new payment with thousands of earlier ones without parsing
//! each.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

/// The fields that say what is paid, from where and to whom.
pub(crate) const TERMS: [&str; 3] = ["instructedAmount", "debtorAccount", "creditorAccount"];

/// Hashes of a payment: one of all its fields in any order, and one of its [`TERMS`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fingerprint {
    pub(crate) members: u64,
    pub(crate) terms: u64,
}

impl Fingerprint {
    pub(crate) fn of(members: &Map<String, Value>) -> Self {
        let terms = members.iter().filter(|(name, _)| TERMS.contains(&name.as_str()));
        Self { members: digest(members), terms: sum(terms) }
    }
}

fn digest(members: &Map<String, Value>) -> u64 {
    sum(members.iter())
}

/// Adds hashes, so that order does not matter.
fn sum<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>) -> u64 {
    members.map(|(name, value)| hash(&(name, of_value(value)))).fold(0, u64::wrapping_add)
}

fn of_value(value: &Value) -> u64 {
    match value {
        Value::Object(members) => digest(members),
        Value::Array(items) => hash(&items.iter().map(of_value).collect::<Vec<u64>>()),
        other => hash(&other.to_string()),
    }
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, digest};

    #[test]
    fn a_text_is_not_among_the_terms() {
        let of = |text: &str| Fingerprint::of(&serde_json::from_str(text).unwrap());
        let plain =
            of(r#"{"instructedAmount": {"amount": "1"}, "creditorAccount": {"iban": "A"}, "text": "a"}"#);
        let text =
            of(r#"{"creditorAccount": {"iban": "A"}, "instructedAmount": {"amount": "1"}, "text": "b"}"#);
        let amount =
            of(r#"{"instructedAmount": {"amount": "2"}, "creditorAccount": {"iban": "A"}, "text": "a"}"#);
        assert!(text.terms == plain.terms && text.members != plain.members);
        assert!(amount.terms != plain.terms && amount.members != plain.members);
    }

    #[test]
    fn members_in_any_order_have_one_digest() {
        let of = |text: &str| digest(&serde_json::from_str(text).unwrap());
        let plain = of(r#"{"a": "1", "b": {"c": [1, 2], "d": null}}"#);
        assert_eq!(of(r#"{"b": {"d": null, "c": [1, 2]}, "a": "1"}"#), plain);
        for other in [
            r#"{"a": 1, "b": {"c": [1, 2], "d": null}}"#,
            r#"{"a": "2", "b": {"c": [1, 2], "d": null}}"#,
            r#"{"a": "1", "b": {"c": [2, 1], "d": null}}"#,
            r#"{"a": "1", "b": {"c": [1, 2]}}"#,
            r#"{"a": "1", "b": {"d": [1, 2], "c": null}}"#,
            r#"{"b": "1", "a": {"c": [1, 2], "d": null}}"#,
        ] {
            assert_ne!(of(other), plain, "{other}");
        }
    }
}
