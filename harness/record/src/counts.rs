//! Numbers of cases by verdict.

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Numbers of selected cases by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// `pass`
    pub pass: usize,
    /// `flaky`
    #[serde(default)]
    pub flaky: usize,
    /// `fail`
    pub fail: usize,
    /// `warn`
    #[serde(default)]
    pub warn: usize,
    /// `waived`
    #[serde(default)]
    pub waived: usize,
    /// `inconclusive`
    pub inconclusive: usize,
    /// `not-applicable`
    pub not_applicable: usize,
    /// `observed`
    pub observed: usize,
    /// `error`
    pub error: usize,
}

impl Counts {
    /// Counts one case.
    pub fn add(&mut self, verdict: Verdict) {
        *self.slot(verdict) += 1;
    }

    /// Returns the number of cases with this verdict.
    pub fn of(&self, verdict: Verdict) -> usize {
        *self.clone().slot(verdict)
    }

    /// Adds another count.
    pub fn add_all(&mut self, others: Self) {
        for verdict in Verdict::ALL {
            *self.slot(verdict) += others.of(verdict);
        }
    }

    /// Returns the number of all cases.
    pub fn total(&self) -> usize {
        Verdict::ALL.into_iter().map(|verdict| self.of(verdict)).sum()
    }

    fn slot(&mut self, verdict: Verdict) -> &mut usize {
        match verdict {
            Verdict::Pass => &mut self.pass,
            Verdict::Flaky => &mut self.flaky,
            Verdict::Fail => &mut self.fail,
            Verdict::Warn => &mut self.warn,
            Verdict::Waived => &mut self.waived,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::NotApplicable => &mut self.not_applicable,
            Verdict::Observed => &mut self.observed,
            Verdict::Error => &mut self.error,
        }
    }
}
