//! `xs2aspec run`: from case files to reports.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, IsTerminal},
    path::Path,
    sync::Arc,
};

use tokio::sync::Notify;
use xs2aspec_prove::snapshot;
use xs2aspec_record::{
    Event, Exit, RecordWriter, RunFolder,
    outputs::{self, OutputError},
    run_folder::{self, Doubt, Files},
};
use xs2aspec_reference::Bank;
use xs2aspec_report::{
    compare::diff::Comparison,
    format::{annotations::Github, terminal::Terminal},
    progress::{Mode, Progress},
    stream::{self, Live, ReportsError},
};
use xs2aspec_runner::{
    Options, Profile, Session,
    resume::PreviousRun,
    waiver::{self, WaiversFile},
};
use xs2aspec_suite::{Depth, Plan, Shard, Suite, plan::matches};

use crate::{
    Failure,
    args::{InDoubt, Run, Server},
    forecast,
    hints::Hints,
    report::{self, cannot_write},
    resume,
    target::{self, Asked},
    verdicts,
};

/// So many cases that failed before are asked before the others: what they come to waits in memory.
const AHEAD: usize = 1000;

/// Loads, plans, runs and reports.
pub(crate) async fn run(args: &Run) -> Result<Exit, Failure> {
    let mut claimed = args.resume.as_deref().map(|folder| resume::claim(args, folder)).transpose()?;
    let resumed = args.resume.as_deref().map(|folder| resume::earlier(args, folder)).transpose()?;
    let (earlier, args) = match &resumed {
        Some((earlier, args)) => (Some(earlier), args),
        None => (None, args),
    };
    match earlier {
        Some(_) => files(args, |files| run_folder::check(&args.out, files))?,
        None => files(args, |files| RunFolder::may_begin(&args.out, files, doubt(args)))?,
    }
    // It may be the record that this run replaces.
    let failed = args.base.as_deref().map(verdicts::failed).transpose();
    let base = args.base.as_deref().map(base).transpose()?;
    let (suite, profile) = suite(args)?;
    target::keeps_the_document(&suite, args.target.as_deref())?;
    let (plan, shard, chosen) = planned(args, &suite)?;
    let waivers =
        args.waivers.as_deref().map(waiver::read).transpose().map_err(Failure::input)?.unwrap_or_default();
    let asked = Asked {
        target: args.target.as_deref().zip(profile),
        allow_production: args.allow_production,
        now: args.now,
        fault: &args.fault,
        variation: &args.variation,
        style: args.style.as_deref(),
        levels: &args.levels,
    };
    let target = target::open(asked).await?;
    let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let now = args.now.unwrap_or_else(chrono::Utc::now);
    let in_flight = target.profile.limits.in_flight.unwrap_or(usize::MAX);
    let mut session = Session::new(Arc::clone(&suite), target.profile, seed, now).map_err(Failure::input)?;
    if args.now.is_none() {
        session = session.with_running_clock();
    }
    if let Some(earlier) = earlier {
        earlier.fits(&session, &plan, &waivers).map_err(Failure::input)?;
        session = earlier.resume(session);
    }
    let arguments = arguments(args, target.arguments, seed);
    let mut options = options(args, arguments, in_flight, shard, waivers, earlier);
    options.variations = target.variations;
    options.ahead = ahead(args, &suite, failed?);
    limit(args, &session, &plan);

    let claimed = match claimed.take() {
        Some(claimed) => claimed,
        None => files(args, |files| RunFolder::begin(&args.out, files, doubt(args)))?,
    };
    let record = args.out.join(outputs::RECORD);
    // A run that goes on has a record, which stays until a new one has all of it.
    let written = if earlier.is_some() { args.out.join(outputs::PART) } else { record.clone() };
    if earlier.is_none() && base.is_some() && record.is_file() {
        // It may be the one that this run is compared with, and is read on while this run goes on.
        fs::remove_file(&record).map_err(|error| cannot_write(&record, &error))?;
    }
    let (mut terminal, mut github) = (Terminal::default(), Github::default());
    let file = File::create(&written).map_err(|error| cannot_write(&written, &error))?;
    let mut keeper = Keeper {
        writer: RecordWriter::new(BufWriter::with_capacity(1 << 16, file)),
        live: Live::new(vec![&mut terminal, &mut github]),
        base: base.map(Ok),
        broken: None,
    };
    let session = session.with_journal(claimed.journal());
    let mut progress = Progress::new(mode(args.quiet));
    let mut hints = Hints::new(&suite);
    let session = Arc::new(session);
    let forecast = Box::pin(forecast::tell(&session, &plan, options.jobs, progress.notes()));
    let mut tell = |event: &Event| {
        if !keeper.event(event) {
            // Nothing more is sent that nobody could prove.
            options.interrupt.notify_one();
        }
        progress.event(event);
        hints.event(event);
    };
    let running = xs2aspec_runner::run(Arc::clone(&session), &plan, &options, &mut tell);
    let finished = forecast::beside(running, forecast).await;
    drop(progress);
    stop(target.bank).await?;
    let Keeper { writer, live, base, broken } = keeper;
    let kept = broken.map_or_else(|| writer.finish().map(drop), Err);
    let kept = kept.and_then(|()| {
        // Somebody may have taken its folder away.
        if written == record { fs::metadata(&record).map(drop) } else { fs::rename(&written, &record) }
    });
    let is_record_lost = kept.is_err();
    let mut errors = Vec::new();
    errors.extend(kept.err().map(|error| cannot_write(&record, &error).message));
    errors.extend(base.and_then(Result::err).map(|error| error.to_string()));
    let summary = live.finish().map_err(Failure::input)?;
    report::say_reporter(&mut terminal, &summary);
    hints.say(&summary, &suite.spec().profile);
    say_requests(args, &session, &plan, chosen);
    if let Some(Server::Github) = args.annotations {
        report::say_reporter(&mut github, &summary);
    }
    if !is_record_lost {
        errors.extend(stream::write(&args.out, &summary).iter().map(ToString::to_string));
    }
    leave(args, claimed, finished.stopped_early, is_record_lost)?;
    if !errors.is_empty() {
        return Err(report::unwritten(&errors, finished.exit, &args.out));
    }
    say!("reports in {}", args.out.display());
    Ok(Exit::ALL.into_iter().find(|exit| exit.code() == finished.exit).unwrap_or(Exit::NothingRan))
}

/// The cases that the run may ask, and all others where the command line may mean them: what some requests
/// suffice for is reckoned over all, and a waiver or a pattern may name a case of a greater depth. Beside
/// them the profile, which says how many entries have cases: it is read once, since it may run commands.
fn suite(args: &Run) -> Result<(Arc<Suite>, Option<Profile>), Failure> {
    let means_any = args.requests.is_some() || args.waivers.is_some();
    let depth = if means_any { Depth::Exhaustive } else { args.depth };
    let suite = crate::suite_for(&args.source, depth)?;
    let spec = &suite.spec().profile;
    let profile = args.target.as_deref().map(|target| target::profile(target, spec)).transpose()?;
    let with_entries = |suite: Suite| match &profile {
        Some(profile) => crate::with_entries(suite, &profile.values),
        None => Ok(suite),
    };
    let mut suite = with_entries(suite)?;
    let is_known = |pattern: &String| suite.cases().iter().any(|case| matches(pattern, case));
    if !args.only.iter().chain(&args.skip).all(is_known) {
        suite = with_entries(crate::suite(&args.source)?)?;
    }
    Ok((Arc::new(suite), profile))
}

/// Says how a run goes on that was stopped, or forgets what it had noted for that.
fn leave(args: &Run, claimed: RunFolder, stopped_early: bool, is_record_lost: bool) -> Result<(), Failure> {
    if stopped_early {
        say!("stopped before the end; `{}` goes on", resume::again(args));
    } else if !is_record_lost {
        claimed.end().map_err(|error| cannot_write(&args.out, &error))?;
    }
    Ok(())
}

/// A plan, which part of how many cases it is, and how many cases the command line selects.
type Planned<'a> = (Plan<'a>, Option<(Shard, usize)>, usize);

/// The part of the plan that this run is, with the selected cases of all parts; and how many cases the
/// command line selects, however few requests there may be.
fn planned<'a>(args: &Run, suite: &'a Suite) -> Result<Planned<'a>, Failure> {
    let mut plan = suite.plan(&args.only, &args.skip, args.depth).map_err(Failure::input)?;
    let chosen = plan.selected.len();
    if let Some(requests) = args.requests {
        plan = suite.within(&plan, requests).map_err(Failure::input)?.0;
    }
    let shard = args.shard.as_deref().map(shard).transpose()?.map(|shard| (shard, plan.selected.len()));
    if let Some((shard, _)) = shard {
        plan = suite.shard(&plan, shard);
    }
    Ok((plan, shard, chosen))
}

/// Lets the session send no more requests than the command line says.
fn limit(args: &Run, session: &Session, plan: &Plan<'_>) {
    if let Some(requests) = args.requests {
        session.limit_exchanges(requests);
        let cost = session.suite().cost(plan.selected.iter().copied());
        session.reserve_exchanges(cost.confirming() as u64);
    }
}

/// Says what was asked of what there is, where the command line says how many requests there may be.
fn say_requests(args: &Run, session: &Session, plan: &Plan<'_>, chosen: usize) {
    if let Some(requests) = args.requests {
        let (sent, cases) = (session.exchanges(), plan.selected.len());
        say!("--requests {requests}: the {cases} most telling of {chosen} cases, {sent} requests sent");
    }
}

/// Ends the built-in bank, if it was asked.
async fn stop(bank: Option<Bank>) -> Result<(), Failure> {
    match bank {
        Some(bank) => bank.shutdown().await.map_err(Failure::input),
        None => Ok(()),
    }
}

/// Hands the files of a run to what fails before anything is sent: where the run would write over what it reads,
/// over a key, over the run of another command, or over one in doubt.
pub(crate) fn files<T>(
    args: &Run,
    of: impl FnOnce(Files<'_>) -> Result<T, OutputError>,
) -> Result<T, Failure> {
    let profile = args.target.as_deref().filter(|target| !target.contains("://")).map(Path::new);
    let reads: Vec<&Path> = profile.into_iter().chain(args.waivers.as_deref()).collect();
    of(Files { reports: &report::names(), reads: &reads }).map_err(|error| match error {
        OutputError::InDoubt { .. } => {
            Failure::input(format!("{error}; --force gives it up and begins anew"))
        }
        error => Failure::input(error),
    })
}

fn doubt(args: &Run) -> Doubt {
    if args.force { Doubt::GiveUp } else { Doubt::Fail }
}

/// What a command line says to ask the same again, whatever the record says beside it: the target, the cases
/// and the waivers. Requests to the built-in bank are the same by their seed; any other target gets fresh
/// identifiers, unless they were asked for.
fn arguments(args: &Run, target: Vec<String>, seed: u64) -> Vec<String> {
    let mut arguments = target;
    arguments.extend(args.source.arguments());
    if let Some(path) = &args.waivers {
        arguments.extend(["--waivers".to_owned(), path.display().to_string()]);
    }
    arguments.extend(args.levels.arguments());
    if args.seed.is_some() || args.target.is_none() {
        arguments.extend(["--seed".to_owned(), seed.to_string()]);
    }
    if args.allow_production {
        arguments.push("--allow-production".to_owned());
    }
    arguments
}

/// The record of an earlier run, which can be read to its end.
fn base(path: &Path) -> Result<Comparison<BufReader<File>>, Failure> {
    report::summary(path)?;
    let path = report::record(path);
    Comparison::new(report::open(&path)?).map_err(|error| report::wrong(&path, &error))
}

/// Keeps the events of a run: in its record, and for what is said at its end.
struct Keeper<'a> {
    writer: RecordWriter<BufWriter<File>>,
    live: Live<'a>,
    /// The earlier run, or why the comparison with it failed.
    base: Option<Result<Comparison<BufReader<File>>, ReportsError>>,
    /// Why the record cannot be written any more.
    broken: Option<io::Error>,
}

impl Keeper<'_> {
    /// Takes the next event. Whether it could be written.
    fn event(&mut self, event: &Event) -> bool {
        if let Some(Ok(base)) = &mut self.base
            && let Event::Verdict(verdict) = event
            && let Err(error) = base.add(verdict)
        {
            self.base = Some(Err(error));
        }
        if let Event::RunFinished(finished) = event
            && let Some(Ok(base)) = self.base.take_if(|base| base.is_ok())
        {
            match base.finish(&self.live.findings_so_far(&finished.waivers), &finished.waivers) {
                Ok(changes) => drop(self.event(&Event::Changes(changes))),
                Err(error) => self.base = Some(Err(error)),
            }
        }
        if self.broken.is_none() {
            self.broken = self.writer.write(event).err();
        }
        self.live.add(event.clone());
        self.broken.is_none()
    }
}

/// The cases that are asked before the others: those that failed in the earlier run; and where the first
/// violation ends the run, those that are likely to show one.
fn ahead(args: &Run, suite: &Suite, failed: Option<Vec<String>>) -> Vec<String> {
    let telling = suite.most_telling().filter(|_| args.fail_fast).map(|case| case.id.clone());
    failed.into_iter().flatten().take(AHEAD).chain(telling).collect()
}

/// How the run goes about its work.
fn options(
    args: &Run,
    arguments: Vec<String>,
    in_flight: usize,
    shard: Option<(Shard, usize)>,
    waivers: WaiversFile,
    earlier: Option<&PreviousRun>,
) -> Options {
    Options {
        jobs: usize::from(args.jobs).min(in_flight),
        fail_fast: args.fail_fast,
        ahead: Vec::new(),
        depth: args.depth,
        only: args.only.clone(),
        skip: args.skip.clone(),
        arguments,
        traffic: None,
        on_purpose: false,
        shard,
        requests: args.requests,
        // Cases of another folder were shown to catch nothing.
        quality: args.source.arguments().next().is_none().then(|| snapshot::sum().to_owned()),
        fault: target::named(&args.fault),
        variations: vec![],
        waivers,
        earlier: earlier.cloned(),
        leave_in_doubt: args.in_doubt == InDoubt::Leave,
        is_unrecorded: false,
        interrupt: interrupted(),
    }
}

/// What tells that somebody wants the run to end.
fn interrupted() -> Arc<Notify> {
    let interrupt = Arc::new(Notify::new());
    let told = Arc::clone(&interrupt);
    tokio::spawn(async move {
        asked_to_end().await;
        told.notify_one();
    });
    interrupt
}

/// Waits for an interrupt from the keyboard, or a request to terminate from the system.
pub(crate) async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    drop(tokio::signal::ctrl_c().await);
}

/// Reads a shard, or takes it from the variables of a job: those of GitLab count from 1, those of Kubernetes
/// from 0 and without the number of jobs.
fn shard(text: &str) -> Result<Shard, Failure> {
    if text != "auto" {
        return text.parse().map_err(|why| Failure::input(format!("--shard: {why}")));
    }
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    // A job of GitLab that is not split is one of one, and has no index.
    let index = |total: u32| variable("CI_NODE_INDEX").or((total == 1).then_some(1));
    let gitlab = variable("CI_NODE_TOTAL").and_then(|total| Some((index(total)?, total)));
    let kubernetes = variable("JOB_COMPLETION_INDEX").map(|index| index + 1).zip(variable("JOB_COMPLETIONS"));
    let (number, of) = gitlab.or(kubernetes).ok_or_else(|| {
        Failure::input("--shard auto: expected CI_NODE_INDEX and CI_NODE_TOTAL, or JOB_COMPLETION_INDEX and JOB_COMPLETIONS")
    })?;
    format!("{number}/{of}").parse().map_err(|why| Failure::input(format!("--shard auto: {why}")))
}

fn mode(quiet: bool) -> Mode {
    if quiet {
        Mode::Quiet
    } else if io::stderr().is_terminal() {
        Mode::Bar(indicatif::ProgressDrawTarget::stderr())
    } else {
        Mode::Plain(Box::new(io::stderr()))
    }
}
