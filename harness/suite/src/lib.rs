//! The tests of a document: clauses, cases and axes.
//!
//! [`Tree`] holds the files. [`Suite`] reads and expands them, and reports every mistake with its location.
//! [`Plan`] selects the cases of a run. This crate sends no requests.

pub mod alternatives;
mod answer_matrix;
mod axis;
pub mod baseline;
pub mod case;
pub mod combination;
mod control;
pub mod coverage;
mod covering;
pub mod definition;
pub mod difference;
mod expand;
pub mod expectation;
mod forms;
pub mod lazy_request;
pub mod lint;
pub mod location;
pub mod matrix;
pub mod order;
mod other_values;
mod paired;
mod parallel;
mod parts;
pub mod plan;
mod quota;
pub mod request;
pub mod rule_file;
pub mod scaffold;
mod stored;
pub mod substitute;
pub mod suite;
mod surrounded;
pub mod template;

pub use case::{Case, Preparation};
pub use combination::{AppliedForm, Combination};
pub use coverage::Coverage;
pub use definition::{
    Depth, IfControlRefused, Party, SignatureParameter, Signing, SigningHash, StepExpect, Wrap, Written,
};
pub use expectation::{Expectation, Refusal};
pub use lazy_request::LazyRequest;
pub use location::Location;
pub use plan::{Plan, PlanError, Shard};
pub use request::{BodySpec, RequestSpec};
pub use substitute::Substitute;
pub use suite::Suite;
pub use xs2aspec_spec::{
    AnswerRules, At, CapabilitySpec, CertificateChoices, Clause, Document, FormChoice, MaskSpec, Problem,
    Problems, ProfileSpec, SequenceRules, SigningSpec, Spec, Strength, Tree, problem::nearest,
    profile::TEMPLATE,
};
