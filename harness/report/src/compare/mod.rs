//! Comparison of two records.

pub mod diff;
pub mod gate;
