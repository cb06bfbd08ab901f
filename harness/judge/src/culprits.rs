//! Selects the rejected rows of valid values whose minimal cause is searched. Rows come in the order of their
//! ids, so that a run sends the same requests whatever its parallelism.

use xs2aspec_record::{CaseVerdict, Culprit, Exchange, Reason, RefusedForm, Verdict};
use xs2aspec_suite::Case;

use crate::{Judge, blank::unconfirm};

/// Maximum number of rows searched in a run. A target that rejects one value rejects many rows, and rows that
/// contain a known cause need no requests.
const ROWS: usize = 20;

/// The known causes of rejected rows.
pub struct Culprits<'a> {
    judge: &'a Judge,
    /// The operation, the rejected values, and the row that shows them.
    found: Vec<(String, Vec<RefusedForm>, String)>,
    /// Number of rows searched.
    rows: usize,
}

impl<'a> Culprits<'a> {
    /// Returns an empty collection.
    pub fn new(judge: &'a Judge) -> Self {
        Self { judge, found: Vec::new(), rows: 0 }
    }

    /// Returns true if a rejected row needs no requests, and sets its known cause.
    pub fn is_known(&self, verdict: &mut CaseVerdict) -> bool {
        let is_made = |line: &String| verdict.changes.contains(line);
        let known = self.found.iter().find(|(operation, forms, _)| {
            *operation == verdict.operation && forms.iter().flat_map(|form| &form.changes).all(is_made)
        });
        let culprit = match known {
            Some((_, forms, row)) => Culprit::Found { forms: forms.clone(), shown_by: Some(row.clone()) },
            None if self.rows >= ROWS => {
                let why = format!("a run searches at most {ROWS} rejected cases for their cause");
                Culprit::Unknown { why }
            }
            None => return false,
        };
        verdict.culprit = Some(Box::new(culprit));
        true
    }

    /// Stores the result of searching a row.
    pub fn take(&mut self, verdict: &mut CaseVerdict, culprit: Option<Culprit>) {
        if culprit.is_none() {
            unconfirm(verdict, Reason::AcceptedAgain);
        }
        verdict.culprit = culprit.map(Box::new);
        self.keep(verdict);
    }

    /// Learns from the verdict of a row that was searched.
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

    /// Returns true if a case is a rejected row of valid values whose cause is still unknown.
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
