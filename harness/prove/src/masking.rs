//! Checks that each invalid request is rejected for the reason of its own clause. If it also violates another
//! rule, a bank that checks that rule first does not test its clause.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_record::{CaseVerdict, Exchange, Role, Verdict};
use xs2aspec_reference::REASON;
use xs2aspec_suite::{Expectation, Suite};

/// Reasons whose name differs from that of the clause, one per line: clause, reason, and why both are the
/// same violation. `*` represents the same text in both.
const NAMES: &str = include_str!("../../../fixtures/kill-matrix/reasons.tsv");

/// The reasons for which a bank rejected requests, by the number of the exchange.
#[derive(Debug, Default)]
pub struct Reasons(BTreeMap<u64, String>);

impl Reasons {
    /// Records the reason of a response that gives one.
    pub fn see(&mut self, exchange: &Exchange) {
        let headers = exchange.response.iter().flat_map(|response| &response.headers);
        let reason = headers.filter(|header| header.0.eq_ignore_ascii_case(REASON)).map(|header| &header.1);
        self.0.extend(reason.map(|reason| (exchange.number, reason.clone())).next());
    }

    /// Returns the cases that must be rejected and were rejected for another reason, by id, each with a
    /// message. In a whole run, unused lines of the table are reported as well.
    pub fn masked(
        &self,
        suite: &Suite,
        verdicts: &[CaseVerdict],
        is_whole: bool,
    ) -> BTreeMap<String, String> {
        let names = Names::read(NAMES);
        let is_refused = |case: &&xs2aspec_suite::Case| matches!(case.expect, Expectation::Refused(_));
        let refused: BTreeSet<&str> =
            suite.cases().iter().filter(is_refused).map(|case| case.id.as_str()).collect();
        let (mut masked, mut used) = (BTreeMap::new(), BTreeSet::new());
        // Observed cases do not test a rule.
        let is_judged =
            |verdict: &&CaseVerdict| verdict.role == Role::Selected && verdict.verdict != Verdict::Observed;
        for verdict in verdicts.iter().filter(is_judged) {
            let reason = verdict.exchange.and_then(|number| self.0.get(&number));
            let Some(reason) = reason.filter(|_| refused.contains(verdict.case.as_str())) else { continue };
            match names.same(&verdict.clause, reason) {
                Same::Name => {}
                Same::Line(line) => drop(used.insert(line)),
                Same::Not => {
                    let says =
                        format!("must be rejected for {}, but is rejected for {reason}", verdict.clause);
                    masked.insert(verdict.case.clone(), says);
                }
            }
        }
        if is_whole {
            let idle = names.0.iter().filter(|name| !used.contains(&name.line));
            masked.extend(idle.map(|name| {
                let at = format!("fixtures/kill-matrix/reasons.tsv:{}", name.line);
                (at, format!("no case of {} is rejected for {}", name.clause, name.reason))
            }));
        }
        masked
    }
}

/// The relation of a reason to a clause.
#[derive(Debug, PartialEq, Eq)]
enum Same {
    /// The same by name.
    Name,
    /// The same by this line of the table.
    Line(usize),
    /// Different.
    Not,
}

/// Lines with two names for one violation, and why they are equal.
pub(crate) struct Names<'a>(Vec<Name<'a>>);

struct Name<'a> {
    line: usize,
    clause: &'a str,
    reason: &'a str,
}

impl<'a> Names<'a> {
    pub(crate) fn read(table: &'a str) -> Self {
        let lines = table.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
        Self(
            lines
                .filter_map(|(number, line)| {
                    let mut cells = line.split('\t');
                    Some(Name { line: number + 1, clause: cells.next()?, reason: cells.next()? })
                })
                .collect(),
        )
    }

    /// Returns true if a line contains both, in this order.
    pub(crate) fn holds(&self, clause: &str, other: &str) -> bool {
        self.0.iter().any(|name| name.fits(clause, other))
    }

    fn same(&self, clause: &str, reason: &str) -> Same {
        let is_below =
            |name: &str, other: &str| name.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'));
        if clause == reason || is_below(clause, reason) || is_below(reason, clause) {
            return Same::Name;
        }
        self.0.iter().find(|name| name.fits(clause, reason)).map_or(Same::Not, |name| Same::Line(name.line))
    }
}

impl Name<'_> {
    fn fits(&self, clause: &str, reason: &str) -> bool {
        let part = |pattern: &str, name: &str| match pattern.split_once('*') {
            None => (pattern == name).then_some(None),
            Some((front, back)) => {
                let rest = name.strip_prefix(front)?.strip_suffix(back)?;
                (!rest.is_empty()).then(|| Some(rest.to_owned()))
            }
        };
        match (part(self.clause, clause), part(self.reason, reason)) {
            (Some(Some(own)), Some(Some(other))) => own == other,
            (Some(_), Some(_)) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_that_of_a_clause_by_its_name_or_by_a_line() {
        let names = Names::read("# clause, reason, why\na.code\ta.form\tx\n*.length\t*.type\ty\nb.*\tc\tz\n");
        for (clause, reason, expected) in [
            ("a.b", "a.b", Same::Name),
            ("a.b.c", "a.b", Same::Name),
            ("a.b", "a.b.c", Same::Name),
            ("a.b", "a.bc", Same::Not),
            ("a.code", "a.form", Same::Line(2)),
            ("n.name.length", "n.name.type", Same::Line(3)),
            ("n.name.length", "n.agent.type", Same::Not),
            ("b.x", "c", Same::Line(4)),
            ("b.x", "d", Same::Not),
        ] {
            assert_eq!(names.same(clause, reason), expected, "{clause} {reason}");
        }
    }

    #[test]
    fn each_line_of_the_table_says_why() {
        for line in NAMES.lines().filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert!(cells.len() == 3 && cells[2].len() > 10 && cells[2].ends_with('.'), "{line}");
        }
    }
}
