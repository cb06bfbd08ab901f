//! `xs2aspec prove`: the suite against banks of which it is known what is wrong with them.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc, time::Instant};

use tokio::task::{JoinError, JoinSet};
use xs2aspec_record::{CaseVerdict, Event, Exit, Role, outputs};
use xs2aspec_report::{
    Run as Shown,
    format::terminal::Terminal,
    kill_matrix::{Flaw, KillMatrix, Row},
};
use xs2aspec_runner::{
    Options, Profile, Session, SessionError, exchange::Inside, profile::AuthorizedProfile, session::Requests,
    waiver::WaiversFile,
};
use xs2aspec_suite::{Coverage, Suite};

use crate::{
    Failure,
    args::Prove,
    prove_explore,
    report::{cannot_write, write},
    special::{NOWHERE, Special},
};

/// What is left in the folder for the reports.
const MATRIX: &str = "matrix.tsv";
const CASES: &str = "cases.tsv";
const SUMMARY: &str = "summary.md";

/// Runs every case against the clean bank, every fault and every variation, and says what was caught and what was not.
pub(crate) async fn prove(args: &Prove) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(args.source.cases.as_ref())?);
    if let Some(name) = &args.fault {
        return explain(args, &suite, Special::Fault(name.parse().map_err(Failure::input)?)).await;
    }
    if let Some(name) = &args.variation {
        return explain(args, &suite, Special::Variation(name.parse().map_err(Failure::input)?)).await;
    }
    let start = Instant::now();
    let all = Special::all().chain(Special::interactions().filter(|_| args.explore.is_some()));
    let banks: Vec<Special> = all.filter(|bank| bank.is_wanted(&args.only)).collect();
    if banks.len() == 1 && !args.only.is_empty() {
        return Err(Failure::input(format!("no fault or variation matches `{}`", args.only.join("`, `"))));
    }
    if let Some(budget) = args.explore {
        return prove_explore::prove(args, &suite, banks, budget).await;
    }
    // What cannot be read or written is told before anybody is asked.
    let matrix = args.matrix.as_deref();
    let reads: Vec<&Path> = matrix.into_iter().collect();
    for name in [MATRIX, CASES, SUMMARY] {
        outputs::may_write(&args.out.join(name), &reads).map_err(Failure::input)?;
    }
    if let Some(path) = matrix.filter(|_| args.update) {
        outputs::may_write(path, &[]).map_err(Failure::input)?;
    }
    let kept = matrix.filter(|_| !args.update);
    let kept = kept.map(self::kept).transpose()?;
    let rows = rows(args, &suite, banks).await?;
    let whole = args.only.is_empty() && args.skip.is_empty();
    let matrix = KillMatrix::new(rows, testable(&suite));
    let mut flaws = matrix.flaws(whole);
    match (&args.matrix, kept) {
        (Some(path), Some(kept)) => {
            flaws.extend(differences(path, &kept, &lines(&matrix.snapshot())));
        }
        (Some(path), None) => write(path, &[], matrix.snapshot().as_bytes())?,
        (None, _) => {}
    }
    let cases: Vec<&str> = suite.cases().iter().map(|case| case.id.as_str()).collect();
    let written =
        [(MATRIX, matrix.details()), (CASES, matrix.cases(&cases)), (SUMMARY, matrix.summary(&flaws))];
    fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error))?;
    for (name, text) in written {
        let path = args.out.join(name);
        write(&path, &reads, text.as_bytes())?;
    }
    for Flaw(flaw) in &flaws {
        say!("{flaw}");
    }
    say!("{}", matrix.totals());
    let banks = matrix.rows().len();
    let seconds = start.elapsed().as_secs_f64();
    say!("{banks} banks in {seconds:.1} s; reports in {}", args.out.display());
    Ok(if flaws.is_empty() { Exit::Conforms } else { Exit::Violation })
}

/// The rows of the matrix. The clean bank comes first and alone: what is signed for it serves the others, which run side by side.
async fn rows(args: &Prove, suite: &Arc<Suite>, banks: Vec<Special>) -> Result<Vec<Row>, Failure> {
    let nowhere = Profile::reference(NOWHERE).map_err(Failure::input)?;
    let session =
        Session::new(Arc::clone(suite), nowhere.for_show(), args.seed, args.now).map_err(Failure::input)?;
    let session = Arc::new((session, Arc::new(Requests::default())));
    let mut rows = Vec::new();
    let mut running = JoinSet::new();
    let mut side_by_side = 1;
    for bank in banks {
        while running.len() >= side_by_side
            && let Some(row) = running.join_next().await
        {
            rows.push(landed(row)?);
            side_by_side = usize::from(args.banks);
        }
        let (args, suite, session) = (args.clone(), Arc::clone(suite), Arc::clone(&session));
        running.spawn(async move { row(&args, &suite, &session, bank).await });
    }
    while let Some(row) = running.join_next().await {
        rows.push(landed(row)?);
    }
    Ok(rows)
}

fn landed(row: Result<Result<Row, Failure>, JoinError>) -> Result<Row, Failure> {
    row.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn row(
    args: &Prove,
    suite: &Suite,
    (session, requests): &(Session, Arc<Requests>),
    bank: Special,
) -> Result<Row, Failure> {
    let mut verdicts = Vec::new();
    let sink = |event: &Event| {
        if let Event::Verdict(verdict) = event {
            verdicts.push(verdict.clone());
        }
    };
    if bank.is_above_http() && !args.tcp {
        let beside = |profile, inside| session.beside(profile, requests, Some(inside));
        within(args, suite, bank, beside, sink).await?;
    } else {
        against(args, suite, bank, |profile| session.beside(profile, requests, None), sink).await?;
    }
    Ok(Row::new(bank.of(), selected(&verdicts)))
}

fn selected(verdicts: &[CaseVerdict]) -> impl Iterator<Item = &CaseVerdict> {
    verdicts.iter().filter(|verdict| verdict.role == Role::Selected)
}

/// Starts a bank, runs the cases against it over TCP, and stops it.
async fn against(
    args: &Prove,
    suite: &Suite,
    bank: Special,
    session: impl FnOnce(AuthorizedProfile) -> Result<Session, SessionError>,
    sink: impl FnMut(&Event),
) -> Result<(), Failure> {
    let started = xs2aspec_reference::start(bank.config(args.now)).await;
    let started = started.map_err(|error| Failure::unreachable(format!("a bank cannot start: {error}")))?;
    let session = session(bank.profile(&started.base_url())?).map_err(Failure::input)?;
    run(args, suite, bank, session, sink).await?;
    started.shutdown().await.map_err(Failure::input)
}

/// Opens a bank in this process and runs the cases against it there.
async fn within(
    args: &Prove,
    suite: &Suite,
    bank: Special,
    session: impl FnOnce(AuthorizedProfile, Inside) -> Result<Session, SessionError>,
    sink: impl FnMut(&Event),
) -> Result<(), Failure> {
    let inside = bank.inside(args.now);
    let session = session(bank.profile(NOWHERE)?, inside).map_err(Failure::input)?;
    run(args, suite, bank, session, sink).await
}

async fn run(
    args: &Prove,
    suite: &Suite,
    bank: Special,
    session: Session,
    sink: impl FnMut(&Event),
) -> Result<(), Failure> {
    let plan = suite.plan(&[], &args.skip, args.depth).map_err(Failure::input)?;
    let options = Options {
        jobs: usize::from(args.jobs),
        fail_fast: false,
        depth: args.depth,
        only: vec![],
        skip: args.skip.clone(),
        arguments: bank.arguments(),
        shard: None,
        quality: None,
        fault: bank.fault().map(|fault| fault.name().to_owned()),
        variations: bank.variations().into_iter().map(|variation| variation.name().to_owned()).collect(),
        waivers: WaiversFile::default(),
        earlier: None,
        leave_in_doubt: false,
        interrupt: Arc::default(),
    };
    xs2aspec_runner::run(Arc::new(session), &plan, &options, sink).await;
    Ok(())
}

/// One bank: every case that fails, with its exchange. A fault must be caught by its own clause, and a variation by none.
async fn explain(args: &Prove, suite: &Arc<Suite>, bank: Special) -> Result<Exit, Failure> {
    let mut events = Vec::new();
    let session = |profile| Session::new(Arc::clone(suite), profile, args.seed, args.now);
    against(args, suite, bank, session, |event| events.push(event.clone())).await?;
    let verdicts: Vec<CaseVerdict> = events
        .iter()
        .filter_map(|event| if let Event::Verdict(verdict) = event { Some(verdict.clone()) } else { None })
        .collect();
    let row = Row::new(bank.of(), selected(&verdicts));
    let shown = Shown::of(&events).map_err(Failure::input)?;
    let mut terminal = Terminal::default();
    shown.show(&mut [&mut terminal]);
    say_on!("{}", terminal.attention(shown.summary()));
    let own = row.own().count();
    let name = bank.name();
    if bank.fault().is_none() {
        say!("{name}: {} cases fail, {} cannot be judged", row.fired.len(), row.unjudged.len());
        return Ok(if row.fired.is_empty() && row.unjudged.is_empty() {
            Exit::Conforms
        } else {
            Exit::Violation
        });
    }
    say!("{name}: {} cases fail, {own} of them for {}", row.fired.len(), row.clause);
    for case in row.own() {
        say!("  {case}");
    }
    Ok(if own > 0 { Exit::Conforms } else { Exit::Violation })
}

/// Clauses that the document demands: each of them must have a fault, whether or not the suite has a case that could see it.
fn testable(suite: &Suite) -> BTreeSet<String> {
    let coverage = Coverage::of(suite);
    coverage.demanded().map(|statement| statement.clause.clone()).collect()
}

/// The lines of the matrix that was kept.
fn kept(path: &Path) -> Result<BTreeSet<String>, Failure> {
    let text = fs::read_to_string(path);
    let text =
        text.map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))?;
    Ok(lines(&text))
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

/// Where the matrix is not the one that was kept.
fn differences(path: &Path, kept: &BTreeSet<String>, now: &BTreeSet<String>) -> Vec<Flaw> {
    let gone = kept.difference(now).map(|line| format!("{}: no longer so: {line}", path.display()));
    let new = now.difference(kept).map(|line| format!("{}: not there yet: {line}", path.display()));
    gone.chain(new).map(Flaw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_differs_is_shown_line_by_line() {
        let path = std::env::temp_dir().join(format!("xs2aspec-matrix-{}.tsv", std::process::id()));
        fs::write(&path, "a\nb\n").unwrap();
        let flaws = |now: &str| -> Vec<String> {
            let kept = kept(&path).unwrap_or_else(|_| panic!("no file"));
            let flaws = differences(&path, &kept, &lines(now));
            flaws
                .into_iter()
                .map(|Flaw(flaw)| flaw.rsplit(": ").next().unwrap_or_default().to_owned())
                .collect()
        };
        assert!(flaws("a\nb\n").is_empty());
        assert_eq!(flaws("a\nc\n"), ["b", "c"]);
        fs::remove_file(&path).unwrap();
        assert!(kept(&path).is_err(), "no file to compare with");
    }
}
