//! Comparison of two records.

pub mod diff;
