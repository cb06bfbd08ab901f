//! The parts of the bank that outlive a request.

use crate::certificate::Certificates;
use crate::clock::Clock;
use crate::state::State;

/// The parts of the bank that operations use.
pub struct Context {
    /// The path prefix of all routes.
    pub prefix: String,
    /// The clock.
    pub clock: Clock,
    /// The data and the memory of the bank.
    pub state: State,
    /// The certificates that TPPs have sent.
    pub certificates: Certificates,
}
