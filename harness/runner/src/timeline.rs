//! What was wrong, in the order of time, and whether it is when nothing else is asked: a target may begin to
//! forget, or to count wrongly, and then many cases show it that have nothing to do with it.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use xs2aspec_record::{
    AskedAlone, CaseVerdict, Earlier, Exchange, Finding, Repeated, Role, Verdict, finding_id,
};
use xs2aspec_suite::Case;

use crate::session::Session;

/// Things that were wrong and are asked again.
const ASKED: usize = 25;

/// After so long nothing more is asked: a target may be slow, or give no answer to what it minds.
const LONGEST: Duration = Duration::from_secs(20);

/// Requests that were under way when the first case showed something wrong may still be answered as before.
const UNDER_WAY: u64 = 64;

/// So many requests of one case are a sequence.
const SEQUENCE: usize = 3;

/// So many cases have to have kept something before it is thought to have begun at some time.
const KEPT_BEFORE: usize = 3;

/// Cases by the number of their judged request, with their positions in the order of the record.
type Times = BTreeMap<u64, usize>;

/// When what was seen.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// Cases that show something wrong, by clause and place.
    wrong: BTreeMap<(String, String), Times>,
    /// Cases that kept their clause, by clause.
    kept: BTreeMap<String, Times>,
    /// Cases whose request was accepted, by operation.
    accepted: BTreeMap<String, Times>,
}

/// Something that is asked again.
#[derive(Debug, PartialEq, Eq)]
struct Suspect {
    clause: String,
    at: String,
    /// Number and position of the first case that shows it.
    first: (u64, usize),
    /// The case that shows it and sends the most requests itself, where the first sends less.
    longest: Option<usize>,
    /// The number of the last request before that could have shown it.
    until: u64,
    /// The last case before that kept it, where hardly one did since.
    earlier: Option<(u64, usize)>,
}

impl Timeline {
    /// Takes what came of the case at this position, before its exchanges have the numbers of the record.
    pub(crate) fn add(&mut self, position: usize, verdict: &CaseVerdict, exchanges: &[Exchange]) {
        let judged = exchanges.iter().find(|one| Some(one.number) == verdict.exchange);
        // What says nothing any more has no time.
        let Some(judged) = judged.filter(|_| !verdict.unconfirmed) else { return };
        // Of a control that nobody selected only what its status says counts.
        let counts = verdict.role == Role::Selected || verdict.is_broken_control();
        for Finding { clause, at, .. } in verdict.findings.iter().filter(|_| counts) {
            let key = (clause.clone(), finding_id::place(at));
            self.wrong.entry(key).or_default().insert(judged.number, position);
        }
        if verdict.verdict == Verdict::Pass {
            self.kept.entry(verdict.clause.clone()).or_default().insert(judged.number, position);
        }
        if judged.response.as_ref().is_some_and(|answer| (200..300).contains(&answer.status)) {
            self.accepted.entry(verdict.operation.clone()).or_default().insert(judged.number, position);
        }
    }

    /// What is to be asked again, in the order of time.
    fn suspects(&self, order: &[&Case]) -> Vec<Suspect> {
        let none = Times::new();
        let mut suspects = Vec::new();
        for ((clause, at), wrong) in &self.wrong {
            let Some((since, first)) = wrong.first_key_value().map(|(since, first)| (*since, *first)) else {
                continue;
            };
            let operation = order[first].operation();
            let able = if at == "status" { self.kept.get(clause) } else { self.accepted.get(operation) };
            let able = able.unwrap_or(&none).iter().filter(|(number, _)| !wrong.contains_key(number));
            let is_like = |position: usize| order[position].operation() == operation;
            let before: Vec<(u64, usize)> = able
                .clone()
                .map(|(number, at)| (*number, *at))
                .filter(|(number, _)| *number < since)
                .collect();
            let after = able.filter(|(number, _)| **number > since + UNDER_WAY).count();
            let has_begun = before.len() >= KEPT_BEFORE && wrong.len() >= 2 && after * 20 <= wrong.len();
            let longest = wrong.values().copied().max_by_key(|at| (requests(order[*at]), Reverse(*at)));
            suspects.push(Suspect {
                clause: clause.clone(),
                at: at.clone(),
                first: (since, first),
                longest: longest.filter(|at| requests(order[*at]) > requests(order[first])),
                until: before.last().map_or(0, |(number, _)| *number),
                earlier: before.into_iter().rev().find(|(_, position)| has_begun && is_like(*position)),
            });
        }
        // A sequence can show by itself what others show beside it alone, so that it is always asked.
        let is_sequence = |suspect: &Suspect| {
            let position = suspect.longest.unwrap_or(suspect.first.1);
            requests(order[position]) >= SEQUENCE
        };
        suspects.sort_by_key(|suspect| (!is_sequence(suspect), suspect.first));
        suspects.truncate(ASKED);
        suspects.sort_by_key(|suspect| suspect.first);
        suspects
    }

    /// Asks what was wrong again, one thing after the other.
    pub(crate) async fn ask(&self, session: &Session, order: &[&Case]) -> Vec<AskedAlone> {
        let mut asked = Vec::new();
        if !session.asks_again() {
            return asked;
        }
        let began = Instant::now();
        for (number, suspect) in self.suspects(order).into_iter().enumerate() {
            if began.elapsed() > LONGEST {
                break;
            }
            let Suspect { clause, at, first: (since, position), longest, until, earlier } = suspect;
            let mut case = order[position];
            let is_wrong =
                |finding: &Finding| finding.clause == clause && finding_id::place(&finding.at) == at;
            let ask = async |case: &Case, mark: String| {
                // What is used up is not there again; and a plain request in whose place another one is sent
                // is not asked any more.
                let is_replaced = case.is_plain && session.goes_on(case.operation());
                if case.needs_quota() || case.same_as.is_some() || is_replaced {
                    return (Repeated::Untold, String::new());
                }
                match session.ask_alone(case, &mark).await {
                    Some((findings, words)) if findings.iter().any(is_wrong) => (Repeated::Same, words),
                    Some((_, words)) => (Repeated::Kept, words),
                    None => (Repeated::Untold, String::new()),
                }
            };
            let earlier = match earlier {
                Some((request, position)) => {
                    let case = order[position];
                    let (again, _) = ask(case, format!("earlier-{number}")).await;
                    Some(Earlier { case: case.id.clone(), request, again })
                }
                None => None,
            };
            let (mut again, mut words) = ask(case, format!("alone-{number}")).await;
            if let (Repeated::Kept, Some(longest)) = (again, longest) {
                let (same, got) = ask(order[longest], format!("longest-{number}")).await;
                if same == Repeated::Same {
                    (case, again, words) = (order[longest], same, got);
                }
            }
            asked.push(AskedAlone {
                clause: clause.clone(),
                at: at.clone(),
                case: case.id.clone(),
                since,
                until,
                requests: requests(case),
                again,
                words,
                earlier,
            });
        }
        asked
    }
}

/// How many requests a case sends, those that prepare it included.
fn requests(case: &Case) -> usize {
    case.before.iter().map(|step| step.times.unwrap_or(1)).sum::<usize>() + 1
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::{Suite, Tree};

    use super::*;
    use crate::session::left_in_doubt;

    /// A timeline of cases of one clause and operation: whether each, in the order of time, is wrong.
    fn suspects(wrong: &[bool]) -> Vec<Suspect> {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let first = suite.cases().iter().find(|case| case.same_as.is_none() && !case.is_plain).unwrap();
        let of = suite.cases().iter().filter(|case| case.operation() == first.operation());
        let order: Vec<&Case> = of.take(wrong.len()).collect();
        let mut timeline = Timeline::default();
        for (position, (case, is_wrong)) in order.iter().zip(wrong).enumerate() {
            let number = position as u64 * (UNDER_WAY + 1) + 1;
            let finding = Finding {
                clause: "a".to_owned(),
                expected: String::new(),
                actual: String::new(),
                at: "status".to_owned(),
                level: xs2aspec_record::Level::Deny,
                end: xs2aspec_record::End::Bank,
            };
            let verdict = CaseVerdict {
                clause: "a".to_owned(),
                verdict: if *is_wrong { Verdict::Fail } else { Verdict::Pass },
                findings: if *is_wrong { vec![finding] } else { vec![] },
                exchange: Some(number),
                ..left_in_doubt(case)
            };
            let exchange = serde_json::json!({
                "number": number, "case": case.id, "step": "request", "micros": 1,
                "request": {"method": "GET", "url": "/", "headers": []},
            });
            timeline.add(position, &verdict, &[serde_json::from_value(exchange).unwrap()]);
        }
        timeline.suspects(&order)
    }

    #[test]
    fn what_is_wrong_from_some_time_on_is_held_against_what_was_right_before() {
        let earlier = |wrong: &[bool]| {
            let found = suspects(wrong);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].earlier.map(|(_, position)| position)
        };
        let (no, yes) = (false, true);
        assert_eq!(earlier(&[no, no, no, yes, yes, yes]), Some(2));
        assert_eq!(earlier(&[no, no, no, yes, no, yes]), None, "one is right since");
        assert_eq!(earlier(&[no, no, yes, yes]), None, "too few were right before");
        assert_eq!(earlier(&[yes, yes, yes]), None);
        let found = suspects(&[no, no, no, yes, yes]);
        assert_eq!((found[0].until, found[0].first), (2 * (UNDER_WAY + 1) + 1, (3 * (UNDER_WAY + 1) + 1, 3)));
        assert!(suspects(&[no, no]).is_empty());
    }

    #[test]
    fn the_longest_of_the_cases_that_show_something_is_kept_beside_the_first() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let all = |count| suite.cases().iter().find(move |case| requests(case) == count).unwrap();
        let longest = |order: &[&Case]| {
            let wrong =
                order.iter().enumerate().map(|(position, _)| (position as u64 + 1, position)).collect();
            let wrong = BTreeMap::from([(("a".to_owned(), "status".to_owned()), wrong)]);
            Timeline { wrong, ..Timeline::default() }.suspects(order)[0].longest
        };
        assert_eq!(longest(&[all(1), all(3), all(2)]), Some(1));
        assert_eq!(longest(&[all(3), all(1), all(2)]), None, "it is the first");
    }
}
