//! Tests two faults at once: each must be found as if it were alone, and no other clause may be blamed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use xs2aspec_reference::Fault;
use xs2aspec_runner::BoxFuture;
use xs2aspec_suite::Suite;

use crate::{
    BankVariant, MutationOptions, ProveError, draw,
    mutation::{Shared, boxed, side_by_side},
};

/// The result for two faults at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairRow {
    /// The names of both.
    pub names: [&'static str; 2],
    /// Faults that their own clause catches alone, but not together with the other.
    pub hidden: Vec<&'static str>,
    /// Accused clauses that neither fault alone accuses.
    pub blamed: BTreeSet<String>,
}

impl PairRow {
    /// Returns true if both are found, and no other clause is blamed.
    pub fn is_clear(&self) -> bool {
        self.hidden.is_empty() && self.blamed.is_empty()
    }
}

/// Returns `count` pairs of faults of different clauses, chosen by a seed. The pairs are disjoint as long as
/// possible.
pub fn drawn(mut faults: Vec<Fault>, count: usize, seed: u64) -> Vec<(Fault, Fault)> {
    faults.sort_by_key(|fault| fault.name());
    let all = faults.len();
    let positions: Vec<usize> = draw::positions(all, seed).collect();
    let at = |number: usize| faults[positions[number % all]];
    let pairs =
        (0..).step_by(2).take(if all < 2 { 0 } else { all * all }).map(|number| (at(number), at(number + 1)));
    pairs.filter(|(one, other)| one.clause() != other.clause()).take(count).collect()
}

/// Tests banks with both faults of each pair, and with one of them, on the clauses of both.
pub fn rows<'a>(
    suite: &'a Arc<Suite>,
    pairs: Vec<(Fault, Fault)>,
    options: &'a MutationOptions,
) -> BoxFuture<'a, Result<Vec<PairRow>, ProveError>> {
    Box::pin(all_rows(suite, pairs, options))
}

async fn all_rows(
    suite: &Arc<Suite>,
    pairs: Vec<(Fault, Fault)>,
    options: &MutationOptions,
) -> Result<Vec<PairRow>, ProveError> {
    let shared = Arc::new(Shared::new(suite, options)?);
    let mut rows = Vec::new();
    let mut asked = pairs.into_iter().map(|pair| {
        let (options, suite, shared) = (options.clone(), Arc::clone(suite), Arc::clone(&shared));
        boxed(async move { row(&shared, &options, &suite, pair).await })
    });
    side_by_side(&mut asked, options.banks, &mut |row| rows.push(row)).await?;
    rows.sort_by_key(|row| row.names);
    Ok(rows)
}

async fn row(
    shared: &Shared,
    options: &MutationOptions,
    suite: &Arc<Suite>,
    (one, other): (Fault, Fault),
) -> Result<PairRow, ProveError> {
    let has_cases = |clause: &&str| suite.cases().iter().any(|case| case.clause == **clause);
    let clauses: Vec<String> = [one.clause(), other.clause()]
        .iter()
        .filter(|clause| has_cases(clause))
        .map(ToString::to_string)
        .collect();
    let both = shared.asked(options, suite, BankVariant::Pair(one, other), &clauses, None).await?;
    let both = both.accused();
    let mut alone = BTreeMap::new();
    for fault in [one, other] {
        let row = shared.asked(options, suite, BankVariant::Fault(fault), &clauses, None).await?;
        alone
            .insert(fault.name(), row.accused().into_iter().map(str::to_owned).collect::<BTreeSet<String>>());
    }
    let is_hidden =
        |fault: &&Fault| alone[fault.name()].contains(fault.clause()) && !both.contains(fault.clause());
    Ok(PairRow {
        names: [one.name(), other.name()],
        hidden: [one, other].iter().filter(is_hidden).map(|fault| fault.name()).collect(),
        blamed: both
            .iter()
            .filter(|clause| ![one.clause(), other.clause()].contains(*clause))
            .filter(|clause| !alone.values().any(|accused| accused.contains(**clause)))
            .map(ToString::to_string)
            .collect(),
    })
}

/// Renders a tab-separated table with a row per pair.
pub fn table(rows: &[PairRow]) -> String {
    let mut text =
        "# one fault, the other, which of them is hidden, clauses that neither breaks and that are blamed\n"
            .to_owned();
    for PairRow { names: [one, other], hidden, blamed } in rows {
        let blamed: Vec<&str> = blamed.iter().map(String::as_str).collect();
        _ = writeln!(text, "{one}\t{other}\t{}\t{}", hidden.join(", "), blamed.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_of_different_clauses_and_the_same_for_a_seed() {
        let names = |seed| -> Vec<(&str, &str)> {
            drawn(Fault::all().collect(), 500, seed)
                .iter()
                .map(|(one, other)| (one.name(), other.name()))
                .collect()
        };
        let pairs = drawn(Fault::all().collect(), 500, 1);
        assert_eq!(pairs.len(), 500);
        assert!(pairs.iter().all(|(one, other)| one.clause() != other.clause()));
        let of: BTreeSet<&str> = pairs.iter().flat_map(|(one, other)| [one.name(), other.name()]).collect();
        assert!(of.len() > 900, "{}", of.len());
        assert_eq!(names(1), names(1));
        assert_ne!(names(1), names(2));
        assert!(drawn(Fault::all().take(1).collect(), 3, 1).is_empty());
    }
}
