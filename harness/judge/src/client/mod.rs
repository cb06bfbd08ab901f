//! What a client should have shown, and what records of its traffic show.
//!
//! The [`plan`] is data of the document: a list of items, each with what shows it. [`recorded`] is what a
//! record has of the client, and [`mod@tick`] compares the two: an item is shown, not shown, skipped or
//! broken, with the exchange that says so. [`report`] writes that as a record of its own, from which every
//! report can be rendered.

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
