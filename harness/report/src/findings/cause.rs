//! Which symptoms have one cause. A finding is the likeliest cause, and carries what it explains.
//!
//! What may explain what: a refused plain request whatever is refused for what it was found to mind, and the
//! plain requests of other operations that get the same answer; a wrong part of an answer the same part
//! elsewhere, and what the same cases show beside it; a rule that is not kept at a place what else is answered
//! in the same way at that place.

use std::{cmp::Reverse, collections::BTreeSet};

use xs2aspec_record::Level;

use super::symptom::{Kind, Symptom, Symptoms};

/// Symptoms with one cause.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The likeliest cause, by its position.
    pub(super) root: usize,
    /// What it explains.
    pub(super) carried: Vec<usize>,
    /// What kind of thing is wrong.
    pub(super) kind: Kind,
}

/// The groups, likeliest causes first, of each level; without what is left out.
pub(super) fn groups(symptoms: &Symptoms, is_left_out: &dyn Fn(&Symptom) -> bool) -> Vec<Group> {
    let all = &symptoms.all;
    let mut order: Vec<usize> = (0..all.len()).filter(|at| !is_left_out(&all[*at])).collect();
    let likely = |at: &usize| {
        let symptom = &all[*at];
        let failing = Reverse(share(symptoms, symptom));
        // A statement comes before those that go on from it.
        let clause = symptom.clause.as_str();
        (Reverse(symptom.level), symptom.kind, symptom.distance(), failing, symptom.rank, clause, *at)
    };
    order.sort_by(|one, other| likely(one).cmp(&likely(other)));
    let mut groups: Vec<Group> = Vec::new();
    for at in order {
        match groups.iter_mut().find(|group| explains(&all[group.root], &all[at])) {
            Some(group) => group.carried.push(at),
            None => groups.push(Group { root: at, carried: Vec::new(), kind: all[at].kind }),
        }
    }
    for group in &mut groups {
        name(group, all);
    }
    groups
}

/// Whether one symptom explains another.
fn explains(root: &Symptom, other: &Symptom) -> bool {
    // What one end breaks is no reason for what the other does.
    if root.end != other.end {
        return false;
    }
    match (root.kind, other.kind) {
        (Kind::Plain, Kind::Plain) => root.actual == other.actual && root.places().eq(other.places()),
        _ if !root.is_of_status && !other.is_of_status => {
            let same_cases = root.witnesses == other.witnesses && root.cases == other.cases;
            let same_mismatch = root.expected == other.expected && root.actual == other.actual;
            (root.clause == other.clause && part(&root.place) == part(&other.place))
                || (root.place == other.place && (same_cases || same_mismatch))
                || (root.place.contains('/') && other.place.contains('/') && is_within(root, other))
        }
        _ if root.is_of_status && other.is_of_status => {
            let same_mismatch = root.expected == other.expected || root.actual == other.actual;
            (root.class == 5 || same_mismatch) && has_class(root, other) && overlap(root, other)
                || is_same_request(root, other)
        }
        _ if root.is_of_status => other.kind == Kind::Consequence && root.clause == other.clause,
        _ => false,
    }
}

/// Whether both got answers of one class. A case that is another one's request once more got none of its own.
fn has_class(root: &Symptom, other: &Symptom) -> bool {
    root.class == other.class || root.class == 0 || other.class == 0
}

/// The last step of a place that has a name.
fn part(place: &str) -> &str {
    place.rsplit('/').find(|step| *step != "*").unwrap_or(place)
}

/// Whether one is about a part of the place of the other, or both about the same.
fn is_within(one: &Symptom, other: &Symptom) -> bool {
    within(&one.place, &other.place) || within(&other.place, &one.place)
}

/// Whether a place is another one or a part of it.
fn within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether both are about one place of the request, or one is about a part of the other's. What is prepared
/// otherwise is no place.
fn overlap(one: &Symptom, other: &Symptom) -> bool {
    let is_place = |place: &&str| !matches!(*place, "before" | "path");
    one.places()
        .filter(is_place)
        .any(|one| other.places().filter(is_place).any(|other| within(one, other) || within(other, one)))
}

/// Whether both are about the same request, prepared in the same way, of which two statements say the same.
fn is_same_request(one: &Symptom, other: &Symptom) -> bool {
    let parts = |symptom: &Symptom| symptom.places().map(str::to_owned).collect::<BTreeSet<_>>();
    let is_said_alike = one.expected == other.expected && one.actual == other.actual;
    is_said_alike
        && one.operation == other.operation
        && is_more_general(one, other)
        && parts(one) == parts(other)
}

/// Whether one of two clauses goes on from the other.
fn is_more_general(one: &Symptom, other: &Symptom) -> bool {
    let goes_on = |longer: &Symptom, shorter: &Symptom| {
        longer.clause.strip_prefix(shorter.clause.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    goes_on(one, other) || goes_on(other, one)
}

/// The refused plain request only shows what is wrong: where a case of its own says which rule is not kept,
/// that is the finding. Of two statements that are broken, of which one goes on from the other, it is the shorter.
fn name(group: &mut Group, all: &[Symptom]) {
    let is_shorter = |at: &usize| {
        let (own, other) = (&all[group.root], &all[*at]);
        let is_alike = own.kind == Kind::Rule && other.kind == Kind::Rule && own.level == other.level;
        is_alike && own.clause.strip_prefix(other.clause.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    if let Some(position) = group.carried.iter().position(is_shorter) {
        std::mem::swap(&mut group.root, &mut group.carried[position]);
    }
    if group.kind != Kind::Plain || all[group.root].places().next().is_none() {
        return;
    }
    let is_rule = |at: &usize| all[*at].kind == Kind::Rule && all[*at].level == Level::Deny;
    if let Some(position) = group.carried.iter().position(is_rule) {
        std::mem::swap(&mut group.root, &mut group.carried[position]);
    }
}

/// How large a share of the cases of a clause fails, in millionths: the lower end of the score interval (E. B.
/// Wilson, 1927) of 95 %, so that one of one says less than nine of ten.
fn share(symptoms: &Symptoms, symptom: &Symptom) -> u32 {
    const Z: f64 = 1.96;
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let asked = symptoms.asked.get(&symptom.clause).copied().unwrap_or_default();
    let (all, failing) = (count(asked.max(symptom.witnesses)), count(symptom.witnesses));
    if all == 0.0 {
        return 0;
    }
    let part = failing / all;
    let spread = (part * (1.0 - part) / all + Z * Z / (4.0 * all * all)).sqrt();
    let lower = (part + Z * Z / (2.0 * all) - Z * spread) / (1.0 + Z * Z / all);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
    let millionths = (lower.clamp(0.0, 1.0) * 1e6) as u32;
    millionths
}
