//! What a client should have shown, and what of it a record of its traffic shows.
//!
//! The [`plan`] is data of the document: a list of items, each with what shows it. [`recorded`] is what a
//! record has of the client, and [`mod@tick`] holds one against the other: an item is shown, not shown, or
//! broken, with the exchange that says so. [`report`] writes that as a record of its own, so that every
//! report can be drawn from it.

pub mod condition;
pub mod plan;
pub mod recorded;
pub mod report;
mod sequence;
mod state;
pub mod tick;

pub use plan::{Item, Plan};
pub use recorded::{Broken, Recorded, Watch};
pub use report::Statement;
pub use state::State;
pub use tick::{Ticked, broken, tick};
