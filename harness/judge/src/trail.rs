//! How far the judgement of one question has come, step by step.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use xs2aspec_record::{Exchange, Got, Look};

use crate::{
    known::Known,
    probe::Values,
    request_signer::RequestSigner,
    view::{Seen, View},
};

/// The way through a view: what was read of it so far.
#[derive(Debug)]
pub(crate) struct Trail<'v> {
    pub(crate) view: &'v View,
    pub(crate) known: &'v Known,
    /// The steps that were read.
    pub(crate) steps: Vec<&'v Seen>,
    pub(crate) remarks: Remarks,
    /// The ids and amounts of its requests.
    pub(crate) values: Values,
    /// The ids and amounts with which the target accepted its valid requests.
    pub(crate) accepted_with: Values,
    /// How its requests differ from those of a case.
    pub(crate) beside: Beside,
    /// Calls of the quota of the day that were sent before its last request. None if that is no such call.
    pub(crate) calls_before: Option<usize>,
    /// The status of the response that is judged.
    pub(crate) status: Option<u16>,
    /// How long to wait before the next request.
    pub(crate) pause: Duration,
    /// True if a request was not sent since no more may be.
    pub(crate) is_held_back: bool,
}

/// Remarks of a verdict.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// A rejection of a valid request that did not come again.
    pub(crate) rejected_once: Option<Got>,
    /// Where requests differ from what the case says, since the target rejects a plain one.
    pub(crate) judged_with: BTreeSet<String>,
    /// How long after it was made the target showed a thing, where it needed a while.
    pub(crate) shows_after: Option<Duration>,
}

/// How requests that are asked beside a case differ from those of a case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    /// The case whose steps they are, and why: what is asked again has identifiers of its own, made from a
    /// longer id.
    pub(crate) of: Option<(String, Look)>,
    /// The beginning of the names of their steps.
    mark: String,
    /// The signer, if it is not that of the profile.
    pub(crate) signer: Option<Arc<RequestSigner>>,
    /// True if verdicts rest on the response, so that they may take what others have to leave.
    pub(crate) is_confirming: bool,
}

impl<'v> Trail<'v> {
    /// The way of a case.
    pub(crate) fn new(view: &'v View, known: &'v Known) -> Self {
        Self {
            view,
            known,
            steps: Vec::new(),
            remarks: Remarks::default(),
            values: Values::First,
            accepted_with: Values::First,
            beside: Beside::default(),
            calls_before: None,
            status: None,
            pause: Duration::ZERO,
            is_held_back: false,
        }
    }

    /// The way of requests that are asked again as steps of this case.
    pub(crate) fn again(view: &'v View, known: &'v Known, case: &str, look: Look) -> Self {
        let beside = Beside { of: Some((case.to_owned(), look)), ..Beside::default() };
        Self { beside, ..Self::new(view, known) }
    }

    /// Returns true if its requests are asked beside those of a case.
    pub(crate) fn is_beside(&self) -> bool {
        self.beside.of.is_some()
    }

    /// Begins the way of a request that is sent at the same time as others.
    pub(crate) fn beside(&self) -> Self {
        let Beside { of, mark, .. } = self.beside.clone();
        let beside = Beside { of, mark, ..Beside::default() };
        Self { values: self.values, beside, pause: self.pause, ..Self::new(self.view, self.known) }
    }

    /// Marks the requests that come next. Returns the id from which their identifiers are made.
    pub(crate) fn mark(&mut self, mark: &str) -> String {
        mark.clone_into(&mut self.beside.mark);
        let of = self.beside.of.as_ref().map_or("", |(of, _)| of);
        format!("{of}/{mark}")
    }

    /// Returns the case and the step as which a request is recorded.
    pub(crate) fn recorded_as(&self, case: &str, step: &str) -> (String, String) {
        match &self.beside.of {
            Some((of, _)) => (of.clone(), format!("{}/{step}", self.beside.mark)),
            None => (case.to_owned(), step.to_owned()),
        }
    }

    /// Returns a step of a case, if it was asked.
    pub(crate) fn seen(&self, case: &str, step: &str) -> Option<&'v Seen> {
        let (case, step) = self.recorded_as(case, step);
        self.view.step((&case, &step))
    }

    /// Returns true if a step can be asked: a record may lack it.
    pub(crate) fn can_ask(&self, case: &str, step: &str) -> bool {
        self.view.is_open() || self.seen(case, step).is_some()
    }

    /// Returns the step that was read last.
    pub(crate) fn last(&self) -> Option<&'v Seen> {
        self.steps.last().copied()
    }

    /// Returns the last request of the step that was read last.
    pub(crate) fn last_exchange(&self) -> Option<&'v Exchange> {
        self.last()?.exchanges.last()
    }

    /// Returns the requests that were read.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = &'v Exchange> {
        self.steps.iter().flat_map(|seen| &seen.exchanges)
    }

    /// Returns the number of the request that was sent last.
    pub(crate) fn number(&self) -> Option<u64> {
        Some(self.last_exchange()?.number)
    }

    /// Adds the way of a request that was sent beside others.
    pub(crate) fn append(&mut self, other: Self) {
        self.accepted_with = self.accepted_with.max(other.accepted_with);
        self.remarks.judged_with.extend(other.remarks.judged_with);
        self.remarks.rejected_once = self.remarks.rejected_once.take().or(other.remarks.rejected_once);
        self.is_held_back |= other.is_held_back;
        self.steps.extend(other.steps);
        self.calls_before = other.calls_before;
    }
}
