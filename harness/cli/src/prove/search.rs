//! `xs2aspec prove explore`: measures how many generated requests it takes to find each fault.

use std::{fs, time::Instant};

use xs2aspec_prove::{BankVariant, FaultSearch, SearchOptions};
use xs2aspec_record::Exit;

use super::{suite, wanted};
use crate::{
    Failure,
    args::prove::Explored,
    report::{cannot_write, write},
};

/// The table in the folder of the reports.
const EXPLORED: &str = "explore.tsv";

/// Explores every bank with a written fault or variation.
pub(super) async fn measure(args: &Explored) -> Result<Exit, Failure> {
    let Explored { budget, enough, asking } = args;
    let (start, suite) = (Instant::now(), suite(asking)?);
    let banks = wanted(asking, BankVariant::all().chain(BankVariant::interactions()))?;
    let (seed, now, banks_at_once) = (asking.seed, asking.now, usize::from(asking.banks));
    let options = SearchOptions { seed, now, budget: *budget, banks: banks_at_once };
    let search = FaultSearch::run(&suite, banks, &options).await?;
    fs::create_dir_all(&asking.out).map_err(|error| cannot_write(&asking.out, &error))?;
    let path = asking.out.join(EXPLORED);
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
        say!("requests needed: {half} for 50 %, {most} for 90 %, {last} for 99 %, {end} for all");
    }
    for (concern, (all, found)) in search.others() {
        say!("{found} of {all} faults in {} also found", concern.word());
    }
    let lawful = search.lawful().count();
    say!("{} false positives on {lawful} conforming banks", search.false_positives().count());
    say!("{:.1} s; {}", start.elapsed().as_secs_f64(), path.display());
    Ok(if search.is_complete(enough.at_least) { Exit::Conforms } else { Exit::Violation })
}
