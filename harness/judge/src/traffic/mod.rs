//! Judges what others send: the requests of a client, and the responses of its bank.
//!
//! - `message`: a request and its response, wherever they were read; [`judge`]: what either end broke, and
//!   what could not be told; `verdict`: what that is in a record.
//! - `routes`: the operation of a request; `reading`: a request as the rules look at one; [`vocabulary`] and
//!   `values`: what its values stand for; `signature`: what its signature is; `memory`: what earlier
//!   exchanges made.
//! - `client`: what a client may send under no reading; `session`: what earlier exchanges say of ids;
//!   `near`: paths that are nearly those of an operation.
//! - [`mask`] masks what is recorded of it, `known` lists the names of the document, `url` masks URLs.

mod client;
mod extensions;
pub mod judge;
mod known;
pub mod mask;
mod memory;
mod message;
mod near;
mod reading;
mod routes;
mod session;
mod signature;
mod url;
mod values;
mod verdict;
pub mod vocabulary;

pub(crate) use self::memory::hash;
pub use self::{
    judge::TrafficJudge,
    message::{Payload, Received, Rejection, Sent, Traffic, header},
    verdict::Judged,
};
