//! What only a strict bank asks of a request, and what it says when it refuses one.

use chrono::{Datelike as _, Weekday};
use serde_json::{Map, Value};

use super::requests::{PAYMENTS, on};
use crate::date;
use crate::operation::Operation;
use crate::rules::{Effect, Entry, Form, Narrowness, Place, Then, Variance, When};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

pub(super) fn variations() -> Vec<Entry> {
    let mut all: Vec<Entry> = NARROW
        .into_iter()
        .map(|(name, narrowness, says)| {
            Entry::new(name, vec![Effect::Variance(Variance::Narrow(narrowness))], says)
        })
        .collect();
    all.push(Entry::new(
        "http.response-headers/reason",
        vec![Effect::Forms(Form::Reason)],
        "Refusals name the rule that was broken in a header of their own.",
    ));
    for (name, operations, place, when, says) in VALUES {
        all.extend(on(name, operations, *place, *when, Then::Refuse, says));
    }
    all
}

const NARROW: [(&str, Narrowness, &str); 5] = [
    (
        "header.not-part.sent/unknown-refused",
        Narrowness::KnownHeaders,
        "Headers of the PSU, the TPP and of this kind of interfaces that the document does not list are refused.",
    ),
    (
        "header.not-part.sent/all-refused",
        Narrowness::OwnHeaders,
        "Headers of other operations are refused, whichever they are.",
    ),
    ("header.not-part.sent/twice-refused", Narrowness::OneLine, "A header comes in one line."),
    (
        "header.not-part.sent/parameters-refused",
        Narrowness::KnownParameters,
        "Query parameters that the document does not list are refused.",
    ),
    (
        "error.funds/of-unknown-debtors",
        Narrowness::KnownDebtors,
        "A payment from an account that the bank does not have is refused.",
    ),
];

/// Name, operations, place, values that are refused, and a sentence.
type Values = (&'static str, &'static [Operation], Place, When, &'static str);

#[rustfmt::skip]
const VALUES: &[Values] = &[
    ("json.unknown-members/refused-inside", PAYMENTS, Place::Body(""), When::Value(has_unknown_members_inside), "Members of amounts, accounts and addresses that the document does not list are refused."),
    ("account.bban.check-digit/of-debtors", PAYMENTS, Place::Body("/debtorAccount/bban"), When::Text(|bban| !bban.is_empty() && !super::requests::has_check_digit(bban)), "The check digit of the debtor's domestic account number is looked at."),
    ("text.characters/ascii", PAYMENTS, Place::Body("/creditorName"), When::Text(|name| !name.is_ascii()), "Names of creditors are in ASCII."),
    ("amount.precision.near/eleven", PAYMENTS, Place::Body("/instructedAmount/amount"), When::Text(|text| text.split('.').next().unwrap_or_default().chars().count() > 11), "An amount has at most 11 digits before the point."),
    ("ncbct.requested-execution-date.past/no-weekend", &[N], Place::Body("/requestedExecutionDate"), When::Text(is_weekend), "A payment is executed from Monday to Friday."),
    ("periodic.day.end-of-month/months-alone", &[P], Place::Body("/dayOfExecution"), When::Together(has_day_of_a_week), "A day of a month goes with frequencies of months and years alone."),
    ("ncbct.creditor-agent.beside-iban/of-the-country", &[N], Place::Body("/creditorAgent"), When::Together(is_agent_of_another_country), "The agent of an iban is of the country of the iban."),
    ("header.psu-ip-port.ncbct/number", &[B, N, P, T], Place::Header("psu-ip-port"), When::Text(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)), "PSU-IP-Port has to be a number from 1 to 65535."),
];

/// Members of Amount, `AccountReference` and Address (the document, section Resources > Shared types).
const INSIDE: [(&str, &[&str]); 4] = [
    ("instructedAmount", &["amount", "currency"]),
    ("creditorAccount", &["bban", "iban", "currency"]),
    ("debtorAccount", &["bban", "iban", "currency"]),
    ("creditorAddress", &["street", "buildingNumber", "postalCode", "city", "country"]),
];

fn has_unknown_members_inside(body: &Value) -> bool {
    let has_unknown = |(name, known): &(&str, &[&str])| {
        let members = body.get(name).and_then(Value::as_object);
        members.is_some_and(|members| members.keys().any(|name| !known.contains(&name.as_str())))
    };
    INSIDE.iter().any(has_unknown)
}

fn is_weekend(day: &str) -> bool {
    date::parse(day).is_ok_and(|day| matches!(day.weekday(), Weekday::Sat | Weekday::Sun))
}

fn has_day_of_a_week(body: &Map<String, Value>) -> bool {
    let frequency = body.get("frequency").and_then(Value::as_str).unwrap_or_default();
    body.contains_key("dayOfExecution") && matches!(frequency, "Daily" | "Weekly" | "EveryTwoWeeks")
}

fn is_agent_of_another_country(body: &Map<String, Value>) -> bool {
    let iban = body.get("creditorAccount").and_then(|account| account["iban"].as_str());
    let agent = body.get("creditorAgent").and_then(Value::as_str).filter(|agent| agent.is_ascii());
    iban.and_then(|iban| iban.get(..2))
        .zip(agent.and_then(|agent| agent.get(4..6)))
        .is_some_and(|(country, other)| country != other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_told_apart() {
        let body = |json: Value| json.as_object().unwrap().clone();
        assert!(has_unknown_members_inside(&json!({ "instructedAmount": { "synthetic": 1 } })));
        assert!(!has_unknown_members_inside(&json!({ "creditorAddress": { "city": "A" }, "synthetic": 1 })));
        assert!(is_weekend("2030-02-02") && !is_weekend("2030-02-01") && !is_weekend("x"));
        let series = |frequency: &str| body(json!({ "frequency": frequency, "dayOfExecution": "1" }));
        assert!(has_day_of_a_week(&series("Weekly")) && !has_day_of_a_week(&series("Monthly")));
        let creditor = |agent: &str| {
            body(json!({ "creditorAccount": { "iban": "NO6100004200594" }, "creditorAgent": agent }))
        };
        assert!(is_agent_of_another_country(&creditor("TESTDEFF")));
        assert!(
            !is_agent_of_another_country(&creditor("TESTNO22"))
                && !is_agent_of_another_country(&creditor("x"))
        );
    }
}
