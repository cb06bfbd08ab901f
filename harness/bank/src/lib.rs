//! A bank that obeys the document: it serves the five operations that the document specifies and those that
//! it mentions, and rejects what the document forbids.
//!
//! [`operations::perform`] handles one request under a [`policy::Policy`], whose default is the document. It
//! handles requests in process, without a network.
//!
//! The rules are typed here from the document alone: the signing string, the parsers and the tables.
//! Signatures are verified with `ring` and `rsa`. `README.md` lists the endpoints, the seed data, and every
//! choice where the document is silent.

pub mod account_number;
mod authentication;
pub mod certificate;
pub mod clock;
mod context;
pub mod country;
pub mod currency;
pub mod date;
mod digest;
mod distinguished_name;
mod encoded_word;
mod encoding;
mod fingerprint;
pub mod header;
mod header_check;
pub mod json;
pub mod member;
mod money;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod policy;
mod psu;
mod random;
pub mod refusal;
pub mod seed;
mod shared_types;
mod signature;
pub mod state;
pub mod status;
#[cfg(test)]
mod tests;
mod verification;
