//! What differs between two records.

pub mod diff;
