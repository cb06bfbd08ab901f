//! The body of a periodic NDCT (the document, section Endpoints > Create periodic NDCT payment).

use chrono::NaiveDate;

use crate::member::{Member, Object};
use crate::money::Amount;
use crate::policy::{Policy, Series};
use crate::refusal::{Refusal, excerpt};
use crate::shared_types::{account, address, creditor_name, purpose_code, remittance_unstructured};

/// The spelling of the document.
const EXECUTION_RULES: [&str; 2] = ["following", "preceeding"];

const FREQUENCIES: [&str; 9] = [
    "Daily",
    "Weekly",
    "EveryTwoWeeks",
    "Monthly",
    "EveryTwoMonths",
    "Quarterly",
    "SemiAnnual",
    "Annual",
    "MonthlyVariable",
];

/// Checks the fields in the order of the document's table, and ignores unknown ones. Returns the amount to
/// pay.
pub(super) fn check(body: &Object<'_>, today: NaiveDate, policy: &Policy) -> Result<Amount, Refusal> {
    let amount = Amount::read(&body.required("instructedAmount")?.object("amount")?, &policy.amounts)?;
    creditor_name(&body.required("creditorName")?)?;
    account(&body.required("creditorAccount")?)?;
    body.check("creditorAddress", address)?;
    account(&body.required("debtorAccount")?)?;
    body.check("ultimateDebtor", |name| name.at_most(70, name.text()?))?;
    body.check("remittanceInformationUnstructured", remittance_unstructured)?;
    body.check("purposeCode", purpose_code)?;
    let start = body.required("startDate")?.date_ahead(today, policy.series.past_days("startDate"))?;
    body.check("executionRule", |rule| rule.listed("periodic.execution-rule.listed", &EXECUTION_RULES))?;
    if let Some(member) = body.optional("endDate") {
        let end = member.date()?;
        if end < start {
            let says = format!("expected {start} or later, the start of the series, found {end}");
            return Err(member.refuse("before-start", says));
        }
    }
    let frequency = body.required("frequency")?.listed("periodic.frequency.listed", &FREQUENCIES)?;
    match body.optional("monthsOfExecution") {
        Some(member) => check_months(&member, &policy.series)?,
        None if frequency == "MonthlyVariable" => {
            let says = "expected monthsOfExecution with the frequency MonthlyVariable, found none";
            return Err(Refusal::format("periodic.months.absent", says).at("/monthsOfExecution"));
        }
        None => {}
    }
    body.check("dayOfExecution", check_day)?;
    Ok(amount)
}

/// Checks `monthsOfExecution`: at least one month, without duplicates. The document gives both 1 to 11 and 1
/// to 12. This bank accepts 1 to 12, with any frequency.
fn check_months(member: &Member<'_>, policy: &Series) -> Result<(), Refusal> {
    let mut earlier = Vec::new();
    let items = member.items()?;
    if items.is_empty() {
        let says = "expected at least one month, found an empty list";
        return Err(Refusal::format("periodic.months.empty", says).at(member.path()));
    }
    for item in &items {
        let month = item.integer()?;
        if !(1..=12).contains(&month) {
            let says = format!("expected a month from 1 to 12, found {month}");
            return Err(Refusal::format("periodic.months.range", says).at(item.path()));
        }
        if policy.repeated_months.includes(month, &earlier, items.len()) {
            let says = format!("expected each month once, found {month} again");
            return Err(Refusal::format("periodic.months.duplicate", says).at(item.path()));
        }
        earlier.push(month);
    }
    Ok(())
}

/// Checks `dayOfExecution`: a day of the month in one or two digits. Days 29 to 31, which some months lack,
/// are accepted.
fn check_day(member: &Member<'_>) -> Result<(), Refusal> {
    let text = member.text()?;
    let has_form = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !has_form {
        let says = format!("expected one or two digits, found {}", excerpt(text));
        return Err(Refusal::format("periodic.day-of-execution.form", says).at(member.path()));
    }
    if !text.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day)) {
        let says = format!("expected a day of the month, found {}", excerpt(text));
        return Err(Refusal::format("periodic.day-of-execution.range", says).at(member.path()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::policy::Policy;

    fn valid() -> Value {
        json!({
            "instructedAmount": { "amount": "250.00", "currency": "NOK" },
            "creditorName": "Synthetic Creditor",
            "creditorAccount": { "bban": "00004200179", "currency": "NOK" },
            "debtorAccount": { "bban": "00004200330", "currency": "NOK" },
            "startDate": "2030-01-15",
            "frequency": "MonthlyVariable",
            "monthsOfExecution": [1, 6, 11]
        })
    }

    fn refused_with(policy: &'static Policy, change: impl FnOnce(&mut Value)) -> Option<String> {
        let mut body = valid();
        change(&mut body);
        let today = NaiveDate::from_ymd_opt(2030, 1, 1).unwrap();
        check(&Object::root(body.as_object().unwrap(), "periodic"), today, policy)
            .err()
            .map(|refusal| refusal.rule)
    }

    fn refused(name: &str, value: Value) -> Option<String> {
        refused_with(Policy::document(), |body| body[name] = value)
    }

    #[test]
    fn required_members() {
        assert_eq!(refused_with(Policy::document(), |_| ()), None);
        for (name, rule) in [
            ("instructedAmount", "periodic.instructed-amount.required"),
            ("creditorName", "periodic.creditor-name.required"),
            ("creditorAccount", "periodic.creditor-account.required"),
            ("debtorAccount", "periodic.debtor-account.required"),
            ("startDate", "periodic.start-date.required"),
            ("frequency", "periodic.frequency.required"),
        ] {
            let refusal = refused_with(Policy::document(), |body| {
                body.as_object_mut().unwrap().remove(name).unwrap();
            });
            assert_eq!(refusal.as_deref(), Some(rule));
        }
    }

    #[test]
    fn months() {
        for accepted in [json!([12]), json!([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), json!([6, 1])] {
            assert_eq!(refused("monthsOfExecution", accepted), None);
        }
        for (value, rule) in [
            (json!([]), "periodic.months.empty"),
            (json!([0]), "periodic.months.range"),
            (json!([13]), "periodic.months.range"),
            (json!([-1]), "periodic.months.range"),
            (json!([18_446_744_073_709_551_615_u64]), "periodic.months.range"),
            (json!([3, 3]), "periodic.months.duplicate"),
            (json!([3, 4, 3]), "periodic.months.duplicate"),
            (json!(["3"]), "periodic.months-of-execution.type"),
            (json!([3.0]), "periodic.months-of-execution.type"),
            (json!("3"), "periodic.months-of-execution.type"),
        ] {
            assert_eq!(refused("monthsOfExecution", value).as_deref(), Some(rule));
        }
    }

    #[test]
    fn a_bank_may_see_only_neighbours() {
        let broken = Policy::set(&json!({ "series": { "repeated-months": "adjacent" } }));
        let months = |months| refused_with(broken, |body| body["monthsOfExecution"] = months);
        assert_eq!(months(json!([3, 4, 3])), None);
        assert_eq!(months(json!([4, 3, 3])).as_deref(), Some("periodic.months.duplicate"));
    }

    #[test]
    fn days() {
        for day in ["1", "01", "9", "28", "31"] {
            assert_eq!(refused("dayOfExecution", json!(day)), None, "{day}");
        }
        for day in ["", "100", "x", "1x", " 1", "-1", "١"] {
            let rule = refused("dayOfExecution", json!(day));
            assert_eq!(rule.as_deref(), Some("periodic.day-of-execution.form"), "{day}");
        }
        for day in ["0", "00", "32", "99"] {
            let rule = refused("dayOfExecution", json!(day));
            assert_eq!(rule.as_deref(), Some("periodic.day-of-execution.range"), "{day}");
        }
        assert_eq!(refused("dayOfExecution", json!(1)).as_deref(), Some("periodic.day-of-execution.type"));
    }

    #[test]
    fn lists_lengths_and_dates() {
        for (name, value) in [
            ("executionRule", json!("preceeding")),
            ("frequency", json!("Daily")),
            ("endDate", json!("2031-01-15")),
            ("ultimateDebtor", json!("x".repeat(70))),
            ("creditorName", json!("x".repeat(70))),
        ] {
            assert_eq!(refused(name, value), None, "{name}");
        }
        for (name, value, rule) in [
            ("executionRule", json!("preceding"), "periodic.execution-rule.listed"),
            ("frequency", json!("daily"), "periodic.frequency.listed"),
            ("frequency", json!("Yearly"), "periodic.frequency.listed"),
            ("startDate", json!("2030-02-30"), "periodic.start-date.date"),
            ("startDate", json!("2029-12-31"), "periodic.start-date.past"),
            ("endDate", json!("2030-01-14"), "periodic.end-date.before-start"),
            ("endDate", json!("soon"), "periodic.end-date.date"),
            ("ultimateDebtor", json!("x".repeat(71)), "periodic.ultimate-debtor.length"),
            ("creditorName", json!("x".repeat(71)), "periodic.creditor-name.length"),
            ("purposeCode", json!("XXXX"), "purpose-code.listed"),
            (
                "remittanceInformationUnstructured",
                json!(""),
                "periodic.remittance-information-unstructured.empty",
            ),
        ] {
            assert_eq!(refused(name, value).as_deref(), Some(rule));
        }
    }
}
