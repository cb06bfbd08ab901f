//! Reports of a run. Each report is a pure function of the record.
//!
//! - [`summary`]: the totals of a record. [`reporter`]: a report that is rendered case by case.
//! - [`stream`]: reports of a record that exceeds memory. [`run`]: a small record in memory.
//! - [`findings`]: each defect once, likeliest causes first.
//! - [`mod@format`]: one file per format: terminal, `JUnit`, HTML, Markdown, CTRF, HAR, SARIF, code quality,
//!   annotations.
//! - [`locate`]: the lines of the user's files to which findings belong.
//! - [`progress`]: output during a run.
//! - [`compare`]: differences between two runs. [`merge`]: the records of shards as one.
//!
//! Much of a report's text comes from the target. [`text`] makes it harmless before it is shown.

pub mod compare;
pub mod demanded;
pub mod error;
pub mod findings;
pub mod format;
pub mod locate;
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
