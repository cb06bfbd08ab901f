//! Measures how many generated requests find each fault, without a handwritten case, and checks that none of
//! them accuses the clean bank or a variation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use chrono::{DateTime, Utc};
use tokio::task::JoinSet;
use xs2aspec_generate::{Explorer, Sequencer};
use xs2aspec_judge::{Identity, Profile, RequestCache};
use xs2aspec_record::{Finding, Verdict};
use xs2aspec_runner::{Clock, Runner};
use xs2aspec_suite::{Case, Suite};

use crate::{
    Kind, ProveError,
    drawn_sequence::DrawnSequence,
    variant::{BankVariant, NOWHERE},
};

/// Number of requests that are generated and signed together, and then sent to every bank, within its budget.
const BATCH: u64 = 5_000;

/// One generated case in this many is a sequence.
const SEQUENCE_EVERY: usize = 12;

/// Clauses that a single request cannot test, one per line.
const OF_STATE: &str = include_str!("../../../fixtures/kill-matrix/of-state.txt");

/// Options of the search.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// Seed of the generator.
    pub seed: u64,
    /// The clock of the runner and of all banks.
    pub now: DateTime<Utc>,
    /// Limit of the requests per bank.
    pub budget: u64,
    /// Number of banks that are tested in parallel.
    pub banks: usize,
}

/// One bank, and the result of the generated requests.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The bank.
    pub bank: BankVariant,
    /// Requests sent.
    pub sent: u64,
    /// The first request that reveals a violation, in words, and its findings.
    pub found: Option<(String, Vec<Finding>)>,
}

impl Searched {
    /// Returns the request and the findings, in one line.
    pub fn found_by(&self) -> Option<String> {
        let (request, findings) = self.found.as_ref()?;
        let says = |one: &Finding| format!("{}: expected {}, got {}", one.clause, one.expected, one.actual);
        let findings: Vec<String> = findings.iter().map(says).collect();
        Some(format!("{request}: {}", findings.join("; ")).replace(['\n', '\t'], " "))
    }
}

/// The kind of messages in which a fault appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// The response to any request.
    Answers,
    /// One request that violates a rule or conforms.
    Requests,
    /// Several requests.
    State,
    /// One request with a combination of two things.
    TwoThings,
}

impl Concern {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::Requests => "requests",
            Self::State => "state",
            Self::TwoThings => "two things",
        }
    }
}

/// The results of the generated requests on all banks.
#[derive(Debug)]
pub struct FaultSearch {
    /// The banks, with the concern of their fault or variation.
    pub banks: Vec<(Searched, Concern)>,
}

impl FaultSearch {
    /// Sends the same generated requests to each bank until one reveals a violation.
    pub async fn run(
        suite: &Arc<Suite>,
        banks: Vec<BankVariant>,
        options: &SearchOptions,
    ) -> Result<Self, ProveError> {
        let mut explorer = Explorer::new(suite, options.seed, &[]);
        let mut sequencer = Sequencer::new(options.seed);
        let nowhere = Profile::reference(NOWHERE)?;
        let runner = Arc::new(Runner::new(
            Arc::clone(suite),
            nowhere.for_show(),
            Identity::reproducible(options.seed),
            Clock::at(options.now),
        )?);
        let mut searched: Vec<Searched> =
            banks.into_iter().map(|bank| Searched { bank, sent: 0, found: None }).collect();
        let mut drawn = 0;
        let size = usize::try_from(options.budget.min(BATCH)).unwrap_or(usize::MAX);
        loop {
            let is_open = |one: &Searched| one.found.is_none() && one.sent < options.budget;
            let open: Vec<usize> = (0..searched.len()).filter(|at| is_open(&searched[*at])).collect();
            if open.is_empty() {
                break;
            }
            let batch = Arc::new(Batch::draw((&mut explorer, &mut sequencer), suite, (&mut drawn, size)));
            let mut running = JoinSet::new();
            let mut waiting = open.into_iter();
            loop {
                while running.len() < options.banks.max(1)
                    && let Some(at) = waiting.next()
                {
                    let (one, options) = (searched[at].clone(), options.clone());
                    let (runner, batch) = (Arc::clone(&runner), Arc::clone(&batch));
                    running.spawn(async move { (at, batch.send(&runner, one, &options).await) });
                }
                let Some(ended) = running.join_next().await else { break };
                let (at, one) = ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
                searched[at] = one?;
            }
        }
        Ok(Self::new(suite, searched))
    }

    fn new(suite: &Suite, searched: Vec<Searched>) -> Self {
        let of_answers: BTreeSet<&str> = suite.answers().of_every_answer();
        let together: BTreeSet<&str> = BankVariant::interactions().map(BankVariant::name).collect();
        let concern = |bank: BankVariant| match bank.clause() {
            _ if together.contains(bank.name()) => Concern::TwoThings,
            clause if of_answers.contains(clause) => Concern::Answers,
            clause if OF_STATE.lines().any(|line| line == clause) => Concern::State,
            _ => Concern::Requests,
        };
        let with_concern = |one: Searched| {
            let concern = concern(one.bank);
            (one, concern)
        };
        Self { banks: searched.into_iter().map(with_concern).collect() }
    }

    /// Returns the numbers of requests that it took to find each fault in a rule for requests, in ascending
    /// order.
    pub fn needed(&self) -> Vec<u64> {
        let mut needed: Vec<u64> =
            self.of_requests().filter(|one| one.found.is_some()).map(|one| one.sent).collect();
        needed.sort_unstable();
        needed
    }

    /// Returns the faults in a rule for requests that were not found.
    pub fn missed(&self) -> impl Iterator<Item = &Searched> {
        self.of_requests().filter(|one| one.found.is_none())
    }

    fn of_requests(&self) -> impl Iterator<Item = &Searched> {
        let banks = self.banks.iter().filter(|(_, concern)| *concern == Concern::Requests);
        banks.map(|(one, _)| one).filter(|one| one.bank.kind() == Kind::Fault)
    }

    /// Returns the numbers of all and of found faults, by concern, for the other faults.
    pub fn others(&self) -> BTreeMap<Concern, (usize, usize)> {
        let mut others = BTreeMap::<Concern, (usize, usize)>::new();
        for (one, concern) in &self.banks {
            if one.bank.kind() == Kind::Fault && *concern != Concern::Requests {
                let (all, found) = others.entry(*concern).or_default();
                *all += 1;
                *found += usize::from(one.found.is_some());
            }
        }
        others
    }

    /// Returns the conforming banks.
    pub fn lawful(&self) -> impl Iterator<Item = &Searched> {
        self.banks.iter().map(|(one, _)| one).filter(|one| one.bank.kind() != Kind::Fault)
    }

    /// Returns the conforming banks with a violation.
    pub fn false_positives(&self) -> impl Iterator<Item = &Searched> {
        self.lawful().filter(|one| one.found.is_some())
    }

    /// Returns true if at least `at_least` percent of the faults in rules for requests were found, and no
    /// conforming bank was accused.
    pub fn is_complete(&self, at_least: u8) -> bool {
        let (all, missed) = (self.of_requests().count(), self.missed().count());
        (all - missed) * 100 >= all * usize::from(at_least) && self.false_positives().next().is_none()
    }

    /// Renders a table with a row per bank.
    pub fn table(&self) -> String {
        let mut table = String::from("kind\tname\tclause\tconcerns\trequests\tfound by\n");
        for (one, concern) in &self.banks {
            let (kind, name, clause) = (one.bank.kind().word(), one.bank.name(), one.bank.clause());
            let count = one.found.as_ref().map_or_else(|| "-".to_owned(), |_| one.sent.to_string());
            let by = one.found_by().unwrap_or_default();
            // Writing to a String cannot fail.
            _ = writeln!(table, "{kind}\t{name}\t{clause}\t{}\t{count}\t{by}", concern.word());
        }
        table
    }
}

/// Requests that are generated and signed once, and then sent to every bank.
struct Batch {
    cases: Vec<Case>,
    requests: Arc<RequestCache>,
}

impl Batch {
    fn draw(
        (explorer, sequencer): (&mut Explorer, &mut Sequencer),
        suite: &Suite,
        (drawn, size): (&mut usize, usize),
    ) -> Self {
        let mut cases = Vec::with_capacity(size);
        while cases.len() < size {
            if cases.len() % SEQUENCE_EVERY == 0
                && let Some((sequence, ..)) = sequencer.draw(&suite.spec().sequences)
                && let Some(sequence) = DrawnSequence::new(sequence, suite, "drawn")
            {
                *drawn += 1;
                let about = Some(sequence.says().join("; "));
                cases.push(Case { about, id: format!("explore/{drawn}"), ..sequence.case });
            }
            let (draft, _) = explorer.draw(suite);
            let Some((mut case, _)) = suite.drawn(&draft) else { continue };
            *drawn += 1;
            case.about = Some(case.id);
            case.id = format!("explore/{drawn}");
            cases.push(case);
        }
        Self { cases, requests: Arc::default() }
    }

    /// Sends the requests to one bank, until one reveals a violation or the budget is used up.
    async fn send(
        &self,
        runner: &Runner,
        mut one: Searched,
        options: &SearchOptions,
    ) -> Result<Searched, ProveError> {
        // A difference below the HTTP messages appears only on a connection.
        let (bank, profile, inside) = if one.bank.is_above_http() {
            (None, one.bank.profile(NOWHERE)?, Some(one.bank.in_process(options.now)))
        } else {
            let bank = xs2aspec_reference::start(one.bank.config(options.now)).await;
            let bank = bank.map_err(ProveError::Start)?;
            let profile = one.bank.profile(&bank.base_url())?;
            (Some(bank), profile, None)
        };
        let runner = runner.for_target(profile, &self.requests, inside)?;
        let before = one.sent;
        runner.limit_exchanges(options.budget - before);
        for case in &self.cases {
            let done = runner.run(case).await;
            let is_found = match done.verdict.verdict {
                Verdict::Fail => true,
                // A generated request may depend on several plain readings at once. If a conforming bank uses
                // another reading, the warning may name the wrong one.
                Verdict::Warn => one.bank.kind() == Kind::Fault,
                _ => false,
            };
            one.found =
                is_found.then(|| (case.about.clone().unwrap_or_default(), done.verdict.findings.clone()));
            one.sent = before + runner.exchanges();
            if one.found.is_some() || one.sent >= options.budget {
                break;
            }
        }
        if let Some(bank) = bank {
            bank.shutdown().await.map_err(ProveError::Stop)?;
        }
        Ok(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_clause_of_state_has_a_fault() {
        let faults: BTreeSet<&str> = BankVariant::all().map(BankVariant::clause).collect();
        for line in OF_STATE.lines().filter(|line| !line.starts_with('#')) {
            assert!(faults.contains(line), "fixtures/kill-matrix/of-state.txt: no fault breaks `{line}`");
        }
    }
}
