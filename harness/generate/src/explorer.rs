//! Generates requests: each partition first once, then in new company.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

use fastrand::Rng;
use xs2aspec_spec::request::Due;
use xs2aspec_suite::Suite;

use crate::{
    Combination,
    company::{COMPANY, Met, PACKED, every_partition_once},
    pairs,
    partition::{Aim, Partition},
};

/// A generator of requests, deterministic for a seed.
pub struct Explorer {
    partitions: BTreeMap<String, Vec<Partition>>,
    rng: Rng,
    /// The next plans: requests with fixed partitions, then one for each partition in turn.
    waiting: VecDeque<Plan>,
    /// Number of completed passes over the partitions.
    round: usize,
    /// The combinations so far, by operation.
    met: BTreeMap<String, Met>,
    reached: BTreeSet<String>,
    /// Hashes of the pairs of partitions that were in one request.
    pairs: HashSet<u64>,
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Explorer in round {} with {} partitions reached", self.round, self.reached.len())
    }
}

/// The partitions of a request, by their numbers, and true if random company is added.
#[derive(Debug, Clone)]
struct Plan {
    operation: String,
    partitions: Vec<usize>,
    company: bool,
}

impl Explorer {
    /// Creates an explorer of this suite's operations, or of those in `only`.
    pub fn new(suite: &Suite, seed: u64, only: &[String]) -> Self {
        let mut rng = Rng::with_seed(seed);
        let wanted = suite
            .requests()
            .operations()
            .filter(|name| only.is_empty() || only.iter().any(|only| only == name));
        let partitions: BTreeMap<String, Vec<Partition>> =
            wanted.map(|name| (name.to_owned(), Partition::all(suite, name, &mut rng))).collect();
        let mut waiting = VecDeque::new();
        for (operation, partitions) in &partitions {
            let requests = pairs::pairwise(partitions).into_iter();
            waiting.extend(requests.map(|partitions| Plan {
                operation: operation.clone(),
                partitions,
                company: false,
            }));
        }
        Self {
            partitions,
            rng,
            waiting,
            round: 0,
            met: BTreeMap::new(),
            reached: BTreeSet::new(),
            pairs: HashSet::new(),
        }
    }

    /// Returns every partition.
    pub fn partitions(&self) -> impl Iterator<Item = &Partition> {
        self.partitions.values().flatten()
    }

    /// Returns the number of partitions reached, the number of all partitions, and the number of pairs that
    /// were in one request.
    pub fn coverage(&self) -> (usize, usize, usize) {
        (self.reached.len(), self.partitions.values().map(Vec::len).sum(), self.pairs.len())
    }

    /// Returns the partitions that were not reached, with their operations.
    pub fn unreached(&self) -> Vec<String> {
        let all = self
            .partitions
            .iter()
            .flat_map(|(operation, all)| all.iter().map(move |one| format!("{operation} {}", one.form.name)));
        all.filter(|name| !self.reached.contains(name)).collect()
    }

    /// Returns how many times every partition was generated.
    pub fn rounds(&self) -> usize {
        self.round
    }

    /// Returns the next request, and true if it has a new partition or pair of partitions.
    pub fn draw(&mut self, suite: &Suite) -> (Combination, bool) {
        let plan = loop {
            match self.waiting.pop_front() {
                Some(plan) => break plan,
                None => self.refill(),
            }
        };
        let all = self.partitions.get(&plan.operation).map_or(&[][..], Vec::as_slice);
        let mut combination = Combination::plain(&plan.operation);
        let is_valid = plan.partitions.iter().all(|at| all[*at].aim == Aim::Valid);
        let mut alone = Vec::new();
        for at in &plan.partitions {
            // Two valid partitions together can make the outcome open.
            let is_checked = is_valid && plan.partitions.len() > 1;
            if !added(&mut combination, &all[*at], &mut self.rng, suite, is_checked) {
                alone.push(Plan { partitions: vec![*at], company: false, ..plan.clone() });
            }
        }
        if plan.company {
            let aim = plan.partitions.first().map_or(Aim::Valid, |at| all[*at].aim);
            let company: Vec<&Partition> = all.iter().filter(|one| one.aim == Aim::Valid).collect();
            // Each field and header is equally likely, however many values it has.
            let places: BTreeSet<&str> = company.iter().map(|one| one.place()).collect();
            let places: Vec<&str> = places.into_iter().collect();
            let most = if aim == Aim::Valid { PACKED } else { COMPANY };
            for _ in 0..self.rng.usize(..=most).min(places.len()) {
                let place = places[self.rng.usize(..places.len())];
                let there: Vec<&&Partition> = company.iter().filter(|one| one.place() == place).collect();
                let one = there[self.rng.usize(..there.len())];
                added(&mut combination, one, &mut self.rng, suite, is_valid);
            }
            // Occasionally violate a second rule, once each was violated alone.
            let broken: Vec<&Partition> = all.iter().filter(|one| one.aim == Aim::Broken).collect();
            if self.round > 1 && aim == Aim::Broken && !broken.is_empty() && self.rng.u8(..8) == 0 {
                combination.add(broken[self.rng.usize(..broken.len())].draw(&mut self.rng));
            }
        }
        // An omitted partition gets a request of its own. In later rounds it comes again anyway.
        if self.round <= 1 {
            self.waiting.extend(alone);
        }
        let is_new = self.note(&combination);
        (combination, is_new)
    }

    /// Records the partitions of a request.
    fn note(&mut self, combination: &Combination) -> bool {
        let mut is_new = false;
        let names: Vec<String> =
            combination.forms.iter().map(|one| format!("{} {}", combination.operation, one.form)).collect();
        for (at, one) in names.iter().enumerate() {
            is_new |= self.reached.insert(one.clone());
            for other in &names[at + 1..] {
                let mut hash = DefaultHasher::new();
                (one.min(other), one.max(other)).hash(&mut hash);
                is_new |= self.pairs.insert(hash.finish());
            }
        }
        is_new
    }

    /// Plans the next round: first every partition once, then each in new company.
    fn refill(&mut self) {
        let mut plans = Vec::new();
        for (operation, all) in &self.partitions {
            let mut order: Vec<usize> = (0..all.len()).collect();
            self.rng.shuffle(&mut order);
            let made = if self.round == 0 {
                every_partition_once(all, &order)
            } else {
                self.met.entry(operation.clone()).or_default().in_new_company(all, &order)
            };
            let plan = |(partitions, company)| Plan { operation: operation.clone(), partitions, company };
            plans.extend(made.into_iter().map(plan));
        }
        self.rng.shuffle(&mut plans);
        self.round += 1;
        self.waiting.extend(plans);
    }
}

/// Adds an instance of a partition. If `is_checked`, it is added only if the request must still be accepted.
fn added(
    combination: &mut Combination,
    one: &Partition,
    rng: &mut Rng,
    suite: &Suite,
    is_checked: bool,
) -> bool {
    if !combination.add(one.draw(rng)) {
        return false;
    }
    if is_checked && !matches!(suite.due_of(combination), Some(Due::Accepted { .. })) {
        combination.forms.pop();
        return false;
    }
    true
}
