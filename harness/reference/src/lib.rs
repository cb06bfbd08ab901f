//! The reference bank: a bank that obeys the document, or breaks it in one named way.
//!
//! It listens on TCP, answers the five operations that the document specifies and those that it mentions, and
//! refuses what the document forbids. A [`Fault`] makes it break exactly one clause, and a [`Variation`] use
//! a freedom in another way, so that whoever tests it can measure what they notice.
//!
//! Its rules are typed here from the document alone. It shares no code and no data with the side that writes
//! requests: its own signing string, its own parsers, its own tables, and `rsa` where the other side uses
//! another library. `README.md` lists the endpoints, the seed data and every choice made where the document
//! is silent.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use xs2aspec_reference::{Config, start};
//!
//! let fault = "basket.mix/first-payment-only".parse().expect("a known fault");
//! let bank = start(Config { faults: vec![fault], ..Config::default() }).await?;
//! println!("listening on {}", bank.base_url());
//! bank.shutdown().await
//! # }
//! ```

mod account_number;
mod authentication;
mod bank;
mod busy;
mod certificate;
mod clock;
mod connection;
mod country;
mod currency;
mod date;
mod declaration;
mod digest;
mod distinguished_name;
mod encoded_word;
mod encoding;
mod fault;
mod fingerprint;
mod header;
mod header_check;
mod json;
mod log;
mod member;
mod money;
mod openapi;
mod operation;
mod operations;
mod patience;
mod policy;
mod psu;
mod random;
mod refusal;
mod rejection;
mod rules;
mod seed;
mod service;
mod shared_types;
mod signature;
mod state;
mod status;
mod stream;
mod style;
#[cfg(test)]
#[path = "../tests/it/support/certificate.rs"]
mod test_certificate;
mod variation;
mod verification;

pub use bank::{Bank, Config, InProcessBank, start};
pub use busy::Busy;
pub use clock::Clock;
pub use connection::{Tls, TlsError};
pub use declaration::Declaration;
pub use fault::Fault;
pub use rejection::{Rejected, request_key};
pub use rules::{REASON, UnknownName};
pub use seed::{Seed, SeedError};
pub use style::Style;
pub use variation::Variation;
