//! `xs2aspec client-plan` and `client-report`: what a client should show, and what it has shown.

use xs2aspec_client::{Item, Plan, Recorded, State, Statement, Ticked, report as drawn, tick};
use xs2aspec_record::{Exchange, Exit};
use xs2aspec_report::text;
use xs2aspec_suite::Suite;

use crate::{
    Failure,
    args::{ClientPlan, ClientReport},
    recording::Recording,
    report,
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
    let events = report::open(&path)?.events().collect::<Result<Vec<_>, _>>();
    let recorded = Recorded::of(events.map_err(|error| report::wrong(&path, &error))?);
    if recorded.start.document_sha256 != suite.spec().document.sha256() {
        return Err(report::wrong(
            &path,
            &"is the record of another document: name the one that it is of with --pack",
        ));
    }
    let ticked = tick(&plan, &recorded, suite.answers());
    let mut recording = Recording::create(&args.out, &[&path])?;
    let (file, tree) = (drawn::place_of_the_plan(suite.tree()), suite.tree());
    let plan_text = tree.text(xs2aspec_client::plan::FILE).unwrap_or_default();
    let tool = format!("xs2aspec {}", env!("CARGO_PKG_VERSION"));
    let arguments = vec!["client-report".to_owned(), args.record.display().to_string()];
    let (events, exit) = drawn::events(&ticked, &recorded, (&file, plan_text), tool, arguments);
    for event in &events {
        recording.write(event);
    }
    recording.finish()?;
    for one in &ticked {
        say_item(one, &recorded);
    }
    say!("{}", Statement::of(&ticked));
    say!("reports in {}", args.out.display());
    Ok(exit)
}

fn say_item(ticked: &Ticked<'_>, recorded: &Recorded) {
    let Ticked { item, state, findings } = ticked;
    let line = |word: &str, rest: &str| say!("{word:<15} {:<42} {rest}", item.id);
    match state {
        State::Shown(number) => line("shown", &exchange(*number, recorded)),
        State::NotShown if item.is_optional => line("(not shown)", &item.says),
        State::NotShown => line("not shown", &unshown(item)),
        State::Unknown => line("could not tell", "what would show it is masked, or cut off, in the record"),
        State::Broken(number, words) => {
            line("broken", &exchange(*number, recorded));
            say!("{:<15}   {}", "", text::short(words));
        }
    }
    for finding in findings {
        let level = finding.level.word();
        say!("{:<15}   {level} {}: {}", "", finding.clause, text::short(&finding.mismatch()));
    }
}

fn unshown(item: &Item) -> String {
    let meet = item.meet.as_ref().map(|meet| format!("; `xs2aspec serve {meet}` lets a client meet it"));
    format!("{}{}", item.says, meet.unwrap_or_default())
}

fn exchange(number: u64, recorded: &Recorded) -> String {
    let known = recorded.exchanges.iter().find(|exchange| exchange.number == number);
    let Some(Exchange { request, response, .. }) = known else { return String::new() };
    let status = response.as_ref().map_or("no answer".to_owned(), |answer| answer.status.to_string());
    format!("exchange {number}: {} {} {status}", text::short(&request.method), text::short(&request.url))
}
