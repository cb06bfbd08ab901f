//! The table of request headers (the document, section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// A request header that is required in some operation, or whose values have a format. Optional free strings
/// have no row: forwarded PSU values, content negotiation, brand and preferred method.
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
    /// Returns the name in lowercase, as in signing strings and clause ids.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].name
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
    name: &'static str,
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
            // The document gives no column to operations that it only mentions. Test data operations use that
            // of the customer list. The others use that of transaction details, which reads with a PSU.
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

/// The rows in the order of [`Header`].
#[rustfmt::skip]
pub(super) const TABLE: [Row; 15] = [
    //                                                                 B  N  P  S  T
    row(Header::XAcceptFix, "x-accept-fix",                           [R, R, R, X, R]),
    row(Header::XRequestId, "x-request-id",                           [R, R, R, R, R]),
    row(Header::TppSessionId, "tpp-session-id",                       [R, R, R, X, R]),
    row(Header::TppRedirectUri, "tpp-redirect-uri",                   [R, R, R, X, R]),
    row(Header::TppRedirectPreferred, "tpp-redirect-preferred",       [O, O, O, X, O]),
    row(Header::Digest, "digest",                                     [X, R, R, X, X]),
    row(Header::TppSignatureCertificate, "tpp-signature-certificate", [R, R, R, R, R]),
    row(Header::Signature, "signature",                               [R, R, R, R, R]),
    row(Header::PsuId, "psu-id",                                      [R, R, R, X, O]),
    row(Header::XPsuIdentity, "x-psu-identity",                       [X, O, O, X, X]),
    row(Header::PsuCorporateId, "psu-corporate-id",                   [O, O, O, X, O]),
    row(Header::PsuContext, "psu-context",                            [X, O, O, X, O]),
    row(Header::PsuIpAddress, "psu-ip-address",                       [R, R, R, X, O]),
    row(Header::PsuHttpMethod, "psu-http-method",                     [O, O, O, X, O]),
    row(Header::PsuDeviceId, "psu-device-id",                         [O, O, O, X, O]),
];

const fn row(header: Header, name: &'static str, columns: [Presence; 5]) -> Row {
    Row { header, name, columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_header_stands_in_its_own_row() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.header as usize, index);
            assert_eq!(serde_json::json!(row.header), row.name, "the name in a policy");
        }
    }
}
