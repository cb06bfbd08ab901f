//! Tracks how far the judging of one case or task has come, step by step.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use xs2aspec_record::{Exchange, Got, Look};

use crate::{
    known::Known,
    probe::Values,
    request_signer::RequestSigner,
    view::{Seen, View},
};

/// The path through a view: the steps read so far.
#[derive(Debug)]
pub(crate) struct Trail<'v> {
    pub(crate) view: &'v View,
    pub(crate) known: &'v Known,
    /// The steps read so far.
    pub(crate) steps: Vec<&'v Seen>,
    pub(crate) remarks: Remarks,
    /// The set of ids and amounts to use next.
    pub(crate) values: Values,
    /// The set of ids and amounts with which the target accepted valid requests.
    pub(crate) accepted_with: Values,
    /// Properties of requests that are not steps of the case itself.
    pub(crate) beside: Beside,
    /// Number of quota calls sent before the last request, or None if that request does not count against the
    /// quota.
    pub(crate) calls_before: Option<usize>,
    /// The status of the judged response.
    pub(crate) status: Option<u16>,
    /// The time to wait before the next request.
    pub(crate) pause: Duration,
    /// True if the request limit held back a request.
    pub(crate) is_held_back: bool,
}

/// Remarks for a verdict.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// A rejection of a valid request that did not repeat.
    pub(crate) rejected_once: Option<Got>,
    /// Differences from the case's own requests, because the target rejects a baseline request.
    pub(crate) judged_with: BTreeSet<String>,
    /// The delay until the target showed a created resource, if there was one.
    pub(crate) shows_after: Option<Duration>,
}

/// Properties of requests that are not steps of the case itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    /// The case under which they are recorded, and their purpose. Retries have their own ids, derived from a
    /// longer case id.
    pub(crate) of: Option<(String, Look)>,
    /// The prefix of their step names.
    mark: String,
    /// The signer, if it differs from that of the profile.
    pub(crate) signer: Option<Arc<RequestSigner>>,
    /// True if verdicts rest on the response, so that the requests may use the reserve of the request limit.
    pub(crate) is_confirming: bool,
}

impl<'v> Trail<'v> {
    /// Returns the trail of a case.
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

    /// Returns the trail of requests that are recorded as steps of this case.
    pub(crate) fn again(view: &'v View, known: &'v Known, case: &str, look: Look) -> Self {
        let beside = Beside { of: Some((case.to_owned(), look)), ..Beside::default() };
        Self { beside, ..Self::new(view, known) }
    }

    /// Returns true if the requests are not steps of the case itself.
    pub(crate) fn is_beside(&self) -> bool {
        self.beside.of.is_some()
    }

    /// Returns the trail of a request that is sent at the same time as others.
    pub(crate) fn beside(&self) -> Self {
        let Beside { of, mark, .. } = self.beside.clone();
        let beside = Beside { of, mark, ..Beside::default() };
        Self { values: self.values, beside, pause: self.pause, ..Self::new(self.view, self.known) }
    }

    /// Sets the mark of the next requests. Returns the id from which their ids are derived.
    pub(crate) fn mark(&mut self, mark: &str) -> String {
        mark.clone_into(&mut self.beside.mark);
        let of = self.beside.of.as_ref().map_or("", |(of, _)| of);
        format!("{of}/{mark}")
    }

    /// Returns the case and the step under which a request is recorded.
    pub(crate) fn recorded_as(&self, case: &str, step: &str) -> (String, String) {
        match &self.beside.of {
            Some((of, _)) => (of.clone(), format!("{}/{step}", self.beside.mark)),
            None => (case.to_owned(), step.to_owned()),
        }
    }

    /// Returns a step of a case, if it was sent.
    pub(crate) fn seen(&self, case: &str, step: &str) -> Option<&'v Seen> {
        let (case, step) = self.recorded_as(case, step);
        self.view.step((&case, &step))
    }

    /// Returns true if a step can be sent, or is in the history.
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

    /// Returns the number of the last request.
    pub(crate) fn number(&self) -> Option<u64> {
        Some(self.last_exchange()?.number)
    }

    /// Appends the trail of a request that was sent at the same time.
    pub(crate) fn append(&mut self, other: Self) {
        self.accepted_with = self.accepted_with.max(other.accepted_with);
        self.remarks.judged_with.extend(other.remarks.judged_with);
        self.remarks.rejected_once = self.remarks.rejected_once.take().or(other.remarks.rejected_once);
        self.is_held_back |= other.is_held_back;
        self.steps.extend(other.steps);
        self.calls_before = other.calls_before;
    }
}
