//! A run as signed evidence, and what of it can be believed.
//!
//! - [`bundle`](mod@bundle): the archive of a run: its record, its reports, digests of what it was made with.
//! - [`envelope`]: the signed statement about all of them.
//! - [`verify`](mod@verify): holds each byte of a bundle against the statement and the record.

pub mod bundle;
pub mod envelope;
mod slice;
pub mod verify;

/// The records that the tests of reports are made with.
#[cfg(test)]
#[path = "../../report/tests/it/sample.rs"]
#[allow(dead_code, reason = "tests of reports use all of it")]
mod sample;
