//! Second looks: the further requests that a verdict needs before it is final. Each is one file that reads
//! the history and returns its needs.

pub(crate) mod broken_connection;
pub mod company;
pub(crate) mod control;
pub(crate) mod eventually_visible;
mod evidence;
mod fresh_ids;
pub mod isolation;
mod minimal_cause;
mod profile;
mod search;
pub(crate) mod setup;
mod still_accepting;
mod substitute_baseline;
#[cfg(test)]
mod tests;
mod unavailable;
