//! The repository itself: which crate imports which, what is generated, what a fuzzer found.

mod arrows;
mod bless;
mod corpus;
mod coverage;
mod examples;
mod files;
mod imports;
mod manual;
mod names;
mod scaffold;
