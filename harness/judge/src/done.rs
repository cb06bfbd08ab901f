//! The result of a case.

use std::{sync::Arc, time::Duration};

use xs2aspec_record::{Came, CaseVerdict, Exchange, Role};

use crate::{
    answer::{Answer, ExchangeError},
    judge::{Examined, Outcome},
    probe::Values,
};

/// The result of a case.
#[derive(Debug, Clone)]
pub struct Done {
    /// The verdict, with the role [`Selected`](xs2aspec_record::Role::Selected) until the plan sets it.
    pub verdict: CaseVerdict,
    /// The requests that were sent for it, or only the judged one, where a history has them.
    pub exchanges: Vec<Exchange>,
    /// The outcome of the judged request, if there was a response, or none three times, and what came.
    pub(crate) answered: Option<(Outcome, Came)>,
    /// The status of that response.
    pub(crate) status: Option<u16>,
    /// The ids and amounts with which its valid requests were accepted.
    pub(crate) values: Values,
    /// How long after it was made the target showed a thing, where it needed a while.
    pub(crate) shows_after: Option<Duration>,
    /// True if the response shows by itself what is wrong: it is not what a target says that has had enough.
    pub(crate) shows_it: bool,
    /// Why its last request had no response, if it had none.
    pub failure: Option<ExchangeError>,
    /// True if a request of it, or of its control, was held back by the limit of exchanges, so that its
    /// verdict says nothing.
    pub is_held_back: bool,
}

impl Done {
    /// Returns true if the server failed at the judged request.
    pub(crate) fn is_server_error(&self) -> bool {
        self.status.is_some_and(|status| status >= 500)
    }

    /// Returns the verdict in its role.
    pub fn told(&self, role: Role) -> CaseVerdict {
        CaseVerdict { role, ..self.verdict.clone() }
    }

    /// Returns the judged exchange.
    pub fn judged(&self) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| Some(exchange.number) == self.verdict.exchange)
    }
}

/// A response, and what it is.
pub(crate) type Answered = (Arc<Answer>, Examined);
