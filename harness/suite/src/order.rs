//! The order of cases by effectiveness, for runs with a limited number of requests.
//!
//! Baseline requests come first. The cases that detect faults in the kill matrix follow, by what each adds
//! for its cost. The rest follows, spread over clauses and operations.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    case::Case,
    expectation::Expectation,
    plan::{Plan, PlanError},
    suite::Suite,
};

/// Path of the order: cases by what they add. `xs2aspec prove order` generates the file.
pub const FILE: &str = "fixtures/kill-matrix/order.tsv";

/// Number of rejections after which the baseline requests of their operations are sent again.
pub const CONFIRMED_AT_ONCE: usize = 100;

/// The cost of a choice of cases: the number of requests to a target that returns the expected responses.
#[derive(Debug, Clone)]
pub struct Cost<'a> {
    suite: &'a Suite,
    /// Numbers of the cases that are sent.
    sent: BTreeSet<usize>,
    requests: usize,
    /// Number of these cases that may be rejected, so that their verdict waits.
    refusals: usize,
    /// Numbers of the baseline cases that those depend on.
    plain: BTreeSet<usize>,
    /// Number of requests of these baseline cases.
    of_plain: usize,
}

impl<'a> Cost<'a> {
    /// Creates the cost of no cases.
    pub fn new(suite: &'a Suite) -> Self {
        let (sent, plain) = (BTreeSet::new(), BTreeSet::new());
        Self { suite, sent, requests: 0, refusals: 0, plain, of_plain: 0 }
    }

    /// Returns the number of requests of the cases alone. A control or baseline request counts once.
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// Returns the number of requests that only show that valid ones are still accepted.
    pub fn confirming(&self) -> usize {
        rounds(self.refusals) * self.of_plain
    }

    /// Returns the number of all requests.
    pub fn total(&self) -> usize {
        self.requests + self.confirming()
    }

    /// Returns true if a case is already sent, possibly as the control of another one.
    pub fn has(&self, number: usize) -> bool {
        self.sent.contains(&number)
    }

    /// Returns the number of all requests with one more case.
    pub fn total_with(&self, number: usize) -> usize {
        let (is_refusal, plain) = self.leans(number);
        let is_new = is_refusal && !self.plain.contains(&plain);
        let of_plain = self.of_plain + if is_new { of_its_own(&self.suite.cases()[plain]) } else { 0 };
        let refusals = self.refusals + usize::from(is_refusal);
        self.requests + self.of(number) + rounds(refusals) * of_plain
    }

    /// Returns the number of requests that a case adds, without those that only confirm.
    pub fn of(&self, number: usize) -> usize {
        let new = self.suite.leans_on(number).into_iter().filter(|next| !self.sent.contains(next));
        new.map(|next| of_its_own(&self.suite.cases()[next])).sum()
    }

    /// Adds a case and the cases that it depends on.
    pub fn add(&mut self, number: usize) {
        self.requests += self.of(number);
        self.sent.extend(self.suite.leans_on(number));
        let (is_refusal, plain) = self.leans(number);
        if is_refusal {
            self.refusals += 1;
            if self.plain.insert(plain) {
                self.of_plain += of_its_own(&self.suite.cases()[plain]);
            }
        }
    }

    /// Returns true if a case may be rejected, and the number of the baseline case at the end of its
    /// controls.
    fn leans(&self, number: usize) -> (bool, usize) {
        let case = &self.suite.cases()[number];
        let is_silent = matches!(case.expect, Expectation::Observed | Expectation::Shows(_));
        let is_refusal = !(case.expect.is_accepted() || is_silent) && case.same_as.is_none();
        (is_refusal, self.suite.plain_request_of(number))
    }
}

/// One in this many requests is reserved for doubts if a baseline request is still accepted. The next
/// constant is the highest number of reserved requests.
const DOUBTS: usize = 100;
const MOST_DOUBTS: usize = 10;

/// Returns how often the baseline requests are sent again for this many waiting verdicts. This is at least
/// once at the end, and sometimes after rejections that look as if the target no longer knows the client.
fn rounds(refusals: usize) -> usize {
    if refusals == 0 { 0 } else { refusals / CONFIRMED_AT_ONCE + 2 }
}

/// Returns the number of requests of a case without those of its control.
fn of_its_own(case: &Case) -> usize {
    if case.same_as.is_some() {
        return 0;
    }
    let steps: usize = case.before.iter().map(|step| step.times.unwrap_or(1)).sum();
    steps + 1
}

impl Suite {
    /// Returns the numbers of a case and of all cases sent because of it: the case that it shares a response
    /// with, its controls, and theirs.
    fn leans_on(&self, number: usize) -> Vec<usize> {
        let mut found = vec![number];
        let mut read = 0;
        while let Some(case) = found.get(read).map(|number| &self.cases()[*number]) {
            read += 1;
            for id in [&case.same_as, &case.control].into_iter().flatten() {
                found.extend(self.number(id).filter(|next| !found.contains(next)));
            }
        }
        found
    }

    /// Returns the number of the baseline case at the end of the controls of a case, or of the case itself.
    fn plain_request_of(&self, mut number: usize) -> usize {
        let mut passed = BTreeSet::new();
        while passed.insert(number) {
            let case = &self.cases()[number];
            let next = case.control.as_deref().or(case.same_as.as_deref()).and_then(|id| self.number(id));
            number = next.unwrap_or(number);
        }
        number
    }

    /// Returns the cost of these cases together.
    pub fn cost<'a>(&'a self, cases: impl Iterator<Item = &'a Case>) -> Cost<'a> {
        let mut cost = Cost::new(self);
        cases.filter_map(|case| self.number(&case.id)).for_each(|number| cost.add(number));
        cost
    }

    /// Returns the cases that the order of the suite names, most effective first. Returns none if it has no
    /// order. Cases that no longer exist are skipped.
    pub fn most_telling(&self) -> impl Iterator<Item = &Case> {
        let lines = self.tree().text(FILE).unwrap_or_default().lines();
        let named = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
        named.filter_map(|id| self.case(id))
    }

    /// Returns the numbers of all cases, most effective first.
    pub fn by_information(&self) -> Vec<usize> {
        let cases = self.cases();
        let mut order: Vec<usize> = (0..cases.len()).filter(|number| cases[*number].is_plain).collect();
        // Cases that need no preparation come first, since they prepare others.
        order.sort_by_key(|number| !cases[*number].before.is_empty());
        order.extend(self.most_telling().filter_map(|case| self.number(&case.id)));
        let mut seen = BTreeSet::new();
        order.retain(|number| seen.insert(*number));
        order.extend(self.spread(&seen));
        order
    }

    /// Returns the other cases so that each clause has one of each operation before any has a second one. Of
    /// many similar cases, those far from each other come first.
    fn spread(&self, known: &BTreeSet<usize>) -> Vec<usize> {
        let mut groups = BTreeMap::<(&str, &str), (usize, Vec<usize>)>::new();
        for (number, case) in self.cases().iter().enumerate() {
            let (had, group) = groups.entry((&case.clause, &case.request.operation)).or_default();
            if known.contains(&number) {
                *had += 1;
            } else {
                group.push(number);
            }
        }
        let mut ranked = Vec::new();
        for (place, (had, group)) in groups.into_values().enumerate() {
            let mut far: Vec<(usize, usize)> =
                group.iter().enumerate().map(|(at, number)| (at.reverse_bits(), *number)).collect();
            far.sort_unstable();
            ranked.extend(far.into_iter().enumerate().map(|(rank, (_, number))| (had + rank, place, number)));
        }
        ranked.sort_unstable();
        ranked.into_iter().map(|(.., number)| number).collect()
    }

    /// Returns the most effective cases of a plan, as many as this number of requests allows, and their cost.
    /// The other cases are skipped.
    pub fn within<'a>(&'a self, plan: &Plan<'a>, requests: u64) -> Result<(Plan<'a>, Cost<'a>), PlanError> {
        let most = usize::try_from(requests).unwrap_or(usize::MAX);
        let most = most - (most / DOUBTS).min(MOST_DOUBTS);
        let wanted: BTreeSet<usize> = plan.selected.iter().filter_map(|case| self.number(&case.id)).collect();
        let mut cost = Cost::new(self);
        let mut chosen = BTreeSet::new();
        for number in self.by_information().into_iter().filter(|number| wanted.contains(number)) {
            if cost.total_with(number) > most {
                if chosen.is_empty() {
                    let case = self.cases()[number].id.clone();
                    return Err(PlanError::Requests { requests, case, needs: cost.total_with(number) });
                }
                break;
            }
            cost.add(number);
            chosen.insert(number);
        }
        let is_chosen = |case: &Case| self.number(&case.id).is_some_and(|number| chosen.contains(&number));
        let mut part = self.part(plan, is_chosen);
        let why = format!("beyond the limit of --requests {requests}");
        let beyond = plan.selected.iter().filter(|case| !is_chosen(case));
        part.left_out.extend(beyond.map(|case| (*case, why.clone().into())));
        Ok((part, cost))
    }

    /// Returns some of the selected cases of a plan, with the controls that they need.
    pub fn part<'a>(&'a self, plan: &Plan<'a>, is_in: impl Fn(&Case) -> bool) -> Plan<'a> {
        let selected = plan.selected.iter().copied().filter(|case| is_in(case)).collect();
        self.with_controls(selected, plan.left_out.clone())
    }
}
