//! How a run is shown: each report is a pure function of the record.
//!
//! - [`summary`]: what a record says of a run as a whole, and [`reporter`]: a report that is drawn case after case.
//! - [`reports`](mod@reports): a record that is longer than memory, and its reports, written as its events are told.
//! - [`run`]: the events of a record in memory, indexed.
//! - [`mod@format`]: one file per format: terminal, `JUnit`, HTML, Markdown, CTRF, HAR, annotations.
//! - [`progress`]: what is shown while a run goes on.
//! - [`compare`]: what differs between two runs, and the records of shards as one.
//!
//! Much of what a report says was written by the target. [`text`] makes it harmless before it is shown.

pub mod compare;
pub mod demanded;
pub mod format;
pub mod progress;
pub mod reporter;
pub mod reports;
pub mod run;
#[cfg(test)]
mod sample;
pub mod shell;
pub mod summary;
pub mod text;

pub use run::Run;
pub use summary::{RunError, RunSummary};
