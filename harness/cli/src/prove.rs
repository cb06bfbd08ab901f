//! `xs2aspec prove`: runs the suite against banks with known faults, and against banks known to conform.

mod conditions;
mod findings;
mod order;
mod pairs;
mod search;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use indicatif::ProgressBar;
use xs2aspec_prove::{
    BankVariant, Flaw, KillMatrix, Kind, MutationOptions, ProveError, Row, mutation, snapshot,
};
use xs2aspec_record::{CaseVerdict, Event, Exit, outputs};
use xs2aspec_reference::Fault;
use xs2aspec_report::{Run as Shown, format::terminal::Terminal};
use xs2aspec_suite::Suite;

use crate::{
    Failure,
    args::{
        Source,
        prove::{Asking, Cases, Derived, Part, Prove, Variations, Written},
    },
    recording::Recording,
    report::write,
    text_of,
};

/// The files in the folder of the reports.
const MATRIX: &str = "matrix.tsv";
const CASES: &str = "cases.tsv";
const SUMMARY: &str = "summary.md";
/// The content of [`CASES`] if not every case ran.
const NOT_EVERY_CASE: &str = "# to list what each case is needed for, run `xs2aspec prove --every-case`\n";
/// The folder of the run against the clean bank.
const CLEAN: &str = "clean";
/// The number of shares of the cases with `--variations shared`. Each bank runs one share.
const SHARES: u32 = 6;

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Self {
        match error {
            ProveError::Start(_) => Self::unreachable(error.to_string()),
            error => Self::input(error),
        }
    }
}

/// Runs the part of `prove` that the command line names.
pub(crate) async fn prove(args: &Prove) -> Result<Exit, Failure> {
    match &args.part {
        None => written(&args.written).await,
        Some(Part::Derived(args)) => derived(args).await,
        Some(Part::Explore(args)) => search::measure(args).await,
        Some(Part::Pairs(args)) => pairs::measure(args).await,
        Some(Part::Findings(args)) => findings::measure(args).await,
        Some(Part::Conditions(args)) => conditions::measure_all(args).await,
        Some(Part::Peers(args)) => conditions::measure_peers(args).await,
        Some(Part::Order(args)) => Box::pin(order::order(args)).await,
    }
}

/// Runs the cases against the clean bank, every fault and every variation.
async fn written(args: &Written) -> Result<Exit, Failure> {
    let suite = suite(&args.asking)?;
    if let Some(name) = &args.fault {
        return explain(args, &suite, BankVariant::Fault(name.parse().map_err(Failure::input)?)).await;
    }
    if let Some(name) = &args.variation {
        return explain(args, &suite, BankVariant::Variation(name.parse().map_err(Failure::input)?)).await;
    }
    let variations = variations(args);
    let all: Vec<BankVariant> = if !args.style.is_empty() {
        in_styles(&args.style, &Fault::all().collect::<Vec<_>>())?
    } else if let Some(count) = args.drawn {
        BankVariant::drawn(count, args.asking.seed).collect()
    } else if variations == Variations::Apart {
        BankVariant::all().collect()
    } else {
        BankVariant::all_together().collect()
    };
    let plan = Plan {
        asking: &args.asking,
        cases: &args.cases,
        matrix: args.matrix.as_deref(),
        is_written_anew: args.update,
        variations,
        is_whole: args.style.is_empty() && args.drawn.is_none(),
        enough: (!args.style.is_empty()).then_some(args.enough.at_least),
    };
    mutate(&plan, &suite, all).await
}

/// Runs the cases against faults that operators derive.
async fn derived(args: &Derived) -> Result<Exit, Failure> {
    let suite = suite(&args.asking)?;
    let derived = BankVariant::derived(args.count, args.asking.seed);
    let banks = if args.style.is_empty() {
        derived
    } else {
        let faults: Vec<Fault> = derived.into_iter().flat_map(BankVariant::faults).collect();
        in_styles(&args.style, &faults)?
    };
    let plan = Plan {
        asking: &args.asking,
        cases: &args.cases,
        matrix: None,
        is_written_anew: false,
        variations: Variations::Apart,
        is_whole: false,
        enough: Some(args.enough.at_least),
    };
    mutate(&plan, &suite, banks).await
}

/// Loads the suite.
fn suite(asking: &Asking) -> Result<Arc<Suite>, Failure> {
    crate::suite(&Source { cases: asking.cases.clone(), pack: None }).map(Arc::new)
}

/// Returns how variations are combined. `--only` and `--update` need the result of each variation alone.
fn variations(args: &Written) -> Variations {
    let usual = if args.update || !args.asking.only.is_empty() {
        Variations::Apart
    } else if args.matrix.is_some() || args.cases.every_case {
        Variations::Together
    } else {
        Variations::Shared
    };
    args.variations.unwrap_or(usual)
}

/// Returns the clean bank, and each style both without a fault and with each fault.
fn in_styles(styles: &[String], faults: &[Fault]) -> Result<Vec<BankVariant>, Failure> {
    let mut banks = vec![BankVariant::Clean];
    for name in styles {
        let style = name.parse().map_err(Failure::input)?;
        banks.push(BankVariant::Style(style));
        banks.extend(faults.iter().map(|fault| BankVariant::FaultIn(style, *fault)));
    }
    Ok(banks)
}

/// The banks and cases of a kill matrix, and what to do with the result.
struct Plan<'a> {
    asking: &'a Asking,
    cases: &'a Cases,
    /// The file to compare with or to write.
    matrix: Option<&'a Path>,
    is_written_anew: bool,
    variations: Variations,
    /// True if all written faults and variations run, except those that `--only` excludes.
    is_whole: bool,
    /// The percentage of faults that must be found. `None` requires all of them and no other flaw.
    enough: Option<u8>,
}

async fn mutate(plan: &Plan<'_>, suite: &Arc<Suite>, all: Vec<BankVariant>) -> Result<Exit, Failure> {
    let Plan { asking, cases, matrix, is_written_anew, .. } = *plan;
    let banks = wanted(asking, all)?;
    let start = Instant::now();
    // Report unreadable and unwritable files before the first request.
    let reads: Vec<&Path> = matrix.into_iter().collect();
    for name in [MATRIX, CASES, SUMMARY] {
        outputs::may_write(&asking.out.join(name), &reads).map_err(Failure::input)?;
    }
    if let Some(path) = matrix.filter(|_| is_written_anew) {
        outputs::may_write(path, &[]).map_err(Failure::input)?;
    }
    let kept = matrix.filter(|_| !is_written_anew).map(text_of).transpose()?;
    let clean: PathBuf = asking.out.join(CLEAN);
    let mut recording = Recording::create(&clean, &reads)?;
    let bar = ProgressBar::new(banks.len() as u64);
    let shares = if plan.variations == Variations::Shared { SHARES } else { 1 };
    let (options, mut done) = (options(asking, cases, shares), |_: &Row| bar.inc(1));
    let record = &mut |event: &Event| recording.write(event);
    let mut rows = mutation::rows(suite, banks, &options, record, &mut done).await?;
    recording.finish()?;
    if plan.variations != Variations::Apart && plan.is_whole {
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
    let whole = plan.is_whole && asking.only.is_empty() && cases.skip.is_empty() && cases.requests.is_none();
    let found = KillMatrix::new(rows, mutation::testable(suite));
    let mut flaws = found.flaws(whole, &snapshot::survivors());
    match (matrix, kept) {
        (Some(path), Some(kept)) => {
            flaws.extend(snapshot::differences(
                &path.display().to_string(),
                &kept,
                &found.snapshot(),
                plan.variations != Variations::Apart,
            ));
        }
        (Some(path), None) => write(path, &[], found.snapshot().as_bytes())?,
        (None, _) => {}
    }
    let all: Vec<&str> = suite.cases().iter().map(|case| case.id.as_str()).collect();
    // What each case is needed for is known only if every case ran.
    let needed = if cases.every_case { found.cases(&all) } else { NOT_EVERY_CASE.to_owned() };
    let needs = if cases.every_case { found.needs() } else { String::new() };
    let summary = found.summary(&flaws) + &needs;
    for (name, text) in [(MATRIX, found.details()), (CASES, needed), (SUMMARY, summary)] {
        write(&asking.out.join(name), &reads, text.as_bytes())?;
    }
    for Flaw(flaw) in &flaws {
        say!("{flaw}");
    }
    say!("{}", found.totals());
    let banks = found.rows().len();
    let seconds = start.elapsed().as_secs_f64();
    say!("{banks} banks in {seconds:.1} s; reports in {}", asking.out.display());
    let is_enough = match plan.enough {
        None => flaws.is_empty(),
        Some(least) => found.percent_caught() >= usize::from(least) && found.is_silent(),
    };
    Ok(if is_enough { Exit::Conforms } else { Exit::Violation })
}

/// Returns the banks that `--only` names, and the clean one.
fn wanted(asking: &Asking, all: impl IntoIterator<Item = BankVariant>) -> Result<Vec<BankVariant>, Failure> {
    let banks: Vec<BankVariant> = all.into_iter().filter(|bank| bank.is_wanted(&asking.only)).collect();
    if banks.len() == 1 && !asking.only.is_empty() {
        let only = asking.only.join("`, `");
        return Err(Failure::input(format!("--only: no fault, variation or style matches `{only}`")));
    }
    Ok(banks)
}

/// Returns the options for running the cases against banks.
fn options(asking: &Asking, cases: &Cases, shares: u32) -> MutationOptions {
    MutationOptions {
        seed: asking.seed,
        now: asking.now,
        depth: asking.depth,
        skip: cases.skip.clone(),
        requests: cases.requests,
        jobs: usize::from(asking.jobs),
        banks: usize::from(asking.banks),
        every_case: cases.every_case,
        shares,
        tcp: cases.tcp,
    }
}

/// Prints every case that fails against one bank, with its exchange. The clause of a fault must catch it, and
/// no clause may accuse a variation.
async fn explain(args: &Written, suite: &Arc<Suite>, bank: BankVariant) -> Result<Exit, Failure> {
    let mut events = Vec::new();
    mutation::run(suite, bank, &options(&args.asking, &args.cases, 1), &mut |event| {
        events.push(event.clone());
    })
    .await?;
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
