//! The Signature header (section Authentication, rules 2 and 3).

use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::operation::Operation;

/// What the bank decides about signatures.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Signature {
    /// The operations in which neither certificate nor signature is verified (`signature.foreign-key`).
    pub(crate) exempt: Vec<Operation>,
    /// What of the header is not looked at (`header.signature.format`, `signature.key-id`,
    /// `signature.algorithm.mismatch`).
    pub(crate) ignores: Vec<Part>,
    /// What makes the rest of the header pass unverified: that `keyId` or `signature` is missing, that the
    /// signature is not `base64`, or that a listed header is `absent` (`signature.parameters`,
    /// `signature.value`, `signature.headers.not-sent`).
    pub(crate) passes_over: Vec<&'static str>,
    /// Spellings that the document allows and this bank refuses (`signature.wrap`, `signature.headers`,
    /// `signature.parameters`).
    pub(crate) refuses: Vec<Spelling>,
    /// Spellings with which any value is accepted (`signature.headers`, `signature.value`).
    pub(crate) unverified: Vec<Spelling>,
    /// How the charset of an encoded word is read (`signature.wrap.unknown`, `signature.wrap.iso-8859-1`).
    pub(crate) charsets: Charsets,
    /// Whether of parameters with one name the first counts, and not the last
    /// (`signature.parameters.duplicate`).
    pub(crate) first_counts: bool,
    /// What the serial number in keyId may be (`signature.key-id.serial`, `signature.key-id.foreign`).
    pub(crate) serial: Serial,
    /// What the issuer in keyId may be (`signature.key-id.issuer`, `signature.key-id.part`).
    pub(crate) issuer: Issuer,
    /// Names of RSA-SHA256 besides its own (`signature.algorithm`).
    pub(crate) also_named: Vec<&'static str>,
    /// Other algorithms that are verified where the header names them: `rsa-sha1`, `hmac-sha256` with the
    /// public key, or `none` (`signature.algorithm.rsa-sha1`, `signature.algorithm.mismatch`).
    pub(crate) also_knows: Vec<&'static str>,
    /// Headers of rule 2 that need not be signed when available (`signature.headers.missing`).
    pub(crate) need_not_cover: Vec<&'static str>,
    /// Whether a header without a list of signed headers may cover the date alone
    /// (`signature.parameters.headers`).
    pub(crate) takes_default_list: bool,
    /// What the value of a signed header is (`signature.headers.blanks`, `signature.headers.extra`).
    pub(crate) values: Values,
    /// How the value may be written besides base64 (`signature.value`, `signature.wrap.extent`).
    pub(crate) also_reads: Vec<Encoding>,
    /// Other hashes that a value may be made with, whatever its label says (`signature.value.hash`).
    pub(crate) also_hashed: Vec<Hash>,
    /// What the value has to be (`signature.value`, `signature.foreign-key`, `signature.altered`).
    pub(crate) verifies: Verified,
    /// Headers that may have each value once (`signature.replay`, `header.x-request-id.reuse`).
    pub(crate) once: Vec<Header>,
    /// How many minutes Date may differ from the bank's clock (`signature.headers.date-stale`).
    pub(crate) date_within: Option<i64>,
}

/// A part of a Signature header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// All of it.
    Header,
    KeyId,
    Algorithm,
}

/// What can be so of a Signature header that the document allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Spelling {
    /// It is no encoded word.
    Bare,
    /// It is an encoded word in encoding B.
    B,
    /// It is an encoded word in encoding Q.
    Q,
    /// It is an encoded word in ISO-8859-1.
    Latin1,
    /// The charset of an encoded word has uppercase letters.
    UppercaseCharset,
    /// The encoding of an encoded word is a lowercase letter.
    LowercaseEncoding,
    /// There are blanks around equals signs or commas.
    Blanks,
    /// It has a parameter that the draft does not know.
    UnknownParameter,
    /// It has a parameter twice.
    DuplicateParameter,
    /// It names no algorithm.
    NoAlgorithm,
    /// It names rsa-sha256.
    RsaSha256,
    /// The list of signed headers has no date.
    NoDate,
    /// The list has `(request-target)`.
    RequestTarget,
    /// The list has a header that need not be signed.
    Extra,
    /// The list has uppercase letters.
    Uppercase,
    /// The list is in another order than that of rule 2.
    OtherOrder,
    /// The list is not sorted by name.
    Unsorted,
    /// The signature is empty.
    EmptySignature,
}

/// How the charset of an encoded word is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Charsets {
    /// It has to be UTF-8 or ISO-8859-1.
    #[default]
    Known,
    /// Any other is taken for UTF-8.
    OthersAsUtf8,
    /// All are taken for UTF-8.
    AllAsUtf8,
}

/// What the serial number in keyId may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Serial {
    /// The number of the certificate in hexadecimal.
    #[default]
    Number,
    /// The same in uppercase letters and without leading zeros.
    Uppercase,
    /// The same in lowercase letters.
    Lowercase,
    /// The number in hexadecimal or in decimal.
    Decimal,
    /// Anything.
    Any,
}

/// What the issuer in keyId may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Issuer {
    /// The name in the certificate, however it is written.
    #[default]
    Name,
    /// The same as RFC 4514 writes it, without blanks or semicolons between its parts.
    AsShown,
    /// The same with its common name at the end.
    Forward,
    /// The name or its common name alone.
    CommonName,
    /// The name or some of its parts.
    Part,
    /// The name or that of the holder of the certificate.
    Holder,
    /// Anything.
    Any,
}

/// What the value of a signed header is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Values {
    /// Its lines without blanks around them, joined with a comma and a blank.
    #[default]
    Joined,
    /// The first line with the blanks around it.
    WithBlanks,
    /// The same as joined, with several blanks as one.
    BlanksFolded,
    /// The first line.
    FirstLine,
    /// The last line.
    LastLine,
    /// The lines joined with a comma alone.
    CommaAlone,
    /// The same as joined, with a Host without its port.
    HostWithoutPort,
    /// The same as joined, with a request target without its percent-encoding.
    TargetDecoded,
}

/// The hash and the padding of an RSA signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hash {
    /// That of the document.
    Sha256,
    Sha1,
    Sha384,
    Sha512,
    /// SHA-256 with the padding of RSASSA-PSS (RFC 8017, section 8.1).
    Pss,
}

/// What the value of a signature has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verified {
    /// The signature of the signing string by the key of the certificate.
    #[default]
    Request,
    /// The same, or one of the signing string with a line feed at its end.
    LineFeedAfter,
    /// The same, or one without one of the listed headers.
    AllButOne,
    /// The same, or one by the key of another certificate that came before.
    ByAnyKnownKey,
    /// The same, unless it was that once, whatever was signed then.
    Once,
    /// A signature of anything by the key of the certificate.
    Key,
    /// As many bytes as a signature has.
    Length,
    /// Anything.
    Nothing,
}

/// How bytes are written, if not in padded base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// Base64 in an encoded word (RFC 2047).
    Wrapped,
    /// Base64 in its alphabet for URLs (RFC 4648 section 5).
    UrlSafe,
    /// Base64 with other characters between those of its alphabet (RFC 2045 section 6.8).
    Mime,
    /// Base64 without its padding.
    Unpadded,
    /// Hexadecimal digits.
    Hexadecimal,
}
