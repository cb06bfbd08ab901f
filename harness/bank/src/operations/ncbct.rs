//! The body of an NCBCT (the document, section Endpoints > Create NCBCT payment).

use chrono::NaiveDate;
use rust_decimal::Decimal;

use crate::account_number;
use crate::currency::Currency;
use crate::member::{Member, Object};
use crate::money::Amount;
use crate::policy::{Amounts, Policy};
use crate::refusal::{Refusal, excerpt};
use crate::shared_types::{account, address, creditor_name, purpose_code, remittance_unstructured};

const REPORTING_CODES: [&str; 16] =
    ["14", "26", "29", "31", "35", "38", "41", "43", "45", "51", "52", "53", "71", "79", "81", "82"];

/// Checks the fields in the order of the document's table, and ignores unknown ones. Returns the amount to
/// pay.
pub(super) fn check(body: &Object<'_>, today: NaiveDate, policy: &Policy) -> Result<Amount, Refusal> {
    let amount = Amount::read(&body.required("instructedAmount")?.object("amount")?, &policy.amounts)?;
    creditor_name(&body.required("creditorName")?)?;
    body.check("creditorAgent", agent)?;
    let is_by_bban_alone = account(&body.required("creditorAccount")?)?;
    if is_by_bban_alone {
        body.required("creditorAgent")?;
    }
    body.check("creditorAddress", address)?;
    account(&body.required("debtorAccount")?)?;
    body.check("remittanceInformationUnstructured", remittance_unstructured)?;
    body.check("purposeCode", purpose_code)?;
    let past = policy.series.past_days("requestedExecutionDate");
    body.check("requestedExecutionDate", |date| date.date_ahead(today, past))?;
    check_reporting(body, amount, &policy.amounts)?;
    Ok(amount)
}

/// Checks `creditorAgent`, which is a "BIC/BICFI/SWIFT code".
fn agent(member: &Member<'_>) -> Result<(), Refusal> {
    let text = member.text()?;
    if !account_number::is_bic(text) {
        return Err(member.refuse("form", format!("expected a BIC, found {}", excerpt(text))));
    }
    Ok(())
}

fn check_reporting(body: &Object<'_>, amount: Amount, policy: &Amounts) -> Result<(), Refusal> {
    // The document gives the threshold in NOK and no exchange rate.
    let hundredths = amount.value_in(Currency::NOK).unwrap_or_default() * Decimal::ONE_HUNDRED;
    let hundredths = policy.reporting_number.keep(hundredths.trunc().mantissa());
    let is_required = hundredths >= policy.reporting_from.into();
    if is_required {
        body.required("regulatoryReportingCode")?;
        body.required("regulatoryReportingInformation")?;
    }
    let is_read = is_required || policy.reads_all_codes;
    if let Some(code) = body.optional("regulatoryReportingCode").filter(|_| is_read) {
        code.listed("ncbct.regulatory-reporting-code.listed", &REPORTING_CODES)?;
    }
    body.check("regulatoryReportingInformation", |text| text.at_most(140, text.non_empty_text()?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::policy::Policy;

    fn valid() -> Value {
        json!({
            "instructedAmount": { "amount": "100000.00", "currency": "NOK" },
            "creditorName": "Synthetic Creditor",
            "creditorAccount": { "iban": "NO1400004200179", "currency": "NOK" },
            "debtorAccount": { "iban": "NO1100004200330", "currency": "NOK" },
            "regulatoryReportingCode": "14",
            "regulatoryReportingInformation": "Machine parts"
        })
    }

    fn today() -> NaiveDate {
        NaiveDate::from_ymd_opt(2030, 1, 31).unwrap()
    }

    /// Returns the rule that rejects the valid body after `change`.
    fn refused_with(policy: &'static Policy, change: impl FnOnce(&mut Value)) -> Option<String> {
        let mut body = valid();
        change(&mut body);
        check(&Object::root(body.as_object().unwrap(), "ncbct"), today(), policy)
            .err()
            .map(|refusal| refusal.rule)
    }

    fn refused(change: impl FnOnce(&mut Value)) -> Option<String> {
        refused_with(Policy::document(), change)
    }

    fn without(name: &str) -> Option<String> {
        refused(|body| {
            body.as_object_mut().unwrap().remove(name).unwrap();
        })
    }

    #[test]
    fn the_valid_body_with_and_without_optional_members() {
        assert_eq!(refused(|_| ()), None);
        let full = refused(|body| {
            body["creditorAgent"] = json!("TESTDEFF");
            body["creditorAddress"] = json!({ "country": "DE" });
            body["remittanceInformationUnstructured"] = json!("Invoice");
            body["purposeCode"] = json!("SUPP");
            body["requestedExecutionDate"] = json!("2030-02-28");
            body["somethingElse"] = json!({ "unknown": [null] });
        });
        assert_eq!(full, None);
    }

    #[test]
    fn required_members() {
        for (name, rule) in [
            ("instructedAmount", "ncbct.instructed-amount.required"),
            ("creditorName", "ncbct.creditor-name.required"),
            ("creditorAccount", "ncbct.creditor-account.required"),
            ("debtorAccount", "ncbct.debtor-account.required"),
            ("regulatoryReportingCode", "ncbct.regulatory-reporting-code.required"),
            ("regulatoryReportingInformation", "ncbct.regulatory-reporting-information.required"),
        ] {
            assert_eq!(without(name).as_deref(), Some(rule));
        }
    }

    #[test]
    fn lengths() {
        let name = |length: usize| refused(|body| body["creditorName"] = json!("ø".repeat(length)));
        assert_eq!(name(70), None);
        assert_eq!(name(71).as_deref(), Some("ncbct.creditor-name.length"));
        assert_eq!(name(0).as_deref(), Some("ncbct.creditor-name.empty"));
        let information = |length: usize| {
            refused(|body| body["regulatoryReportingInformation"] = json!("x".repeat(length)))
        };
        assert_eq!(information(140), None);
        assert_eq!(information(141).as_deref(), Some("ncbct.regulatory-reporting-information.length"));
    }

    #[test]
    fn a_fault_moves_the_threshold() {
        let without = |policy| {
            refused_with(policy, |body| {
                body.as_object_mut().unwrap().remove("regulatoryReportingCode").unwrap();
            })
        };
        assert!(without(Policy::document()).is_some());
        assert_eq!(without(Policy::set(&json!({ "amounts": { "reporting-from": 10_000_001 } }))), None);
    }

    #[test]
    fn amounts_may_be_compared_as_smaller_numbers() {
        let is_demanded = |number: &str, amount: &str| {
            let policy = Policy::set(&json!({ "amounts": { "reporting-number": number } }));
            let change = |body: &mut Value| {
                body["instructedAmount"]["amount"] = json!(amount);
                body.as_object_mut().unwrap().remove("regulatoryReportingCode").unwrap();
            };
            refused_with(policy, change).is_some()
        };
        for (number, demanded) in
            [("any", [true, true, true]), ("signed", [true, false, false]), ("unsigned", [true, true, false])]
        {
            let found = ["150000.00", "30000000.00", "42949700.00"].map(|amount| is_demanded(number, amount));
            assert_eq!(found, demanded, "{number}");
        }
        let unlisted = |amount: &str| {
            refused_with(Policy::set(&json!({ "amounts": { "reads-all-codes": false } })), |body| {
                body["instructedAmount"]["amount"] = json!(amount);
                body["regulatoryReportingCode"] = json!("99");
            })
        };
        assert_eq!(unlisted("5000.00"), None);
        assert!(unlisted("150000.00").is_some());
    }

    #[test]
    fn an_agent_goes_with_a_bban() {
        let by_bban = json!({ "bban": "00004200179", "currency": "NOK" });
        assert_eq!(
            refused(|body| body["creditorAccount"] = by_bban.clone()).as_deref(),
            Some("ncbct.creditor-agent.required")
        );
        let with_agent = |agent: Value| {
            refused(|body| {
                body["creditorAccount"] = by_bban.clone();
                body["creditorAgent"] = agent;
            })
        };
        assert_eq!(with_agent(json!("TESTDEFF")), None);
        assert_eq!(with_agent(json!("")).as_deref(), Some("ncbct.creditor-agent.form"));
        assert_eq!(with_agent(json!(7)).as_deref(), Some("ncbct.creditor-agent.type"));
    }

    #[test]
    fn regulatory_fields_below_the_threshold() {
        let below = |amount: &str, currency: &str| {
            refused(|body| {
                body["instructedAmount"] = json!({ "amount": amount, "currency": currency });
                body.as_object_mut().unwrap().remove("regulatoryReportingCode");
                body.as_object_mut().unwrap().remove("regulatoryReportingInformation");
            })
        };
        assert_eq!(below("99999.99", "NOK"), None);
        assert_eq!(below("100000.00", "EUR"), None);
        assert!(below("100000.00", "NOK").is_some());
    }

    #[test]
    fn values_outside_the_lists() {
        for (name, value, rule) in [
            ("regulatoryReportingCode", json!("15"), "ncbct.regulatory-reporting-code.listed"),
            ("regulatoryReportingCode", json!(14), "ncbct.regulatory-reporting-code.type"),
            ("purposeCode", json!("ABCD"), "purpose-code.listed"),
            ("requestedExecutionDate", json!("2030-02-30"), "ncbct.requested-execution-date.date"),
            ("requestedExecutionDate", json!(null), "ncbct.requested-execution-date.type"),
            ("requestedExecutionDate", json!("2030-01-30"), "ncbct.requested-execution-date.past"),
            ("creditorAgent", json!("TESTDEF"), "ncbct.creditor-agent.form"),
            ("creditorAddress", json!({ "city": "Oslo" }), "address.country.required"),
            ("debtorAccount", json!({ "currency": "NOK" }), "account.identifier"),
        ] {
            assert_eq!(refused(|body| body[name] = value).as_deref(), Some(rule));
        }
    }
}
