//! A report as it is drawn, case after case: no report needs all cases of a run in memory.

use std::io::{self, Write};

use xs2aspec_record::{CaseEvents, CaseVerdict, Exchange, Role};

use crate::summary::RunSummary;

/// A case as a report shows it.
#[derive(Debug, Clone, Copy)]
pub struct CaseReport<'a> {
    /// What was concluded.
    pub verdict: &'a CaseVerdict,
    /// What was sent for it, in the order in which it was sent.
    pub exchanges: &'a [Exchange],
}

impl CaseReport<'_> {
    /// The judged exchange, if one took place.
    pub fn judged(&self) -> Option<&Exchange> {
        let number = self.verdict.exchange?;
        self.exchanges.iter().find(|exchange| exchange.number == number)
    }
}

/// A format of a report. Cases come in the order of their ids, between [`Self::begin`] and [`Self::finish`].
pub trait Reporter: Send {
    /// Writes what stands above the cases.
    fn begin(&mut self, _summary: &RunSummary, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Draws what was sent for a case, whatever came of it.
    fn exchanges(
        &mut self,
        _summary: &RunSummary,
        _exchanges: &[Exchange],
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Draws a selected case. A reporter that writes nothing before [`Self::finish`] may be shown cases while
    /// the run goes on: of the summary it then knows the clauses, the start, and what cases showed so far.
    fn case(
        &mut self,
        _summary: &RunSummary,
        _report: &CaseReport<'_>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Draws a control that nobody selected and that is a violation by itself
    /// ([`CaseVerdict::is_broken_control`]).
    fn control(
        &mut self,
        _summary: &RunSummary,
        _report: &CaseReport<'_>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Writes what stands below the cases.
    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()>;

    /// Draws all that a report shows of a case.
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
