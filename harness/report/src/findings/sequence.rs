//! Merges symptoms that depend on other requests into one finding: those that began at one request and
//! stayed, and those that occur only next to other requests.

use xs2aspec_record::{AskedAlone, Earlier, RefusedSince, Repeated};

use super::{
    cause::Group,
    symptom::{Outcome, Symptom, Symptoms},
};
use crate::words;

/// The requests that a run repeated, and the results.
#[derive(Debug, Clone, Default)]
pub struct AskedAgain {
    /// Failed cases that were rerun in isolation, in the order in which they were first seen.
    pub alone: Vec<AskedAlone>,
    /// Baseline requests that the target accepted at first and rejected later.
    pub refused: Vec<RefusedSince>,
}

impl AskedAgain {
    /// Records a baseline request that the target no longer accepts, or accepts again.
    pub(crate) fn refused(&mut self, refused: RefusedSince) {
        let is_same =
            |known: &&mut RefusedSince| (&known.plain, known.since) == (&refused.plain, refused.since);
        match self.refused.iter_mut().find(is_same) {
            Some(known) => *known = refused,
            None => self.refused.push(refused),
        }
    }
}

/// A case with this many requests is a sequence.
const SEQUENCE: usize = 3;

/// Merges groups that began at the same time, and those that occur only next to other requests. Each gets a
/// sentence that says so. The likeliest causes stay first.
pub(super) fn together(
    groups: Vec<Group>,
    symptoms: &Symptoms,
    asked_again: &AskedAgain,
) -> Vec<(Group, Option<String>)> {
    let all = &symptoms.all;
    let mut kept: Vec<(Group, Time<'_>)> = Vec::new();
    for group in groups {
        let time = time(&all[group.root], asked_again);
        let is_same = |(_, known): &&mut (Group, Time<'_>)| match (known, time) {
            (Time::Since(one), Time::Since(another)) => one.meets(another),
            (Time::InCompany(_), Time::InCompany(_)) => true,
            _ => false,
        };
        match kept.iter_mut().find(is_same) {
            Some((other, known)) => {
                other.carried.push(group.root);
                other.carried.extend(group.carried);
                known.narrow(time);
            }
            None => kept.push((group, time)),
        }
    }
    blame_sequence(&mut kept, all);
    take_alike(&mut kept, all);
    kept.into_iter().map(|(group, time)| (group, time.says())).collect()
}

/// The relation of a symptom to the order of requests.
#[derive(Debug, Clone, Copy)]
enum Time<'a> {
    /// It began at some request and stayed.
    Since(Since<'a>),
    /// It disappears when the case is rerun in isolation.
    InCompany(&'a AskedAlone),
    /// It persists when the case, a sequence, is rerun in isolation.
    Alone,
    /// It is a sequence that has the same cause as the symptoms that occur only next to other requests.
    Explains,
    Unknown,
}

/// The interval in which a symptom began: after request `until`, at request `from` at the latest.
#[derive(Debug, Clone, Copy)]
struct Since<'a> {
    until: u64,
    from: u64,
    seen: Seen<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Seen<'a> {
    Asked(&'a AskedAlone),
    Refused(&'a RefusedSince),
}

impl Since<'_> {
    /// Returns true if both may have begun at the same request.
    fn meets(&self, other: Since<'_>) -> bool {
        self.until.max(other.until) < self.from.min(other.from)
    }
}

impl Time<'_> {
    /// Narrows the interval by that of another symptom that began at the same time.
    fn narrow(&mut self, other: Time<'_>) {
        if let (Self::Since(own), Time::Since(other)) = (self, other) {
            own.until = own.until.max(other.until);
            own.from = own.from.min(other.from);
        }
    }

    fn says(self) -> Option<String> {
        match self {
            Self::Since(Since { until, from, seen: Seen::Asked(asked) }) => {
                let AskedAlone { case, earlier, .. } = asked;
                let earlier = earlier.as_ref()?;
                let again = match asked.again {
                    Repeated::Same => format!("; {case} also fails in isolation"),
                    Repeated::Kept => format!("; {case} passes in isolation"),
                    Repeated::Untold => String::new(),
                };
                let Earlier { case, request, .. } = earlier;
                Some(format!(
                    "it began {}: {case} passed at request {request} and failed at the end of the run{again}",
                    words::between(until, from)
                ))
            }
            Self::Since(Since { until, from, seen: Seen::Refused(refused) }) => {
                let again = refused.again.map_or_else(
                    || ", but not since".to_owned(),
                    |again| format!(", and again at request {again}"),
                );
                Some(format!(
                    "it began {}: {} was accepted before{again}",
                    words::between(until, from),
                    refused.plain
                ))
            }
            Self::InCompany(AskedAlone { case, came: Some(came), .. }) => Some(format!(
                "it depends on earlier or concurrent requests: {case} was rerun in isolation, and {came}"
            )),
            Self::InCompany(_) => Some("it depends on earlier or concurrent requests".to_owned()),
            Self::Explains => Some(
                "this sequence of requests also fails in isolation; failures that occur only next to other \
                 requests are attributed to it"
                    .to_owned(),
            ),
            Self::Alone | Self::Unknown => None,
        }
    }
}

/// Returns how a symptom depends on the order of requests.
fn time<'a>(symptom: &Symptom, asked_again: &'a AskedAgain) -> Time<'a> {
    let at = |asked: &AskedAlone| {
        let rest = symptom.place.strip_prefix(asked.at.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let is_of = |refused: &&RefusedSince| {
        refused.is_broken && symptom.is_unconfirmed && refused.clause == symptom.clause
    };
    if let Some(refused) = asked_again.refused.iter().find(is_of) {
        return Time::Since(Since {
            until: refused.until,
            from: refused.since,
            seen: Seen::Refused(refused),
        });
    }
    let asked = asked_again.alone.iter().find(|asked| asked.clause == symptom.clause && at(asked));
    match asked {
        Some(asked) if asked.is_since() => {
            Time::Since(Since { until: asked.until, from: asked.since, seen: Seen::Asked(asked) })
        }
        Some(asked) if asked.is_in_company() => Time::InCompany(asked),
        Some(asked) if asked.again == Repeated::Same && asked.requests >= SEQUENCE => Time::Alone,
        _ => Time::Unknown,
    }
}

/// Merges the symptoms that occur only next to other requests into a sequence that fails in isolation.
/// Sequences with a wrong response (for example a repeated id) take precedence over those with the same
/// outcome.
fn blame_sequence(groups: &mut Vec<(Group, Time<'_>)>, all: &[Symptom]) {
    while let Some(at) = groups.iter().position(|(_, time)| matches!(time, Time::InCompany(_))) {
        let outcomes: Vec<&Outcome> =
            [groups[at].0.root].iter().chain(&groups[at].0.carried).map(|at| &all[*at].outcome).collect();
        let is_cause = |group: &Group, time: &Time<'_>, same: bool| {
            let root = &all[group.root];
            let is_same = if same { outcomes.contains(&&root.outcome) } else { !root.is_of_status };
            matches!(time, Time::Alone | Time::Explains) && is_same
        };
        let cause = [false, true]
            .into_iter()
            .find_map(|same| groups.iter().position(|(group, time)| is_cause(group, time, same)));
        let Some(cause) = cause else { return };
        groups[cause].1 = Time::Explains;
        merge(groups, cause, at);
    }
}

/// Merges groups that are alike. If one sequence explains order-dependent symptoms, other sequences that fail
/// in isolation count as the same. So do identical rejections of one operation whose requests differ only in
/// their setup: the target forgets what was created, or a part of it. A sequence names the group, or else a
/// request that changes nothing.
fn take_alike(groups: &mut Vec<(Group, Time<'_>)>, all: &[Symptom]) {
    let is_alike = |(one, time): &(Group, Time<'_>), (other, others): &(Group, Time<'_>)| match (time, others)
    {
        (Time::Explains, Time::Alone) => true,
        (Time::Since(_), _) | (_, Time::Since(_)) => false,
        _ => all[one.root].is_refused_like(&all[other.root]),
    };
    let rank = |(group, time): &(Group, Time<'_>)| match time {
        Time::Explains => 0,
        Time::Unknown if all[group.root].changes_nothing() => 1,
        Time::Alone => 2,
        Time::InCompany(_) => 3,
        Time::Since(_) | Time::Unknown => 4,
    };
    loop {
        let mut pairs = (0..groups.len()).flat_map(|into| (0..groups.len()).map(move |from| (into, from)));
        let is_one = |(into, from): &(usize, usize)| {
            let (one, other) = (&groups[*into], &groups[*from]);
            into != from && (rank(one), into) < (rank(other), from) && is_alike(one, other)
        };
        let Some((into, from)) = pairs.find(is_one) else {
            return;
        };
        merge(groups, into, from);
    }
}

/// Merges one group into another, which takes the earlier of both positions.
fn merge(groups: &mut Vec<(Group, Time<'_>)>, into: usize, from: usize) {
    let (group, _) = groups.remove(from);
    let into = into - usize::from(into > from);
    groups[into].0.carried.push(group.root);
    groups[into].0.carried.extend(group.carried);
    if from < into {
        let moved = groups.remove(into);
        groups.insert(from, moved);
    }
}
