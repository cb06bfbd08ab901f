//! For whom the request is made (the document, section Authentication, rule 5, and Errors).

use http::StatusCode;
use serde_json::{Map, Value};

use crate::certificate::Certificates;
use crate::header::{self, Fields, Header};
use crate::operation::Operation;
use crate::policy::{Corporate, Identification, Policy};
use crate::refusal::{Code, Refusal};
use crate::state::{Owner, State};

/// The role in which the PSU acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Private,
    Corporate,
}

/// Identifies the PSU and checks the corporate agreement. The result is the context that the request asks
/// for, or that of a corporate PSU, if there is either. PSU-ID counts where both identities are sent, and
/// X-PSU-IDENTITY only on payment creation, which alone has it.
pub(crate) fn identify(
    state: &State,
    fields: Fields<'_>,
    operation: Operation,
    policy: &Policy,
) -> Result<Option<Context>, Refusal> {
    let own = &policy.psu;
    let value = |header| policy.headers.value(fields, header);
    let identity = operation.creates_payment().then(|| value(Header::XPsuIdentity)).flatten();
    if own.one_identity && identity.is_some() && fields.has(Header::PsuId) {
        let name = Header::XPsuIdentity.name();
        let says = "expected PSU-ID or X-PSU-IDENTITY, found both";
        return Err(Refusal::format("header.x-psu-identity.both", says).at(name));
    }
    let is_corporate = match (value(Header::PsuId), identity) {
        (Some(id), _) => known(state.psu_by_id(&id), Header::PsuId, operation, own)?,
        (None, Some(identity)) => {
            known(state.psu_by_identity(&identity), Header::XPsuIdentity, operation, own)?
        }
        (None, None) => None,
    };
    let has_context = header::parts(operation).any(|(header, _)| header == Header::PsuContext);
    let context = has_context.then(|| fields.text(Header::PsuContext)).flatten();
    let context = context.map(|text| match text.to_ascii_uppercase().as_str() {
        "CORPORATE" => Context::Corporate,
        _ => Context::Private,
    });
    let is_foreign = context == Some(Context::Corporate) && is_corporate != Some(true);
    if is_foreign && own.forbids_foreign_context {
        let says = "expected a corporate user, found another";
        let rule = "error.corporate-id.context";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Code::Forbidden, rule, says).at("psu-context"));
    }
    let ways = [
        (Corporate::Context, context == Some(Context::Corporate)),
        (Corporate::Person, is_corporate == Some(true)),
    ];
    check_agreement(state, fields, operation, ways, policy)?;
    // Where the request does not say so, a corporate PSU acts for the company.
    Ok(context.or_else(|| (is_corporate == Some(true)).then_some(Context::Corporate)))
}

/// Checks the corporate agreement of a payment from an account of a company.
pub(crate) fn check_debtor(
    state: &State,
    fields: Fields<'_>,
    operation: Operation,
    members: &Map<String, Value>,
    policy: &Policy,
) -> Result<(), Refusal> {
    let debtor = members.get("debtorAccount");
    let mut numbers = ["iban", "bban"].into_iter().filter_map(|name| debtor?.get(name)?.as_str());
    let way = (Corporate::Account, numbers.any(|number| state.is_of_a_company(number)));
    check_agreement(state, fields, operation, [way], policy)
}

/// For whom a request is made, and by whom.
pub(crate) fn asking(
    state: &State,
    fields: Fields<'_>,
    operation: Operation,
    certificates: &Certificates,
) -> Owner {
    let identity = operation.creates_payment().then(|| fields.text(Header::XPsuIdentity)).flatten();
    let psu = state.psu_id(fields.text(Header::PsuId).as_deref(), identity.as_deref());
    let certificate = fields.text(Header::TppSignatureCertificate);
    let certificate = certificate.and_then(|text| certificates.read(&text).ok());
    Owner { psu, tpp: certificate.map(|certificate| certificate.subject.clone()) }
}

/// Whether the PSU is a corporate user, if the bank knows it.
fn known(
    psu: Option<bool>,
    header: Header,
    operation: Operation,
    policy: &Identification,
) -> Result<Option<bool>, Refusal> {
    if psu.is_some() || policy.takes_unknown(header, operation) {
        return Ok(psu);
    }
    let says = "expected a PSU of this bank, found an unknown one";
    let rule = format!("header.{}.known", header.name());
    Err(Refusal::new(StatusCode::UNAUTHORIZED, Code::PsuCredentialsInvalid, rule, says).at(header.name()))
}

/// "Request for a corporate user lacks the PSU-CORPORATE-ID header: HTTP 400 `BAD_REQUEST`" (section Errors),
/// for the ways in which the request is one.
fn check_agreement(
    state: &State,
    fields: Fields<'_>,
    operation: Operation,
    ways: impl IntoIterator<Item = (Corporate, bool)>,
    policy: &Policy,
) -> Result<(), Refusal> {
    let name = Header::PsuCorporateId.name();
    let agreement = fields.text(Header::PsuCorporateId).unwrap_or_default();
    let is_asked = |way| !agreement.is_empty() || policy.psu.wants_agreement(way, operation);
    if !ways.into_iter().any(|(way, is_corporate)| is_corporate && is_asked(way)) {
        return Ok(());
    }
    if agreement.is_empty() {
        let says = "expected the header psu-corporate-id for a corporate user, found none";
        let rule = "error.corporate-id-missing";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, Code::BadRequest, rule, says).at(name));
    }
    if !state.has_agreement(&agreement, policy.customers.known_agreements) {
        let says = "expected an agreement of this bank, found an unknown one";
        let rule = "header.psu-corporate-id.known";
        return Err(Refusal::new(StatusCode::FORBIDDEN, Code::Forbidden, rule, says).at(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::seed::{CORPORATE_ID, CORPORATE_PSU, PRIVATE_PSU, Seed};

    fn bank() -> State {
        State::new(0, &Seed::built_in(), chrono::NaiveDate::default())
    }

    fn answer(headers: &[(&'static str, &str)]) -> Result<Option<Context>, (u16, Code)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        identify(&bank(), Fields(&map), Operation::Ncbct, &Policy::default())
            .map_err(|refusal| (refusal.status.as_u16(), refusal.code))
    }

    #[test]
    fn known_and_unknown_psus() {
        assert_eq!(answer(&[]), Ok(None));
        assert_eq!(answer(&[("psu-id", PRIVATE_PSU)]), Ok(None));
        assert_eq!(answer(&[("psu-id", &PRIVATE_PSU.to_uppercase())]), Ok(None));
        assert_eq!(answer(&[("x-psu-identity", "01819000391")]), Ok(None));
        let unknown = Err((401, Code::PsuCredentialsInvalid));
        assert_eq!(answer(&[("psu-id", "00000000-0000-4000-8000-000000000000")]), unknown);
        assert_eq!(answer(&[("x-psu-identity", "00000000000")]), unknown);
        let both = [("psu-id", PRIVATE_PSU), ("x-psu-identity", "00000000000")];
        assert_eq!(answer(&both), Ok(None), "PSU-ID counts");
        let mut map = HeaderMap::new();
        map.insert("x-psu-identity", "00000000000".parse().unwrap());
        assert!(
            identify(&bank(), Fields(&map), Operation::Transaction, &Policy::default()).is_ok(),
            "not a header of that operation"
        );
    }

    #[test]
    fn corporate_users_name_their_agreement() {
        let missing = Err((400, Code::BadRequest));
        assert_eq!(answer(&[("psu-id", PRIVATE_PSU), ("psu-context", "CORPORATE")]), missing);
        assert_eq!(answer(&[("psu-id", CORPORATE_PSU)]), missing);
        assert_eq!(answer(&[("psu-id", CORPORATE_PSU), ("psu-corporate-id", "")]), missing);
        assert_eq!(
            answer(&[("psu-id", CORPORATE_PSU), ("psu-corporate-id", "another")]),
            Err((403, Code::Forbidden))
        );
        let named =
            [("psu-id", CORPORATE_PSU), ("psu-corporate-id", CORPORATE_ID), ("psu-context", "CORPORATE")];
        assert_eq!(answer(&named), Ok(Some(Context::Corporate)));
        assert_eq!(answer(&named[..2]), Ok(Some(Context::Corporate)), "a corporate PSU");
    }

    #[test]
    fn private_users_need_none() {
        assert_eq!(
            answer(&[("psu-id", PRIVATE_PSU), ("psu-context", "PRIVATE")]),
            Ok(Some(Context::Private))
        );
        assert_eq!(answer(&[("psu-id", PRIVATE_PSU), ("psu-corporate-id", "another")]), Ok(None));
    }
}
