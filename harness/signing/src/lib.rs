//! The caller's side of signing: what a TPP does to a request before it sends it.
//!
//! A request carries its certificate in a header, a `Signature`, and a `Digest` where it has a body. Which
//! headers are signed, and which one holds the certificate, the caller says. One module for each:
//!
//! - [`digest`]: the value of `Digest`.
//! - [`certificate`]: the value of the header that holds it, and the `keyId` that names the certificate.
//! - [`name`]: distinguished names, which `keyId` has the issuer's of.
//! - [`signing_string`](mod@signing_string): which headers are signed, and the text that is signed.
//! - [`material`]: keys with a passphrase, and PKCS#12.
//! - [`signer`]: a private key with its certificate; [`command`]: a key that is somewhere else.
//! - [`signature_header`]: the value of `Signature`, legal by default and wrong wherever the caller says so.
//! - [`encoded_word`]: the RFC 2047 form of that value.
//! - [`diagnosis`]: why a signature that somebody made does not hold.
//! - [`verification`]: what a signature that was received is over, and by whose key.
//! - [`qualified`]: what makes a certificate one for payment services.
//! - [`keys`]: made-up keys and certificates to try all this with.
//!
//! ```no_run
//! use xs2aspec_signing::{Options, Signer, digest, listed_headers, signature_header};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let signer = Signer::from_pem(std::fs::read("tpp.key.pem")?, std::fs::read("tpp.cert.pem")?)?;
//! let body = br#"{"hello":"world"}"#;
//! let mut fields = vec![
//!     ("Date", "Sun, 05 Jan 2014 21:31:40 GMT".to_owned()),
//!     ("Digest", digest::Algorithm::Sha256.header_value(body)),
//!     ("X-Call-Id", "99391c7e-ad88-49ec-a2ad-99ddcb1f7721".to_owned()),
//! ];
//! let listed = listed_headers(&["date", "digest", "x-call-id"], &fields);
//! let signed = signature_header::sign(&signer, &fields, &Options { listed, ..Options::default() })?;
//! fields.push(("X-Certificate", signer.certificate().header_value()));
//! fields.push(("Signature", signed.value));
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here sends anything, reads a clock or draws an identifier; only [`keys::make`] draws random
//! numbers.

pub mod certificate;
pub mod command;
pub mod diagnosis;
pub mod digest;
pub mod encoded_word;
pub mod keys;
pub mod material;
pub mod name;
mod other_hash;
pub mod qualified;
pub mod signature_header;
pub mod signer;
pub mod signing_string;
pub mod verification;

pub use certificate::{Certificate, KeyIdForm};
pub use other_hash::OtherHash;
pub use signature_header::{Options, Parameter, Wrap};
pub use signer::Signer;
pub use signing_string::{RequestTarget, listed_headers, signing_string};
