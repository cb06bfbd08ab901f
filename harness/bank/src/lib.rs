//! A bank that obeys the document: it answers the five operations that the document specifies and those that
//! it mentions, and refuses what the document forbids.
//!
//! [`operations::perform`] answers one request by a [`policy::Policy`], whose default is the document. There
//! is no network in it: what listens, and what makes other banks of it, is around it.
//!
//! Its rules are typed here from the document alone. It shares no code and no data with the side that writes
//! requests: its own signing string, its own parsers, its own tables, and other libraries that verify
//! (`ring` and `rsa`). `README.md` lists the endpoints, the seed data and every choice made where the
//! document is silent.

pub mod account_number;
mod authentication;
pub mod certificate;
pub mod clock;
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
