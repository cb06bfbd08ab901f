//! The settings of the bank, by subject. The default of each is what the document says. Where the document is
//! silent, it is the choice that README.md lists.

mod amounts;
mod baskets;
pub(crate) mod certificate;
mod consents;
mod customers;
pub(crate) mod digest;
mod headers;
mod payments;
mod psu;
mod query;
mod references;
mod series;
pub(crate) mod signature;
mod transactions;
mod twins;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use amounts::Amounts;
pub use baskets::{BasketStatus, Baskets, Looked};
pub use headers::{FieldNames, Headers};
pub(crate) use payments::{Ids, WithoutFunds};
pub(crate) use psu::{Corporate, Identification};
pub(crate) use query::Query;
pub(crate) use references::{References, Taken};
pub(crate) use series::Series;
pub(crate) use twins::{Compared, Twins};

/// All settings of the bank.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub struct Policy {
    /// Request headers: presence and format (section Endpoints > Common request headers).
    pub headers: Headers,
    /// Query parameters.
    pub(crate) query: Query,
    /// The Digest header (section Authentication).
    pub(crate) digest: digest::Digest,
    /// The TPP-Signature-Certificate header (section Authentication).
    pub(crate) certificate: certificate::Certificate,
    /// The Signature header (section Authentication).
    pub(crate) signature: signature::Signature,
    /// Identification of the PSU and its corporate agreement (section Endpoints > Common request headers).
    pub(crate) psu: Identification,
    /// Amounts and regulatory reporting (section Resources > Shared types).
    pub(crate) amounts: Amounts,
    /// Days and months (section Endpoints > Create periodic NDCT payment).
    pub(crate) series: Series,
    /// Logical duplicates (section Endpoints > Create NCBCT payment).
    pub(crate) twins: Twins,
    /// Payment references (KID), which some creditors require (section Errors).
    pub(crate) references: References,
    /// Creation, visibility and funds of payments (section Resources > Payment creation response, section
    /// Errors).
    pub(crate) payments: payments::Payments,
    /// Signing baskets (section Endpoints > Create payments signing basket).
    pub baskets: Baskets,
    /// The customers of the sandbox (section Endpoints > Get sandbox customers).
    pub(crate) customers: customers::Customers,
    /// Transactions of an account (section Endpoints > Get transaction details).
    pub(crate) transactions: transactions::Transactions,
    /// Consents and unattended calls (section Limits).
    pub(crate) consents: consents::Consents,
}

impl Policy {
    /// Returns the policy of the document, in which each setting has its default.
    pub fn document() -> &'static Self {
        static DOCUMENT: LazyLock<Policy> = LazyLock::new(Policy::default);
        &DOCUMENT
    }

    /// Merges settings into a policy. The first value of a setting counts, and lists are concatenated.
    ///
    /// # Errors
    ///
    /// Fails if a setting is unknown or has an invalid value.
    pub fn with(settings: impl IntoIterator<Item = &'static Value>) -> serde_json::Result<Self> {
        let mut all = Value::Object(Map::new());
        settings.into_iter().for_each(|settings| add(&mut all, settings));
        // Policies are few, so their strings may live as long as the process.
        let all: &'static Value = Box::leak(Box::new(all));
        Self::deserialize(all)
    }

    #[cfg(test)]
    pub(crate) fn set(settings: &Value) -> &'static Self {
        let policy = Self::with([&*Box::leak(Box::new(settings.clone()))]);
        Box::leak(Box::new(policy.unwrap()))
    }
}

/// Adds the settings that do not have a value yet.
fn add(all: &mut Value, settings: &Value) {
    match (all, settings) {
        (Value::Object(all), Value::Object(settings)) => {
            for (name, setting) in settings {
                match all.get_mut(name) {
                    Some(known) => add(known, setting),
                    None => drop(all.insert(name.clone(), setting.clone())),
                }
            }
        }
        (Value::Array(all), Value::Array(settings)) => all.extend(settings.iter().cloned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(settings: &[Value]) -> serde_json::Result<Policy> {
        Policy::with(settings.to_vec().leak().iter())
    }

    #[test]
    fn the_first_setting_counts() {
        let (one, two) =
            (json!({ "baskets": { "limit": 9 } }), json!({ "baskets": { "limit": 11, "mix": "first" } }));
        let both = policy(&[one, two]).unwrap();
        assert_eq!((both.baskets.limit, both.baskets.mix), (9, Looked::First));
        assert_eq!(policy(&[]).unwrap().baskets.limit, 10);
    }

    #[test]
    fn settings_that_are_none_are_named() {
        for (settings, says) in [
            (json!({ "basket": {} }), "unknown field `basket`"),
            (json!({ "baskets": { "limits": 1 } }), "unknown field `limits`"),
            (json!({ "baskets": { "mix": "some" } }), "unknown variant `some`"),
        ] {
            let error = policy(&[settings]).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
