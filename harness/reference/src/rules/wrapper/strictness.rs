//! Checks of a strict bank: requests have nothing that the document does not list, and debtors have an
//! account at this bank.

use axum::extract::Query;
use axum::http::{HeaderName, StatusCode, Uri};
use serde::Deserialize;
use xs2aspec_bank::account_number::has_check_digits;
use xs2aspec_bank::header::{self, Fields};
use xs2aspec_bank::json;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::refusal::{Code, Refusal, excerpt};
use xs2aspec_bank::state::State;

use super::Call;

/// Headers of the document's table without a rule of their own, with the operations that have them.
const FREE: [(&str, &[Operation]); 8] = [
    ("tpp-brand-logging-information", &[Operation::Ncbct]),
    ("x-psu-authmethod-preferred", &[Operation::Ncbct, Operation::Periodic]),
    ("psu-ip-port", FORWARDED),
    ("psu-user-agent", FORWARDED),
    ("psu-accept", FORWARDED),
    ("psu-accept-charset", FORWARDED),
    ("psu-accept-encoding", FORWARDED),
    ("psu-accept-language", FORWARDED),
];
const FORWARDED: &[Operation] =
    &[Operation::Basket, Operation::Ncbct, Operation::Periodic, Operation::Transaction];
const GEO_LOCATION: &str = "psu-geo-location";

/// The operations whose headers and parameters the document shows.
const SHOWN: [Operation; 5] =
    [Operation::Basket, Operation::Ncbct, Operation::Periodic, Operation::Customers, Operation::Transaction];

/// A check of a strict bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Narrowness {
    /// No header of this kind of interface that the document does not list.
    KnownHeaders,
    /// No header of other operations.
    OwnHeaders,
    /// One line for each header.
    OneLine,
    /// No query parameter that the document does not list.
    KnownParameters,
    /// A debtor account at this bank.
    KnownDebtors,
}

impl Narrowness {
    pub(super) fn check(self, call: &Call<'_>) -> Result<(), Refusal> {
        let Call { context, operation, request, .. } = *call;
        match self {
            Self::KnownDebtors if operation.creates_payment() => check_debtor(&context.state, request.body),
            _ if !SHOWN.contains(&operation) => Ok(()),
            Self::KnownDebtors => Ok(()),
            Self::KnownParameters => check_parameters(operation, request.uri),
            Self::KnownHeaders | Self::OwnHeaders | Self::OneLine => {
                self.check_headers(operation, Fields(request.headers))
            }
        }
    }

    fn check_headers(self, operation: Operation, fields: Fields<'_>) -> Result<(), Refusal> {
        for name in fields.0.keys().map(HeaderName::as_str) {
            let is_strange = match self {
                Self::KnownHeaders => is_of_the_interface(name) && !is_known(name),
                _ => self == Self::OwnHeaders && is_of_others(name, operation),
            };
            if is_strange {
                return Err(refuse("expected only headers of this operation, found another").at(name));
            }
            if self == Self::OneLine && is_known(name) && fields.lines(name).count() > 1 {
                return Err(refuse("expected one line of each header, found several").at(name));
            }
        }
        Ok(())
    }
}

fn check_parameters(operation: Operation, uri: &Uri) -> Result<(), Refusal> {
    let known: &[&str] = match operation {
        Operation::Ncbct => &["allowLogicalDuplicate"],
        Operation::Customers => &["withAccounts", "withAgreements"],
        _ => &[],
    };
    // A malformed query is rejected where it is parsed.
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else { return Ok(()) };
    match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            Err(refuse(format!("expected only query parameters of this operation, found {}", excerpt(name))))
        }
    }
}

fn refuse(says: impl Into<String>) -> Refusal {
    Refusal::format("header.not-part.sent", says)
}

/// Checks that the bank has the debtor account. Invalid numbers are left to the rules for account numbers.
fn check_debtor(state: &State, body: &[u8]) -> Result<(), Refusal> {
    let members = json::object(body).unwrap_or_default();
    let number = |name| members.get("debtorAccount")?.get(name)?.as_str();
    let iban = number("iban").filter(|iban| iban.len() <= 34 && has_check_digits(iban));
    let bban = number("bban").filter(|bban| (1..=30).contains(&bban.len()));
    if iban.or(bban).is_none_or(|number| state.account_by_number(number).is_some()) {
        return Ok(());
    }
    let says = "expected an account of this bank, found an unknown one";
    let refusal = Refusal::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, "error.funds", says);
    Err(refusal.at("/debtorAccount"))
}

/// Returns true if a header belongs to this kind of interface by its name. Other headers belong to HTTP.
fn is_of_the_interface(name: &str) -> bool {
    ["psu-", "tpp-", "x-"].iter().any(|beginning| name.starts_with(beginning))
}

fn is_known(name: &str) -> bool {
    name == GEO_LOCATION || FREE.iter().any(|(known, _)| *known == name) || header::is_known(name)
}

fn is_of_others(name: &str, operation: Operation) -> bool {
    let free = FREE.iter().any(|(known, operations)| *known == name && !operations.contains(&operation));
    let is_location = name == GEO_LOCATION && !FORWARDED.contains(&operation);
    free || is_location || header::is_of_others(name, operation)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::*;

    fn refused(narrowness: Narrowness, operation: Operation, headers: &[&'static str], uri: &str) -> bool {
        let mut map = HeaderMap::new();
        for name in headers {
            map.append(*name, "x".parse().unwrap());
        }
        match narrowness {
            Narrowness::KnownParameters => check_parameters(operation, &uri.parse().unwrap()).is_err(),
            _ => narrowness.check_headers(operation, Fields(&map)).is_err(),
        }
    }

    #[test]
    fn each_narrowness_refuses_what_it_says_and_nothing_else() {
        use Narrowness::{KnownHeaders, KnownParameters, OneLine, OwnHeaders};
        use Operation::{Basket, Customers, Ncbct};
        assert!(refused(KnownHeaders, Ncbct, &["psu-synthetic"], "/"));
        assert!(!refused(KnownHeaders, Ncbct, &["psu-id", "psu-accept", "date", "traceparent"], "/"));
        assert!(refused(OwnHeaders, Customers, &["psu-id"], "/"));
        assert!(refused(OwnHeaders, Customers, &["psu-geo-location"], "/"));
        assert!(refused(OwnHeaders, Basket, &["tpp-brand-logging-information"], "/"));
        assert!(!refused(OwnHeaders, Ncbct, &["psu-id", "x-psu-identity", "psu-ip-port", "accept"], "/"));
        assert!(refused(OneLine, Ncbct, &["psu-accept", "psu-accept"], "/"));
        assert!(!refused(OneLine, Ncbct, &["psu-accept", "accept", "accept"], "/"));
        assert!(refused(KnownParameters, Ncbct, &[], "/?withAccounts=true"));
        assert!(!refused(KnownParameters, Customers, &[], "/?withAccounts=true"));
    }
}
