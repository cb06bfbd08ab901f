//! `xs2aspec run`: runs the cases and writes the reports.

use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal},
    path::Path,
    sync::Arc,
};

use tokio::sync::Notify;
use xs2aspec_judge::{
    Identity, Profile,
    mask::MaskKey,
    profile::AuthorizedProfile,
    waiver::{self, WaiversFile},
};
use xs2aspec_prove::snapshot;
use xs2aspec_record::{
    Entry, Event, Exit, Located, ReadError, RecordReader, RecordWriter, RunFolder, Verdict, outputs,
};
use xs2aspec_reference::Bank;
use xs2aspec_report::{
    RunSummary,
    compare::{
        diff::{self, DiffError},
        gate,
    },
    format::{
        annotations::Github,
        terminal::{self, Scope, Terminal},
    },
    locate::Locator,
    progress::{Mode, Progress},
    reporter::Reporter,
    stream::{self, ReportsError},
};
use xs2aspec_runner::{Clock, Options, Runner, resume::PreviousRun};
use xs2aspec_suite::{Depth, Plan, Shard, Suite, plan::matches};

use crate::{
    Failure,
    args::{Format, Gate, InDoubt, Run},
    claim, forecast,
    hints::Hints,
    interrupt, latest, locate, output, repetition,
    report::{self, cannot_write},
    resume,
    target::{self, Asked},
    verdicts,
};

/// Loads, plans, runs and reports.
pub(crate) async fn run(args: &Run) -> Result<Exit, Failure> {
    let folder = args.resume.as_deref().map(xs2aspec_record::latest::followed);
    let mut claimed = folder.as_deref().map(|folder| claim::resumed(args, folder)).transpose()?;
    let resumed = folder.as_deref().map(|folder| resume::earlier(args, folder)).transpose()?;
    let (earlier, args) = match &resumed {
        Some((earlier, args)) => (Some(earlier), args),
        None => (None, args),
    };
    claim::check(args, earlier.is_some())?;
    // Read it now, since this run may replace that record.
    let failed = args.base.as_deref().map(verdicts::failed).transpose();
    let (before, base) = args.base.as_deref().map(base).transpose()?.unzip();
    let (suite, profile) = suite(args)?;
    let locator = locate::locator(args.locate.as_deref(), args.target.name(), &suite)?;
    target::keeps_the_document(&suite, args.target.name())?;
    let (plan, shard, chosen) = planned(args, &suite)?;
    let waivers =
        args.waivers.as_deref().map(waiver::read).transpose().map_err(Failure::input)?.unwrap_or_default();
    let asked = Asked {
        target: args.target.name().zip(profile),
        allow_production: args.allow_production,
        now: args.now,
        fault: &args.fault,
        variation: &args.variation,
        style: args.style.as_deref(),
        levels: &args.levels,
    };
    let target = target::open(asked).await?;
    let identity = args.ids.identity(args.ids.seed(), shard.map(|(shard, _)| shard));
    let in_flight = target.profile.limits.in_flight.unwrap_or(usize::MAX);
    let mask_key = mask_key(args, earlier)?;
    let runner = open(args, &suite, target.profile, identity)?
        .with_judge(|judge| judge.with_mask_key(mask_key.clone()));
    let runner = match earlier {
        Some(earlier) => {
            earlier.fits(&runner, &plan, &waivers).map_err(Failure::input)?;
            if args.mask_key.file.is_some() || !earlier.has_ended() {
                earlier.has_values_of(&runner).map_err(Failure::input)?;
            }
            earlier.resume(runner)
        }
        None => runner,
    };
    let arguments = arguments(args, target.arguments);
    let mut options = options(args, arguments, in_flight, shard, waivers, earlier);
    options.variations = target.variations;
    options.ahead = ahead(args, &suite, failed?);
    limit(args, &runner, &plan);

    let claimed = claimed.take().map_or_else(|| claim::begun(args), Ok)?;
    let record = args.out.join(outputs::RECORD);
    make_room(args, &record, &mask_key)?;
    let keeper = Keeper::open(&record, earlier.is_some(), base, locator);
    let mut keeper = keeper.map_err(|error| cannot_write(&record, &error))?;
    let pointed = latest::point(args);
    let mut progress = Progress::new(mode(args.quiet));
    let mut hints = Hints::new(&suite);
    let runner = Arc::new(runner);
    let forecast = Box::pin(forecast::tell(&runner, &plan, options.jobs, progress.notes()));
    let mut show = |event: &Event| {
        progress.event(event);
        hints.event(event);
    };
    if let Some(earlier) = earlier {
        earlier.tell(&mut show);
    }
    let mut tell = |event: &Event| {
        show(event);
        keeper.write(event)
    };
    let running = xs2aspec_runner::run(Arc::clone(&runner), &plan, &options, &mut tell);
    let finished = forecast::beside(running, forecast).await;
    drop(progress);
    stop(target.bank).await?;
    let summary = match keeper.summary() {
        Err(_) if let Some(error) = &keeper.broken => return Err(cannot_write(&record, error)),
        summary => summary.map_err(Failure::input)?,
    };
    let folder = Some(args.out.display().to_string()).filter(|_| args.latest.is_none());
    let (mut terminal, mut github) =
        (Terminal::new(Scope { is_verbose: args.verbose, folder, ends_later: true }), Github::default());
    let mut beside: [&mut dyn Reporter; 2] = [&mut terminal, &mut github];
    let (mut errors, is_record_lost) = drawn(&mut keeper, args, &summary, &mut beside)?;
    errors.extend(keeper.uncompared.map(|error| error.to_string()));
    report::say_reporter(&mut terminal, &summary);
    hints.say(&summary, &suite.spec().profile);
    say_requests(args, &runner, &plan, chosen);
    if args.formats.contains(&Format::Github) {
        report::say_reporter(&mut github, &summary);
    }
    leave(args, claimed, finished.stopped_early, is_record_lost)?;
    if !errors.is_empty() {
        return Err(report::unwritten(&errors, finished.exit, &args.out));
    }
    say!("reports in {}{pointed}", args.out.display());
    output::print_report(&format!("{}\n", terminal::conclusion(&summary)));
    let exit = Exit::ALL.into_iter().find(|exit| exit.code() == finished.exit).unwrap_or(Exit::NothingRan);
    let before = before.filter(|_| args.gate == Some(Gate::New));
    Ok(before.and_then(|before| gated(&before, &summary)).unwrap_or(exit))
}

/// Prints the result of the gate, and returns its exit code.
fn gated(before: &RunSummary, summary: &RunSummary) -> Option<Exit> {
    let gate::Outcome { exit, says } = gate::outcome(before, summary, summary.changes()?, false);
    say!("{says}");
    Some(exit)
}

/// Renders the reports of a run, and passes its cases to the reporters in `beside`. Returns the files that
/// could not be written, and true if one of them is the record.
fn drawn(
    keeper: &mut Keeper,
    args: &Run,
    summary: &RunSummary,
    beside: &mut [&mut dyn Reporter],
) -> Result<(Vec<String>, bool), Failure> {
    let record = args.out.join(outputs::RECORD);
    let Err(error) = keeper.check(&record) else {
        let reports: Vec<_> = args.formats.iter().copied().filter_map(report::file_of).collect();
        let errors = stream::write(&args.out, summary, &reports, beside);
        return Ok((errors.iter().map(ToString::to_string).collect(), false));
    };
    let mut errors = vec![cannot_write(&record, &error).message];
    let shown = keeper.record().map_err(Failure::input)?;
    errors.extend(stream::show(shown, summary, beside).err().map(|error| error.to_string()));
    Ok((errors, true))
}

/// Creates the runner with its clock. If this command has already run once, both runs share the daily calls.
fn open(
    args: &Run,
    suite: &Arc<Suite>,
    profile: AuthorizedProfile,
    identity: Identity,
) -> Result<Runner, Failure> {
    let runner = Runner::new(Arc::clone(suite), profile, identity, Clock::new(args.now));
    let runner = runner.map_err(Failure::input)?;
    if args.follows_another {
        runner.share_quota();
    }
    Ok(runner)
}

/// Prepares the folder of a run for its record and its mask key.
fn make_room(args: &Run, record: &Path, mask_key: &MaskKey) -> Result<(), Failure> {
    if args.resume.is_none() && args.base.is_some() && record.is_file() {
        // It may be the record to compare with, which stays open for reading during the run.
        fs::remove_file(record).map_err(|error| cannot_write(record, &error))?;
    }
    if args.mask_key.file.is_none() {
        // A resumed run needs the same key.
        mask_key.write(&args.out).map_err(|error| cannot_write(&args.out, &error))?;
    }
    Ok(())
}

/// Loads the cases of the selected depth, or all cases if `--requests`, a waiver or a pattern may refer to
/// deeper ones. Also returns the profile, whose entries multiply cases. It is read only once, since reading
/// it may run commands.
fn suite(args: &Run) -> Result<(Arc<Suite>, Option<Profile>), Failure> {
    let means_any = args.requests.is_some() || args.waivers.is_some();
    let depth = if means_any { Depth::Exhaustive } else { args.depth };
    let suite = crate::suite_for(&args.source, depth)?;
    let spec = &suite.spec().profile;
    let profile = args.target.name().map(|target| target::profile(target, spec)).transpose()?;
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

/// Returns the key of the pseudonyms. An interrupted run has its key in its folder. A finished run has
/// deleted it, so new requests get new pseudonyms.
fn mask_key(args: &Run, earlier: Option<&PreviousRun>) -> Result<MaskKey, Failure> {
    if args.mask_key.file.is_some() || earlier.is_none_or(PreviousRun::has_ended) {
        return args.mask_key.key();
    }
    MaskKey::read(&args.out.join(outputs::MASK_KEY)).map_err(|error| {
        Failure::input(format!("{error}; pass the key of the interrupted run with --mask-key FILE"))
    })
}

/// Prints the command that resumes an interrupted run. Deletes the mask key of a finished one.
fn leave(args: &Run, claimed: RunFolder, stopped_early: bool, is_record_lost: bool) -> Result<(), Failure> {
    if stopped_early {
        say!("stopped before the end; to resume, run `{}`", resume::again(args));
    } else if !is_record_lost {
        claimed.end().map_err(|error| cannot_write(&args.out, &error))?;
    }
    Ok(())
}

/// A plan, its shard with the number of selected cases of all shards, and the number of cases that the
/// command line selects.
type Planned<'a> = (Plan<'a>, Option<(Shard, usize)>, usize);

/// Plans the cases of this run, or of its shard. Also counts the cases that the command line selects before
/// `--requests` limits them.
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

/// Limits the number of requests to that of `--requests`.
fn limit(args: &Run, runner: &Runner, plan: &Plan<'_>) {
    if let Some(requests) = args.requests {
        runner.limit_exchanges(requests);
        let cost = runner.judge().suite().cost(plan.selected.iter().copied());
        runner.reserve_exchanges(cost.confirming() as u64);
    }
}

/// Prints how much of the selection `--requests` let run.
fn say_requests(args: &Run, runner: &Runner, plan: &Plan<'_>, chosen: usize) {
    if let Some(requests) = args.requests {
        let (sent, cases) = (runner.exchanges(), plan.selected.len());
        say!("--requests {requests}: the {cases} most effective of {chosen} cases, {sent} requests sent");
    }
}

/// Stops the reference bank, if it is the target.
async fn stop(bank: Option<Bank>) -> Result<(), Failure> {
    match bank {
        Some(bank) => bank.shutdown().await.map_err(Failure::input),
        None => Ok(()),
    }
}

/// Returns the arguments that repeat the run with fresh ids: the target, the cases, the waivers, and another
/// folder.
fn arguments(args: &Run, target: Vec<String>) -> Vec<String> {
    let mut arguments = target;
    arguments.extend(args.source.arguments());
    if let Some(path) = &args.waivers {
        arguments.extend(["--waivers".to_owned(), path.display().to_string()]);
    }
    arguments.extend(args.levels.arguments());
    if args.allow_production {
        arguments.push("--allow-production".to_owned());
    }
    arguments.extend(repetition::out(&args.out));
    arguments
}

/// Opens the record of an earlier run, after reading its summary.
fn base(path: &Path) -> Result<(RunSummary, RecordReader<'static>), Failure> {
    Ok((report::summary(path)?, report::open(&report::record(path))?))
}

/// Writes the events of a run to its record.
struct Keeper {
    writer: RecordWriter<BufWriter<File>>,
    /// The same file, which stays readable if someone deletes it.
    file: File,
    /// The record of the earlier run with which this one is compared.
    base: Option<RecordReader<'static>>,
    /// Finds the lines of the user's files to which findings belong.
    locator: Option<Locator>,
    /// True if a case failed or has a warning, so that there are findings.
    has_findings: bool,
    /// The error of that comparison.
    uncompared: Option<DiffError>,
    /// The error after which the record can no longer be written.
    broken: Option<io::Error>,
}

impl Keeper {
    /// Creates a record, or opens the existing one to append to it.
    fn open(
        record: &Path,
        goes_on: bool,
        base: Option<RecordReader<'static>>,
        locator: Option<Locator>,
    ) -> io::Result<Self> {
        let writer = if goes_on { RecordWriter::go_on(record)? } else { RecordWriter::create(record)? };
        let file = File::open(record)?;
        // A resumed run may have findings from before.
        let has_findings = goes_on;
        Ok(Self { writer, file, base, locator, has_findings, uncompared: None, broken: None })
    }

    /// Returns a reader of the record so far.
    fn record(&self) -> io::Result<RecordReader<'static>> {
        Ok(RecordReader::new(self.file.try_clone()?))
    }

    /// Returns the summary of the record.
    fn summary(&self) -> Result<RunSummary, ReportsError> {
        stream::summary(self.record().map_err(ReadError::Io)?)
    }

    /// Writes the next event. Before the last event, writes the comparison with the earlier run, and the
    /// places of the findings.
    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.has_findings |= matches!(
            event,
            Event::Verdict(verdict) if matches!(verdict.verdict, Verdict::Fail | Verdict::Warn)
        );
        if matches!(event, Event::RunFinished(_))
            && let Some(base) = self.base.take()
        {
            let end = std::iter::once(Ok(Entry::Run(event.clone())));
            match diff::diff(base, self.record()?.chain(end)) {
                Ok(changes) => self.append(&Event::Changes(changes))?,
                Err(error) => self.uncompared = Some(error),
            }
        }
        if matches!(event, Event::RunFinished(_))
            && let Some(locator) = self.locator.take_if(|_| self.has_findings)
            && let Ok(summary) = self.summary()
        {
            let places = locator.places(&summary);
            if !places.is_empty() {
                self.append(&Event::Located(Located { places }))?;
            }
        }
        self.append(event)
    }

    fn append(&mut self, event: &Event) -> io::Result<()> {
        if let Some(error) = &self.broken {
            return Err(error.kind().into());
        }
        self.writer.write(event).map_err(|error| {
            let kind = error.kind();
            self.broken = Some(error);
            kind.into()
        })
    }

    /// Fails if the record is incomplete or was deleted.
    fn check(&mut self, record: &Path) -> io::Result<()> {
        match self.broken.take() {
            Some(error) => Err(error),
            // Someone may have deleted the folder.
            None => fs::metadata(record).map(drop),
        }
    }
}

/// Returns the cases to run first: those that failed in the earlier run, and with `--fail-fast` those most
/// likely to find a violation.
fn ahead(args: &Run, suite: &Suite, failed: Option<Vec<String>>) -> Vec<String> {
    let telling = suite.most_telling().filter(|_| args.fail_fast).map(|case| case.id.clone());
    failed.into_iter().flatten().chain(telling).collect()
}

/// Returns the options of the runner.
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
        // The kill matrix says nothing about cases from another folder.
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

/// Returns a notification for when the run is asked to end.
fn interrupted() -> Arc<Notify> {
    let interrupt = Arc::new(Notify::new());
    let told = Arc::clone(&interrupt);
    interrupt::when_asked(move || told.notify_one());
    interrupt
}

/// Parses a shard, or reads it from the environment of a job. GitLab counts from 1. Kubernetes counts from 0,
/// and does not set the number of jobs itself.
fn shard(text: &str) -> Result<Shard, Failure> {
    if text != "auto" {
        return text.parse().map_err(|why| Failure::input(format!("--shard: {why}")));
    }
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    // A GitLab job that is not parallel has a total of 1 and no index.
    let index = |total: u32| variable("CI_NODE_INDEX").or((total == 1).then_some(1));
    let gitlab = variable("CI_NODE_TOTAL").and_then(|total| Some((index(total)?, total)));
    let kubernetes = variable("JOB_COMPLETION_INDEX").map(|index| index + 1).zip(variable("JOB_COMPLETIONS"));
    let (number, of) = gitlab.or(kubernetes).ok_or_else(|| {
        Failure::input(
            "--shard auto: set CI_NODE_INDEX and CI_NODE_TOTAL, or JOB_COMPLETION_INDEX and JOB_COMPLETIONS",
        )
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
