//! A step of a case.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use xs2aspec_suite::{Case, RequestSpec};

/// Values of earlier responses, by `STEP.KEY`.
pub type Kept = BTreeMap<String, Value>;

/// The request of a step, before it is filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) case: &'a Case,
    /// The name of the step: `request` for the judged one.
    pub(crate) name: &'a str,
    pub(crate) request: &'a Arc<RequestSpec>,
    pub(crate) kept: &'a Arc<Kept>,
}

impl<'a> Step<'a> {
    /// Returns the step for the judged request of a case.
    pub(crate) fn judged(case: &'a Case, kept: &'a Arc<Kept>) -> Self {
        Self { case, name: "request", request: case.request.whole(), kept }
    }

    /// Returns the same request under another name, which gives it other ids and amounts.
    pub(crate) fn named(self, name: &'a str) -> Self {
        Self { name, ..self }
    }
}
