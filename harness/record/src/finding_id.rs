//! The ids of findings, which are the same in every run. A clause and a place identify a finding.

use crate::{
    culprit::Culprit,
    digest,
    verdict::{CaseVerdict, Finding},
};

/// Number of digits of an id.
const DIGITS: usize = 16;

/// Number of digits that reports print. Commands accept these or more.
pub const PRINTED: usize = 8;

/// Returns an id as reports print it.
pub fn printed(id: &str) -> &str {
    id.get(..PRINTED).unwrap_or(id)
}

/// Returns true if a string can be an id or its first digits.
pub fn is_prefix(text: &str) -> bool {
    (PRINTED..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a place with `*` for each index, so that all elements of a list have the same place.
pub fn place(at: &str) -> String {
    let step = |step| {
        let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        if is_index(step) { "*" } else { step }
    };
    at.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// Returns the place of a finding, with the places of the rejected variants. Variants that are rejected
/// together make one finding, and other variants make another.
pub fn place_of(verdict: &CaseVerdict, finding: &Finding) -> String {
    let mut place = place(&finding.at);
    let culprit = verdict.culprit.as_ref().filter(|_| finding.is_answer_to(verdict));
    for refused in culprit.iter().flat_map(|culprit| culprit.forms()) {
        place = format!("{place} {}", refused.place);
    }
    place
}

/// Returns the id of a violation of this clause at this place.
pub fn id(clause: &str, place: &str) -> String {
    let mut hash = digest::sha256(format!("{clause}\n{place}").as_bytes());
    hash.truncate(DIGITS);
    hash
}

/// Returns the ids under which reports show a finding of a case. These are its own id, and that of the clause
/// that another valid request shows to be violated.
pub fn ids(verdict: &CaseVerdict, finding: &Finding) -> Vec<String> {
    let place = place_of(verdict, finding);
    let named = match verdict.culprit.as_deref() {
        Some(Culprit::Accepted { form, .. }) => form.clause.as_ref().map(|clause| (clause, &form.place)),
        _ => None,
    };
    let named = named.map(|(clause, at)| id(clause, &format!("{place} {}", at.to_lowercase())));
    [id(&finding.clause, &place)].into_iter().chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_no_part_of_a_place_and_a_longer_word_is() {
        assert_eq!(place("body/list/12/a1/0"), "body/list/*/a1/*");
        assert_eq!(place("status"), "status");
        assert_eq!(id("a", "b").len(), DIGITS);
        assert_ne!(id("a", "b"), id("a", "c"));
    }
}
