//! Transaction details (the document, sections Endpoints > Get transaction details, and Limits).

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Context, Request};
use crate::date;
use crate::header::{Fields, Header};
use crate::psu::Caller;
use crate::refusal::{Code, Refusal};
use crate::seed::Account;

/// "History without SCA: 90 days." This bank treats the day of the consent as with SCA.
const HISTORY_DAYS: i64 = 90;

/// The fields of a transaction that the list also has.
const LISTED_MEMBERS: [&str; 4] = ["bookingDate", "valueDate", "transactionAmount", "endToEndId"];

/// Returns one booked transaction. Batch fields are returned in corporate context only.
pub(super) fn details(caller: &Caller<'_>, request: &Request<'_>) -> Result<Value, Refusal> {
    let (state, policy) = (&caller.bank.state, &caller.policy.transactions);
    let account = account(caller, request)?;
    check_calls(caller, request, &account)?;
    let transaction_id = request.path_parameters.get(1).ok_or_else(unknown_transaction)?;
    let booked = state.transaction(&account.resource_id, transaction_id);
    let of_another = || state.transaction_anywhere(transaction_id).filter(|_| policy.of_any_account);
    let mut details = booked.or_else(of_another).ok_or_else(unknown_transaction)?.details.clone();
    if !is_corporate(caller, request) {
        details.retain(|name, _| !policy.corporate_only.contains(name));
    }
    Ok(json!({ "transactionsDetails": details }))
}

/// Lists the booked transactions of an account, with their ids and without the fields of the details.
pub(super) fn list(caller: &Caller<'_>, request: &Request<'_>) -> Result<Value, Refusal> {
    let Caller { bank: Context { state, .. }, today, .. } = *caller;
    let account = account(caller, request)?;
    let is_shown = |details: &Map<String, Value>| {
        let booked_on = details.get("bookingDate").and_then(Value::as_str);
        let booked_on = booked_on.and_then(|text| date::parse(text).ok());
        state.consent_age(&account, today) == 0
            || booked_on.is_none_or(|day| (today - day).num_days() <= HISTORY_DAYS)
    };
    let batch = is_corporate(caller, request).then_some("batchIndicator");
    let booked = state.transactions(&account.resource_id);
    let booked = booked.iter().filter(|booked| is_shown(&booked.details)).map(|booked| {
        let mut entry = json!({ "transactionId": booked.id() });
        for name in LISTED_MEMBERS.into_iter().chain(batch) {
            if let Some(value) = booked.details.get(name) {
                entry[name] = value.clone();
            }
        }
        entry
    });
    Ok(json!({ "transactions": { "booked": booked.collect::<Vec<_>>() } }))
}

fn is_corporate(caller: &Caller<'_>, request: &Request<'_>) -> bool {
    let decides = caller.policy.transactions.agreement_decides;
    caller.is_corporate || decides && request.headers.contains_key(Header::PsuCorporateId.name())
}

/// Returns the account in the path, if the caller may see it and its consent is not too old.
fn account(caller: &Caller<'_>, request: &Request<'_>) -> Result<Arc<Account>, Refusal> {
    let Caller { bank: Context { state, .. }, owner, .. } = caller;
    let shown_to = caller.policy.transactions.shown_to;
    let account = request.path_parameters.first().and_then(|id| state.account(id));
    let account = account
        .filter(|account| shown_to.any_psu() || state.account_shows_to(account, owner.psu.as_deref()))
        .ok_or_else(unknown_account)?;
    // The document does not show how a PSU gives consent to a TPP. Here the first TPP that reads the account
    // has it.
    if let Some(tpp) = owner.tpp.as_ref().filter(|_| !shown_to.any_tpp())
        && !state.is_first("consent", &account.resource_id, &tpp.escape_ascii().to_string())
    {
        return Err(unknown_account());
    }
    check_consent(caller, Fields(request.headers), &account)?;
    Ok(account)
}

/// Checks the age of the consent: "SCA renewal period: 180 days", and without PSU-IP-Address "a PSU consent
/// at most 90 days old" (section Limits).
fn check_consent(caller: &Caller<'_>, fields: Fields<'_>, account: &Account) -> Result<(), Refusal> {
    let policy = &caller.policy.consents;
    let (days, rule) = if fields.has(Header::PsuIpAddress) {
        (policy.attended_days, "limit.sca-renewal")
    } else {
        (policy.unattended_days, "limit.consent-without-psu-ip-address")
    };
    let age = caller.bank.state.consent_age(account, caller.today);
    if age <= days {
        return Ok(());
    }
    let says = format!("expected a consent at most {days} days old, found one of {age} days");
    Err(Refusal::new(StatusCode::UNAUTHORIZED, Code::ConsentExpired, rule, says))
}

/// Checks the daily limit: "Calls without PSU-IP-Address: at most 4 per day" (section Limits). Calls are
/// counted by account and by calendar day in UTC.
fn check_calls(caller: &Caller<'_>, request: &Request<'_>, account: &Account) -> Result<(), Refusal> {
    let (policy, fields) = (&caller.policy.consents, Fields(request.headers));
    if !policy.counted.includes(fields) {
        return Ok(());
    }
    let parts = policy.counted_by.iter().map(|part| match part.as_str() {
        "account" => account.resource_id.clone(),
        "query" => request.uri.query().unwrap_or_default().to_owned(),
        header => fields.bytes(header).unwrap_or_default().escape_ascii().to_string(),
    });
    let counted = parts.collect::<Vec<_>>().join(" ");
    let calls = caller.bank.state.count_unattended_call(&counted, caller.today);
    let allowed = policy.calls;
    if calls <= allowed {
        return Ok(());
    }
    let says = format!("expected at most {allowed} calls a day without psu-ip-address, found {calls}");
    let rule = "limit.calls-without-psu-ip-address";
    Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, Code::AccessExceeded, rule, says)
        .at(Header::PsuIpAddress.name()))
}

fn unknown_transaction() -> Refusal {
    Refusal::unknown("transaction.transaction-id.known", "transactionId", "a transaction of the account")
}

/// Rejects an account id that this bank does not have.
pub(super) fn unknown_account() -> Refusal {
    Refusal::unknown("transaction.account-id.known", "id", "an account of this bank")
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};
    use http::HeaderMap;

    use super::*;
    use crate::clock::Clock;
    use crate::policy::Policy;
    use crate::seed::{CORPORATE_ACCOUNT, CORPORATE_ID, PRIVATE_ACCOUNT};
    use crate::state::Owner;

    fn bank() -> Context {
        Context::built_in(noon())
    }

    fn noon() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2025-03-01T12:00:00Z").unwrap().to_utc()
    }

    /// The circumstances in which an account is read.
    #[derive(Clone, Copy, Default)]
    struct By {
        ip: bool,
        agreement: bool,
        is_corporate: bool,
    }

    const ATTENDED: By = By { ip: true, agreement: false, is_corporate: false };
    const UNATTENDED: By = By { ip: false, ..ATTENDED };
    const AGREED: By = By { agreement: true, ..ATTENDED };
    const CORPORATE: By = By { is_corporate: true, ..AGREED };

    fn call<T>(bank: &Context, path: &[&str], by: By, call: impl Fn(&Caller<'_>, &Request<'_>) -> T) -> T {
        let mut headers = HeaderMap::new();
        if by.ip {
            headers.insert("psu-ip-address", "192.0.2.1".parse().unwrap());
        }
        if by.agreement {
            headers.insert("psu-corporate-id", CORPORATE_ID.parse().unwrap());
        }
        let path_parameters: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        let request = Request {
            method: "GET",
            uri: &"/".parse().unwrap(),
            headers: &headers,
            body: b"",
            path_parameters: &path_parameters,
            turn: 0,
        };
        let caller = Caller::of(bank, Owner::default(), bank.clock.today());
        call(&Caller { is_corporate: by.is_corporate, ..caller }, &request)
    }

    fn listed(bank: &Context, account: &str, by: By) -> Result<Value, Refusal> {
        call(bank, &[account], by, list)
    }

    fn read(bank: &Context, account: &str, id: &str, by: By) -> Result<Value, (u16, Code)> {
        call(bank, &[account, id], by, details).map_err(|refusal| (refusal.status.as_u16(), refusal.code))
    }

    #[test]
    fn four_calls_a_day_without_address() {
        let mut bank = bank();
        let (account, id) = (PRIVATE_ACCOUNT, "20250211-0000001");
        for _ in 0..4 {
            assert!(read(&bank, account, id, UNATTENDED).is_ok());
        }
        assert_eq!(read(&bank, account, id, UNATTENDED), Err((429, Code::AccessExceeded)));
        assert!(read(&bank, account, id, ATTENDED).is_ok(), "there is no limit with an address");
        let other = By { ip: false, ..AGREED };
        assert!(read(&bank, CORPORATE_ACCOUNT, id, other).is_ok(), "another account");
        bank.clock = Clock::at(Some(noon() + TimeDelta::hours(12)));
        assert!(read(&bank, account, id, UNATTENDED).is_ok(), "another day");
    }

    #[test]
    fn consents_grow_old() {
        let mut bank = bank();
        let (account, id) = (PRIVATE_ACCOUNT, "20250211-0000001");
        let mut outcomes = |days| {
            bank.clock = Clock::at(Some(noon() + TimeDelta::days(days)));
            [ATTENDED, UNATTENDED].map(|by| read(&bank, account, id, by).map_err(|(_, code)| code).err())
        };
        let expired = Some(Code::ConsentExpired);
        assert_eq!(outcomes(0), [None, None]);
        assert_eq!(outcomes(90), [None, None]);
        assert_eq!(outcomes(91), [None, expired]);
        assert_eq!(outcomes(180), [None, expired]);
        assert_eq!(outcomes(181), [expired, expired]);
    }

    #[test]
    fn older_history_is_listed_on_the_day_of_the_consent_alone() {
        let mut bank = bank();
        let mut count = |days| {
            bank.clock = Clock::at(Some(noon() + TimeDelta::days(days)));
            let shown = listed(&bank, PRIVATE_ACCOUNT, ATTENDED).unwrap();
            shown["transactions"]["booked"].as_array().unwrap().len()
        };
        // Booked 18 and 17 days before `noon`.
        assert_eq!([0, 1, 72, 73, 74].map(&mut count), [2, 2, 2, 1, 0]);
    }

    #[test]
    fn unknown_ids() {
        let bank = bank();
        let unknown = Err((404, Code::ResourceUnknown));
        assert_eq!(read(&bank, "acc-0", "20250211-0000001", ATTENDED), unknown);
        assert_eq!(read(&bank, PRIVATE_ACCOUNT, "0", ATTENDED), unknown);
        assert_eq!(read(&bank, PRIVATE_ACCOUNT, "20250213-0000003", ATTENDED), unknown);
    }

    #[test]
    fn the_list_holds_the_ids_that_the_details_are_read_by() {
        let bank = bank();
        let account = CORPORATE_ACCOUNT;
        let list = |by| listed(&bank, account, by);
        let shown = list(CORPORATE).unwrap();
        let booked = shown["transactions"]["booked"].as_array().unwrap();
        assert!(booked.iter().any(|entry| entry["batchIndicator"] == true));
        let private = list(AGREED).unwrap();
        assert!(!private.to_string().contains("batchIndicator"), "only in corporate context");
        for entry in booked {
            let id = entry["transactionId"].as_str().unwrap();
            assert!(read(&bank, account, id, AGREED).is_ok(), "{id}");
        }
        for _ in 0..5 {
            assert!(listed(&bank, PRIVATE_ACCOUNT, UNATTENDED).is_ok(), "the limit applies to the details");
        }
    }

    #[test]
    fn batch_members_are_for_the_corporate_context() {
        let bank = bank();
        let batch = |by| {
            read(&bank, CORPORATE_ACCOUNT, "20250213-0000003", by).unwrap()["transactionsDetails"].clone()
        };
        let shown = batch(CORPORATE);
        assert_eq!(shown["batchIndicator"], true);
        assert_eq!(shown["batchNumberOfTransactions"], shown["entryDetails"].as_array().unwrap().len());
        let hidden = batch(AGREED);
        for name in &Policy::default().transactions.corporate_only {
            assert!(hidden.get(name).is_none(), "{name}");
        }
        assert_eq!(hidden["transactionId"], "20250213-0000003");
    }
}
