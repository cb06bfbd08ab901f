//! Findings: each is one thing that is wrong, however many cases show it, likeliest causes first.

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

/// One thing that is wrong: its likeliest cause, and what it explains.
#[derive(Debug, Clone)]
pub struct Found {
    /// What tells it from others, the same in every run in which this is the cause.
    pub id: String,
    /// The clause that is broken.
    pub clause: String,
    /// Where.
    pub place: String,
    /// What is wrong, as the smallest witness shows it.
    pub root: Symptom,
    /// What else is wrong for the same cause.
    pub carried: Vec<Symptom>,
    /// Of a plain request that is refused, where nothing shows what is minded: clauses of cases that are this
    /// request once more, so that any of them may be what is broken.
    pub shared_by: Vec<String>,
    /// Where it depends on what else was asked: since when it is so, or what was asked again.
    pub sequence: Option<String>,
}

impl Found {
    /// What it does: the worst of what it is shown by.
    pub fn level(&self) -> Level {
        self.symptoms().map(|symptom| symptom.level).max().unwrap_or(self.root.level)
    }

    /// Everything that shows it, the likeliest cause first.
    pub fn symptoms(&self) -> impl Iterator<Item = &Symptom> {
        [&self.root].into_iter().chain(&self.carried)
    }

    /// Its id, and those of all that it carries: what a waiver of it names.
    pub fn ids(&self) -> Vec<String> {
        let mut ids = vec![self.id.clone()];
        for id in self.symptoms().map(Symptom::id) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// How often a case shows it.
    pub fn witnesses(&self) -> usize {
        self.symptoms().map(|symptom| symptom.witnesses).sum()
    }

    /// Clauses besides its own that cases fail under for the same cause, each once.
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

/// What a run found, likeliest causes first, violations before warnings.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    all: Vec<Found>,
    /// The finding of each symptom.
    index: HashMap<Key, usize>,
    beyond: HashMap<Level, usize>,
}

impl Findings {
    /// Puts symptoms together that have one cause. What is waived by its id is none.
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

    /// All that are kept apart.
    pub fn all(&self) -> &[Found] {
        &self.all
    }

    /// Those of a level.
    pub fn of(&self, level: Level) -> impl Iterator<Item = &Found> {
        self.all.iter().filter(move |found| found.level() == level)
    }

    /// How many there are of a level, those included that are not kept apart.
    pub fn count(&self, level: Level) -> usize {
        self.of(level).count() + self.beyond.get(&level).copied().unwrap_or_default()
    }

    /// The findings that a case shows, each once, in the order in which the case says them.
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

    /// Whether something is wrong under this key.
    pub(crate) fn has(&self, symptom: &Symptom) -> bool {
        self.index.contains_key(&symptom.key())
    }
}

#[cfg(test)]
mod tests;
