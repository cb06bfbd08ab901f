//! The reason why a part of the traffic of others cannot be judged.

use serde::{Deserialize, Serialize};

use super::Reason;

/// The reason, as a phrase that follows a place or is used alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Untold {
    /// The value is masked in a record.
    #[error("is masked")]
    Masked,
    /// The entry cannot be read.
    #[error("cannot be read")]
    Unreadable,
    /// The content coding cannot be decoded.
    #[error("cannot be read: {error}")]
    NotDecoded {
        /// The decoding error.
        error: String,
    },
    /// The connection ended early.
    #[error("is incomplete")]
    NotWhole,
    /// The value is longer than the proxy keeps.
    #[error("is longer than the part that was kept")]
    NotKept,
    /// The archive omits it.
    #[error("is not in the archive")]
    LeftOut,
    /// The archive contains the fields of a form instead.
    #[error("is in the archive only as form parameters")]
    ParametersAlone,
    /// The archive truncates it.
    #[error("is truncated in the archive")]
    CutOff,
    /// The archive contains fewer bytes than it declares.
    #[error("has only {have} of {said} bytes in the archive")]
    Part {
        /// Number of bytes present.
        have: u64,
        /// Number of bytes declared.
        said: u64,
    },
    /// The archive has U+FFFD instead of some bytes.
    #[error("has bytes that the archive replaced")]
    BytesNotShown,
    /// The archive may use another character set.
    #[error("may be stored as one character per byte in the archive")]
    ByteByByte,
    /// The value has a content coding.
    #[error("has a content coding, which the document does not mention")]
    Coded,
    /// A number does not fit a double.
    #[error("has a number that is too large to read")]
    LargeNumber,
    /// The body of the digest is not known.
    #[error("cannot be compared with a body {body}")]
    NotCompared {
        /// The way in which the body may differ.
        body: Changed,
    },
    /// A Digest contains more than the document defines.
    #[error("has a hash of an algorithm that the document does not name, or an empty list item")]
    OtherHash,
    /// The value has a form that only some readers accept.
    #[error("{says}")]
    Form {
        /// Description of the form.
        says: String,
    },
    /// Only the signature is an encoded word, not its whole header.
    #[error("is encoded without the rest of its header, which the document does not mention")]
    EncodedAlone,
    /// The value is not an encoded word as the document describes it.
    #[error("is encoded in a way that the document does not mention")]
    EncodedOtherwise,
    /// A parameter contains a quotation mark.
    #[error("has a quotation mark in a parameter, for which the draft has no escape")]
    QuotationMark,
    /// The algorithm is spelled differently.
    #[error("names {algorithm}, a spelling that not every bank accepts")]
    AlgorithmInOtherLetters {
        /// The algorithm.
        algorithm: String,
    },
    /// The draft does not define the algorithm, but the signature verifies with it.
    #[error("verifies with the algorithm {algorithm}, which the draft does not define")]
    OtherAlgorithm {
        /// The algorithm.
        algorithm: String,
    },
    /// The signature covers a header that is not ASCII.
    #[error("covers a header that is not ASCII, so its bytes are not known")]
    OverBytes,
    /// The signature covers a masked header.
    #[error("covers a header that is masked")]
    OverMasked,
    /// A place or a header has a reason of its own.
    #[error("{at} {why}")]
    At {
        /// The place or the header.
        at: String,
        /// The reason.
        why: Box<Self>,
    },
    /// A place of the request has a reason of its own.
    #[error("{at} of the request {why}")]
    OfTheRequest {
        /// The place.
        at: String,
        /// The reason.
        why: Box<Self>,
    },
    /// The response has no verdict.
    #[error("{reason}")]
    NoVerdict {
        /// The reason.
        reason: Box<Reason>,
    },
    /// The bank may not have the resource.
    #[error("only the bank knows whether it has such a resource for this PSU")]
    Resource,
    /// An identifier occurs twice.
    #[error("the bank decides whether an identifier may occur twice")]
    IdTwice,
    /// The Date header is far from the clock.
    #[error("the bank decides whether to accept a Date so far from its clock")]
    FarDate,
    /// The body has another media type.
    #[error("the bank decides which media types to accept")]
    MediaType,
    /// The Signature header has an unusual form.
    #[error("it is signed in an unusual way")]
    UnusualSignature,
    /// The certificate is in PEM.
    #[error("the bank decides whether to accept a certificate in PEM")]
    Pem,
    /// The certificate is not that of the profile.
    #[error("only the bank knows whether it accepts the certificate")]
    Certificate,
    /// The path has an empty segment.
    #[error("the bank decides whether to ignore an empty segment of the path")]
    EmptyPart,
    /// The same request was accepted before.
    #[error("the same request was accepted before, so the bank may treat it as a duplicate")]
    Duplicate,
    /// Only the bank knows if the clause is kept.
    #[error("only the bank can tell: {says}")]
    KnownToTheBank {
        /// Text of the clause.
        says: String,
    },
    /// The profile does not describe the PSU.
    #[error("only the bank knows consent, funds and agreements of the PSU")]
    Psu,
    /// An earlier exchange with the same request has no response.
    #[error("exchange {number} has no response, so this may or may not be another call")]
    Unanswered {
        /// The number of that exchange.
        number: u64,
    },
}

/// The way in which a body may differ from the one sent, as a phrase that follows "a body".
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// The body is not known at all.
    #[error("that is not known")]
    Unknown,
    /// A value was masked, and may have been restored.
    #[error("that was partly masked")]
    Masked,
    /// The digest matches another spelling.
    #[error("that the archive may have rewritten: the digest matches another spelling")]
    Respelled,
    /// The recorder may have rewritten it.
    #[error("that the archive may have rewritten")]
    WrittenAnew,
}

impl From<Reason> for Untold {
    fn from(reason: Reason) -> Self {
        Self::NoVerdict { reason: Box::new(reason) }
    }
}
