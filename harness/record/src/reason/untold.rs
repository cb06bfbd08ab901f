//! Why something of the traffic of others cannot be told.

use serde::{Deserialize, Serialize};

use super::Reason;

/// Why something cannot be told, in words that follow on a place or stand alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Untold {
    /// A record masks it.
    #[error("is masked")]
    Masked,
    /// It is an entry that cannot be read.
    #[error("cannot be read")]
    Unreadable,
    /// Its content coding cannot be taken off.
    #[error("cannot be read: {error}")]
    NotDecoded {
        /// The error in words.
        error: String,
    },
    /// A connection ended first.
    #[error("did not come to its end")]
    NotWhole,
    /// It is longer than the proxy keeps.
    #[error("is longer than what is kept of it")]
    NotKept,
    /// An archive left it out.
    #[error("is not in the archive")]
    LeftOut,
    /// An archive has the fields of a form instead.
    #[error("is in the archive by its parameters alone")]
    ParametersAlone,
    /// An archive cut it.
    #[error("is cut off in the archive")]
    CutOff,
    /// An archive has fewer bytes than it says.
    #[error("is {have} of {said} bytes in the archive")]
    Part {
        /// The bytes that it has.
        have: u64,
        /// The bytes that it says.
        said: u64,
    },
    /// An archive has U+FFFD for some bytes.
    #[error("has bytes that the archive does not show")]
    BytesNotShown,
    /// An archive may have it in another character set.
    #[error("may be written byte by byte in the archive")]
    ByteByByte,
    /// It has a content coding.
    #[error("is in a content coding, of which the document does not speak")]
    Coded,
    /// It has a number that no double holds.
    #[error("has a number beyond what is read")]
    LargeNumber,
    /// The body that it is the digest of is not known.
    #[error("cannot be compared with a body {body}")]
    NotCompared {
        /// The way in which the body may differ.
        body: Changed,
    },
    /// A Digest has more than the document speaks of.
    #[error("has a hash of an algorithm that the document does not name, or nothing between commas")]
    OtherHash,
    /// It has a form that some readers take.
    #[error("{says}")]
    Form {
        /// The form in words.
        says: String,
    },
    /// The signature alone is an encoded word, and not its header.
    #[error("is encoded alone, of which the document does not speak")]
    EncodedAlone,
    /// It is no encoded word that the document speaks of.
    #[error("is encoded in a way of which the document does not speak")]
    EncodedOtherwise,
    /// A parameter holds a quotation mark.
    #[error("has a quotation mark in a parameter, for which the draft has no escape")]
    QuotationMark,
    /// The algorithm is in other letters.
    #[error("names {algorithm}, which not every bank reads in these letters")]
    AlgorithmInOtherLetters {
        /// The algorithm.
        algorithm: String,
    },
    /// The algorithm is no other one of the draft, and the signature is right by it.
    #[error("algorithm is {algorithm}, and made so: the draft does not have it")]
    OtherAlgorithm {
        /// The algorithm.
        algorithm: String,
    },
    /// It signs a header that is not ASCII.
    #[error("is over a header whose bytes are not known: it is not ASCII")]
    OverBytes,
    /// It signs a header that is masked.
    #[error("is over a header that is masked")]
    OverMasked,
    /// A place or a header has another reason.
    #[error("{at} {why}")]
    At {
        /// The place or the header.
        at: String,
        /// The reason.
        why: Box<Self>,
    },
    /// A place of a request has another reason.
    #[error("{at} of the request {why}")]
    OfTheRequest {
        /// The place.
        at: String,
        /// The reason.
        why: Box<Self>,
    },
    /// There is no verdict on a response.
    #[error("{reason}")]
    NoVerdict {
        /// The reason.
        reason: Box<Reason>,
    },
    /// The bank may lack the resource.
    #[error("whether the bank has such a resource for this PSU")]
    Resource,
    /// An identifier comes twice.
    #[error("whether an identifier may come twice is the bank's choice")]
    IdTwice,
    /// The Date header is far from the clock.
    #[error("whether a Date so far from its clock is taken is the bank's choice")]
    FarDate,
    /// The media type of the body is another one.
    #[error("which media types it takes is the bank's choice")]
    MediaType,
    /// The Signature header is written in an unusual way.
    #[error("it is signed in another way than requests usually are")]
    UnusualSignature,
    /// The certificate is in PEM.
    #[error("whether it takes a certificate in PEM is the bank's choice")]
    Pem,
    /// The certificate is not that of the profile.
    #[error("whether the bank knows the certificate")]
    Certificate,
    /// The path has an empty part.
    #[error("whether the bank passes over an empty part of the path")]
    EmptyPart,
    /// The same was accepted before.
    #[error("the same was asked for before: the bank may take it for a duplicate")]
    Duplicate,
    /// Only the bank knows whether a clause is kept.
    #[error("only the bank can tell: {says}")]
    KnownToTheBank {
        /// The clause in words.
        says: String,
    },
    /// The profile says nothing of the PSU.
    #[error("consent, funds and agreements of the PSU are the bank's to know")]
    Psu,
    /// An earlier exchange with the same request had no response.
    #[error("exchange {number} had no answer: whether this is another call is open")]
    Unanswered {
        /// The number of that exchange.
        number: u64,
    },
}

/// Why the bytes of a body may be others than were sent, in words that follow on "a body".
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// It is not known at all.
    #[error("that is not known")]
    Unknown,
    /// A value was masked, and may have been put back.
    #[error("of which something was masked")]
    Masked,
    /// The digest is that of another spelling.
    #[error("that the archive may have written anew: the digest is that of another spelling")]
    Respelled,
    /// The recorder may have written it anew.
    #[error("that the archive may have written anew")]
    WrittenAnew,
}

impl From<Reason> for Untold {
    fn from(reason: Reason) -> Self {
        Self::NoVerdict { reason: Box::new(reason) }
    }
}
