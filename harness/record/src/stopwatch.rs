//! Takes how long a target took from the exchanges of a record.

use std::collections::{BTreeMap, HashMap};

use crate::{
    event::Exchange,
    times::{OperationTimes, SlowFor, Times},
    verdict::CaseVerdict,
};

/// Cases that are named of those that were slow.
const NAMED: usize = 3;

/// Kinds of values that are named of an operation.
const KINDS: usize = 5;

/// Kinds of values that are told apart of an operation.
const APART: usize = 20_000;

/// Requests that have to be alike before anything is said of them.
const ALIKE: u64 = 3;

/// How many times the middle of all is slow for one kind of value, and the least time that anybody minds, in
/// microseconds.
const MUCH: (u64, u64) = (5, 20_000);

/// Takes the times of a run, case after case.
#[derive(Debug, Default)]
pub struct Stopwatch {
    slow_ms: Option<u64>,
    operations: BTreeMap<String, Operation>,
}

#[derive(Debug, Default)]
struct Operation {
    all: Vec<u64>,
    slow: u64,
    /// The slowest answers beyond the limit, slowest first.
    slowest: Vec<(u64, String)>,
    alike: HashMap<String, (u64, u64)>,
}

impl Stopwatch {
    /// Nothing was measured yet; an answer may take so many milliseconds.
    pub fn new(slow_ms: Option<u64>) -> Self {
        Self { slow_ms, operations: BTreeMap::new() }
    }

    /// Takes what was sent for a case. An exchange without a whole answer has no time.
    pub fn add(&mut self, exchanges: &[Exchange], verdict: Option<&CaseVerdict>) {
        for exchange in exchanges {
            let is_whole = exchange.response.is_some() && exchange.failure.is_none();
            let Some(name) = exchange.operation.as_deref().filter(|_| is_whole) else { continue };
            let operation = self.operations.entry(name.to_owned()).or_default();
            operation.all.push(exchange.micros);
            if self.slow_ms.is_some_and(|most| exchange.micros > most.saturating_mul(1000)) {
                operation.add_slow(exchange);
            }
            if let Some(verdict) = verdict.filter(|verdict| verdict.exchange == Some(exchange.number)) {
                verdict.changes.iter().for_each(|change| operation.add_alike(change, exchange.micros));
            }
        }
    }

    /// What was measured.
    pub fn finish(self) -> Times {
        let operations = self.operations.into_iter().map(|(name, operation)| operation.finish(name));
        Times { slow_ms: self.slow_ms, operations: operations.collect() }
    }
}

impl Operation {
    fn add_slow(&mut self, exchange: &Exchange) {
        self.slow += 1;
        if self.slowest.iter().any(|(micros, case)| *case == exchange.case && *micros >= exchange.micros) {
            return;
        }
        self.slowest.retain(|(_, case)| *case != exchange.case);
        let at = self.slowest.partition_point(|(micros, _)| *micros >= exchange.micros);
        self.slowest.insert(at, (exchange.micros, exchange.case.clone()));
        self.slowest.truncate(NAMED);
    }

    /// Takes the time of a request with this change: under its place, and under the place with its value.
    fn add_alike(&mut self, change: &str, micros: u64) {
        let place = place(change);
        for key in [Some(place), Some(change).filter(|change| *change != place)].into_iter().flatten() {
            if let Some((answers, least)) = self.alike.get_mut(key) {
                *answers += 1;
                *least = micros.min(*least);
            } else if self.alike.len() < APART {
                self.alike.insert(key.to_owned(), (1, micros));
            }
        }
    }

    fn finish(mut self, operation: String) -> OperationTimes {
        self.all.sort_unstable();
        let of_hundred = |part: usize| {
            let rank = (self.all.len() * part).div_ceil(100);
            self.all.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        let p50 = of_hundred(50);
        let is_slow = |(answers, least): &(u64, u64)| {
            *answers >= ALIKE && *least >= MUCH.1 && *least >= p50.saturating_mul(MUCH.0)
        };
        let alike = self.alike.iter().filter(|(_, seen)| is_slow(seen));
        let mut slow_for: Vec<SlowFor> = alike
            // Where a place is slow whatever its value, its values say no more.
            .filter(|(change, _)| {
                let place = place(change);
                *change == place || !self.alike.get(place).is_some_and(is_slow)
            })
            .map(|(change, (answers, least))| SlowFor {
                change: change.clone(),
                answers: *answers,
                least: *least,
            })
            .collect();
        slow_for.sort_by(|one, other| {
            (other.answers, other.least, &one.change).cmp(&(one.answers, one.least, &other.change))
        });
        slow_for.truncate(KINDS);
        OperationTimes {
            operation,
            answers: self.all.len() as u64,
            p50,
            p95: of_hundred(95),
            p99: of_hundred(99),
            largest: of_hundred(100),
            slow: self.slow,
            slow_cases: self.slowest.into_iter().map(|(_, case)| case).collect(),
            slow_for,
        }
    }
}

/// The place of a change (`body/frequency = "Daily"`).
fn place(change: &str) -> &str {
    change.split_once(" = ").map_or(change, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, verdict::sample};

    /// A case whose judged request has these changes and took so long.
    fn add(watch: &mut Stopwatch, case: &str, changes: &[&str], micros: u64) {
        let text = format!(
            r#"{{"number":1,"case":"{case}","step":"request","operation":"ncbct","micros":{micros},
                "request":{{"method":"GET","url":"/","headers":[]}},"response":{{"status":200,"headers":[]}}}}"#
        );
        let exchange: Exchange = serde_json::from_str(&text).unwrap();
        let failed = Exchange { failure: Some("cut".to_owned()), micros: 9_000_000, ..exchange.clone() };
        let verdict = CaseVerdict {
            exchange: Some(1),
            changes: changes.iter().map(|change| (*change).to_owned()).collect(),
            ..sample("a", Verdict::Pass)
        };
        watch.add(&[failed, exchange], Some(&verdict));
    }

    #[test]
    fn the_parts_of_a_hundred_are_times_that_were_measured() {
        let mut watch = Stopwatch::new(Some(98));
        (1..=100).for_each(|time| add(&mut watch, &format!("a/{time}"), &[], time * 1000));
        let times = watch.finish();
        assert_eq!(times.slow(), 2);
        let [one] = times.operations.as_slice() else { panic!("{times:?}") };
        assert_eq!(
            (one.answers, one.p50, one.p95, one.p99, one.largest),
            (100, 50_000, 95_000, 99_000, 100_000)
        );
        assert_eq!(one.slow_cases, ["a/100", "a/99"]);
        let mut watch = Stopwatch::default();
        add(&mut watch, "a/1", &[], 7);
        let [one] = watch.finish().operations.try_into().unwrap();
        assert_eq!((one.p50, one.p99, one.largest, one.slow), (7, 7, 7, 0));
        assert!(Stopwatch::new(Some(1)).finish().is_empty());
    }

    #[test]
    fn what_is_slow_for_one_value_or_at_one_place_is_named() {
        let mut watch = Stopwatch::default();
        for _ in 0..20 {
            add(&mut watch, "a/1", &["body/a = \"x\""], 2_000);
        }
        // Once it was quick, twice is too few, a little longer is no matter.
        for (change, times) in [
            ("body/a = \"slow\"", &[60_000, 70_000, 80_000][..]),
            ("body/a = \"once\"", &[60_000, 2_000, 80_000]),
            ("body/a = \"few\"", &[60_000, 70_000]),
            ("body/a = \"little\"", &[15_000, 15_000, 15_000]),
            ("query/b = \"1\"", &[30_000, 30_000]),
            ("query/b = \"2\"", &[30_000, 30_000]),
            ("without header/c", &[90_000, 90_000, 90_000, 90_000, 90_000]),
        ] {
            for micros in times {
                add(&mut watch, "a/1", &[change], *micros);
            }
        }
        let [one] = watch.finish().operations.try_into().unwrap();
        let named: Vec<_> =
            one.slow_for.iter().map(|slow| (slow.change.as_str(), slow.answers, slow.least)).collect();
        assert_eq!(
            named,
            [("without header/c", 5, 90_000), ("query/b", 4, 30_000), ("body/a = \"slow\"", 3, 60_000)]
        );
    }
}
