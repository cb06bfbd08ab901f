//! Findings: each is one defect, however many cases show it. The likeliest causes come first.

mod cause;
mod requests;
mod sequence;
pub(crate) mod symptom;

use std::collections::{BTreeSet, HashMap};

use xs2aspec_record::{CaseVerdict, Level, WaiverSeen, WaiverState, finding_id};

use self::{
    cause::groups,
    symptom::{Key, Kind, Symptoms, key},
};
pub use self::{
    sequence::AskedAgain,
    symptom::{Symptom, Witness},
};

/// One defect: its likeliest cause, and the symptoms that the cause explains.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its id, the same in every run in which this is the cause.
    pub id: String,
    /// The violated clause.
    pub clause: String,
    /// The place.
    pub place: String,
    /// The likeliest cause, as the smallest witness shows it.
    pub root: Symptom,
    /// Other symptoms with the same cause.
    pub carried: Vec<Symptom>,
    /// For a rejected baseline request without a known cause: the clauses of cases that are the same request.
    /// Any of them may be violated.
    pub shared_by: Vec<String>,
    /// If it depends on other requests: when it began, or the result of the rerun.
    pub sequence: Option<String>,
}

impl Found {
    /// Returns the level: the highest of its symptoms.
    pub fn level(&self) -> Level {
        self.symptoms().map(|symptom| symptom.level).max().unwrap_or(self.root.level)
    }

    /// Returns all symptoms, the likeliest cause first.
    pub fn symptoms(&self) -> impl Iterator<Item = &Symptom> {
        [&self.root].into_iter().chain(&self.carried)
    }

    /// Returns its id and those of its symptoms, which a waiver of it names.
    pub fn ids(&self) -> Vec<String> {
        let mut ids = vec![self.id.clone()];
        for id in self.symptoms().map(Symptom::id) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// Returns how many times cases show it.
    pub fn witnesses(&self) -> usize {
        self.symptoms().map(|symptom| symptom.witnesses).sum()
    }

    /// Returns the other clauses under which cases fail for the same cause, each once.
    pub fn other_clauses(&self) -> Vec<&str> {
        let mut clauses: Vec<&str> = Vec::new();
        for symptom in self.symptoms() {
            let clause = symptom.clause.as_str();
            if clause != self.clause && !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        clauses
    }
}

/// The findings of a run: violations before warnings, likeliest causes first.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    all: Vec<Found>,
    /// The finding of each symptom.
    index: HashMap<Key, usize>,
    beyond: HashMap<Level, usize>,
}

impl Findings {
    /// Groups symptoms by cause. Symptoms that are waived by id are dropped.
    pub(crate) fn new(symptoms: &Symptoms, asked_again: &AskedAgain, waivers: &[WaiverSeen]) -> Self {
        let mut all = Vec::new();
        let mut owners = vec![None; symptoms.all.len()];
        let waived: BTreeSet<&str> = waivers
            .iter()
            .filter(|waiver| waiver.state == WaiverState::InForce)
            .flat_map(|waiver| waiver.findings.iter().map(String::as_str))
            .collect();
        let groups = groups(symptoms, &|symptom| waived.contains(symptom.id().as_str()));
        let groups = sequence::together(groups, symptoms, asked_again);
        for (number, (group, sequence)) in groups.into_iter().enumerate() {
            let root = symptoms.all[group.root].clone();
            let carried: Vec<Symptom> = group.carried.iter().map(|at| symptoms.all[*at].clone()).collect();
            for at in group.carried.iter().chain([&group.root]) {
                owners[*at] = Some(number);
            }
            let clause = root.named.clone().unwrap_or_else(|| root.clause.clone());
            let mut place = root.place.clone();
            if root.named.is_some() {
                let minded: BTreeSet<&str> = root.places().collect();
                place = format!("{place} {}", minded.into_iter().collect::<Vec<_>>().join(" "));
            }
            let is_open = root.kind == Kind::Plain && root.named.is_none() && carried.is_empty();
            let shared_by = symptoms.by_name.get(&root.witness.case).filter(|_| is_open);
            let shared_by = shared_by.into_iter().flatten().cloned().collect();
            let id = finding_id::id(&clause, &place);
            all.push(Found { id, clause, place, root, carried, shared_by, sequence });
        }
        let index = symptoms.index.iter().filter_map(|(key, at)| Some((key.clone(), owners[*at]?))).collect();
        Self { all, index, beyond: symptoms.beyond.clone() }
    }

    /// Returns the findings that were recorded individually.
    pub fn all(&self) -> &[Found] {
        &self.all
    }

    /// Returns the findings of a level.
    pub fn of(&self, level: Level) -> impl Iterator<Item = &Found> {
        self.all.iter().filter(move |found| found.level() == level)
    }

    /// Returns the number of findings of a level, including those beyond the limit.
    pub fn count(&self, level: Level) -> usize {
        self.of(level).count() + self.beyond.get(&level).copied().unwrap_or_default()
    }

    /// Returns the findings that a case shows, each once, in the order of the case.
    pub fn of_case(&self, verdict: &CaseVerdict) -> Vec<&Found> {
        let mut numbers: Vec<usize> = Vec::new();
        for finding in &verdict.findings {
            if let Some(number) = self.index.get(&key(verdict, finding))
                && !numbers.contains(number)
            {
                numbers.push(*number);
            }
        }
        numbers.into_iter().map(|number| &self.all[number]).collect()
    }

    /// Returns true if this run has a symptom with the same key.
    pub(crate) fn has(&self, symptom: &Symptom) -> bool {
        self.index.contains_key(&symptom.key())
    }
}

#[cfg(test)]
mod tests;
