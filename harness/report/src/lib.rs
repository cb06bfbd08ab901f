//! How a run is shown: each report is a pure function of the record.
//!
//! - [`summary`]: what a record says of a run as a whole, and [`reporter`]: a report that is drawn case after
//!   case.
//! - [`stream`]: reports of a record that is longer than memory; [`run`]: a small record in memory.
//! - [`findings`]: what is wrong, each thing once, likeliest causes first.
//! - [`mod@format`]: one file per format: terminal, `JUnit`, HTML, Markdown, CTRF, HAR, annotations; a trend
//!   of several runs.
//! - [`progress`]: what is shown while a run goes on.
//! - [`compare`]: what differs between two runs; [`merge`]: the records of shards as one.
//!
//! Much of what a report says was written by the target. [`text`] makes it harmless before it is shown.

pub mod compare;
pub mod demanded;
pub mod error;
pub mod findings;
pub mod format;
pub mod merge;
pub mod progress;
pub mod reporter;
pub mod run;
#[cfg(test)]
#[path = "../tests/it/sample.rs"]
mod sample;
pub mod shell;
pub mod stream;
pub mod summary;
pub mod text;
mod words;

pub use error::RunError;
pub use run::Run;
pub use summary::RunSummary;
