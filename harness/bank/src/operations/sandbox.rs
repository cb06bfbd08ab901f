//! Test data of the sandbox: customers, accounts, booked transactions and balances. The document only
//! mentions these operations, so their bodies and responses are this bank's choice.

use serde_json::{Map, Value, json};

use super::transaction::unknown_account;
use super::{Context, customers, link};
use crate::currency::Currency;
use crate::member::{Member, Object};
use crate::money::{self, currency};
use crate::policy::Amounts;
use crate::refusal::{Refusal, excerpt};
use crate::seed::{Account, Agreement, Customer, CustomerType};
use crate::shared_types;

/// Creates a customer (`POST /v1/sandbox/customers`). The response is the customer as in the customer list,
/// with the PSU-ID of its PSU.
pub(super) fn create_customer(context: &Context, body: &Object<'_>, origin: u64) -> Result<Value, Refusal> {
    let number = body.required("customerNumber")?;
    let is_number =
        |text: &str| matches!(text.len(), 9 | 11) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(number.text()?) {
        return Err(number.refuse("form", "expected 11 digits (person) or 9 (organization), found neither"));
    }
    let kind = body.required("customerType")?;
    let kind = match kind.listed("customers.customer-type.listed", &["PRIVATE", "CORPORATE"])? {
        "CORPORATE" => CustomerType::Corporate,
        _ => CustomerType::Private,
    };
    let mut agreements = Vec::new();
    for member in body.optional("agreements").map_or(Ok(vec![]), |list| list.items())? {
        let name = member.object("agreement")?.required("name")?;
        agreements.push(Agreement {
            id: String::new(),
            name: name.non_empty_text()?.to_owned(),
            engagements: vec![],
        });
    }
    let customer = Customer {
        id: String::new(),
        number: number.text()?.to_owned(),
        kind,
        name: body.required("customerName")?.non_empty_text()?.to_owned(),
        agreements,
        card_accounts: vec![],
    };
    let (customer, psu_id) = context.state.create_customer(customer, origin).ok_or_else(|| {
        let says = "expected an unused customer number, found a used one";
        Refusal::conflict("customers.customer-number.new", says).at(number.path())
    })?;
    let mut shown = customers::show(&customer, &[], true);
    shown["psuId"] = psu_id.into();
    Ok(shown)
}

/// Creates an account of the customer in the path.
pub(super) fn create_account(
    context: &Context,
    owner: Option<&String>,
    body: &Object<'_>,
    origin: u64,
) -> Result<Value, Refusal> {
    let currency = currency(body)?;
    let balance = body.optional("balance").map(|member| balance(&member, currency)).transpose()?;
    let today = context.clock.today();
    let account =
        owner.and_then(|owner| context.state.create_account(owner, currency, balance, today, origin));
    let unknown = || Refusal::unknown("customers.customer-id.known", "customerId", "a customer of this bank");
    account.map(|account| show(&account)).ok_or_else(unknown)
}

/// Sets the balance of the account in the path.
pub(super) fn set_balance(
    context: &Context,
    id: Option<&String>,
    body: &Object<'_>,
) -> Result<Value, Refusal> {
    let account = id.and_then(|id| context.state.account(id)).ok_or_else(unknown_account)?;
    let balance = balance(&body.required("balance")?, account.currency())?;
    let account = context.state.set_balance(&account.resource_id, balance).ok_or_else(unknown_account)?;
    Ok(show(&account))
}

/// The fields that a booked transaction may have: those of transaction details (the document, section
/// Resources) that apply to a single transfer.
const BOOKED: [&str; 9] = [
    "transactionAmount",
    "bookingDate",
    "valueDate",
    "creditorName",
    "creditorAccount",
    "debtorName",
    "debtorAccount",
    "endToEndId",
    "remittanceInformationUnstructured",
];

/// Books a transaction on the account in the path. The amount is required, and the bank chooses the id.
pub(super) fn book(
    context: &Context,
    id: Option<&String>,
    mut members: Map<String, Value>,
    origin: u64,
) -> Result<Value, Refusal> {
    if let Some(name) = members.keys().find(|name| !BOOKED.contains(&name.as_str())) {
        let says = format!("expected {}, found {}", BOOKED.join(", "), excerpt(name));
        return Err(Refusal::format("transaction.members", says).at(""));
    }
    let body = Object::root(&members, "transaction");
    money::Amount::read(&body.required("transactionAmount")?.object("amount")?, &Amounts::default())?;
    for name in ["bookingDate", "valueDate"] {
        body.check(name, Member::date)?;
    }
    for name in ["creditorAccount", "debtorAccount"] {
        body.check(name, shared_types::account)?;
    }
    for (name, limit) in [
        ("creditorName", 70),
        ("debtorName", 70),
        ("endToEndId", 35),
        ("remittanceInformationUnstructured", 140),
    ] {
        body.check(name, |member| member.at_most(limit, member.text()?))?;
    }
    let today = context.clock.today().to_string();
    members.entry("bookingDate").or_insert_with(|| today.into());
    let known = id.and_then(|id| Some((id, context.state.book(id, members, origin)?)));
    let (account, booked) = known.ok_or_else(unknown_account)?;
    let href = format!("/v1/accounts/{account}/transactions/{booked}");
    Ok(json!({ "transactionId": booked, "_links": { "transactionDetails": link(&href, &["GET"]) } }))
}

/// Reads a balance: a decimal with at most as many fraction digits as its currency has.
fn balance(member: &Member<'_>, currency: Currency) -> Result<String, Refusal> {
    let wrong = || member.refuse("form", "expected a decimal with the digits of its currency");
    money::balance(member.text()?, currency).map(|balance| balance.to_string()).ok_or_else(wrong)
}

fn show(account: &Account) -> Value {
    let mut shown = json!({
        "resourceId": account.resource_id,
        "iban": account.iban,
        "bban": account.bban,
        "currency": account.currency,
        "_links": { "transactions": link(&format!("/v1/accounts/{}/transactions", account.resource_id), &["GET"]) }
    });
    if let Some(balance) = &account.balance {
        shown["balance"] = json!({ "amount": balance, "currency": account.currency });
    }
    shown
}
