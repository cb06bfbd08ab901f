//! `xs2aspec prove pairs`: runs against banks with two faults. The cases find each of them alone, and must
//! find both together.

use std::{fs, time::Instant};

use xs2aspec_prove::{BankVariant, pairs, snapshot};
use xs2aspec_record::{Exit, outputs};
use xs2aspec_reference::Fault;

use super::{options, suite};
use crate::{
    Failure,
    args::prove::Sample,
    report::{cannot_write, write},
};

/// The table in the folder of the reports.
const PAIRS: &str = "pairs.tsv";

/// Runs the cases against a sample of pairs.
pub(super) async fn measure(args: &Sample) -> Result<Exit, Failure> {
    let Sample { count, cases, enough, asking } = args;
    let (start, suite) = (Instant::now(), suite(asking)?);
    let path = asking.out.join(PAIRS);
    fs::create_dir_all(&asking.out).map_err(|error| cannot_write(&path, &error))?;
    outputs::may_write(&path, &[]).map_err(Failure::input)?;
    let survivors = snapshot::survivors();
    let wanted = |fault: &Fault| BankVariant::Fault(*fault).is_wanted(&asking.only);
    let found = Fault::all().filter(|fault| wanted(fault) && !survivors.contains_key(fault.name()));
    let drawn = pairs::drawn(found.collect(), *count, asking.seed);
    if drawn.is_empty() {
        return Err(Failure::input("expected two faults of different clauses; choose a wider --only"));
    }
    let rows = pairs::rows(&suite, drawn, &options(asking, cases, 1)).await?;
    write(&path, &[], pairs::table(&rows).as_bytes())?;
    for row in rows.iter().filter(|row| !row.is_clear()) {
        let [one, other] = row.names;
        for hidden in &row.hidden {
            say!("{one} and {other}: {hidden} is hidden");
        }
        for clause in &row.blamed {
            say!("{one} and {other}: {clause} is blamed, but neither violates it");
        }
    }
    let both = rows.iter().filter(|row| row.hidden.is_empty()).count();
    let blamed = rows.iter().filter(|row| !row.blamed.is_empty()).count();
    say!("{both} of {} pairs: both faults found; {blamed} pairs: another clause blamed", rows.len());
    say!("{:.1} s; table in {}", start.elapsed().as_secs_f64(), path.display());
    let is_enough = both * 100 >= rows.len() * usize::from(enough.at_least) && blamed == 0;
    Ok(if is_enough { Exit::Conforms } else { Exit::Violation })
}
