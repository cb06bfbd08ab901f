//! What depends on what else was asked is one finding: what began at some request and stayed, and what is
//! wrong beside other requests alone.

use xs2aspec_record::{AskedAlone, Earlier, RefusedSince, Repeated};

use super::{
    cause::Group,
    symptom::{Outcome, Symptom, Symptoms},
};
use crate::words;

/// What a run asked again, and what came of it.
#[derive(Debug, Clone, Default)]
pub struct AskedAgain {
    /// What was wrong, asked when nothing else was, in the order in which it was seen first.
    pub alone: Vec<AskedAlone>,
    /// Plain requests that the target accepted, and later not any more.
    pub refused: Vec<RefusedSince>,
}

impl AskedAgain {
    /// Adds a plain request that is not accepted any more, or is again.
    pub(crate) fn refused(&mut self, refused: RefusedSince) {
        let is_same =
            |known: &&mut RefusedSince| (&known.plain, known.since) == (&refused.plain, refused.since);
        match self.refused.iter_mut().find(is_same) {
            Some(known) => *known = refused,
            None => self.refused.push(refused),
        }
    }
}

/// So many requests of one case are a sequence.
const SEQUENCE: usize = 3;

/// Puts groups together that began at the same time, and those that are in company only; each with a sentence
/// that says so. The likeliest causes stay first.
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

/// What the order of time says of something.
#[derive(Debug, Clone, Copy)]
enum Time<'a> {
    /// It began, and stayed.
    Since(Since<'a>),
    /// It is not there when the case is asked alone.
    InCompany(&'a AskedAlone),
    /// It is there when the case is asked alone, which sends several requests itself.
    Alone,
    /// It is a sequence that what is in company only has the same cause as.
    Explains,
    Unknown,
}

/// When something began: after one request, with another one at the latest.
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
    /// Whether both may have begun with one request.
    fn meets(&self, other: Since<'_>) -> bool {
        self.until.max(other.until) < self.from.min(other.from)
    }
}

impl Time<'_> {
    /// Takes what is known of another thing that began at the same time.
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
                    Repeated::Same => format!("; {case} fails when it is sent alone, too"),
                    Repeated::Kept => format!("; {case} passes when it is sent alone"),
                    Repeated::Untold => String::new(),
                };
                let Earlier { case, request, .. } = earlier;
                Some(format!(
                    "it began {}: {case} passed with request {request}, and fails at the end of the run{again}",
                    words::between(until, from)
                ))
            }
            Self::Since(Since { until, from, seen: Seen::Refused(refused) }) => {
                let again = refused.again.map_or_else(
                    || ", and not again".to_owned(),
                    |again| format!(", and again at request {again}"),
                );
                Some(format!(
                    "it began {}: {} was accepted before{again}",
                    words::between(until, from),
                    refused.plain
                ))
            }
            Self::InCompany(AskedAlone { case, came: Some(came), .. }) => Some(format!(
                "it depends on what is asked before it or beside it: {case} was asked again alone, and {came}"
            )),
            Self::InCompany(_) => Some("it depends on what is asked before it or beside it".to_owned()),
            Self::Explains => Some(
                "a case of several requests, wrong also when it is asked alone; what is wrong beside other requests \
                 only is taken for the same"
                    .to_owned(),
            ),
            Self::Alone | Self::Unknown => None,
        }
    }
}

/// What the order of time says of a symptom.
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

/// Where cases of several requests are wrong alone, what is wrong in company only is theirs: the first of
/// them of which an answer says something wrong (an id that came before), or that got the same answer.
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

/// Where what depends on what else was asked is a sequence that shows it alone, other sequences that are
/// wrong alone are taken for the same. So is what one operation refuses in the same words, though nothing but
/// what was made before is another in it: a target forgets that, or a part of it. A sequence names it, or a
/// request that changes nothing at all.
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

/// Gives what one group has to another one, which stands where the first of both stood.
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
