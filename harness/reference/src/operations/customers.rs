//! The sandbox customers (the document, section Endpoints > Get sandbox customers).

use std::sync::Arc;

use serde_json::{Value, json};

use super::link;
use super::query::Flags;
use crate::operation::Operation;
use crate::rules::{Breach, FlagBreach as F, Rules, StateBreach, Variance};
use crate::seed::{Account, Agreement, Customer, CustomerType, Seed};
use crate::state::State;

/// Lists every customer. The arrays are always there; a parameter that is false empties its own and no other.
pub(super) fn list(state: &State, query: &Flags, rules: Rules, origin: u64) -> Value {
    let (accounts, agreements) = (query.flag("withAccounts"), query.flag("withAgreements"));
    let broken = |breach| rules.broken_by(Breach::Flags(breach));
    let with_accounts = (accounts.unwrap_or(true) || broken(F::AccountsAlways))
        && !(broken(F::AccountsNever) && accounts.is_some())
        && !(broken(F::AccountsWithAgreements) && agreements == Some(false));
    let with_agreements = (agreements.unwrap_or(true) || broken(F::AgreementsAlways))
        && !(broken(F::AgreementsNever) && agreements.is_some())
        && !(broken(F::AgreementsWithAccounts) && accounts == Some(false));
    let breach = rules.state_breach();
    // The bank began with these; the others were created.
    let is_hidden = match breach {
        Some(StateBreach::CreatedNotListed) => true,
        Some(StateBreach::CreatedWithAccounts) => !with_accounts,
        _ => false,
    };
    let own = Seed::built_in().customers.len();
    let listed = if is_hidden { own } else { usize::MAX };
    let known = state.customers();
    let last = known.len().saturating_sub(1);
    let is_listed = |at: usize, customer: &Customer| match breach {
        Some(StateBreach::LastCreatedAlone) => at < own || at == last,
        Some(StateBreach::CompaniesNotListed) => at < own || customer.kind != CustomerType::Corporate,
        _ => true,
    };
    let known = known.into_iter().enumerate();
    let known = known.filter(|(at, (customer, _))| is_listed(*at, customer)).take(listed);
    let customers = known.map(|(at, (customer, accounts))| {
        let mut customer = Customer::clone(&customer);
        match breach {
            Some(StateBreach::CreatedUnnamed) if at >= own => "Customer".clone_into(&mut customer.name),
            Some(StateBreach::CreatedPrivate) if at >= own => customer.kind = CustomerType::Private,
            _ => {}
        }
        if with_accounts {
            let mut shown = show(&customer, &accounts, with_agreements);
            if breach == Some(StateBreach::CardsWithAgreements) && !with_agreements {
                shown["cardAccounts"] = json!([]);
            }
            return shown;
        }
        let mut shown = show(&customer, &[], with_agreements);
        if breach == Some(StateBreach::EngagementsWithAccounts) {
            for agreement in shown["agreements"].as_array_mut().into_iter().flatten() {
                agreement["engagements"] = json!([]);
            }
        }
        if rules.varied_by(Variance::CardsWithAccounts) {
            shown["cardAccounts"] = json!([]);
        }
        shown
    });
    let mut customers: Vec<Value> = customers.collect();
    if is_turn(origin) && breach == Some(StateBreach::LastLeftOut) {
        customers.pop();
    }
    Value::Array(customers)
}

/// Whether the id of a request puts it into the half of all requests that some banks answer otherwise.
pub(super) fn is_turn(origin: u64) -> bool {
    origin.count_ones() % 2 == 1
}

/// A customer with these accounts.
pub(super) fn show(customer: &Customer, accounts: &[Arc<Account>], with_agreements: bool) -> Value {
    let href = format!("{}/{}", Operation::Customers.route(), customer.id);
    let agreements = if with_agreements { customer.agreements.as_slice() } else { &[] };
    json!({
        "customerId": customer.id,
        "customerNumber": customer.number,
        "customerType": customer.kind.text(),
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
    use crate::seed::Seed;

    fn listed(query: &str) -> Value {
        listed_by(Rules::kept(), query)
    }

    fn listed_by(rules: Rules, query: &str) -> Value {
        let bank = State::new(0, &Seed::built_in(), chrono::NaiveDate::default());
        let uri = format!("/v1/sandbox/customers{query}").parse().unwrap();
        list(&bank, &query::check(&uri, Operation::Customers, Rules::kept()).unwrap(), rules, 0)
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
        let varied = &listed_by(Rules::varied(Variance::CardsWithAccounts), "?withAccounts=false")[0];
        assert_eq!(varied["cardAccounts"], json!([]));
    }

    #[test]
    fn faults_of_the_parameters() {
        let counts = |breach, query| {
            let customer = &listed_by(Rules::broken(Breach::Flags(breach)), query)[1];
            ["accounts", "agreements"].map(|name| customer[name].as_array().unwrap().len())
        };
        for (breach, query, expected) in [
            (F::AccountsAlways, "?withAccounts=false", [2, 2]),
            (F::AgreementsAlways, "?withAgreements=false", [2, 2]),
            (F::AccountsNever, "?withAccounts=true", [0, 2]),
            (F::AgreementsNever, "?withAgreements=true", [2, 0]),
            (F::AgreementsWithAccounts, "?withAccounts=false", [0, 0]),
            (F::AccountsWithAgreements, "?withAgreements=false", [0, 0]),
        ] {
            assert_eq!(counts(breach, query), expected, "{breach:?}");
            assert_eq!(counts(breach, ""), [2, 2], "{breach:?}");
        }
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
