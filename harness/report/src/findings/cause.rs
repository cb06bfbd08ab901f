//! Grouping of symptoms by cause. A finding is the likeliest cause with the symptoms that it explains.
//!
//! - A rejected baseline request explains rejections for the same places, and baseline requests of other
//!   operations that get the same response.
//! - A wrong part of a response explains the same part elsewhere, and what the same cases show next to it.
//! - A rule violated at a place explains other cases with the same outcome at that place.
//!
//! Only codes are compared, never words.

use std::{cmp::Reverse, collections::BTreeSet};

use xs2aspec_record::{Level, Mismatch};

use super::symptom::{Kind, Symptom, Symptoms};

/// Symptoms with one cause.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The likeliest cause, by its position.
    pub(super) root: usize,
    /// The symptoms that it explains.
    pub(super) carried: Vec<usize>,
    /// The kind of defect.
    pub(super) kind: Kind,
}

/// Returns the groups of each level, likeliest causes first, without the symptoms that `is_left_out` selects.
pub(super) fn groups(symptoms: &Symptoms, is_left_out: &dyn Fn(&Symptom) -> bool) -> Vec<Group> {
    let all = &symptoms.all;
    let mut order: Vec<usize> = (0..all.len()).filter(|at| !is_left_out(&all[*at])).collect();
    let likely = |at: &usize| {
        let symptom = &all[*at];
        let failing = Reverse(share(symptoms, symptom));
        // A clause sorts before those whose ids extend its id.
        let clause = symptom.clause.as_str();
        let is_open = symptom.kind == Kind::Plain && symptom.places().next().is_none();
        let weight = (symptom.kind, is_open, symptom.distance());
        (Reverse(symptom.level), weight, failing, symptom.rank, clause, *at)
    };
    order.sort_by(|one, other| likely(one).cmp(&likely(other)));
    let mut groups: Vec<Group> = Vec::new();
    for at in order {
        let is_cause = |group: &&mut Group| {
            explains(&all[group.root], &all[at], symptoms)
                || is_consequence(group, at, all)
                || is_of_the_same_answers(group, at, all)
        };
        match groups.iter_mut().find(is_cause) {
            Some(group) => group.carried.push(at),
            None => groups.push(Group { root: at, carried: Vec::new(), kind: all[at].kind }),
        }
    }
    blame_values(&mut groups, all);
    for group in &mut groups {
        name(group, symptoms);
    }
    groups
}

/// Moves rejections under the wrong response value that their requests reused, whichever of them ranks
/// higher.
fn blame_values(groups: &mut Vec<Group>, all: &[Symptom]) {
    let mut at = 0;
    while at < groups.len() {
        let wrong = &all[groups[at].root];
        let is_refused = |group: &Group| all[group.root].is_refused_for(wrong);
        if let Some(first) = groups.iter().position(is_refused) {
            let mut cause = groups.remove(at);
            groups.retain(|group| {
                let is_kept = !is_refused(group);
                if !is_kept {
                    cause.carried.push(group.root);
                    cause.carried.extend(&group.carried);
                }
                is_kept
            });
            at = first.min(at);
            groups.insert(at, cause);
        }
        at += 1;
    }
}

/// Returns true if one symptom explains another.
fn explains(root: &Symptom, other: &Symptom, symptoms: &Symptoms) -> bool {
    // A violation by one end does not explain what the other end does.
    if root.end != other.end {
        return false;
    }
    match (root.kind, other.kind) {
        // Without known causes, only an equal outcome suggests a common one.
        (Kind::Plain, Kind::Plain) if root.outcome != other.outcome => false,
        (Kind::Plain, Kind::Plain) => {
            let is_open = |symptom: &Symptom| symptom.places().next().is_none();
            // If one baseline request is accepted, the others are not rejected for what all of them have.
            let is_of_all = is_open(root) && !symptoms.has_accepted_plain;
            let is_shared = is_of_all || root.may_concern_any_request();
            if is_open(other) { is_shared } else { root.places().eq(other.places()) }
        }
        _ if !root.is_of_status && !other.is_of_status => {
            let same_cases = root.witnesses == other.witnesses && root.cases == other.cases;
            (root.clause == other.clause && (part(&root.place) == part(&other.place) || same_cases))
                || (root.place == other.place && same_cases)
                || root.has_value_of(other)
                || (root.place.contains('/') && other.place.contains('/') && is_within(root, other))
        }
        _ if root.is_of_status && other.is_of_status => {
            // The status of a response, whatever the request was.
            (root.kind, other.kind) == (Kind::Answer, Kind::Answer) && root.outcome == other.outcome
                || is_one_outcome(root, other, symptoms)
                || is_same_request(root, other)
        }
        _ => false,
    }
}

/// Returns true if a symptom only shows that a response is of the wrong kind, and the group already says
/// that, under any clause.
fn is_consequence(group: &Group, other: usize, all: &[Symptom]) -> bool {
    let other = &all[other];
    let is_said = |at: &usize| all[*at].is_of_status && all[*at].clause == other.clause;
    other.kind == Kind::Consequence && group.carried.iter().chain([&group.root]).any(is_said)
}

/// Returns true if a symptom is at a place at which the group's own clause is violated in the same responses.
fn is_of_the_same_answers(group: &Group, other: usize, all: &[Symptom]) -> bool {
    let (root, other) = (&all[group.root], &all[other]);
    let is_own = |at: &&usize| all[**at].clause == root.clause && !all[**at].is_of_status;
    !root.is_of_status
        && !other.is_of_status
        && group.carried.iter().filter(is_own).any(|at| all[*at].place == other.place)
}

/// Returns true if both are about overlapping places of the request, and one cause may lead to both outcomes.
fn is_one_outcome(root: &Symptom, other: &Symptom, symptoms: &Symptoms) -> bool {
    let (one, another) = (&root.outcome, &other.outcome);
    // A case that shares another case's request has no response of its own.
    let has_class = one.class() == another.class() || one.status == 0 || another.status == 0;
    let is_alike = match (one.kind, another.kind) {
        _ if one.class() == 5 => true,
        // Two valid values that are rejected have one cause if the target gives one reason for it, and no
        // other value at the place is known to be accepted.
        (Mismatch::NotAccepted, Mismatch::NotAccepted) => {
            let is_open = |place: &str| !symptoms.is_accepted_at(&root.operation, place);
            let may_be_one = |place: &str| may_send_the_same(root, other, place) || is_open(place);
            one.codes == another.codes && root.places().all(may_be_one)
        }
        (Mismatch::Status | Mismatch::Code, _) => one == another,
        (one, another) => one == another,
    };
    has_class && is_alike && overlap(root, other)
}

/// Returns true if both may have sent the same value at a place.
fn may_send_the_same(one: &Symptom, other: &Symptom, place: &str) -> bool {
    one.sent(place).zip(other.sent(place)).is_none_or(|(one, other)| one == other)
}

/// Returns the last named step of a place.
fn part(place: &str) -> &str {
    place.rsplit('/').find(|step| *step != "*").unwrap_or(place)
}

/// Returns true if both are about the same place, or one is about a part of the other's place.
fn is_within(one: &Symptom, other: &Symptom) -> bool {
    within(&one.place, &other.place) || within(&other.place, &one.place)
}

/// Returns true if `inner` is `outer` or a part of it.
fn within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true if both are about overlapping places of the request. Setup and path do not count as places.
fn overlap(one: &Symptom, other: &Symptom) -> bool {
    let is_place = |place: &&str| !matches!(*place, "before" | "path");
    one.places()
        .filter(is_place)
        .any(|one| other.places().filter(is_place).any(|other| within(one, other) || within(other, one)))
}

/// Returns true if both are about the same request with the same setup, and one clause extends the other.
fn is_same_request(one: &Symptom, other: &Symptom) -> bool {
    let parts = |symptom: &Symptom| symptom.places().map(str::to_owned).collect::<BTreeSet<_>>();
    one.outcome == other.outcome
        && one.operation == other.operation
        && is_more_general(one, other)
        && parts(one) == parts(other)
        && one.places().all(|place| may_send_the_same(one, other, place))
}

/// Returns true if the id of one clause extends the id of the other.
fn is_more_general(one: &Symptom, other: &Symptom) -> bool {
    let goes_on = |longer: &Symptom, shorter: &Symptom| {
        longer.clause.strip_prefix(shorter.clause.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    goes_on(one, other) || goes_on(other, one)
}

/// Chooses the symptom that names a group.
///
/// - A case of its own names the violated rule better than the rejected baseline request does.
/// - If one clause extends another, the shorter one wins.
/// - If a request is rejected for a value and accepted with another, the clause of that value wins. The
///   clause of the baseline request says only that the field may be present.
fn name(group: &mut Group, symptoms: &Symptoms) {
    let all = &symptoms.all;
    let is_shorter = |at: &usize| {
        let (own, other) = (&all[group.root], &all[*at]);
        let is_alike = own.kind == Kind::Rule && other.kind == Kind::Rule && own.level == other.level;
        is_alike && own.clause.strip_prefix(other.clause.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    if let Some(position) = group.carried.iter().position(is_shorter) {
        std::mem::swap(&mut group.root, &mut group.carried[position]);
    }
    let own = &all[group.root];
    let is_refused_rule = |symptom: &Symptom| {
        symptom.kind == Kind::Rule && symptom.is_of_status && symptom.outcome.class() == 4
    };
    let is_accepted = |symptom: &Symptom| symptoms.is_accepted_otherwise(symptom);
    let is_of_a_value = |at: &usize| {
        let other = &all[*at];
        is_refused_rule(other)
            && other.has_places_of(own)
            && !symptoms.plain.contains(&other.clause)
            && (is_accepted(own) || is_accepted(other))
    };
    if is_refused_rule(own)
        && symptoms.plain.contains(&own.clause)
        && let Some(position) = group.carried.iter().position(is_of_a_value)
    {
        std::mem::swap(&mut group.root, &mut group.carried[position]);
    }
    // The existence of an operation says less than any rule about a place of its request.
    let own = &all[group.root];
    let is_of_an_operation = |symptom: &Symptom| symptoms.of_operations.contains(&symptom.clause);
    let is_of_a_place = |at: &usize| {
        is_refused_rule(&all[*at]) && all[*at].has_places_of(own) && !is_of_an_operation(&all[*at])
    };
    if own.is_of_status
        && matches!(own.kind, Kind::Rule | Kind::Row)
        && is_of_an_operation(own)
        && let Some(position) = group.carried.iter().position(is_of_a_place)
    {
        std::mem::swap(&mut group.root, &mut group.carried[position]);
    }
    // Of two readings of one wrong part of responses, the one with more witnesses wins, whatever its level.
    let own = &all[group.root];
    let is_part = |symptom: &Symptom| symptom.kind == Kind::Answer && !symptom.is_of_status;
    let is_wider =
        |at: &usize| is_part(&all[*at]) && all[*at].place == own.place && all[*at].witnesses > own.witnesses;
    if is_part(own)
        && let Some(position) = group.carried.iter().position(is_wider)
    {
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

/// Returns the share of the cases of a clause that fail, in millionths. It is the lower end of the 95 % score
/// interval (E. B. Wilson, 1927), so that one of one weighs less than nine of ten.
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
