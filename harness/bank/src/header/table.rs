//! The table of request headers, as far as the document gives them a rule.

use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// A request header that is required somewhere, or whose values have a form. Headers that the document leaves
/// optional and free (forwarded PSU values, content negotiation, brand and preferred method) have no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is the header of that name")]
pub enum Header {
    XAcceptFix,
    XRequestId,
    TppSessionId,
    TppRedirectUri,
    TppRedirectPreferred,
    Digest,
    TppSignatureCertificate,
    Signature,
    PsuId,
    XPsuIdentity,
    PsuCorporateId,
    PsuContext,
    PsuIpAddress,
    PsuHttpMethod,
    PsuDeviceId,
}

impl Header {
    /// The name in lower case, as signing strings and clause ids have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::XAcceptFix => "x-accept-fix",
            Self::XRequestId => "x-request-id",
            Self::TppSessionId => "tpp-session-id",
            Self::TppRedirectUri => "tpp-redirect-uri",
            Self::TppRedirectPreferred => "tpp-redirect-preferred",
            Self::Digest => "digest",
            Self::TppSignatureCertificate => "tpp-signature-certificate",
            Self::Signature => "signature",
            Self::PsuId => "psu-id",
            Self::XPsuIdentity => "x-psu-identity",
            Self::PsuCorporateId => "psu-corporate-id",
            Self::PsuContext => "psu-context",
            Self::PsuIpAddress => "psu-ip-address",
            Self::PsuHttpMethod => "psu-http-method",
            Self::PsuDeviceId => "psu-device-id",
        }
    }
}

/// R, O and - of the document's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    NotPartOf,
}

/// One row: a header and its columns B, N, P, S and T.
pub(super) struct Row {
    pub(super) header: Header,
    columns: [Presence; 5],
}

impl Row {
    pub(super) fn presence(&self, operation: Operation) -> Presence {
        self.columns[match operation {
            Operation::Basket => 0,
            Operation::Ncbct => 1,
            Operation::Periodic => 2,
            Operation::Customers
            | Operation::CreateCustomer
            | Operation::CreateAccount
            | Operation::Book
            | Operation::SetBalance => 3,
            // The document gives no column to the operations that it only mentions; those of test data are
            // like the list of customers, and the others like the one reading operation with a PSU.
            Operation::Transaction
            | Operation::Payment(_)
            | Operation::Status(_)
            | Operation::Deletion(_)
            | Operation::BasketStatus
            | Operation::Transactions => 4,
        }]
    }
}

const R: Presence = Presence::Required;
const O: Presence = Presence::Optional;
const X: Presence = Presence::NotPartOf;

#[rustfmt::skip]
pub(super) const TABLE: [Row; 15] = [
    //                                         B  N  P  S  T
    row(Header::XAcceptFix,                   [R, R, R, X, R]),
    row(Header::XRequestId,                   [R, R, R, R, R]),
    row(Header::TppSessionId,                 [R, R, R, X, R]),
    row(Header::TppRedirectUri,               [R, R, R, X, R]),
    row(Header::TppRedirectPreferred,         [O, O, O, X, O]),
    row(Header::Digest,                       [X, R, R, X, X]),
    row(Header::TppSignatureCertificate,      [R, R, R, R, R]),
    row(Header::Signature,                    [R, R, R, R, R]),
    row(Header::PsuId,                        [R, R, R, X, O]),
    row(Header::XPsuIdentity,                 [X, O, O, X, X]),
    row(Header::PsuCorporateId,               [O, O, O, X, O]),
    row(Header::PsuContext,                   [X, O, O, X, O]),
    row(Header::PsuIpAddress,                 [R, R, R, X, O]),
    row(Header::PsuHttpMethod,                [O, O, O, X, O]),
    row(Header::PsuDeviceId,                  [O, O, O, X, O]),
];

const fn row(header: Header, columns: [Presence; 5]) -> Row {
    Row { header, columns }
}
