//! Reads the traffic of others: archives, records and files, as exchanges for the judge.
//!
//! - [`input`]: reading files.
//! - `coding`: decoding content codings.
//! - `restore`: replacing pseudonyms with the values of a profile.

mod coding;
pub mod input;
mod restore;

pub use coding::decoded;
pub use restore::Restorer;
