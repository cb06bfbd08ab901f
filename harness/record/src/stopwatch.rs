//! Measures the response times of a target from the exchanges of a record.

use std::collections::BTreeMap;

use crate::{
    exchange::Exchange,
    times::{OperationTimes, Times},
};

/// Number of slow cases to list per operation.
const NAMED: usize = 3;

/// Collects the times of a run, case by case.
#[derive(Debug, Default)]
pub struct Stopwatch {
    slow_ms: Option<u64>,
    operations: BTreeMap<String, Operation>,
}

#[derive(Debug, Default)]
struct Operation {
    all: Vec<u64>,
    slow: u64,
    /// The slowest responses over the limit, slowest first.
    slowest: Vec<(u64, String)>,
}

impl Stopwatch {
    /// Returns a stopwatch with this limit for a response, in milliseconds.
    pub fn new(slow_ms: Option<u64>) -> Self {
        Self { slow_ms, operations: BTreeMap::new() }
    }

    /// Adds the exchanges of a case. Exchanges without a complete response are ignored.
    pub fn add(&mut self, exchanges: &[Exchange]) {
        for exchange in exchanges {
            let is_whole = exchange.response.is_some() && exchange.failure.is_none();
            let Some(name) = exchange.operation.as_deref().filter(|_| is_whole) else { continue };
            let operation = self.operations.entry(name.to_owned()).or_default();
            operation.all.push(exchange.micros);
            if self.slow_ms.is_some_and(|most| exchange.micros > most.saturating_mul(1000)) {
                operation.add_slow(exchange);
            }
        }
    }

    /// Returns the measured times.
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
        // Ties are sorted by id, so the result does not depend on the order of the cases.
        let is_before = |(micros, case): &(u64, String)| {
            *micros > exchange.micros || *micros == exchange.micros && *case < exchange.case
        };
        let at = self.slowest.partition_point(is_before);
        self.slowest.insert(at, (exchange.micros, exchange.case.clone()));
        self.slowest.truncate(NAMED);
    }

    fn finish(mut self, operation: String) -> OperationTimes {
        self.all.sort_unstable();
        let of_hundred = |part: usize| {
            let rank = (self.all.len() * part).div_ceil(100);
            self.all.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        OperationTimes {
            operation,
            answers: self.all.len() as u64,
            p50: of_hundred(50),
            p95: of_hundred(95),
            p99: of_hundred(99),
            largest: of_hundred(100),
            slow: self.slow,
            slow_cases: self.slowest.into_iter().map(|(_, case)| case).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a case whose request took `micros`, after an exchange that broke off.
    fn add(watch: &mut Stopwatch, case: &str, micros: u64) {
        let text = format!(
            r#"{{"number":1,"case":"{case}","step":"request","operation":"ncbct","micros":{micros},
                "request":{{"method":"GET","url":"/","headers":[]}},"response":{{"status":200,"headers":[]}}}}"#
        );
        let exchange: Exchange = serde_json::from_str(&text).unwrap();
        let failed = Exchange { failure: Some("cut".to_owned()), micros: 9_000_000, ..exchange.clone() };
        watch.add(&[failed, exchange]);
    }

    #[test]
    fn the_parts_of_a_hundred_are_times_that_were_measured() {
        let mut watch = Stopwatch::new(Some(98));
        (1..=100).for_each(|time| add(&mut watch, &format!("a/{time}"), time * 1000));
        let times = watch.finish();
        assert_eq!(times.slow(), 2);
        let [one] = times.operations.as_slice() else { panic!("{times:?}") };
        assert_eq!(
            (one.answers, one.p50, one.p95, one.p99, one.largest),
            (100, 50_000, 95_000, 99_000, 100_000)
        );
        assert_eq!(one.slow_cases, ["a/100", "a/99"]);
        let mut watch = Stopwatch::default();
        add(&mut watch, "a/1", 7);
        let [one] = watch.finish().operations.try_into().unwrap();
        assert_eq!((one.p50, one.p99, one.largest, one.slow), (7, 7, 7, 0));
        assert!(Stopwatch::new(Some(1)).finish().is_empty());
    }
}
