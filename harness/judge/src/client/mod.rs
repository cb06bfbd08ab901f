//! Compares the traffic of a client with a plan of what it should show.
//!
//! The [`plan`] is data of the document: a list of items, each with the evidence that shows it. [`recorded`]
//! holds what a history contains about the client. [`mod@tick`] compares the two: an item is shown, not
//! shown, skipped or violated, with the exchange that proves it. [`report`] writes the result as a history,
//! from which every report can be rendered.

pub mod condition;
pub mod masked;
pub mod plan;
pub mod recorded;
pub mod report;
mod sequence;
mod state;
pub mod tick;

pub use plan::{Item, Part, Plan};
pub use recorded::{Broken, Recorded, Watch};
pub use report::Statement;
pub use state::{Breach, State};
pub use tick::{Ticked, broken, tick};
