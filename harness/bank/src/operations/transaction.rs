//! Transaction details (the document, section Endpoints > Get transaction details, and Limits).

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::Context;
use crate::date;
use crate::header::{Fields, Header};
use crate::policy::Policy;
use crate::psu;
use crate::refusal::{Code, Refusal};
use crate::seed::Account;
use crate::state::Owner;

/// "History without SCA: 90 days." With SCA, here, is on the day of the consent.
const HISTORY_DAYS: i64 = 90;

/// Members of a transaction that the list shows too.
const LISTED_MEMBERS: [&str; 4] = ["bookingDate", "valueDate", "transactionAmount", "endToEndId"];

/// A request to read an account.
pub(super) struct Reading<'a> {
    pub(super) context: &'a Context,
    pub(super) policy: &'a Policy,
    pub(super) path_parameters: &'a [String],
    pub(super) fields: Fields<'a>,
    pub(super) query: &'a str,
    pub(super) psu_context: Option<psu::Context>,
    pub(super) owner: Owner,
}

impl Reading<'_> {
    fn is_corporate(&self) -> bool {
        let decides = self.policy.transactions.agreement_decides;
        self.psu_context == Some(psu::Context::Corporate)
            || decides && self.fields.bytes(Header::PsuCorporateId.name()).is_some()
    }
}

/// Reads one booked transaction. Batches exist in corporate context only, which is that of the request.
pub(super) fn details(reading: &Reading<'_>) -> Result<Value, Refusal> {
    let policy = &reading.policy.transactions;
    let account = account(reading)?;
    let transaction_id = reading.path_parameters.get(1).ok_or_else(unknown_transaction)?;
    let state = &reading.context.state;
    let booked = state.transaction(&account.resource_id, transaction_id);
    let of_another = || state.transaction_anywhere(transaction_id).filter(|_| policy.of_any_account);
    let mut details = booked.or_else(of_another).ok_or_else(unknown_transaction)?.details.clone();
    if !reading.is_corporate() {
        details.retain(|name, _| !policy.corporate_only.contains(name));
    }
    Ok(json!({ "transactionsDetails": details }))
}

/// Lists the booked transactions of an account, by their ids and without what only the details show.
pub(super) fn list(reading: &Reading<'_>) -> Result<Value, Refusal> {
    let Context { state, clock, .. } = reading.context;
    let account = account(reading)?;
    let today = clock.today();
    let is_shown = |details: &Map<String, Value>| {
        let booked_on = details.get("bookingDate").and_then(Value::as_str);
        let booked_on = booked_on.and_then(|text| date::parse(text).ok());
        state.consent_age(&account, today) == 0
            || booked_on.is_none_or(|day| (today - day).num_days() <= HISTORY_DAYS)
    };
    let booked = state.transactions(&account.resource_id);
    let booked = booked.iter().filter(|booked| is_shown(&booked.details)).map(|booked| {
        let mut entry = json!({ "transactionId": booked.id() });
        for name in LISTED_MEMBERS {
            if let Some(value) = booked.details.get(name) {
                entry[name] = value.clone();
            }
        }
        if reading.is_corporate()
            && let Some(value) = booked.details.get("batchIndicator")
        {
            entry["batchIndicator"] = value.clone();
        }
        entry
    });
    Ok(json!({ "transactions": { "booked": booked.collect::<Vec<_>>() } }))
}

/// The account of the path, if it shows to who asks, and if the limits of the document allow it.
fn account(reading: &Reading<'_>) -> Result<Arc<Account>, Refusal> {
    let Reading { context: Context { state, .. }, owner, .. } = reading;
    let shown_to = reading.policy.transactions.shown_to;
    let is_of_psu =
        |account: &Arc<Account>| shown_to.any_psu() || state.account_shows_to(account, owner.psu.as_deref());
    // A consent is given to a TPP, and the document shows no way to do that: here to the one that asks first.
    let is_of_tpp = |account: &Arc<Account>| {
        let tpp = owner.tpp.as_deref().map(|tpp| tpp.escape_ascii().to_string());
        shown_to.any_tpp() || tpp.is_none_or(|tpp| state.is_first("consent", &account.resource_id, &tpp))
    };
    let account = reading.path_parameters.first().and_then(|id| state.account(id));
    let account = account
        .filter(is_of_psu)
        .filter(is_of_tpp)
        .ok_or_else(|| unknown("transaction.account-id.known", "id"))?;
    check_consent(reading, &account)?;
    check_calls(reading, &account)?;
    Ok(account)
}

/// "SCA renewal period: 180 days", and without PSU-IP-Address "a PSU consent at most 90 days old".
fn check_consent(reading: &Reading<'_>, account: &Account) -> Result<(), Refusal> {
    let policy = &reading.policy.consents;
    let (days, rule) = if reading.fields.has(Header::PsuIpAddress) {
        (policy.attended_days, "limit.sca-renewal")
    } else {
        (policy.unattended_days, "limit.consent-without-psu-ip-address")
    };
    let age = reading.context.state.consent_age(account, reading.context.clock.today());
    if age <= days {
        return Ok(());
    }
    let says = format!("expected a consent at most {days} days old, found one of {age} days");
    Err(Refusal::new(StatusCode::UNAUTHORIZED, Code::ConsentExpired, rule, says))
}

/// "Calls without PSU-IP-Address: at most 4 per day." Counted here by account and by calendar day in UTC.
fn check_calls(reading: &Reading<'_>, account: &Account) -> Result<(), Refusal> {
    let Reading { context, fields, .. } = reading;
    let policy = &reading.policy.consents;
    if !policy.counted.includes(*fields) {
        return Ok(());
    }
    let parts = policy.counted_by.iter().map(|part| match part.as_str() {
        "account" => account.resource_id.clone(),
        "query" => reading.query.to_owned(),
        header => fields.bytes(header).unwrap_or_default().escape_ascii().to_string(),
    });
    let counted = parts.collect::<Vec<_>>().join(" ");
    let calls = context.state.count_unattended_call(&counted, context.clock.today());
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
    unknown("transaction.transaction-id.known", "transactionId")
}

/// The refusal of an id that nothing of this bank has.
pub(super) fn unknown(rule: &str, path: &str) -> Refusal {
    let says = "expected a resource of this bank, found an unknown id";
    Refusal::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, rule, says).at(path)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};
    use http::HeaderMap;

    use super::*;
    use crate::certificate::Certificates;
    use crate::clock::Clock;
    use crate::policy::Policy;
    use crate::psu::Context as Asked;
    use crate::seed::{CORPORATE_ACCOUNT, PRIVATE_ACCOUNT, Seed};
    use crate::state::State;

    fn bank(now: DateTime<Utc>) -> Context {
        Context {
            prefix: String::new(),
            clock: Clock::at(Some(now)),
            state: State::new(0, &Seed::built_in(), noon().date_naive()),
            certificates: Certificates::default(),
        }
    }

    fn noon() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2025-03-01T12:00:00Z").unwrap().to_utc()
    }

    /// A request to read an account, by whoever asks.
    fn reading<'a>(
        context: &'a Context,
        path_parameters: &'a [String],
        headers: &'a HeaderMap,
        psu_context: Option<Asked>,
    ) -> Reading<'a> {
        let (policy, owner) = (Policy::document(), Owner::default());
        Reading { context, policy, path_parameters, fields: Fields(headers), query: "", psu_context, owner }
    }

    fn listed(bank: &Context, account: &str, ip: bool, asked: Option<Asked>) -> Result<Value, Refusal> {
        let mut headers = HeaderMap::new();
        if ip {
            headers.insert("psu-ip-address", "192.0.2.1".parse().unwrap());
        }
        list(&reading(bank, &[account.to_owned()], &headers, asked))
    }

    fn read(
        bank: &Context,
        account: &str,
        id: &str,
        ip: bool,
        asked: Option<Asked>,
    ) -> Result<Value, (u16, Code)> {
        let mut headers = HeaderMap::new();
        if ip {
            headers.insert("psu-ip-address", "192.0.2.1".parse().unwrap());
        }
        details(&reading(bank, &[account.to_owned(), id.to_owned()], &headers, asked))
            .map_err(|refusal| (refusal.status.as_u16(), refusal.code))
    }

    #[test]
    fn four_calls_a_day_without_address() {
        let mut bank = bank(noon());
        let (account, id) = (PRIVATE_ACCOUNT, "20250211-0000001");
        for _ in 0..4 {
            assert!(read(&bank, account, id, false, None).is_ok());
        }
        assert_eq!(read(&bank, account, id, false, None), Err((429, Code::AccessExceeded)));
        assert!(read(&bank, account, id, true, None).is_ok(), "with an address there is no limit");
        assert!(read(&bank, CORPORATE_ACCOUNT, id, false, None).is_ok(), "another account");
        bank.clock = Clock::at(Some(noon() + TimeDelta::hours(12)));
        assert!(read(&bank, account, id, false, None).is_ok(), "another day");
    }

    #[test]
    fn consents_grow_old() {
        let mut bank = bank(noon());
        let (account, id) = (PRIVATE_ACCOUNT, "20250211-0000001");
        let mut outcomes = |days| {
            bank.clock = Clock::at(Some(noon() + TimeDelta::days(days)));
            [true, false].map(|ip| read(&bank, account, id, ip, None).map_err(|(_, code)| code).err())
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
        let mut bank = bank(noon());
        let mut count = |days| {
            bank.clock = Clock::at(Some(noon() + TimeDelta::days(days)));
            let shown = listed(&bank, PRIVATE_ACCOUNT, true, None).unwrap();
            shown["transactions"]["booked"].as_array().unwrap().len()
        };
        // Booked 18 and 17 days before noon.
        assert_eq!([0, 1, 72, 73, 74].map(&mut count), [2, 2, 2, 1, 0]);
    }

    #[test]
    fn unknown_ids() {
        let bank = bank(noon());
        let unknown = Err((404, Code::ResourceUnknown));
        assert_eq!(read(&bank, "acc-0", "20250211-0000001", true, None), unknown);
        assert_eq!(read(&bank, PRIVATE_ACCOUNT, "0", true, None), unknown);
        assert_eq!(read(&bank, PRIVATE_ACCOUNT, "20250213-0000003", true, None), unknown);
    }

    #[test]
    fn the_list_holds_the_ids_that_the_details_are_read_by() {
        let bank = bank(noon());
        let account = CORPORATE_ACCOUNT;
        let list = |asked| listed(&bank, account, false, asked);
        let shown = list(Some(Asked::Corporate)).unwrap();
        let booked = shown["transactions"]["booked"].as_array().unwrap();
        assert!(booked.iter().any(|entry| entry["batchIndicator"] == true));
        let private = list(None).unwrap();
        assert!(!private.to_string().contains("batchIndicator"), "only in corporate context");
        for entry in booked {
            let id = entry["transactionId"].as_str().unwrap();
            assert!(read(&bank, account, id, true, None).is_ok(), "{id}");
        }
        assert!(list(None).is_ok() && list(None).is_ok());
        assert_eq!(list(None).unwrap_err().code, Code::AccessExceeded, "the list counts too");
    }

    #[test]
    fn batch_members_are_for_the_corporate_context() {
        let bank = bank(noon());
        let batch = |asked| {
            read(&bank, CORPORATE_ACCOUNT, "20250213-0000003", true, asked).unwrap()["transactionsDetails"]
                .clone()
        };
        let shown = batch(Some(Asked::Corporate));
        assert_eq!(shown["batchIndicator"], true);
        assert_eq!(shown["batchNumberOfTransactions"], shown["entryDetails"].as_array().unwrap().len());
        for asked in [None, Some(Asked::Private)] {
            let hidden = batch(asked);
            for name in &Policy::default().transactions.corporate_only {
                assert!(hidden.get(name).is_none(), "{name}");
            }
            assert_eq!(hidden["transactionId"], "20250213-0000003");
        }
    }
}
