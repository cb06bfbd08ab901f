//! `xs2aspec client`: the checklist for clients, and the items that a client has shown.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use xs2aspec_judge::{
    Levels, Profile,
    client::{
        Broken, Item, Part, Plan, Recorded, State, Statement, Ticked, Watch, broken,
        report::{Report, place_of_the_plan},
        tick,
    },
};
use xs2aspec_record::{Event, Exchange, Exit, Level, LevelRule, Reason, Traffic};
use xs2aspec_report::text;
use xs2aspec_suite::{Suite, nearest};

use crate::{
    Failure,
    args::{ClientReport, Source},
    recording::Recording,
    repetition, report,
};

/// The target of a profile that is used only for its levels.
const ANYBODY: &str = "http://127.0.0.1";

/// Prints the plan.
pub(crate) fn checklist(source: &Source) -> Result<Exit, Failure> {
    let plan = load(&crate::suite(source)?)?;
    for item in &plan.items {
        let need = if item.is_optional { " (optional)" } else { "" };
        say!("{:<42} {}{need}", item.id, item.says);
        let others = plan.items.iter().filter(|other| other.one_of.is_some() && other.one_of == item.one_of);
        let others: Vec<&str> = others.map(|other| other.id.as_str()).filter(|id| *id != item.id).collect();
        if !others.is_empty() {
            say!("{:<42}   or else {}", "", others.join(", "));
        }
        if let Some(meet) = &item.meet {
            say!("{:<42}   with `xs2aspec serve --record DIR {meet}`", "");
        }
    }
    say!("\nparts that `client report --without NAME` can skip:");
    for part in &plan.parts {
        say!("  {:<14} a client that {}: {}", part.name, part.says, part.items.join(", "));
    }
    let optional = plan.items.iter().filter(|item| item.is_optional).count();
    say!("\n{} required items, {optional} optional items", plan.items.len() - optional);
    Ok(Exit::Conforms)
}

fn load(suite: &Suite) -> Result<Plan, Failure> {
    let plan = Plan::load(suite.tree()).map_err(Failure::input)?;
    plan.ok_or_else(|| {
        let file = place_of_the_plan(suite.tree());
        Failure::input(format!("{file} does not exist: this document has no plan for clients"))
    })
}

/// Checks the plan against the records of a client, and writes the reports.
pub(crate) fn report(args: &ClientReport) -> Result<Exit, Failure> {
    let suite = crate::suite(&args.source)?;
    let plan = load(&suite)?;
    let absent = absent(&plan, &args.without)?;
    let levels = &args.levels.0;
    check(levels, &suite)?;
    let paths: Vec<PathBuf> = args.records.iter().map(|path| report::record(path)).collect();
    let records: Vec<Recorded> =
        paths.iter().map(|path| recorded(path, &plan, levels, &suite)).collect::<Result<_, _>>()?;
    are_others(&records, &paths)?;
    let ticked = tick(&plan, &records, &absent);
    let exchanges = witnesses(&paths, &ticked)?;
    let names: Vec<String> = args.records.iter().map(|path| path.display().to_string()).collect();
    let file = place_of_the_plan(suite.tree());
    let text = suite.tree().text(xs2aspec_judge::client::plan::FILE).unwrap_or_default();
    let report = Report {
        ticked: &ticked,
        records: &records,
        names: &names,
        exchanges: &exchanges,
        levels,
        plan: (&file, text),
    };
    let reads: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let mut recording = Recording::create(&args.out, &reads)?;
    let (events, exit) = report.events(arguments(args, &names));
    for event in &events {
        recording.write(event);
    }
    recording.finish()?;
    say_all(&report, &plan);
    say!("\n{}", Statement::of(&ticked, &records));
    say!("reports in {}", args.out.display());
    Ok(exit)
}

/// Returns the arguments that repeat the command.
fn arguments(args: &ClientReport, names: &[String]) -> Vec<String> {
    let without = args.without.iter().flat_map(|name| ["--without".to_owned(), name.clone()]);
    let mut arguments: Vec<String> = names.iter().cloned().chain(without).collect();
    arguments.extend(args.levels.arguments());
    arguments.extend(args.source.arguments());
    arguments.extend(repetition::out(&args.out));
    arguments
}

/// Returns the parts that the client does not need.
fn absent<'a>(plan: &'a Plan, names: &[String]) -> Result<Vec<&'a Part>, Failure> {
    plan.parts(names).map_err(|unknown| {
        let known = || plan.parts.iter().map(|part| part.name.as_str());
        let near = nearest(unknown, known()).map(|near| format!("; did you mean `{near}`?"));
        let all = || format!("; expected one of {}", known().collect::<Vec<_>>().join(", "));
        let help = near.unwrap_or_else(all);
        Failure::input(format!("--without `{unknown}`: the plan has no such part{help}"))
    })
}

/// Returns an error if a level matches no clause.
fn check(levels: &[LevelRule], suite: &Suite) -> Result<(), Failure> {
    let profile = Profile::of_url(ANYBODY, &suite.spec().profile).map_err(Failure::input)?;
    let profile = Profile { levels: levels.to_vec(), ..profile };
    Levels::new(suite.clauses(), &profile).map(drop).map_err(Failure::input)
}

/// Reads a record as a stream, since it may not fit into memory.
fn recorded(path: &Path, plan: &Plan, levels: &[LevelRule], suite: &Suite) -> Result<Recorded, Failure> {
    let mut watch = Watch::new(plan, suite.answers(), levels);
    read(path, |event| watch.add(event)).map_err(|error| {
        let is_record = path.extension().is_some_and(|extension| extension == "jsonl");
        let help = format!("if it is an archive, run `xs2aspec judge {} --out DIR` first", path.display());
        if is_record { error } else { Failure::input(format!("{}; {help}", error.message)) }
    })?;
    let recorded = watch.finish();
    if recorded.start.document_sha256 != suite.spec().document.sha256() {
        return Err(report::wrong(
            path,
            &"this record is of another document; name the folder of that document with --pack",
        ));
    }
    match recorded.start.traffic {
        Some(Traffic::Serve | Traffic::Proxy | Traffic::Judge) => Ok(recorded),
        Some(Traffic::ClientReport) | None => Err(report::wrong(
            path,
            &"this record has no traffic of a client; name a record of `serve --record`, `proxy` or `judge`",
        )),
    }
}

/// Returns an error if a record is given twice, since all its requests would count as repeated.
fn are_others(records: &[Recorded], paths: &[PathBuf]) -> Result<(), Failure> {
    let mut known = BTreeMap::new();
    for (record, path) in records.iter().zip(paths) {
        let first = known.insert(&record.start.run_id, path);
        if let Some(first) = first.filter(|_| !record.start.run_id.is_empty()) {
            return Err(report::wrong(path, &format!("this is the same record as {}", first.display())));
        }
    }
    Ok(())
}

/// Passes each event of a record to `take`.
fn read(path: &Path, mut take: impl FnMut(Event)) -> Result<(), Failure> {
    for event in report::open(path)?.events() {
        take(event.map_err(|error| report::wrong(path, &error))?);
    }
    Ok(())
}

/// Returns the exchanges that show or violate an item, by record and number.
fn witnesses(paths: &[PathBuf], ticked: &[Ticked<'_>]) -> Result<BTreeMap<(usize, u64), Exchange>, Failure> {
    let breaks = ticked.iter().flat_map(|one| &one.broken).map(|one| (one.record, one.exchange()));
    let wanted: BTreeSet<(usize, u64)> = ticked.iter().filter_map(Ticked::exchange).chain(breaks).collect();
    let mut found = BTreeMap::new();
    for (record, path) in paths.iter().enumerate() {
        read(path, |event| {
            if let Event::Exchange(exchange) = event
                && wanted.contains(&(record, exchange.number))
            {
                found.insert((record, exchange.number), exchange);
            }
        })?;
    }
    Ok(found)
}

/// Prints violations, then items that are not shown, then a few lines about the rest.
fn say_all(report: &Report<'_>, plan: &Plan) {
    for one in broken(report.ticked) {
        say_broken(&one, report, plan);
    }
    for ticked in report.ticked {
        if let State::Broken(_, breach) = &ticked.state
            && ticked.broken.is_empty()
        {
            say!("violated: {}", ticked.item.id);
            say_witness(report, ticked.exchange());
            say!("   | {}", text::short(&breach.to_string()));
            say!("   | {}\n", ticked.item.says);
        }
    }
    let required = || report.ticked.iter().filter(|one| !one.item.is_optional);
    let mut not_shown: BTreeMap<&str, Vec<&Ticked<'_>>> = BTreeMap::new();
    for one in required().filter(|one| matches!(one.state, State::NotShown { .. })) {
        not_shown.entry(one.item.meet.as_deref().unwrap_or_default()).or_default().push(one);
    }
    for (meet, items) in not_shown {
        let with = if meet.is_empty() {
            String::new()
        } else {
            format!(", with `xs2aspec serve --record DIR {meet}`")
        };
        say!("not shown{with}:");
        for one in items {
            say_item(one.item, one.item.says.as_str());
            if let Some(met) = one.exchange() {
                say!("  {:<24} {} met it, but no later exchange shows it", "", report.named(met));
            }
        }
    }
    let unknown: Vec<_> = required().filter(|one| one.state == State::Unknown).collect();
    if !unknown.is_empty() {
        say!("unknown, since the record masks or cuts off what would show it:");
        for one in unknown {
            say_item(one.item, &one.item.says);
        }
    }
    let skipped: Vec<_> = required().filter(|one| matches!(one.state, State::Skipped(_))).collect();
    if !skipped.is_empty() {
        say!("skipped:");
        for one in skipped {
            say_item(one.item, &why_skipped(&one.state));
        }
    }
    for (is_optional, words) in [(false, "shown"), (true, "shown, optional")] {
        let shown = report.ticked.iter().filter(|one| one.item.is_optional == is_optional);
        let shown = shown.filter(|one| matches!(one.state, State::Shown(_)));
        let mark = |one: &Ticked<'_>| if one.is_warned() { " (with a warning)" } else { "" };
        let shown: Vec<String> = shown.map(|one| format!("{}{}", one.item.id, mark(one))).collect();
        if !shown.is_empty() {
            say!("{words}: {}", shown.join(", "));
        }
    }
}

fn say_item(item: &Item, words: &str) {
    say!("  {:<24} {words}", item.id);
}

fn why_skipped(state: &State) -> String {
    match state {
        State::Skipped(Reason::NotNeeded { part, says }) => format!("--without {part}: a client that {says}"),
        State::Skipped(Reason::OneEnough { shown }) => {
            format!("{shown} is shown, and one of these is enough")
        }
        _ => String::new(),
    }
}

/// Prints a violation by the client once for all its items, with what to send instead.
fn say_broken(broken: &Broken, report: &Report<'_>, plan: &Plan) {
    let Broken { finding, exchanges, .. } = broken;
    let word = if finding.level == Level::Deny { "violated" } else { "warning" };
    let exchanges = text::count(usize::try_from(*exchanges).unwrap_or(usize::MAX), "exchange");
    say!("{word}: {}  ({exchanges})", finding.clause);
    say_witness(report, Some((broken.record, broken.exchange())));
    say!("   | {}", text::short(&format!("{}: got {}", finding.at, finding.actual)));
    if let Some(advice) = plan.advice(&finding.clause, &finding.at) {
        say!("   | {advice}");
    } else {
        say!("   | expected {}", text::short(&finding.expected));
    }
    say!("   = next  xs2aspec explain {}\n", finding.clause);
}

fn say_witness(report: &Report<'_>, seen: Option<(usize, u64)>) {
    let Some(seen) = seen else { return };
    let shown = report.exchanges.get(&seen).map(|exchange| {
        let Exchange { request, response, .. } = exchange;
        let status = response.as_ref().map_or("no response".to_owned(), |answer| answer.status.to_string());
        format!(": {} {} {status}", text::short(&request.method), text::short(&request.url))
    });
    say!("  --> {}{}", report.named(seen), shown.unwrap_or_default());
}
