//! Generates requests from the spec.
//!
//! The spec lists the values to try at every place ([`Form`]s). An [`Explorer`] combines them into requests,
//! each form in changing company. The rules of the spec give the expected outcome of the whole request. A
//! request that reveals a violation is shrunk ([`smaller`]) and saved as a case file ([`export`]). A
//! [`Sequencer`] generates sequences of requests from a small model of a server's state.
//!
//! This crate does not depend on the case files, on names in the document, or on the reference bank.

mod company;
mod explorer;
pub mod export;
mod pairs;
mod partition;
pub mod sequence;
mod sequencer;
mod smaller;

pub use explorer::Explorer;
pub use partition::{Aim, Partition};
pub use sequence::Sequence;
pub use sequencer::Sequencer;
pub use smaller::smaller;
pub use xs2aspec_spec::request::{Due, Edit, Form};
pub use xs2aspec_suite::{AppliedForm, Combination};
