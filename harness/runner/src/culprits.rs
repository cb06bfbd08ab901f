//! Which refused rows of lawful forms are narrowed. Rows come in the order of the record, one after the
//! other, so that a run asks the same however many cases are in flight.

use xs2aspec_record::{CaseEvents, CaseVerdict, Culprit, RefusedForm, Verdict};
use xs2aspec_suite::Case;

use crate::{
    session::{Narrowed, Session},
    unconfirmed::unconfirm,
};

/// Rows that are narrowed in a run. A target that refuses one form refuses many rows, and all that have what
/// is known to be refused need no requests.
const ROWS: usize = 20;

/// What is known of refused rows.
pub(crate) struct Culprits<'a> {
    session: &'a Session,
    /// Operation, what is refused there, and the row that shows it.
    found: Vec<(String, Vec<RefusedForm>, String)>,
    /// Rows that were narrowed.
    rows: usize,
    /// The row that waits for being narrowed.
    waiting: Option<&'a Case>,
    /// Whether one waits, or is narrowed now.
    is_held: bool,
}

impl<'a> Culprits<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        Self { session, found: Vec::new(), rows: 0, waiting: None, is_held: false }
    }

    /// The row that waits, once.
    pub(crate) fn row_to_narrow(&mut self) -> Option<&'a Case> {
        self.waiting.take()
    }

    /// Whether a case is told later: it is a row that the target refuses, and what it minds is not known yet.
    pub(crate) fn holds(&mut self, case: &'a Case, events: &mut CaseEvents) -> bool {
        if self.is_held || !self.is_refused_row(case, events) {
            return self.is_held;
        }
        let Some(verdict) = &mut events.verdict else { return false };
        let is_made = |line: &String| verdict.changes.contains(line);
        let known = self.found.iter().find(|(operation, forms, _)| {
            *operation == verdict.operation && forms.iter().flat_map(|form| &form.changes).all(is_made)
        });
        if let Some((_, forms, row)) = known {
            let found = Culprit::Found { forms: forms.clone(), shown_by: Some(row.clone()) };
            verdict.culprit = Some(Box::new(found));
            return false;
        }
        if self.rows >= ROWS {
            let why = format!("{ROWS} refused cases were asked in parts before it, and no more are");
            verdict.culprit = Some(Box::new(Culprit::Unknown { why }));
            return false;
        }
        (self.waiting, self.is_held) = (Some(case), true);
        true
    }

    /// Takes what came of narrowing the row that was held.
    pub(crate) fn take(&mut self, events: &mut CaseEvents, narrowed: Narrowed) {
        self.is_held = false;
        events.exchanges.extend(narrowed.exchanges);
        let Some(verdict) = &mut events.verdict else { return };
        if narrowed.culprit.is_none() {
            unconfirm(verdict, "the target refused it, and accepted it when the same was asked again");
        }
        verdict.culprit = narrowed.culprit.map(Box::new);
        self.keep(verdict);
    }

    /// Learns from the verdict of a row that was narrowed.
    pub(crate) fn keep(&mut self, verdict: &CaseVerdict) {
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
    pub(crate) fn is_refused_row(&self, case: &Case, events: &CaseEvents) -> bool {
        let Some(verdict) = &events.verdict else { return false };
        let is_open = case.together.len() > 1
            && verdict.culprit.is_none()
            && matches!(verdict.verdict, Verdict::Fail | Verdict::Warn)
            && verdict.findings.iter().any(|finding| finding.is_answer_to(verdict));
        let judged = || events.exchanges.iter().find(|one| Some(one.number) == verdict.exchange);
        is_open
            && self.session.asks_again()
            && judged()
                .and_then(|judged| self.session.outcome(case, judged))
                .is_some_and(|(outcome, _)| outcome.is_refusal())
    }
}
