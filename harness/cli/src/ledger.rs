//! `xs2aspec list`, `coverage` and `lint`: the contents of the suite, its coverage, and its authoring rules.

use std::collections::BTreeMap;

use serde_json::json;
use xs2aspec_record::{Exit, Strength};
use xs2aspec_suite::{
    Case, Depth, Problem,
    coverage::{Cover, Coverage},
    lint,
};

use crate::{
    Failure,
    args::{self, List, Source},
};

/// Prints areas, clauses and cases as a tree, or as JSON with the reason for each skipped case.
pub(crate) fn list(args: &List) -> Result<Exit, Failure> {
    let suite = crate::suite(&args.source)?;
    let plan =
        suite.plan(&args.only, &[], args.depth).map_err(|error| Failure::input(error.of_arguments()))?;
    if args.json {
        let cases = plan.selected.iter().map(|case| described(case, None));
        let left_out = plan.left_out.iter().map(|(case, reason)| described(case, Some(reason.as_ref())));
        say!("{:#}", json!({"cases": cases.chain(left_out).collect::<Vec<_>>()}));
        return Ok(Exit::Conforms);
    }
    let mut areas = BTreeMap::<&str, BTreeMap<&str, (Vec<&Case>, usize)>>::new();
    for case in &plan.selected {
        areas.entry(&case.area).or_default().entry(&case.clause).or_default().0.push(case);
    }
    for (case, _) in &plan.left_out {
        areas.entry(&case.area).or_default().entry(&case.clause).or_default().1 += 1;
    }
    for (area, clauses) in &areas {
        say!("{area}");
        for (id, (cases, left_out)) in clauses {
            let left_out =
                if *left_out > 0 { format!(", {left_out} more at other depths") } else { String::new() };
            say!("  {id}  ({}{left_out})", cases.len());
            for case in cases {
                say!("    {}  {}", case.id, case.expect);
            }
        }
    }
    say!(
        "{} cases at depth {}, {} of them share the response to a baseline request; {} skipped",
        plan.selected.len(),
        args.depth.word(),
        plan.said_by_name(),
        plan.left_out.len()
    );
    Ok(Exit::Conforms)
}

fn described(case: &Case, left_out: Option<&str>) -> serde_json::Value {
    json!({
        "id": case.id,
        "clause": case.clause,
        "area": case.area,
        "operation": case.operation(),
        "file": case.file,
        "line": case.line,
        "baseline": case.baseline,
        "changes": case.changes(),
        "control": case.control,
        "sameAs": case.same_as,
        "expect": case.expect.to_string(),
        "needs": case.needs,
        "leftOut": left_out,
    })
}

/// Prints the coverage of each statement of the document, by section. The exit code is 1 if a statement is
/// not covered.
pub(crate) fn coverage(args: &args::Coverage) -> Result<Exit, Failure> {
    let suite = crate::suite(&args.source)?;
    if args.matrix || args.page.is_some() {
        return crate::matrix::draw(&suite, args.json, args.page.as_deref());
    }
    let coverage = Coverage::of(&suite);
    let exit = if coverage.is_complete() { Exit::Conforms } else { Exit::Violation };
    if args.json {
        say!("{:#}", serde_json::to_value(&coverage).map_err(Failure::input)?);
        return Ok(exit);
    }
    let mut totals = BTreeMap::<(usize, &str), BTreeMap<&str, usize>>::new();
    for (section, statements) in &coverage.sections {
        say!("{}", if section.is_empty() { "(before the first section)" } else { section });
        for statement in statements {
            let why = match &statement.cover {
                Cover::NeverAsked { why } | Cover::Untestable { why } => format!(": {why}"),
                _ => String::new(),
            };
            say!(
                "  L{:<4} {:<10} {}: {}\n        {}{why}",
                statement.line,
                statement.strength,
                statement.clause,
                statement.says,
                statement.cover.words()
            );
            *totals
                .entry((rank(statement.strength), statement.strength))
                .or_default()
                .entry(kind(&statement.cover))
                .or_default() += 1;
        }
    }
    say!("");
    for ((_, strength), kinds) in &totals {
        let all: usize = kinds.values().sum();
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        say!("{all:>5} {strength}: {}", kinds.join(", "));
    }
    let demanded = coverage.demanded().count();
    let open = coverage.demanded().filter(|statement| statement.cover == Cover::ToDo).count();
    say!(
        "{demanded:>5} required, {} of them covered by a case or a check of responses ({:.1} %)",
        demanded - open,
        percent(demanded - open, demanded)
    );
    for statement in coverage.to_do() {
        say!("not covered: {} ({}): {}", statement.clause, statement.strength, statement.says);
    }
    for line in &coverage.lines_without_clause {
        say!("no clause quotes L{line}");
    }
    Ok(exit)
}

fn kind(cover: &Cover) -> &'static str {
    match cover {
        Cover::Cases { .. } => "tested by cases",
        Cover::EveryAnswer => "checked on every response",
        Cover::Profile => "decided by the profile",
        Cover::NeverAsked { .. } => "never tested",
        Cover::Untestable { .. } => "untestable",
        Cover::ToDo => "not covered",
    }
}

/// Returns the position of a strength, starting with the firmest.
fn rank(strength: &str) -> usize {
    Strength::ALL.into_iter().position(|known| known.word() == strength).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred statements")]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Prints the violations of the authoring rules. The exit code is 2 if there are any.
pub(crate) fn lint(args: &Source) -> Result<Exit, Failure> {
    let suite = crate::suite(args)?;
    let mut problems = lint::lint(&suite);
    // Faults and variations are rows for the reference bank, which implements the embedded document only.
    if suite.tree().other_document().is_none() {
        let rows = xs2aspec_reference::lint_rows(suite.tree(), &|id| suite.clauses().contains_key(id));
        let shown = |problem: Problem| Problem { file: suite.tree().shown(&problem.file), ..problem };
        problems.extend(rows.into_iter().map(shown));
    }
    if problems.is_empty() {
        let [quick, standard, exhaustive] = [Depth::Quick, Depth::Standard, Depth::Exhaustive]
            .map(|depth| suite.plan(&[], &[], depth).map_or(0, |plan| plan.selected.len()));
        let by_name = suite.cases().iter().filter(|case| case.same_as.is_some()).count();
        say!(
            "{} clauses; {quick} cases at depth quick, {standard} standard, {exhaustive} exhaustive, {by_name} of them share the response to a baseline request: no violations of the authoring rules",
            suite.clauses().len()
        );
        return Ok(Exit::Conforms);
    }
    for problem in &problems {
        note!("{problem}");
    }
    Err(Failure::input(format!(
        "{} of the authoring rules",
        match problems.len() {
            1 => "1 violation".to_owned(),
            number => format!("{number} violations"),
        }
    )))
}
