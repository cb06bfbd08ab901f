//! `xs2aspec explore`: generates requests until one reveals a violation.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use xs2aspec_prove::{
    AREA, ExploreOptions, Explored, Shown, Violation,
    exploration::{self, End, Progress, Step},
};
use xs2aspec_record::{Exit, Level, outputs};
use xs2aspec_report::text;
use xs2aspec_runner::{Clock, Options, Runner};
use xs2aspec_suite::{Suite, nearest};

use crate::{
    Failure,
    args::Explore,
    interrupt,
    recording::Recording,
    repetition,
    report::cannot_write,
    target::{self, Asked},
};

/// Generates requests, sends them, and reports the violations.
pub(crate) async fn explore(args: &Explore) -> Result<Exit, Failure> {
    args.save.as_deref().map_or(Ok(()), can_keep)?;
    let suite = Arc::new(crate::suite(&args.source)?);
    target::keeps_the_document(&suite, args.target.name())?;
    check_operations(&args.only, &suite)?;
    let spec = &suite.spec().profile;
    let profile = args.target.name().map(|target| target::profile(target, spec)).transpose()?;
    let asked = Asked {
        target: args.target.name().zip(profile),
        allow_production: false,
        now: args.now,
        fault: &args.fault,
        variation: &args.variation,
        style: None,
        levels: &args.levels,
    };
    let target = target::open(asked).await?;
    let seed = args.ids.seed();
    let identity = args.ids.identity(seed, None);
    let runner = Runner::new(Arc::clone(&suite), target.profile, identity, Clock::new(args.now));
    let runner = runner.map_err(Failure::input)?;
    let profile = args.target.profile();
    let mut recording = Recording::create(&args.out, &profile.into_iter().collect::<Vec<_>>())?;
    let mut unkept = Vec::new();
    let mut step = |step: Step<'_>| match step {
        Step::Begin { partitions } => say!("seed {seed}, {partitions} request partitions"),
        Step::Event(event) => recording.write(event),
        Step::Progress(progress) => note!("{}", says(progress)),
        Step::Found(violation) => {
            say_violation(violation);
            let kept = args.save.as_deref().map(|folder| keep(folder, &suite, violation));
            unkept.extend(kept.and_then(Result::err));
        }
    };
    let options = options(args, target.arguments, seed);
    let explored = exploration::explore(&suite, runner, &options, &mut step).await?;
    say_end(&explored, seed);
    if let Some(bank) = target.bank {
        bank.shutdown().await.map_err(Failure::input)?;
    }
    recording.finish()?;
    say!("reports in {}", args.out.display());
    if unkept.is_empty() { Ok(explored.exit) } else { Err(Failure::input(unkept.join("\n"))) }
}

/// Returns an error if one of these is not an operation for which requests can be generated.
fn check_operations(only: &[String], suite: &Suite) -> Result<(), Failure> {
    let known: Vec<&str> = suite.answers().operations().collect();
    match only.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let near = nearest(name, known.iter().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let known = known.join(", ");
            Err(Failure::input(format!("--only `{name}`: expected an operation ({known}){near}")))
        }
    }
}

fn options(args: &Explore, target: Vec<String>, seed: u64) -> ExploreOptions {
    let is_ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&is_ended);
    interrupt::when_asked(move || end.store(true, Ordering::Relaxed));
    let mut arguments = target;
    let only = args.only.iter().flat_map(|operation| ["--only".to_owned(), operation.clone()]);
    arguments.extend(only);
    arguments.extend(args.source.arguments());
    arguments.extend(args.levels.arguments());
    let (seed, budget) = (seed.to_string(), args.budget.to_string());
    arguments.extend(["--seed".to_owned(), seed, "--budget".to_owned(), budget]);
    arguments.extend(repetition::out(&args.out));
    ExploreOptions {
        only: args.only.clone(),
        budget: args.budget,
        time: args.time,
        fail_fast: args.fail_fast,
        jobs: usize::from(args.jobs),
        is_ended,
        record: Options {
            only: args.only.clone(),
            arguments,
            fault: target::named(&args.fault),
            variations: args.variation.clone(),
            ..Options::default()
        },
    }
}

fn says(progress: Progress) -> String {
    let Progress { requests, reached, partitions, pairs, violations, warnings } = progress;
    let warned = match warnings {
        0 => String::new(),
        warnings => format!(", {}", text::count(warnings, "warning")),
    };
    format!(
        "{}, {reached} of {partitions} partitions and {pairs} pairs reached, {}{warned}",
        self::requests(requests),
        text::count(violations, "violation")
    )
}

fn requests(number: u64) -> String {
    text::count(usize::try_from(number).unwrap_or(usize::MAX), "request")
}

fn why(end: End) -> String {
    match end {
        End::Found => "found a violation".to_owned(),
        End::Time => "the time limit is reached".to_owned(),
        End::Asked => "interrupted".to_owned(),
        End::Stale(stale) => format!("the last {stale} requests reached nothing new"),
        End::NothingAccepted => "the target accepted no baseline request".to_owned(),
        End::Budget { all, kept: 0 } => format!("the budget of {} is used up", requests(all)),
        End::Budget { all, kept } => format!(
            "the budget of {} is used up, except for {kept} that are reserved for shrinking findings",
            requests(all)
        ),
    }
}

/// Prints the totals, and why the exploration ended.
fn say_end(explored: &Explored, seed: u64) {
    say!("{}", says(explored.progress));
    if !explored.unreached.is_empty() {
        say!("not reached: {}", explored.unreached.join(", "));
    }
    for (why, times) in &explored.reasons {
        say!("{}: {}", text::count(*times, "time"), text::short(&why.to_string()));
    }
    let words: Vec<String> = explored.counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
    let words = match words.as_slice() {
        [] if explored.progress.requests == 0 => "nothing was sent".to_owned(),
        [] => "no request was generated".to_owned(),
        words => words.join(", "),
    };
    say!("{words}; {}, after {:.1} s, seed {seed}", why(explored.end), explored.took.as_secs_f64());
}

fn say_violation(violation: &Violation) {
    let word = if violation.level() == Level::Warn { "WARNED" } else { "BROKEN" };
    say!("\n{word}  {}", violation.clause);
    match &violation.shown {
        Shown::Plain(case) => {
            say!("   | {}", case.request.operation);
            say!("   | the baseline request");
        }
        Shown::Request(drawn) => {
            say!("   | {}", drawn.operation());
            for change in drawn.changes() {
                say!("   | {}", text::short(change));
            }
            if drawn.changes().is_empty() {
                say!("   | the baseline request");
            }
        }
        Shown::Sequence(drawn) => {
            for says in drawn.says() {
                say!("   | {says}");
            }
        }
    }
    for finding in &violation.findings {
        say!("   | expected {}, got {}", text::short(&finding.expected), text::short(&finding.actual));
    }
}

/// Fails if case files cannot be written to this folder. Checked before the first request.
fn can_keep(folder: &Path) -> Result<(), Failure> {
    outputs::is_writable(&folder.join(AREA)).map_err(|error| cannot_write(folder, &error))
}

/// Saves a violation as a case file in the folder of `--save`, under the next free number. Returns an error
/// if the file cannot be written; the exploration then continues.
fn keep(folder: &Path, suite: &Suite, violation: &Violation) -> Result<(), String> {
    if let Shown::Plain(case) = &violation.shown {
        say!("   = not saved: the suite already has it as {}", case.id);
        return Ok(());
    }
    let area = folder.join(AREA);
    for number in violation.number.. {
        let name = format!("found-{number}");
        let Some(text) = violation.case_file(suite, &name) else {
            say!("   = not saved: a case file cannot express it");
            return Ok(());
        };
        let path = area.join(format!("{name}.yaml"));
        let is_there = path.is_file();
        if is_there && !fs::read(&path).is_ok_and(|kept| kept == text.as_bytes()) {
            continue;
        }
        let written = || fs::create_dir_all(&area).and_then(|()| outputs::write(&path, text.as_bytes()));
        if let Err(error) = if is_there { Ok(()) } else { written() } {
            say!("   = not saved: cannot write {}: {error}", path.display());
            return Err(format!("cannot write {}: {error}", path.display()));
        }
        say!("   = saved   {}; to run it, pass --cases {}", path.display(), folder.display());
        break;
    }
    Ok(())
}
