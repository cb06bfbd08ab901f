//! `xs2aspec explain`: shows what a clause requires and why, what a case sends, or what a finding is.

mod finding;
mod standards;
mod strength;

use std::{path::Path, sync::Arc};

use xs2aspec_judge::{Identity, Judge, Levels, Profile, fill::WireRequest};
use xs2aspec_prove::snapshot;
use xs2aspec_record::{ClauseLevel, Exit, Header, finding_id::is_prefix};
use xs2aspec_reference::{Fault, Variation};
use xs2aspec_suite::{Case, Clause, Document, Expectation, Strength, Suite, nearest};

use crate::{
    Failure,
    args::{Explain, found},
};

/// The maximum number of cases to list.
const CASES: usize = 10;

/// Explains a clause, a case or a finding.
pub(crate) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let suite = crate::suite(&args.source)?;
    let target = args.target.clone().or_else(found);
    let mut profile = profile(target.as_deref(), &suite)?;
    let suite = Arc::new(crate::with_entries(suite, &profile.values)?);
    profile.levels.extend(args.levels.0.iter().cloned());
    let levels = Levels::new(suite.clauses(), &profile).map_err(Failure::input)?;
    if let Some(clause) = suite.clauses().get(&args.id) {
        explain_clause(&suite, clause, &levels);
    } else if let Some(case) = suite.case(&args.id) {
        let judge = Judge::new(Arc::clone(&suite), profile.for_show(), Identity::random(0));
        let judge = judge.map_err(Failure::input)?;
        explain_case(&suite, case, &judge, target.is_some());
    } else if is_prefix(&args.id) {
        finding::explain(args, &suite, &levels)?;
    } else {
        let ids = suite
            .clauses()
            .keys()
            .map(String::as_str)
            .chain(suite.cases().iter().map(|case| case.id.as_str()));
        let near = nearest(&args.id, ids).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::input(format!("no clause or case has the id `{}`{near}", args.id)));
    }
    Ok(Exit::Conforms)
}

/// Prints the first of several cases, and the number of the others.
fn list(cases: impl Iterator<Item = String>, all: usize) {
    for case in cases.take(CASES) {
        say!("  {case}");
    }
    if all > CASES {
        say!("  and {} more", all - CASES);
    }
}

/// Returns the profile that fills the requests and sets the levels.
fn profile(target: Option<&str>, suite: &Suite) -> Result<Profile, Failure> {
    let spec = &suite.spec().profile;
    let profile = match target {
        None if suite.tree().other_document().is_some() => Profile::of_url("http://127.0.0.1", spec),
        None => Profile::reference("http://127.0.0.1"),
        Some(target) if target.contains("://") => Profile::of_url(target, spec),
        Some(target) => Profile::read(Path::new(target), spec),
    };
    profile.map_err(Failure::input)
}

fn explain_clause(suite: &Suite, clause: &Clause, levels: &Levels) {
    describe(clause, &suite.spec().document, levels);
    let cases: Vec<&Case> = suite.cases().iter().filter(|case| case.clause == clause.id).collect();
    let answers = suite.answers();
    let checked = |name: &&str| answers.clauses_of(name).contains(clause.id.as_str());
    let operations: Vec<&str> = answers.operations().filter(checked).collect();
    if !operations.is_empty() {
        say!("checked    on every response of {}, in each case", operations.join(", "));
    } else if answers.of_every_answer().contains(clause.id.as_str()) {
        say!("checked    on every response, in each case");
    }
    say!("cases      {}", cases.len());
    list(cases.iter().map(|case| format!("{}  {}", case.id, case.expect)), cases.len());
    if cases.len() > CASES {
        say!("  `xs2aspec list {}` lists all", clause.id);
    }
    if suite.tree().other_document().is_none() {
        explain_rows(&clause.id);
    }
}

/// Prints the faults of a clause, each with the case that detects it, and its variations.
fn explain_rows(clause: &str) {
    let (catchers, survivors) = (snapshot::catchers(), snapshot::survivors());
    let faults: Vec<Fault> = Fault::all().filter(|fault| fault.clause() == clause).collect();
    say!("faults     {}", faults.len());
    for fault in faults {
        say!("  {}  {}", fault.name(), fault.says());
        match (catchers.get(fault.name()), survivors.get(fault.name())) {
            (Some(catcher), _) => say!("    {} by {}", catcher.caught.word(), catcher.case),
            (None, Some(why)) => say!("    survives: {why}"),
            (None, None) => say!("    not in the kill matrix yet; run `bash .ci/bless`"),
        }
    }
    let variations: Vec<Variation> = Variation::all().filter(|one| one.clause() == clause).collect();
    say!("variations {}", variations.len());
    for variation in variations {
        say!("  {}  {}", variation.name(), variation.says());
    }
}

fn describe(clause: &Clause, document: &Document, levels: &Levels) {
    say!("clause     {} ({})", clause.id, clause.strength.word());
    say!("says       {}", clause.says);
    say!("document   line {}, {}", clause.line, document.section(clause.line));
    say!("           {}", document.line(clause.line).unwrap_or_default().trim());
    say!("strength   {}", strength::meaning(&clause.strength));
    match &clause.strength {
        Strength::Stated | Strength::Expected => {}
        Strength::Derived(standard) => {
            say!("standard   {standard}");
            if let Some(sentence) = standards::sentence(standard) {
                say!("           {sentence}");
            }
        }
        Strength::Choice(choice) => {
            let how = if choice.expected { "expected unless declared" } else { "usual" };
            say!("choice     {} in [choices] of a profile; {how}: {}", choice.key, choice.default);
        }
        Strength::Observed(why) | Strength::Untestable(why) => say!("because    {why}"),
    }
    let ClauseLevel { level, by } = levels.clause(&clause.id);
    say!("level      {}, by {}", level.word(), by.words());
    for row in &clause.reading {
        say!("reading    {row}: {}", document.reading(*row).unwrap_or_default());
    }
    say!("file       {}:{}", clause.file, clause.file_line);
}

fn explain_case(suite: &Suite, case: &Case, judge: &Judge, masked: bool) {
    say!("case       {}", case.id);
    say!("file       {}:{}", case.file, case.line);
    if let Some(about) = &case.about {
        say!("about      {about}");
    }
    say!("expects    {}", case.expect);
    if let Expectation::Choice(values) = &case.expect {
        for (choice, expectation) in values {
            let usual = match suite.clauses().get(&case.clause).map(|clause| &clause.strength) {
                Some(Strength::Choice(known)) if known.expected && known.default == *choice => {
                    "expected unless another is declared"
                }
                _ => "observed unless declared",
            };
            say!("           {choice}: {expectation}; {usual}");
        }
    }
    match (&case.control, &case.same_as) {
        (Some(control), Some(plain)) if control != plain => {
            say!(
                "same as    {plain}: sends no request; the clause is violated if {plain} is rejected and {control} accepted"
            );
        }
        (_, Some(plain)) => {
            say!("same as    {plain}: sends no request; the response to {plain} is judged for this clause");
        }
        (Some(control), None) => say!("control    {control}, which must be accepted in the same run"),
        (None, None) => {}
    }
    let about = suite.baselines().get(&case.baseline).map_or("", |baseline| baseline.about.as_str());
    say!("baseline   {}: {about}", case.baseline);
    if let Some(row) = case.row_beside() {
        say!(
            "with       optional parts of row {row}: each row is another valid set of them; the control has them, too"
        );
    }
    for change in case.changes() {
        say!("change     {change}");
    }
    if !case.needs.is_empty() {
        say!("needs      {}", case.needs.join(", "));
    }
    say!("");
    if let Some(clause) = suite.clauses().get(&case.clause) {
        describe(clause, &suite.spec().document, judge.levels());
    }
    match judge.preview(case, chrono::Utc::now()) {
        Ok(requests) => {
            for (name, request) in requests {
                say!("\n--- {name}");
                show(&request, judge, masked);
            }
        }
        Err(error) => say!("\ncannot build the request for this target: {error}"),
    }
}

/// Prints a request. For a target of the user, personal data and keys are masked.
fn show(request: &WireRequest, judge: &Judge, masked: bool) {
    if masked {
        let request = judge.masked(request);
        say!("{} {}", request.method, request.url);
        for Header(name, value) in &request.headers {
            say!("{name}: {value}");
        }
        if let Some(body) = &request.body {
            say!("\n{}", body.shown());
        }
        return;
    }
    say!("{} {}", request.method, request.url);
    for (name, value) in &request.headers {
        say!("{name}: {value}");
    }
    if !request.body.is_empty() {
        say!("\n{}", String::from_utf8_lossy(&request.body));
    }
}
