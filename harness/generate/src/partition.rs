//! Partitions of the requests of an operation: the forms of the spec, each with its outcome on its own.

use std::collections::BTreeSet;

use fastrand::Rng;
use xs2aspec_spec::request::{Due, Form};
use xs2aspec_suite::Suite;

use crate::{AppliedForm, Combination};

/// The required outcome of a request with this form and no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aim {
    /// The request must be accepted.
    Valid,
    /// The request must be rejected.
    Broken,
    /// Both are allowed, but the server must not fail.
    Open,
}

/// A form, and its outcome on its own.
#[derive(Debug)]
pub struct Partition {
    pub(crate) form: Form,
    pub(crate) touches: BTreeSet<String>,
    pub(crate) aim: Aim,
}

impl Partition {
    /// Returns every partition of an operation. A form without an effect on the baseline request is not one.
    pub(crate) fn all(suite: &Suite, operation: &str, rng: &mut Rng) -> Vec<Self> {
        let forms = suite.requests().forms(operation).iter();
        forms.filter_map(|form| Self::new(suite, operation, form, rng)).collect()
    }

    fn new(suite: &Suite, operation: &str, form: &Form, rng: &mut Rng) -> Option<Self> {
        let mut combination = Combination::plain(operation);
        combination.add(AppliedForm::draw(form, &form.touches(), &mut |below| rng.u64(..below)));
        let aim = match suite.due_of(&combination)? {
            Due::Accepted { .. } => Aim::Valid,
            Due::Refused { .. } => Aim::Broken,
            Due::Choice { .. } | Due::Open(_) => Aim::Open,
        };
        Some(Self { touches: form.touches(), form: form.clone(), aim })
    }

    /// Returns the name of its form.
    pub fn name(&self) -> &str {
        &self.form.name
    }

    /// Returns its outcome on its own.
    pub fn aim(&self) -> Aim {
        self.aim
    }

    /// Returns its place, or the first words of its name if it has none.
    pub(crate) fn place(&self) -> &str {
        let name = &self.form.name;
        if self.form.place.is_empty() { name.split(": ").next().unwrap_or(name) } else { &self.form.place }
    }

    /// Returns true if both fit in one request.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.touches.is_disjoint(&other.touches)
    }

    /// Returns a random instance of its form.
    pub(crate) fn draw(&self, rng: &mut Rng) -> AppliedForm {
        AppliedForm::draw(&self.form, &self.touches, &mut |below| rng.u64(..below))
    }
}
