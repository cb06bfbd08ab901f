//! `xs2aspec bundle` and `xs2aspec verify`: a run as signed evidence, and what of it can be believed.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use xs2aspec_evidence::{
    bundle::{self, Program},
    envelope::{PublicKey, SigningKey},
    verify::{self, Archive, OpenError, Verified},
};
use xs2aspec_record::{
    Entry, Exit, Role, RunStarted, Verdict,
    digest::measured,
    outputs::{self, Output},
};
use xs2aspec_report::{demanded, summary::RunSummary, text};
use xs2aspec_runner::rejudge::{Change, Rejudged};
use xs2aspec_signing::{Certificate, material};
use xs2aspec_suite::{Depth, Suite};

use crate::{
    Failure,
    args::{Bundle, Source, Verify},
    report::{self, cannot_write},
};

/// Makes the bundle of a run.
pub(crate) fn bundle(args: &Bundle) -> Result<Exit, Failure> {
    let path = args.folder.join(bundle::RECORD);
    report::open(&path)?;
    let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", args.key.display()));
    let passphrase = match (&args.passphrase_env, &args.passphrase_file) {
        (Some(name), _) => {
            Some(std::env::var(name).map_err(|error| Failure::input(format!("{name}: {error}")))?)
        }
        (_, Some(file)) => Some(text_of(file)?.trim_end_matches(['\r', '\n']).to_owned()),
        _ => None,
    };
    let key =
        material::unlocked(&text_of(&args.key)?, passphrase.as_deref()).map_err(|error| match error {
            material::MaterialError::PassphraseMissing => {
                wrong(&"the key has a passphrase: say it with --passphrase-env or --passphrase-file")
            }
            error => wrong(&error),
        })?;
    let key = SigningKey::from_pem(&key).map_err(|error| wrong(&error))?;
    let out = args.out.clone().unwrap_or_else(|| args.folder.join("evidence.tar"));
    let reads: Vec<&Path> =
        [path.as_path(), &args.key].into_iter().chain(args.passphrase_file.as_deref()).collect();
    outputs::may_write(&out, &reads).map_err(Failure::input)?;
    let mut output = Output::create(&out).map_err(|error| cannot_write(&out, &error))?;
    let length = bundle::bundle(&path, &program()?, &key, &mut output)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    output.finish().map_err(|error| cannot_write(&out, &error))?;
    let id = key.public().map_err(|error| wrong(&error))?.id();
    say!("{}: {length} bytes, signed by the key {id}", out.display());
    Ok(Exit::Conforms)
}

/// Says what of a bundle can be believed.
pub(crate) async fn verify(args: &Verify) -> Result<Exit, Failure> {
    let wrong = |error: OpenError| report::wrong(&args.bundle, &error);
    let archive = Archive::open(&args.bundle).map_err(wrong)?;
    let key = args.key.as_deref().map(trusted).transpose()?;
    let mut verified = verify::verify(&archive, key.as_ref(), &program()?).map_err(wrong)?;
    let summary = verified.summary.take();
    if let Some(summary) = summary.as_ref().filter(|_| verified.broken.is_empty()) {
        against_the_suite(&args.source, &archive, summary, &mut verified).await?;
    }
    if !verified.broken.is_empty() {
        say!("NOTHING IN THIS BUNDLE CAN BE BELIEVED");
        verified.broken.iter().for_each(|said| say!("- {}", text::harmless(said)));
        return Ok(Exit::Violation);
    }
    let Some(summary) = summary else { return Ok(Exit::Violation) };
    let start = summary.start();
    let at = start.address().map(|address| format!(" at {}", text::short(address))).unwrap_or_default();
    let other = summary.of_other_cases(text::short);
    say!("{other}{} against {}{at}", text::short(&start.tool), text::short(&start.target));
    say!("{} (exit {})", summary.conclusion(), summary.exit().code());
    for (heading, said) in [
        ("WHAT WAS RUN", &was_run(&summary)),
        ("PROVEN", &verified.proven),
        ("NOT PROVEN", &verified.not_proven),
    ] {
        say!("{heading}");
        for said in said {
            say!("- {}", text::harmless(said));
        }
    }
    Ok(Exit::Conforms)
}

/// The key of whom somebody trusts: a public key, or that of a certificate.
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

/// What was asked of whom, and what was not: what a reader of the conclusion must know.
fn was_run(summary: &RunSummary) -> Vec<String> {
    let start = summary.start();
    let mut said = Vec::new();
    let list = |words: &[String]| words.iter().map(|word| text::short(word)).collect::<Vec<_>>().join(", ");
    if let Some(fault) = &start.fault {
        said.push(format!("the built-in bank, with the fault {}", text::short(fault)));
    }
    if !start.variations.is_empty() {
        said.push(format!("the built-in bank, with the variation {}", list(&start.variations)));
    }
    if let Some(folder) = &start.other_cases {
        said.push(format!("--cases {}: no cases of this program", text::short(folder)));
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
    if let Some(shard) = &start.shard {
        let planned = start.planned.unwrap_or_default();
        said.push(format!("shard {} of {planned} cases", text::short(shard)));
    }
    let counts = summary.totals().counts();
    said.push(format!(
        "depth {}: {} cases, of which {} not applicable, {} with a warning, {} waived, {} inconclusive, {} with an error",
        text::short(&start.depth),
        counts.total(),
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

/// Holds the record against the suite at hand: whether it has all cases, and whether its answers come to its
/// verdicts.
async fn against_the_suite(
    source: &Source,
    archive: &Archive,
    summary: &RunSummary,
    verified: &mut Verified,
) -> Result<(), Failure> {
    let suite = crate::suite(source)?;
    let suite = match summary.profile() {
        Some(profile) => crate::with_entries(suite, &profile.values)?,
        None => suite,
    };
    let suite = Arc::new(suite);
    match complete(&suite, archive, summary)? {
        Complete::Whole(said) => verified.proven.push(said),
        Complete::Drawn(said) => verified.not_proven.push(said),
        Complete::OtherSuite(said) => {
            verified.not_proven.push(said);
            verified.not_proven.push(
                "that the verdicts follow from the recorded answers: only the cases that judged them can judge them again"
                    .to_owned(),
            );
            return Ok(());
        }
        Complete::Lacks(said) => {
            verified.broken.extend(said);
            return Ok(());
        }
    }
    match xs2aspec_runner::rejudge(suite, || archive.record(), &[]).await {
        Ok(rejudged) => judged_again(&rejudged, summary.complete(), verified),
        Err(error) => {
            let said = format!("that the verdicts follow from the recorded answers: {error}");
            verified.not_proven.push(said);
        }
    }
    Ok(())
}

/// Says which verdicts follow from the recorded answers.
fn judged_again(rejudged: &Rejudged, is_complete: bool, verified: &mut Verified) {
    let is_told = |word: Verdict| !matches!(word, Verdict::Inconclusive | Verdict::Error);
    // What the run could not tell hung on more than these answers, and a run that broke off lacks answers.
    let (edited, open): (Vec<&Change>, Vec<&Change>) = rejudged.changed.iter().partition(|change| {
        rejudged.is_own && is_told(change.before) && (is_complete || is_told(change.now))
    });
    for Change { case, before, now, why } in edited {
        let (before, now) = (before.word(), now.word());
        verified.broken.push(format!(
            "record.jsonl: the verdict of `{case}` is `{before}`, and its recorded answers come to `{now}`: {why}"
        ));
    }
    verified.proven.push(format!(
        "the recorded answers, judged again by this version, come to the same verdict in {} cases",
        rejudged.unchanged
    ));
    let open = open.iter().map(|change| {
        let (before, now) = (change.before.word(), change.now.word());
        (&change.case, format!("{before} in the record, {now} by this version: {}", change.why))
    });
    let open: Vec<_> = open.chain(rejudged.not_told.iter().map(|(case, why)| (case, why.clone()))).collect();
    if let Some((case, why)) = open.first() {
        verified.not_proven.push(format!(
            "the verdicts of {} cases, which the recorded answers alone do not tell; the first is `{}`: {}",
            open.len(),
            text::short(case),
            text::short(why)
        ));
    }
}

/// Whether a record has every statement of the ledger and every case that was asked for.
enum Complete {
    Whole(String),
    /// Its cases are not those of the suite.
    Drawn(String),
    OtherSuite(String),
    Lacks(Vec<String>),
}

fn complete(suite: &Suite, archive: &Archive, summary: &RunSummary) -> Result<Complete, Failure> {
    let start = summary.start();
    if start.suite_sha256 != suite.tree().sha256() {
        return Ok(Complete::OtherSuite(format!(
            "that all cases of the suite were asked: the run was made with the suite {}, and this version has {}",
            start.suite_sha256,
            suite.tree().sha256()
        )));
    }
    let mut lacks = Vec::new();
    let told: BTreeSet<&str> = summary.clauses().map(|clause| clause.id.as_str()).collect();
    let clauses = suite.clauses().keys().filter(|id| !told.contains(id.as_str()));
    lacks.extend(clauses.map(|id| format!("record.jsonl: the clause `{id}` of the ledger is missing")));
    if start.drawn && lacks.is_empty() {
        return Ok(Complete::Drawn(format!(
            "that the seed {} draws these cases and no others: the record carries them as case files",
            start.seed
        )));
    }
    let mut has_verdict = BTreeSet::new();
    let mut controls = 0;
    for entry in archive.record().map_err(Failure::input)? {
        let Entry::Case(case) = entry.map_err(Failure::input)? else { continue };
        match case.verdict {
            Some(verdict) if verdict.role == Role::Selected => drop(has_verdict.insert(case.case)),
            Some(_) => controls += 1,
            None => {}
        }
    }
    let planned = planned(suite, start)?;
    if summary.complete() {
        let missing = planned.iter().filter(|id| !has_verdict.contains(*id));
        lacks.extend(missing.map(|id| format!("record.jsonl: the case `{id}` has no verdict")));
        let more = has_verdict.iter().filter(|id| !planned.contains(*id));
        lacks.extend(more.map(|id| format!("record.jsonl: the case `{id}` was not asked for")));
    }
    if !lacks.is_empty() {
        return Ok(Complete::Lacks(lacks));
    }
    Ok(Complete::Whole(format!(
        "the record has all {} statements of the totals, and the cases are those of this version of the suite at depth {}: {} of {}, and {controls} \
         more as controls",
        told.len(),
        start.depth,
        planned.len(),
        suite.cases().len()
    )))
}

/// The cases that a run was asked for.
fn planned(suite: &Suite, start: &RunStarted) -> Result<BTreeSet<String>, Failure> {
    let depths = [Depth::Quick, Depth::Standard, Depth::Exhaustive];
    let depth = depths.into_iter().find(|depth| depth.word() == start.depth).unwrap_or(Depth::Exhaustive);
    let mut plan = suite.plan(&start.only, &start.skip, depth).map_err(Failure::input)?;
    if let Some(requests) = start.requests {
        plan = suite.within(&plan, requests).map_err(Failure::input)?.0;
    }
    if let Some(shard) = start.shard.as_deref().and_then(|shard| shard.parse().ok()) {
        plan = suite.shard(&plan, shard);
    }
    Ok(plan.selected.iter().map(|case| case.id.clone()).collect())
}

/// This program.
fn program() -> Result<Program, Failure> {
    let wrong = |error: std::io::Error| Failure::input(format!("the program cannot read itself: {error}"));
    let mut file = std::env::current_exe().and_then(fs::File::open).map_err(wrong)?;
    let (_, sha256) = measured(&mut file).map_err(wrong)?;
    let name = format!("xs2aspec {}", env!("CARGO_PKG_VERSION"));
    Ok(Program { name, sha256 })
}

fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))
}
