//! Where the judgement of a case ends before its request is judged.

use xs2aspec_record::{Absence, Came, CaseVerdict, Reason, Verdict};

use crate::{judge::Outcome, probe::Need};

/// An early verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: Box<Reason>,
    /// Why it does not apply, of what does not.
    pub absence: Option<Absence>,
    /// The response to the judged request, if it got that far.
    pub seen: Option<Box<(Outcome, Came)>>,
}

impl Stop {
    /// Ends with this verdict.
    pub fn new(verdict: Verdict, reason: Reason) -> Self {
        Self { verdict, reason: Box::new(reason), absence: None, seen: None }
    }

    /// Adds the response to the judged request.
    #[must_use]
    pub(crate) fn after(self, seen: (Outcome, Came)) -> Self {
        Self { seen: Some(Box::new(seen)), ..self }
    }

    /// Ends inconclusively.
    pub fn inconclusive(reason: Reason) -> Self {
        Self::new(Verdict::Inconclusive, reason)
    }

    /// The daily calls may be used up, by this run or by whoever called before it.
    pub fn used_up() -> Self {
        Self::inconclusive(Reason::DailyCalls)
    }

    /// The profile declares that the target lacks what the case needs, or the case cannot apply to it.
    pub fn declared_absent(reason: Reason) -> Self {
        Self { absence: Some(Absence::Declared), ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// The profile does not say enough; `add` is the line that would open the case.
    pub fn not_said(reason: Reason, add: &str) -> Self {
        let absence = Some(Absence::NotSaid { add: add.to_owned() });
        Self { absence, ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// Ends as the case with this verdict did.
    pub(crate) fn like(verdict: &CaseVerdict) -> Self {
        Self { absence: verdict.absence.clone(), ..Self::new(verdict.verdict, verdict.why()) }
    }

    /// The harness could not do its work.
    pub fn error(reason: Reason) -> Self {
        Self::new(Verdict::Error, reason)
    }
}

/// Why a rule comes to no end: something is needed first, or there is an early verdict.
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

/// Takes an early verdict for a result.
pub(crate) trait Caught<T> {
    /// Returns the result or the early verdict, or what is needed first.
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
