//! Finds a minimal set of changes with which a request is rejected, using few requests. Each change is found
//! by bisection, as the last of the shortest rejected prefix.

use std::collections::BTreeMap;

/// The result of a request with some of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Refused,
    Accepted,
    /// The document does not require acceptance with these alone.
    NotAsked,
}

/// The results so far, keyed by the changes as sorted numbers.
pub(crate) type Answers = BTreeMap<Vec<usize>, Answer>;

/// Returns a set of changes from which none can be removed, or as an error the changes to send next. Returns
/// an empty set if the request without changes is rejected.
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
    // The whole row must be rejected, or nothing can be found.
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
    // Bisection may have met other rejections on the way, so each change is removed once more.
    while let Some(rest) = without_one(&found, &is_refused)? {
        found = rest;
    }
    Ok(found)
}

/// Returns true if removing any one of these changes makes the request accepted.
pub(crate) fn is_least(found: &[usize], answers: &Answers) -> bool {
    let mut without = found.iter().map(|gone| found.iter().copied().filter(|at| at != gone).collect());
    without.all(|rest: Vec<usize>| answers.get(&rest) == Some(&Answer::Accepted))
}

/// Returns the changes without one of them, if they are still rejected.
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

    /// Returns the minimal cause and the number of requests, for a target with this rejection rule.
    fn found(count: usize, is_refused: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
        let mut answers = Answers::new();
        loop {
            match next(count, &answers) {
                Ok(found) => return (found, answers.len()),
                Err(changes) => {
                    assert!(changes.is_sorted() && changes.iter().all(|at| *at < count), "{changes:?}");
                    let answer = if is_refused(&changes) { Answer::Refused } else { Answer::Accepted };
                    assert_eq!(answers.insert(changes, answer), None, "sent twice");
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
