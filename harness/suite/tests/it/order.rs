//! Tests of the order of cases, and of the cost of a choice of them.

use std::collections::BTreeSet;

use xs2aspec_suite::{Case, Depth, PlanError, Suite, Tree, order};

fn embedded() -> Suite {
    Suite::load(Tree::embedded()).unwrap_or_else(|problems| panic!("\n{problems}"))
}

#[test]
fn every_case_has_its_place_and_the_plain_requests_come_first() {
    let suite = embedded();
    let order = suite.by_information();
    let different: BTreeSet<usize> = order.iter().copied().collect();
    assert_eq!((order.len(), different.len()), (suite.cases().len(), suite.cases().len()));
    let plain = suite.cases().iter().filter(|case| case.is_plain).count();
    let is_plain = |number: &usize| suite.cases()[*number].is_plain;
    assert!(order[..plain].iter().all(is_plain) && !order[plain..].iter().any(is_plain));
}

/// `prove order` generates the file. Its costs follow from the cases, so they are computed here without any
/// request.
#[test]
fn the_order_names_cases_of_this_suite_and_what_they_cost() {
    let suite = embedded();
    let mut chosen: Vec<&Case> = suite.cases().iter().filter(|case| case.is_plain).collect();
    let text = suite.tree().text(order::FILE).unwrap();
    let (mut lines, mut before) = (0, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split('\t').collect();
        let case = suite.case(parts[0]).unwrap_or_else(|| panic!("there is no case {}", parts[0]));
        chosen.push(case);
        if lines % 50 == 0 {
            let cost = suite.cost(chosen.iter().copied());
            assert_eq!(parts[1], cost.requests().to_string(), "{}: prove order FILE --update", parts[0]);
        }
        let caught: usize = parts[2].parse().unwrap();
        assert!(caught >= before && !parts[3].is_empty(), "{line}");
        (lines, before) = (lines + 1, caught);
    }
    assert_eq!(suite.most_telling().count(), lines);
    assert!(lines > 300, "{lines}");
}

#[test]
fn as_many_cases_are_chosen_as_so_many_requests_suffice_for() {
    let suite = embedded();
    let plan = suite.plan(&[], &[], Depth::Standard).unwrap();
    let mut before = BTreeSet::new();
    for requests in [20, 100, 300, 1000, 5000] {
        let (part, cost) = suite.within(&plan, requests).unwrap();
        let chosen: BTreeSet<&str> = part.selected.iter().map(|case| case.id.as_str()).collect();
        assert!(chosen.is_superset(&before), "{requests}");
        assert_eq!(cost.total(), suite.cost(part.selected.iter().copied()).total());
        let total = u64::try_from(cost.total()).unwrap();
        // The next case does not fit. It would need some requests, and perhaps a round of baseline requests.
        assert!(total <= requests && total + 40 > requests, "{total} of {requests}");
        assert_eq!(part.left_out.len(), plan.left_out.len() + plan.selected.len() - part.selected.len());
        before = chosen;
    }
    let all = suite.within(&plan, 1_000_000).unwrap().0;
    assert_eq!(all.selected.len(), plan.selected.len());
}

#[test]
fn patterns_and_parts_hold_for_the_choice_and_too_few_requests_are_said() {
    let suite = embedded();
    let plan = suite.plan(&["periodic.months".into()], &[], Depth::Standard).unwrap();
    let (part, _) = suite.within(&plan, 30).unwrap();
    assert!(
        part.selected.len() > 5 && part.selected.iter().all(|case| case.id.starts_with("periodic.months"))
    );
    let parts =
        [1, 2].map(|number| suite.shard(&part, xs2aspec_suite::Shard { number, of: 2 }).selected.len());
    assert_eq!(parts[0] + parts[1], part.selected.len());
    assert!(matches!(suite.within(&plan, 1), Err(PlanError::Requests { requests: 1, needs: 2.., .. })));
}

/// A class without an effective case runs its first case. If the order names several of a class, all of them
/// run.
#[test]
fn quick_is_the_most_telling_cases_and_one_of_each_class_without_any() {
    type Class<'a> = (&'a str, u32, &'a str);
    fn class(case: &Case) -> Class<'_> {
        (&case.file, case.group, &case.clause)
    }
    for (tree, is_ordered) in
        [(Tree::embedded(), true), (Tree::embedded().and(&[(order::FILE, "# nothing\n")]), false)]
    {
        let suite = Suite::load(tree).unwrap_or_else(|problems| panic!("\n{problems}"));
        let [quick, standard] =
            [Depth::Quick, Depth::Standard].map(|depth| suite.plan(&[], &[], depth).unwrap());
        let ids = |cases: &[&Case]| cases.iter().map(|case| case.id.clone()).collect::<BTreeSet<_>>();
        let telling: Vec<&Case> = suite.most_telling().filter(|case| case.depth <= Depth::Standard).collect();
        assert_eq!(telling.len() > 1000, is_ordered);
        assert!(ids(&quick.selected).is_superset(&ids(&telling)));
        let told: BTreeSet<Class<'_>> = telling.iter().map(|case| class(case)).collect();
        let others: Vec<Class<'_>> =
            quick.selected.iter().map(|case| class(case)).filter(|class| !told.contains(class)).collect();
        assert_eq!(others.len(), others.iter().collect::<BTreeSet<_>>().len(), "one of each class");
        let all: BTreeSet<Class<'_>> = standard.selected.iter().map(|case| class(case)).collect();
        assert_eq!(told.len() + others.len(), all.len(), "each class");
    }
}

/// Without a file the cases are spread, so that the first hundred belong to many clauses.
#[test]
fn a_suite_without_the_file_is_spread_over_its_clauses() {
    let tree = Tree::embedded().and(&[(order::FILE, "# nothing\n")]);
    let suite = Suite::load(tree).unwrap_or_else(|problems| panic!("\n{problems}"));
    let first =
        suite.by_information().into_iter().take(100).map(|number| suite.cases()[number].clause.as_str());
    let clauses: BTreeSet<&str> = first.collect();
    assert!(clauses.len() > 50, "{}", clauses.len());
}
