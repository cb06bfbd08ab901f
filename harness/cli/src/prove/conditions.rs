//! `xs2aspec prove conditions` and `prove peers`: runs against banks under everyday conditions, and against
//! independent banks.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use indicatif::ProgressBar;
use xs2aspec_prove::{
    attribution,
    conditions::{
        Condition, ConditionError, ConditionOptions, Instance, KnownFailure, Peer, Row, Subject, Verdicts,
        instances, matches, measure,
        peer_faults::{self, Detected},
        undisturbed,
    },
    snapshot,
};
use xs2aspec_record::{Exit, outputs};
use xs2aspec_reference::{Fault, Style};

use crate::{
    Failure,
    args::prove::{Asking, Conditions, Peers},
    report::{cannot_write, write},
};

/// The files in the folder of the reports.
const ROWS: &str = "conditions.tsv";
const TABLE: &str = "conditions.md";
const PEERS: &str = "peers.tsv";

impl From<ConditionError> for Failure {
    fn from(error: ConditionError) -> Self {
        Self::input(error)
    }
}

/// A bank under a condition, with its first finding without the condition.
struct Task {
    instance: Instance,
    bank: Subject,
    expected: Option<String>,
    options: ConditionOptions,
}

/// Runs conforming banks and a sample of faults under each condition. Prints false alarms and missed faults.
pub(super) async fn measure_all(args: &Conditions) -> Result<Exit, Failure> {
    let (start, asking) = (Instant::now(), &args.asking);
    let paths = [ROWS, TABLE].map(|name| asking.out.join(name));
    fs::create_dir_all(&asking.out).map_err(|error| cannot_write(&asking.out, &error))?;
    for path in &paths {
        outputs::may_write(path, &[]).map_err(Failure::input)?;
    }
    let conditions = chosen(asking)?;
    let known = KnownFailure::all().map_err(Failure::input)?;
    let tasks = tasks(args, &conditions).await?;
    if tasks.is_empty() {
        return Err(Failure::input("no bank runs under these conditions"));
    }
    let bar = ProgressBar::new(tasks.len() as u64);
    let mut rows: Vec<Row> = Vec::new();
    for task in &tasks {
        rows.push(measure(&task.instance, &task.bank, task.expected.as_deref(), &task.options).await?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let verdicts = Verdicts::new(&rows, &known);
    write(&paths[0], &[], verdicts.tsv().as_bytes())?;
    write(&paths[1], &[], verdicts.markdown(&conditions).as_bytes())?;
    let (unknown, stale) = (verdicts.unknown(), verdicts.stale());
    for row in &unknown {
        say!("{}: {}: {}", row.condition, row.bank, row.failure.as_deref().unwrap_or_default());
    }
    for failure in &stale {
        say!("known failure {} of {} no longer fails; remove it", failure.condition, failure.bank);
    }
    let failed = rows.iter().filter(|row| row.failure.is_some()).count();
    say!(
        "{} runs under {} conditions: {failed} wrong, {} of them known; {:.1} s; table in {}",
        rows.len(),
        conditions.len(),
        failed - unknown.len(),
        start.elapsed().as_secs_f64(),
        paths[1].display()
    );
    Ok(if unknown.is_empty() && stale.is_empty() { Exit::Conforms } else { Exit::Violation })
}

/// Runs the cases against each peer, and against its faults. Fails if a peer is accused, and counts the
/// faults.
pub(super) async fn measure_peers(args: &Peers) -> Result<Exit, Failure> {
    let (start, asking) = (Instant::now(), &args.asking);
    let path = asking.out.join(PEERS);
    fs::create_dir_all(&asking.out).map_err(|error| cannot_write(&asking.out, &error))?;
    outputs::may_write(&path, &[]).map_err(Failure::input)?;
    let options = options(asking, &["--depth", asking.depth.word()])?;
    let wanted =
        |peer: &Peer| asking.only.is_empty() || asking.only.iter().any(|only| peer.name.starts_with(only));
    let (mut rows, mut accused, mut clean_runs) = (Vec::new(), 0, 0);
    for folder in &args.folders {
        for peer in Peer::read(folder)?.into_iter().filter(wanted) {
            let faults = peer.with_each_fault()?;
            let name = peer.name.clone();
            let clean = peer_faults::clean(&Subject::Peer(Arc::new(peer)), &options).await?;
            clean_runs += 1;
            if let Some(accusation) = clean.accusation() {
                accused += 1;
                say!("{name}: {accusation}");
            }
            let first = rows.len();
            for fault in faults.into_iter().take(args.faults) {
                let name = fault.name.clone();
                let detected = peer_faults::detect(&Subject::Peer(Arc::new(fault)), &clean, &options).await?;
                rows.push((name, detected));
            }
            say!("{name}: {}", counts(&rows[first..]));
        }
    }
    if clean_runs == 0 {
        return Err(Failure::input("no peer matches"));
    }
    write(&path, &[], peer_faults::table(&rows).as_bytes())?;
    let seconds = start.elapsed().as_secs_f64();
    say!("{clean_runs} peers, {accused} accused; {}; {seconds:.1} s; {}", counts(&rows), path.display());
    Ok(if accused == 0 { Exit::Conforms } else { Exit::Violation })
}

fn counts(rows: &[(String, Detected)]) -> String {
    let count = |word: &str| rows.iter().filter(|(_, detected)| detected.word() == word).count();
    let (denied, warned, undecided) = (count("denied"), count("warned of"), count("undecided"));
    format!(
        "{} faults: {denied} denied, {warned} warned of, {undecided} undecided, {} missed",
        rows.len(),
        count("missed")
    )
}

/// Returns the conditions that `--only` names.
fn chosen(asking: &Asking) -> Result<Vec<Condition>, Failure> {
    let all = Condition::all().map_err(Failure::input)?;
    if let Some(pattern) = asking.only.iter().find(|only| !all.iter().any(|one| is_of(&one.name, only))) {
        return Err(Failure::input(format!("--only: no condition has the name `{pattern}`")));
    }
    let wanted =
        |one: &Condition| asking.only.is_empty() || asking.only.iter().any(|only| is_of(&one.name, only));
    Ok(all.into_iter().filter(wanted).collect())
}

/// Returns true if `only` is the name of a condition, the start of the name, or one of its instances.
fn is_of(name: &str, only: &str) -> bool {
    matches(&format!("{only}*"), name) || matches(&format!("{name}.*"), only)
}

/// Returns every bank with each of its conditions.
async fn tasks(args: &Conditions, conditions: &[Condition]) -> Result<Vec<Task>, Failure> {
    let (mut tasks, asking) = (Vec::new(), &args.asking);
    let whole = options(asking, &["--depth", asking.depth.word()])?;
    for bank in conforming(args)? {
        add(&mut tasks, asking, conditions, &bank, None, &whole)?;
    }
    for fault in sample(args) {
        let bank = Subject::Fault(fault);
        let options = options(asking, &["--depth", asking.depth.word(), "--only", fault.clause()])?;
        // A condition shows nothing about a fault that is not denied even without it.
        if let Some(clause) = undisturbed(&bank, &options).await? {
            add(&mut tasks, asking, conditions, &bank, Some(&clause), &options)?;
        }
    }
    Ok(tasks)
}

fn add(
    tasks: &mut Vec<Task>,
    asking: &Asking,
    conditions: &[Condition],
    bank: &Subject,
    expected: Option<&str>,
    options: &ConditionOptions,
) -> Result<(), Failure> {
    for condition in conditions {
        let instances = instances(condition, bank)?.into_iter();
        let wanted = |instance: &Instance| {
            let name = instance.name();
            asking.only.is_empty() || asking.only.iter().any(|only| matches(&format!("{only}*"), &name))
        };
        tasks.extend(instances.filter(wanted).map(|instance| Task {
            instance,
            bank: bank.clone(),
            expected: expected.map(str::to_owned),
            options: options.clone(),
        }));
    }
    Ok(())
}

/// Returns the styles and the peers to run against.
fn conforming(args: &Conditions) -> Result<Vec<Subject>, Failure> {
    let styles: Vec<Style> = if args.style.is_empty() {
        Style::named().collect()
    } else {
        args.style.iter().map(|name| name.parse().map_err(Failure::input)).collect::<Result<_, _>>()?
    };
    let mut banks: Vec<Subject> = styles.into_iter().map(Subject::Style).collect();
    for folder in &args.peers {
        banks.extend(Peer::read(folder)?.into_iter().map(|peer| Subject::Peer(Arc::new(peer))));
    }
    Ok(banks)
}

/// Returns a random sample of the faults that the kill matrix lists as denied.
fn sample(args: &Conditions) -> Vec<Fault> {
    let denied = snapshot::denied();
    let faults: Vec<Fault> = Fault::all().filter(|fault| denied.contains(fault.name())).collect();
    attribution::drawn(faults, args.faults, args.asking.seed)
}

fn options(asking: &Asking, options: &[&str]) -> Result<ConditionOptions, Failure> {
    let program: PathBuf = env::current_exe()
        .map_err(|error| Failure::input(format!("cannot find the running program: {error}")))?;
    let out = std::path::absolute(Path::new(&asking.out))
        .map_err(|error| Failure::input(format!("{}: {error}", asking.out.display())))?;
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    Ok(ConditionOptions { program, out: out.join("runs"), options, seed: asking.seed })
}
