//! Which refused rows of lawful forms are narrowed. Rows come in the order of their ids, so that a run asks
//! the same however many cases were in flight.

use xs2aspec_record::{CaseVerdict, Culprit, Exchange, Reason, RefusedForm, Verdict};
use xs2aspec_suite::Case;

use crate::{Judge, blank::unconfirm};

/// Rows that are narrowed in a run. A target that refuses one form refuses many rows, and all that have what
/// is known to be refused need no requests.
const ROWS: usize = 20;

/// What is known of refused rows.
pub struct Culprits<'a> {
    judge: &'a Judge,
    /// Operation, what is refused there, and the row that shows it.
    found: Vec<(String, Vec<RefusedForm>, String)>,
    /// Rows that were narrowed.
    rows: usize,
}

impl<'a> Culprits<'a> {
    /// Nothing is known yet.
    pub fn new(judge: &'a Judge) -> Self {
        Self { judge, found: Vec::new(), rows: 0 }
    }

    /// Returns true if nothing needs to be asked for a refused row, and notes what is known of it.
    pub fn is_known(&self, verdict: &mut CaseVerdict) -> bool {
        let is_made = |line: &String| verdict.changes.contains(line);
        let known = self.found.iter().find(|(operation, forms, _)| {
            *operation == verdict.operation && forms.iter().flat_map(|form| &form.changes).all(is_made)
        });
        let culprit = match known {
            Some((_, forms, row)) => Culprit::Found { forms: forms.clone(), shown_by: Some(row.clone()) },
            None if self.rows >= ROWS => {
                let why = format!("{ROWS} refused cases were asked in parts before it, and no more are");
                Culprit::Unknown { why }
            }
            None => return false,
        };
        verdict.culprit = Some(Box::new(culprit));
        true
    }

    /// Takes the result of narrowing a row.
    pub fn take(&mut self, verdict: &mut CaseVerdict, culprit: Option<Culprit>) {
        if culprit.is_none() {
            unconfirm(verdict, Reason::AcceptedAgain);
        }
        verdict.culprit = culprit.map(Box::new);
        self.keep(verdict);
    }

    /// Learns from the verdict of a row that was narrowed.
    pub fn keep(&mut self, verdict: &CaseVerdict) {
        match verdict.culprit.as_deref() {
            Some(Culprit::Found { forms, shown_by: None }) => {
                self.found.push((verdict.operation.clone(), forms.clone(), verdict.case.clone()));
            }
            Some(Culprit::Unknown { .. }) => {}
            _ => return,
        }
        self.rows += 1;
    }

    /// Whether a case is a row of lawful forms that was refused, of which nothing more is known.
    pub fn is_refused_row(&self, case: &Case, verdict: &CaseVerdict, judged: Option<&Exchange>) -> bool {
        let is_open = case.together.len() > 1
            && verdict.culprit.is_none()
            && matches!(verdict.verdict, Verdict::Fail | Verdict::Warn)
            && verdict.findings.iter().any(|finding| finding.is_answer_to(verdict));
        is_open
            && self.judge.asks_again()
            && judged
                .and_then(|judged| self.judge.outcome(case, judged))
                .is_some_and(|(outcome, _)| outcome.is_refusal())
    }
}
