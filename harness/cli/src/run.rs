//! `xs2aspec run`: from case files to reports.

use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal},
    path::Path,
    sync::Arc,
};

use xs2aspec_record::{Event, Exit, Writer};
use xs2aspec_report::{
    Run as Shown, junit, markdown,
    progress::{Mode, Progress},
    terminal,
};
use xs2aspec_runner::{Options, Session, waiver};

use crate::{Failure, args::Run, target};

/// Loads, plans, runs and reports.
pub(crate) async fn run(args: &Run) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(args.cases.as_ref())?);
    let plan = suite.plan(&args.only, &args.skip, args.depth).map_err(Failure::input)?;
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

    let shown = Shown::of(&events).map_err(Failure::input)?;
    write(&args.out.join("junit.xml"), |file| junit::write(&shown, file))?;
    write(&args.out.join("summary.md"), |mut file| {
        io::Write::write_all(&mut file, markdown::summary(&shown).as_bytes())
    })?;
    print!("{}{}", terminal::attention(&shown), terminal::closing(&shown));
    println!("reports in {}", args.out.display());
    Ok(Exit::ALL.into_iter().find(|exit| exit.code() == finished.exit).unwrap_or(Exit::NothingRan))
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

fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        content(&mut file)?;
        io::Write::flush(&mut file)
    });
    written.map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: cannot be written: {error}", path.display()))
}
