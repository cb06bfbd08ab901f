//! `run --resume`: restores the options of an interrupted run.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use xs2aspec_record::{RunStarted, outputs::RECORD};
use xs2aspec_report::shell;
use xs2aspec_runner::resume::PreviousRun;

use crate::{
    Failure,
    args::{Args, Command, Run},
    repetition,
    report::wrong,
};

/// Reads the earlier part of a run, and the arguments with which to resume it.
pub(crate) fn earlier(args: &Run, folder: &Path) -> Result<(PreviousRun, Run), Failure> {
    let path = folder.join(RECORD);
    let wrong = |error: &dyn std::fmt::Display| wrong(&path, error);
    let earlier = PreviousRun::read(&path).map_err(|error| wrong(&error))?;
    let asked = asked(earlier.start(), folder)?;
    if let Some(missing) = missing(args, &asked) {
        let why = "a record may come from someone else, so it must not run commands or choose the target";
        return Err(wrong(&format!("the run was started with {missing}; repeat that option ({why})")));
    }
    let asked = Run {
        target: args.target.clone(),
        source: args.source.clone(),
        jobs: args.jobs,
        allow_production: args.allow_production,
        waivers: args.waivers.clone(),
        base: args.base.clone(),
        gate: args.gate,
        formats: args.formats.clone(),
        locate: args.locate.clone(),
        mask_key: args.mask_key.clone(),
        quiet: args.quiet,
        verbose: args.verbose,
        resume: args.resume.clone(),
        in_doubt: args.in_doubt,
        ..asked
    };
    Ok((earlier, asked))
}

/// Returns the command that resumes a run.
pub(crate) fn again(args: &Run) -> String {
    let mut words = vec!["xs2aspec".to_owned(), "run".to_owned(), "--resume".to_owned()];
    words.push(args.out.display().to_string());
    words.extend(args.target.arguments());
    words.extend(args.source.arguments());
    let waivers = args.waivers.iter().map(|path| path.display().to_string());
    words.extend(waivers.flat_map(|path| ["--waivers".to_owned(), path]));
    words.iter().map(|word| shell::quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the first option of the earlier run that the command line must repeat, but lacks. These options
/// name files that are read and commands that are executed: a profile, a pack, case files, waivers.
fn missing(args: &Run, asked: &Run) -> Option<String> {
    let path = |path: Option<&PathBuf>| path.map(|path| path.display().to_string());
    let options = |run: &Run| {
        [
            ("--target", run.target.0.clone()),
            ("--cases", path(run.source.cases.as_ref())),
            ("--pack", path(run.source.pack.as_ref())),
            ("--waivers", path(run.waivers.as_ref())),
        ]
    };
    let both = options(args).into_iter().zip(options(asked));
    let mut missing = both.filter(|((_, given), (_, began))| given.is_none() && began.is_some());
    missing.find_map(|(_, (option, began))| Some(format!("`{option} {}`", began?)))
}

/// Parses the arguments of the earlier run.
fn asked(start: &RunStarted, folder: &Path) -> Result<Run, Failure> {
    let mut line = vec!["xs2aspec".to_owned(), "run".to_owned()];
    line.extend(repetition::without_out(&start.arguments));
    let mut option = |name: &str, value: &str| line.push(format!("--{name}={value}"));
    start.only.iter().for_each(|pattern| option("only", pattern));
    start.skip.iter().for_each(|pattern| option("skip", pattern));
    option("depth", &start.depth);
    option("seed", &start.seed.to_string());
    option("run-id", &start.run_id);
    start.requests.iter().for_each(|requests| option("requests", &requests.to_string()));
    start.shard.iter().for_each(|shard| option("shard", shard));
    if !start.clock_runs {
        option("now", &start.now);
    }
    option("out", &folder.display().to_string());
    match Args::try_parse_from(&line).map(|args| args.command) {
        Ok(Some(Command::Run(run))) => Ok(run),
        Ok(_) => Err(Failure::input("the record does not name the options of the run")),
        Err(error) => Err(Failure::input(format!("the record has invalid options of the run: {error}"))),
    }
}
