//! Partitions of the requests of an operation: the forms of the spec, each with what it comes to alone.

use std::collections::BTreeSet;

use fastrand::Rng;
use xs2aspec_spec::request::{Due, Form};
use xs2aspec_suite::Suite;

use crate::{AppliedForm, Combination};

/// What a request with this form, and nothing else, must come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aim {
    /// It is accepted.
    Valid,
    /// It is refused.
    Broken,
    /// Both are right: a server does not fail on it.
    Open,
}

/// A form, and what it comes to alone.
#[derive(Debug)]
pub struct Partition {
    pub(crate) form: Form,
    pub(crate) touches: BTreeSet<String>,
    pub(crate) aim: Aim,
}

impl Partition {
    /// Every partition of an operation. What a form does to a request that has no place for it, or has it
    /// already, is none.
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

    /// The name of its form.
    pub fn name(&self) -> &str {
        &self.form.name
    }

    /// What it comes to alone.
    pub fn aim(&self) -> Aim {
        self.aim
    }

    /// The place that it is about; of what is about none the first words of its name.
    pub(crate) fn place(&self) -> &str {
        let name = &self.form.name;
        if self.form.place.is_empty() { name.split(": ").next().unwrap_or(name) } else { &self.form.place }
    }

    /// Whether both can be in one request.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.touches.is_disjoint(&other.touches)
    }

    /// What it does this time.
    pub(crate) fn draw(&self, rng: &mut Rng) -> AppliedForm {
        AppliedForm::draw(&self.form, &self.touches, &mut |below| rng.u64(..below))
    }
}
