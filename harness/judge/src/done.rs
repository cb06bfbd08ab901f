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
    /// The verdict. Its role is [`Selected`](xs2aspec_record::Role::Selected) until the plan sets it.
    pub verdict: CaseVerdict,
    /// The requests sent for the case, or only the judged one if the history had them already.
    pub exchanges: Vec<Exchange>,
    /// The outcome of the judged request and the response, or the failure after three attempts.
    pub(crate) answered: Option<(Outcome, Came)>,
    /// The status of the response.
    pub(crate) status: Option<u16>,
    /// The ids and amounts with which the case's valid requests were accepted.
    pub(crate) values: Values,
    /// The delay until the target showed a created resource, if there was one.
    pub(crate) shows_after: Option<Duration>,
    /// True if the response itself proves the violation and cannot come from an overloaded target.
    pub(crate) shows_it: bool,
    /// The reason why the last request had no response, if it had none.
    pub failure: Option<ExchangeError>,
    /// True if the request limit held back a request of the case or of its control, so that the verdict does
    /// not count.
    pub is_held_back: bool,
}

impl Done {
    /// Returns true if the judged request got a 5xx.
    pub(crate) fn is_server_error(&self) -> bool {
        self.status.is_some_and(|status| status >= 500)
    }

    /// Returns the verdict with a role.
    pub fn told(&self, role: Role) -> CaseVerdict {
        CaseVerdict { role, ..self.verdict.clone() }
    }

    /// Returns the judged exchange.
    pub fn judged(&self) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| Some(exchange.number) == self.verdict.exchange)
    }
}

/// A response and its examination.
pub(crate) type Answered = (Arc<Answer>, Examined);
