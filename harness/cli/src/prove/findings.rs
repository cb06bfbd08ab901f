//! `xs2aspec prove findings N`: runs all cases against banks with one fault each, and reports which clause
//! their first finding names.

use std::{fs, time::Instant};

use indicatif::ProgressBar;
use xs2aspec_prove::{
    BankVariant,
    attribution::{self, AttributionRow, Place},
    mutation, snapshot,
};
use xs2aspec_record::{Exit, outputs};
use xs2aspec_reference::Fault;
use xs2aspec_report::{Run, findings::Found};

use super::{options, suite};
use crate::{
    Failure,
    args::prove::Sample,
    report::{cannot_write, write},
};

/// The table in the folder of the reports.
const FINDINGS: &str = "findings.tsv";

/// Runs all cases against a sample of banks with one fault. Prints how often the findings name its clause
/// first, later or not at all.
pub(super) async fn measure(args: &Sample) -> Result<Exit, Failure> {
    let Sample { count, cases, enough, asking } = args;
    let (start, suite) = (Instant::now(), suite(asking)?);
    let path = asking.out.join(FINDINGS);
    fs::create_dir_all(&asking.out).map_err(|error| cannot_write(&path, &error))?;
    outputs::may_write(&path, &[]).map_err(Failure::input)?;
    let survivors = snapshot::survivors();
    let wanted = |fault: &Fault| {
        BankVariant::Fault(*fault).is_wanted(&asking.only) && !survivors.contains_key(fault.name())
    };
    let faults = attribution::drawn(Fault::all().filter(wanted).collect(), *count, asking.seed);
    if faults.is_empty() {
        return Err(Failure::input("no fault matches"));
    }
    let options = options(asking, cases, 1);
    let bar = ProgressBar::new(faults.len() as u64);
    let mut rows = Vec::new();
    for fault in faults {
        let mut events = Vec::new();
        let bank = BankVariant::Fault(fault);
        mutation::run(&suite, bank, &options, &mut |event| events.push(event.clone())).await?;
        let run = Run::of(&events).map_err(Failure::input)?;
        let findings = run.summary().findings().all().iter().map(named).collect();
        let (fault, clause) = (fault.name().to_owned(), fault.clause().to_owned());
        rows.push(AttributionRow { fault, clause, findings });
        bar.inc(1);
    }
    bar.finish_and_clear();
    rows.sort_by(|one, other| (one.place(), &one.fault).cmp(&(other.place(), &other.fault)));
    write(&path, &[], attribution::table(&rows).as_bytes())?;
    let (places, mean) = attribution::totals(&rows);
    for (place, times) in &places {
        say!("{times:>5}  {}", place.word());
    }
    let seconds = start.elapsed().as_secs_f64();
    say!(
        "{} faults, {}.{:02} findings each; {seconds:.1} s; table in {}",
        rows.len(),
        mean / 100,
        mean % 100,
        path.display()
    );
    let is_right = |place: &Place| matches!(place, Place::First | Place::InOtherWords);
    let first: usize = places.iter().filter(|(place, _)| is_right(place)).map(|(_, times)| times).sum();
    let is_enough = first * 100 >= rows.len() * usize::from(enough.at_least);
    Ok(if is_enough { Exit::Conforms } else { Exit::Violation })
}

/// Returns the clause of a finding, and the other clauses that it explains.
fn named(found: &Found) -> (String, Vec<String>) {
    (found.clause.clone(), found.other_clauses().into_iter().map(str::to_owned).collect())
}
