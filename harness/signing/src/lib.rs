//! The TPP's side of signing: everything between building a request and sending it.
//!
//! A request contains its certificate in a header, a `Signature`, and a `Digest` if it has a body. The caller
//! chooses the signed headers and the header of the certificate.
//!
//! - [`digest`]: the value of `Digest`.
//! - [`certificate`]: the value of its header, and the `keyId` that names it.
//! - [`name`]: distinguished names, such as the issuer in `keyId`.
//! - [`signing_string`](mod@signing_string): the list of signed headers, and the text that is signed.
//! - [`material`]: keys with a passphrase, and PKCS#12.
//! - [`signer`]: a private key with its certificate. [`command`]: a key that is elsewhere.
//! - [`signature_header`]: the value of `Signature`, valid by default, and invalid as the caller chooses.
//! - [`encoded_word`]: the RFC 2047 form of that value.
//! - [`diagnosis`]: the reason that a signature is not valid.
//! - [`verification`]: the text and the key of a received signature.
//! - [`qualified`]: the statements that make a certificate one for payment services.
//! - [`keys`]: fictitious keys and certificates for tests.
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
//! This crate does not send anything, read a clock or generate identifiers. Only [`keys::make`] uses random
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
