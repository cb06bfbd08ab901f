//! Asks a target what [`xs2aspec_judge`] wants to know, and appends to the history of a run what was sent,
//! what came back, and each verdict.
//!
//! - [`exchange`]: sending a request, and reading the answer.
//! - [`Runner`]: one target, and the loop: what the judge needs is sent, and the judge is asked again.
//! - [`run`](mod@run): a whole plan, as events; [`resume`]: the rest of a run that was killed.
//! - [`drawn`]: the record of cases that are drawn as a run goes on; [`traffic_run`]: the record of traffic.

mod clock;
mod conclusions;
mod cycle;
pub mod drawn;
pub mod exchange;
mod history;
pub mod resume;
pub mod run;
mod runner;
pub mod traffic_run;
mod transport;

pub use clock::Clock;
pub use drawn::DrawnRun;
pub use history::Tell;
pub use run::{Options, run};
pub use runner::Runner;

pub use futures::future::BoxFuture;
