//! The sandbox customers (the document, section Endpoints > Get sandbox customers).

use std::sync::Arc;

use serde_json::{Value, json};

use super::link;
use super::query::Flags;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::seed::{Account, Agreement, Customer};
use crate::state::State;

/// Lists all customers. The arrays are always present. A parameter that is `false` empties its own array.
pub(super) fn list(state: &State, query: &Flags, policy: &Policy) -> Value {
    let ignored = &policy.customers.ignored_parameters;
    let includes =
        |parameter| query.flag(parameter) != Some(false) || ignored.iter().any(|name| name == parameter);
    let (with_accounts, with_agreements) = (includes("withAccounts"), includes("withAgreements"));
    let customers = state.customers().into_iter().map(|(customer, accounts)| {
        let accounts = if with_accounts { accounts.as_slice() } else { &[] };
        show(&customer, accounts, with_agreements)
    });
    customers.collect()
}

/// Returns a customer with these accounts.
pub(super) fn show(customer: &Customer, accounts: &[Arc<Account>], with_agreements: bool) -> Value {
    let href = format!("{}/{}", Operation::Customers.route(), customer.id);
    let agreements = if with_agreements { customer.agreements.as_slice() } else { &[] };
    json!({
        "customerId": customer.id,
        "customerNumber": customer.number,
        "customerType": customer.kind,
        "customerName": customer.name,
        "agreements": agreements.iter().map(|agreement| show_agreement(agreement, &href)).collect::<Vec<_>>(),
        "accounts": accounts.iter().map(|account| &*account.bban).collect::<Vec<_>>(),
        "cardAccounts": customer.card_accounts,
        "_links": { "self": link(&href, &["GET"]) }
    })
}

fn show_agreement(agreement: &Agreement, customer: &str) -> Value {
    let href = format!("{customer}/agreements/{}", agreement.id);
    json!({
        "id": agreement.id,
        "name": agreement.name,
        "engagements": agreement.engagements,
        "_links": {
            "self": link(&href, &["GET"]),
            "engagements": link(&format!("{href}/engagements"), &["GET"])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::query;
    use super::*;
    use crate::policy::Policy;
    use crate::seed::Seed;

    fn listed(query: &str) -> Value {
        listed_by(Policy::document(), query)
    }

    fn listed_by(policy: &'static Policy, query: &str) -> Value {
        let bank = State::new(0, &Seed::built_in(), chrono::NaiveDate::default());
        let uri = format!("/v1/sandbox/customers{query}").parse().unwrap();
        list(&bank, &query::check(&uri, Operation::Customers, &Policy::default()).unwrap(), policy)
    }

    #[test]
    fn parameters_empty_the_arrays_and_leave_them_there() {
        let counts = |query| {
            let customer = &listed(query)[1];
            let count = |name: &str| customer[name].as_array().unwrap().len();
            (count("accounts"), count("cardAccounts"), count("agreements"))
        };
        assert_eq!(counts(""), (2, 0, 2));
        assert_eq!(counts("?withAccounts=true&withAgreements=true"), (2, 0, 2));
        assert_eq!(counts("?withAccounts=false"), (0, 0, 2));
        assert_eq!(counts("?withAgreements=false"), (2, 0, 0));
        let private = &listed("?withAccounts=false")[0];
        assert_eq!((&private["accounts"], &private["cardAccounts"]), (&json!([]), &json!(["card-0001"])));
    }

    #[test]
    fn parameters_that_a_bank_does_not_look_at() {
        let policy = Policy::set(&json!({ "customers": { "ignored-parameters": ["withAccounts"] } }));
        let customer = &listed_by(policy, "?withAccounts=false&withAgreements=false")[1];
        let counts = ["accounts", "agreements"].map(|name| customer[name].as_array().unwrap().len());
        assert_eq!(counts, [2, 0]);
    }

    #[test]
    fn both_kinds_are_listed_with_their_links() {
        let customers = listed("");
        assert_eq!(customers[0]["customerType"], "PRIVATE");
        assert_eq!(customers[1]["customerType"], "CORPORATE");
        assert_eq!(customers[0]["_links"]["self"]["href"], "/v1/sandbox/customers/customer-0001");
        assert_eq!(customers[1]["agreements"][0]["_links"]["engagements"]["verbs"], json!(["GET"]));
    }
}
