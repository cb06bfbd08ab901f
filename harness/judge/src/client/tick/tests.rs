//! Each kind of item is shown, not shown and broken when it should be.

use serde_json::{Value, json};
use xs2aspec_record::{Event, Exchange, Exit, RunStarted};
use xs2aspec_spec::{AnswerRules, Tree};

use super::*;
use crate::client::{Statement, Watch, plan::FILE, recorded, report};

/// An exchange that began so many milliseconds after the first one and took one of them.
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

/// The verdict of the exchange with this number, in which the client broke this.
fn verdict(number: u64, findings: &Value, observations: &Value) -> Event {
    let text = json!({
        "event": "verdict", "case": format!("traffic/{number:03}"), "clause": "ncbct.path", "area": "traffic", "operation": "ncbct",
        "role": "selected", "place": {"file": "proxy", "line": 1, "column": 1}, "verdict": "pass", "expected": "accepted",
        "checks": 1, "findings": findings, "observations": observations, "exchange": number, "micros": 1,
    });
    serde_json::from_value(text).unwrap()
}

fn plan(item: &str) -> Plan {
    let text = format!("fresh: [X-Request-ID]\nitems:\n  - {{ id: a, says: b, {item} }}\n");
    Plan::load(&Tree::of(&[(FILE, &text)])).unwrap().unwrap()
}

/// What is said of one item.
fn state(item: &str, events: Vec<Event>) -> State {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let plan = plan(item);
    tick(&plan, &read(&plan, &rules, events))[0].state.clone()
}

fn read(plan: &Plan, rules: &AnswerRules, events: Vec<Event>) -> Recorded {
    let mut watch = Watch::new(plan, rules);
    for event in events {
        watch.add(event);
    }
    watch.finish()
}

fn is_broken(state: &State, number: u64, words: &str) -> bool {
    matches!(state, State::Broken(by, says) if *by == number && says.contains(words))
}

#[test]
fn an_exchange_shows_what_holds_of_it() {
    let item = "shown: { status: \"201\" }";
    assert_eq!(state(item, vec![]), State::NotShown);
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
    let seen = recorded::observation(&["other", "a"]);
    assert_eq!(state(item, vec![masked.clone(), verdict(1, &json!([]), &json!([seen]))]), State::Shown(1));
    let other = recorded::observation(&["other"]);
    assert_eq!(state(item, vec![masked.clone(), verdict(1, &json!([]), &json!([other]))]), State::NotShown);
    let nothing = recorded::observation(&[]);
    assert_eq!(state(item, vec![masked, verdict(1, &json!([]), &json!([nothing]))]), State::NotShown);
}

#[test]
fn what_is_masked_later_is_seen_before() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let plan = plan("shown: { header: { Signature: { starts: [\"=?\"] } } }");
    let Event::Exchange(mut raw) = exchange(1, 0, "POST", "1", 201, &[]) else { unreachable!() };
    let shown =
        |raw: &Exchange| shown_by_what_is_masked(&plan, raw, &rules, &|name| name == "Signature").len();
    assert_eq!(shown(&raw), 0);
    raw.request.headers.push(xs2aspec_record::Header("Signature".into(), "=?utf-8?B?YQ==?=".into()));
    assert_eq!(shown(&raw), 1);
    assert_eq!(shown_by_what_is_masked(&plan, &raw, &rules, &|_| false).len(), 0, "the record will show it");
}

#[test]
fn a_client_goes_on_after_an_answer_or_repeats_what_was_refused() {
    let item = "after: { status: 4xx }, then: goes-on";
    let refused = |number, at, body| exchange(number, at, "POST", body, 400, &[]);
    assert_eq!(state(item, vec![refused(1, 0, "1")]), State::NotShown);
    let on = vec![refused(1, 0, "1"), exchange(2, 5, "POST", "2", 201, &[])];
    assert_eq!(state(item, on), State::Shown(2));
    // A request under way at the same time says nothing.
    let beside = vec![refused(1, 0, "1"), exchange(2, 0, "POST", "2", 201, &[])];
    assert_eq!(state(item, beside), State::NotShown);
    let again = vec![refused(1, 0, "1"), exchange(2, 5, "POST", "2", 201, &[]), refused(3, 9, "1")];
    assert!(is_broken(&state(item, again), 3, "again as it was"));
    // The same that is accepted at last, or reads only, breaks nothing.
    let at_last = vec![
        refused(1, 0, "1"),
        exchange(2, 5, "POST", "1", 201, &[]),
        exchange(3, 9, "POST", "2", 201, &[]),
    ];
    assert_eq!(state(item, at_last), State::Shown(3));
    let reads = |number, at| exchange(number, at, "GET", "1", 404, &[]);
    assert_eq!(state(item, vec![reads(1, 0), reads(2, 5)]), State::NotShown);
}

#[test]
fn a_client_asks_again_when_it_may_or_too_early() {
    let item = "after: { status: \"429\" }, then: again-later";
    let busy = |more: &[(&str, &str)]| exchange(1, 0, "POST", "1", 429, more);
    let again = |at| exchange(2, at, "POST", "1", 201, &[]);
    let wait = [("Retry-After", "2")];
    assert_eq!(state(item, vec![busy(&wait)]), State::NotShown);
    assert_eq!(state(item, vec![busy(&[]), again(50)]), State::NotShown, "nobody said when");
    assert_eq!(state(item, vec![busy(&wait), again(2001)]), State::Shown(2));
    assert!(is_broken(&state(item, vec![busy(&wait), again(1000)]), 2, "says 2 s"));
    let dates = [("Date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("Retry-After", "Thu, 01 Jan 2026 00:00:03 GMT")];
    assert_eq!(state(item, vec![busy(&dates), again(3001)]), State::Shown(2));
    assert!(is_broken(&state(item, vec![busy(&dates), again(2001)]), 2, "says 3 s"));
}

#[test]
fn two_requests_with_one_id_break_what_is_to_be_unique() {
    let item = "unique: x-request-id";
    let one = exchange(1, 0, "POST", "1", 201, &[]);
    assert_eq!(state(item, vec![one.clone()]), State::NotShown);
    assert_eq!(state(item, vec![one.clone(), exchange(2, 5, "POST", "1", 201, &[])]), State::Shown(2));
    let Event::Exchange(same) = &one else { unreachable!() };
    let same = Event::Exchange(Exchange { number: 2, at: 5000, ..same.clone() });
    assert!(is_broken(&state(item, vec![one, same]), 2, "exchanges 1 and 2"));
}

#[test]
fn what_the_client_breaks_breaks_its_operation_and_a_report_says_so() {
    let item = "no-breach: ncbct";
    let breach = |level: &str, end: &str| json!([{"clause": "ncbct.creditor-name.length", "expected": "70", "actual": "71", "at": "request/body", "level": level, "end": end}]);
    let one = || exchange(1, 0, "POST", "1", 201, &[]);
    assert_eq!(state(item, vec![]), State::NotShown);
    assert_eq!(state(item, vec![one(), verdict(1, &breach("deny", "bank"), &json!([]))]), State::Shown(1));
    assert_eq!(state(item, vec![one(), verdict(1, &breach("warn", "client"), &json!([]))]), State::Shown(1));
    let broken = vec![one(), verdict(1, &breach("deny", "client"), &json!([]))];
    assert!(is_broken(&state(item, broken.clone()), 1, "ncbct.creditor-name.length"));

    for (events, expected, words) in [
        (broken, Exit::Violation, "the client does not conform: 1 item is broken: 0 of 1 items shown"),
        (vec![one()], Exit::Conforms, "the client conforms in what it showed: 1 of 1 items shown"),
        (vec![], Exit::CouldNotTell, "nothing is to be said of the client: 0 of 1 items shown"),
    ] {
        let rules = AnswerRules::load(&Tree::embedded()).unwrap();
        let plan = plan(item);
        let recorded = read(&plan, &rules, events);
        let ticked = tick(&plan, &recorded);
        assert_eq!(Statement::of(&ticked).to_string(), words);
        let (events, exit) =
            report::events(&ticked, (&recorded, &BTreeMap::new()), ("plan", ""), "tool".into(), vec![]);
        assert_eq!(exit, expected, "{words}");
        assert!(matches!(&events[0], Event::RunStarted(RunStarted { cases: 1, .. })));
    }
}

#[test]
fn one_mistake_in_requests_for_several_operations_is_one_with_its_witnesses() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let text = "fresh: []\nitems:\n  - { id: a/<item>, says: b, each: [ncbct, basket], no-breach: <item> }\n";
    let plan = Plan::load(&Tree::of(&[(FILE, text)])).unwrap().unwrap();
    let breach = |actual: &str| json!([{"clause": "signature.value", "expected": "a", "actual": actual, "at": "request/signing", "level": "deny", "end": "client"}]);
    let mut events = Vec::new();
    // The record has them in another order than they began.
    for (number, at, operation) in [(1, 9, "ncbct"), (2, 5, "basket"), (3, 7, "ncbct")] {
        let Event::Exchange(one) = exchange(number, at, "POST", &number.to_string(), 401, &[]) else {
            unreachable!()
        };
        events.push(Event::Exchange(Exchange { operation: Some(operation.to_owned()), ..one }));
        events.push(verdict(number, &breach(operation), &json!([])));
    }
    let ticked = tick(&plan, &read(&plan, &rules, events));
    assert_eq!(ticked.iter().map(Ticked::exchange).collect::<Vec<_>>(), [Some(3), Some(2)]);
    let all = broken(&ticked);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].exchanges, all[0].exchange(), all[0].finding.actual.as_str()), (3, 2, "basket"));
}

#[test]
fn what_is_asked_of_a_long_record_takes_no_longer_for_each_exchange() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let plan = plan("after: { status: 4xx }, then: goes-on");
    // One request again and again, each accepted but the first; compared with each other it would take an
    // hour.
    let events = (1..=100_000).map(|number| {
        let status = if number == 1 { 400 } else { 201 };
        exchange(number, number * 2, "POST", "1", status, &[])
    });
    let mut watch = Watch::new(&plan, &rules);
    events.for_each(|event| watch.add(event));
    assert_eq!(tick(&plan, &watch.finish())[0].state, State::NotShown);
}
