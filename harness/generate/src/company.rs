//! Combinations of partitions in one request: first each partition once, then each in new company.

use std::collections::{BTreeMap, BTreeSet};

use crate::partition::{Aim, Partition};

/// Limit of the partitions of one request in addition to its own.
pub(crate) const COMPANY: usize = 6;

/// Limit of the valid partitions in a request that must be accepted.
pub(crate) const PACKED: usize = 8;

/// Limit of the values of one place that count as different company.
const FEW: usize = 10;

/// Number of requests that violate the same clause, in each round after the first.
const OF_ONE_CLAUSE: usize = 6;

/// Partitions of requests, by their numbers, each with true if random company is added.
pub(crate) type Planned = Vec<(Vec<usize>, bool)>;

/// Plans one request for each partition that is invalid or open, and as few requests as possible for the
/// valid ones.
pub(crate) fn every_partition_once(all: &[Partition], order: &[usize]) -> Planned {
    let mut plans = Vec::new();
    let mut packed: Vec<(Vec<usize>, BTreeSet<&str>)> = Vec::new();
    for at in order {
        let class = &all[*at];
        if class.aim != Aim::Valid {
            plans.push((vec![*at], true));
            continue;
        }
        let rules: BTreeSet<&str> = class.touches.iter().map(String::as_str).collect();
        match packed.iter_mut().find(|(pack, taken)| pack.len() < PACKED && taken.is_disjoint(&rules)) {
            Some((pack, taken)) => {
                pack.push(*at);
                taken.extend(rules);
            }
            None => packed.push((vec![*at], rules)),
        }
    }
    plans.extend(packed.into_iter().map(|(pack, _)| {
        let company = pack.len() < PACKED / 2;
        (pack, company)
    }));
    plans
}

/// The combinations of partitions and places that an operation has had. Each valid partition counts on its
/// own. The others count together by clause, because there are many ways to violate a clause.
#[derive(Debug, Default)]
pub(crate) struct Met(BTreeSet<(String, String)>);

impl Met {
    /// Plans requests in which partitions meet places that they have not met, at least one for each valid
    /// partition.
    pub(crate) fn in_new_company(&mut self, all: &[Partition], order: &[usize]) -> Planned {
        let mut plans = Vec::new();
        let mut broken = BTreeMap::new();
        let mut values: BTreeMap<&str, usize> = BTreeMap::new();
        for class in all.iter().filter(|class| class.aim == Aim::Valid) {
            *values.entry(class.place()).or_default() += 1;
        }
        let mut company: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for at in order {
            let class = &all[*at];
            if class.aim == Aim::Valid {
                // With few values, each counts as different company.
                let place = class.place();
                let own = if values[place] <= FEW { class.form.name.as_str() } else { place };
                company.entry(own).or_default().push(*at);
            } else {
                let is_open = class.aim == Aim::Open;
                broken.entry((class.form.clause.as_str(), is_open)).or_insert_with(Vec::new).push(*at);
            }
        }
        for ((clause, is_open), members) in &broken {
            let who = if *is_open { format!("{clause} open") } else { (*clause).to_owned() };
            for turn in 0..OF_ONE_CLAUSE {
                let first = members[turn % members.len()];
                let pack = self.pack(all, &company, first, &who, COMPANY + 1, turn);
                if pack.len() == 1 {
                    break;
                }
                plans.push((pack, false));
            }
        }
        // If all have met, start over with other values.
        let left = plans.len();
        if left == 0 {
            self.0.retain(|(who, _)| !broken.keys().any(|(clause, _)| who.starts_with(clause)));
        }
        let valid: Vec<usize> = order.iter().copied().filter(|at| all[*at].aim == Aim::Valid).collect();
        for (turn, first) in valid.into_iter().enumerate() {
            let name = all[first].form.name.as_str();
            let pack = self.pack(all, &company, first, name, PACKED, turn);
            if pack.len() > 1 {
                plans.push((pack, false));
            }
        }
        if plans.len() == left {
            self.0.retain(|(who, _)| broken.keys().any(|(clause, _)| who.starts_with(clause)));
        }
        plans
    }

    /// Combines a partition with others at places that it has not met.
    fn pack(
        &mut self,
        all: &[Partition],
        company: &BTreeMap<&str, Vec<usize>>,
        first: usize,
        who: &str,
        most: usize,
        turn: usize,
    ) -> Vec<usize> {
        let mut pack = vec![first];
        let mut taken: BTreeSet<&str> = all[first].touches.iter().map(String::as_str).collect();
        let places: Vec<(&&str, &Vec<usize>)> = company.iter().collect();
        for step in 0..places.len() {
            if pack.len() == most {
                break;
            }
            // Start with another place each turn.
            let (met, there) = places[(step + turn * 7) % places.len()];
            let pair = (who.to_owned(), (**met).to_owned());
            if self.0.contains(&pair) {
                continue;
            }
            let other = there[(turn + step) % there.len()];
            let rules = all[other].touches.iter().map(String::as_str);
            if rules.clone().any(|rule| taken.contains(rule)) {
                continue;
            }
            taken.extend(rules);
            self.0.insert(pair);
            pack.push(other);
        }
        // Valid partitions of the request meet each other as well.
        let kept: Vec<usize> = pack.iter().copied().filter(|at| all[*at].aim == Aim::Valid).collect();
        if all[first].aim == Aim::Valid {
            for one in &kept {
                for other in kept.iter().filter(|other| *other != one) {
                    let name = all[*other].form.name.as_str();
                    let met = if company.contains_key(name) { name } else { all[*other].place() };
                    self.0.insert((all[*one].form.name.clone(), met.to_owned()));
                }
            }
        }
        pack
    }
}
