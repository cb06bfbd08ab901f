//! `xs2aspec rejudge`: the recorded answers of a run, judged by this version.

use std::sync::Arc;

use xs2aspec_record::{Exit, RecordReader};
use xs2aspec_report::text;

use crate::{Failure, args::Rejudge, report};

/// Says which verdicts would be others. The exit code is 1 if any would, or if the record was edited, and 3
/// if some cannot be told.
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
        say!("{}: not judged again: {}", text::short(case), text::short(why));
    }
    say!(
        "{} verdicts are the same, {} would be others, {} cannot be told; {} cases of this version are not in the record",
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
