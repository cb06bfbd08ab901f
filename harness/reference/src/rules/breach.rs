//! The ways in which the bank breaks a rule that has several, and those in which it uses a freedom.

use serde::Deserialize;

use super::{rows::words, state_breach::StateVariance};
use crate::header::table::Header;

/// Another idea of duplicate months.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MonthsBreach {
    /// Only those side by side.
    OnlyAdjacent,
    /// Only that of the first month.
    OnlyOfFirst,
    /// None: they are dropped silently.
    Dropped,
    /// Only in lists of two.
    OnlyPairs,
    /// All of them, and each month that is not greater than the one before it.
    Ascending,
}

/// A way in which a request is that of a corporate user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Corporate {
    /// The PSU is one.
    Person,
    /// PSU-Context says so.
    Context,
    /// The debtor account is that of a company.
    Account,
}

/// Another idea of the same payment made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TwinBreach {
    /// It is accepted although the TPP allows none.
    Accepted,
    /// It is refused although the TPP allows it.
    Refused,
    /// A payment of the same amount is taken for the same.
    SameAmount,
    /// A payment between the same accounts is taken for the same.
    SameAccounts,
    /// The payment of another PSU is taken for the same.
    OfAnyone,
    /// Only the payment made last is compared.
    OnlyLast,
    /// A payment with the same members but the one at this pointer is taken for the same.
    But(&'static str),
    /// Refused where the TPP does not say that it allows it: the same amount between the same accounts.
    Unsaid,
}

/// Another idea of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JsonBreach {
    /// What follows the first value is passed over.
    Trailing,
    /// Another value may follow the first one.
    TrailingValue,
    /// Bytes that are no UTF-8 become replacement characters.
    Lossy,
    /// Bytes that are no UTF-8 are ISO-8859-1.
    Latin1,
    /// Of members with the same name the first one counts.
    FirstOfDuplicates,
    /// A comma may follow the last member.
    LastComma,
    /// Tabs and line breaks may stand in a text as they are.
    RawControls,
    /// No letter may be written by its number.
    NoNumbers,
    /// No solidus may be escaped.
    NoEscapedSolidus,
    /// The name of a member is what is written, escapes and all.
    NamesAsWritten,
    /// No text may be longer than 280 bytes as it is written.
    ShortAsWritten,
    /// A body has one line.
    OneLine,
    /// No blank stands in front of a colon.
    NoBlankBeforeColon,
}

/// Transfers of which nothing is reported although they are large enough, or not what is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unreported {
    /// Those to an iban of one of these countries.
    To(#[serde(deserialize_with = "words")] &'static [&'static str]),
    /// Those to a creditor whose address is in this country.
    Address(&'static str),
    /// Those whose hundredths are too few as a signed number of 32 bits.
    Signed,
    /// Those whose hundredths are too few as a number of 32 bits.
    Unsigned,
    /// The code of smaller ones is not looked at.
    SmallCodes,
}

/// Another idea of the parameters of the customer list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlagBreach {
    /// Customers have their accounts whatever is asked for.
    AccountsAlways,
    /// Customers have their agreements whatever is asked for.
    AgreementsAlways,
    /// Customers have no accounts where they are asked for.
    AccountsNever,
    /// Customers have no agreements where they are asked for.
    AgreementsNever,
    /// Without accounts there are no agreements.
    AgreementsWithAccounts,
    /// Without agreements there are no accounts.
    AccountsWithAgreements,
    /// Of both parameters the first one that is given counts.
    FirstAlone,
}

/// Another idea of a Digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DigestBreach {
    /// Nothing is compared.
    Unchecked,
    /// The hash of the JSON as the bank would write it is accepted and demanded.
    Rewritten,
    /// Only SHA-256 is known.
    Only256,
    /// Only SHA-512 is known.
    Only512,
    /// Another algorithm is passed over.
    UnknownPasses,
    /// A hash of another length is compared as far as it goes.
    AnyLength,
    /// What is no base64 is passed over.
    NoBase64,
    /// A digest of this algorithm is passed over.
    Passes(&'static str),
    /// A hash may be in hexadecimal.
    Hexadecimal,
    /// The letter case of a hash does not count.
    AnyCase,
    /// Quotes around a digest and characters after its base64 are passed over.
    ForeignCharacters,
    /// Of a hash all but its last bytes is compared.
    AnyEnd,
    /// Of a hash all but its first bytes is compared.
    AnyBegin,
    /// Of several digests only the first is looked at.
    OnlyFirst,
    /// Of several digests only the last is looked at.
    OnlyLast,
    /// Blanks around the JSON text are not hashed.
    Trimmed,
    /// A value without `=` is passed over.
    NoForm,
    /// The algorithm has to be in capital letters.
    Capitals,
    /// Only periodic payments have theirs looked at.
    OnlyPeriodic,
    /// Only cross-border payments have theirs looked at.
    OnlyNcbct,
    /// Of the body the first 4,096 bytes are hashed.
    FirstBytes,
    /// That of a body in chunks is not looked at.
    NotInChunks,
}

/// Another idea of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SignatureBreach {
    /// The value is not verified.
    Unchecked,
    /// The value is verified only if it is base64.
    OnlyForm,
    /// The header is not read.
    NotRead,
    /// A signature by the key over anything is accepted.
    AnyValues,
    /// This header need not be in the list although the request has it.
    NotListed(&'static str),
    /// One of the listed headers need not be in the signing string.
    OneUnsigned,
    /// A signature that is no base64 is passed over.
    NoBase64,
    /// An empty signature is passed over.
    Empty,
    /// A listed header that the request does not have is passed over.
    AbsentPasses,
    /// Blanks around `=` and `,` are refused.
    NoBlanks,
    /// keyId is not read.
    AnyKeyId,
    /// keyId must have its form, and may name another certificate's serial number.
    AnySerial,
    /// keyId may name another authority.
    AnyIssuer,
    /// keyId may be absent.
    NoKeyId,
    /// The signature parameter may be absent.
    NoSignature,
    /// Without a list of headers all of them are taken to be signed.
    NoHeaders,
    /// Any algorithm is accepted.
    AnyAlgorithm,
    /// `rsa-sha256` is refused.
    NoRsaSha256,
    /// The list of signed headers must be sorted.
    SortedList,
    /// Encoded words in encoding Q are not understood.
    NoQ,
    /// Encoded words in encoding B are not understood.
    NoB,
    /// Encoded words in iso-8859-1 are not understood.
    NoLatin1,
    /// A bare header is not understood.
    NoBare,
    /// A signature by the key of any certificate that was seen before is accepted.
    AnyKnownKey,
    /// A signature that held once is not verified again.
    SeenPasses,
    /// A parameter that the draft does not know is refused.
    NoUnknown,
    /// Of parameters with the same name the first one counts.
    FirstParameter,
    /// A parameter that comes twice is refused.
    NoDuplicate,
    /// The serial number may be written in decimal.
    DecimalSerial,
    /// The charset of an encoded word has to be written as the document does.
    CharsetAsShown,
    /// The encoding of an encoded word has to be a capital letter.
    EncodingAsShown,
    /// The alphabet of base64 for URLs is read as well.
    UrlSafe,
    /// One in hexadecimal digits is read as well.
    Hexadecimal,
    /// The text that it is over may end with a line feed.
    LineFeedAfter,
    /// Characters of a signature that base64 does not have are passed over.
    ForeignCharacters,
    /// A signature with this other hash is accepted.
    OtherHash(Hash),
    /// `rsa-sha1` is accepted as well, with that hash.
    Sha1AsNamed,
    /// The name of this algorithm is accepted as well.
    AlsoNamed(&'static str),
    /// The issuer in keyId may be its common name alone.
    CommonNameAlone,
    /// The issuer in keyId may lack parts of its name.
    PartOfIssuer,
    /// A value of a header is signed in another way.
    Values(Values),
    /// The algorithm `none` means that nothing is to be verified.
    NoneVerifiesNothing,
    /// The algorithm `hmac-sha256` is verified with the public key in PEM as its key.
    HmacByPublicKey,
    /// The issuer in keyId may be the subject of the certificate.
    SubjectAsIssuer,
    /// Whatever its charset, an encoded word is read as UTF-8.
    CharsetIgnored,
    /// The value is not verified if the list of headers is of this kind.
    UncheckedFor(List),
}

/// Another idea of the values in a signing string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Values {
    /// Blanks around a value are part of it.
    WithBlanks,
    /// Several blanks in a value are one.
    BlanksFolded,
    /// Of several lines the first counts.
    FirstLine,
    /// Of several lines the last counts.
    LastLine,
    /// Several lines are joined with a comma alone.
    CommaAlone,
    /// Host is without its port.
    HostWithoutPort,
    /// The request target is decoded.
    TargetDecoded,
}

/// A hash or padding that no signature of the document is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hash {
    Sha1,
    Sha384,
    Sha512,
    /// SHA-256 with the padding of RSASSA-PSS (RFC 8017, section 8.1).
    Pss,
}

impl Hash {
    pub(crate) const ALL: [Self; 4] = [Self::Sha1, Self::Sha384, Self::Sha512, Self::Pss];
}

/// A lawful list of signed headers that some banks do not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum List {
    /// It names `(request-target)`.
    RequestTarget,
    /// It names a header that need not be signed.
    Extra,
    /// It has capital letters.
    Capitals,
    /// It does not begin with `date`.
    NoDate,
    /// It comes in another order than the document's.
    OtherOrder,
}

/// A freedom that this bank uses in another way than it usually does. A variant is asked for at exactly one
/// place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Variance {
    /// The form of this header's value is not looked at.
    AnyForm(Header),
    /// A request id that was seen before is refused.
    RequestIdOnce,
    /// Of members with the same name the last one counts.
    LastOfDuplicates,
    /// `null` is no member at all.
    NullIsAbsent,
    /// This query parameter is not looked at where it is no boolean.
    AnyFlag(&'static str),
    /// PSU-ID and X-PSU-IDENTITY together are refused.
    OneIdentity,
    /// A signature that is wrapped by itself is read.
    WrappedSignature,
    /// What follows the base64 of a certificate is passed over.
    TrailingText,
    /// Any charset of an encoded word is taken for UTF-8.
    AnyCharset,
    /// The arrays of the customer list are full whatever is asked for.
    FullArrays,
    /// A Digest on the basket is not looked at.
    NoBasketDigest,
    /// Digests need no padding.
    UnpaddedDigest,
    /// Of several digests one has to be right.
    OneOfDigests,
    /// There may be only one digest.
    OneDigest,
    /// Signatures must name their algorithm.
    AlgorithmDemanded,
    /// Date has to be there, and to be signed.
    DateDemanded,
    /// Date has to be there, and to be within five minutes of the bank's clock.
    DateFresh,
    /// Only the headers of rule 2 may be in the list.
    ListFixed,
    /// The headers of the list have to come in the order of rule 2.
    OrderFixed,
    /// The headers of the list have to be written in small letters.
    SmallLetters,
    /// A signature that was seen before is refused.
    NoReplay,
    /// Certificates are base64 of DER alone.
    OnlyDer,
    /// Certificates are base64 of PEM alone.
    OnlyPem,
    /// The serial number in keyId has to be in capital letters and without leading zeros.
    SerialAsShown,
    /// The serial number in keyId has to be in small letters.
    SerialSmall,
    /// The issuer in keyId has to end with its common name.
    IssuerForward,
    /// The issuer in keyId has to be written as the certificate shows it (RFC 4514), character for character.
    IssuerAsShown,
    /// Payments show to anyone who knows their id.
    ShownToAnyone,
    /// Accounts show to any TPP.
    ReadByAnyone,
    /// A payment from an account without funds is refused, and not created.
    FundsRefused,
    /// A PSU in a context that is not his own is forbidden, and not asked for an agreement.
    ContextForbidden,
    /// Fees have all digits of their currency only where that is asked for.
    DigitsAsNamed,
    /// A header of which the document says no more than that it is a string may be empty.
    EmptyStrings,
    /// Cards of customers go with their accounts.
    CardsWithAccounts,
    /// Customers come in the one or the other order, by the id of the request.
    CustomersInAnyOrder,
    /// The names of members may begin with a capital letter, and have underscores between their words.
    LooseNames,
    /// Spaces and line breaks around codes, amounts and days are dropped.
    SpacesDropped,
    /// An agreement makes the context of a transaction a corporate one, whatever PSU-Context says.
    AgreementDecides,
    /// The letter case of this header's values does not count.
    AnyLetterCase(Header),
    /// What was before is remembered in another way.
    State(StateVariance),
    /// Requests are looked at more narrowly.
    Narrow(Narrowness),
}

/// What only a strict bank asks of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Narrowness {
    /// It has no header of this kind of interfaces that the document does not list.
    KnownHeaders,
    /// It has no header of other operations.
    OwnHeaders,
    /// Each of its headers has one line.
    OneLine,
    /// It has no query parameter that the document does not list.
    KnownParameters,
    /// Its debtor has an account of the bank.
    KnownDebtors,
}
