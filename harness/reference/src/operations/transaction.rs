//! Transaction details (the document, section Endpoints > Get transaction details, and Limits).

use std::sync::Arc;

use axum::http::StatusCode;
use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::Context;
use crate::date;
use crate::header::{Fields, Header};
use crate::psu;
use crate::refusal::{Code, Refusal};
use crate::rules::{Breach, IdLikeness, StateBreach, StateVariance, Variance};
use crate::seed::Account;
use crate::state::Owner;

/// "Calls without PSU-IP-Address: at most 4 per day." Counted here by account and by calendar day in UTC.
const UNATTENDED_CALLS: u32 = 4;

/// "Also requires a PSU consent at most 90 days old."
const UNATTENDED_DAYS: i64 = 90;

/// "SCA renewal period: 180 days."
const SCA_DAYS: i64 = 180;

/// "History without SCA: 90 days." With SCA, here, is on the day of the consent.
const HISTORY_DAYS: i64 = 90;

/// Members "corporate context only" at the top level.
const CORPORATE_MEMBERS: [&str; 4] =
    ["batchIndicator", "batchNumberOfTransactions", "entryDetails", "_links"];

/// Members of a transaction that the list shows too.
const LISTED_MEMBERS: [&str; 4] = ["bookingDate", "valueDate", "transactionAmount", "endToEndId"];

/// Reads one booked transaction. Batches exist in corporate context only, which is that of the request.
pub(super) fn details(
    context: &Context,
    path_parameters: &[String],
    (fields, query): (Fields<'_>, &str),
    (psu_context, owner): (Option<psu::Context>, &Owner),
) -> Result<Value, Refusal> {
    let account = account(context, path_parameters, (fields, query), owner)?;
    let transaction_id = path_parameters.get(1).ok_or_else(unknown_transaction)?;
    let booked = context.state.transaction(&account.resource_id, transaction_id).or_else(|| {
        match context.rules.breach() {
            Some(Breach::AnyTransaction) => context.state.transactions(&account.resource_id).first().cloned(),
            Some(Breach::AnyAccount) => context.state.transaction_anywhere(transaction_id),
            Some(Breach::State(StateBreach::TransactionTaken(IdLikeness::Part))) => {
                let booked = context.state.transactions(&account.resource_id);
                booked.into_iter().find(|booked| booked.id().starts_with(transaction_id.as_str()))
            }
            Some(Breach::State(StateBreach::TransactionTaken(likeness))) => {
                match likeness.other(transaction_id)? {
                    "" => context.state.transactions(&account.resource_id).first().cloned(),
                    other => context.state.transaction(&account.resource_id, other),
                }
            }
            _ => None,
        }
    });
    let mut details = booked.ok_or_else(unknown_transaction)?.details.clone();
    let is_agreed = context.rules.varied_by(Variance::AgreementDecides)
        && fields.bytes(Header::PsuCorporateId.name()).is_some();
    if psu_context != Some(psu::Context::Corporate) && !is_agreed {
        let is_shown = |name| context.rules.broken_by(Breach::ShownInPrivate(name));
        details.retain(|name, _| !CORPORATE_MEMBERS.iter().any(|hidden| hidden == name && !is_shown(hidden)));
    }
    if let Some(Breach::ShownOfNoBatch(name)) = context.rules.breach()
        && psu_context == Some(psu::Context::Corporate)
        && !details.contains_key("batchIndicator")
    {
        let value = if name == "entryDetails" { json!([]) } else { json!(0) };
        details.insert("batchIndicator".to_owned(), json!(false));
        details.insert(name.to_owned(), value);
    }
    if context.rules.state_breach() == Some(StateBreach::ValueDateByTurns) && context.state.is_turn() {
        details.remove("valueDate");
    }
    Ok(json!({ "transactionsDetails": details }))
}

/// Lists the booked transactions of an account, by their ids and without what only the details show.
pub(super) fn list(
    context: &Context,
    path_parameters: &[String],
    (fields, query): (Fields<'_>, &str),
    (psu_context, owner): (Option<psu::Context>, &Owner),
) -> Result<Value, Refusal> {
    let account = account(context, path_parameters, (fields, query), owner)?;
    let is_corporate = psu_context == Some(psu::Context::Corporate);
    let today = context.clock.today();
    let is_shown = |details: &Map<String, Value>| {
        let booked_on = details.get("bookingDate").and_then(Value::as_str);
        let booked_on = booked_on.and_then(|text| date::parse(text).ok());
        context.state.consent_age(&account, today) == 0
            || booked_on.is_none_or(|day| (today - day).num_days() <= HISTORY_DAYS)
    };
    let booked = context.state.transactions(&account.resource_id);
    let booked = booked.iter().filter(|booked| is_shown(&booked.details)).map(|booked| {
        let mut entry = json!({ "transactionId": booked.id() });
        for name in LISTED_MEMBERS {
            if let Some(value) = booked.details.get(name) {
                entry[name] = value.clone();
            }
        }
        if is_corporate && let Some(value) = booked.details.get("batchIndicator") {
            entry["batchIndicator"] = value.clone();
        }
        entry
    });
    Ok(json!({ "transactions": { "booked": booked.collect::<Vec<_>>() } }))
}

/// The account of the path, if it is not that of another PSU. A call without PSU-IP-Address is counted.
fn account(
    context: &Context,
    path_parameters: &[String],
    (fields, query): (Fields<'_>, &str),
    owner: &Owner,
) -> Result<Arc<Account>, Refusal> {
    let breach = context.rules.state_breach();
    let shows = |account: &Arc<Account>| {
        breach == Some(StateBreach::AnyAccountHolder)
            || context.state.account_shows_to(account, owner.psu.as_deref())
    };
    // A consent is given to a TPP, and the document shows no way to do that: here to the one that asks first.
    let is_of_tpp = |account: &Arc<Account>| {
        let tpp = owner.tpp.as_deref().map(|tpp| tpp.escape_ascii().to_string());
        breach == Some(StateBreach::AnyTppReads)
            || context.rules.varied_by(Variance::ReadByAnyone)
            || tpp.is_none_or(|tpp| context.state.is_first("consent", &account.resource_id, &tpp))
    };
    let account = path_parameters
        .first()
        .and_then(|id| context.state.account(id).filter(shows).filter(is_of_tpp))
        .ok_or_else(|| unknown("transaction.account-id.known", "id"))?;
    let is_attended = fields.has(Header::PsuIpAddress);
    let age = context.state.consent_age(&account, context.clock.today());
    let days = match breach {
        Some(StateBreach::ConsentDays { attended, days }) if attended == is_attended => days,
        Some(StateBreach::OldConsentAtSecond { attended })
            if attended == is_attended && context.state.count("old consent", &account.resource_id) > 1 =>
        {
            i64::MAX
        }
        _ if is_attended => SCA_DAYS,
        _ => UNATTENDED_DAYS,
    };
    let is_lapsed = is_attended
        && context.rules.remembers_by(StateVariance::ConsentsOf90Days)
        && (UNATTENDED_DAYS + 1..=120).contains(&age);
    if age > days || is_lapsed {
        let says = format!("expected a consent at most {days} days old, found one of {age} days");
        let rule = if is_attended { "limit.sca-renewal" } else { "limit.consent-without-psu-ip-address" };
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, Code::ConsentExpired, rule, says));
    }
    let is_one_count = context.rules.remembers_by(StateVariance::CallsOfAllAccounts);
    let counted = match breach {
        Some(StateBreach::CallsCountedBy("")) => format!("{} {query}", account.resource_id),
        Some(StateBreach::CallsCountedBy(header)) => {
            let value = fields.bytes(header).unwrap_or_default().escape_ascii().to_string();
            format!("{} {value}", account.resource_id)
        }
        _ if is_one_count => String::new(),
        _ => account.resource_id.clone(),
    };
    let counted = counted.as_str();
    if is_attended && breach == Some(StateBreach::AttendedCallsCount) {
        context.state.count_unattended_call(counted, context.clock.today());
    }
    if is_attended && breach == Some(StateBreach::AttendedCallsReset) {
        // The count is of one day alone.
        context.state.count_unattended_call(counted, NaiveDate::MIN);
    }
    let is_counted = match breach {
        Some(StateBreach::AttendedCallsLimited) => true,
        Some(StateBreach::LoopbackCounts) => {
            let address = fields.bytes(Header::PsuIpAddress.name());
            !is_attended || address.is_some_and(|address| address.starts_with(b"127."))
        }
        Some(StateBreach::EmptyAddressCounts) => fields.bytes(Header::PsuIpAddress.name()).is_none(),
        _ => !is_attended,
    };
    if is_counted {
        let calls = context.state.count_unattended_call(counted, context.clock.today());
        let allowed = match context.rules.breach() {
            Some(Breach::UnattendedCalls(other)) => other,
            _ => UNATTENDED_CALLS,
        };
        if calls > allowed {
            let says =
                format!("expected at most {allowed} calls a day without psu-ip-address, found {calls}");
            let rule = "limit.calls-without-psu-ip-address";
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, Code::AccessExceeded, rule, says)
                .at(Header::PsuIpAddress.name()));
        }
    }
    Ok(account)
}

fn unknown_transaction() -> Refusal {
    unknown("transaction.transaction-id.known", "transactionId")
}

fn unknown(rule: &str, path: &str) -> Refusal {
    let says = "expected a resource of this bank, found an unknown id";
    Refusal::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, rule, says).at(path)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::certificate::Certificates;
    use crate::clock::Clock;
    use crate::psu::Context as Asked;
    use crate::rules::Rules;
    use crate::seed::{CORPORATE_ACCOUNT, PRIVATE_ACCOUNT, Seed};
    use crate::state::State;

    fn bank(now: DateTime<Utc>) -> Context {
        Context {
            rules: Rules::kept(),
            clock: Clock::at(Some(now)),
            state: State::new(0, &Seed::built_in(), noon().date_naive()),
            certificates: Certificates::default(),
        }
    }

    fn noon() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2025-03-01T12:00:00Z").unwrap().to_utc()
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
        details(
            bank,
            &[account.to_owned(), id.to_owned()],
            (Fields(&headers), ""),
            (asked, &Owner::default()),
        )
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
        let mut listed = |days| {
            bank.clock = Clock::at(Some(noon() + TimeDelta::days(days)));
            let mut headers = HeaderMap::new();
            headers.insert("psu-ip-address", "192.0.2.1".parse().unwrap());
            let shown =
                list(&bank, &[PRIVATE_ACCOUNT.to_owned()], (Fields(&headers), ""), (None, &Owner::default()))
                    .unwrap();
            shown["transactions"]["booked"].as_array().unwrap().len()
        };
        // Booked 18 and 17 days before noon.
        assert_eq!([0, 1, 72, 73, 74].map(&mut listed), [2, 2, 2, 1, 0]);
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
        let listed = |asked| {
            list(&bank, &[account.to_owned()], (Fields(&HeaderMap::new()), ""), (asked, &Owner::default()))
                .unwrap()
        };
        let shown = listed(Some(Asked::Corporate));
        let booked = shown["transactions"]["booked"].as_array().unwrap();
        assert!(booked.iter().any(|entry| entry["batchIndicator"] == true));
        assert!(!listed(None).to_string().contains("batchIndicator"), "only in corporate context");
        for entry in booked {
            let id = entry["transactionId"].as_str().unwrap();
            assert!(read(&bank, account, id, true, None).is_ok(), "{id}");
        }
        for _ in 0..2 {
            assert!(
                list(
                    &bank,
                    &[account.to_owned()],
                    (Fields(&HeaderMap::new()), ""),
                    (None, &Owner::default())
                )
                .is_ok()
            );
        }
        let refusal =
            list(&bank, &[account.to_owned()], (Fields(&HeaderMap::new()), ""), (None, &Owner::default()))
                .unwrap_err();
        assert_eq!(refusal.code, Code::AccessExceeded, "the list counts too");
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
            for name in CORPORATE_MEMBERS {
                assert!(hidden.get(name).is_none(), "{name}");
            }
            assert_eq!(hidden["transactionId"], "20250213-0000003");
        }
    }
}
