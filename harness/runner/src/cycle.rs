//! Runs the cases of a run concurrently, phase after phase. A verdict based on a rejection waits until the
//! baseline request has been sent again.

use std::{
    collections::{BTreeSet, HashSet},
    iter::Peekable,
    mem,
    sync::Arc,
    vec::IntoIter,
};

use tokio::task::JoinSet;
use xs2aspec_judge::{
    Done,
    confirmation::Confirmation,
    hopeless::{self, Settled},
    phases::Phase,
    question::{Again, StillAccepting},
};
use xs2aspec_record::{Event, Role};
use xs2aspec_suite::Case;

use crate::{history::History, runner::Runner};

/// Number of waiting verdicts after which their baseline requests are sent again.
const WAITING: usize = 100;

/// The cases of a run in progress.
pub(crate) struct Cycle<'a> {
    runner: Arc<Runner>,
    /// All cases of the run, sorted by id.
    order: &'a [(&'a Case, Role)],
    how: How<'a>,
    /// Cases that were not started yet, as phase and position.
    waiting: Peekable<IntoIter<(Phase, usize)>>,
    flying: JoinSet<Landed>,
    /// Number of tasks in flight that run a case.
    cases: usize,
    phase: Phase,
    /// Results of the baseline requests. Their verdicts are appended when all of them are known.
    plain: Vec<(Arc<Done>, Role)>,
    /// Verdicts that wait for confirmation.
    pending: Vec<(Arc<Done>, Role)>,
    asking: Asking,
}

/// Options for running cases.
pub(crate) struct How<'a> {
    /// Maximum number of cases in flight, at least 1.
    pub(crate) jobs: usize,
    /// The cases that other cases depend on. Only their results are kept, because the cases of a run do not
    /// all fit into memory.
    pub(crate) rested_on: HashSet<&'a str>,
    /// True if there is no record and the same cases are run many times.
    pub(crate) is_unrecorded: bool,
}

/// The state of resending baseline requests.
#[derive(Debug, Default)]
struct Asking {
    /// Number of times they were resent.
    times: u64,
    is_under_way: bool,
    /// True if they must be resent next time without other requests in flight.
    is_next_alone: bool,
}

/// The result of a task of a run.
enum Landed {
    /// The result of the case at this position.
    Case(usize, Option<Arc<Done>>),
    /// The results of resent baseline requests, and true if nothing else was in flight.
    Again(Vec<(String, Again)>, bool),
}

impl<'a> Cycle<'a> {
    /// Returns a cycle over the cases, given as phase and position in the order of sending.
    pub(crate) fn new(
        runner: Arc<Runner>,
        order: &'a [(&'a Case, Role)],
        waiting: Vec<(Phase, usize)>,
        how: How<'a>,
    ) -> Self {
        let mut cycle = Self {
            runner,
            order,
            how,
            waiting: waiting.into_iter().peekable(),
            flying: JoinSet::new(),
            cases: 0,
            phase: Phase::First,
            plain: Vec::new(),
            pending: Vec::new(),
            asking: Asking::default(),
        };
        cycle.end_phases();
        cycle
    }

    /// Returns true if nothing is left to do.
    pub(crate) fn is_over(&mut self) -> bool {
        self.waiting.peek().is_none() && self.flying.is_empty() && self.pending.is_empty()
    }

    /// Starts as many cases as allowed. Returns the verdicts that are known once a task has finished. Returns
    /// `None` at the end.
    pub(crate) async fn next(&mut self, history: &mut History<'_>) -> Option<Vec<Settled>> {
        self.begin();
        // A task that panics is a defect and must not look like a normal end.
        let landed = history.beside(self.flying.join_next()).await?;
        let landed = landed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        Some(match landed {
            Landed::Case(at, done) => {
                self.cases -= 1;
                if let Some(done) = &done {
                    self.runner.known_mut().weigh_response(self.runner.judge(), done);
                }
                let settled = done.map(|done| self.take(done, self.order[at].1)).unwrap_or_default();
                if self.cases > 0 {
                    return Some(settled);
                }
                let ended = self.end_phases();
                if ended.iter().any(|(verdict, _)| verdict.unconfirmed) {
                    history.tally.leave_out_answers();
                }
                settled.into_iter().chain(ended).collect()
            }
            Landed::Again(answers, is_alone) => {
                self.asking.is_under_way = false;
                for (plain, again) in answers {
                    let mut known = self.runner.known_mut();
                    let judge = self.runner.judge();
                    let event = judge.checked(&plain, (&again, is_alone), &mut known);
                    drop(known);
                    event.map(Event::RefusedSince).iter().for_each(|event| history.append(event));
                }
                self.confirm()
            }
        })
    }

    /// Aborts the cycle. Returns the results of baseline requests that have no verdict yet.
    pub(crate) fn stop(&mut self) -> Vec<(Arc<Done>, Role)> {
        self.flying.abort_all();
        mem::take(&mut self.plain)
    }

    fn begin(&mut self) {
        let is_full =
            self.asking.is_next_alone || self.asking.is_under_way && self.pending.len() >= 2 * WAITING;
        let now = self.phase;
        while self.flying.len() < self.how.jobs.max(1)
            && !is_full
            && let Some((_, at)) = self.waiting.next_if(|(phase, _)| *phase == now)
        {
            let id = self.order[at].0.id.clone();
            let is_kept = self.how.rested_on.contains(id.as_str());
            let (runner, is_again) = (Arc::clone(&self.runner), self.how.is_unrecorded);
            self.cases += 1;
            self.flying.spawn(async move { Landed::Case(at, asked(&runner, &id, is_kept, is_again).await) });
        }
        self.ask_plain();
    }

    /// Resends the baseline requests that waiting verdicts depend on, if it is time.
    fn ask_plain(&mut self) {
        let is_alone = self.flying.is_empty();
        let is_time = is_alone || self.pending.len() >= WAITING && !self.asking.is_next_alone;
        if self.asking.is_under_way || !is_time || self.pending.is_empty() {
            return;
        }
        let (judge, known) = (self.runner.judge(), self.runner.known());
        let open = self.pending.iter().filter_map(|(done, _)| match judge.confirmation(done, &known) {
            Confirmation::Open { plain, alone } => (alone || !self.asking.is_next_alone).then_some(plain),
            _ => None,
        });
        let open: BTreeSet<String> = open.collect();
        drop(known);
        self.asking = Asking { times: self.asking.times + 1, is_under_way: true, is_next_alone: false };
        let (runner, times) = (Arc::clone(&self.runner), self.asking.times);
        self.flying.spawn(async move {
            let mut answers = Vec::new();
            for plain in open {
                let question = StillAccepting::at_the_end(&plain, &format!("again-{times}"));
                answers.push((plain, runner.still_accepting(&question).await));
            }
            Landed::Again(answers, is_alone)
        });
    }

    /// Adds the result of a case. Returns its verdict if it is already final.
    fn take(&mut self, done: Arc<Done>, role: Role) -> Vec<Settled> {
        if self.phase.is_plain() {
            self.plain.push((done, role));
            return Vec::new();
        }
        let known = self.runner.known();
        match self.runner.judge().confirmation(&done, &known) {
            Confirmation::Stands => return vec![(done.told(role), done.judged().cloned())],
            Confirmation::Open { .. } | Confirmation::Nothing(_) => self.pending.push((done, role)),
        }
        Vec::new()
    }

    /// Returns the waiting verdicts that are now final, sorted by id.
    fn confirm(&mut self) -> Vec<Settled> {
        let mut pending = mem::take(&mut self.pending);
        pending.sort_by(|(one, _), (other, _)| one.verdict.case.cmp(&other.verdict.case));
        let mut settled = Vec::new();
        let mut known = self.runner.known_mut();
        for (done, role) in pending {
            let judge = self.runner.judge();
            let verdict = match judge.confirmation(&done, &known) {
                Confirmation::Stands => done.told(role),
                Confirmation::Nothing(reason) => judge.unconfirmed(done.told(role), reason, &mut known),
                Confirmation::Open { alone, .. } => {
                    self.asking.is_next_alone |= alone;
                    self.pending.push((done, role));
                    continue;
                }
            };
            settled.push((verdict, done.judged().cloned()));
        }
        settled
    }

    /// Advances to the phase of the next case and evaluates the completed phase. Returns the verdicts that
    /// become final.
    fn end_phases(&mut self) -> Vec<Settled> {
        let next = self.waiting.peek().map_or(Phase::Rest, |(phase, _)| *phase);
        let before = self.phase;
        self.phase = next.max(before);
        let judge = self.runner.judge();
        let of = |is_in: fn(Phase) -> bool| {
            let cases = self.order.iter().map(|(case, _)| *case).filter(|case| case.is_plain);
            cases.filter(move |case| is_in(Phase::of(judge.suite(), case))).map(|case| case.id.as_str())
        };
        if before == Phase::First && self.phase > before {
            self.runner.known_mut().weigh_silence(judge, of(|phase| phase == Phase::First));
        }
        if !before.is_plain() || self.phase.is_plain() {
            return Vec::new();
        }
        self.runner.known_mut().weigh_plain(judge, of(Phase::is_plain));
        hopeless::weighed(judge, &self.runner.known(), &mem::take(&mut self.plain))
    }
}

/// Runs a case. Keeps the result if other cases depend on it, and keeps the built request if the case is run
/// repeatedly.
async fn asked(runner: &Runner, id: &str, is_kept: bool, is_again: bool) -> Option<Arc<Done>> {
    if is_kept {
        return runner.case(id).await;
    }
    let case = runner.judge().suite().case(id)?;
    if is_again {
        return Some(Arc::new(runner.run(case).await));
    }
    // A request is built on first use and freed with this copy. The requests of all cases take more memory
    // than everything else.
    Some(Arc::new(runner.run(&case.clone()).await))
}
