//! Controls: every case except the baseline of its operation depends on an accepted case. Some cases repeat
//! the baseline request.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use xs2aspec_spec::Problem;

use crate::{case::Case, definition::IfControlRefused, expectation::Expectation, request::RequestSpec};

/// Finds the baseline case of each operation, and makes it the control of each case that names none. Marks
/// the cases that repeat its request. If an operation has no baseline case, its cases depend on the baseline
/// of the requests that prepare them.
pub(crate) fn give(cases: &mut [Case], problems: &mut Vec<Problem>) {
    let plain = plain(cases, problems);
    for index in plain.values() {
        cases[*index].is_plain = true;
    }
    let ids: BTreeMap<String, String> =
        plain.iter().map(|(operation, index)| (operation.clone(), cases[*index].id.clone())).collect();
    let leans_on = |case: &Case| {
        let steps = case.before.iter().rev().map(|step| &step.request);
        [&case.request].into_iter().chain(steps).find_map(|request| ids.get(request.operation())).cloned()
    };
    let again: Vec<(usize, String)> = (0..cases.len())
        .filter_map(|index| {
            let plain = &cases[*plain.get(&cases[index].request.operation)?];
            is_again(&cases[index], plain).then(|| (index, plain.id.clone()))
        })
        .collect();
    for (index, plain) in again {
        cases[index].same_as = Some(plain);
    }
    for case in cases.iter_mut().filter(|case| !case.is_plain && case.control.is_none()) {
        case.control = leans_on(case);
    }
}

/// Returns the baseline case of each operation. This is the case that says so, or else the first one that
/// sends its unchanged baseline and expects acceptance.
fn plain(cases: &[Case], problems: &mut Vec<Problem>) -> BTreeMap<String, usize> {
    let mut plain = BTreeMap::<String, usize>::new();
    for (index, case) in cases.iter().enumerate().filter(|(_, case)| case.is_plain) {
        if case.is_changed() || !case.expect.is_accepted() {
            let message = format!(
                "case `{}` needs a control, since it changes its baseline or need not be accepted",
                case.id
            );
            problems.push(case.problem(message));
        }
        if let Some(other) = plain.insert(case.request.operation.clone(), index) {
            let (operation, other) = (&case.request.operation, &cases[other]);
            let message = format!("case `{}` is a second baseline case of `{operation}`", case.id);
            let help = format!("the other one is at {}:{}", other.file, other.line);
            problems.push(case.problem(message).help(help));
        }
    }
    for (index, case) in cases.iter().enumerate() {
        if case.control.is_none() && !case.is_changed() && case.expect.is_accepted() {
            plain.entry(case.request.operation.clone()).or_insert(index);
        }
    }
    plain
}

/// Returns true if a case expects acceptance and sends the same as the baseline case of its operation.
fn is_again(case: &Case, plain: &Case) -> bool {
    !case.is_plain
        && case.expect.is_accepted()
        && case.request == plain.request
        && case.before == plain.before
}

/// Checks that every case that expects a rejection or changes its baseline has a control. The control must
/// exist, expect acceptance of the same operation, and not depend on the case itself.
pub(crate) fn check(cases: &[Case], by_id: &HashMap<String, usize>, problems: &mut Vec<Problem>) {
    // A whole group may name the same wrong control, and finding the nearest of thousands is slow.
    let mut advice = BTreeMap::<&str, Option<String>>::new();
    for case in cases.iter().filter(|case| !case.is_plain) {
        let Some(control) = &case.control else {
            if matches!(case.expect, Expectation::Refused(_)) {
                let message =
                    format!("case `{}` has no `control`, so a rejection would prove nothing", case.id);
                problems.push(case.problem(message));
            } else if case.is_changed() {
                let message = format!("case `{}` changes its baseline and has no `control`", case.id);
                problems.push(
                    case.problem(message).help("only a case that sends its baseline unchanged needs none"),
                );
            }
            continue;
        };
        let Some(found) = by_id.get(control).map(|index| &cases[*index]) else {
            let problem = case.problem(format!("case `{}`: its control `{control}` does not exist", case.id));
            let help = advice.entry(control).or_insert_with(|| {
                problem.clone().nearest(control, cases.iter().map(|case| case.id.as_str())).help
            });
            problems.push(Problem { help: help.clone(), ..problem });
            continue;
        };
        let tolerated = case.if_control_refused == IfControlRefused::Observed;
        if !found.expect.is_accepted() && !tolerated {
            let message = format!("case `{}`: its control `{control}` does not expect acceptance", case.id);
            problems.push(case.problem(message));
        }
        let leads = |request: &RequestSpec| request.operation == found.request.operation;
        let is_led_there =
            (found.is_plain || tolerated) && case.before.iter().any(|step| leads(&step.request));
        if !leads(&case.request) && !is_led_there {
            let message = format!("case `{}`: its control `{control}` is of another operation", case.id);
            problems.push(case.problem(message));
        }
        let mut seen = BTreeSet::from([case.id.as_str()]);
        let mut next = Some(found);
        while let Some(step) = next {
            if !seen.insert(&step.id) {
                problems.push(
                    case.problem(format!("case `{}` is directly or indirectly its own control", case.id)),
                );
                break;
            }
            next = step.control.as_ref().and_then(|id| by_id.get(id)).map(|index| &cases[*index]);
        }
    }
}
