//! Changes of the customer list.

use serde::Deserialize;
use serde_json::{Value, json};
use xs2aspec_bank::seed::Seed;

use super::{Call, Outcome};

/// A change of the customer list, or of the created customers in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Listing {
    /// Created customers are missing.
    NoCreated,
    /// Created customers are missing, except the last one.
    LastCreated,
    /// Created corporate customers are missing.
    NoCreatedCompanies,
    /// All created customers have the same name.
    OneName,
    /// All created customers are private.
    AllPrivate,
    /// The last customer is missing in about every second list, depending on the request.
    WithoutLastAtTimes,
    /// About every second list is in reverse order, depending on the request.
    ReversedAtTimes,
}

impl Listing {
    pub(super) fn around(self, call: &Call<'_>, handle: &dyn Fn() -> Outcome) -> Outcome {
        let mut outcome = handle()?;
        if let Value::Array(customers) = &mut outcome.1 {
            self.arrange(customers, call.request.origin().count_ones() % 2 == 1);
        }
        Ok(outcome)
    }

    fn arrange(self, customers: &mut Vec<Value>, is_turn: bool) {
        // The seed data come first, followed by created customers.
        let own = Seed::built_in().customers.len().min(customers.len());
        let mut created = customers.split_off(own);
        match self {
            Self::NoCreated => created.clear(),
            Self::LastCreated => drop(created.drain(..created.len().saturating_sub(1))),
            Self::NoCreatedCompanies => created.retain(|one| one["customerType"] != "CORPORATE"),
            Self::OneName => created.iter_mut().for_each(|one| one["customerName"] = json!("Customer")),
            Self::AllPrivate => created.iter_mut().for_each(|one| one["customerType"] = json!("PRIVATE")),
            Self::WithoutLastAtTimes | Self::ReversedAtTimes => {}
        }
        customers.append(&mut created);
        match self {
            Self::WithoutLastAtTimes if is_turn => drop(customers.pop()),
            Self::ReversedAtTimes if is_turn => customers.reverse(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn customers_that_were_created_are_told_from_the_others() {
        let customer = |name: &str, kind: &str| json!({ "customerName": name, "customerType": kind });
        let all = [
            customer("a", "PRIVATE"),
            customer("b", "CORPORATE"),
            customer("c", "CORPORATE"),
            customer("d", "PRIVATE"),
        ];
        let names = |listing: Listing, is_turn| {
            let mut customers = all.to_vec();
            listing.arrange(&mut customers, is_turn);
            customers.iter().filter_map(|one| one["customerName"].as_str()).collect::<Vec<_>>().join("")
        };
        for (listing, expected) in [
            (Listing::NoCreated, "ab"),
            (Listing::LastCreated, "abd"),
            (Listing::NoCreatedCompanies, "abd"),
            (Listing::OneName, "abCustomerCustomer"),
            (Listing::AllPrivate, "abcd"),
            (Listing::WithoutLastAtTimes, "abcd"),
            (Listing::ReversedAtTimes, "abcd"),
        ] {
            assert_eq!(names(listing, false), expected, "{listing:?}");
        }
        assert_eq!(names(Listing::WithoutLastAtTimes, true), "abc");
        assert_eq!(names(Listing::ReversedAtTimes, true), "dcba");
    }
}
