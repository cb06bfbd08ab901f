//! Support for the tests of several modules.

pub(crate) mod certificate;

use chrono::{DateTime, NaiveDate, Utc};

use crate::certificate::Certificates;
use crate::clock::Clock;
use crate::context::Context;
use crate::policy::Policy;
use crate::psu::Caller;
use crate::seed::Seed;
use crate::state::{Owner, State};

impl Context {
    /// Returns a bank with the built-in data that opens now.
    pub(crate) fn built_in(now: DateTime<Utc>) -> Self {
        Self {
            prefix: String::new(),
            clock: Clock::at(Some(now)),
            state: State::new(0, &Seed::built_in(), now.date_naive()),
            certificates: Certificates::default(),
        }
    }
}

impl Caller<'_> {
    /// Returns a private caller under the policy of the document.
    pub(crate) fn of(bank: &Context, owner: Owner, today: NaiveDate) -> Caller<'_> {
        Caller { bank, policy: Policy::document(), today, owner, is_corporate: false }
    }
}
