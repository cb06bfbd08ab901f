//! `xs2aspec client-plan` and `client-report`: what a client should show, and what it has shown.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use xs2aspec_judge::client::{
    Broken, Item, Plan, State, Statement, Ticked, Watch, broken, report as drawn, tick,
};
use xs2aspec_record::{Event, Exchange, Exit, Level};
use xs2aspec_report::text;
use xs2aspec_suite::Suite;
use xs2aspec_traffic::input::{self, Format};

use crate::{
    Failure,
    args::{ClientPlan, ClientReport},
    recording::Recording,
    repetition, report,
};

/// Lists the plan.
pub(crate) fn plan(args: &ClientPlan) -> Result<Exit, Failure> {
    let plan = load(&crate::suite(&args.source)?)?;
    for item in &plan.items {
        let need = if item.is_optional { " (need not be shown)" } else { "" };
        say!("{:<42} {}{need}", item.id, item.says);
        if let Some(meet) = &item.meet {
            say!("{:<42}   with `xs2aspec serve --record DIR {meet}`", "");
        }
    }
    let optional = plan.items.iter().filter(|item| item.is_optional).count();
    say!("{} items, and {optional} that need not be shown", plan.items.len() - optional);
    Ok(Exit::Conforms)
}

fn load(suite: &Suite) -> Result<Plan, Failure> {
    let plan = Plan::load(suite.tree()).map_err(Failure::input)?;
    plan.ok_or_else(|| {
        let file = drawn::place_of_the_plan(suite.tree());
        Failure::input(format!("{file}: is not there: the document has no plan for clients"))
    })
}

/// Ticks off the plan by a record, and writes a report of it.
pub(crate) fn report(args: &ClientReport) -> Result<Exit, Failure> {
    let suite = crate::suite(&args.source)?;
    let plan = load(&suite)?;
    let path = report::record(&args.record);
    if matches!(input::format(&path), Ok(Format::Archive | Format::Pairs)) {
        let file = path.display();
        return Err(Failure::input(format!(
            "{file}: expected a record, found traffic: run `xs2aspec judge {file} --out DIR`, then `xs2aspec client-report DIR`"
        )));
    }
    let mut watch = Watch::new(&plan, suite.answers());
    read(&path, |event| watch.add(event))?;
    let recorded = watch.finish();
    if recorded.start.document_sha256 != suite.spec().document.sha256() {
        return Err(report::wrong(
            &path,
            &"is the record of another document: name the one that it is of with --pack",
        ));
    }
    let ticked = tick(&plan, &recorded);
    let exchanges = witnesses(&path, &ticked)?;
    let mut recording = Recording::create(&args.out, &[&path])?;
    let (file, tree) = (drawn::place_of_the_plan(suite.tree()), suite.tree());
    let plan_text = tree.text(xs2aspec_judge::client::plan::FILE).unwrap_or_default();
    let tool = format!("xs2aspec {}", env!("CARGO_PKG_VERSION"));
    let mut arguments = vec![args.record.display().to_string()];
    arguments.extend(repetition::out(&args.out));
    let (events, exit) = drawn::events(&ticked, (&recorded, &exchanges), (&file, plan_text), tool, arguments);
    for event in &events {
        recording.write(event);
    }
    recording.finish()?;
    for one in &ticked {
        say_item(one, &exchanges);
    }
    for one in broken(&ticked) {
        say_broken(&one);
    }
    say!("{}", Statement::of(&ticked));
    say!("reports in {}", args.out.display());
    Ok(exit)
}

/// Hands each event of a record on: it may be longer than memory.
fn read(path: &Path, mut take: impl FnMut(Event)) -> Result<(), Failure> {
    for event in report::open(path)?.events() {
        take(event.map_err(|error| report::wrong(path, &error))?);
    }
    Ok(())
}

/// The exchanges that say something of an item, by number.
fn witnesses(path: &Path, ticked: &[Ticked<'_>]) -> Result<BTreeMap<u64, Exchange>, Failure> {
    let wanted: BTreeSet<u64> = ticked.iter().filter_map(Ticked::exchange).collect();
    let mut found = BTreeMap::new();
    read(path, |event| {
        if let Event::Exchange(exchange) = event
            && wanted.contains(&exchange.number)
        {
            found.insert(exchange.number, exchange);
        }
    })?;
    Ok(found)
}

fn say_item(ticked: &Ticked<'_>, exchanges: &BTreeMap<u64, Exchange>) {
    let Ticked { item, state, broken } = ticked;
    let line = |word: &str, rest: &str| say!("{word:<15} {:<42} {rest}", item.id);
    match state {
        State::Shown(number) => line("shown", &exchange(*number, exchanges)),
        State::NotShown if item.is_optional => line("(not shown)", &item.says),
        State::NotShown => line("not shown", &unshown(item)),
        State::Unknown => line("could not tell", "what would show it is masked, or cut off, in the record"),
        State::Broken(number, words) => {
            line("broken", &exchange(*number, exchanges));
            if broken.is_empty() {
                say!("{:<15}   {}", "", text::short(words));
            }
        }
    }
    for one in broken {
        say!("{:<15}   {} {}", "", one.finding.level.word(), one.finding.clause);
    }
}

/// Something that the client broke, once for all items that show it.
fn say_broken(broken: &Broken) {
    let Broken { finding, exchanges, .. } = broken;
    let verb = if finding.level == Level::Deny { "broke" } else { "may have broken" };
    let exchanges = text::count(usize::try_from(*exchanges).unwrap_or(usize::MAX), "exchange");
    say!("\nthe client {verb} {}  ({exchanges}, exchange {} first)", finding.clause, broken.exchange());
    say!("   | {}", text::short(&finding.mismatch()));
    say!("   = next  xs2aspec explain {}", finding.clause);
}

fn unshown(item: &Item) -> String {
    let meet = item.meet.as_ref().map(|meet| format!("; `xs2aspec serve {meet}` lets a client meet it"));
    format!("{}{}", item.says, meet.unwrap_or_default())
}

fn exchange(number: u64, exchanges: &BTreeMap<u64, Exchange>) -> String {
    let known = exchanges.get(&number);
    let Some(Exchange { request, response, .. }) = known else { return String::new() };
    let status = response.as_ref().map_or("no answer".to_owned(), |answer| answer.status.to_string());
    format!("exchange {number}: {} {} {status}", text::short(&request.method), text::short(&request.url))
}
