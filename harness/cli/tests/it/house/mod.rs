//! The repository itself: which crate imports which, what is generated, what a fuzzer found.

mod arrows;
mod corpus;
mod coverage;
mod examples;
mod names;
