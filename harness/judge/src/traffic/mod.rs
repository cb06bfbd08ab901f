//! Judges traffic of others: the requests of a client and the responses of its bank.
//!
//! - `message`: a request and its response, whatever the source
//! - [`judge`]: violations by either end, and open points
//! - `verdict`: the result in the form of the history
//! - `routes`: the operation of a request
//! - `reading`: a request in the form that the rules evaluate
//! - [`vocabulary`] and `values`: the placeholders behind the values of a request
//! - `signature`: the form of a signature
//! - `memory`: resources created by earlier exchanges
//! - `client`: requests that are wrong under every reading
//! - `session`: the use of ids across exchanges
//! - `near`: paths that almost match an operation
//! - [`mask`], `known` and `url`: masking of recorded traffic

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
