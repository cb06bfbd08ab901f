//! What two or more records say together: what differs, and shards as one run.

pub mod diff;
pub mod merge;
