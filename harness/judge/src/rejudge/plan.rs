//! Compares the history of a run with the plan that this suite makes for it: cases, introductory events, and
//! totals.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_record::{AnswerCheck, AnswerChecks, CaseEvents, Event, Role, RunFinished, RunStarted};
use xs2aspec_suite::{Depth, Plan, Suite};

use super::{Rejudged, Whole};
use crate::{Judge, introduction, tally::Tally};

/// The content that the history of a run must have, and the content read so far.
pub(super) struct Expected<'a> {
    /// Cases not yet found.
    missing: BTreeMap<String, Role>,
    tally: Tally<'a>,
    /// True if a verdict is unconfirmed. The responses may then come from something other than a bank, and
    /// the run did not count their checks.
    is_unconfirmed: bool,
}

impl<'a> Expected<'a> {
    /// Plans the run of a history. Returns None if its requests were generated or sent by others, or if the
    /// plan fails.
    pub(super) fn of(judge: &'a Judge, whole: &Whole, rejudged: &mut Rejudged) -> Option<Self> {
        let (suite, start) = (judge.suite(), &whole.start);
        if start.drawn || start.traffic.is_some() {
            rejudged.planned = Err("its requests were generated or sent by others, so there is no plan");
            return None;
        }
        let plan = match planned(suite, start) {
            Ok(plan) => plan,
            Err(why) => {
                rejudged.contradictions.push(format!("cannot plan the run from `run-started`: {why}"));
                return None;
            }
        };
        rejudged.planned = Ok((plan.selected.len(), plan.controls.len()));
        numbers(start, &plan, rejudged);
        introduced(judge, &plan, whole, rejudged);
        let selected = plan.selected.iter().map(|case| (case.id.clone(), Role::Selected));
        let controls = plan.controls.iter().map(|case| (case.id.clone(), Role::Control));
        let slow_ms = whole.finished.as_ref().and_then(|finished| finished.times.slow_ms);
        Some(Self {
            missing: selected.chain(controls).collect(),
            tally: Tally::new(suite, slow_ms),
            is_unconfirmed: false,
        })
    }

    /// Checks the next case of the history.
    pub(super) fn see(&mut self, events: &CaseEvents, rejudged: &mut Rejudged) {
        events.exchanges.iter().for_each(|exchange| self.tally.add_exchange(exchange));
        let Some(verdict) = &events.verdict else { return };
        self.is_unconfirmed |= verdict.unconfirmed;
        let what = match self.missing.remove(&verdict.case) {
            Some(role) if role == verdict.role => return,
            Some(Role::Selected) => "was selected but is recorded as a control",
            Some(Role::Control) => "is only a control but is recorded as selected",
            None => "was not planned",
        };
        rejudged.contradictions.push(format!("the case `{}` {what}", verdict.case));
    }

    /// Checks the statements about the whole run against the cases.
    pub(super) fn finish(mut self, whole: &Whole, rejudged: &mut Rejudged) {
        let (counted, measured) = self.tally.end();
        for case in self.missing.into_keys() {
            if whole.is_complete() {
                rejudged.contradictions.push(format!("the case `{case}` has no verdict"));
            } else {
                rejudged.not_told.push((case, "the run ended before it".to_owned()));
            }
        }
        let Some(RunFinished { times, .. }) = &whole.finished else { return };
        if *times != measured {
            rejudged.contradictions.push(format!(
                "the times of `run-finished` do not match the exchanges: {} slow responses, found {}",
                times.slow(),
                measured.slow()
            ));
        }
        if self.is_unconfirmed {
            return;
        }
        let recorded = whole.checks.as_ref().map(seen).unwrap_or_default();
        let counted = seen(&counted);
        let other = counted.iter().find(|(clause, seen)| recorded.get(*clause) != Some(seen));
        if let Some((clause, _)) =
            other.or_else(|| recorded.iter().find(|(id, _)| !counted.contains_key(*id)))
        {
            let why = format!("the recorded responses do not match `answer-checks` for `{clause}`");
            // A merged history keeps one of several runs of a control.
            rejudged.not_told.push(("the checks of responses".to_owned(), why));
        }
    }
}

/// Returns for each clause its operations, and true if responses were subject to it and true if responses
/// exercised it.
fn seen(checks: &AnswerChecks) -> BTreeMap<String, (Vec<String>, bool, bool)> {
    let of = |check: &AnswerCheck| {
        let seen = (check.operations.clone(), check.answers > 0, check.exercised > 0);
        (check.clause.clone(), seen)
    };
    checks.checks.iter().map(of).collect()
}

/// Plans the cases that a run was started with.
fn planned<'a>(suite: &'a Suite, start: &RunStarted) -> Result<Plan<'a>, String> {
    let depths = [Depth::Quick, Depth::Standard, Depth::Exhaustive];
    let depth = depths.into_iter().find(|depth| depth.word() == start.depth);
    let depth = depth.ok_or_else(|| format!("there is no depth `{}`", start.depth))?;
    let mut plan = suite.plan(&start.only, &start.skip, depth).map_err(|error| error.to_string())?;
    if let Some(requests) = start.requests {
        plan = suite.within(&plan, requests).map_err(|error| error.to_string())?.0;
    }
    let all = plan.selected.len();
    if start.planned != start.shard.as_ref().map(|_| all) {
        return Err(format!("all shards have {all} cases, but it says {:?}", start.planned));
    }
    match start.shard.as_deref().map(str::parse).transpose()? {
        Some(shard) => Ok(suite.shard(&plan, shard)),
        None => Ok(plan),
    }
}

/// Checks the numbers of `run-started` against the plan.
fn numbers(start: &RunStarted, plan: &Plan<'_>, rejudged: &mut Rejudged) {
    for (what, said, planned) in [
        ("cases", start.cases, plan.selected.len()),
        ("said_by_name", start.said_by_name, plan.said_by_name()),
    ] {
        if said != planned {
            rejudged
                .contradictions
                .push(format!("`{what}` of `run-started` is {said}, but {planned} are planned"));
        }
    }
}

/// Checks document, clauses and case files against those of the suite. Case files from a folder have other
/// paths, so they are compared by content.
fn introduced(judge: &Judge, plan: &Plan<'_>, whole: &Whole, rejudged: &mut Rejudged) {
    let (mut missing, mut texts) = (BTreeMap::new(), BTreeSet::new());
    introduction::introduce(judge, plan, &mut |event| match event {
        Event::Source(source) => drop(texts.insert(source.text.clone())),
        event => drop(missing.insert(key(event), event.clone())),
    });
    let mut found = BTreeSet::new();
    for event in &whole.introduced {
        let key = key(event);
        let is_known = match event {
            Event::Source(source) => {
                found.insert(source.text.clone());
                texts.contains(&source.text)
            }
            event => missing.remove(&key).as_ref() == Some(event),
        };
        if !is_known {
            rejudged.contradictions.push(format!("the {} differs from the suite", named(&key)));
        }
    }
    if found.len() < texts.len() {
        rejudged.contradictions.push("a case file of the suite is missing".to_owned());
    }
    for key in missing.into_keys() {
        rejudged.contradictions.push(format!("the {} of the suite is missing", named(&key)));
    }
}

/// Returns the kind of an introductory event and its id.
fn key(event: &Event) -> (&'static str, String) {
    match event {
        Event::Clause(clause) => ("clause", clause.id.clone()),
        Event::Source(source) => ("case file", source.file.clone()),
        _ => ("document", String::new()),
    }
}

fn named((kind, id): &(&'static str, String)) -> String {
    if id.is_empty() { (*kind).to_owned() } else { format!("{kind} `{id}`") }
}
