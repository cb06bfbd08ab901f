//! The ways in which the bank breaks a rule about several requests, and those in which it uses a freedom:
//! what it remembers, and for whom.

use serde::Deserialize;

use crate::status::Status;

/// Another idea of what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StateBreach {
    /// The id of a payment is the second in which it was made.
    IdOfTime,
    /// The id of a payment follows from what it was made with.
    IdOfBody,
    /// The link to the status of a payment leads to that of one and the same.
    LinkOfOne,
    /// A consent is good for another number of days, with PSU-IP-Address or without.
    ConsentDays {
        /// Whether that is so with PSU-IP-Address.
        attended: bool,
        /// The days.
        days: i64,
    },
    /// Of several agreements of a customer the first one is known.
    FirstAgreement,
    /// Who named an agreement before need not name it again.
    AgreementRemembered,
    /// Only so many payments are remembered.
    Forgets(usize),
    /// A payment is not to be had any more when it is in a basket.
    GoneInBasket,
    /// The status of a payment is told with another word.
    StatusTold(Status, Status),
    /// An id that no payment has is taken for one.
    IdTaken(IdLikeness),
    /// Payments show to any PSU of their TPP.
    AnyPsu,
    /// Payments show to any TPP.
    AnyTpp,
    /// Payments are deleted by anyone.
    DeletedByAnyone,
    /// A payment is deleted before the signature is looked at.
    DeletedUnverified,
    /// A payment is not deleted although its deletion is accepted.
    NotDeleted,
    /// An id that no payment has is taken for one in a basket.
    TakenInBasket(IdLikeness),
    /// A transaction that has not this id is found by it.
    TransactionTaken(IdLikeness),
    /// Accounts show to anyone.
    AnyAccountHolder,
    /// Every second answer has no value date.
    ValueDateByTurns,
    /// About every second list of customers, by the id of the request, is without the last one.
    LastLeftOut,
    /// Without accounts, agreements have no engagements.
    EngagementsWithAccounts,
    /// Without agreements, customers have no cards.
    CardsWithAgreements,
    /// Customers that were created are not listed.
    CreatedNotListed,
    /// Customers that were created are listed with their accounts alone.
    CreatedWithAccounts,
    /// Accounts show to any TPP.
    AnyTppReads,
    /// Every second status of a payment says nothing of funds.
    FundsByTurns,
    /// An id of a key that came with two certificates from one device is refused from then on.
    KeyIdOfTwo,
    /// A call with PSU-IP-Address begins the count anew.
    AttendedCallsReset,
    /// Calls with PSU-IP-Address count as well.
    AttendedCallsCount,
    /// Calls with PSU-IP-Address count as well, and have the same limit.
    AttendedCallsLimited,
    /// Calls with a PSU-IP-Address of the machine itself count as those without.
    LoopbackCounts,
    /// Every second creation is answered with 200 where the others have 201.
    StatusByTurns,
    /// A creation is answered with 200 where the request has a User-Agent of the PSU.
    StatusByHeader,
    /// A Digest that was right once is right for any body.
    DigestKnown,
    /// A Digest that was right once under the id of its request is right for any body under it.
    DigestOfRequest,
    /// After five wrong signatures in a row the next request is refused, whatever its signature.
    LockedAfterFive,
    /// A deleted payment is as it was once another one was made.
    DeletedUntilNext,
    /// A second deletion undoes the first one.
    SecondDeletionUndoes,
    /// A series is not deleted although its deletion is accepted.
    SeriesNotDeleted,
    /// A deletion cancels all payments with the same members.
    TwinsDeleted,
    /// A payment whose status was read is not deleted, and the deletion is accepted.
    ReadNotDeleted,
    /// A pending payment is cancelled by who names no PSU.
    PendingDeletedByNobody,
    /// `fundsAvailable` is there when the status is read first.
    MarkedOnce,
    /// With a payment all others of its PSU are cancelled.
    AllDeleted,
    /// With a payment the others of its baskets are cancelled.
    BasketDeleted,
    /// A payment is deleted by those who are told that there is none.
    DeletedUnseen,
    /// A pending series is cancelled although its deletion is refused.
    PendingSeriesCancelled,
    /// A pending payment is deleted when that is asked a second time.
    PendingDeletedAtSecond,
    /// Who is named by X-PSU-IDENTITY is another than the same person by PSU-ID.
    PersonAsNamed,
    /// A payment that somebody else asked for is not to be had any more.
    GoneWhenAsked,
    /// Series show to any PSU.
    SeriesToAnyPsu,
    /// Rejected payments show to any PSU.
    RejectedToAnyPsu,
    /// A consent that is too old is good from the second call on.
    OldConsentAtSecond {
        /// Whether that is so with PSU-IP-Address, or without.
        attended: bool,
    },
    /// Calls with an empty PSU-IP-Address are not counted.
    EmptyAddressCounts,
    /// A rejected payment is received once its status was read three times.
    RejectedGoesBack,
    /// A payment is not to be had any more once its status was read three times.
    GoneAfterThree,
    /// The id of a deleted payment is given to the next ones.
    IdOfDeleted,
    /// The status of a series says that there are funds.
    SeriesHasFunds,
    /// The status of a payment that was made before the bank opened says nothing of funds.
    EarlierUnmarked,
    /// A rejected payment is received when it is deleted.
    RevivedByDeletion,
    /// A rejected payment is told as received when it is in a basket.
    RevivedByBasket,
    /// Calls without PSU-IP-Address are counted for each value of this header apart; for each query where it
    /// is empty.
    CallsCountedBy(&'static str),
    /// Of the certificates that one key id came with, the first one counts.
    FirstCertificate,
    /// Of the certificates that one key id came with from one device, the last one before counts.
    LastCertificate,
    /// Of several customers that were created, the last one is listed.
    LastCreatedAlone,
    /// Customers that were created are listed unless they are companies.
    CompaniesNotListed,
    /// Customers that were created are listed under one name.
    CreatedUnnamed,
    /// Customers that were created are listed as private ones.
    CreatedPrivate,
    /// A payment that was refused counts as one that was made before.
    RefusedTwins,
    /// What a reference of a creditor that demands one must be.
    Reference(ReferenceBreach),
}

/// Another idea of the references that a creditor demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReferenceBreach {
    /// There need be none.
    NotDemanded,
    /// The check digit is not looked at.
    AnyDigit,
    /// What is no number is not looked at.
    Words,
    /// It is demanded where the creditor is named by its iban.
    ByIban,
    /// A text with a right one in it is one.
    Within,
    /// Nothing but a number is looked for.
    Nothing,
}

/// Another lawful idea of what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StateVariance {
    /// A deleted payment is not to be had any more.
    DeletedIsGone,
    /// A deleted payment has the status RJCT.
    DeletedIsRejected,
    /// A payment is accepted a moment after it was received.
    AcceptedAtOnce,
    /// Ids of payments are ascending numbers.
    IdsAreNumbers,
    /// Calls without PSU-IP-Address are counted for all accounts together.
    CallsOfAllAccounts,
    /// A consent is good for 90 days with PSU-IP-Address as well; older ones than 120 days were renewed.
    ConsentsOf90Days,
}

/// What of an id is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IdLikeness {
    /// Nothing.
    Nothing,
    /// Whether it is a UUID.
    Uuid,
    /// Whether it is a number.
    Number,
    /// Its beginning.
    Beginning,
    /// It is the beginning of that of one.
    Part,
    /// All of it but leading zeros.
    LeadingZeros,
}

impl IdLikeness {
    /// What an id is looked for by, if it is not known itself: another id, or nothing in particular.
    pub(crate) fn other(self, id: &str) -> Option<&str> {
        let found = match self {
            Self::Nothing => true,
            // That is for the bank to find.
            Self::Part => false,
            Self::Uuid => id.len() == 36 && id.matches('-').count() == 4,
            Self::Number => id.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Beginning => return id.char_indices().next_back().map(|(end, _)| &id[..end]),
            Self::LeadingZeros => return Some(id.trim_start_matches('0')),
        };
        found.then_some("")
    }
}
