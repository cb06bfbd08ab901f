//! `xs2aspec prove order`: the order in which `run --requests` selects cases.

use std::{fs, time::Instant};

use indicatif::ProgressBar;
use xs2aspec_prove::order;
use xs2aspec_record::{Exit, outputs};
use xs2aspec_reference::{Fault, Style};

use super::{options, suite};
use crate::{
    Failure,
    args::prove::{Cases, Order},
    report::write,
};

/// Runs the cases against every fault in every style, then writes the order or compares it with the file.
pub(super) async fn order(args: &Order) -> Result<Exit, Failure> {
    let (start, suite, path) = (Instant::now(), suite(&args.asking)?, args.file.as_path());
    outputs::may_write(path, &[]).map_err(Failure::input)?;
    let styles = styles(args)?;
    let bar = ProgressBar::new((Fault::all().count() * (styles.len() + 1)) as u64);
    let catches =
        order::catches(&suite, &options(&args.asking, &Cases::default(), 1), &styles, &mut || bar.inc(1))
            .await?;
    bar.finish_and_clear();
    let steps = catches.order(&suite);
    let first = catches.first(&suite, &steps);
    let text = order::text(&steps);
    for most in [100, 300, 1000, 1500] {
        let caught =
            steps.iter().take_while(|step| step.requests <= most).last().map_or(0, |step| step.caught);
        say!("{most} requests: {caught} of the tested faults caught");
    }
    say!(
        "median position of the first case that catches a fault: {:.2} % of the requests; ordered by id: {:.2} %",
        first.in_order * 100.0,
        first.by_id * 100.0
    );
    let seconds = start.elapsed().as_secs_f64();
    if args.update {
        write(path, &[], text.as_bytes())?;
        say!("{} cases in {}; {seconds:.1} s", steps.len(), path.display());
        return Ok(Exit::Conforms);
    }
    let kept = fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))?;
    let is_kept = kept == text;
    let words = if is_kept { "is up to date" } else { "is out of date; run with --update to rewrite it" };
    say!("{} {words}; {seconds:.1} s", path.display());
    Ok(if is_kept { Exit::Conforms } else { Exit::Violation })
}

/// Returns the styles of the command line, or all named ones. Drops styles that equal the default bank.
fn styles(args: &Order) -> Result<Vec<Style>, Failure> {
    if args.style.is_empty() {
        return Ok(Style::named().filter(|style| !style.variations().is_empty()).collect());
    }
    let styles = args.style.iter().map(|name| name.parse::<Style>().map_err(Failure::input));
    let styles: Result<Vec<Style>, Failure> = styles.collect();
    Ok(styles?.into_iter().filter(|style| !style.variations().is_empty()).collect())
}
