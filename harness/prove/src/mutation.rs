//! Runs every case against the reference bank unchanged, with each fault, with each variation, and in styles.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::resume_unwind,
    sync::Arc,
};

use chrono::{DateTime, Utc};
use tokio::{
    sync::Notify,
    task::{JoinError, JoinSet},
};
use xs2aspec_judge::{Identity, Profile, RequestCache, profile::AuthorizedProfile};
use xs2aspec_record::{CaseVerdict, Event, Role, Verdict};
use xs2aspec_reference::Fault;
use xs2aspec_runner::{BoxFuture, Clock, Options, Runner, exchange::InProcess};
use xs2aspec_suite::{Coverage, Depth, Plan, PlanError, Suite, plan as plans};

use crate::{
    Caught, ProveError, Row,
    masking::Reasons,
    snapshot::{self, Catcher},
    variant::{BankVariant, NOWHERE},
};

/// The folder for the commands in a record.
const AGAIN: &str = "reports/again";

/// Options of the runs.
#[derive(Debug, Clone)]
pub struct MutationOptions {
    /// Seed of all fresh identifiers.
    pub seed: u64,
    /// The clock of all runs and banks.
    pub now: DateTime<Utc>,
    /// The depth of the runs.
    pub depth: Depth,
    /// Patterns of cases to skip.
    pub skip: Vec<String>,
    /// Limit of the requests per bank, most effective cases first.
    pub requests: Option<u64>,
    /// Cases in flight at once, per bank.
    pub jobs: usize,
    /// Number of banks that are tested in parallel.
    pub banks: usize,
    /// True to run every case on a bank with a fault. Otherwise, the case that caught it in the stored matrix
    /// runs first, then its own clause, and the rest only if that does not catch it. Each run ends at the
    /// first case that gives the best possible result for the clause.
    pub every_case: bool,
    /// Number of banks among which the cases are divided, for banks that combine the variations. With 1, each
    /// of them gets every case.
    pub shares: u32,
    /// True to use TCP for every bank, even if its difference does not need it.
    pub tcp: bool,
}

/// A receiver of the events of a run.
pub type Sink<'a> = &'a mut (dyn FnMut(&Event) + Send);

/// Returns a row for each of these banks, and passes it to `done` as soon as it is ready. The clean bank is
/// tested first and alone, and `record` gets its events. Its signed requests, and those of the next bank, are
/// reused for all others, which are tested in parallel.
pub fn rows<'a>(
    suite: &'a Arc<Suite>,
    banks: Vec<BankVariant>,
    options: &'a MutationOptions,
    record: Sink<'a>,
    done: &'a mut (dyn FnMut(&Row) + Send),
) -> BoxFuture<'a, Result<Vec<Row>, ProveError>> {
    Box::pin(all_rows(suite, banks, options, record, done))
}

async fn all_rows(
    suite: &Arc<Suite>,
    banks: Vec<BankVariant>,
    options: &MutationOptions,
    record: Sink<'_>,
    done: &mut (dyn FnMut(&Row) + Send),
) -> Result<Vec<Row>, ProveError> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        done(&row);
        rows.push(row);
    };
    let (clean, mut others): (Vec<_>, Vec<_>) =
        banks.into_iter().partition(|bank| matches!(bank, BankVariant::Clean));
    // The longest runs start early. The first bank signs, and differs from the clean one in one thing only.
    if let Some((_, rest)) = others.split_first_mut() {
        rest.sort_by_key(|bank| !matches!(bank, BankVariant::Style(_)));
    }
    let shared = Arc::new(Shared::new(suite, options)?);
    for bank in clean {
        let mut verdicts = Vec::new();
        let runner = |profile| shared.recorded(options, suite, profile);
        let asks = Asks { chosen: shared.chosen.as_ref(), ..Asks::everything(options) };
        over_tcp(suite, bank, asks, runner, &mut |event| {
            if let Event::Verdict(verdict) = event {
                verdicts.push(verdict.clone());
            }
            record(event);
        })
        .await?;
        add(row(suite, bank, &verdicts));
    }
    let mut asked = others.into_iter().map(|bank| {
        let (options, suite, shared) = (options.clone(), Arc::clone(suite), Arc::clone(&shared));
        boxed(async move { shared.row(&options, &suite, bank).await })
    });
    // The first one signs for all others.
    side_by_side(&mut asked.by_ref().take(1), 1, &mut add).await?;
    side_by_side(&mut asked, options.banks, &mut add).await?;
    Ok(rows)
}

/// A task that runs in parallel with others.
pub(crate) type Task<T> = BoxFuture<'static, Result<T, ProveError>>;

pub(crate) fn boxed<T>(task: impl Future<Output = Result<T, ProveError>> + Send + 'static) -> Task<T> {
    Box::pin(task)
}

/// Runs tasks, at most `most` at once, and passes on the result of each.
pub(crate) async fn side_by_side<T: Send + 'static>(
    tasks: &mut (dyn Iterator<Item = Task<T>> + Send),
    most: usize,
    done: &mut (dyn FnMut(T) + Send),
) -> Result<(), ProveError> {
    // A panic in a task is a bug, and must not look like a normal end.
    let joined =
        |ended: Result<_, JoinError>| ended.unwrap_or_else(|error| resume_unwind(error.into_panic()));
    let mut running = JoinSet::new();
    for task in tasks {
        if running.len() >= most.max(1)
            && let Some(ended) = running.join_next().await
        {
            done(joined(ended)?);
        }
        running.spawn(task);
    }
    while let Some(ended) = running.join_next().await {
        done(joined(ended)?);
    }
    Ok(())
}

/// Runs the cases against one bank over TCP, with a record as in any run.
pub fn run<'a>(
    suite: &'a Arc<Suite>,
    bank: BankVariant,
    options: &'a MutationOptions,
    record: Sink<'a>,
) -> BoxFuture<'a, Result<(), ProveError>> {
    let runner = |profile| {
        Ok(Runner::new(
            Arc::clone(suite),
            profile,
            Identity::reproducible(options.seed),
            Clock::at(options.now),
        )?)
    };
    Box::pin(async move {
        let chosen = chosen(suite, options)?;
        let asks = Asks { chosen: chosen.as_ref(), ..Asks::everything(options) };
        over_tcp(suite, bank, asks, runner, record).await
    })
}

/// Returns the row of a bank from the verdicts of its selected cases.
pub fn row(suite: &Suite, bank: BankVariant, verdicts: &[CaseVerdict]) -> Row {
    let selected = verdicts.iter().filter(|verdict| verdict.role == Role::Selected);
    let mut row = Row::new((bank.kind(), &bank.label(), bank.clause()), selected);
    row.may_warn.extend(bank.may_warn(suite));
    row.whole = bank.faults().into_iter().find_map(Fault::whole).map(str::to_owned);
    row.operator = bank.faults().into_iter().find_map(Fault::operator).map(str::to_owned);
    row.style = bank.style().map(|style| style.name().to_owned());
    row
}

/// Returns the required clauses. Each of them must have a fault, even if the suite has no case that could
/// detect it.
pub fn testable(suite: &Suite) -> BTreeSet<String> {
    let coverage = Coverage::of(suite);
    coverage.demanded().map(|statement| statement.clause.clone()).collect()
}

/// State shared by banks that differ only in their address: signed requests, and the chosen cases.
pub(crate) struct Shared {
    runner: Runner,
    requests: Arc<RequestCache>,
    survivors: BTreeMap<String, String>,
    /// The case that caught each fault before.
    catchers: BTreeMap<&'static str, Catcher>,
    /// The ids of the cases within the limit of requests.
    chosen: Option<BTreeSet<String>>,
}

impl Shared {
    pub(crate) fn new(suite: &Arc<Suite>, options: &MutationOptions) -> Result<Self, ProveError> {
        let nowhere = Profile::reference(NOWHERE)?;
        let runner = Runner::new(
            Arc::clone(suite),
            nowhere.for_show(),
            Identity::reproducible(options.seed),
            Clock::at(options.now),
        )?;
        let (survivors, mut catchers) = (snapshot::survivors(), snapshot::catchers());
        // A case that is selected by name runs at any depth.
        let whole = suite.plan(&[], &options.skip, options.depth)?;
        let asked: BTreeSet<&str> = whole.selected.iter().map(|case| case.id.as_str()).collect();
        catchers.retain(|_, catcher| asked.contains(catcher.case));
        let chosen = chosen(suite, options)?;
        Ok(Self { runner, requests: Arc::default(), survivors, catchers, chosen })
    }

    /// Returns a runner that keeps its exchanges, and reuses signatures.
    fn recorded(
        &self,
        options: &MutationOptions,
        suite: &Arc<Suite>,
        profile: AuthorizedProfile,
    ) -> Result<Runner, ProveError> {
        let runner = Runner::new(
            Arc::clone(suite),
            profile,
            Identity::reproducible(options.seed),
            Clock::at(options.now),
        )?;
        Ok(runner.sharing_signatures(&self.runner, &self.requests))
    }

    async fn row(
        &self,
        options: &MutationOptions,
        suite: &Arc<Suite>,
        bank: BankVariant,
    ) -> Result<Row, ProveError> {
        let Some(fault) = bank.faults().first().copied().filter(|_| !options.every_case) else {
            return self.asked(options, suite, bank, &[], None).await;
        };
        let until = Some((fault.clause(), Caught::Denied));
        if let Some(before) = self.catchers.get(fault.name()) {
            // A case that shares a baseline request needs that request.
            let plain = suite.case(before.case).and_then(|case| case.same_as.clone());
            let only: Vec<String> = [before.case.to_owned()].into_iter().chain(plain).collect();
            match self.asked(options, suite, bank, &only, Some((fault.clause(), before.caught))).await {
                Ok(row) if row.caught() <= before.caught => return Ok(row),
                // The case may be removed or skipped.
                Ok(_) | Err(ProveError::Plan(_)) => {}
                ended => return ended,
            }
        }
        // A clause may have no cases, or none at this depth.
        if suite.cases().iter().any(|case| plans::matches(fault.clause(), case)) {
            match self.asked(options, suite, bank, &[fault.clause().to_owned()], until).await {
                Err(ProveError::Plan(_)) => {}
                Ok(row) if row.own().next().is_none() && !self.survivors.contains_key(fault.name()) => {}
                ended => return ended,
            }
        }
        self.asked(options, suite, bank, &[], until).await
    }

    /// Tests a bank with the cases that `only` selects, or all if it is empty. Stops at the first case with
    /// this result for a clause.
    pub(crate) async fn asked(
        &self,
        options: &MutationOptions,
        suite: &Arc<Suite>,
        bank: BankVariant,
        only: &[String],
        until: Option<(&str, Caught)>,
    ) -> Result<Row, ProveError> {
        let chosen = self.chosen.as_ref();
        let asks = Asks { only, chosen, is_unrecorded: true, ..Asks::everything(options) };
        self.asked_all(suite, bank, asks, until).await
    }

    /// Tests a bank with these cases. Stops at the first case with this result for a clause.
    pub(crate) async fn asked_all(
        &self,
        suite: &Arc<Suite>,
        bank: BankVariant,
        asks: Asks<'_>,
        until: Option<(&str, Caught)>,
    ) -> Result<Row, ProveError> {
        let options = asks.options;
        let (mut verdicts, mut reasons) = (Vec::new(), Reasons::default());
        let enough = Arc::new(Notify::new());
        let mut is_enough = false;
        let mut sink = |event: &Event| match event {
            // Verdicts of cases in flight still arrive, in varying numbers.
            Event::Verdict(_) if is_enough => {}
            Event::Verdict(verdict) => {
                verdicts.push(verdict.clone());
                is_enough = until.is_some_and(|(clause, most)| says(verdict, clause, most));
                if is_enough {
                    enough.notify_one();
                }
            }
            Event::Exchange(exchange) => reasons.see(exchange),
            _ => {}
        };
        let asks = Asks { enough: Arc::clone(&enough), ..asks };
        let runner = |profile: AuthorizedProfile, inside: Option<InProcess>| {
            Ok::<_, ProveError>(self.runner.for_target(profile, &self.requests, inside)?)
        };
        let gives_reasons = matches!(bank, BankVariant::Style(style) if style.gives_reasons());
        if gives_reasons {
            // The reasons are in the responses, which a shared runner does not keep.
            let runner = |profile| self.recorded(options, suite, profile);
            over_tcp(suite, bank, asks, runner, &mut sink).await?;
        } else if bank.is_above_http() && !options.tcp {
            let runner = runner(bank.profile(NOWHERE)?, Some(bank.in_process(options.now)))?;
            plan_and_run(suite, bank, asks, runner, &mut sink).await?;
        } else {
            over_tcp(suite, bank, asks, |profile| runner(profile, None), &mut sink).await?;
        }
        let mut row = row(suite, bank, &verdicts);
        if gives_reasons {
            let is_whole =
                options.skip.is_empty() && options.requests.is_none() && options.depth == Depth::Standard;
            row.masked = reasons.masked(suite, &verdicts, is_whole);
        }
        Ok(row)
    }
}

/// Returns true if a selected case fails, or warns if that is the best possible result, and names this
/// clause.
fn says(verdict: &CaseVerdict, clause: &str, most: Caught) -> bool {
    let mut named = verdict.findings.iter().map(|finding| &finding.clause).chain([&verdict.clause]);
    let is_caught = match verdict.verdict {
        Verdict::Fail => true,
        Verdict::Warn => most == Caught::Warned,
        _ => false,
    };
    is_caught && verdict.role == Role::Selected && named.any(|named| named == clause)
}

/// The selection of cases for one bank.
#[derive(Clone)]
pub(crate) struct Asks<'a> {
    pub(crate) options: &'a MutationOptions,
    /// Patterns of cases, or all if empty.
    pub(crate) only: &'a [String],
    /// The allowed cases, or all if None.
    pub(crate) chosen: Option<&'a BTreeSet<String>>,
    /// Ends the run early.
    pub(crate) enough: Arc<Notify>,
    /// True if only the verdicts are needed.
    pub(crate) is_unrecorded: bool,
}

impl<'a> Asks<'a> {
    /// Selects every case of these options, with a record.
    pub(crate) fn everything(options: &'a MutationOptions) -> Self {
        Self { options, only: &[], chosen: None, enough: Arc::default(), is_unrecorded: false }
    }
}

/// Returns the ids of the cases within the limit of requests.
fn chosen(suite: &Suite, options: &MutationOptions) -> Result<Option<BTreeSet<String>>, ProveError> {
    let Some(requests) = options.requests else { return Ok(None) };
    let plan = suite.plan(&[], &options.skip, options.depth)?;
    let (plan, _) = suite.within(&plan, requests)?;
    Ok(Some(plan.selected.into_iter().map(|case| case.id.clone()).collect()))
}

/// Returns the plan for one bank, which may be empty.
fn plan<'a>(suite: &'a Suite, asks: &Asks<'_>) -> Result<Plan<'a>, PlanError> {
    let plan = suite.plan(asks.only, &asks.options.skip, asks.options.depth)?;
    Ok(match asks.chosen {
        Some(chosen) => suite.part(&plan, |case| chosen.contains(&case.id)),
        None => plan,
    })
}

async fn over_tcp(
    suite: &Suite,
    bank: BankVariant,
    asks: Asks<'_>,
    runner: impl FnOnce(AuthorizedProfile) -> Result<Runner, ProveError>,
    sink: Sink<'_>,
) -> Result<(), ProveError> {
    let started =
        xs2aspec_reference::start(bank.config(asks.options.now)).await.map_err(ProveError::Start)?;
    let runner = runner(bank.profile(&started.base_url())?)?;
    plan_and_run(suite, bank, asks, runner, sink).await?;
    started.shutdown().await.map_err(ProveError::Stop)
}

async fn plan_and_run(
    suite: &Suite,
    bank: BankVariant,
    asks: Asks<'_>,
    runner: Runner,
    sink: Sink<'_>,
) -> Result<(), ProveError> {
    let Asks { options, is_unrecorded, .. } = asks;
    let enough = Arc::clone(&asks.enough);
    let mut plan = plan(suite, &asks)?;
    if let Some(share) = bank.share(options.shares) {
        plan = suite.shard(&plan, share);
    }
    let variations = bank.variations();
    let options = Options {
        jobs: options.jobs,
        depth: options.depth,
        skip: options.skip.clone(),
        arguments: [bank.arguments(), ["--out", AGAIN].map(str::to_owned).to_vec()].concat(),
        fault: bank.faults().first().map(|_| bank.label()),
        variations: variations.into_iter().map(|variation| variation.name().to_owned()).collect(),
        interrupt: enough,
        is_unrecorded,
        ..Options::default()
    };
    let mut tell = |event: &Event| {
        sink(event);
        Ok(())
    };
    Box::pin(xs2aspec_runner::run(Arc::new(runner), &plan, &options, &mut tell)).await;
    Ok(())
}
