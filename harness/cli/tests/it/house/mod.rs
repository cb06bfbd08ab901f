//! The repository itself: its crates, its generated files, and the corpus of the fuzzer.

mod arrows;
mod bless;
mod corpus;
mod coverage;
mod examples;
mod files;
mod imports;
mod manual;
mod names;
mod prose;
mod scaffold;
