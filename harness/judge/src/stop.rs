//! Early verdicts: the judging of a case may end before its request is judged.

use xs2aspec_record::{Absence, Came, CaseVerdict, Reason, Verdict};

use crate::{judge::Outcome, probe::Need};

/// An early verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason.
    pub reason: Box<Reason>,
    /// The reason why the case does not apply, if it does not.
    pub absence: Option<Absence>,
    /// The response to the judged request, if it got that far.
    pub seen: Option<Box<(Outcome, Came)>>,
}

impl Stop {
    /// Returns a stop with this verdict.
    pub fn new(verdict: Verdict, reason: Reason) -> Self {
        Self { verdict, reason: Box::new(reason), absence: None, seen: None }
    }

    /// Adds the response to the judged request.
    #[must_use]
    pub(crate) fn after(self, seen: (Outcome, Came)) -> Self {
        Self { seen: Some(Box::new(seen)), ..self }
    }

    /// Returns an inconclusive stop.
    pub fn inconclusive(reason: Reason) -> Self {
        Self::new(Verdict::Inconclusive, reason)
    }

    /// Returns the stop for daily calls that may be used up, by this run or by an earlier one.
    pub fn used_up() -> Self {
        Self::inconclusive(Reason::DailyCalls)
    }

    /// Returns the stop for a case that does not apply because the profile declares a requirement absent, or
    /// for another reason.
    pub fn declared_absent(reason: Reason) -> Self {
        Self { absence: Some(Absence::Declared), ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// Returns the stop for a case that needs an additional profile line, `add`.
    pub fn not_said(reason: Reason, add: &str) -> Self {
        let absence = Some(Absence::NotSaid { add: add.to_owned() });
        Self { absence, ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// Returns a stop with the outcome of another case.
    pub(crate) fn like(verdict: &CaseVerdict) -> Self {
        Self { absence: verdict.absence.clone(), ..Self::new(verdict.verdict, verdict.why()) }
    }

    /// Returns the stop for a failure of the suite itself.
    pub fn error(reason: Reason) -> Self {
        Self::new(Verdict::Error, reason)
    }
}

/// The reason why a rule has no result: a need that comes first, or an early verdict.
#[derive(Debug)]
pub(crate) enum Halt {
    Need(Need),
    Stop(Stop),
}

/// The result of a rule that can end early.
pub(crate) type Way<T> = Result<T, Halt>;

impl From<Need> for Halt {
    fn from(need: Need) -> Self {
        Self::Need(need)
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Separates early verdicts from needs.
pub(crate) trait Caught<T> {
    /// Returns the result or the early verdict, or the need as an error.
    fn caught(self) -> Result<Result<T, Stop>, Need>;
}

impl<T> Caught<T> for Way<T> {
    fn caught(self) -> Result<Result<T, Stop>, Need> {
        match self {
            Ok(result) => Ok(Ok(result)),
            Err(Halt::Stop(stop)) => Ok(Err(stop)),
            Err(Halt::Need(need)) => Err(need),
        }
    }
}
