//! What tells findings apart, the same in every run: their clause and place.

use crate::{
    culprit::Culprit,
    digest,
    verdict::{CaseVerdict, Finding},
};

/// Digits of an id.
const DIGITS: usize = 16;

/// The place of a finding, with `*` for each index: the same for all elements of a list.
pub fn place(at: &str) -> String {
    let step = |step| {
        let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        if is_index(step) { "*" } else { step }
    };
    at.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// The place of a finding of a case, with the places of what was found to be refused: what is refused
/// together is one thing, and something else another one.
pub fn place_of(verdict: &CaseVerdict, finding: &Finding) -> String {
    let mut place = place(&finding.at);
    let culprit = verdict.culprit.as_ref().filter(|_| finding.is_answer_to(verdict));
    for refused in culprit.iter().flat_map(|culprit| culprit.forms()) {
        place = format!("{place} {}", refused.place);
    }
    place
}

/// The id of what breaks this clause at this place.
pub fn id(clause: &str, place: &str) -> String {
    let mut hash = digest::sha256(format!("{clause}\n{place}").as_bytes());
    hash.truncate(DIGITS);
    hash
}

/// The ids under which reports show a finding of a case: its own, and that of the clause that another lawful
/// request shows to be broken.
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
