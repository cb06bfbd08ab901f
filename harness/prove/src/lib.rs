//! How much the suite notices, measured on banks of which it is known what is wrong with them.
//!
//! - [`variant`]: the reference bank as it is, with one fault, with one variation, or in a style;
//!   [`declare`](mod@declare): what its profile then says.
//! - [`mutation`]: every case against such banks; [`kill_matrix`]: what it shows; [`snapshot`]: what it
//!   showed before.
//! - [`pairs`]: whether two faults at once are two findings.
//! - [`attribution`]: whether the first finding of a whole run names the broken clause.
//! - [`order`](mod@order): which cases catch the most for the fewest requests.
//! - [`kill_matrix::breakdown`]: its faults by area, by operator, by style.
//! - [`conditions`]: banks under circumstances that are nobody's violation.
//! - [`masking`]: whether what must be refused is refused for its own clause.
//! - [`exploration`]: drawn requests against one target, until some show a violation; `shrink`: the smallest
//!   that shows it.
//! - [`fault_search`]: how many drawn requests it takes to find each fault.
//!
//! Nothing here prints or writes a file: what comes of it are values, and the events of a record.

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
