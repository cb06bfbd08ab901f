//! Every case against the reference bank as it is, with each fault, with each variation, and in styles.

use std::{collections::BTreeSet, sync::Arc};

use chrono::{DateTime, Utc};
use tokio::task::{JoinError, JoinSet};
use xs2aspec_record::{CaseVerdict, Event, Role};
use xs2aspec_reference::Fault;
use xs2aspec_runner::{
    Options, Profile, Session, exchange::InProcess, profile::AuthorizedProfile, session::RequestCache,
};
use xs2aspec_suite::{Coverage, Depth, Suite};

use crate::{
    ProveError, Row,
    masking::Reasons,
    variant::{BankVariant, NOWHERE},
};

/// How the banks are asked.
#[derive(Debug, Clone)]
pub struct MutationOptions {
    /// Seed of all fresh identifiers.
    pub seed: u64,
    /// The clock of all runs and banks.
    pub now: DateTime<Utc>,
    /// How much is asked of each bank.
    pub depth: Depth,
    /// Patterns of cases that are left out.
    pub skip: Vec<String>,
    /// Cases in flight at once, for each bank.
    pub jobs: usize,
    /// Banks that are asked side by side.
    pub banks: usize,
    /// Whether a bank with a fault is asked for its own clause first, and for the rest only if that does not
    /// catch it.
    pub until_caught: bool,
    /// Whether every bank is asked over TCP, also one whose difference shows without.
    pub tcp: bool,
}

/// A row for each of these banks. The clean bank comes first and alone, and `record` gets the events of its
/// run; what is signed for the next one serves all others, which are asked side by side.
pub async fn rows(
    suite: &Arc<Suite>,
    banks: Vec<BankVariant>,
    options: &MutationOptions,
    mut record: impl FnMut(&Event),
) -> Result<Vec<Row>, ProveError> {
    let mut rows = Vec::new();
    let (clean, others): (Vec<_>, Vec<_>) =
        banks.into_iter().partition(|bank| matches!(bank, BankVariant::Clean));
    for bank in clean {
        let mut verdicts = Vec::new();
        run(suite, bank, options, |event| {
            if let Event::Verdict(verdict) = event {
                verdicts.push(verdict.clone());
            }
            record(event);
        })
        .await?;
        rows.push(row(suite, bank, &verdicts));
    }
    let shared = Arc::new(Shared::new(suite, options)?);
    let mut running = JoinSet::new();
    // The first one signs for all.
    let mut side_by_side = 1;
    for bank in others {
        while running.len() >= side_by_side
            && let Some(ended) = running.join_next().await
        {
            rows.push(joined(ended)?);
            side_by_side = options.banks.max(1);
        }
        let (options, suite, shared) = (options.clone(), Arc::clone(suite), Arc::clone(&shared));
        running.spawn(async move { shared.row(&options, &suite, bank).await });
    }
    while let Some(ended) = running.join_next().await {
        rows.push(joined(ended)?);
    }
    Ok(rows)
}

/// Runs the cases against one bank, over TCP, with a record as any run has it.
pub async fn run(
    suite: &Arc<Suite>,
    bank: BankVariant,
    options: &MutationOptions,
    record: impl FnMut(&Event),
) -> Result<(), ProveError> {
    let session = |profile| Ok(Session::new(Arc::clone(suite), profile, options.seed, options.now)?);
    over_tcp(suite, bank, (options, &[]), session, record).await
}

/// The row of a bank: what its selected cases came to.
pub fn row(suite: &Suite, bank: BankVariant, verdicts: &[CaseVerdict]) -> Row {
    let selected = verdicts.iter().filter(|verdict| verdict.role == Role::Selected);
    let mut row = Row::new((bank.kind(), &bank.label(), bank.clause()), selected);
    row.may_warn.extend(bank.may_warn(suite));
    row.operator = bank.faults().into_iter().find_map(Fault::operator).map(str::to_owned);
    row
}

/// Clauses that the document demands: each of them must have a fault, whether or not the suite has a case
/// that could see it.
pub fn testable(suite: &Suite) -> BTreeSet<String> {
    let coverage = Coverage::of(suite);
    coverage.demanded().map(|statement| statement.clause.clone()).collect()
}

fn joined(ended: Result<Result<Row, ProveError>, JoinError>) -> Result<Row, ProveError> {
    // A task of ours that panics is a defect: it must not pass for a quiet end.
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// What banks that differ only in their address share: signed requests.
pub(crate) struct Shared {
    session: Session,
    requests: Arc<RequestCache>,
}

impl Shared {
    pub(crate) fn new(suite: &Arc<Suite>, options: &MutationOptions) -> Result<Self, ProveError> {
        let nowhere = Profile::reference(NOWHERE)?;
        let session = Session::new(Arc::clone(suite), nowhere.for_show(), options.seed, options.now)?;
        Ok(Self { session, requests: Arc::default() })
    }

    async fn row(
        &self,
        options: &MutationOptions,
        suite: &Arc<Suite>,
        bank: BankVariant,
    ) -> Result<Row, ProveError> {
        let own =
            bank.faults().first().map(|fault| fault.clause().to_owned()).filter(|clause| {
                options.until_caught && suite.cases().iter().any(|case| case.clause == *clause)
            });
        if let Some(clause) = own {
            let row = self.asked(options, suite, bank, &[clause]).await?;
            if row.own().next().is_some() {
                return Ok(row);
            }
        }
        self.asked(options, suite, bank, &[]).await
    }

    /// What the cases that `only` selects say of a bank; all of them if it is empty.
    pub(crate) async fn asked(
        &self,
        options: &MutationOptions,
        suite: &Arc<Suite>,
        bank: BankVariant,
        only: &[String],
    ) -> Result<Row, ProveError> {
        let (mut verdicts, mut reasons) = (Vec::new(), Reasons::default());
        let sink = |event: &Event| match event {
            Event::Verdict(verdict) => verdicts.push(verdict.clone()),
            Event::Exchange(exchange) => reasons.see(exchange),
            _ => {}
        };
        let session = |profile: AuthorizedProfile, inside: Option<InProcess>| {
            Ok::<_, ProveError>(self.session.for_target(profile, &self.requests, inside)?)
        };
        let gives_reasons = matches!(bank, BankVariant::Style(style) if style.gives_reasons());
        if gives_reasons {
            // They stand in the answers, which a shared session does not keep.
            let session = |profile| Ok(Session::new(Arc::clone(suite), profile, options.seed, options.now)?);
            over_tcp(suite, bank, (options, only), session, sink).await?;
        } else if bank.is_above_http() && !options.tcp {
            let session = session(bank.profile(NOWHERE)?, Some(bank.in_process(options.now)))?;
            plan_and_run(suite, bank, (options, only), session, sink).await?;
        } else {
            over_tcp(suite, bank, (options, only), |profile| session(profile, None), sink).await?;
        }
        let mut row = row(suite, bank, &verdicts);
        if gives_reasons {
            let is_whole = options.skip.is_empty() && options.depth == Depth::Standard;
            row.masked = reasons.masked(suite, &verdicts, is_whole);
        }
        Ok(row)
    }
}

async fn over_tcp(
    suite: &Suite,
    bank: BankVariant,
    (options, only): (&MutationOptions, &[String]),
    session: impl FnOnce(AuthorizedProfile) -> Result<Session, ProveError>,
    sink: impl FnMut(&Event),
) -> Result<(), ProveError> {
    let started = xs2aspec_reference::start(bank.config(options.now)).await.map_err(ProveError::Start)?;
    let session = session(bank.profile(&started.base_url())?)?;
    plan_and_run(suite, bank, (options, only), session, sink).await?;
    started.shutdown().await.map_err(ProveError::Stop)
}

async fn plan_and_run(
    suite: &Suite,
    bank: BankVariant,
    (options, only): (&MutationOptions, &[String]),
    session: Session,
    sink: impl FnMut(&Event),
) -> Result<(), ProveError> {
    let plan = suite.plan(only, &options.skip, options.depth)?;
    let variations = bank.variations();
    let options = Options {
        jobs: options.jobs,
        depth: options.depth,
        skip: options.skip.clone(),
        arguments: bank.arguments(),
        fault: bank.faults().first().map(|_| bank.label()),
        variations: variations.into_iter().map(|variation| variation.name().to_owned()).collect(),
        ..Options::default()
    };
    xs2aspec_runner::run(Arc::new(session), &plan, &options, sink).await;
    Ok(())
}
