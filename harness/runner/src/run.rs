//! A whole run: many cases in flight, events as they happen, one ledger.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use xs2aspec_record::{
    CaseSource, ClauseText, Event, Exit, Ledger, Role, RunFinished, RunStarted, Strength, Verdict,
};
use xs2aspec_suite::{Case, Clause, Depth, Plan, Shard, tree};

use crate::{
    session::{Done, Session},
    waiver::{Waiver, Waivers},
};

/// How a run goes about its work.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cases in flight at once, at least 1.
    pub jobs: usize,
    /// Whether to stop at the first violation.
    pub fail_fast: bool,
    /// Depth of the plan, for the record.
    pub depth: Depth,
    /// Patterns given with `--only`, for the record.
    pub only: Vec<String>,
    /// Patterns given with `--skip`, for the record.
    pub skip: Vec<String>,
    /// Arguments that name the target again, for the record.
    pub arguments: Vec<String>,
    /// The part of the plan that this is, and the selected cases of all parts.
    pub shard: Option<(Shard, usize)>,
    /// What the suite was shown to catch, for the record.
    pub quality: Option<String>,
    /// Fault of the built-in bank, for the record.
    pub fault: Option<String>,
    /// Violations that are agreed on.
    pub waivers: Vec<Waiver>,
}

/// Runs the plan and hands every event to `sink` in the order of the record.
pub async fn run(
    session: Arc<Session>,
    plan: &Plan<'_>,
    options: &Options,
    mut sink: impl FnMut(&Event),
) -> RunFinished {
    let start = Instant::now();
    sink(&Event::RunStarted(started(&session, plan, options)));
    introduce(&session, plan, &mut sink);
    let mut ledger = Ledger::default();
    let mut waivers = Waivers::new(options.waivers.clone(), session.now().date_naive());
    let mut stopped_early = false;
    let mut waiting = plan.controls.iter().map(|case| (case, Role::Control));
    let mut waiting = waiting.by_ref().chain(plan.selected.iter().map(|case| (case, Role::Selected)));
    let mut flying = JoinSet::new();
    loop {
        while flying.len() < options.jobs.max(1)
            && let Some((case, role)) = waiting.next()
        {
            let (session, id) = (Arc::clone(&session), case.id.clone());
            flying.spawn(async move { session.case(&id).await.map(|done| (done, role)) });
        }
        let Some(landed) = flying.join_next().await else { break };
        // A task of ours that panics is a defect: it must not pass for a quiet end.
        let landed = landed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let Some((done, role)) = landed else { continue };
        let verdict = report(&session, &done, role, &mut ledger, &mut waivers, &mut sink);
        if options.fail_fast && role == Role::Selected && verdict == Verdict::Fail {
            stopped_early = waiting.next().is_some() || !flying.is_empty();
            flying.abort_all();
            break;
        }
    }
    let waivers = waivers.seen(session.suite());
    let finished = RunFinished {
        counts: ledger.counts(),
        exchanges: session.exchanges(),
        retries: session.retries(),
        micros: micros(start.elapsed()),
        stopped_early,
        exit: Exit::with(&ledger, &waivers).code(),
        waivers,
    };
    sink(&Event::RunFinished(finished.clone()));
    finished
}

fn report(
    session: &Session,
    done: &Done,
    role: Role,
    ledger: &mut Ledger,
    waivers: &mut Waivers,
    sink: &mut impl FnMut(&Event),
) -> Verdict {
    for exchange in &done.exchanges {
        sink(&Event::Exchange(exchange.clone()));
    }
    let mut verdict = done.verdict.clone();
    verdict.role = role;
    waivers.apply(session.suite(), &mut verdict);
    if let Some(clause) = session.suite().clauses().get(&verdict.clause) {
        ledger.add(&verdict, strength(clause).0);
    }
    let word = verdict.verdict;
    sink(&Event::Verdict(verdict));
    word
}

fn started(session: &Session, plan: &Plan<'_>, options: &Options) -> RunStarted {
    RunStarted {
        format: RunStarted::FORMAT,
        tool: format!("xs2aspec {}", env!("CARGO_PKG_VERSION")),
        target: session.profile().name.clone(),
        target_version: session.profile().version.clone(),
        environment: session.profile().environment.map(|kind| kind.word().to_owned()),
        contact: session.profile().contact.clone(),
        base_url: session.profile().base_url.clone(),
        fault: options.fault.clone(),
        document_sha256: tree::document_sha256(),
        suite_sha256: session.suite().tree().sha256(),
        quality: options.quality.clone(),
        seed: session.seed(),
        now: session.now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        depth: options.depth.word().to_owned(),
        cases: plan.selected.len(),
        shard: options.shard.map(|(shard, _)| shard.to_string()),
        planned: options.shard.map(|(_, planned)| planned),
        profile_sha256: session.profile().sha256(),
        only: options.only.clone(),
        skip: options.skip.clone(),
        arguments: options.arguments.clone(),
    }
}

/// Writes the clauses and sources that the run speaks of. A finding may name any clause, so all of them are written.
fn introduce(session: &Session, plan: &Plan<'_>, sink: &mut impl FnMut(&Event)) {
    let suite = session.suite();
    for clause in suite.clauses().values() {
        let (word, standard) = strength(clause);
        let why = match &clause.strength {
            xs2aspec_suite::Strength::Observed(why) | xs2aspec_suite::Strength::Untestable(why) => {
                Some(why.clone())
            }
            _ => None,
        };
        sink(&Event::Clause(ClauseText {
            id: clause.id.clone(),
            says: clause.says.clone(),
            strength: word,
            line: clause.line,
            section: tree::section(clause.line),
            standard,
            why,
        }));
    }
    let mut files: Vec<&str> =
        plan.selected.iter().chain(&plan.controls).map(|case: &&Case| case.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let text = suite.tree().text(file).unwrap_or_default().to_owned();
        sink(&Event::Source(CaseSource { file: file.to_owned(), text }));
    }
}

fn strength(clause: &Clause) -> (Strength, Option<String>) {
    use xs2aspec_suite::Strength as Kind;
    match &clause.strength {
        Kind::Stated => (Strength::Stated, None),
        Kind::Derived(standard) => (Strength::Derived, Some(standard.clone())),
        Kind::Choice(_) => (Strength::Choice, None),
        Kind::Observed(_) => (Strength::Observed, None),
        Kind::Untestable(_) => (Strength::Untestable, None),
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
