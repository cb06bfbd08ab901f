//! The fewest of many changes with which a request is refused, found with few requests: each of them is found
//! by halving what is left, as the last of the shortest refused row of changes.

use std::collections::BTreeMap;

/// What became of a request with some of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Refused,
    Accepted,
    /// With these alone it need not be accepted.
    NotAsked,
}

/// The answers so far, by the changes, which are numbers in their order.
pub(crate) type Answers = BTreeMap<Vec<usize>, Answer>;

/// The changes of which none can be left out, or the ones to ask with next. Nothing is found where the
/// request without any of them is refused.
pub(crate) fn next(count: usize, answers: &Answers) -> Result<Vec<usize>, Vec<usize>> {
    let is_refused = |changes: Vec<usize>| match answers.get(&changes) {
        Some(answer) => Ok(*answer == Answer::Refused),
        None => Err(changes),
    };
    let with = |found: &[usize], first: usize| {
        let mut changes: Vec<usize> = (0..first).chain(found.iter().copied()).collect();
        changes.sort_unstable();
        changes.dedup();
        changes
    };
    // The whole row is refused, or nothing can be found.
    let mut found = Vec::new();
    let mut refused = count;
    while is_refused(with(&found, refused))? && refused > 0 {
        let mut accepted = 0;
        while refused - accepted > 1 {
            let half = usize::midpoint(accepted, refused);
            if is_refused(with(&found, half))? { refused = half } else { accepted = half }
        }
        refused -= 1;
        found.push(refused);
        if is_refused(with(&found, 0))? {
            break;
        }
    }
    found.sort_unstable();
    // What is found by halving may have met other refusals on the way: each change is left out once more.
    while let Some(rest) = without_one(&found, &is_refused)? {
        found = rest;
    }
    Ok(found)
}

/// Whether a request without any one of these changes was accepted.
pub(crate) fn is_least(found: &[usize], answers: &Answers) -> bool {
    let mut without = found.iter().map(|gone| found.iter().copied().filter(|at| at != gone).collect());
    without.all(|rest: Vec<usize>| answers.get(&rest) == Some(&Answer::Accepted))
}

/// The changes without one of them, where these are refused as well.
fn without_one(
    found: &[usize],
    is_refused: &impl Fn(Vec<usize>) -> Result<bool, Vec<usize>>,
) -> Result<Option<Vec<usize>>, Vec<usize>> {
    for gone in found {
        let rest: Vec<usize> = found.iter().copied().filter(|at| at != gone).collect();
        if is_refused(rest.clone())? {
            return Ok(Some(rest));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found, and with how many requests, at a target that refuses these together.
    fn found(count: usize, is_refused: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
        let mut answers = Answers::new();
        loop {
            match next(count, &answers) {
                Ok(found) => return (found, answers.len()),
                Err(changes) => {
                    assert!(changes.is_sorted() && changes.iter().all(|at| *at < count), "{changes:?}");
                    let answer = if is_refused(&changes) { Answer::Refused } else { Answer::Accepted };
                    assert_eq!(answers.insert(changes, answer), None, "asked twice");
                }
            }
        }
    }

    fn refuses<'a>(culprits: &'a [&'a [usize]]) -> impl Fn(&[usize]) -> bool + 'a {
        move |changes| culprits.iter().any(|culprit| culprit.iter().all(|at| changes.contains(at)))
    }

    #[test]
    fn each_change_and_each_pair_of_thirty_is_found_with_few_requests() {
        for one in 0..30 {
            let (changes, requests) = found(30, refuses(&[&[one]]));
            assert_eq!(changes, [one]);
            assert!(requests <= 9, "{one}: {requests}");
            for other in one + 1..30 {
                let (changes, requests) = found(30, refuses(&[&[one, other]]));
                assert_eq!(changes, [one, other]);
                assert!(requests <= 15, "{one} and {other}: {requests}");
            }
        }
        assert_eq!(found(30, refuses(&[&[0, 14, 29]])).0, [0, 14, 29]);
    }

    #[test]
    fn of_several_culprits_one_is_found_whole() {
        let culprits: [&[usize]; 3] = [&[3, 20], &[7], &[20, 25, 28]];
        let (changes, _) = found(30, refuses(&culprits));
        assert!(culprits.contains(&changes.as_slice()), "{changes:?}");
    }

    #[test]
    fn of_two_changes_and_of_one_it_is_found() {
        assert_eq!(found(1, refuses(&[&[0]])).0, [0]);
        assert_eq!(found(2, refuses(&[&[0, 1]])).0, [0, 1]);
        assert_eq!(found(2, refuses(&[&[1]])).0, [1]);
    }

    #[test]
    fn nothing_is_found_where_all_is_refused_or_nothing() {
        assert!(found(30, |_| true).0.is_empty());
        assert_eq!(found(30, |_| false), (vec![], 1));
    }
}
