//! The document under test as a value: the only crate that knows its names, which it reads from data.
//!
//! [`Tree`] holds the files, [`Spec`] what they say, with the place of every mistake in them. Nothing here
//! sends anything.

pub mod answer;
pub mod cell;
pub mod check_digits;
pub mod clause;
pub mod client;
mod date;
pub mod document;
pub mod iban;
pub mod masks;
pub mod problem;
pub mod profile;
pub mod request;
pub mod sequence;
pub mod signing;
pub mod spec;
pub mod tree;
pub mod yaml;

pub use answer::AnswerRules;
pub use clause::{Clause, Strength};
pub use client::ClientRules;
pub use document::Document;
pub use masks::MaskSpec;
pub use problem::{Problem, Problems};
pub use profile::{CapabilitySpec, ProfileSpec, ValueSpec};
pub use request::RequestRules;
pub use sequence::SequenceRules;
pub use signing::{CertificateChoices, FormChoice, SigningSpec};
pub use spec::Spec;
pub use tree::Tree;
pub use yaml::At;
