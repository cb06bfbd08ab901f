//! The document under test as a value, read from data files. No other crate knows the names in the document.
//!
//! [`Tree`] holds the files, and [`Spec`] holds their contents. Loading reports every mistake with its
//! location. This crate sends no requests.

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
