//! A report that is rendered case by case, so that no report needs all cases of a run in memory.

use std::io::{self, Write};

use xs2aspec_record::{CaseEvents, CaseVerdict, Exchange, Role};

use crate::summary::RunSummary;

/// A case as a report shows it.
#[derive(Debug, Clone, Copy)]
pub struct CaseReport<'a> {
    /// The verdict.
    pub verdict: &'a CaseVerdict,
    /// Its exchanges, in the order in which they were sent.
    pub exchanges: &'a [Exchange],
}

impl CaseReport<'_> {
    /// Returns the judged exchange, if one took place.
    pub fn judged(&self) -> Option<&Exchange> {
        let number = self.verdict.exchange?;
        self.exchanges.iter().find(|exchange| exchange.number == number)
    }
}

/// A report format. Cases come in the order of their ids, between [`Self::begin`] and [`Self::finish`].
pub trait Reporter: Send {
    /// Writes the part above the cases.
    fn begin(&mut self, _summary: &RunSummary, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Renders the exchanges of a case, whatever its verdict.
    fn exchanges(
        &mut self,
        _summary: &RunSummary,
        _exchanges: &[Exchange],
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Renders a selected case. A reporter that writes only in [`Self::finish`] may get cases during the run.
    /// The summary then has the clauses, the start, and the results so far.
    fn case(
        &mut self,
        _summary: &RunSummary,
        _report: &CaseReport<'_>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Renders a control that was not selected and is a violation by itself
    /// ([`CaseVerdict::is_broken_control`]).
    fn control(
        &mut self,
        _summary: &RunSummary,
        _report: &CaseReport<'_>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Writes the part below the cases.
    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()>;

    /// Renders everything that a report shows of a case.
    fn show(&mut self, summary: &RunSummary, case: &CaseEvents, out: &mut dyn Write) -> io::Result<()> {
        self.exchanges(summary, &case.exchanges, out)?;
        let Some(verdict) = &case.verdict else { return Ok(()) };
        let report = CaseReport { verdict, exchanges: &case.exchanges };
        match verdict.role {
            Role::Selected => self.case(summary, &report, out),
            Role::Control if verdict.is_broken_control() => self.control(summary, &report, out),
            Role::Control => Ok(()),
        }
    }
}
