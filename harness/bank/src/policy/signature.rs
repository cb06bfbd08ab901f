//! The Signature header (section Authentication, rules 2 and 3).

use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::operation::Operation;

/// Settings for signatures.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Signature {
    /// Operations without verification of certificate and signature (`signature.foreign-key`).
    pub(crate) exempt: Vec<Operation>,
    /// Parts of the header that are not checked (`header.signature.format`, `signature.key-id`,
    /// `signature.algorithm.mismatch`).
    pub(crate) ignores: Vec<Part>,
    /// Errors that end the check, so that the request is accepted: a missing `keyId` or `signature`, a
    /// signature that is not `base64`, or an `absent` listed header (`signature.parameters`,
    /// `signature.value`, `signature.headers.not-sent`).
    pub(crate) passes_over: Vec<&'static str>,
    /// Spellings that the document allows and the bank rejects (`signature.wrap`, `signature.headers`,
    /// `signature.parameters`).
    pub(crate) refuses: Vec<Spelling>,
    /// Spellings with which any value is accepted (`signature.headers`, `signature.value`).
    pub(crate) unverified: Vec<Spelling>,
    /// The charsets of an encoded-word (`signature.wrap.unknown`, `signature.wrap.iso-8859-1`).
    pub(crate) charsets: Charsets,
    /// True if the first of duplicate parameters counts instead of the last
    /// (`signature.parameters.duplicate`).
    pub(crate) first_counts: bool,
    /// Serial numbers that are accepted in keyId (`signature.key-id.serial`, `signature.key-id.foreign`).
    pub(crate) serial: Serial,
    /// Issuers that are accepted in keyId (`signature.key-id.issuer`, `signature.key-id.part`).
    pub(crate) issuer: Issuer,
    /// Other names of RSA-SHA256 (`signature.algorithm`).
    pub(crate) also_named: Vec<&'static str>,
    /// Other algorithms that are verified if `algorithm` names them: `rsa-sha1`, `hmac-sha256` with the
    /// public key, or `none` (`signature.algorithm.rsa-sha1`, `signature.algorithm.mismatch`).
    pub(crate) also_knows: Vec<&'static str>,
    /// Headers of rule 2 that need not be signed when available (`signature.headers.missing`).
    pub(crate) need_not_cover: Vec<&'static str>,
    /// True if a header without `headers` may cover the date alone (`signature.parameters.headers`).
    pub(crate) takes_default_list: bool,
    /// The value of a signed header in the signing string (`signature.headers.blanks`,
    /// `signature.headers.extra`).
    pub(crate) values: Values,
    /// Encodings of the value that are accepted in addition to base64 (`signature.value`,
    /// `signature.wrap.extent`).
    pub(crate) also_reads: Vec<Encoding>,
    /// Other hashes that are accepted under any algorithm name (`signature.value.hash`).
    pub(crate) also_hashed: Vec<Hash>,
    /// The values that are accepted (`signature.value`, `signature.foreign-key`, `signature.altered`).
    pub(crate) verifies: Verified,
    /// Headers whose values can be used only once (`signature.replay`, `header.x-request-id.reuse`).
    pub(crate) once: Vec<Header>,
    /// The maximum difference in minutes between Date and the clock of the bank
    /// (`signature.headers.date-stale`).
    pub(crate) date_within: Option<i64>,
}

/// A part of a Signature header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// The whole header.
    Header,
    KeyId,
    Algorithm,
}

/// A spelling of the Signature header that the document allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Spelling {
    /// No encoded-word.
    Bare,
    /// An encoded-word in encoding B.
    B,
    /// An encoded-word in encoding Q.
    Q,
    /// An encoded-word in ISO-8859-1.
    Latin1,
    /// An encoded-word whose charset has uppercase letters.
    UppercaseCharset,
    /// An encoded-word whose encoding is lowercase.
    LowercaseEncoding,
    /// Spaces around equals signs or commas.
    Blanks,
    /// A parameter that the draft does not define.
    UnknownParameter,
    /// A duplicate parameter.
    DuplicateParameter,
    /// No `algorithm`.
    NoAlgorithm,
    /// The algorithm rsa-sha256.
    RsaSha256,
    /// A list of signed headers without date.
    NoDate,
    /// A list with `(request-target)`.
    RequestTarget,
    /// A list with a header that need not be signed.
    Extra,
    /// A list with uppercase letters.
    Uppercase,
    /// A list in another order than that of rule 2.
    OtherOrder,
    /// A list that is not sorted by name.
    Unsorted,
    /// An empty signature.
    EmptySignature,
}

/// The charsets of an encoded-word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Charsets {
    /// UTF-8 and ISO-8859-1.
    #[default]
    Known,
    /// Any charset. All except ISO-8859-1 are read as UTF-8.
    OthersAsUtf8,
    /// Any charset. All are read as UTF-8.
    AllAsUtf8,
}

/// The serial numbers that are accepted in keyId.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Serial {
    /// The number of the certificate in hexadecimal.
    #[default]
    Number,
    /// The number in uppercase, without leading zeros.
    Uppercase,
    /// The number in lowercase.
    Lowercase,
    /// The number in hexadecimal or in decimal.
    Decimal,
    /// Any number.
    Any,
}

/// The issuers that are accepted in keyId.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Issuer {
    /// The name in the certificate, in any spelling.
    #[default]
    Name,
    /// The name as in RFC 4514, without spaces or semicolons between its parts.
    AsShown,
    /// The name, unless it starts with its common name.
    Forward,
    /// The name, or its common name alone.
    CommonName,
    /// The name, or some of its parts.
    Part,
    /// The name, or that of the certificate holder.
    Holder,
    /// Any issuer.
    Any,
}

/// The value of a signed header in the signing string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Values {
    /// The lines, trimmed and joined with a comma and a space.
    #[default]
    Joined,
    /// The first line, with the spaces around it.
    WithBlanks,
    /// The joined value, with repeated spaces folded into one.
    BlanksFolded,
    /// The first line.
    FirstLine,
    /// The last line.
    LastLine,
    /// The lines, joined with a comma alone.
    CommaAlone,
    /// The joined value, with Host without its port.
    HostWithoutPort,
    /// The joined value, with the request target percent-decoded.
    TargetDecoded,
}

/// The hash and the padding of an RSA signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hash {
    /// SHA-256, as in the document.
    Sha256,
    Sha1,
    Sha384,
    Sha512,
    /// SHA-256 with the padding of RSASSA-PSS (RFC 8017 section 8.1).
    Pss,
}

/// The values of a signature that are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verified {
    /// A signature of the signing string by the key of the certificate.
    #[default]
    Request,
    /// Also a signature of the signing string with a line feed at its end.
    LineFeedAfter,
    /// Also a signature of the signing string without one of the listed headers.
    AllButOne,
    /// Also a signature by the key of a certificate in an earlier request.
    ByAnyKnownKey,
    /// Also a value that was valid in an earlier request.
    Once,
    /// A signature of any bytes by the key of the certificate.
    Key,
    /// Any bytes with the length of a signature.
    Length,
    /// Any bytes.
    Nothing,
}

/// Encodings of bytes other than padded base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// Base64 in an encoded-word (RFC 2047).
    Wrapped,
    /// Base64 with the URL-safe alphabet (RFC 4648 section 5).
    UrlSafe,
    /// Base64 with other characters between those of its alphabet (RFC 2045 section 6.8).
    Mime,
    /// Base64 without padding.
    Unpadded,
    /// Hexadecimal digits.
    Hexadecimal,
}
