//! Reads what others sent: archives, records and files, as exchanges that a judge looks at.
//!
//! - [`input`]: reading it.
//! - `coding`: takes content codings off.
//! - `restore`: puts values of a profile back in place of their pseudonyms.

mod coding;
pub mod input;
mod restore;

pub use coding::decoded;
pub use restore::Restorer;
