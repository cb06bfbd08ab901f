//! Types that request bodies share: `AccountReference`, `Address`, `PurposeCode` and remittance information
//! (the document, section Resources > Shared types).

use crate::account_number;
use crate::country;
use crate::member::{Member, Object};
use crate::money;
use crate::refusal::{Refusal, excerpt};

/// Checks an `AccountReference` of a request body, in which currency is required. Returns true if only its
/// bban identifies the account.
pub(crate) fn account(member: &Member<'_>) -> Result<bool, Refusal> {
    let account = member.object("account")?;
    let international = account_number(&account, "iban", 34)?;
    if let Some(iban) = &international
        && !account_number::has_check_digits(iban.text()?)
    {
        let says = "expected an iban with valid check digits (ISO 13616-1), found another";
        return Err(Refusal::format("account.iban.check-digits", says).at(iban.path()));
    }
    let domestic = account_number(&account, "bban", 30)?;
    money::currency(&account)?;
    if international.is_none() && domestic.is_none() {
        let says = "expected iban or bban to identify the account, found neither";
        return Err(Refusal::format("account.identifier", says).at(account.path()));
    }
    Ok(international.is_none())
}

/// Checks an `Address`.
pub(crate) fn address(member: &Member<'_>) -> Result<(), Refusal> {
    let address = member.object("address")?;
    address.check("street", |street| street.at_most(70, street.text()?))?;
    for name in ["buildingNumber", "postalCode", "city"] {
        address.check(name, Member::text)?;
    }
    let country = address.required("country")?;
    let code = country.text()?;
    if !country::is_listed(code) {
        let says = format!("expected a listed ISO 3166-1 alpha-2 code, found {}", excerpt(code));
        return Err(Refusal::format("country.listed", says).at(country.path()));
    }
    Ok(())
}

/// Checks a `PurposeCode`. The list is closed.
pub(crate) fn purpose_code(member: &Member<'_>) -> Result<(), Refusal> {
    member.listed("purpose-code.listed", &PURPOSE_CODES).map(drop)
}

/// Checks `creditorName`: not empty, at most 70 characters.
pub(crate) fn creditor_name(member: &Member<'_>) -> Result<(), Refusal> {
    member.at_most(70, member.non_empty_text()?)
}

/// Checks `remittanceInformationUnstructured`: not empty, at most 140 characters.
pub(crate) fn remittance_unstructured(member: &Member<'_>) -> Result<(), Refusal> {
    member.at_most(140, member.non_empty_text()?)
}

const PURPOSE_CODES: [&str; 14] = [
    "INVS", "SALA", "IDCP", "CASH", "CORT", "INTC", "PENS", "SSBE", "SUPP", "TAXS", "TREA", "VATX", "LOAN",
    "OTHR",
];

/// Returns the iban or bban of an account reference, if it has one.
fn account_number<'a>(account: &Object<'a>, name: &str, limit: usize) -> Result<Option<Member<'a>>, Refusal> {
    let Some(number) = account.optional(name) else { return Ok(None) };
    number.at_most(limit, number.non_empty_text()?)?;
    Ok(Some(number))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check<T>(value: &Value, check: impl Fn(&Member<'_>) -> Result<T, Refusal>) -> Result<T, String> {
        let body = json!({ "it": value });
        let member = Object::root(body.as_object().unwrap(), "ncbct").required("it").unwrap();
        check(&member).map_err(|refusal| refusal.rule)
    }

    #[test]
    fn accounts_have_one_number_and_a_currency() {
        let of = |value| check(&value, account);
        let iban = "NO6100004200594";
        let longest = "XK83123456789012345678901234567890";
        assert_eq!(of(json!({ "iban": longest, "currency": "NOK" })), Ok(false));
        assert_eq!(of(json!({ "bban": "x".repeat(30), "currency": "NOK" })), Ok(true));
        assert_eq!(of(json!({ "iban": iban, "bban": "y", "currency": "NOK" })), Ok(false));
        for (value, rule) in [
            (json!({ "iban": "x".repeat(35), "currency": "NOK" }), "account.iban.length"),
            (json!({ "iban": "NO6200004200594", "currency": "NOK" }), "account.iban.check-digits"),
            (json!({ "bban": "x".repeat(31), "currency": "NOK" }), "account.bban.length"),
            (json!({ "bban": "", "currency": "NOK" }), "account.bban.empty"),
            (json!({ "bban": 12345, "currency": "NOK" }), "account.bban.type"),
            (json!({ "bban": "12345" }), "account.currency.required"),
            (json!({ "bban": "12345", "currency": "XXX" }), "currency.listed"),
            (json!({ "currency": "NOK" }), "account.identifier"),
            (json!("NO1400004200179"), "ncbct.it.type"),
        ] {
            assert_eq!(of(value).unwrap_err(), rule);
        }
    }

    #[test]
    fn addresses_have_a_listed_country() {
        let of = |value| check(&value, address);
        assert_eq!(of(json!({ "country": "NO", "street": "å".repeat(70), "city": "Oslo" })), Ok(()));
        for (value, rule) in [
            (json!({ "street": "x" }), "address.country.required"),
            (json!({ "country": "XX" }), "country.listed"),
            (json!({ "country": "NOR" }), "country.listed"),
            (json!({ "country": "NO", "street": "x".repeat(71) }), "address.street.length"),
            (json!({ "country": "NO", "city": 1 }), "address.city.type"),
            (json!([]), "ncbct.it.type"),
        ] {
            assert_eq!(of(value).unwrap_err(), rule);
        }
    }

    #[test]
    fn purpose_codes_are_listed() {
        assert_eq!(check(&json!("SALA"), purpose_code), Ok(()));
        for value in [json!("SALX"), json!("sala"), json!("")] {
            assert_eq!(check(&value, purpose_code).unwrap_err(), "purpose-code.listed");
        }
        assert_eq!(check(&json!(1), purpose_code).unwrap_err(), "ncbct.it.type");
    }

    #[test]
    fn remittance_texts_have_1_to_140_characters() {
        assert_eq!(check(&json!("x"), remittance_unstructured), Ok(()));
        assert_eq!(check(&json!("x".repeat(140)), remittance_unstructured), Ok(()));
        assert_eq!(check(&json!("x".repeat(141)), remittance_unstructured).unwrap_err(), "ncbct.it.length");
        assert_eq!(check(&json!(""), remittance_unstructured).unwrap_err(), "ncbct.it.empty");
    }
}
