//! What the members of a body break, and what they leave open.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Found, Prepared, digits_of, is_opaque};
use crate::{
    explore::model::{Kind, Member, Model},
    request::RequestSpec,
};

pub(super) fn member(
    model: &Model,
    request: &RequestSpec,
    members: &Map<String, Value>,
    member: &Member,
    value: &Value,
    found: &mut Found,
) {
    let clause = |suffix: &str| format!("{}.{suffix}", member.clause);
    let name = &member.at;
    match member.kind {
        Kind::Text => match value {
            Value::String(text) => {
                let count = text.chars().count();
                let most = member.most.unwrap_or(usize::MAX);
                if text.is_empty() && member.least == Some(1) {
                    found.broken(clause("empty"));
                } else if text.is_empty() {
                    found.open(format!("an empty {name}"));
                } else if text.is_ascii() && count > most {
                    found.broken(clause("length"));
                } else if !text.is_ascii() && (!member.utf8 || text.len() > most) {
                    found.open(format!("other letters in {name}"));
                } else if text.chars().any(char::is_control) || text.trim() != text {
                    found.open(format!("blanks and controls in {name}"));
                }
            }
            Value::Array(_) | Value::Object(_) => found.broken(clause("type")),
            Value::Bool(_) if name.starts_with("regulatory") || name == "ultimateDebtor" => {
                found.broken(clause("type"));
            }
            Value::Number(_) if name.starts_with("remittance") => found.broken(clause("type")),
            _ => found.open(format!("another type of {name}")),
        },
        Kind::Words => {
            let listed = member.listed.clone().unwrap_or_else(|| clause("listed"));
            match value {
                Value::String(text) if member.words.contains(text) => {}
                Value::String(text) if is_open(member, text) => found.open(format!("the value of {name}")),
                Value::Number(number) if member.words.contains(&number.to_string()) => {
                    found.open(format!("a number as {name}"));
                }
                Value::Array(_) | Value::Object(_) | Value::Bool(_)
                    if name == "frequency" || name == "regulatoryReportingCode" =>
                {
                    found.broken(clause("type"));
                }
                // What is none of the words is none of them in another type.
                _ => found.broken(listed),
            }
        }
        Kind::Amount => amount(model, request, member, value, found),
        Kind::Account => account(model, member, value, found),
        Kind::Address => address(model, member, value, found),
        Kind::Bic => match value {
            Value::String(text) if is_opaque(text) || is_bic(text) => {
                // L208 says when it is required, and not that it may be there otherwise.
                let bban = members.get("creditorAccount").and_then(|account| account.get("bban"));
                if bban.is_none() {
                    found.open("an agent beside an iban");
                }
                if !is_opaque(text) {
                    found.open("whether the agent is that of the account");
                }
            }
            // L208 calls it a code; the pattern of L27 is that of another type.
            Value::String(_) => found.open("the form of an agent"),
            _ => found.broken(clause("type")),
        },
        Kind::Date => date(member, value, found),
        Kind::Months => months(members, value, found),
        Kind::Day => match value {
            Value::String(text) => {
                let is_number =
                    !text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
                match text.parse::<u8>() {
                    Ok(1..=28) if is_number && !text.starts_with('0') => {}
                    Ok(0 | 32..) if is_number => found.choice("periodic.day.impossible"),
                    _ if is_number => found.open("days that not every month has"),
                    _ => found.broken("periodic.day.form"),
                }
            }
            Value::Array(_) | Value::Object(_) | Value::Bool(_) => found.broken(clause("type")),
            _ => found.open("a number as dayOfExecution"),
        },
        Kind::Ids => {}
    }
}

/// Words that differ from those of the list in what the document does not speak of.
fn is_open(member: &Member, text: &str) -> bool {
    let alike = |word: &String| word.eq_ignore_ascii_case(text);
    member.open.iter().any(|word| word == text) || member.words.iter().any(alike)
}

fn is_bic(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!(bytes.len(), 8 | 11)
        && bytes[..6].iter().all(u8::is_ascii_uppercase)
        && matches!(bytes[6], b'A'..=b'Z' | b'2'..=b'9')
        && matches!(bytes[7], b'A'..=b'N' | b'P'..=b'Z' | b'0'..=b'9')
        && bytes[8..].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn listed_currency(
    model: &Model,
    value: Option<&Value>,
    absent: &str,
    empty: &str,
    found: &mut Found,
) -> bool {
    match value {
        None | Some(Value::Null) => found.broken(absent),
        Some(Value::String(text)) if text.is_empty() => found.broken(empty),
        Some(Value::String(text)) if is_opaque(text) || model.currencies.contains(text) => return true,
        Some(Value::String(text)) if model.currencies.contains(&text.to_uppercase()) => {
            found.open("letter case of currencies");
        }
        Some(_) => found.broken("currency.listed"),
    }
    false
}

fn amount(model: &Model, request: &RequestSpec, member: &Member, value: &Value, found: &mut Found) {
    let Value::Object(parts) = value else { return found.broken(format!("{}.type", member.clause)) };
    let is_listed =
        listed_currency(model, parts.get("currency"), "amount.currency", "currency.listed", found);
    let text = match parts.get("amount") {
        None | Some(Value::Null) => return found.broken("amount.required"),
        Some(Value::String(text)) => digits_of(text),
        Some(Value::Number(_)) => return found.open("an amount as a number"),
        Some(_) => return found.broken("amount.string"),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || text.ends_with('.') {
        return found.open("the form of an amount");
    }
    if whole.len() > 18 {
        found.broken("amount.precision");
    }
    if !is_listed {
        return;
    }
    let currency = parts.get("currency").and_then(Value::as_str).unwrap_or_default();
    let Some(digits) = model.digits.get(currency) else { return found.open("digits of this currency") };
    if fraction.len() > *digits {
        // L20. A domestic payment in other money may be taken or not, and what breaks a rule is refused all
        // the same.
        return found.broken("amount.digits");
    }
    if fraction.len() < *digits {
        found.open("fewer digits than the currency has");
    }
    if member.domestic && currency != "NOK" {
        found.open("a domestic payment in other money");
    }
    let units: f64 = text.parse().unwrap_or_default();
    let too_small = currency == "NOK" && member.least.is_some_and(|least| units < f64::from(least));
    if too_small || units <= 0.0 || whole.len() > 13 || whole.len() > 1 && whole.starts_with('0') {
        found.open(format!("the size of an amount of {}", request.operation));
    } else if is_large(model, currency, whole, units) {
        found.open("whether the account holds so much");
    }
}

/// Whether an amount is larger than those of the table, which any account can pay.
fn is_large(model: &Model, currency: &str, whole: &str, units: f64) -> bool {
    match model.amounts.get(currency) {
        _ if currency == "NOK" => units > 1_000_000.0,
        Some(known) => digits_of(known).len() < whole.len(),
        None => true,
    }
}

fn account(model: &Model, member: &Member, value: &Value, found: &mut Found) {
    let Value::Object(parts) = value else { return found.broken(format!("{}.type", member.clause)) };
    let is_listed = listed_currency(
        model,
        parts.get("currency"),
        &format!("{}.currency", member.clause),
        "account.currency",
        found,
    );
    let currency = parts.get("currency").and_then(Value::as_str).unwrap_or_default();
    let is_own = is_opaque(currency) || member.currency.as_deref() == Some(currency);
    if is_listed && !is_own && !member.any_currency {
        found.open("whether the account is in this currency");
    }
    let text = |name: &str| parts.get(name);
    match (text("iban"), text("bban")) {
        (None | Some(Value::Null), None | Some(Value::Null)) => found.broken("account.identifier"),
        (Some(_), Some(_)) => found.open("an account with two numbers"),
        (Some(Value::String(iban)), None) => number(member, iban, "account.iban.length", 34, "iban", found),
        (None, Some(Value::String(bban))) => number(member, bban, "account.bban.length", 30, "bban", found),
        _ => found.open("another type of account number"),
    }
    if parts.keys().any(|name| !["iban", "bban", "currency"].contains(&name.as_str())) {
        found.open("more members of an account");
    }
}

fn number(member: &Member, text: &str, clause: &str, most: usize, form: &str, found: &mut Found) {
    let own = member.account.as_ref().map(|account| format!("${{target.accounts.{account}.{form}}}"));
    if Some(text) == own.as_deref()
        || member.at == "debtorAccount" && text == "${target.accounts.corporate-debtor.iban}"
    {
        return;
    }
    if is_opaque(text) {
        return found.open("an account of somebody else");
    }
    if text.chars().count() > most {
        found.broken(clause);
    } else {
        found.open("whether there is such an account");
    }
}

fn address(model: &Model, member: &Member, value: &Value, found: &mut Found) {
    let Value::Object(parts) = value else { return found.broken(format!("{}.type", member.clause)) };
    match parts.get("country") {
        None => found.broken(format!("{}.country", member.clause)),
        Some(Value::Null) => found.broken("address.country"),
        Some(Value::String(code)) if code.is_empty() => found.broken("address.country"),
        Some(Value::String(code)) if model.countries.contains(code) => {}
        Some(Value::String(code)) if model.countries.contains(&code.to_uppercase()) => {
            found.open("letter case of countries");
        }
        Some(Value::String(code)) if code.chars().count() > 2 => found.broken("country.length"),
        Some(Value::String(_)) => found.broken("country.listed"),
        Some(_) => found.open("another type of country"),
    }
    for (name, part) in parts {
        match (name.as_str(), part) {
            ("country", _) => {}
            ("street", Value::String(text)) if text.is_ascii() && text.len() > 70 => {
                found.broken("address.street.length");
            }
            ("street" | "buildingNumber" | "postalCode" | "city", Value::String(text)) => {
                let is_plain = text.is_ascii() && !text.is_empty() && text.len() <= 70 && text.trim() == text;
                if !is_plain || name != "street" && text.len() > 16 {
                    found.open(format!("what {name} may hold"));
                }
            }
            ("buildingNumber" | "postalCode" | "city", Value::Array(_) | Value::Object(_)) => {
                found.broken("address.shape");
            }
            _ => found.open(format!("another type of {name}")),
        }
    }
}

fn date(member: &Member, value: &Value, found: &mut Found) {
    let format = || format!("{}.format", member.clause);
    match value {
        Value::String(text) if text.starts_with("${workday+") => {
            let own = member.days.unwrap_or(10);
            let days = text.trim_start_matches("${workday+").trim_end_matches('}').parse::<u32>();
            if !days.clone().is_ok_and(|days| days >= own.min(5) && days <= 200)
                || member.days.is_some_and(|least| days.is_ok_and(|days| days < least))
            {
                found.open(format!("{} so near", member.at));
            }
        }
        Value::String(text) if is_opaque(text) => found.open("a date that the target knows"),
        Value::String(text) if is_basic(text) => found.open("the basic format of ISO 8601"),
        Value::String(text) if is_date(text) => found.open(format!("{} so far away", member.at)),
        _ => found.broken(format()),
    }
}

fn is_basic(text: &str) -> bool {
    text.len() == 8
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && is_date(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
}

/// Whether a text is a calendar date of ISO 8601 in its extended format.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, length| {
        (part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<u32>().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn months(members: &Map<String, Value>, value: &Value, found: &mut Found) {
    let Value::Array(items) = value else { return found.broken("periodic.months.type") };
    if items.iter().any(|item| item.as_i64().is_none()) {
        return found.broken("periodic.months.type");
    }
    if members.get("frequency") != Some(&Value::from("MonthlyVariable")) {
        return found.open("months of another frequency");
    }
    let numbers: Vec<i64> = items.iter().filter_map(Value::as_i64).collect();
    let distinct: BTreeSet<i64> = numbers.iter().copied().collect();
    if numbers.iter().any(|month| !(1..=12).contains(month)) {
        found.broken("periodic.months.range");
    }
    if distinct.len() < numbers.len() {
        found.broken("periodic.months.duplicate");
    }
    if distinct.contains(&12) {
        found.choice("periodic.months.twelve");
    }
    if numbers.is_empty() {
        found.open("no month");
    }
}

pub(super) fn ids(value: &Value, prepared: &Prepared, found: &mut Found) {
    // A placeholder of payments that are made in a row stands for the list of their ids.
    let of = |text: &str| prepared.get(text.trim_start_matches("${").trim_end_matches(".id}"));
    let texts: Vec<&str> = match value {
        Value::String(text) if of(text).is_some_and(|(_, times)| *times > 1) => vec![text],
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect()
        }
        _ => return found.broken("basket.payment-ids.type"),
    };
    let known: Vec<&(String, usize)> = texts.iter().filter_map(|text| of(text)).collect();
    let count: usize = known.iter().map(|(_, times)| times).sum::<usize>() + texts.len() - known.len();
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    if count > 10 {
        found.broken("basket.payment-ids.limit");
    }
    if known.iter().any(|(operation, _)| operation == "periodic") {
        found.status = Some(400);
        found.code = Some("REFERENCE_MIX_INVALID");
        found.broken("basket.mix");
    }
    if texts.is_empty() || distinct.len() < texts.len() || known.len() < texts.len() {
        found.open("empty, repeated or unknown ids");
    }
}
