//! Generates requests and sends them to one target. As with any case, a rejection counts only if the baseline
//! request is accepted. A request that reveals a violation is shrunk. The events are those of a run.

mod outcome;
mod sequences;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use xs2aspec_generate::{Combination, Explorer, Sequencer, export};
use xs2aspec_judge::{Done, Judge};
use xs2aspec_record::{Exit, Finding, Level, Reason, Verdict as Word};
use xs2aspec_runner::{BoxFuture, DrawnRun, Runner};
use xs2aspec_suite::{Case, Suite};

pub use self::outcome::{End, ExploreOptions, Explored, Progress, Step};
use crate::{
    ProveError,
    shrink::shrink,
    violation::{DrawnRequest, Key, Shown, Violation},
};

/// Limit of the requests for shrinking one finding.
const SHRINKING: u64 = 300;

/// The fraction of the budget (one in this many) that is reserved for shrinking.
const KEPT_FOR_SHRINKING: u64 = 10;

/// With fewer requests left per job, requests are sent one after the other. In parallel, timing would decide
/// which of them gets its setup and which is held back.
const MOST_FOR_ONE: u64 = 8;

/// Number of consecutive requests without new coverage after which the exploration ends.
const STALE: usize = 1_000;

/// Interval of progress messages.
const PROGRESS: Duration = Duration::from_secs(2);

/// The receiver of the steps.
pub type Steps<'a> = &'a mut (dyn FnMut(Step<'_>) + Send);

/// Limits of the number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget {
    all: u64,
    /// Limit for generated requests. The rest is reserved for shrinking.
    drawing: u64,
}

impl Budget {
    fn new(all: u64) -> Self {
        Self { all, drawing: all - SHRINKING.min(all / KEPT_FOR_SHRINKING) }
    }

    /// Returns the limit for shrinking a finding that was found after `sent` requests.
    fn shrinking(self, sent: u64) -> u64 {
        sent.saturating_add(SHRINKING).min(self.all)
    }
}

/// The state of an exploration.
struct Exploration<'a> {
    suite: Arc<Suite>,
    runner: Arc<Runner>,
    explorer: Explorer,
    sequencer: Sequencer,
    /// Number of generated requests before the next sequence.
    next_sequence: usize,
    budget: Budget,
    /// The accepted baseline requests: case ids by operation.
    plain: BTreeMap<String, String>,
    /// Known violations, each with the number of times it occurred.
    found: BTreeMap<Key, usize>,
    /// The number of known violations that are only warnings.
    warnings: usize,
    drawn: usize,
    counts: BTreeMap<&'static str, usize>,
    reasons: BTreeMap<Reason, usize>,
    record: DrawnRun<'a>,
    step: Steps<'a>,
}

/// Explores the target of a runner, and reports to `step`.
pub fn explore<'a>(
    suite: &'a Arc<Suite>,
    runner: Runner,
    options: &'a ExploreOptions,
    step: Steps<'a>,
) -> BoxFuture<'a, Result<Explored, ProveError>> {
    Box::pin(explored(suite, runner, options, step))
}

async fn explored(
    suite: &Arc<Suite>,
    runner: Runner,
    options: &ExploreOptions,
    step: Steps<'_>,
) -> Result<Explored, ProveError> {
    let explorer = Explorer::new(suite, runner.judge().identity().seed(), &options.only);
    step(Step::Begin { partitions: explorer.coverage().1 });
    let begun = Instant::now();
    let budget = Budget::new(options.budget);
    runner.limit_exchanges(budget.drawing);
    // If the baseline request of an operation is rejected, no requests are generated for it, even if an
    // alternative would be accepted.
    let runner = Arc::new(runner.with_judge(Judge::without_alternatives));
    let operations: BTreeSet<&str> = suite.requests().operations().collect();
    let is_wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    let plain: Vec<&Case> = suite
        .cases()
        .iter()
        .filter(|case| case.is_plain && operations.contains(case.request.operation.as_str()))
        .filter(|case| is_wanted(&case.request.operation))
        .collect();
    let record = DrawnRun::begin(runner.judge(), runner.clock(), &options.record, &plain, |event| {
        step(Step::Event(event));
    });
    let mut exploration = Exploration {
        suite: Arc::clone(suite),
        runner: Arc::clone(&runner),
        explorer,
        sequencer: Sequencer::new(runner.judge().identity().seed()),
        // With selected operations, only single requests are generated.
        next_sequence: if options.only.is_empty() { 0 } else { usize::MAX },
        budget,
        plain: BTreeMap::new(),
        found: BTreeMap::new(),
        warnings: 0,
        drawn: 0,
        counts: BTreeMap::new(),
        reasons: BTreeMap::new(),
        record,
        step,
    };
    for case in &plain {
        exploration.ask_plain(case).await;
    }
    let accepted: Vec<String> = exploration.plain.keys().cloned().collect();
    let end = if accepted.is_empty() && runner.exchanges_left() > 0 {
        End::NothingAccepted
    } else {
        if accepted.len() < plain.len() && !accepted.is_empty() {
            // If the baseline request of an operation is not accepted, its other requests cannot be judged.
            exploration.explorer = Explorer::new(suite, runner.judge().identity().seed(), &accepted);
        }
        Box::pin(exploration.until_the_end(options, begun)).await
    };
    Ok(exploration.finish(end, begun.elapsed()))
}

impl Exploration<'_> {
    /// Generates and sends requests until there is a reason to stop.
    async fn until_the_end(&mut self, options: &ExploreOptions, begun: Instant) -> End {
        let until = options.time.map(|time| begun + time);
        let (mut stale, mut said) = (0, Instant::now());
        loop {
            if options.is_ended.load(Ordering::Relaxed) {
                return End::Asked;
            }
            if options.fail_fast && self.found.len() > self.warnings {
                return End::Found;
            }
            let left = self.runner.exchanges_left();
            if left == 0 {
                let Budget { all, drawing } = self.budget;
                return End::Budget { all, kept: all - drawing };
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return End::Time;
            }
            if stale >= STALE && self.explorer.rounds() > 1 {
                return End::Stale(STALE);
            }
            if Box::pin(self.ask_sequence()).await {
                stale = 0;
            }
            let side_by_side = if left < options.jobs as u64 * MOST_FOR_ONE { 1 } else { options.jobs };
            let mut combinations = Vec::new();
            while combinations.len() < side_by_side {
                let (combination, is_new) = self.explorer.draw(&self.suite);
                stale = if is_new { 0 } else { stale + 1 };
                combinations.push(combination);
            }
            for (number, drawn, done) in self.send(combinations).await {
                Box::pin(self.judge(number, drawn, done)).await;
            }
            if said.elapsed() > PROGRESS {
                said = Instant::now();
                let progress = self.progress();
                (self.step)(Step::Progress(progress));
            }
        }
    }

    fn progress(&self) -> Progress {
        let (reached, partitions, pairs) = self.explorer.coverage();
        let (requests, warnings) = (self.runner.exchanges(), self.warnings);
        let violations = self.found.len() - warnings;
        Progress { requests, reached, partitions, pairs, violations, warnings }
    }

    fn finish(self, end: End, took: Duration) -> Explored {
        let progress = self.progress();
        let unreached = if self.explorer.rounds() > 1 { self.explorer.unreached() } else { vec![] };
        let finished = self.record.finish(self.runner.retries(), |event| (self.step)(Step::Event(event)));
        let exit = Exit::ALL.into_iter().find(|exit| exit.code() == finished.exit);
        // The rest of the exploration is unknown.
        let exit = exit.map(|exit| match (end, exit) {
            (End::Asked, Exit::Conforms) => Exit::CouldNotTell,
            (_, exit) => exit,
        });
        Explored {
            progress,
            unreached,
            counts: self.counts,
            reasons: self.reasons,
            end,
            took,
            exit: exit.unwrap_or(Exit::NothingRan),
        }
    }

    /// Sends a baseline request. A violation by it is reported like any other.
    async fn ask_plain(&mut self, case: &Case) {
        let runner = Arc::clone(&self.runner);
        let Some(done) = runner.case(&case.id).await.filter(|done| !done.is_held_back) else { return };
        self.record.plain(case, &done, |event| (self.step)(Step::Event(event)));
        if done.is_accepted() {
            self.plain.insert(case.request.operation.clone(), case.id.clone());
        } else if let Some(why) = &done.verdict.reason {
            *self.reasons.entry(why.clone()).or_default() += 1;
        }
        if let Some(finding) = done.verdict.findings.first() {
            let (clause, findings) = (finding.clause.clone(), done.verdict.findings.clone());
            self.found(Key::Plain(case.id.clone()), clause, findings, Shown::Plain(Box::new(case.clone())));
        }
    }

    /// Sends some requests in parallel. Returns their results, in order.
    async fn send(&mut self, combinations: Vec<Combination>) -> Vec<(usize, DrawnRequest, Done)> {
        let mut flying = JoinSet::new();
        for combination in combinations {
            let plain = self.plain.get(&combination.operation).and_then(|id| self.suite.case(id));
            let drawn = DrawnRequest::new(combination, &self.suite, plain);
            let Some(mut drawn) = drawn else { continue };
            self.drawn += 1;
            drawn.name(&name_of(self.drawn));
            let (runner, number) = (Arc::clone(&self.runner), self.drawn);
            flying.spawn(async move {
                let done = runner.run(&drawn.case).await;
                (number, drawn, done)
            });
        }
        let mut ended = flying.join_all().await;
        ended.retain(|(.., done)| !done.is_held_back);
        ended.sort_by_key(|(number, ..)| *number);
        ended
    }

    /// Records the result of a request. If it reveals a violation, shrinks it.
    async fn judge(&mut self, number: usize, drawn: DrawnRequest, done: Done) {
        let word = done.verdict.verdict;
        *self.counts.entry(word.word()).or_default() += 1;
        if let Some(why) = &done.verdict.reason {
            *self.reasons.entry(why.clone()).or_default() += 1;
        }
        let name = name_of(number);
        self.record_request(&drawn, &name, &done);
        if matches!(word, Word::Fail | Word::Warn) {
            self.shrink(drawn, &name, done.verdict.findings).await;
        }
    }

    /// Reports the smallest request that reveals the same violation, and records it.
    async fn shrink(&mut self, drawn: DrawnRequest, name: &str, findings: Vec<Finding>) {
        self.runner.limit_exchanges(self.budget.shrinking(self.runner.exchanges()));
        let smallest = shrink(&self.suite, &self.runner, drawn.clone()).await;
        self.runner.limit_exchanges(self.budget.drawing);
        // A violation that does not recur is reported as it was.
        let (mut smallest, done) =
            smallest.map_or((drawn.clone(), None), |(smallest, done)| (smallest, Some(done)));
        let findings = done.as_ref().map_or(findings, |done| done.verdict.findings.clone());
        let key = Key::of_request(&smallest, &findings);
        if let Some(done) =
            done.filter(|_| smallest.combination != drawn.combination && !self.found.contains_key(&key))
        {
            let name = format!("{name}-smallest");
            smallest.name(&name);
            self.record_request(&smallest, &name, &done);
        }
        let clause = findings.first().map_or(&smallest.case.clause, |finding| &finding.clause).clone();
        self.found(key, clause, findings, Shown::Request(Box::new(smallest)));
    }

    fn record_request(&mut self, drawn: &DrawnRequest, name: &str, done: &Done) {
        let source = export::alone(&self.suite, &drawn.combination, &drawn.case, &drawn.due, name);
        self.record.case(&drawn.case, source, done, |event| (self.step)(Step::Event(event)));
    }

    /// Reports a violation that is new.
    fn found(&mut self, key: Key, clause: String, findings: Vec<Finding>, shown: Shown) {
        let times = self.found.entry(key).or_default();
        *times += 1;
        if *times == 1 {
            let number = self.found.len();
            let violation = Violation { clause, findings, shown, number };
            self.warnings += usize::from(violation.level() == Level::Warn);
            (self.step)(Step::Found(&violation));
        }
    }
}

/// Returns the name of a generated case.
fn name_of(number: usize) -> String {
    format!("drawn-{number}")
}
