//! `xs2aspec prove`: the suite against banks of which it is known what is wrong with them, if anything.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use indicatif::ProgressBar;
use xs2aspec_prove::{
    BankVariant, FaultSearch, Flaw, KillMatrix, Kind, MutationOptions, ProveError, Row, SearchOptions,
    mutation, pairs, snapshot,
};
use xs2aspec_record::{CaseVerdict, Event, Exit, outputs};
use xs2aspec_reference::Fault;
use xs2aspec_report::{Run as Shown, format::terminal::Terminal};
use xs2aspec_suite::Suite;

use crate::{
    Failure,
    args::{Prove, Source, Variations},
    attribution, conditions, heat_map, order,
    recording::Recording,
    report::{cannot_write, write},
};

/// What is left in the folder for the reports.
const MATRIX: &str = "matrix.tsv";
const CASES: &str = "cases.tsv";
const SUMMARY: &str = "summary.md";
const HEAT_MAP: &str = "heat-map.html";
/// What stands there in place of what each case is needed for.
const NOT_EVERY_CASE: &str = "# what each case is needed for: `xs2aspec prove --every-case` tells it\n";
/// The folder of the run on the clean bank.
const CLEAN: &str = "clean";
/// What `--pairs` leaves.
const PAIRS: &str = "pairs.tsv";
/// What `--explore` leaves.
const EXPLORED: &str = "explore.tsv";

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Self {
        match error {
            ProveError::Start(_) => Self::unreachable(error.to_string()),
            error => Self::input(error),
        }
    }
}

/// Runs every case against the clean bank, every fault and every variation, and says what was caught and what
/// was not.
pub(crate) async fn prove(args: &Prove) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(&Source { cases: args.cases.clone(), pack: None })?);
    if let Some(name) = &args.fault {
        return explain(args, &suite, BankVariant::Fault(name.parse().map_err(Failure::input)?)).await;
    }
    if let Some(name) = &args.variation {
        return explain(args, &suite, BankVariant::Variation(name.parse().map_err(Failure::input)?)).await;
    }
    if args.conditions {
        return conditions::measure_all(args).await;
    }
    if !args.peers.is_empty() {
        return conditions::measure_peers(args).await;
    }
    if let Some(count) = args.findings {
        return attribution::measure(args, &suite, count, &options(args)).await;
    }
    if let Some(count) = args.pairs {
        return in_pairs(args, &suite, count).await;
    }
    if let Some(path) = &args.order {
        return Box::pin(order::order(args, &suite, &options(args), path)).await;
    }
    let all: Vec<BankVariant> = match args.derived {
        _ if !args.style.is_empty() => in_styles(args)?,
        _ if args.drawn.is_some() => BankVariant::drawn(args.drawn.unwrap_or_default(), args.seed).collect(),
        Some(count) => BankVariant::derived(count, args.seed),
        None if args.explore.is_some() => BankVariant::all().chain(BankVariant::interactions()).collect(),
        None if is_together(args) => BankVariant::all_together().collect(),
        None => BankVariant::all().collect(),
    };
    let banks: Vec<BankVariant> = all.into_iter().filter(|bank| bank.is_wanted(&args.only)).collect();
    if banks.len() == 1 && !args.only.is_empty() {
        let only = args.only.join("`, `");
        return Err(Failure::input(format!("no fault, variation or style matches `{only}`")));
    }
    match args.explore {
        Some(budget) => search(args, &suite, banks, budget).await,
        None => mutate(args, &suite, banks).await,
    }
}

/// Among how many banks with many variations the cases are shared out, if they are.
const SHARES: u32 = 6;

/// In which banks variations are asked. What is named or kept is what each comes to by itself.
fn variations(args: &Prove) -> Variations {
    let usual = if args.update || !args.only.is_empty() {
        Variations::Apart
    } else if args.matrix.is_some() || args.every_case {
        Variations::Together
    } else {
        Variations::Shared
    };
    args.variations.unwrap_or(usual)
}

/// Whether all variations are asked in as few banks as they fit into.
fn is_together(args: &Prove) -> bool {
    variations(args) != Variations::Apart
}

/// The clean bank, and the styles: each as it is, and with each of the faults.
fn in_styles(args: &Prove) -> Result<Vec<BankVariant>, Failure> {
    let faults: Vec<Fault> = match args.derived {
        Some(count) => {
            BankVariant::derived(count, args.seed).into_iter().flat_map(BankVariant::faults).collect()
        }
        None => Fault::all().collect(),
    };
    let mut banks = vec![BankVariant::Clean];
    for name in &args.style {
        let style = name.parse().map_err(Failure::input)?;
        banks.push(BankVariant::Style(style));
        banks.extend(faults.iter().map(|fault| BankVariant::FaultIn(style, *fault)));
    }
    Ok(banks)
}

async fn mutate(args: &Prove, suite: &Arc<Suite>, banks: Vec<BankVariant>) -> Result<Exit, Failure> {
    let start = Instant::now();
    // What cannot be read or written is told before anybody is asked.
    let matrix = args.matrix.as_deref();
    let reads: Vec<&Path> = matrix.into_iter().collect();
    for name in [MATRIX, CASES, SUMMARY, HEAT_MAP] {
        outputs::may_write(&args.out.join(name), &reads).map_err(Failure::input)?;
    }
    if let Some(path) = matrix.filter(|_| args.update) {
        outputs::may_write(path, &[]).map_err(Failure::input)?;
    }
    let kept = matrix.filter(|_| !args.update).map(read).transpose()?;
    let clean: PathBuf = args.out.join(CLEAN);
    let mut recording = Recording::create(&clean, &reads)?;
    let bar = ProgressBar::new(banks.len() as u64);
    let (options, mut done) = (options(args), |_: &Row| bar.inc(1));
    let record = &mut |event: &Event| recording.write(event);
    let mut rows = mutation::rows(suite, banks, &options, record, &mut done).await?;
    recording.finish()?;
    if is_together(args) {
        let accused = |name: &str| rows.iter().any(|row| row.name == name && row.is_accused());
        let apart =
            BankVariant::all_together().filter(|bank| bank.kind() == Kind::Style && accused(bank.name()));
        let apart: Vec<BankVariant> = apart.flat_map(BankVariant::apart).collect();
        if !apart.is_empty() {
            bar.inc_length(apart.len() as u64);
            rows.extend(mutation::rows(suite, apart, &options, &mut |_| {}, &mut done).await?);
        }
    }
    bar.finish_and_clear();
    let is_plain = args.derived.is_none() && args.style.is_empty() && args.drawn.is_none();
    let whole = args.only.is_empty() && args.skip.is_empty() && args.requests.is_none() && is_plain;
    let matrix = KillMatrix::new(rows, mutation::testable(suite));
    let mut flaws = matrix.flaws(whole, &snapshot::survivors());
    match (&args.matrix, kept) {
        (Some(path), Some(kept)) => {
            flaws.extend(snapshot::differences(
                &path.display().to_string(),
                &kept,
                &matrix.snapshot(),
                is_together(args),
            ));
        }
        (Some(path), None) => write(path, &[], matrix.snapshot().as_bytes())?,
        (None, _) => {}
    }
    let cases: Vec<&str> = suite.cases().iter().map(|case| case.id.as_str()).collect();
    // What each case is needed for takes every case.
    let needed = if args.every_case { matrix.cases(&cases) } else { NOT_EVERY_CASE.to_owned() };
    let needs = if args.every_case { matrix.needs() } else { String::new() };
    let summary = matrix.summary(&flaws) + &needs;
    let drawn = heat_map::page(&matrix);
    for (name, text) in [(MATRIX, matrix.details()), (CASES, needed), (SUMMARY, summary), (HEAT_MAP, drawn)] {
        write(&args.out.join(name), &reads, text.as_bytes())?;
    }
    for Flaw(flaw) in &flaws {
        say!("{flaw}");
    }
    say!("{}", matrix.totals());
    let banks = matrix.rows().len();
    let seconds = start.elapsed().as_secs_f64();
    say!("{banks} banks in {seconds:.1} s; reports in {}", args.out.display());
    let is_enough = match args.derived {
        None if args.style.is_empty() => flaws.is_empty(),
        _ => matrix.percent_caught() >= usize::from(args.at_least) && matrix.is_silent(),
    };
    Ok(if is_enough { Exit::Conforms } else { Exit::Violation })
}

/// How the banks are asked.
fn options(args: &Prove) -> MutationOptions {
    MutationOptions {
        seed: args.seed,
        now: args.now,
        depth: args.depth,
        skip: args.skip.clone(),
        requests: args.requests,
        jobs: usize::from(args.jobs),
        banks: usize::from(args.banks),
        every_case: args.every_case,
        shares: if variations(args) == Variations::Shared && args.style.is_empty() { SHARES } else { 1 },
        tcp: args.tcp,
    }
}

/// Banks with two faults, each of which some case finds alone: both must be found.
async fn in_pairs(args: &Prove, suite: &Arc<Suite>, count: usize) -> Result<Exit, Failure> {
    let start = Instant::now();
    let path = args.out.join(PAIRS);
    fs::create_dir_all(&args.out).map_err(|error| cannot_write(&path, &error))?;
    outputs::may_write(&path, &[]).map_err(Failure::input)?;
    let survivors = snapshot::survivors();
    let wanted = |fault: &Fault| BankVariant::Fault(*fault).is_wanted(&args.only);
    let found = Fault::all().filter(|fault| wanted(fault) && !survivors.contains_key(fault.name()));
    let drawn = pairs::drawn(found.collect(), count, args.seed);
    if drawn.is_empty() {
        return Err(Failure::input("there are no two faults of different clauses to be drawn"));
    }
    let rows = pairs::rows(suite, drawn, &options(args)).await?;
    write(&path, &[], pairs::table(&rows).as_bytes())?;
    for row in rows.iter().filter(|row| !row.is_clear()) {
        let [one, other] = row.names;
        for hidden in &row.hidden {
            say!("{hidden} is hidden: {one} and {other}");
        }
        for clause in &row.blamed {
            say!("{clause} is blamed, and neither breaks it: {one} and {other}");
        }
    }
    let both = rows.iter().filter(|row| row.hidden.is_empty()).count();
    let blamed = rows.iter().filter(|row| !row.blamed.is_empty()).count();
    say!("{both} of {} pairs: both faults are found; another clause is blamed in {blamed}", rows.len());
    say!("{:.1} s; the table is {}", start.elapsed().as_secs_f64(), path.display());
    let is_enough = both * 100 >= rows.len() * usize::from(args.at_least) && blamed == 0;
    Ok(if is_enough { Exit::Conforms } else { Exit::Violation })
}

/// One bank: every case that fails, with its exchange. A fault must be caught by its own clause, and a
/// variation by none.
async fn explain(args: &Prove, suite: &Arc<Suite>, bank: BankVariant) -> Result<Exit, Failure> {
    let mut events = Vec::new();
    mutation::run(suite, bank, &options(args), &mut |event| events.push(event.clone())).await?;
    let verdicts: Vec<CaseVerdict> = events
        .iter()
        .filter_map(|event| if let Event::Verdict(verdict) = event { Some(verdict.clone()) } else { None })
        .collect();
    let row = mutation::row(suite, bank, &verdicts);
    let shown = Shown::of(&events).map_err(Failure::input)?;
    let mut terminal = Terminal::default();
    shown.show(&mut [&mut terminal]);
    say_on!("{}", terminal.attention(shown.summary()));
    let own = row.own().count();
    let name = bank.name();
    if bank.kind() != Kind::Fault {
        let (failing, warning, open) = (row.fired.len(), row.warned.len(), row.unjudged.len());
        say!("{name}: {failing} cases fail, {warning} warn, {open} cannot be judged");
        return Ok(if row.alarms().is_empty() && row.unjudged.is_empty() {
            Exit::Conforms
        } else {
            Exit::Violation
        });
    }
    let (failing, warning) = (row.fired.len(), row.warned.len());
    say!("{name}: {failing} cases fail, {warning} warn, {own} of them for {}", row.clause);
    for case in row.own() {
        say!("  {case}");
    }
    Ok(if own > 0 { Exit::Conforms } else { Exit::Violation })
}

/// Says how many drawn requests it takes to find each fault.
async fn search(
    args: &Prove,
    suite: &Arc<Suite>,
    banks: Vec<BankVariant>,
    budget: u64,
) -> Result<Exit, Failure> {
    let start = Instant::now();
    let options = SearchOptions { seed: args.seed, now: args.now, budget, banks: usize::from(args.banks) };
    let search = FaultSearch::run(suite, banks, &options).await?;
    fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error))?;
    let path = args.out.join(EXPLORED);
    write(&path, &[], search.table().as_bytes())?;
    for one in search.false_positives() {
        say!("false positive: {}: {}", one.bank.name(), one.found_by().unwrap_or_default());
    }
    for one in search.missed() {
        say!("not found: {}", one.bank.name());
    }
    let needed = search.needed();
    let all = needed.len() + search.missed().count();
    say!("{} of {all} faults in rules for requests found, each within {budget} requests", needed.len());
    let share =
        |part: usize| needed.get((needed.len() * part / 100).min(needed.len().saturating_sub(1))).copied();
    if let (Some(half), Some(most), Some(last), Some(end)) = (share(50), share(90), share(99), needed.last())
    {
        say!("requests needed: half of them {half}, 90 % {most}, 99 % {last}, all {end}");
    }
    for (concern, (all, found)) in search.others() {
        say!("{found} of {all} faults in {} found besides", concern.word());
    }
    let lawful = search.lawful().count();
    say!("{} false positives on {lawful} banks that keep the document", search.false_positives().count());
    say!("{:.1} s; {}", start.elapsed().as_secs_f64(), path.display());
    Ok(if search.is_complete(args.at_least) { Exit::Conforms } else { Exit::Violation })
}

/// The matrix that was kept.
fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))
}
