//! The Digest header (section Authentication, rule 4; RFC 3230).

use serde::{Deserialize, Serialize};

use super::signature::Encoding;
use crate::operation::Operation;

/// Settings for digests.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Digest {
    /// Operations without a check of the Digest (`digest.wrong-hash`, `digest.basket`).
    pub(crate) exempt: Vec<Operation>,
    /// True if the Digest of a chunked body is not checked (`digest.wrong-hash`).
    pub(crate) exempts_chunks: bool,
    /// The bytes that are hashed (`digest.whitespace`, `digest.long-body`).
    pub(crate) hashed: Hashed,
    /// The digests of a list that are checked (`digest.list`).
    pub(crate) list: List,
    /// The rules `digest.form`, `digest.algorithm` and `digest.encoding` whose violation is ignored
    /// (`header.digest.format`, `digest.unknown-algorithm`, `digest.not-base64`).
    pub(crate) passes_over: Vec<&'static str>,
    /// True if quotation marks around a digest and characters after its base64 are ignored
    /// (`digest.foreign-characters`).
    pub(crate) trims: bool,
    /// Algorithms of the document that are unknown to the bank (`digest.sha-256`, `digest.sha-512`).
    pub(crate) lacks: Vec<&'static str>,
    /// Algorithms whose digests are accepted without verification (`digest.unknown-algorithm`).
    pub(crate) trusts: Vec<&'static str>,
    /// True if algorithm names must be uppercase (`digest.token-case`).
    pub(crate) uppercase: bool,
    /// Encodings of a hash that are accepted in addition to base64 (`digest.not-base64`, `digest.padding`).
    pub(crate) also_reads: Vec<Encoding>,
    /// The part of a hash that is compared (`digest.wrong-hash`, `digest.wrong-length`).
    pub(crate) compares: Compared,
}

/// The bytes that are hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hashed {
    /// The body as received.
    #[default]
    Body,
    /// The JSON, parsed and serialized again.
    Rewritten,
    /// The body without white space around it.
    Trimmed,
    /// The first 4,096 bytes of the body.
    Beginning,
}

/// The digests of a list that must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum List {
    /// All with a known algorithm.
    #[default]
    All,
    /// At least one.
    Any,
    /// The first.
    First,
    /// The last.
    Last,
    /// The only one. A list is rejected.
    Single,
}

/// The part of a hash that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compared {
    /// All bytes.
    #[default]
    All,
    /// The length alone.
    Length,
    /// As many bytes as were sent.
    Prefix,
    /// The first 16 bytes, and the length.
    Beginning,
    /// The last 16 bytes, and the length.
    End,
    /// The base64, without regard to case.
    Letters,
}
