//! Turns a run into signed evidence and verifies such evidence.
//!
//! - [`bundle`](mod@bundle): the archive of a run, with its record, its reports, and digests of their inputs.
//! - [`envelope`]: the signed statement about the files of a bundle.
//! - [`verify`](mod@verify): compares each byte of a bundle with the statement and the record.

pub mod bundle;
pub mod envelope;
mod slice;
pub mod verify;

/// The sample records of the report tests.
#[cfg(test)]
#[path = "../../report/tests/it/sample.rs"]
#[allow(dead_code, reason = "tests of reports use all of it")]
mod sample;
