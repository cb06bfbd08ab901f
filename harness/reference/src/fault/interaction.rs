//! Faults that show only where two things of a request come together: a rule that is forgotten beside a
//! certain other member, in a certain currency, or in another order.

use serde_json::{Map, Value};

use crate::account_number::is_bic;
use crate::operation::Operation;
use crate::operation::Operation::{Customers, Ncbct, Periodic};
use crate::rules::{Entry, Place, Then, Treatment, When};

type Body = Map<String, Value>;

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = of_cross_border();
    faults.extend(of_others());
    faults
}

fn on(
    operation: Operation,
    name: &str,
    pointer: &'static str,
    says: fn(&Body) -> bool,
    then: Then,
    sentence: &str,
) -> Entry {
    let when = When::Together(says);
    Entry::treats(name, Treatment { operation, place: Place::Body(pointer), when, then }, sentence)
}

fn of_cross_border() -> Vec<Entry> {
    vec![
        on(
            Ncbct,
            "ncbct.creditor-name.length/beside-purpose",
            "/creditorName",
            |body| body.contains_key("purposeCode") && longer(body, "creditorName", 70),
            Then::Cut(70),
            "A longer creditorName is accepted if there is a purposeCode.",
        ),
        on(
            Ncbct,
            "ncbct.purpose-code.optional/in-yen",
            "/purposeCode",
            |body| body.contains_key("purposeCode") && currency(body) == Some("JPY"),
            Then::Refuse,
            "A purposeCode is refused in payments of JPY.",
        ),
        on(
            Ncbct,
            "ncbct.creditor-address.optional/of-a-bban",
            "/creditorAddress",
            |body| body.contains_key("creditorAddress") && body["creditorAccount"].get("bban").is_some(),
            Then::Refuse,
            "The address of a creditor with a bban is refused.",
        ),
        on(
            Ncbct,
            "ncbct.creditor-agent.bban/with-address",
            "/creditorAgent",
            |body| {
                let account = body.get("creditorAccount");
                body.contains_key("creditorAddress")
                    && !body.contains_key("creditorAgent")
                    && account.is_some_and(|account| account.get("bban").is_some())
            },
            Then::TakeFor("\"AAAADEF0XXX\""),
            "A bban may come without creditorAgent if there is an address.",
        ),
        on(
            Ncbct,
            "ncbct.creditor-agent.form/any-beside-an-iban",
            "/creditorAgent",
            |body| {
                let agent = body.get("creditorAgent").and_then(Value::as_str);
                let iban = body.get("creditorAccount").and_then(|account| account.get("iban"));
                agent.is_some_and(|agent| !is_bic(agent)) && iban.is_some()
            },
            Then::Drop,
            "Beside an iban, creditorAgent may be any text.",
        ),
        on(
            Ncbct,
            "ncbct.regulatory-reporting-information.length/with-a-date",
            "/regulatoryReportingInformation",
            |body| {
                body.contains_key("requestedExecutionDate")
                    && longer(body, "regulatoryReportingInformation", 140)
            },
            Then::Cut(140),
            "Longer regulatoryReportingInformation is accepted if there is a requestedExecutionDate.",
        ),
        on(
            Ncbct,
            "ncbct.remittance-unstructured.length/amount-not-first",
            "/remittanceInformationUnstructured",
            |body| {
                let first = body.keys().next().map(String::as_str);
                first != Some("instructedAmount") && longer(body, "remittanceInformationUnstructured", 140)
            },
            Then::Cut(140),
            "Longer remittance information is accepted if the amount is not the first member.",
        ),
    ]
}

fn of_others() -> Vec<Entry> {
    vec![
        on(
            Periodic,
            "periodic.months.duplicate/with-an-end",
            "/monthsOfExecution",
            |body| {
                let months = body.get("monthsOfExecution").and_then(Value::as_array);
                let is_repeated = months.is_some_and(|months| {
                    months.iter().enumerate().any(|(at, month)| months[..at].contains(month))
                });
                body.contains_key("endDate") && is_repeated
            },
            Then::TakeFor("[1]"),
            "Months may repeat if there is an endDate.",
        ),
        on(
            Periodic,
            "periodic.ultimate-debtor.length/with-remittance",
            "/ultimateDebtor",
            |body| {
                body.contains_key("remittanceInformationUnstructured") && longer(body, "ultimateDebtor", 70)
            },
            Then::Cut(70),
            "A longer ultimateDebtor is accepted if there is remittance information.",
        ),
        on(
            Periodic,
            "periodic.purpose-code/weekly",
            "/purposeCode",
            |body| {
                let is_weekly = body.get("frequency").and_then(Value::as_str) == Some("Weekly");
                is_weekly && body.get("purposeCode").is_some_and(Value::is_string)
            },
            Then::TakeFor("\"OTHR\""),
            "Any purposeCode is accepted in weekly payments.",
        ),
        Entry::treats(
            "customers.with-accounts/beside-encoding",
            Treatment {
                operation: Customers,
                place: Place::Query("withAccounts"),
                when: When::Beside("accept-encoding"),
                then: Then::Refuse,
            },
            "The parameter withAccounts is refused beside Accept-Encoding.",
        ),
    ]
}

fn longer(body: &Body, name: &str, most: usize) -> bool {
    body.get(name).and_then(Value::as_str).is_some_and(|text| text.chars().count() > most)
}

fn currency(body: &Body) -> Option<&str> {
    body.get("instructedAmount")?.get("currency")?.as_str()
}
