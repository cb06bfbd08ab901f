//! Second looks: what is asked before a verdict stands. Each is one file; it reads what the history has, and
//! says what it needs.

pub(crate) mod broken_connection;
pub(crate) mod control;
pub(crate) mod eventually_visible;
mod evidence;
pub(crate) mod fresh_ids;
pub mod isolation;
pub mod minimal_cause;
pub mod profile;
mod search;
pub(crate) mod setup;
pub mod still_accepting;
mod substitute_baseline;
#[cfg(test)]
mod tests;
pub(crate) mod unavailable;
