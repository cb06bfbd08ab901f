//! Sends the requests that [`xs2aspec_judge`] needs, and appends requests, responses and verdicts to the
//! history of a run.
//!
//! - [`exchange`]: sending a request and reading the response.
//! - [`Runner`]: one target, and the loop that alternates between the judge and the target.
//! - [`run`](mod@run): a whole plan, as events. [`resume`]: the rest of a run that was killed.
//! - [`drawn`]: the record of cases that are generated during a run. [`traffic_run`]: the record of traffic.

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
