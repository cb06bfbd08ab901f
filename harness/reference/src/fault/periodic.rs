//! Faults of months that come twice and of days that are past (the document, section Endpoints > Create
//! periodic NDCT payment).

use serde_json::json;
use xs2aspec_bank::operation::Operation;

use crate::rules::{Effect, Entry, Place, Then, Treatment, When};

pub(super) fn faults() -> Vec<Entry> {
    let mut faults: Vec<Entry> = DUPLICATES
        .iter()
        .map(|(name, refused, says)| {
            let effect = Effect::policy(json!({ "series": { "repeated-months": refused } }));
            Entry::new(format!("periodic.months.duplicate/{name}"), vec![effect], *says)
        })
        .collect();
    let months = Treatment {
        operation: Operation::Periodic,
        place: Place::Body("/monthsOfExecution"),
        when: When::Descends,
        then: Then::Refuse,
    };
    faults.push(Entry::treats("periodic.months/ascending", months, "Months have to ascend."));
    for (clause, pointer) in [
        ("periodic.start-date.past", "/startDate"),
        ("ncbct.requested-execution-date.past", "/requestedExecutionDate"),
    ] {
        for (name, days, most) in
            [("yesterday", 1, "one day"), ("a-month", 31, "a month"), ("any", i64::MAX, "any number of days")]
        {
            faults.push(Entry::new(
                format!("{clause}/{name}"),
                vec![Effect::policy(json!({ "series": { "past-days": { &pointer[1..]: days } } }))],
                format!("{} may be past, by {most} at most.", &pointer[1..]),
            ));
        }
    }
    faults
}

const DUPLICATES: [(&str, &str, &str); 4] = [
    ("only-adjacent", "adjacent", "Duplicate months are refused only where they stand side by side."),
    ("only-first", "of-first", "Only a duplicate of the first month is refused."),
    ("dropped", "nobody", "Duplicate months are dropped silently."),
    ("only-pairs", "in-pairs", "Duplicate months are refused only in lists of two."),
];
