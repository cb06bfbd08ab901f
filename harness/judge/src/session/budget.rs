//! How many requests a session may send, and how fast it sends them.

use std::time::Duration;

use super::Session;
use crate::transport::Target;

impl Session {
    /// From now on nothing is sent beyond so many exchanges, those so far included. A case that is held back
    /// by that says so.
    pub fn limit_exchanges(&self, most: u64) {
        if let Some(live) = self.transport.live() {
            live.limit(most);
        }
    }

    /// Whether a request whose answer is not yet what a case demands is asked again for some seconds, as at
    /// first, or taken as it is.
    pub fn wait_for_answers(&self, waits: bool) {
        if let Some(live) = self.transport.live() {
            live.wait_for_answers(waits);
        }
    }

    /// So many of these exchanges are kept for asking whether valid requests are still accepted: what was
    /// refused says nothing without that.
    pub fn reserve_exchanges(&self, reserve: u64) {
        if let Some(live) = self.transport.live() {
            live.reserve(reserve);
        }
    }

    /// How many answers came so far.
    pub fn answers(&self) -> u64 {
        self.transport.live().map_or(0, Target::answered)
    }

    /// The shortest time between two requests, by the limits of the profile and those that the target names;
    /// none where nothing limits it.
    pub fn interval(&self) -> Option<Duration> {
        self.transport.live().and_then(Target::interval)
    }

    /// How many exchanges there may still be.
    pub fn exchanges_left(&self) -> u64 {
        self.transport.live().map_or(0, Target::left)
    }
}
