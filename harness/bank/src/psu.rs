//! The PSU and its corporate agreement (the document, section Authentication, rule 5, and Errors).

use chrono::NaiveDate;
use http::StatusCode;
use serde_json::{Map, Value};

use crate::account_number;
use crate::context::Context;
use crate::header::{self, Fields, Header};
use crate::operation::Operation;
use crate::policy::{Corporate, Policy};
use crate::refusal::{Code, Refusal};
use crate::state::{Owner, Payment};

/// The caller of the bank, and the day of the call.
pub(crate) struct Caller<'a> {
    pub(crate) bank: &'a Context,
    pub(crate) policy: &'a Policy,
    pub(crate) today: NaiveDate,
    /// The PSU and the TPP, as far as the request names them.
    pub(crate) owner: Owner,
    /// True if the PSU acts for a company.
    pub(crate) is_corporate: bool,
}

/// Identifies the PSU and checks the corporate agreement.
///
/// X-PSU-IDENTITY is part of payment creation only. PSU-ID counts if both are sent.
pub(crate) fn identify<'a>(
    bank: &'a Context,
    policy: &'a Policy,
    operation: Operation,
    fields: Fields<'_>,
) -> Result<Caller<'a>, Refusal> {
    let value = |header| policy.headers.value(fields, header);
    let identity = operation.creates_payment().then(|| value(Header::XPsuIdentity)).flatten();
    if policy.psu.one_identity && identity.is_some() && fields.has(Header::PsuId) {
        let says = "expected PSU-ID or X-PSU-IDENTITY, found both";
        return Err(Refusal::format("header.x-psu-identity.both", says).at(Header::XPsuIdentity.name()));
    }
    let id = value(Header::PsuId).map(|id| (Header::PsuId, id));
    let named = id.or_else(|| Some((Header::XPsuIdentity, identity?)));
    let psu = named.as_ref().and_then(|(header, value)| bank.state.psu(*header, value));
    if let Some((header, _)) = named
        && psu.is_none()
        && !policy.psu.takes_unknown(header, operation)
    {
        let says = "expected a PSU of this bank, found an unknown one";
        let (code, rule) = (Code::PsuCredentialsInvalid, format!("header.{}.known", header.name()));
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, code, rule, says).at(header.name()));
    }
    let is_person = psu.as_ref().is_some_and(|psu| psu.is_corporate);
    let has_context = header::parts(operation).any(|(header, _)| header == Header::PsuContext);
    let context = has_context.then(|| value(Header::PsuContext)).flatten();
    let is_context = context.as_deref() == Some("CORPORATE");
    if is_context && !is_person && policy.psu.forbids_foreign_context {
        let (rule, says) = ("error.corporate-id.context", "expected a corporate user, found another");
        return Err(Refusal::new(StatusCode::FORBIDDEN, Code::Forbidden, rule, says).at("psu-context"));
    }
    let as_named =
        named.filter(|(header, _)| policy.payments.owned_as_named && *header == Header::XPsuIdentity);
    let certificate = fields.text(Header::TppSignatureCertificate);
    let certificate = certificate.and_then(|text| bank.certificates.read(&text).ok());
    let owner = Owner {
        psu: as_named.map(|(_, identity)| identity).or_else(|| psu.map(|psu| psu.id)),
        tpp: certificate.map(|certificate| certificate.subject.clone()),
    };
    // Without PSU-Context, a corporate PSU acts for the company.
    let is_corporate = is_context || is_person && context.is_none();
    let caller = Caller { bank, policy, today: bank.clock.today(), owner, is_corporate };
    let ways = [(Corporate::Context, is_context), (Corporate::Person, is_person)];
    caller.check_agreement(fields, operation, ways)?;
    Ok(caller)
}

impl Caller<'_> {
    /// Checks the corporate agreement for a payment from a company's account.
    pub(crate) fn check_debtor(
        &self,
        fields: Fields<'_>,
        operation: Operation,
        members: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        let state = &self.bank.state;
        let accounts = account_number::all(members.get("debtorAccount"))
            .filter_map(|number| state.account_by_number(number));
        let is_account = accounts.into_iter().any(|(account, _)| state.is_of_a_company(&account));
        self.check_agreement(fields, operation, [(Corporate::Account, is_account)])
    }

    /// Checks the corporate agreement: "Request for a corporate user lacks the PSU-CORPORATE-ID header: HTTP
    /// 400 `BAD_REQUEST`" (section Errors). Each way says whether the user counts as corporate for that
    /// reason.
    fn check_agreement(
        &self,
        fields: Fields<'_>,
        operation: Operation,
        ways: impl IntoIterator<Item = (Corporate, bool)>,
    ) -> Result<(), Refusal> {
        let name = Header::PsuCorporateId.name();
        let agreement = fields.text(Header::PsuCorporateId).unwrap_or_default();
        let is_asked = |way| !agreement.is_empty() || self.policy.psu.wants_agreement(way, operation);
        if !ways.into_iter().any(|(way, is_corporate)| is_corporate && is_asked(way)) {
            return Ok(());
        }
        if agreement.is_empty() {
            let says = "expected the header psu-corporate-id for a corporate user, found none";
            let rule = "error.corporate-id-missing";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, Code::BadRequest, rule, says).at(name));
        }
        if !self.bank.state.has_agreement(&agreement, self.policy.customers.known_agreements) {
            let says = "expected an agreement of this bank, found an unknown one";
            let rule = "header.psu-corporate-id.known";
            return Err(Refusal::new(StatusCode::FORBIDDEN, Code::Forbidden, rule, says).at(name));
        }
        Ok(())
    }

    /// Returns true if the caller can see a payment. The document does not define who can. Here it is the
    /// payment's own PSU through its TPP.
    pub(crate) fn sees(&self, payment: &Payment) -> bool {
        let shown_to = self.policy.payments.shown_to;
        let mut own = self.owner.clone();
        own.psu = own.psu.filter(|_| !shown_to.any_psu());
        own.tpp = own.tpp.filter(|_| !shown_to.any_tpp());
        payment.owner.shows_to(&own)
    }

    /// Returns true if a payment belongs to the PSU, through any TPP.
    pub(crate) fn is_psu(&self, payment: &Payment) -> bool {
        payment.owner.shows_to(&Owner { tpp: None, ..self.owner.clone() })
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use http::HeaderMap;

    use super::*;
    use crate::seed::{CORPORATE_ID, CORPORATE_PSU, PRIVATE_PSU};

    fn bank() -> Context {
        Context::built_in(DateTime::default())
    }

    /// Returns true if the request is corporate.
    fn answer(headers: &[(&'static str, &str)]) -> Result<bool, (u16, Code)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        identify(&bank(), Policy::document(), Operation::Ncbct, Fields(&map))
            .map(|caller| caller.is_corporate)
            .map_err(|refusal| (refusal.status.as_u16(), refusal.code))
    }

    #[test]
    fn known_and_unknown_psus() {
        assert_eq!(answer(&[]), Ok(false));
        assert_eq!(answer(&[("psu-id", PRIVATE_PSU)]), Ok(false));
        assert_eq!(answer(&[("psu-id", &PRIVATE_PSU.to_uppercase())]), Ok(false));
        assert_eq!(answer(&[("x-psu-identity", "01819000391")]), Ok(false));
        let unknown = Err((401, Code::PsuCredentialsInvalid));
        assert_eq!(answer(&[("psu-id", "00000000-0000-4000-8000-000000000000")]), unknown);
        assert_eq!(answer(&[("x-psu-identity", "00000000000")]), unknown);
        let both = [("psu-id", PRIVATE_PSU), ("x-psu-identity", "00000000000")];
        assert_eq!(answer(&both), Ok(false), "PSU-ID counts");
        let mut map = HeaderMap::new();
        map.insert("x-psu-identity", "00000000000".parse().unwrap());
        assert!(
            identify(&bank(), Policy::document(), Operation::Transaction, Fields(&map)).is_ok(),
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
        assert_eq!(answer(&named), Ok(true));
        assert_eq!(answer(&named[..2]), Ok(true), "a corporate PSU");
    }

    #[test]
    fn private_users_need_none() {
        assert_eq!(answer(&[("psu-id", PRIVATE_PSU), ("psu-context", "PRIVATE")]), Ok(false));
        assert_eq!(answer(&[("psu-id", PRIVATE_PSU), ("psu-corporate-id", "another")]), Ok(false));
    }
}
