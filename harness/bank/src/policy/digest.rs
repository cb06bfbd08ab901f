//! The Digest header (section Authentication, rule 4; RFC 3230).

use serde::{Deserialize, Serialize};

use super::signature::Encoding;
use crate::operation::Operation;

/// What the bank decides about digests.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Digest {
    /// The operations whose Digest is not looked at (`digest.wrong-hash`, `digest.basket`).
    pub(crate) exempt: Vec<Operation>,
    /// Whether the Digest of a body in chunks is not looked at (`digest.wrong-hash`).
    pub(crate) exempts_chunks: bool,
    /// What of the body is hashed (`digest.whitespace`, `digest.long-body`).
    pub(crate) hashed: Hashed,
    /// Which of several digests are looked at (`digest.list`).
    pub(crate) list: List,
    /// The rules `digest.form`, `digest.algorithm` and `digest.encoding`, as far as a digest that breaks them
    /// is passed over (`header.digest.format`, `digest.unknown-algorithm`, `digest.not-base64`).
    pub(crate) passes_over: Vec<&'static str>,
    /// Whether quotes around a digest and characters after its base64 are passed over
    /// (`digest.foreign-characters`).
    pub(crate) trims: bool,
    /// Which of `sha-256` and `sha-512` are unknown (`digest.sha-256`, `digest.sha-512`).
    pub(crate) lacks: Vec<&'static str>,
    /// Algorithms whose digests are accepted without being verified (`digest.unknown-algorithm`).
    pub(crate) trusts: Vec<&'static str>,
    /// Whether algorithms have to be in uppercase letters (`digest.token-case`).
    pub(crate) uppercase: bool,
    /// How hashes may be written besides base64 (`digest.not-base64`, `digest.padding`).
    pub(crate) also_reads: Vec<Encoding>,
    /// What of a hash is compared (`digest.wrong-hash`, `digest.wrong-length`).
    pub(crate) compares: Compared,
}

/// What is hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hashed {
    /// The body as it was received.
    #[default]
    Body,
    /// The JSON as the bank would write it.
    Rewritten,
    /// The JSON without blanks around it.
    Trimmed,
    /// The first 4,096 bytes of the body.
    Beginning,
}

/// Which digests of a list have to be right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum List {
    /// All whose algorithm is known.
    #[default]
    All,
    /// One of them.
    Any,
    /// The first one.
    First,
    /// The last one.
    Last,
    /// There may be no list.
    Single,
}

/// What of a hash is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compared {
    /// All its bytes.
    #[default]
    All,
    /// Its length alone.
    Length,
    /// As many bytes as there are.
    Prefix,
    /// Its first 16 bytes, and its length.
    Beginning,
    /// Its last 16 bytes, and its length.
    End,
    /// Its base64 without regard to letter case.
    Letters,
}
