//! `xs2aspec rejudge`: judges the recorded responses of a run with this version.

use std::sync::Arc;

use xs2aspec_record::{Exit, RecordReader};
use xs2aspec_report::text;

use crate::{Failure, args::Rejudge, report};

/// Prints the verdicts that change. The exit code is 1 if any changes or the record was edited, and 3 if some
/// cases could not be rejudged.
pub(crate) fn rejudge(args: &Rejudge) -> Result<Exit, Failure> {
    let suite = Arc::new(crate::suite(&args.source)?);
    let path = report::record(&args.record);
    let rejudged = xs2aspec_judge::rejudge(&suite, || RecordReader::open(&path), &args.levels.0)
        .map_err(|error| report::wrong(&path, &error))?;
    for said in &rejudged.contradictions {
        say!("the record was edited: {}", text::short(said));
    }
    for change in &rejudged.changed {
        let (before, now) = (change.before.word(), change.now.word());
        say!("{}: {before} -> {now}: {}", text::short(&change.case), text::short(&change.why));
    }
    for (case, why) in &rejudged.not_told {
        say!("{}: could not be rejudged: {}", text::short(case), text::short(why));
    }
    say!(
        "{} verdicts unchanged, {} changed, {} could not be rejudged; {} cases of this version are not in the record",
        rejudged.unchanged + rejudged.drawn,
        rejudged.changed.len(),
        rejudged.not_told.len(),
        rejudged.new
    );
    Ok(if rejudged.is_edited() || !rejudged.changed.is_empty() {
        Exit::Violation
    } else if rejudged.not_told.is_empty() {
        Exit::Conforms
    } else {
        Exit::CouldNotTell
    })
}
