//! How a run is shown: one file per format, each a pure function of the record.
//!
//! - [`head`]: what a record says of a run as a whole, and [`sheet`]: a report that is drawn case after case.
//! - [`reports`](mod@reports): a record that is longer than memory, and its reports, written as its events are told.
//! - [`run`]: the events of a record in memory, indexed.
//! - [`terminal`]: the block of a failing case, and the summary at the end of a run.
//! - [`progress`]: what is shown while a run goes on.
//! - [`ctrf`], [`har`] and [`annotations`]: for other tools.
//! - [`diff`]: what differs between two runs.
//! - [`merge`](mod@merge): the records of shards as one.
//! - [`bundle`] and [`envelope`]: a run as signed evidence; [`verify`](mod@verify): what of it can be believed.
//! - [`files`]: the reports that a run leaves.
//! - [`html`]: `report.html` for people.
//! - [`junit`]: `junit.xml` for CI servers.
//! - [`markdown`]: `summary.md` for a CI step summary.
//!
//! Much of what a report says was written by the target. [`text`] makes it harmless before it is shown.

pub mod annotations;
mod block;
pub mod bundle;
pub mod ctrf;
pub mod demanded;
pub mod diff;
pub mod envelope;
pub mod files;
mod groups;
pub mod har;
pub mod head;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod progress;
pub mod reports;
pub mod run;
#[cfg(test)]
mod sample;
pub mod sheet;
pub mod shell;
pub mod terminal;
pub mod text;
pub mod verify;

pub use head::{Head, RunError};
pub use run::Run;
