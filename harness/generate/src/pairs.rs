//! Pairwise arrays: requests in which every two optional parts of an operation occur together, apart, and
//! both absent.

use std::collections::{BTreeMap, BTreeSet};

use crate::partition::{Aim, Partition};

/// Two parts, by their numbers, each with true if it is present.
type Pair = (usize, usize, bool, bool);

/// Returns the partitions of each request, by their numbers. One valid partition represents each place.
pub(crate) fn pairwise(partitions: &[Partition]) -> Vec<Vec<usize>> {
    let mut of_place: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, one) in partitions.iter().enumerate().filter(|(_, one)| one.aim == Aim::Valid) {
        of_place.entry(one.place()).or_insert(at);
    }
    let factors: Vec<usize> = of_place.into_values().collect();
    let fit = |one: usize, other: usize| partitions[factors[one]].fits(&partitions[factors[other]]);
    let mut open: BTreeSet<Pair> = BTreeSet::new();
    for one in 0..factors.len() {
        for other in one + 1..factors.len() {
            let together = fit(one, other).then_some((one, other, true, true));
            open.extend(together);
            open.extend([(one, other, true, false), (one, other, false, true), (one, other, false, false)]);
        }
    }
    let mut requests = Vec::new();
    while let Some(seed) = open.first().copied() {
        let row = row(factors.len(), seed, &open, &fit);
        open.retain(|(one, other, first, second)| row[*one] != *first || row[*other] != *second);
        // The pair may be impossible.
        open.remove(&seed);
        requests.push((0..factors.len()).filter(|at| row[*at]).map(|at| factors[at]).collect());
    }
    requests
}

/// Builds a row greedily: a part is present if that settles more pairs with the parts decided so far.
fn row(count: usize, seed: Pair, open: &BTreeSet<Pair>, fit: &dyn Fn(usize, usize) -> bool) -> Vec<bool> {
    let mut row: Vec<Option<bool>> = vec![None; count];
    row[seed.0] = Some(seed.2);
    row[seed.1] = Some(seed.3);
    for at in 0..count {
        if row[at].is_some() {
            continue;
        }
        let decided = || row.iter().enumerate().filter_map(|(other, is)| Some((other, (*is)?)));
        let settled = |there: bool| {
            let pair = |(other, is): (usize, bool)| {
                if other < at { (other, at, is, there) } else { (at, other, there, is) }
            };
            decided().filter(|one| open.contains(&pair(*one))).count()
        };
        let clashes = decided().any(|(other, is)| is && !fit(other, at));
        row[at] = Some(!clashes && settled(true) >= settled(false));
    }
    row.into_iter().map(|is| is == Some(true)).collect()
}
