//! Isolation: orders violations by time and reruns them alone. A target may start to lose or miscount data
//! during a run, and unrelated cases then fail too.

use std::{cmp::Reverse, collections::BTreeSet};

use xs2aspec_record::{
    AskedAlone, Came, CaseVerdict, Earlier, Exchange, Finding, Look, Repeated, Role, Verdict, finding_id,
};
use xs2aspec_suite::Case;

use crate::{Judge, known::Known, probe::Judged, view::View};

/// Maximum number of violations that are rerun.
const ASKED: usize = 25;

/// Requests in flight when a violation first appeared may still get an earlier result.
const UNDER_WAY: u64 = 64;

/// Minimum number of requests that make a case a sequence.
const SEQUENCE: usize = 3;

/// Minimum number of earlier cases without the violation before it counts as starting mid-run.
const KEPT_BEFORE: usize = 3;

/// The evidence of a case's judged request.
#[derive(Debug)]
pub struct Witness {
    /// The number of the request.
    pub number: u64,
    /// The position of the case in the history.
    pub position: usize,
    /// Violations by clause and place, and true if they count.
    wrong: Vec<(String, String, bool)>,
    /// The clause of the case, if it passed.
    kept: Option<String>,
    /// True if the request was accepted.
    is_accepted: bool,
}

/// A violation to rerun.
#[derive(Debug, PartialEq, Eq)]
pub struct Suspect {
    clause: String,
    at: String,
    /// Number and position of the first case that shows it.
    first: (u64, usize),
    /// The case that shows it with the most requests of its own, if that is more than the first.
    longest: Option<usize>,
    /// The number of the last earlier request that could have shown it.
    until: u64,
    /// The last earlier case without the violation, if almost none has passed since.
    earlier: Option<(u64, usize)>,
}

impl Witness {
    /// Returns the evidence of the case at this position. Returns None for a verdict that is unconfirmed or
    /// says nothing about conformance, whatever its responses show.
    pub fn new(position: usize, verdict: &CaseVerdict, judged: Option<&Exchange>) -> Option<Self> {
        let judged = judged.filter(|_| !verdict.unconfirmed)?;
        let is_judged = verdict.verdict.is_pass()
            || matches!(verdict.verdict, Verdict::Fail | Verdict::Warn | Verdict::Observed);
        let wrong = verdict.findings.iter().map(|Finding { clause, at, .. }| {
            // For a control that nobody selected, only the status counts.
            let counts = verdict.role == Role::Selected || at == "status" && verdict.is_broken_control();
            (clause.clone(), finding_id::place(at), counts)
        });
        is_judged.then(|| Self {
            number: judged.number,
            position,
            wrong: wrong.collect(),
            kept: verdict.verdict.is_pass().then(|| verdict.clause.clone()),
            is_accepted: judged.response.as_ref().is_some_and(|answer| (200..300).contains(&answer.status)),
        })
    }

    fn shows(&self, (clause, at): (&str, &str)) -> bool {
        self.wrong.iter().any(|(of, place, _)| of == clause && place == at)
    }
}

/// Returns the violations to rerun, in order of time.
pub fn suspects(witnesses: &mut [Witness], order: &[&Case]) -> Vec<Suspect> {
    witnesses.sort_by_key(|witness| witness.number);
    let wrong = witnesses.iter().flat_map(|witness| &witness.wrong).filter(|(_, _, counts)| *counts);
    let wrong: BTreeSet<(&str, &str)> = wrong.map(|(clause, at, _)| (clause.as_str(), at.as_str())).collect();
    let mut suspects: Vec<Suspect> =
        wrong.into_iter().filter_map(|wrong| suspect(wrong, witnesses, order)).collect();
    // A sequence can show on its own what other cases show only in combination, so it is always rerun.
    let is_sequence = |suspect: &Suspect| {
        let position = suspect.longest.unwrap_or(suspect.first.1);
        requests(order[position]) >= SEQUENCE
    };
    suspects.sort_by_key(|suspect| (!is_sequence(suspect), suspect.first));
    suspects.truncate(ASKED);
    suspects.sort_by_key(|suspect| suspect.first);
    suspects
}

/// Returns the rerun of one violation. The witnesses are in order of time.
fn suspect((clause, at): (&str, &str), witnesses: &[Witness], order: &[&Case]) -> Option<Suspect> {
    let of = |witness: &Witness| order[witness.position];
    let shown: Vec<&Witness> = witnesses.iter().filter(|witness| witness.shows((clause, at))).collect();
    let Witness { number: since, position: first, .. } = **shown.first()?;
    let operation = order[first].operation();
    let is_able = |witness: &&Witness| match at {
        "status" => witness.kept.as_deref() == Some(clause),
        _ => witness.is_accepted && of(witness).operation() == operation,
    };
    let able = witnesses.iter().filter(|witness| is_able(witness) && !witness.shows((clause, at)));
    let (before, after): (Vec<&Witness>, Vec<&Witness>) = able.partition(|witness| witness.number < since);
    let after = after.iter().filter(|witness| witness.number > since + UNDER_WAY).count();
    let has_begun = before.len() >= KEPT_BEFORE && shown.len() >= 2 && after * 20 <= shown.len();
    let is_like = |witness: &&&Witness| has_begun && of(witness).operation() == operation;
    let longest = shown.iter().map(|witness| witness.position);
    let longest = longest.max_by_key(|at| (requests(order[*at]), Reverse(*at)));
    Some(Suspect {
        clause: clause.to_owned(),
        at: at.to_owned(),
        first: (since, first),
        longest: longest.filter(|at| requests(order[*at]) > requests(order[first])),
        until: before.last().map_or(0, |witness| witness.number),
        earlier: before.iter().rev().find(is_like).map(|witness| (witness.number, witness.position)),
    })
}

impl Judge {
    /// Reruns a violation with no other requests in flight, and returns the result. `number` is unique for
    /// each suspect.
    pub fn isolated(
        &self,
        (number, suspect): (usize, &Suspect),
        order: &[&Case],
        view: &View,
        known: &Known,
    ) -> Judged<AskedAlone> {
        let Suspect { clause, at, first: (since, position), longest, until, earlier } = suspect;
        let is_wrong = |finding: &Finding| finding.clause == *clause && finding_id::place(&finding.at) == *at;
        let ask = |case: &Case, mark: &str| -> Judged<(Repeated, Option<Came>)> {
            // A used-up quota does not recover. A baseline request with a substitute is not sent any more.
            let is_replaced = case.is_plain && known.goes_on(case.operation());
            if case.needs_quota() || case.same_as.is_some() || is_replaced {
                return Ok((Repeated::Untold, None));
            }
            Ok(match self.alone(case, &format!("{mark}-{number}"), view, known)? {
                Some((findings, came)) if findings.iter().any(is_wrong) => (Repeated::Same, Some(came)),
                Some((_, came)) => (Repeated::Kept, Some(came)),
                None => (Repeated::Untold, None),
            })
        };
        let earlier = match earlier {
            Some((request, position)) => {
                let case = order[*position];
                let (again, _) = ask(case, "earlier")?;
                Some(Earlier { case: case.id.clone(), request: *request, again })
            }
            None => None,
        };
        let mut case = order[*position];
        let (mut again, mut got) = ask(case, "alone")?;
        if let (Repeated::Kept, Some(longest)) = (again, longest) {
            let (same, other) = ask(order[*longest], "longest")?;
            if same == Repeated::Same {
                (case, again, got) = (order[*longest], same, other);
            }
        }
        Ok(AskedAlone {
            clause: clause.clone(),
            at: at.clone(),
            case: case.id.clone(),
            since: *since,
            until: *until,
            requests: requests(case),
            again,
            came: got,
            earlier,
        })
    }

    /// Reruns a case under another name and returns its findings and its response. Returns None if the case
    /// could not be judged.
    fn alone(
        &self,
        case: &Case,
        mark: &str,
        view: &View,
        known: &Known,
    ) -> Judged<Option<(Vec<Finding>, Came)>> {
        let (asked, mut verdict, _) =
            self.attempt_again((&case.id, Look::Alone), (mark, case), view, known)?;
        self.levels().weigh(&mut verdict);
        let is_judged = matches!(verdict.verdict, Verdict::Pass | Verdict::Fail | Verdict::Warn);
        let Some((_, got)) = asked.ok().filter(|_| is_judged) else { return Ok(None) };
        self.mask_findings(&mut verdict, &view.learned);
        let masked = got.with_texts(&|text| self.masker().text_with(text, &view.learned));
        Ok(Some((verdict.findings, masked)))
    }
}

/// Returns the number of requests that a case sends, including its setup.
fn requests(case: &Case) -> usize {
    case.before.iter().map(|step| step.times.unwrap_or(1)).sum::<usize>() + 1
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::{Suite, Tree};

    use super::*;
    use crate::blank::left_in_doubt;

    /// The result of a case in [`suspects`].
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Ends {
        Kept,
        Wrong,
        /// Shows the violation, but ran only as the control of another case.
        WrongControl,
        /// Could not be judged and has no findings.
        Untold,
    }

    use Ends::{Kept, Untold, Wrong as Fails, WrongControl};

    /// Returns the suspects for cases of one clause and operation in order of time. The violations are at
    /// this place.
    fn suspects(place: &str, ends: &[Ends]) -> Vec<Suspect> {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let first = suite.cases().iter().find(|case| case.same_as.is_none() && !case.is_plain).unwrap();
        let of = suite.cases().iter().filter(|case| case.operation() == first.operation());
        let order: Vec<&Case> = of.take(ends.len()).collect();
        let mut witnesses = Vec::new();
        for (position, (case, ends)) in order.iter().zip(ends).enumerate() {
            let number = position as u64 * (UNDER_WAY + 1) + 1;
            let finding = Finding {
                clause: "a".to_owned(),
                expected: String::new(),
                actual: String::new(),
                at: place.to_owned(),
                kind: xs2aspec_record::Mismatch::NotRejected,
                level: xs2aspec_record::Level::Deny,
                end: xs2aspec_record::End::Bank,
            };
            let verdict = CaseVerdict {
                clause: "a".to_owned(),
                role: if *ends == WrongControl { Role::Control } else { Role::Selected },
                verdict: match ends {
                    Kept => Verdict::Pass,
                    Fails => Verdict::Fail,
                    WrongControl => Verdict::Warn,
                    Untold => Verdict::Inconclusive,
                },
                findings: if matches!(ends, Fails | WrongControl) { vec![finding] } else { vec![] },
                exchange: Some(number),
                ..left_in_doubt(case)
            };
            let exchange = serde_json::json!({
                "number": number, "case": case.id, "step": "request", "micros": 1,
                "request": {"method": "GET", "url": "/", "headers": []},
                "response": {"status": 200, "headers": []},
            });
            let judged = serde_json::from_value(exchange).unwrap();
            witnesses.extend(Witness::new(position, &verdict, Some(&judged)));
        }
        super::suspects(&mut witnesses, &order)
    }

    #[test]
    fn what_is_wrong_from_some_time_on_is_held_against_what_was_right_before() {
        let earlier = |ends: &[Ends]| {
            let found = suspects("status", ends);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].earlier.map(|(_, position)| position)
        };
        assert_eq!(earlier(&[Kept, Kept, Kept, Fails, Fails, Fails]), Some(2));
        assert_eq!(earlier(&[Kept, Kept, Kept, Fails, Kept, Fails]), None, "one passed since");
        assert_eq!(earlier(&[Kept, Kept, Fails, Fails]), None, "too few passed before");
        assert_eq!(earlier(&[Fails, Fails, Fails]), None);
        let found = suspects("status", &[Kept, Kept, Kept, Fails, Fails]);
        assert_eq!((found[0].until, found[0].first), (2 * (UNDER_WAY + 1) + 1, (3 * (UNDER_WAY + 1) + 1, 3)));
        assert!(suspects("status", &[Kept, Kept]).is_empty());
    }

    #[test]
    fn a_case_of_any_role_that_shows_something_did_not_keep_it() {
        let number = |position: u64| position * (UNDER_WAY + 1) + 1;
        for place in ["status", "body/id"] {
            // Columns: the start of the violation, the last request without it, and true if an earlier case
            // passed.
            for (ends, began, until, has_earlier) in [
                (&[WrongControl, WrongControl, WrongControl, Fails, Fails][..], 0, 0, false),
                (&[WrongControl, Fails, Fails], 0, 0, false),
                (&[Kept, Kept, WrongControl, Fails, Fails], 2, number(1), false),
                (&[Kept, Kept, Kept, WrongControl, Fails], 3, number(2), true),
                (&[Untold, Untold, Untold, Fails, Fails], 3, 0, false),
                (&[Kept, Kept, Kept, Untold, Fails, Fails], 4, number(2), true),
            ] {
                let found = suspects(place, ends);
                assert_eq!(found.len(), 1, "{place} {began}");
                let Suspect { first, until: last, earlier, .. } = &found[0];
                assert_eq!((first.1, *last, earlier.is_some()), (began, until, has_earlier), "{place}");
            }
            assert!(suspects(place, &[WrongControl, WrongControl]).is_empty(), "controls alone do not count");
        }
    }

    #[test]
    fn the_longest_of_the_cases_that_show_something_is_kept_beside_the_first() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let all = |count| suite.cases().iter().find(move |case| requests(case) == count).unwrap();
        let longest = |order: &[&Case]| {
            let wrong = |position: usize| Witness {
                number: position as u64 + 1,
                position,
                wrong: vec![("a".to_owned(), "status".to_owned(), true)],
                kept: None,
                is_accepted: true,
            };
            let mut witnesses: Vec<Witness> = (0..order.len()).map(wrong).collect();
            super::suspects(&mut witnesses, order)[0].longest
        };
        assert_eq!(longest(&[all(1), all(3), all(2)]), Some(1));
        assert_eq!(longest(&[all(3), all(1), all(2)]), None, "it is the first");
    }

    #[test]
    fn a_suspect_is_asked_alone_and_then_its_longest_case() {
        use crate::probes::tests::{Got::Status, JUDGE, accepting, told, view};
        let ids = ["ncbct.creditor-name.length/creditorName/one-more", "basket.body/of-two"];
        let order = ids.map(|id| JUDGE.suite().case(id).unwrap());
        let suspect = |longest| Suspect {
            clause: order[0].clause.clone(),
            at: "status".to_owned(),
            first: (7, 0),
            longest,
            until: 0,
            earlier: None,
        };
        let alone = |steps: &[(&str, crate::probes::tests::Got)], longest| {
            let view = view(ids[0], steps);
            let asked = JUDGE.isolated((3, &suspect(longest)), &order, &view, &accepting(ids[0]));
            told(asked.map(|asked| format!("{:?}", asked.again)))
        };
        let again = "alone-3/request";
        assert_eq!(alone(&[], None), "send alone-3/request");
        assert_eq!(alone(&[(again, Status(201))], Some(1)), "Same");
        assert_eq!(alone(&[(again, Status(400))], None), "Kept");
        // A request that passes alone may fail in a case with several requests.
        assert_eq!(alone(&[(again, Status(400))], Some(1)), "case basket.body/plain");
    }
}
