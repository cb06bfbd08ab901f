//! `xs2aspec bundle` and `xs2aspec verify`: a run as signed evidence, and what of it can be believed.

use std::{collections::BTreeSet, fs, path::Path};

use xs2aspec_record::{Event, Exit, Role, RunStarted};
use xs2aspec_report::{
    Run as Shown,
    bundle::{self as archive, Program},
    envelope::{PublicKey, SigningKey},
    text, verify as verifying,
};
use xs2aspec_signing::material;
use xs2aspec_suite::{Depth, Suite};

use crate::{
    Failure,
    args::{Bundle, Verify},
    report,
};

/// Makes the bundle of a run.
pub(crate) fn bundle(args: &Bundle) -> Result<Exit, Failure> {
    let path = args.folder.join(archive::RECORD);
    let record = text_of(&path)?;
    let events = report::events(&path)?;
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
    let bytes = archive::bundle(&record, &events, &program()?, &key)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    let out = args.out.clone().unwrap_or_else(|| args.folder.join("evidence.tar"));
    report::write(&out, &bytes)?;
    let id = key.public().map_err(|error| wrong(&error))?.id();
    say!("{}: {} bytes, signed by the key {id}", out.display(), bytes.len());
    Ok(Exit::Conforms)
}

/// Says what of a bundle can be believed.
pub(crate) fn verify(args: &Verify) -> Result<Exit, Failure> {
    let bytes = fs::read(&args.bundle)
        .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", args.bundle.display())))?;
    let key = args.key.as_deref().map(|path| {
        let key = PublicKey::from_pem(&text_of(path)?);
        key.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
    });
    let mut verified = verifying::verify(&bytes, key.transpose()?.as_ref(), &name());
    if verified.broken.is_empty() {
        let events = std::mem::take(&mut verified.events);
        match complete(&events)? {
            Complete::Whole(said) => verified.proven.push(said),
            Complete::OtherSuite(said) => verified.not_proven.push(said),
            Complete::Lacks(said) => verified.broken.extend(said),
        }
        verified.events = events;
    }
    if !verified.broken.is_empty() {
        say!("NOTHING IN THIS BUNDLE CAN BE BELIEVED");
        verified.broken.iter().for_each(|said| say!("- {}", text::harmless(said)));
        return Ok(Exit::Violation);
    }
    let run = Shown::of(&verified.events).map_err(Failure::input)?;
    let start = run.head().start();
    let at = start.address().map(|address| format!(" at {}", text::short(address))).unwrap_or_default();
    say!("{} against {}{at}", text::short(&start.tool), text::short(&start.target));
    say!("{} (exit {})", run.head().conclusion(), run.head().exit().code());
    say!("PROVEN");
    verified.proven.iter().for_each(|said| say!("- {said}"));
    say!("NOT PROVEN");
    verified.not_proven.iter().for_each(|said| say!("- {said}"));
    Ok(Exit::Conforms)
}

/// Whether a record has every statement of the ledger and every case that was asked for.
enum Complete {
    Whole(String),
    OtherSuite(String),
    Lacks(Vec<String>),
}

fn complete(events: &[Event]) -> Result<Complete, Failure> {
    let suite = crate::suite(None)?;
    let run = Shown::of(events).map_err(Failure::input)?;
    let start = run.head().start();
    if start.suite_sha256 != suite.tree().sha256() {
        return Ok(Complete::OtherSuite(format!(
            "that all cases of the suite were asked: the run was made with the suite {}, and this version has {}",
            start.suite_sha256,
            suite.tree().sha256()
        )));
    }
    let mut lacks = Vec::new();
    let told: BTreeSet<&str> = run.head().clauses().map(|clause| clause.id.as_str()).collect();
    let clauses = suite.clauses().keys().filter(|id| !told.contains(id.as_str()));
    lacks.extend(clauses.map(|id| format!("record.jsonl: the clause `{id}` of the ledger is missing")));
    let has_verdict: BTreeSet<&str> = run.selected().map(|verdict| verdict.case.as_str()).collect();
    let planned = planned(&suite, start)?;
    if run.head().complete() {
        let missing = planned.iter().filter(|id| !has_verdict.contains(id.as_str()));
        lacks.extend(missing.map(|id| format!("record.jsonl: the case `{id}` has no verdict")));
        let more = has_verdict.iter().filter(|id| !planned.contains(**id));
        lacks.extend(more.map(|id| format!("record.jsonl: the case `{id}` was not asked for")));
    }
    if !lacks.is_empty() {
        return Ok(Complete::Lacks(lacks));
    }
    let controls = run.verdicts().filter(|verdict| verdict.role == Role::Control).count();
    Ok(Complete::Whole(format!(
        "the record has all {} statements of the ledger, and the cases are those of this version of the suite at depth {}: {} of {}, and {controls} \
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
    if let Some(shard) = start.shard.as_deref().and_then(|shard| shard.parse().ok()) {
        plan = suite.shard(&plan, shard);
    }
    Ok(plan.selected.iter().map(|case| case.id.clone()).collect())
}

fn name() -> String {
    format!("xs2aspec {}", env!("CARGO_PKG_VERSION"))
}

/// This program.
fn program() -> Result<Program, Failure> {
    let wrong = |error: std::io::Error| Failure::input(format!("the program cannot read itself: {error}"));
    let bytes = std::env::current_exe().and_then(fs::read).map_err(wrong)?;
    Ok(Program { name: name(), sha256: archive::sha256(&bytes) })
}

fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))
}
