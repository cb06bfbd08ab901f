//! The reference bank: a bank that obeys the document, or violates it in one named way.
//!
//! It listens on TCP and serves the five operations that the document specifies and those that it mentions. A
//! [`Fault`] makes it violate exactly one clause. A [`Variation`] makes it use a freedom of the document
//! differently. Both measure what a test suite detects.
//!
//! The bank itself is `xs2aspec_bank`, which has no faults.
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

mod bank;
mod busy;
mod codes;
mod connection;
mod declaration;
mod fault;
mod log;
mod patience;
mod rejection;
mod rules;
mod service;
mod stream;
mod style;
#[cfg(test)]
#[path = "../../bank/src/tests/certificate.rs"]
#[expect(dead_code, reason = "some items are for the tests of the bank")]
mod test_certificate;
mod variation;

pub use bank::{Bank, Config, InProcessBank, start};
pub use busy::Busy;

pub use connection::{Tls, TlsError};
pub use declaration::Declaration;
pub use fault::Fault;
pub use rejection::{Rejected, request_key};
pub use rules::{REASON, UnknownName, rows::lint_rows};
pub use style::Style;
pub use variation::Variation;
pub use xs2aspec_bank::{
    clock::Clock,
    seed::{Seed, SeedError},
};
