//! `xs2aspec run`: from case files to reports.

use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal},
    path::Path,
    sync::Arc,
};

use xs2aspec_record::{Event, Exit, Writer};
use xs2aspec_report::progress::{Mode, Progress};
use xs2aspec_runner::{Options, Session, waiver};
use xs2aspec_suite::Shard;

use crate::{
    Failure,
    args::{Format, Run, Server},
    report, target,
};

/// What the suite was shown to catch: the first line of its kill matrix.
const KILL_MATRIX: &str = include_str!("../../../fixtures/kill-matrix/matrix.tsv");

/// Loads, plans, runs and reports.
pub(crate) async fn run(args: &Run) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(args.cases.as_ref())?);
    let mut plan = suite.plan(&args.only, &args.skip, args.depth).map_err(Failure::input)?;
    let shard = args.shard.as_deref().map(shard).transpose()?.map(|shard| (shard, plan.selected.len()));
    if let Some((shard, _)) = shard {
        plan = suite.shard(&plan, shard);
    }
    let waivers =
        args.waivers.as_deref().map(waiver::read).transpose().map_err(Failure::input)?.unwrap_or_default();
    let target = target::open(args).await?;
    let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let now = args.now.unwrap_or_else(chrono::Utc::now);
    let in_flight = target.profile.limits.in_flight.unwrap_or(usize::MAX);
    let session = Session::new(Arc::clone(&suite), target.profile, seed, now).map_err(Failure::input)?;
    let session = if args.now.is_none() { session.with_running_clock() } else { session };
    let options = Options {
        jobs: usize::from(args.jobs).min(in_flight),
        fail_fast: args.fail_fast,
        depth: args.depth,
        only: args.only.clone(),
        skip: args.skip.clone(),
        arguments: target.arguments,
        shard,
        // Other case files were shown to catch nothing.
        quality: KILL_MATRIX
            .lines()
            .next()
            .filter(|_| args.cases.is_none())
            .map(|line| line.trim_start_matches(['#', ' ']).to_owned()),
        fault: args.fault.clone(),
        waivers,
    };

    fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error))?;
    let record_path = args.out.join("record.jsonl");
    let record = File::create(&record_path).map_err(|error| cannot_write(&record_path, &error))?;
    let mut record = Writer::new(BufWriter::new(record));
    let mut broken = None;
    let mut progress = Progress::new(mode(args.quiet));
    let mut events = Vec::new();
    let finished = xs2aspec_runner::run(Arc::new(session), &plan, &options, |event: &Event| {
        if broken.is_none() {
            broken = record.write(event).err();
        }
        progress.event(event);
        events.push(event.clone());
    })
    .await;
    drop(progress);
    if let Some(bank) = target.bank {
        bank.shutdown().await.map_err(Failure::input)?;
    }
    let broken = broken.or_else(|| record.finish().err());
    if let Some(error) = broken {
        return Err(cannot_write(&record_path, &error));
    }

    for (name, format) in report::FILES {
        report::write(&args.out.join(name), &report::draw(&events, format)?)?;
    }
    let said = report::draw(&events, Format::Terminal)?;
    say_on!("{}", String::from_utf8_lossy(&said));
    if let Some(Server::Github) = args.annotations {
        let lines = report::draw(&events, Format::Github)?;
        say_on!("{}", String::from_utf8_lossy(&lines));
    }
    say!("reports in {}", args.out.display());
    Ok(Exit::ALL.into_iter().find(|exit| exit.code() == finished.exit).unwrap_or(Exit::NothingRan))
}

/// Reads a shard, or takes it from the variables of a job: those of GitLab count from 1, those of Kubernetes from 0 and without the
/// number of jobs.
fn shard(text: &str) -> Result<Shard, Failure> {
    if text != "auto" {
        return text.parse().map_err(|why| Failure::input(format!("--shard: {why}")));
    }
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let gitlab = variable("CI_NODE_INDEX").zip(variable("CI_NODE_TOTAL"));
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

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: cannot be written: {error}", path.display()))
}
