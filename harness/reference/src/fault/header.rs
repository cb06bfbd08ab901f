//! Faults of the request headers (the document, section Endpoints > Common request headers).

use super::{Breach, Entry};
use crate::header::Header;
use crate::operation::Operation;

pub(super) const FAULTS: &[Entry] = &[Entry {
    name: "header.x-request-id.ncbct/not-required",
    breach: Breach::HeaderNotRequired(Header::XRequestId, Operation::Ncbct),
    says: "NCBCT creation accepts a request without X-Request-ID.",
}];
