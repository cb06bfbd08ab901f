//! Second looks: the requests that a verdict needs before it stands. Each is one file, which reads the
//! history and says what it needs.

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
