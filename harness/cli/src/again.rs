//! `run` more than once: only what failed (`--failed`), several times (`--repeat`), whenever something
//! changed (`--watch`).

use std::{
    collections::BTreeMap,
    fs, iter,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use tokio::sync::Notify;
use xs2aspec_record::{Exit, Verdict};

use crate::{
    Failure,
    args::Run,
    interrupt, repetition, run, signing_of, target,
    verdicts::{failed, verdicts},
};

/// How long to wait before looking again whether something changed.
const PAUSE: Duration = Duration::from_millis(500);
/// How many cases are named that come out now so, now otherwise.
const SHOWN: usize = 20;
/// Runs as often as was asked.
pub(crate) async fn run(args: &Run) -> Result<Exit, Failure> {
    if args.watch {
        return Box::pin(watch(args)).await;
    }
    if let Some(times) = args.repeat {
        return Box::pin(repeat(args, times)).await;
    }
    if !args.failed {
        return Box::pin(run::run(args)).await;
    }
    if !args.out.exists() {
        let out = args.out.display();
        return Err(Failure::input(format!(
            "{out}: there is no earlier run whose failures --failed could ask again"
        )));
    }
    let only = failed(&args.out)?;
    if only.is_empty() {
        say!("nothing failed in the last run of {}: without --failed everything runs", args.out.display());
        return Ok(Exit::NothingRan);
    }
    Box::pin(run::run(&what_failed(args, only))).await
}

/// Returns the run of what failed in an earlier one, whose folder it does not touch.
fn what_failed(args: &Run, only: Vec<String>) -> Run {
    Run { only, out: repetition::folder(&args.out), follows_another: true, ..args.clone() }
}

/// Runs several times, and says which cases did not come out alike.
async fn repeat(args: &Run, times: u16) -> Result<Exit, Failure> {
    let mut seen = BTreeMap::<String, Vec<Verdict>>::new();
    let mut worst = Exit::NothingRan;
    for number in 1..=times {
        say!("run {number} of {times}");
        let out = args.out.join(number.to_string());
        let once = Run { out: out.clone(), repeat: None, follows_another: number > 1, ..args.clone() };
        let exit = Box::pin(run::run(&once)).await?;
        worst = worse(worst, exit);
        for (case, verdict) in verdicts(&out)? {
            seen.entry(case).or_default().push(verdict);
        }
    }
    let all = seen.len();
    // A case may be left out of a run that was stopped.
    seen.retain(|_, verdicts| verdicts.iter().any(|verdict| *verdict != verdicts[0]));
    say!("in {times} runs {} of {all} cases came out alike, {} did not", all - seen.len(), seen.len());
    for (case, verdicts) in seen.iter().take(SHOWN) {
        let words: Vec<&str> = verdicts.iter().map(|verdict| verdict.word()).collect();
        say!("  {case}: {}", words.join(", "));
    }
    if seen.len() > SHOWN {
        say!("  and {} more", seen.len() - SHOWN);
    }
    Ok(worst)
}

/// The one of two runs that says more against the target.
fn worse(one: Exit, other: Exit) -> Exit {
    let order = [Exit::Violation, Exit::CouldNotTell, Exit::Conforms, Exit::NothingRan];
    order.into_iter().find(|exit| [one, other].contains(exit)).unwrap_or(other)
}

/// Runs again whenever something changed, until somebody wants it to end.
async fn watch(args: &Run) -> Result<Exit, Failure> {
    let watched = Watched::new(args)?;
    let (told, is_ended) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let (tell, end) = (Arc::clone(&told), Arc::clone(&is_ended));
    interrupt::when_asked(move || {
        end.store(true, Ordering::Relaxed);
        tell.notify_one();
    });
    let mut once = Run { watch: false, ..args.clone() };
    loop {
        let files = watched.files();
        let came_to = Box::pin(round(&once, &is_ended)).await;
        once.follows_another = true;
        if is_ended.load(Ordering::Relaxed) {
            return came_to;
        }
        if let Err(failure) = &came_to {
            note!("error: {}", failure.message);
        }
        let was_up = !matches!(&came_to, Err(failure) if failure.exit == Exit::CouldNotTell);
        say!("waiting for a change of {}; Ctrl-C ends it", watched.named());
        tokio::select! {
            what = watched.changed(files, was_up) => say!("again: {what}"),
            () = told.notified() => return came_to,
        }
    }
}

/// What failed last time, and when none of it does any more, everything.
async fn round(once: &Run, is_ended: &AtomicBool) -> Result<Exit, Failure> {
    // There may be no run in the folder yet.
    let only = failed(&once.out).unwrap_or_default();
    if only.is_empty() {
        return Box::pin(run::run(once)).await;
    }
    say!("{} cases that failed before", only.len());
    let exit = Box::pin(run::run(&what_failed(once, only))).await?;
    if exit == Exit::Violation || is_ended.load(Ordering::Relaxed) {
        return Ok(exit);
    }
    Box::pin(run::run(&Run { follows_another: true, ..once.clone() })).await
}

/// What may change between two runs.
struct Watched {
    /// Files, and folders with all that is in them.
    paths: Vec<PathBuf>,
    /// The target, as the command line names it.
    target: Option<String>,
    pack: Option<PathBuf>,
}

/// When each file was written, and its length.
type Files = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

impl Watched {
    fn new(args: &Run) -> Result<Self, Failure> {
        let profile = args.target.as_ref().filter(|target| !target.contains("://")).map(PathBuf::from);
        let given = [profile, args.source.cases.clone(), args.source.pack.clone(), args.waivers.clone()];
        let paths: Vec<PathBuf> = given.into_iter().flatten().collect();
        if paths.is_empty() && args.target.is_none() {
            let message = "--watch: the built-in bank does not change: name a --target, or files with --cases, --pack or --waivers";
            return Err(Failure::input(message));
        }
        Ok(Self { paths, target: args.target.clone(), pack: args.source.pack.clone() })
    }

    /// Everything that is watched, in words.
    fn named(&self) -> String {
        let target = self.target.as_ref().map(|_| "the target's return".to_owned());
        let paths = self.paths.iter().map(|path| path.display().to_string());
        paths.chain(target).collect::<Vec<_>>().join(", ")
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        self.paths.iter().for_each(|path| add(path, &mut files));
        files
    }

    /// Waits until a file is another than it was, or the target can be reached again, and says which.
    async fn changed(&self, before: Files, mut was_up: bool) -> String {
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = self.files();
            if let Some(path) =
                now.keys().chain(before.keys()).find(|path| now.get(*path) != before.get(*path))
            {
                return format!("{} changed", path.display());
            }
            let is_up = self.is_up().await;
            if is_up && !was_up {
                return "the target is back".to_owned();
            }
            was_up = is_up;
        }
    }

    /// Whether the target takes connections; a profile that is wrong names none.
    async fn is_up(&self) -> bool {
        let (Some(target), Ok((spec, _))) = (&self.target, signing_of(self.pack.as_ref())) else {
            return false;
        };
        match target::profile(target, &spec) {
            Ok(profile) => target::connect(&profile).await.is_ok(),
            Err(_) => false,
        }
    }
}

/// Adds a file, or all below a folder.
fn add(path: &Path, files: &mut Files) {
    let below = fs::read_dir(path).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let below: Vec<PathBuf> = below.unwrap_or_default();
    for path in &below {
        add(path, files);
    }
    let seen = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    let seen = seen.and_then(|file| Some((file.modified().ok()?, file.len())));
    files.extend(iter::once((path.to_owned(), seen)));
}
