//! The order of cases for a run with a limit of requests. Each fault, in each style, is tested with the cases
//! of its own clause, with the baseline requests, and with the most effective cases for other faults. The
//! cases that catch the most for their cost come first.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use xs2aspec_reference::{Fault, Style};
use xs2aspec_runner::BoxFuture;
use xs2aspec_suite::{Case, Suite, order::Cost};

use crate::{
    BankVariant, MutationOptions, ProveError, Row,
    mutation::{Asks, Shared, boxed, side_by_side},
    snapshot,
};

/// Weight of a fault of the default bank. A fault in a style has weight 1.
const PLAIN_WEIGHT: usize = 4;

/// Requests of the first order that are sent for every fault, because cases of other clauses may catch it
/// too.
const ASKED_OF_ALL: usize = 1500;

/// The faults, each in each style, and the cases that catch them.
#[derive(Debug, Default)]
pub struct Catches {
    /// Name of the fault, and of its style unless it is the default bank.
    faults: Vec<(String, Option<String>)>,
    /// The faults by case.
    by_case: BTreeMap<String, BTreeSet<usize>>,
}

/// A case of the order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Case id.
    pub case: String,
    /// Requests up to and including this case, without those that only confirm.
    pub requests: usize,
    /// Faults of the default bank that are caught up to and including this case.
    pub caught: usize,
    /// Faults that no earlier case catches. Those in a style include its name.
    pub adds: Vec<String>,
}

/// The median position of the first case that catches a fault, as a fraction of all requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct First {
    /// Position in this order.
    pub in_order: f64,
    /// Position if cases are ordered by id, after the baseline requests.
    pub by_id: f64,
}

impl Catches {
    /// Adds the row of a bank.
    pub fn add(&mut self, name: &str, style: Option<&str>, row: &Row) {
        let at =
            self.faults.iter().position(|(known, in_style)| known == name && in_style.as_deref() == style);
        let at = at.unwrap_or_else(|| {
            self.faults.push((name.to_owned(), style.map(str::to_owned)));
            self.faults.len() - 1
        });
        for case in row.own() {
            self.by_case.entry(case.to_owned()).or_default().insert(at);
        }
    }

    fn weight(&self, fault: usize) -> usize {
        if self.faults[fault].1.is_none() { PLAIN_WEIGHT } else { 1 }
    }

    /// Returns cases that together catch all caught faults: after the baseline requests, always the case that
    /// adds the most for its cost. Ties are broken by lower cost, then by id.
    pub fn order(&self, suite: &Suite) -> Vec<Step> {
        let cases = suite.cases();
        let number: BTreeMap<&str, usize> =
            cases.iter().enumerate().map(|(at, case)| (case.id.as_str(), at)).collect();
        let mut cost = Cost::new(suite);
        let mut caught = BTreeSet::new();
        let mut steps = Vec::new();
        let mut left: Vec<(usize, &BTreeSet<usize>)> = self
            .by_case
            .iter()
            .filter_map(|(case, faults)| Some((*number.get(case.as_str())?, faults)))
            .collect();
        for (at, _) in cases.iter().enumerate().filter(|(_, case)| case.is_plain) {
            cost.add(at);
        }
        // The baseline requests need no line, because they always come first.
        for (_, faults) in left.iter().filter(|(at, _)| cases[*at].is_plain) {
            caught.extend(faults.iter().copied());
        }
        let gain = |faults: &BTreeSet<usize>, caught: &BTreeSet<usize>| -> usize {
            faults.difference(caught).map(|fault| self.weight(*fault)).sum()
        };
        loop {
            left.retain(|(_, faults)| !faults.is_subset(&caught));
            let scored = left.iter().map(|(at, faults)| (gain(faults, &caught), cost.of(*at), *at, *faults));
            let best = scored.max_by(|one, other| {
                let worth = (one.0 * other.1).cmp(&(other.0 * one.1));
                let cheap = other.1.cmp(&one.1);
                let by_id = || cases[other.2].id.cmp(&cases[one.2].id);
                worth.then(cheap).then(one.0.cmp(&other.0)).then_with(by_id)
            });
            let Some((_, _, at, faults)) = best else { return steps };
            let adds = faults.difference(&caught).map(|fault| match &self.faults[*fault] {
                (name, None) => name.clone(),
                (name, Some(style)) => format!("{name} on {style}"),
            });
            let mut adds: Vec<String> = adds.collect();
            adds.sort_unstable();
            caught.extend(faults.iter().copied());
            cost.add(at);
            let plain = caught.iter().filter(|fault| self.faults[**fault].1.is_none()).count();
            steps.push(Step { case: cases[at].id.clone(), requests: cost.requests(), caught: plain, adds });
        }
    }

    /// Returns the median positions for the faults of the default bank.
    pub fn first(&self, suite: &Suite, steps: &[Step]) -> First {
        let named: Vec<&str> = steps.iter().map(|step| step.case.as_str()).collect();
        let mut by_id: Vec<&Case> = suite.cases().iter().collect();
        by_id.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let all =
            suite.cost(by_id.iter().copied().filter(|case| case.depth <= xs2aspec_suite::Depth::Standard));
        let plain = suite.cases().iter().filter(|case| case.is_plain);
        let plain: Vec<&str> = plain.map(|case| case.id.as_str()).collect();
        let at = |order: Vec<&str>| -> f64 {
            let mut cost = Cost::new(suite);
            let mut caught = BTreeMap::new();
            for id in plain.iter().copied().chain(order) {
                let Some(number) = suite.number(id) else { continue };
                cost.add(number);
                for fault in self.by_case.get(id).into_iter().flatten() {
                    caught.entry(*fault).or_insert(cost.requests());
                }
            }
            let mut places: Vec<usize> = caught
                .into_iter()
                .filter(|(fault, _)| self.faults[*fault].1.is_none())
                .map(|(_, place)| place)
                .collect();
            places.sort_unstable();
            let median = places.get(places.len() / 2).copied().unwrap_or_default();
            share(median, all.requests())
        };
        First { in_order: at(named), by_id: at(by_id.iter().map(|case| case.id.as_str()).collect()) }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

/// Renders the order as a file. It is stable between runs with the same suite and banks.
pub fn text(steps: &[Step]) -> String {
    let mut text = String::from(
        "# case, requests with it and all before it, faults that these catch, those that it adds; made by `xs2aspec prove order FILE \
         --update`\n",
    );
    for Step { case, requests, caught, adds } in steps {
        _ = writeln!(text, "{case}\t{requests}\t{caught}\t{}", adds.join(", "));
    }
    text
}

/// Tests each fault, on the default bank and in these styles. Calls `done` after each.
pub fn catches<'a>(
    suite: &'a Arc<Suite>,
    options: &'a MutationOptions,
    styles: &'a [Style],
    done: &'a mut (dyn FnMut() + Send),
) -> BoxFuture<'a, Result<Catches, ProveError>> {
    Box::pin(all_catches(suite, options, styles, done))
}

async fn all_catches(
    suite: &Arc<Suite>,
    options: &MutationOptions,
    styles: &[Style],
    done: &mut (dyn FnMut() + Send),
) -> Result<Catches, ProveError> {
    let shared = Arc::new(Shared::new(suite, options)?);
    let survivors = snapshot::survivors();
    let mut catches = Catches::default();
    let in_styles = |fault: Fault| styles.iter().map(move |style| BankVariant::FaultIn(*style, fault));
    let faults = || Fault::all().filter(|fault| !survivors.contains_key(fault.name()));
    let banks: Vec<BankVariant> =
        faults().flat_map(|fault| [BankVariant::Fault(fault)].into_iter().chain(in_styles(fault))).collect();
    let plain: BTreeSet<String> =
        suite.cases().iter().filter(|case| case.is_plain).map(|case| case.id.clone()).collect();
    let mut own = BTreeMap::<&str, BTreeSet<String>>::new();
    for case in suite.cases() {
        own.entry(&case.clause).or_insert_with(|| plain.clone()).insert(case.id.clone());
    }
    let asked = |banks: &[BankVariant], chosen: &dyn Fn(BankVariant) -> Option<BTreeSet<String>>| {
        let tasks: Vec<_> = banks.iter().map(|bank| (*bank, chosen(*bank))).collect();
        let (options, suite, shared) = (options.clone(), Arc::clone(suite), Arc::clone(&shared));
        tasks.into_iter().map(move |(bank, chosen)| {
            let (options, suite, shared) = (options.clone(), Arc::clone(&suite), Arc::clone(&shared));
            boxed(async move {
                let asks =
                    Asks { chosen: chosen.as_ref(), is_unrecorded: true, ..Asks::everything(&options) };
                Ok((bank, shared.asked_all(&suite, bank, asks, None).await?))
            })
        })
    };
    let mut missed = Vec::new();
    let take = |(bank, row): (BankVariant, Row), catches: &mut Catches| {
        let name = bank.faults().first().map_or("", |fault| fault.name());
        catches.add(name, bank.style().map(Style::name), &row);
        row.own().next().is_none()
    };
    let of_clause =
        |bank: BankVariant| Some(own.get(bank.clause()).cloned().unwrap_or_else(|| plain.clone()));
    side_by_side(&mut asked(&banks, &of_clause), options.banks, &mut |(bank, row)| {
        done();
        // Faults that a style hides from the cases of their clause are not tested with all others.
        if take((bank, row), &mut catches) && bank.style().is_none() {
            missed.push(bank);
        }
    })
    .await?;
    let take_again = &mut |answer| _ = take(answer, &mut catches);
    side_by_side(&mut asked(&missed, &|_| None), options.banks, take_again).await?;
    let first = catches.order(suite);
    let telling: BTreeSet<String> =
        first.iter().take_while(|step| step.requests <= ASKED_OF_ALL).map(|step| step.case.clone()).collect();
    let plain_bank: Vec<BankVariant> = faults().map(BankVariant::Fault).collect();
    let take_again = &mut |answer| _ = take(answer, &mut catches);
    side_by_side(&mut asked(&plain_bank, &|_| Some(telling.clone())), options.banks, take_again).await?;
    Ok(catches)
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::Tree;

    use super::*;
    use crate::Kind;

    fn row(fault: &str, cases: &[&Case]) -> Row {
        let mut row = Row::new((Kind::Fault, fault, "a"), []);
        let fired = cases.iter().map(|case| (case.id.clone(), BTreeSet::from(["a".to_owned()])));
        row.fired.extend(fired);
        row
    }

    #[test]
    fn what_adds_the_most_for_its_cost_comes_first_and_what_adds_nothing_does_not_come() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let plain = suite.cases().iter().find(|case| case.is_plain).unwrap();
        let of_plain = |case: &&Case| case.control.as_ref() == Some(&plain.id) && case.same_as.is_none();
        let cheap: Vec<&Case> =
            suite.cases().iter().filter(|case| of_plain(case) && case.before.is_empty()).take(3).collect();
        let dear = suite.cases().iter().find(|case| case.before.len() > 1).unwrap();
        let mut catches = Catches::default();
        catches.add("caught by the baseline request", None, &row("", &[plain, cheap[0]]));
        catches.add("one", None, &row("", &[cheap[1], dear, cheap[2]]));
        catches.add("two", None, &row("", &[cheap[1], dear]));
        catches.add("three", None, &row("", &[dear]));
        catches.add("one", Some("strict"), &row("", &[cheap[2]]));
        let steps = catches.order(&suite);
        let cases: Vec<&str> = steps.iter().map(|step| step.case.as_str()).collect();
        assert_eq!(cases[0], cheap[1].id, "two faults with one request");
        assert_eq!(BTreeSet::from([cases[1], cases[2]]), BTreeSet::from([dear.id.as_str(), &cheap[2].id]));
        assert_eq!(cases.len(), 3);
        let caught: Vec<usize> = steps.iter().map(|step| step.caught).collect();
        assert_eq!((caught[0], caught[2]), (3, 4), "with the one that the baseline request catches");
        assert!(steps.iter().any(|step| step.adds == ["one on strict"]));
        assert!(steps.is_sorted_by_key(|step| step.requests));
        let text = text(&steps);
        assert!(text.lines().nth(1).unwrap().ends_with("\t3\tone, two"), "{text}");
        let first = catches.first(&suite, &steps);
        assert!(first.in_order < 0.01 && first.in_order <= first.by_id, "{first:?}");
    }
}
