//! A whole run: many cases in flight, and their events in order of time.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use futures::future::BoxFuture;
use tokio::sync::Notify;
use xs2aspec_judge::{
    Judge, answer::micros, introduction::introduce, left_in_doubt, phases::Phase, waived::Waivers,
    waiver::WaiversFile,
};
use xs2aspec_record::{
    CaseVerdict, Event, Exit, Resumed, Role, RunFinished, RunStarted, Times, Totals, Traffic,
};
use xs2aspec_suite::{Case, Depth, Plan, Shard};

use crate::{
    clock::Clock,
    conclusions::Conclusions,
    cycle::{Cycle, How},
    history::{History, Tell},
    resume::PreviousRun,
    runner::Runner,
};

/// The options of a run.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Maximum number of cases in flight, at least 1.
    pub jobs: usize,
    /// True to stop at the first violation.
    pub fail_fast: bool,
    /// Cases to run before the others, in this order, after the baseline requests.
    pub ahead: Vec<String>,
    /// Depth of the plan, for the record.
    pub depth: Depth,
    /// Patterns given with `--only`, for the record.
    pub only: Vec<String>,
    /// Patterns given with `--skip`, for the record.
    pub skip: Vec<String>,
    /// Arguments that reproduce the run, for the record.
    pub arguments: Vec<String>,
    /// The command that judges the traffic of others, for the record.
    pub traffic: Option<Traffic>,
    /// True if some of that traffic is from a run, for the record.
    pub on_purpose: bool,
    /// The shard, and the number of selected cases of all shards.
    pub shard: Option<(Shard, usize)>,
    /// The limit of requests, for the record.
    pub requests: Option<u64>,
    /// A sentence on the faults that the suite detects, for the record.
    pub quality: Option<String>,
    /// Fault of the reference bank, for the record.
    pub fault: Option<String>,
    /// Variations of the reference bank, for the record.
    pub variations: Vec<String>,
    /// The accepted violations.
    pub waivers: WaiversFile,
    /// The part of the run that is already done.
    pub earlier: Option<PreviousRun>,
    /// True to skip cases that may have created a payment before the run was killed.
    pub leave_in_doubt: bool,
    /// True if there is no record, so its introduction (document, clauses, case files) is skipped.
    pub is_unrecorded: bool,
    /// Stops the run and records what is done.
    pub interrupt: Arc<Notify>,
}

/// Runs the plan and passes every event to `tell`, in order of time.
///
/// Boxed so that the code is generated once and not for each caller.
pub fn run<'a>(
    runner: Arc<Runner>,
    plan: &'a Plan<'a>,
    options: &'a Options,
    tell: Tell<'a>,
) -> BoxFuture<'a, RunFinished> {
    Box::pin(run_cases(runner, plan, options, tell))
}

async fn run_cases(runner: Arc<Runner>, plan: &Plan<'_>, options: &Options, tell: Tell<'_>) -> RunFinished {
    let start = Instant::now();
    let judge = runner.judge();
    let earlier = options.earlier.as_ref();
    let order = in_order(plan);
    let (mut history, appender) = History::new(judge.suite(), judge.profile().limits.slow_ms, tell);
    runner.tell(appender);
    let waivers = Waivers::new(options.waivers.waivers.clone(), runner.clock().start);
    let mut conclusions = Conclusions::new(&runner, &order, waivers);
    // Only the results that other cases depend on are kept, because the cases of a run do not all fit into
    // memory.
    let rested_on = rested_on(plan);
    let (done, is_whole) = match earlier {
        None => (BTreeSet::new(), begin(&runner, plan, options, &mut history)),
        Some(earlier) => {
            let done = go_on(earlier, &runner, &order, &rested_on, options, (&mut conclusions, &mut history));
            (done, is_whole(earlier.start()))
        }
    };
    let left = left(&runner, &order, &done, &ahead(&order, &options.ahead));
    let how = How { jobs: options.jobs, rested_on, is_unrecorded: options.is_unrecorded };
    let mut cycle = Cycle::new(Arc::clone(&runner), &order, left, how);
    let mut stopped_early = false;
    loop {
        let settled = tokio::select! {
            settled = cycle.next(&mut history) => settled,
            () = options.interrupt.notified() => {
                stopped_early = true;
                break;
            }
        };
        let Some(settled) = settled else { break };
        let mut failed = false;
        for (verdict, judged) in settled {
            failed |= conclusions.land(verdict, judged.as_ref(), &mut history);
        }
        if options.fail_fast && failed || history.is_broken() {
            stopped_early = !cycle.is_over() || history.is_broken();
            break;
        }
    }
    for (done, role) in cycle.stop() {
        conclusions.land(done.told(role), done.judged(), &mut history);
    }
    stopped_early |= conclusions.narrow(&mut history, &options.interrupt, stopped_early).await;
    if !stopped_early {
        Box::pin(conclusions.ask_alone(&mut history, &options.interrupt)).await;
    }
    let micros = earlier.map_or(0, PreviousRun::micros) + micros(start.elapsed());
    history.finish(|tally| RunFinished {
        retries: runner.retries(),
        ..finished(judge, tally.totals(), conclusions.waivers(), micros, (stopped_early, is_whole))
    })
}

/// Records the start of the run. Returns true if the run covers all cases.
fn begin(runner: &Runner, plan: &Plan<'_>, options: &Options, history: &mut History<'_>) -> bool {
    let started = started(runner.judge(), runner.clock(), plan, options);
    let is_whole = is_whole(&started);
    history.append(&Event::RunStarted(started));
    history.append(&Event::Profile(runner.judge().recorded_profile()));
    if !options.is_unrecorded {
        introduce(runner.judge(), plan, &mut |event| history.append(event));
    }
    is_whole
}

/// Returns true if a run with this start covers all cases.
fn is_whole(started: &RunStarted) -> bool {
    started.is_whole() && started.shard.is_none()
}

/// Records that the run is resumed. Returns the cases that are not run again.
fn go_on(
    previous: &PreviousRun,
    runner: &Runner,
    order: &[(&Case, Role)],
    rested_on: &HashSet<&str>,
    options: &Options,
    (conclusions, history): (&mut Conclusions<'_>, &mut History<'_>),
) -> BTreeSet<String> {
    let changed = previous.restore(runner, rested_on, conclusions, &mut history.tally);
    let mut done = previous.kept().clone();
    let in_doubt = previous.in_doubt();
    let left: Vec<_> = order
        .iter()
        .filter(|(case, _)| options.leave_in_doubt && in_doubt.contains(&case.id))
        .map(|(case, role)| CaseVerdict { role: *role, ..left_in_doubt(case) })
        .collect();
    done.extend(left.iter().map(|verdict| verdict.case.clone()));
    history.append(&Event::Resumed(Resumed {
        now: runner.clock().now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        kept: done.len(),
        in_doubt,
    }));
    for verdict in changed {
        history.append(&Event::Verdict(verdict));
    }
    for verdict in left {
        runner.known_mut().keep(runner.judge(), &verdict, None);
        conclusions.land(verdict, None, history);
    }
    done
}

/// Returns the end of a run that took `micros`. The caller fills in the number of exchanges.
pub(crate) fn finished(
    judge: &Judge,
    totals: &Totals,
    waivers: &Waivers,
    micros: u64,
    (stopped_early, is_whole): (bool, bool),
) -> RunFinished {
    let waivers = waivers.seen(judge.suite(), is_whole && !stopped_early);
    RunFinished {
        counts: totals.counts(),
        exchanges: 0,
        retries: 0,
        micros,
        stopped_early,
        // Cases without a verdict could not be judged.
        exit: match Exit::with(totals, &waivers) {
            Exit::Conforms if stopped_early => Exit::CouldNotTell.code(),
            exit => exit.code(),
        },
        times: Times::default(),
        waivers,
        chain: None,
    }
}

/// Returns all cases of a plan, sorted by id.
fn in_order<'a>(plan: &Plan<'a>) -> Vec<(&'a Case, Role)> {
    let controls = plan.controls.iter().map(|case| (*case, Role::Control));
    let mut all: Vec<_> = controls.chain(plan.selected.iter().map(|case| (*case, Role::Selected))).collect();
    all.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
    all
}

/// Returns the positions of the cases that run before the others, each with its rank. A control gets the rank
/// of the first case that depends on it.
fn ahead(order: &[(&Case, Role)], ids: &[String]) -> HashMap<usize, usize> {
    let mut ahead = HashMap::new();
    for (rank, id) in ids.iter().enumerate() {
        let mut next = Some(id.as_str());
        while let Some(at) =
            next.and_then(|id| order.binary_search_by(|(case, _)| case.id.as_str().cmp(id)).ok())
        {
            if ahead.contains_key(&at) {
                break;
            }
            ahead.insert(at, rank);
            next = order[at].0.control.as_deref();
        }
    }
    ahead
}

/// Returns the positions of the cases that are not done, in the order of sending: by phase, and within a
/// phase the preferred cases first.
fn left(
    runner: &Runner,
    order: &[(&Case, Role)],
    done: &BTreeSet<String>,
    ahead: &HashMap<usize, usize>,
) -> Vec<(Phase, usize)> {
    let suite = runner.judge().suite();
    let left = (0..order.len()).filter(|at| !done.contains(&order[*at].0.id));
    let mut left: Vec<(Phase, usize)> = left.map(|at| (Phase::of(suite, order[at].0), at)).collect();
    left.sort_by_key(|(phase, at)| (*phase, ahead.get(at).copied().unwrap_or(usize::MAX)));
    left
}

/// Returns the cases that other cases depend on.
fn rested_on<'a>(plan: &Plan<'a>) -> HashSet<&'a str> {
    let cases = plan.controls.iter().chain(&plan.selected);
    cases.flat_map(|case| [&case.control, &case.same_as]).flatten().map(String::as_str).collect()
}

pub(crate) fn started(judge: &Judge, clock: Clock, plan: &Plan<'_>, options: &Options) -> RunStarted {
    let (suite, profile) = (judge.suite(), judge.profile());
    RunStarted {
        format: RunStarted::FORMAT,
        tool: RunStarted::tool(),
        target: profile.name.clone(),
        target_version: profile.version.clone(),
        environment: profile.environment.map(|kind| kind.word().to_owned()),
        contact: profile.contact.clone(),
        base_url: profile.base_url.clone(),
        fault: options.fault.clone(),
        variations: options.variations.clone(),
        other_cases: suite.tree().other_cases().map(str::to_owned),
        other_document: suite.tree().other_document().map(str::to_owned),
        document_sha256: suite.spec().document.sha256(),
        suite_sha256: suite.sha256().to_owned(),
        quality: options.quality.clone(),
        seed: judge.identity().seed(),
        run_id: judge.identity().run_id().to_string(),
        now: clock.start.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        depth: options.depth.word().to_owned(),
        cases: plan.selected.len(),
        drawn: false,
        traffic: options.traffic,
        on_purpose: options.on_purpose,
        said_by_name: plan.said_by_name(),
        shard: options.shard.map(|(shard, _)| shard.to_string()),
        planned: options.shard.map(|(_, planned)| planned),
        requests: options.requests,
        profile_sha256: profile.sha256(),
        waivers_sha256: options.waivers.sha256.clone(),
        clock_runs: clock.runs(),
        levels: profile.levels.clone(),
        only: options.only.clone(),
        skip: options.skip.clone(),
        arguments: options.arguments.clone(),
    }
}
