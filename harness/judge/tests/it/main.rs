//! A verdict depends only on the requests and responses of its case and its control. Nothing else in a
//! history changes it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Cursor,
    sync::{Arc, LazyLock},
};

use proptest::{prelude::*, sample::Index};
use xs2aspec_judge::{Rejudged, rejudge};
use xs2aspec_record::{CaseVerdict, Event, Exchange, RecordReader, RecordWriter, Verdict};
use xs2aspec_suite::{Suite, Tree};

/// The history of a run against a target with a fault.
const RECORD: &str = include_str!("../../../../reports/examples/record.jsonl");

static SUITE: LazyLock<Arc<Suite>> = LazyLock::new(|| Arc::new(Suite::load(Tree::embedded()).unwrap()));

/// The events of the run without the final ones, whose chain covers every line.
static EVENTS: LazyLock<Vec<Event>> = LazyLock::new(|| {
    let mut events = xs2aspec_record::read(RECORD.as_bytes()).unwrap();
    events.retain(|event| !event.is_of_end());
    events
});

/// Verdicts that can be rejudged because nothing else in the run decided them.
static VERDICTS: LazyLock<BTreeMap<String, CaseVerdict>> = LazyLock::new(|| {
    let verdicts = EVENTS.iter().filter_map(|event| match event {
        Event::Verdict(verdict) if !verdict.unconfirmed => Some((verdict.case.clone(), verdict.clone())),
        _ => None,
    });
    verdicts.collect()
});

/// Rejudges events, without a target to wait for.
fn judged(events: &[Event]) -> Rejudged {
    let mut writer = RecordWriter::new(Vec::new());
    for event in events {
        writer.write(event).unwrap();
    }
    let record = writer.finish().unwrap();
    let open = || Ok(RecordReader::new(Cursor::new(&record)));
    rejudge(&SUITE, open, &[]).unwrap()
}

/// Returns the verdicts that differ from the recorded ones, except for these cases.
fn changed(rejudged: &Rejudged, but: &BTreeSet<&str>) -> Vec<String> {
    let others = rejudged.changed.iter().filter(|change| !but.contains(change.case.as_str()));
    others.map(|change| format!("{}: {:?}, now {:?}", change.case, change.before, change.now)).collect()
}

/// Returns the cases that are the control or the original of another one.
fn rested_on() -> BTreeSet<&'static str> {
    let cases = SUITE.cases().iter();
    cases.flat_map(|case| [&case.control, &case.same_as]).flatten().map(String::as_str).collect()
}

/// Returns a case that no other case depends on.
fn free(index: Index) -> &'static str {
    let rested_on = rested_on();
    let free: Vec<&String> = VERDICTS.keys().filter(|case| !rested_on.contains(case.as_str())).collect();
    free[index.index(free.len())]
}

/// Returns the positions of the exchanges of a case.
fn exchanges_of(case: &str) -> Vec<usize> {
    let is_own = |event: &Event| matches!(event, Event::Exchange(exchange) if exchange.case == case);
    (0..EVENTS.len()).filter(|at| is_own(&EVENTS[*at])).collect()
}

#[test]
fn the_record_is_judged_as_it_was() {
    let rejudged = judged(&EVENTS);
    assert_eq!(changed(&rejudged, &BTreeSet::new()), [""; 0]);
    assert!(rejudged.unchanged > 150, "{}", rejudged.unchanged);
    let failed = VERDICTS.values().filter(|verdict| verdict.verdict == Verdict::Fail).count();
    assert!(failed > 0 && failed < VERDICTS.len());
}

/// Guards the properties against passing vacuously: another status of a judged request changes the verdict.
#[test]
fn another_response_is_another_verdict() {
    let (case, verdict) = VERDICTS
        .iter()
        .find(|(_, verdict)| verdict.expected == "accepted" && verdict.exchange.is_some())
        .unwrap();
    let mut events = EVENTS.clone();
    for event in &mut events {
        if let Event::Exchange(Exchange { number, response: Some(response), .. }) = event
            && Some(*number) == verdict.exchange
        {
            response.status = 400;
        }
    }
    let rejudged = judged(&events);
    assert!(rejudged.changed.iter().any(|change| change.case == *case), "{:?}", rejudged.changed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_cases_were_asked_is_no_matter(seed in any::<u64>()) {
        let (mut events, mut cases) = (Vec::new(), BTreeMap::<&str, Vec<Event>>::new());
        for event in EVENTS.iter() {
            match event.case() {
                Some(case) => cases.entry(case).or_default().push(event.clone()),
                None => events.push(event.clone()),
            }
        }
        // Takes events from random cases in turn, so that the lines of all cases mix.
        let mut state = seed;
        let mut queues: Vec<_> = cases.into_values().map(std::collections::VecDeque::from).collect();
        while !queues.is_empty() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(state >> 33).unwrap() % queues.len();
            events.extend(queues[at].pop_front());
            if queues[at].is_empty() {
                queues.swap_remove(at);
            }
        }
        let rejudged = judged(&events);
        prop_assert_eq!(changed(&rejudged, &BTreeSet::new()), [""; 0]);
        prop_assert_eq!(rejudged.unchanged, judged(&EVENTS).unchanged);
    }

    #[test]
    fn a_case_says_nothing_of_others_that_do_not_rest_on_it(index in any::<Index>()) {
        let case = free(index);
        let events: Vec<Event> = EVENTS.iter().filter(|event| event.case() != Some(case)).cloned().collect();
        prop_assert!(events.len() < EVENTS.len());
        prop_assert_eq!(changed(&judged(&events), &BTreeSet::new()), [""; 0]);
    }

    #[test]
    fn what_others_send_changes_no_verdict(index in any::<Index>(), at in any::<Index>(), status in 200_u16..600) {
        let exchanges: Vec<&Exchange> = EVENTS.iter().filter_map(|event| match event {
            Event::Exchange(exchange) => Some(exchange),
            _ => None,
        }).collect();
        let mut other = Exchange::clone(exchanges[index.index(exchanges.len())]);
        "ncbct.path/of-nobody".clone_into(&mut other.case);
        other.number = 90_000;
        if let Some(response) = &mut other.response {
            response.status = status;
        }
        let mut events = EVENTS.clone();
        let begun = events.iter().position(|event| event.case().is_some()).unwrap();
        events.insert(begun + at.index(events.len() - begun), Event::Exchange(other));
        prop_assert_eq!(changed(&judged(&events), &BTreeSet::new()), [""; 0]);
    }

    #[test]
    fn a_plain_request_that_is_accepted_once_more_changes_no_verdict(index in any::<Index>()) {
        let plain: Vec<&Exchange> = EVENTS.iter().filter_map(|event| match event {
            Event::Exchange(exchange) if exchange.step == "request"
                && SUITE.case(&exchange.case).is_some_and(|case| case.is_plain) => Some(exchange),
            _ => None,
        }).collect();
        let again = Exchange {
            number: 90_000,
            step: "again-1/request".to_owned(),
            ..Exchange::clone(plain[index.index(plain.len())])
        };
        let mut events = EVENTS.clone();
        events.push(Event::Exchange(again));
        prop_assert_eq!(changed(&judged(&events), &BTreeSet::new()), [""; 0]);
    }

    #[test]
    fn what_was_cut_off_is_never_the_opposite(index in any::<Index>(), at in any::<Index>()) {
        let case = free(index);
        let own = exchanges_of(case);
        let kept = at.index(own.len() + 1);
        let cut: BTreeSet<usize> = own[kept..].iter().copied().collect();
        let events = (0..EVENTS.len()).filter(|at| !cut.contains(at)).map(|at| EVENTS[at].clone());
        let rejudged = judged(&events.collect::<Vec<_>>());
        prop_assert_eq!(changed(&rejudged, &BTreeSet::from([case])), [""; 0]);
        let says = |verdict: Verdict| match verdict {
            Verdict::Pass | Verdict::Flaky | Verdict::Observed => Some(true),
            Verdict::Fail | Verdict::Warn => Some(false),
            _ => None,
        };
        for change in rejudged.changed.iter().filter(|change| change.case == case) {
            let (before, now) = (says(change.before), says(change.now));
            prop_assert!(now.is_none() || now == before, "{} was {:?}, and is {:?}", case, change.before, change.now);
        }
    }
}
