//! Measures what the suite detects, on banks with known defects.
//!
//! - [`variant`]: the reference bank unchanged, with one fault, with one variation, or in a style.
//!   [`declare`](mod@declare): the profile that matches it.
//! - [`mutation`]: every case against such banks. [`kill_matrix`]: the results. [`snapshot`]: earlier
//!   results.
//! - [`pairs`]: two faults at once must be two findings.
//! - [`attribution`]: the first finding of a whole run must name the violated clause.
//! - [`order`](mod@order): the cases that catch the most with the fewest requests.
//! - [`kill_matrix::breakdown`]: faults by area, by operator and by style.
//! - [`conditions`]: banks under circumstances that are nobody's violation.
//! - [`masking`]: invalid requests must be rejected for their own clause.
//! - [`exploration`]: generated requests against one target, until some reveal a violation. `shrink`: the
//!   smallest request that reveals it.
//! - [`fault_search`]: the number of generated requests that it takes to find each fault.
//!
//! This crate does not print or write files. It returns values and the events of a record.

pub mod attribution;
pub mod conditions;
pub mod declare;
mod draw;
mod drawn_sequence;
mod error;
pub mod exploration;
pub mod fault_search;
pub mod kill_matrix;
pub mod masking;
pub mod mutation;
pub mod order;
pub mod pairs;
mod shrink;
pub mod snapshot;
pub mod variant;
mod violation;

pub use declare::declare;
pub use drawn_sequence::{AREA, DrawnSequence};
pub use error::ProveError;
pub use exploration::{ExploreOptions, Explored, explore};
pub use fault_search::{FaultSearch, SearchOptions};
pub use kill_matrix::{
    Caught, Flaw, KillMatrix, Kind, Row,
    breakdown::{self, Counts},
};
pub use mutation::MutationOptions;
pub use variant::BankVariant;
pub use violation::{Shown, Violation};
