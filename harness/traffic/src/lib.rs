//! Judges what others send: the requests of a client, and the answers of its bank.
//!
//! - [`traffic`]: a request and its answer, wherever they were read.
//! - [`input`]: reading it from archives, records and files.
//! - [`judge`]: what either end broke, and what could not be told.
//! - `routes`: the operation of a request; `reading`: a request as the rules look at one; `vocabulary` and
//!   `values`: what its values stand for; `signature`: what its signature is; `memory`: what earlier
//!   exchanges made.
//! - `restore`: puts values of a profile back in place of their pseudonyms.
//! - [`run`](mod@run): the record of it; `mask` masks it, `known` lists the names of the document, `url` masks
//!   URLs.
//!
//! Nothing here sends anything.

mod extensions;
pub mod input;
mod json;
pub mod judge;
mod known;
mod mask;
mod memory;
mod reading;
mod restore;
mod routes;
pub mod run;
mod signature;
pub mod traffic;
mod url;
mod values;
mod vocabulary;

pub use judge::{Judge, Judged, NotTold};
pub use restore::Restorer;
pub use run::{Broken, Totals, TrafficRun};
pub use traffic::{Payload, Received, Sent, Traffic};
