//! Each kind of item is shown, not shown or violated as expected.

use std::time::Duration;

use serde_json::{Value, json};
use xs2aspec_record::{Event, Exchange, Exit, LevelRule, LevelSource, RunStarted, Verdict};
use xs2aspec_spec::{AnswerRules, Tree};

use super::*;
use crate::client::{Statement, Watch, plan::FILE, report::Report};

const NOT_SHOWN: State = State::NotShown { met: None };

/// Returns an exchange that started this many milliseconds after the first one and took one millisecond.
fn exchange(number: u64, at: u64, method: &str, body: &str, status: u16, more: &[(&str, &str)]) -> Event {
    let id = format!("id-{number}");
    let text = json!({
        "event": "exchange", "number": number, "case": format!("traffic/{number:03}"), "step": "request", "operation": "ncbct",
        "at": at * 1000, "micros": 1000,
        "request": {"method": method, "url": "http://127.0.0.1/v1", "headers": [["X-Request-ID", id]], "body": {"text": body}},
        "response": {"status": status, "headers": more, "body": {"text": "{}"}},
    });
    serde_json::from_value(text).unwrap()
}

/// Returns the verdict of the exchange with this number, with these findings about the client.
fn verdict(number: u64, findings: &Value, seen: &Value) -> Event {
    let text = json!({
        "event": "verdict", "case": format!("traffic/{number:03}"), "clause": "ncbct.path", "area": "traffic", "operation": "ncbct",
        "role": "selected", "place": {"file": "proxy", "line": 1, "column": 1}, "verdict": "pass", "expected": "accepted",
        "checks": 1, "findings": findings, "seen": seen, "exchange": number, "micros": 1,
    });
    serde_json::from_value(text).unwrap()
}

/// Returns the observation of items that an exchange shows and its history masks.
fn shows(items: &[&str], is_unreadable: bool) -> Value {
    json!({"code": "shows", "items": items, "is_unreadable": is_unreadable})
}

fn plan(item: &str) -> Plan {
    let text = format!("fresh: [X-Request-ID]\nitems:\n  - {{ id: a, says: b, {item} }}\n");
    Plan::load(&Tree::of(&[(FILE, &text)])).unwrap().unwrap()
}

/// Returns the state of one item.
fn state(item: &str, events: Vec<Event>) -> State {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let plan = plan(item);
    tick(&plan, &[read(&plan, &rules, events)], &[])[0].state.clone()
}

fn read(plan: &Plan, rules: &AnswerRules, events: Vec<Event>) -> Recorded {
    with_levels(plan, rules, &[], events)
}

fn with_levels(plan: &Plan, rules: &AnswerRules, levels: &[LevelRule], events: Vec<Event>) -> Recorded {
    let mut watch = Watch::new(plan, rules, levels);
    watch.add(Event::RunStarted(RunStarted::default()));
    for event in events {
        watch.add(event);
    }
    watch.finish()
}

/// Returns the clause that the exchange with this number violates.
fn broken_clause(state: &State, number: u64) -> Option<&str> {
    match state {
        State::Broken(by, Breach::Clause(finding)) if *by == number => Some(&finding.clause),
        _ => None,
    }
}

#[test]
fn an_exchange_shows_what_holds_of_it() {
    let item = "shown: { status: \"201\" }";
    assert_eq!(state(item, vec![]), NOT_SHOWN);
    let events = vec![exchange(1, 0, "POST", "1", 400, &[]), exchange(2, 5, "POST", "2", 201, &[])];
    assert_eq!(state(item, events), State::Shown(2));
}

#[test]
fn what_is_masked_is_not_told_unless_it_was_seen_before() {
    let item = "shown: { header: { Signature: { starts: [\"=?\"] } } }";
    let mut masked = exchange(1, 0, "POST", "1", 201, &[]);
    if let Event::Exchange(exchange) = &mut masked {
        exchange
            .request
            .headers
            .push(xs2aspec_record::Header("Signature".into(), "signature~01234567".into()));
    }
    assert_eq!(state(item, vec![masked.clone()]), State::Unknown);
    let seen = shows(&["other", "a"], false);
    assert_eq!(state(item, vec![masked.clone(), verdict(1, &json!([]), &json!([seen]))]), State::Shown(1));
    let other = shows(&["other"], false);
    assert_eq!(state(item, vec![masked.clone(), verdict(1, &json!([]), &json!([other]))]), NOT_SHOWN);
    let nothing = shows(&[], false);
    assert_eq!(state(item, vec![masked, verdict(1, &json!([]), &json!([nothing]))]), NOT_SHOWN);
}

#[test]
fn a_client_goes_on_after_a_response_or_repeats_what_was_rejected() {
    let item = "after: { status: 4xx }, then: corrects-it";
    let rejected = |number, at, body| exchange(number, at, "POST", body, 400, &[]);
    let met = State::NotShown { met: Some(1) };
    assert_eq!(state(item, vec![rejected(1, 0, "1")]), met);
    let on = vec![rejected(1, 0, "1"), exchange(2, 5, "POST", "2", 201, &[])];
    assert_eq!(state(item, on), State::Shown(2));
    // A concurrent request proves nothing.
    let next_to_it = vec![rejected(1, 0, "1"), exchange(2, 0, "POST", "2", 201, &[])];
    assert_eq!(state(item, next_to_it), met);
    let again = vec![rejected(1, 0, "1"), exchange(2, 5, "POST", "2", 201, &[]), rejected(3, 9, "1")];
    assert_eq!(state(item, again), State::Broken(3, Breach::SentAgain { number: 1 }));
    // Resending is allowed if the request is accepted in the end or is safe.
    let at_last = vec![
        rejected(1, 0, "1"),
        exchange(2, 5, "POST", "1", 201, &[]),
        exchange(3, 9, "POST", "2", 201, &[]),
    ];
    assert_eq!(state(item, at_last), State::Shown(3));
    let reads = |number, at| exchange(number, at, "GET", "1", 404, &[]);
    assert_eq!(state(item, vec![reads(1, 0), reads(2, 5)]), met);
}

#[test]
fn the_same_payment_twice_breaks_nothing_where_both_are_accepted() {
    let item = "after: { status: \"201\" }, then: goes-on";
    let paid = |number, at| exchange(number, at, "POST", "1", 201, &[]);
    assert_eq!(state(item, vec![paid(1, 0), paid(2, 5)]), State::NotShown { met: Some(1) });
    let on = vec![paid(1, 0), paid(2, 5), exchange(3, 9, "GET", "", 200, &[])];
    assert_eq!(state(item, on), State::Shown(3));
}

#[test]
fn a_client_asks_again_when_it_may_or_too_early() {
    let item = "after: { status: \"429\" }, then: again-later";
    let busy = |more: &[(&str, &str)]| exchange(1, 0, "POST", "1", 429, more);
    let again = |at| exchange(2, at, "POST", "1", 201, &[]);
    let wait = [("Retry-After", "2")];
    let met = State::NotShown { met: Some(1) };
    assert_eq!(state(item, vec![busy(&wait)]), met);
    assert_eq!(state(item, vec![busy(&[]), again(50)]), met, "no time was given");
    assert_eq!(state(item, vec![busy(&wait), again(2001)]), State::Shown(2));
    let too_early = |wait, waited| {
        let waited = Duration::from_millis(waited);
        State::Broken(2, Breach::TooEarly { number: 1, wait, waited })
    };
    assert_eq!(state(item, vec![busy(&wait), again(1000)]), too_early(2, 999));
    let dates = [("Date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("Retry-After", "Thu, 01 Jan 2026 00:00:03 GMT")];
    assert_eq!(state(item, vec![busy(&dates), again(3001)]), State::Shown(2));
    assert_eq!(state(item, vec![busy(&dates), again(2001)]), too_early(3, 2000));
}

#[test]
fn two_requests_with_one_id_break_what_is_to_be_unique() {
    let item = "unique: x-request-id";
    let one = exchange(1, 0, "POST", "1", 201, &[]);
    assert_eq!(state(item, vec![one.clone()]), NOT_SHOWN);
    assert_eq!(state(item, vec![one.clone(), exchange(2, 5, "POST", "1", 201, &[])]), State::Shown(2));
    let Event::Exchange(same) = &one else { unreachable!() };
    let same = Event::Exchange(Exchange { number: 2, at: 5000, ..same.clone() });
    let twice = Breach::SameValue { name: "x-request-id".to_owned(), first: 1, later: 2 };
    assert_eq!(state(item, vec![one.clone(), same.clone()]), State::Broken(2, twice));
    // The judge recognizes a request that an archive lists twice.
    let judged = verdict(2, &json!([]), &json!([]));
    assert_eq!(state(item, vec![one, same, judged]), NOT_SHOWN);
}

fn breach(level: &str, end: &str) -> Value {
    json!([{"clause": "ncbct.creditor-name.length", "expected": "70", "actual": "71", "at": "request/body", "level": level, "end": end}])
}

/// Returns an exchange with this status, and its verdict.
fn judged(number: u64, status: u16, findings: &Value) -> Vec<Event> {
    let body = number.to_string();
    vec![exchange(number, number * 5, "POST", &body, status, &[]), verdict(number, findings, &json!([]))]
}

#[test]
fn an_accepted_request_that_breaks_nothing_shows_its_operation() {
    let item = "no-breach: ncbct";
    let nothing = json!([]);
    let cases = [
        ("nobody calls it", vec![], NOT_SHOWN),
        ("rejected", judged(1, 401, &nothing), NOT_SHOWN),
        ("nobody's id", judged(1, 404, &nothing), NOT_SHOWN),
        ("the server fails", judged(1, 500, &nothing), NOT_SHOWN),
        ("not judged", vec![exchange(1, 0, "POST", "1", 201, &[])], NOT_SHOWN),
        ("accepted", judged(1, 201, &nothing), State::Shown(1)),
        ("the bank breaks it", judged(1, 201, &breach("deny", "bank")), State::Shown(1)),
        ("with a warning", judged(1, 201, &breach("warn", "client")), State::Shown(1)),
        (
            "rejected, then accepted",
            [judged(1, 400, &nothing), judged(2, 201, &nothing)].concat(),
            State::Shown(2),
        ),
    ];
    for (what, events, expected) in cases {
        assert_eq!(state(item, events), expected, "{what}");
    }
    for status in [201, 400] {
        let broken = [judged(1, 201, &nothing), judged(2, status, &breach("deny", "client"))].concat();
        assert_eq!(broken_clause(&state(item, broken), 2), Some("ncbct.creditor-name.length"), "{status}");
    }
    let hidden = json!([shows(&[], true)]);
    let unreadable = vec![exchange(1, 0, "POST", "1", 201, &[]), verdict(1, &nothing, &hidden)];
    assert_eq!(state(item, unreadable), State::Unknown);
}

#[test]
fn a_breach_of_no_item_breaks_the_item_for_others() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let text = "fresh: []\nitems:\n  - { id: a, says: b, no-breach: basket }\n  - { id: c, says: d, no-breach: other }\n";
    let plan = Plan::load(&Tree::of(&[(FILE, text)])).unwrap().unwrap();
    let recorded = read(&plan, &rules, judged(1, 404, &breach("deny", "client")));
    let ticked = tick(&plan, &[recorded], &[]);
    assert_eq!(ticked[0].state, NOT_SHOWN);
    assert_eq!(broken_clause(&ticked[1].state, 1), Some("ncbct.creditor-name.length"));
}

#[test]
fn levels_of_the_command_line_count_for_findings() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let plan = plan("no-breach: ncbct");
    let rule = |pattern: &str, level| {
        vec![LevelRule { pattern: pattern.to_owned(), level, by: LevelSource::CommandLine }]
    };
    for (finding, levels, is_broken, is_warned) in [
        ("warn", vec![], false, true),
        ("warn", rule("ncbct.creditor-name.length", Level::Deny), true, false),
        ("warn", rule("warnings", Level::Deny), true, false),
        ("deny", rule("ncbct.*", Level::Warn), false, true),
        ("deny", rule("ncbct.creditor-name", Level::Note), false, false),
        ("deny", rule("basket", Level::Note), true, false),
    ] {
        let recorded = with_levels(&plan, &rules, &levels, judged(1, 201, &breach(finding, "client")));
        let ticked = tick(&plan, &[recorded], &[]);
        let found = (matches!(ticked[0].state, State::Broken(..)), ticked[0].is_warned());
        assert_eq!(found, (is_broken, is_warned), "{finding} {levels:?}");
    }
}

/// Returns the result of a plan with two items: the states, the exit code and the verdicts of the report.
fn joined(items: &str, absent: &[&str], records: Vec<Vec<Event>>) -> (Vec<State>, Exit, Vec<Verdict>) {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let parts = "parts:\n  - { name: p, says: q, items: [\"b*\"] }\n";
    let text = format!("fresh: [X-Request-ID]\nitems:\n{items}{parts}");
    let plan = Plan::load(&Tree::of(&[(FILE, &text)])).unwrap().unwrap();
    let names: Vec<String> = absent.iter().map(|name| (*name).to_owned()).collect();
    let absent = plan.parts(&names).unwrap();
    let records: Vec<Recorded> = records.into_iter().map(|events| read(&plan, &rules, events)).collect();
    let ticked = tick(&plan, &records, &absent);
    let report = Report {
        ticked: &ticked,
        records: &records,
        names: &[],
        exchanges: &BTreeMap::new(),
        levels: &[],
        plan: ("plan", ""),
    };
    let (events, exit) = report.events(vec![]);
    let verdict = |event: &Event| match event {
        Event::Verdict(verdict) => Some(verdict.verdict),
        _ => None,
    };
    (ticked.iter().map(|one| one.state.clone()).collect(), exit, events.iter().filter_map(verdict).collect())
}

const TWO: &str = "  - { id: a, says: a, one-of: c, shown: { status: \"200\" } }\n  - { id: b, says: b, one-of: c, shown: { status: \"201\" } }\n";

#[test]
fn records_count_together_and_one_alternative_is_enough() {
    let got = |status| vec![exchange(1, 0, "POST", "1", status, &[])];
    let one = |shown: &str| State::Skipped(Reason::OneEnough { shown: shown.to_owned() });
    for (records, expected, exit) in [
        (vec![got(400)], vec![NOT_SHOWN, NOT_SHOWN], Exit::CouldNotTell),
        (vec![got(200)], vec![State::Shown(1), one("a")], Exit::Conforms),
        (vec![got(400), got(201)], vec![one("b"), State::Shown(1)], Exit::Conforms),
        (vec![got(200), got(201)], vec![State::Shown(1), State::Shown(1)], Exit::Conforms),
    ] {
        let found = joined(TWO, &[], records);
        assert_eq!((found.0, found.1), (expected, exit));
    }
    // An alternative is not skipped if the client had the opportunity to show it and did not.
    let after = TWO.replace("shown: { status: \"201\" }", "after: { status: \"201\" }, then: goes-on");
    let (states, exit, _) = joined(&after, &[], vec![got(200), got(201)]);
    assert_eq!(states, [State::Shown(1), State::NotShown { met: Some(1) }]);
    assert_eq!(exit, Exit::CouldNotTell);
}

#[test]
fn what_is_declared_absent_is_skipped_unless_it_is_shown() {
    let got = |status| vec![vec![exchange(1, 0, "POST", "1", status, &[])]];
    let apart = TWO.replace("one-of: c, ", "");
    let without = Reason::NotNeeded { part: "p".to_owned(), says: "q".to_owned() };
    let without = State::Skipped(without);
    let (states, exit, verdicts) = joined(&apart, &["p"], got(200));
    assert_eq!((states, exit), (vec![State::Shown(1), without], Exit::Conforms));
    assert_eq!(verdicts, [Verdict::Pass, Verdict::NotApplicable]);
    let (states, exit, _) = joined(&apart, &["p"], got(201));
    assert_eq!((states, exit), (vec![NOT_SHOWN, State::Shown(1)], Exit::CouldNotTell));
    assert_eq!(joined(&apart, &[], got(200)).1, Exit::CouldNotTell);
}

#[test]
fn a_repetition_in_another_record_is_none() {
    let item = "  - { id: a, says: a, unique: X-Request-ID }\n";
    let twice = || vec![exchange(1, 0, "POST", "1", 201, &[]), exchange(2, 5, "POST", "2", 201, &[])];
    let (states, exit, _) = joined(item, &[], vec![twice(), twice()]);
    assert_eq!((states, exit), (vec![State::Shown(2)], Exit::Conforms));
}

#[test]
fn the_statement_says_what_was_shown_and_skipped() {
    for (statement, words) in [
        (
            Statement { items: 2, exchanges: 1, ..Statement::default() },
            "the client cannot be judged: 0 of 2 required items shown; 1 exchange",
        ),
        (
            Statement { shown: 1, items: 2, exchanges: 3, ..Statement::default() },
            "the client conforms as far as it was tested: 1 of 2 required items shown; 3 exchanges",
        ),
        (
            Statement {
                shown: 2,
                items: 2,
                warned: 1,
                skipped: 3,
                optional: 4,
                exchanges: 9,
                ..Statement::default()
            },
            "the client conforms: 2 of 2 required items shown, 1 with a warning, 3 skipped, 4 optional items shown; 9 exchanges",
        ),
        (
            Statement { broken: 1, items: 2, exchanges: 3, ..Statement::default() },
            "the client does not conform: 1 item is violated: 0 of 2 required items shown; 3 exchanges",
        ),
    ] {
        assert_eq!(statement.to_string(), words);
    }
}

#[test]
fn one_mistake_in_requests_for_several_operations_is_one_with_its_witnesses() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let text = "fresh: []\nitems:\n  - { id: a/<item>, says: b, each: [ncbct, basket], no-breach: <item> }\n";
    let plan = Plan::load(&Tree::of(&[(FILE, text)])).unwrap().unwrap();
    let breach = |actual: &str| json!([{"clause": "signature.value", "expected": "a", "actual": actual, "at": "request/signing", "level": "deny", "end": "client"}]);
    let mut events = Vec::new();
    // The history has them in a different order than they started.
    for (number, at, operation) in [(1, 9, "ncbct"), (2, 5, "basket"), (3, 7, "ncbct")] {
        let Event::Exchange(one) = exchange(number, at, "POST", &number.to_string(), 401, &[]) else {
            unreachable!()
        };
        events.push(Event::Exchange(Exchange { operation: Some(operation.to_owned()), ..one }));
        events.push(verdict(number, &breach(operation), &json!([])));
    }
    let ticked = tick(&plan, &[read(&plan, &rules, events)], &[]);
    assert_eq!(ticked.iter().map(Ticked::exchange).collect::<Vec<_>>(), [Some((0, 3)), Some((0, 2))]);
    let all = broken(&ticked);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].exchanges, all[0].exchange(), all[0].finding.actual.as_str()), (3, 2, "basket"));
}

#[test]
fn what_is_asked_of_a_long_record_takes_no_longer_for_each_exchange() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let plan = plan("after: { status: 4xx }, then: corrects-it");
    // The same request many times, rejected only the first time. Pairwise comparison would take an hour.
    let events = (1..=100_000).map(|number| {
        let status = if number == 1 { 400 } else { 201 };
        exchange(number, number * 2, "POST", "1", status, &[])
    });
    let mut watch = Watch::new(&plan, &rules, &[]);
    events.for_each(|event| watch.add(event));
    assert_eq!(tick(&plan, &[watch.finish()], &[])[0].state, State::NotShown { met: Some(1) });
}
