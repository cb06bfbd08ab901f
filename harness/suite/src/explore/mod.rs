//! Requests that nobody wrote. From a model of what the document says ([`Model`]) come classes of values
//! ([`class`]); an [`Explorer`] draws requests from them, each class in changing company, and a pure function
//! of the whole request says what must become of it ([`oracle`]). What breaks the expectation is made smaller
//! ([`Draft::smaller`]) and kept as a case file ([`keep`]).
//!
//! Nothing here knows the case files, and nothing the reference bank.

pub mod class;
mod company;
pub mod draft;
pub mod keep;
pub mod model;
pub mod oracle;
pub mod sequence;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

use proptest::{
    collection::vec,
    prelude::any,
    sample::{Index, select},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use self::company::{Met, every_class_once, place};
pub use self::{
    class::{Aim, Class},
    draft::{Draft, Edit, Move},
    model::Model,
    oracle::Verdict,
};
use xs2aspec_spec::Problem;

use crate::suite::Suite;

/// Moves of one request besides the one that it is made for, at most.
const COMPANY: usize = 6;

/// Valid moves of a request that must be accepted, at most.
const PACKED: usize = 8;

/// Draws requests, the same ones for the same seed.
pub struct Explorer {
    model: Model,
    classes: BTreeMap<String, Vec<Class>>,
    runner: TestRunner,
    /// What is drawn next: requests whose classes are fixed, and then one for each class in turn.
    waiting: VecDeque<Plan>,
    /// How often the classes were gone through.
    round: usize,
    /// Which classes have met, by operation.
    met: BTreeMap<String, Met>,
    reached: BTreeSet<String>,
    /// Pairs of classes that were in one request, as numbers.
    pairs: HashSet<u64>,
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Explorer in round {} with {} classes reached", self.round, self.reached.len())
    }
}

/// Which classes a request is made of, by their numbers; with company that is drawn.
#[derive(Debug, Clone)]
struct Plan {
    operation: String,
    classes: Vec<usize>,
    company: bool,
}

impl Explorer {
    /// An explorer of this suite's operations, or of some of them.
    pub fn new(suite: &Suite, seed: u64, only: &[String]) -> Result<Self, Problem> {
        let model = Model::load(suite)?;
        let mut classes = BTreeMap::new();
        for operation in model.operations() {
            if let Some(baseline) = suite.baselines().get(operation)
                && (only.is_empty() || only.iter().any(|name| name == operation))
            {
                classes.insert(operation.to_owned(), class::of(&model, operation, &baseline.request));
            }
        }
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let runner = TestRunner::new_with_rng(Config::default(), rng);
        let mut explorer = Self {
            model,
            classes,
            runner,
            waiting: VecDeque::new(),
            round: 0,
            met: BTreeMap::new(),
            reached: BTreeSet::new(),
            pairs: HashSet::new(),
        };
        explorer.pairwise();
        Ok(explorer)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Every class.
    pub fn classes(&self) -> impl Iterator<Item = &Class> {
        self.classes.values().flatten()
    }

    /// How many classes were reached, how many there are, and how many pairs of classes were in one request.
    pub fn coverage(&self) -> (usize, usize, usize) {
        (self.reached.len(), self.classes.values().map(Vec::len).sum(), self.pairs.len())
    }

    /// Classes that were not reached, with their operations.
    pub fn unreached(&self) -> Vec<String> {
        let all = self.classes.iter().flat_map(|(operation, classes)| {
            classes.iter().map(move |class| format!("{operation} {}", class.name))
        });
        all.filter(|name| !self.reached.contains(name)).collect()
    }

    /// How often every class has been drawn.
    pub fn rounds(&self) -> usize {
        self.round
    }

    /// The next request. Says whether a class, or a pair of classes, is in it that was never drawn before.
    pub fn draw(&mut self, suite: &Suite) -> (Draft, bool) {
        let plan = loop {
            match self.waiting.pop_front() {
                Some(plan) => break plan,
                None => self.refill(),
            }
        };
        let mut draft = Draft::plain(&plan.operation);
        let classes = self.classes.get(&plan.operation).map_or(&[][..], Vec::as_slice);
        let is_valid = plan.classes.iter().all(|at| classes[*at].aim == Aim::Valid);
        let mut alone = Vec::new();
        for at in &plan.classes {
            // Two things that keep the rules can leave open what must become of both.
            let fits = draft.add(classes[*at].draw(&mut self.runner));
            let is_judged =
                || draft.case(suite, &self.model).is_some_and(|(_, verdict)| verdict == Verdict::Accepted);
            if is_valid && plan.classes.len() > 1 && !(fits && is_judged()) {
                if fits {
                    draft.moves.pop();
                }
                alone.push(Plan { operation: plan.operation.clone(), classes: vec![*at], company: false });
            }
        }
        if plan.company {
            let aim = plan.classes.first().map_or(Aim::Valid, |at| classes[*at].aim);
            let most = if aim == Aim::Valid { PACKED } else { COMPANY };
            let picks = class::drawn(&vec(any::<Index>(), 0..=most), &mut self.runner);
            let company: Vec<&Class> = classes.iter().filter(|class| class.aim == Aim::Valid).collect();
            for pick in picks.iter().filter(|_| !company.is_empty()) {
                // Members and headers are as likely each, however many values they have.
                let places: BTreeSet<&str> = company.iter().map(|class| place(&class.name)).collect();
                let places: Vec<&str> = places.into_iter().collect();
                let place_of = places[pick.index(places.len())];
                let there: Vec<&&Class> =
                    company.iter().filter(|class| place(&class.name) == place_of).collect();
                let one = class::drawn(&select((0..there.len()).collect::<Vec<_>>()), &mut self.runner);
                let fits = draft.add(there[one].draw(&mut self.runner));
                let is_judged = || {
                    draft.case(suite, &self.model).is_some_and(|(_, verdict)| verdict == Verdict::Accepted)
                };
                if fits && is_valid && !is_judged() {
                    draft.moves.pop();
                }
            }
            // Sometimes a second rule is broken, once each was broken alone.
            if self.round > 1 && aim == Aim::Broken && class::drawn(&(0..8u8), &mut self.runner) == 0 {
                let broken: Vec<&Class> = classes.iter().filter(|class| class.aim == Aim::Broken).collect();
                let one = class::drawn(&any::<Index>(), &mut self.runner).index(broken.len());
                draft.add(broken[one].draw(&mut self.runner));
            }
        }
        // What was left out comes by itself, if it is not one of many that come again anyway.
        if self.round <= 1 {
            self.waiting.extend(alone);
        }
        let is_new = self.note(&draft);
        (draft, is_new)
    }

    /// The next sequence of requests.
    pub fn draw_sequence(&mut self) -> Vec<sequence::Command> {
        sequence::draw(&mut self.runner)
    }

    /// Notes what a request reaches.
    fn note(&mut self, draft: &Draft) -> bool {
        let mut is_new = false;
        let names: Vec<String> =
            draft.moves.iter().map(|one| format!("{} {}", draft.operation, one.class)).collect();
        for name in &names {
            is_new |= self.reached.insert(name.clone());
        }
        for (at, one) in names.iter().enumerate() {
            for other in &names[at + 1..] {
                let mut hash = DefaultHasher::new();
                (one.min(other), one.max(other)).hash(&mut hash);
                is_new |= self.pairs.insert(hash.finish());
            }
        }
        is_new
    }

    /// Requests in which every two optional things of an operation are together, apart, and both absent
    /// (pairwise arrays).
    fn pairwise(&mut self) {
        let mut plans = Vec::new();
        for (operation, classes) in &self.classes {
            // One valid class for each place.
            let mut factors: BTreeMap<&str, usize> = BTreeMap::new();
            for (at, class) in classes.iter().enumerate().filter(|(_, class)| class.aim == Aim::Valid) {
                factors.entry(place(&class.name)).or_insert(at);
            }
            let factors: Vec<usize> = factors.into_values().collect();
            let mut open: BTreeSet<(usize, usize, bool, bool)> = BTreeSet::new();
            for one in 0..factors.len() {
                for other in one + 1..factors.len() {
                    let apart = classes[factors[one]]
                        .rules
                        .iter()
                        .any(|rule| classes[factors[other]].rules.contains(rule));
                    for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
                        if !(apart && first && second) {
                            open.insert((one, other, first, second));
                        }
                    }
                }
            }
            while !open.is_empty() {
                // Greedily: each factor is there if that settles more pairs with those that are decided.
                let mut row: Vec<Option<bool>> = vec![None; factors.len()];
                let seed = open.first().copied();
                if let Some((one, other, first, second)) = seed {
                    row[one] = Some(first);
                    row[other] = Some(second);
                }
                for at in 0..factors.len() {
                    if row[at].is_some() {
                        continue;
                    }
                    let settled = |there: bool| {
                        row.iter()
                            .enumerate()
                            .filter(|(other, is)| {
                                let Some(is) = is else { return false };
                                let pair = if *other < at {
                                    (*other, at, *is, there)
                                } else {
                                    (at, *other, there, *is)
                                };
                                open.contains(&pair)
                            })
                            .count()
                    };
                    let clashes = row.iter().enumerate().any(|(other, is)| {
                        *is == Some(true)
                            && classes[factors[other]]
                                .rules
                                .iter()
                                .any(|rule| classes[factors[at]].rules.contains(rule))
                    });
                    row[at] = Some(!clashes && settled(true) >= settled(false));
                }
                let there = |at: usize| row[at] == Some(true);
                let before = open.len();
                open.retain(|(one, other, first, second)| there(*one) != *first || there(*other) != *second);
                let chosen: Vec<usize> =
                    (0..factors.len()).filter(|at| there(*at)).map(|at| factors[at]).collect();
                plans.push(Plan { operation: operation.clone(), classes: chosen, company: false });
                if open.len() == before {
                    // What cannot be together stays so.
                    if let Some(first) = seed {
                        open.remove(&first);
                    }
                }
            }
        }
        self.waiting.extend(plans);
    }

    /// What is drawn next: first every class once, then each in company that it did not have.
    fn refill(&mut self) {
        let mut plans = Vec::new();
        for (operation, classes) in &self.classes {
            let numbers = class::drawn(&vec(any::<u64>(), classes.len()), &mut self.runner);
            let mut order: Vec<usize> = (0..classes.len()).collect();
            order.sort_by_key(|at| numbers[*at]);
            let made = if self.round == 0 {
                every_class_once(classes, &order)
            } else {
                self.met.entry(operation.clone()).or_default().in_new_company(classes, &order)
            };
            // Which of them comes when is drawn too.
            plans.extend(made.into_iter().map(|(classes, company)| {
                let number = classes.first().map_or(0, |at| numbers[*at]);
                (
                    number.rotate_left(u32::try_from(self.round % 64).unwrap_or(0)),
                    Plan { operation: operation.clone(), classes, company },
                )
            }));
        }
        plans.sort_by_key(|(number, _)| *number);
        self.round += 1;
        self.waiting.extend(plans.into_iter().map(|(_, plan)| plan));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xs2aspec_spec::Tree;

    #[test]
    fn every_plain_request_is_to_be_accepted() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let model = Model::load(&suite).unwrap();
        for operation in model.operations() {
            let (_, verdict) = Draft::plain(operation).case(&suite, &model).unwrap();
            assert_eq!(verdict, Verdict::Accepted, "{operation}");
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_requests_and_another_one_others() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let drawn = |seed| {
            let mut explorer = Explorer::new(&suite, seed, &[]).unwrap();
            (0..300).map(|_| explorer.draw(&suite).0).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    /// A class alone does what it is made for: the oracle, which knows no classes, says the same of the whole
    /// request.
    #[test]
    fn each_class_alone_comes_to_what_it_aims_at() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let mut explorer = Explorer::new(&suite, 1, &[]).unwrap();
        let operations: Vec<String> = explorer.classes.keys().cloned().collect();
        let mut wrong = Vec::new();
        for operation in operations {
            let classes = explorer.classes.remove(&operation).unwrap();
            for class in &classes {
                for _ in 0..3 {
                    let mut draft = Draft::plain(&operation);
                    draft.add(class.draw(&mut explorer.runner));
                    let Some((_, verdict)) = draft.case(&suite, &explorer.model) else {
                        wrong.push(format!("{operation} {class:?}: cannot be made"));
                        break;
                    };
                    let comes_to = match &verdict {
                        Verdict::Accepted => Aim::Valid,
                        Verdict::Refused { .. } => Aim::Broken,
                        Verdict::Choice(_) | Verdict::Open(_) => Aim::Open,
                    };
                    if comes_to != class.aim {
                        wrong.push(format!("{operation} {class:?}: {verdict:?}"));
                        break;
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
    }
}
