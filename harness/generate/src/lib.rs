//! Requests that nobody wrote. The spec says of every place which values are tried there ([`Form`]s); an
//! [`Explorer`] draws requests from them, each form in changing company, and the rules of the spec say what
//! must become of the whole request. What breaks the expectation is made smaller ([`smaller`]) and kept as a
//! case file ([`export`]). A [`Sequencer`] draws several requests one after the other, from a small model of
//! what a server remembers.
//!
//! Nothing here knows the case files, the document's names, or the reference bank.

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
