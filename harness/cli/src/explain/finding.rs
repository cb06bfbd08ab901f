//! `xs2aspec explain FINDING`: a finding of an earlier run, with its request and its response.

use xs2aspec_judge::Levels;
use xs2aspec_record::{CaseEvents, Exchange, Header, finding_id::printed};
use xs2aspec_report::{findings::Found, shell, text};
use xs2aspec_suite::Suite;

use super::describe;
use crate::{
    Failure,
    args::{Explain, LATEST},
    finding::Earlier,
};

/// The maximum number of characters of a body to print.
const BODY: usize = 20_000;

/// Explains a finding of an earlier run.
pub(super) fn explain(args: &Explain, suite: &Suite, levels: &Levels) -> Result<(), Failure> {
    let earlier = Earlier::open(&args.run)?;
    let found = earlier.found(&args.id)?;
    let (cases, witness) = earlier.cases(found)?;
    let count = text::count(cases.len(), "case");
    say!("finding    {}: {}, {count}, in {}", found.id, found.level().word(), args.run.display());
    if let Some(clause) = suite.clauses().get(&found.clause) {
        describe(clause, &suite.spec().document, levels);
    } else {
        say!("clause     {}: not in this suite", text::harmless(&found.clause));
    }
    say!("found      {}", text::short(&found.root.mismatch));
    for change in &found.root.changes {
        say!("sent       {}", text::short(change));
    }
    for line in found.root.culprit.iter().chain(&found.sequence) {
        say!("because    {}", text::short(line));
    }
    let others = found.other_clauses();
    if !others.is_empty() {
        say!("also       {}", others.into_iter().map(text::harmless).collect::<Vec<_>>().join(", "));
    }
    if let Some(witness) = witness {
        exchanged(found, &witness);
    }
    say!("\ncases      {}", cases.len());
    super::list(cases.iter().map(|case| text::harmless(case)), cases.len());
    next(&earlier, args, found);
    Ok(())
}

/// Prints the judged request of the smallest witness, its response, and the accepted control.
fn exchanged(found: &Found, case: &CaseEvents) {
    if let Some(control) = case.verdict.as_ref().and_then(|verdict| verdict.control.as_ref()) {
        let word = if control.accepted { "accepted" } else { "not accepted" };
        say!("control    {}: {word}", text::harmless(&control.case));
    }
    let judged = case.exchanges.iter().find(|exchange| Some(exchange.number) == found.root.request);
    let Some(exchange) = judged else {
        return say!("\nno request was sent for {}", text::harmless(&case.case));
    };
    say!("\n--- request {} of {}", exchange.number, text::harmless(&case.case));
    request(exchange);
    say!("\n--- response, after {}", text::duration(exchange.micros));
    response(exchange);
}

fn request(exchange: &Exchange) {
    let request = &exchange.request;
    say!("{} {}", text::harmless(&request.method), text::harmless(&request.url));
    headers(&request.headers);
    if let Some(body) = &request.body {
        say!("\n{}", whole(&body.shown()));
    }
}

fn response(exchange: &Exchange) {
    let Some(response) = &exchange.response else {
        say!("none: {}", text::harmless(exchange.failure.as_deref().unwrap_or("the connection ended")));
        return;
    };
    say!("{}", response.status);
    headers(&response.headers);
    match &response.body {
        Some(body) => say!("\n{}", whole(&body.shown())),
        None => say!("\n(no body)"),
    }
}

/// Returns a recorded body, or the start of a long one.
fn whole(body: &str) -> String {
    match body.char_indices().nth(BODY) {
        Some((end, _)) => format!("{}\n({} characters more)", &body[..end], body[end..].chars().count()),
        None => body.to_owned(),
    }
}

fn headers(headers: &[Header]) {
    for Header(name, value) in headers {
        say!("{}: {}", text::harmless(name), text::harmless(value));
    }
}

/// Prints the commands to run next.
fn next(earlier: &Earlier<'_>, args: &Explain, found: &Found) {
    let id = printed(&found.id);
    let run = if args.run.as_os_str() == LATEST {
        String::new()
    } else {
        format!(" --run {}", shell::quoted(&args.run.display().to_string()))
    };
    let target = earlier.target_option();
    say!("\ncurl       xs2aspec curl {id}{run}{target}");
    say!("again      xs2aspec run --only {id}{run}{target}");
    say!("waive      xs2aspec waive {id}{run} --reason '...' --ticket '...'");
}
