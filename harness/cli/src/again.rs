//! `run` more than once: the failed cases (`--failed`), several times (`--repeat`), after each change
//! (`--watch`).

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
use xs2aspec_record::{Exit, Verdict, finding_id::is_prefix};
use xs2aspec_report::text;

use crate::{
    Failure,
    args::Run,
    finding, interrupt, latest, repetition, run, signing_of, target,
    verdicts::{failed, verdicts},
};

/// The interval between two checks for changes.
const PAUSE: Duration = Duration::from_millis(500);
/// The maximum number of cases to name whose verdicts differ.
const SHOWN: usize = 20;

/// Runs in a new folder, unless the command line names one.
pub(crate) async fn run(args: &Run) -> Result<Exit, Failure> {
    if args.only.iter().any(|pattern| is_prefix(pattern)) {
        let args = of_findings(args)?;
        // The patterns are those of cases now.
        return Box::pin(run(&args)).await;
    }
    let Some(placed) = latest::placed(args)? else { return Box::pin(runs(args)).await };
    let done = Box::pin(runs(&placed)).await;
    // A run that did not start leaves its folder empty. The system keeps a folder with files.
    drop(fs::remove_dir(&placed.out));
    done
}

/// Runs once, or as `--failed`, `--repeat` or `--watch` says.
async fn runs(args: &Run) -> Result<Exit, Failure> {
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
            "--failed: there is no earlier run in {out}; run without --failed first"
        )));
    }
    let only = failed(&args.out)?;
    if only.is_empty() {
        say!("nothing failed in the last run of {}; to run everything, omit --failed", args.out.display());
        return Ok(Exit::NothingRan);
    }
    Box::pin(run::run(&what_failed(args, only))).await
}

/// Returns a run of the cases that failed earlier. It writes to another folder than the earlier run.
fn what_failed(args: &Run, only: Vec<String>) -> Run {
    Run { only, out: repetition::folder(&args.out), follows_another: true, ..args.clone() }
}

/// Returns a run of the cases that show the findings of `--only`. Without `--run`, these are findings of the
/// run in `--out`, which stays as it is.
fn of_findings(args: &Run) -> Result<Run, Failure> {
    let earlier = args.findings_of.as_deref().unwrap_or(&args.out);
    let only = finding::cases_of(&args.only, earlier)?;
    say!("running the {} that show it", text::count(only.len(), "case"));
    if args.findings_of.is_some() {
        return Ok(Run { only, ..args.clone() });
    }
    Ok(what_failed(args, only))
}

/// Runs several times, and prints the cases whose verdicts differ.
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
    // An interrupted run may lack some cases.
    seen.retain(|_, verdicts| verdicts.iter().any(|verdict| *verdict != verdicts[0]));
    say!("{times} runs: {} of {all} cases had the same verdict, {} did not", all - seen.len(), seen.len());
    for (case, verdicts) in seen.iter().take(SHOWN) {
        let words: Vec<&str> = verdicts.iter().map(|verdict| verdict.word()).collect();
        say!("  {case}: {}", words.join(", "));
    }
    if seen.len() > SHOWN {
        say!("  and {} more", seen.len() - SHOWN);
    }
    Ok(worst)
}

/// Returns the worse of two exit codes.
fn worse(one: Exit, other: Exit) -> Exit {
    let order = [Exit::Violation, Exit::CouldNotTell, Exit::Conforms, Exit::NothingRan];
    order.into_iter().find(|exit| [one, other].contains(exit)).unwrap_or(other)
}

/// Runs again after each change, until it is interrupted.
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
        say!("waiting for a change of {}; press Ctrl-C to stop", watched.named());
        tokio::select! {
            what = watched.changed(files, was_up) => say!("rerun: {what}"),
            () = told.notified() => return came_to,
        }
    }
}

/// Reruns the cases that failed last time. If no violation is left, runs everything.
async fn round(once: &Run, is_ended: &AtomicBool) -> Result<Exit, Failure> {
    // There may be no run in the folder yet.
    let only = failed(&once.out).unwrap_or_default();
    if only.is_empty() {
        return Box::pin(run::run(once)).await;
    }
    say!("rerunning {} failed cases", only.len());
    let exit = Box::pin(run::run(&what_failed(once, only))).await?;
    if exit == Exit::Violation || is_ended.load(Ordering::Relaxed) {
        return Ok(exit);
    }
    Box::pin(run::run(&Run { follows_another: true, ..once.clone() })).await
}

/// The files and the target that `--watch` checks for changes.
struct Watched {
    /// Files, and folders with their contents.
    paths: Vec<PathBuf>,
    /// The target, as the command line names it.
    target: Option<String>,
    pack: Option<PathBuf>,
}

/// The modification time and the length of each file. `None` for a file that cannot be read.
type Files = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

impl Watched {
    fn new(args: &Run) -> Result<Self, Failure> {
        let profile = args.target.profile().map(Path::to_owned);
        let given = [profile, args.source.cases.clone(), args.source.pack.clone(), args.waivers.clone()];
        let paths: Vec<PathBuf> = given.into_iter().flatten().collect();
        if paths.is_empty() && args.target.name().is_none() {
            let message =
                "--watch: the reference bank does not change; pass a target, --cases, --pack or --waivers";
            return Err(Failure::input(message));
        }
        Ok(Self { paths, target: args.target.0.clone(), pack: args.source.pack.clone() })
    }

    /// Describes what is watched.
    fn named(&self) -> String {
        let target = self.target.as_ref().map(|_| "the target".to_owned());
        let paths = self.paths.iter().map(|path| path.display().to_string());
        paths.chain(target).collect::<Vec<_>>().join(", ")
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        self.paths.iter().for_each(|path| add(path, &mut files));
        files
    }

    /// Waits until a file changes or the target is reachable again. Returns a description of the change.
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

    /// Returns true if the target accepts connections. Returns false for an invalid profile.
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

/// Adds a file, or a folder with its contents.
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
