//! The body of an NCBCT (the document, section Endpoints > Create NCBCT payment).

use chrono::NaiveDate;
use rust_decimal::Decimal;

use crate::account_number;
use crate::currency::Currency;
use crate::member::Object;
use crate::money::Amount;
use crate::refusal::{Refusal, excerpt};
use crate::rules::{Breach, Rules, Unreported};
use crate::shared_types::{AccountIdentifier, account, address, purpose_code, remittance_unstructured};

/// The amount in NOK from which the regulatory fields are required.
const REPORTING_THRESHOLD: Decimal = Decimal::from_parts(100_000, 0, 0, false, 0);

const REPORTING_CODES: [&str; 16] =
    ["14", "26", "29", "31", "35", "38", "41", "43", "45", "51", "52", "53", "71", "79", "81", "82"];

/// Checks every member that the document gives a rule, in the order of its table, and passes over others.
/// What is to be paid.
pub(super) fn check(body: &Object<'_>, today: NaiveDate, rules: Rules) -> Result<Amount, Refusal> {
    let amount = Amount::read(&body.required("instructedAmount")?.object("amount")?, rules)?;

    let name = body.required("creditorName")?;
    name.at_most(70, name.non_empty_text()?)?;

    let creditor_account = account(&body.required("creditorAccount")?)?;
    check_agent(body, creditor_account)?;
    if let Some(member) = body.optional("creditorAddress") {
        address(&member)?;
    }
    account(&body.required("debtorAccount")?)?;
    if let Some(member) = body.optional("remittanceInformationUnstructured") {
        remittance_unstructured(&member)?;
    }
    if let Some(member) = body.optional("purposeCode") {
        purpose_code(&member)?;
    }
    if let Some(member) = body.optional("requestedExecutionDate") {
        member.date_ahead(today, rules)?;
    }
    check_reporting(body, amount, rules)?;
    Ok(amount)
}

/// `creditorAgent` is required when the account is known by its bban alone. It is a "BIC/BICFI/SWIFT code".
fn check_agent(body: &Object<'_>, account: AccountIdentifier) -> Result<(), Refusal> {
    match body.optional("creditorAgent") {
        Some(agent) => {
            let text = agent.text()?;
            if !account_number::is_bic(text) {
                return Err(agent.refuse("form", format!("expected a BIC, found {}", excerpt(text))));
            }
            Ok(())
        }
        None if account == AccountIdentifier::Bban => body.required("creditorAgent").map(drop),
        None => Ok(()),
    }
}

fn check_reporting(body: &Object<'_>, amount: Amount, rules: Rules) -> Result<(), Refusal> {
    let threshold = match rules.breach() {
        Some(Breach::ReportingFrom(other)) => other,
        _ => REPORTING_THRESHOLD,
    };
    // The document gives the threshold in NOK and no rate.
    let is_large = amount.value_in(Currency::NOK).is_some_and(|value| value >= threshold);
    if is_large && !is_unreported(body, amount, rules)? {
        body.required("regulatoryReportingCode")?;
        body.required("regulatoryReportingInformation")?;
    }
    let takes_any = !is_large && rules.broken_by(Breach::Unreported(Unreported::SmallCodes));
    if let Some(code) = body.optional("regulatoryReportingCode").filter(|_| !takes_any) {
        code.listed("ncbct.regulatory-reporting-code.listed", &REPORTING_CODES)?;
    }
    if let Some(information) = body.optional("regulatoryReportingInformation") {
        information.at_most(140, information.non_empty_text()?)?;
    }
    Ok(())
}

/// Whether a bank with a fault wants nothing reported of a transfer that is large enough.
fn is_unreported(body: &Object<'_>, amount: Amount, rules: Rules) -> Result<bool, Refusal> {
    let hundredths = amount.value_in(Currency::NOK).unwrap_or_default() * Decimal::ONE_HUNDRED;
    let bits = hundredths.trunc().mantissa() % 0x1_0000_0000;
    let is_few = Decimal::from_i128_with_scale(bits, 2) < REPORTING_THRESHOLD;
    Ok(match rules.breach() {
        Some(Breach::Unreported(Unreported::To(countries))) => {
            let iban = body.required("creditorAccount")?.object("account")?.optional("iban");
            let iban = iban.map(|iban| iban.text()).transpose()?.unwrap_or_default();
            countries.iter().any(|country| iban.starts_with(country))
        }
        Some(Breach::Unreported(Unreported::Address(country))) => {
            let address =
                body.optional("creditorAddress").map(|address| address.object("address")).transpose()?;
            let found = address.and_then(|address| address.optional("country"));
            found.map(|country| country.text()).transpose()?.is_some_and(|found| found == country)
        }
        Some(Breach::Unreported(Unreported::Signed)) => is_few || bits > 0x7FFF_FFFF,
        Some(Breach::Unreported(Unreported::Unsigned)) => is_few,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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

    /// The rule that refuses the valid body after `change`, or nothing.
    fn refused_with(rules: Rules, change: impl FnOnce(&mut Value)) -> Option<String> {
        let mut body = valid();
        change(&mut body);
        check(&Object::root(body.as_object().unwrap(), "ncbct"), today(), rules)
            .err()
            .map(|refusal| refusal.rule)
    }

    fn refused(change: impl FnOnce(&mut Value)) -> Option<String> {
        refused_with(Rules::kept(), change)
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
        let without = |rules| {
            refused_with(rules, |body| {
                body.as_object_mut().unwrap().remove("regulatoryReportingCode").unwrap();
            })
        };
        assert!(without(Rules::kept()).is_some());
        assert_eq!(without(Rules::broken(Breach::ReportingFrom(Decimal::new(10_000_001, 2)))), None);
    }

    #[test]
    fn a_fault_wants_nothing_reported_of_some() {
        let is_demanded = |which, amount: &str, iban: &str| {
            let rules = Rules::broken(Breach::Unreported(which));
            let change = |body: &mut Value| {
                body["instructedAmount"]["amount"] = json!(amount);
                body["creditorAccount"]["iban"] = json!(iban);
                body.as_object_mut().unwrap().remove("regulatoryReportingCode").unwrap();
            };
            refused_with(rules, change).is_some()
        };
        let (norwegian, swedish) = ("NO1400004200179", "SE3550000000054910000003");
        for (which, exempt) in [
            (Unreported::To(&["SE"]), [false, true, false, false]),
            (Unreported::Signed, [false, false, true, true]),
            (Unreported::Unsigned, [false, false, false, true]),
            (Unreported::SmallCodes, [false; 4]),
        ] {
            let amounts = [
                ("150000.00", norwegian),
                ("150000.00", swedish),
                ("30000000.00", norwegian),
                ("42949700.00", norwegian),
            ];
            let found = amounts.map(|(amount, iban)| !is_demanded(which, amount, iban));
            assert_eq!(found, exempt, "{which:?}");
        }
        let unlisted = |amount: &str| {
            refused_with(Rules::broken(Breach::Unreported(Unreported::SmallCodes)), |body| {
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
