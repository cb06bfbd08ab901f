//! `xs2aspec verify`: verifies a bundle, and reports what it proves.

use std::{path::Path, sync::Arc};

use xs2aspec_evidence::{
    envelope::PublicKey,
    verify::{self, Archive, OpenError, Verified},
};
use xs2aspec_judge::rejudge::{Change, Rejudged};
use xs2aspec_record::{CaseEvents, Entry, Exit};
use xs2aspec_report::{demanded, summary::RunSummary, text};
use xs2aspec_signing::Certificate;

use crate::{
    Failure,
    args::{Source, Verify},
    evidence::program,
    report, text_of,
};

/// Verifies a bundle. The exit code is 1 if it contradicts itself, and 3 if some verdicts could not be
/// rejudged.
pub(crate) fn verify(args: &Verify) -> Result<Exit, Failure> {
    let wrong = |error: OpenError| report::wrong(&args.bundle, &error);
    let archive = Archive::open(&args.bundle).map_err(wrong)?;
    let key = args.key.as_deref().map(trusted).transpose()?;
    let mut verified = verify::verify(&archive, key.as_ref(), &program()?).map_err(wrong)?;
    let summary = verified.summary.take();
    let mut untold = Untold::default();
    if let Some(summary) = summary.as_ref().filter(|_| verified.broken.is_empty()) {
        untold = judged_again(&args.source, &archive, summary, &mut verified)?;
    }
    let Some(summary) = summary.filter(|_| verified.broken.is_empty()) else {
        say!("DO NOT TRUST THIS BUNDLE");
        verified.broken.iter().for_each(|said| say!("- {}", text::harmless(said)));
        return Ok(Exit::Violation);
    };
    let start = summary.start();
    let at = start.address().map(|address| format!(" at {}", text::short(address))).unwrap_or_default();
    let other = summary.of_other_cases(text::short);
    say!("{other}{} against {}{at}", text::short(&start.tool), text::short(&start.target));
    say!("{} (exit {}){untold}", summary.conclusion(), summary.exit().code());
    let [proven, not_proven] = headings(&verified);
    for (heading, said) in
        [("WHAT WAS RUN", &was_run(&summary)), (proven, &verified.proven), (not_proven, &verified.not_proven)]
    {
        say!("{heading}");
        for said in said {
            say!("- {}", text::harmless(said));
        }
    }
    Ok(untold.exit())
}

/// Returns the headings. Only a trusted key proves anything, since anyone can create a key.
fn headings(verified: &Verified) -> [&'static str; 2] {
    if verified.is_trusted { ["PROVEN", "NOT PROVEN"] } else { ["CONSISTENT", "UNKNOWN"] }
}

/// The verdicts that could not be rejudged.
#[derive(Default)]
struct Untold {
    /// Their number.
    verdicts: usize,
    /// The number of all verdicts.
    of: usize,
    /// True if it is known which cases the record must have.
    is_planned: bool,
}

impl Untold {
    fn exit(&self) -> Exit {
        if self.verdicts == 0 && self.is_planned { Exit::Conforms } else { Exit::CouldNotTell }
    }
}

impl std::fmt::Display for Untold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { verdicts, of, is_planned } = self;
        if *verdicts > 0 {
            write!(f, "; {verdicts} of {of} verdicts could not be rejudged")?;
        }
        if *is_planned { Ok(()) } else { f.write_str("; whether the record has all cases is unknown") }
    }
}

/// Reads the trusted key from a public key or a certificate.
fn trusted(path: &Path) -> Result<PublicKey, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
    let text = text_of(path)?;
    match PublicKey::from_pem(&text) {
        Err(_) if text.contains("-----BEGIN CERTIFICATE-----") => {
            let certificate = Certificate::from_pem(&text).map_err(|error| wrong(&error))?;
            Ok(PublicKey::from_der(&certificate.public_key_der().map_err(|error| wrong(&error))?))
        }
        key => key.map_err(|error| wrong(&error)),
    }
}

/// Returns what a reader of the conclusion must know about the run: target, selection and counts.
fn was_run(summary: &RunSummary) -> Vec<String> {
    let start = summary.start();
    let mut said = Vec::new();
    let list = |words: &[String]| words.iter().map(|word| text::short(word)).collect::<Vec<_>>().join(", ");
    if let Some(fault) = &start.fault {
        said.push(format!("the reference bank, with the fault {}", text::short(fault)));
    }
    if !start.variations.is_empty() {
        said.push(format!("the reference bank, with the variation {}", list(&start.variations)));
    }
    if let Some(folder) = &start.other_cases {
        said.push(format!("--cases {}: not the cases of this program", text::short(folder)));
    }
    if let Some(folder) = &start.other_document {
        said.push(format!("--pack {}: not the document of this program", text::short(folder)));
    }
    for (option, patterns) in [("--only", &start.only), ("--skip", &start.skip)] {
        if !patterns.is_empty() {
            said.push(format!("{option} {}", list(patterns)));
        }
    }
    for rule in &start.levels {
        let (level, pattern) = (rule.level.word(), text::short(&rule.pattern));
        said.push(format!("level {level} for {pattern}, by {}", rule.by.words()));
    }
    if let Some(requests) = start.requests {
        said.push(format!(
            "--requests {requests}: only the most effective cases that fit into this number of requests"
        ));
    }
    if start.environment.as_deref() == Some("production") {
        said.push("a production system, to which only requests that read were sent".to_owned());
    }
    if let Some(shard) = &start.shard {
        let planned = start.planned.unwrap_or_default();
        said.push(format!("shard {} of {planned} cases", text::short(shard)));
    }
    if let Some(slow_ms) = summary.finish().and_then(|finish| finish.times.slow_ms) {
        said.push(format!("the profile allows {slow_ms} ms for a response"));
    }
    let counts = summary.totals().counts();
    said.push(format!(
        "depth {}: {} cases ({} flaky, {} not applicable, {} with a warning, {} waived, {} inconclusive, {} with an error)",
        text::short(&start.depth),
        counts.total(),
        counts.flaky,
        counts.not_applicable,
        counts.warn,
        counts.waived,
        counts.inconclusive,
        counts.error
    ));
    said.push(demanded::numbers(summary));
    said.extend(summary.waivers().iter().map(|waiver| format!("waiver: {}", text::short(&waiver.says()))));
    said
}

/// Rejudges the recorded exchanges with the suite at hand, and compares the record with its plan.
fn judged_again(
    source: &Source,
    archive: &Archive,
    summary: &RunSummary,
    verified: &mut Verified,
) -> Result<Untold, Failure> {
    let suite = Arc::new(crate::suite(source)?);
    match xs2aspec_judge::rejudge(&suite, || Ok(archive.record()), &[]) {
        Ok(rejudged) => Ok(told(&rejudged, summary, verified)),
        Err(error) => {
            verified
                .not_proven
                .push(format!("that the verdicts follow from the recorded responses: {error}"));
            let has_verdict = |entry: &Result<Entry, _>| {
                matches!(entry, Ok(Entry::Case(CaseEvents { verdict: Some(_), .. })))
            };
            let of = archive.record().filter(has_verdict).count();
            Ok(Untold { verdicts: of, of, is_planned: false })
        }
    }
}

/// Adds the result of rejudging to what was verified.
fn told(rejudged: &Rejudged, summary: &RunSummary, verified: &mut Verified) -> Untold {
    for Change { case, before, now, why, .. } in rejudged.edited() {
        let (before, now) = (before.word(), now.word());
        verified.broken.push(format!(
            "record.jsonl: the verdict of `{case}` is `{before}`, but its recorded responses give `{now}`: {why}"
        ));
    }
    verified.broken.extend(rejudged.contradictions.iter().map(|said| format!("record.jsonl: {said}")));
    verified.proven.push(format!(
        "the recorded responses, rejudged with this version, give the same verdict in {} cases",
        rejudged.unchanged
    ));
    match &rejudged.planned {
        Ok((selected, controls)) => verified.proven.push(format!(
            "the cases are those that this version of the suite plans at depth {}: {selected}, and {controls} controls",
            text::short(&summary.start().depth)
        )),
        Err(why) => verified.not_proven.push(format!("that the record has all cases of the run: {why}")),
    }
    let open = rejudged.changed.iter().filter(|change| !change.is_edit).map(|change| {
        let (before, now) = (change.before.word(), change.now.word());
        (&change.case, format!("{before} in the record, {now} with this version: {}", change.why))
    });
    let not_told = rejudged.not_told.iter().map(|(case, why)| (case, why.clone()));
    if let Some((case, why)) = open.chain(not_told).next() {
        verified.not_proven.push(format!(
            "{} verdicts that do not follow from the recorded responses alone; the first is that of `{}`: {}",
            rejudged.untold(),
            text::short(case),
            text::short(&why)
        ));
    }
    if rejudged.drawn > 0 {
        verified.not_proven.push(format!(
            "{} verdicts of generated cases, which are defined only in the record itself",
            rejudged.drawn
        ));
    }
    let verdicts = rejudged.untold() + rejudged.drawn;
    Untold {
        verdicts,
        of: rejudged.unchanged + rejudged.changed.len() + verdicts,
        is_planned: rejudged.planned.is_ok(),
    }
}
