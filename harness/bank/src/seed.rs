//! Seed data: PSUs, customers, accounts, booked transactions and earlier payments. `seed.json` is the
//! built-in data, all of it made up. A user can provide another file.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::money;
use crate::operation::Product;
use crate::status::Status;

/// The data that a bank starts with.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seed {
    pub(crate) psus: Vec<Psu>,
    /// The customers of the sandbox.
    pub customers: Vec<Customer>,
    pub(crate) accounts: Vec<Account>,
    #[serde(default)]
    pub(crate) transactions: Vec<Transaction>,
    #[serde(default)]
    pub(crate) payments: Vec<EarlierPayment>,
}

/// A PSU that requests can name.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Psu {
    /// PSU-ID, a UUID.
    #[serde(rename = "psuId")]
    pub(crate) id: String,
    /// The national identity number, for X-PSU-IDENTITY.
    pub(crate) identity: String,
    /// True for a corporate user, who always acts under an agreement.
    #[serde(default)]
    pub(crate) is_corporate: bool,
}

/// A customer of the sandbox (the document, section Resources > Sandbox customer).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Customer {
    #[serde(rename = "customerId")]
    pub(crate) id: String,
    /// The identifier for SCA: a person number or an organization number.
    #[serde(rename = "customerNumber")]
    pub(crate) number: String,
    #[serde(rename = "customerType")]
    pub(crate) kind: CustomerType,
    #[serde(rename = "customerName")]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) agreements: Vec<Agreement>,
    #[serde(default)]
    pub(crate) card_accounts: Vec<String>,
}

/// Private or corporate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum CustomerType {
    Private,
    Corporate,
}

/// An agreement of a corporate customer. Its id is a value of PSU-Corporate-ID.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agreement {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) engagements: Vec<String>,
}

/// An account at this bank.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Account {
    /// The `{id}` of account paths.
    pub(crate) resource_id: String,
    /// The id of its customer.
    pub(crate) owner: String,
    pub(crate) iban: String,
    pub(crate) bban: String,
    pub(crate) currency: String,
    /// The amount that can be paid from it, as a decimal. Without a balance, any amount can be paid.
    pub(crate) balance: Option<String>,
    /// The age of the PSU's consent, with SCA, on the day the bank opens, in days. Negative if it is given
    /// later.
    #[serde(default)]
    pub(crate) consent_days: i64,
}

impl Account {
    /// Returns the currency. [`Seed::read`] rejects unlisted ones, so the fallback NOK is not reached.
    pub(crate) fn currency(&self) -> Currency {
        Currency::listed(&self.currency).unwrap_or(Currency::NOK)
    }

    /// Returns the balance, or None if the account is not limited.
    pub(crate) fn funds(&self) -> Option<Decimal> {
        self.balance.as_deref().map(|text| money::balance(text, self.currency()).unwrap_or_default())
    }
}

/// A booked transaction of an account.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// The resource id of the account.
    pub(crate) account: String,
    /// The content of `transactionsDetails` with all fields.
    pub(crate) details: Map<String, Value>,
}

impl Transaction {
    /// Returns the `transactionId`.
    pub fn id(&self) -> &str {
        self.details.get("transactionId").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A payment from before the bank opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EarlierPayment {
    pub(crate) payment_id: String,
    pub(crate) product: Product,
    /// True for a bulk payment.
    #[serde(default)]
    pub(crate) bulk: bool,
    pub(crate) status: Status,
    /// The only PSU who can see the payment, or None if anyone can.
    #[serde(default)]
    pub(crate) psu_id: Option<String>,
}

/// The reason why a file is not seed data.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// JSON of another structure, with line and column.
    #[error("invalid seed data: {0}")]
    Json(#[from] serde_json::Error),
    /// Data that contradict each other.
    #[error("{place}: expected {expected}, found {found:?}")]
    Content {
        /// The JSON pointer of the value.
        place: String,
        /// A description of allowed values.
        expected: &'static str,
        /// The value.
        found: String,
    },
}

/// Returns the error for a value that contradicts other data.
fn wrong<T>(place: String, expected: &'static str, found: &str) -> Result<T, SeedError> {
    Err(SeedError::Content { place, expected, found: found.to_owned() })
}

impl Seed {
    /// Parses seed data in the format of `seed.json`.
    ///
    /// # Errors
    ///
    /// Fails on JSON of another structure, an account without its customer or in an unlisted currency, a
    /// transaction without its account or an id, and duplicate ids.
    pub fn read(json: &str) -> Result<Self, SeedError> {
        let seed: Self = serde_json::from_str(json)?;
        let mut ids = BTreeSet::new();
        let mut own = |place: String, id: String| {
            let list = place.split('/').nth(1).unwrap_or_default().to_owned();
            if ids.insert((list, id.clone())) { Ok(()) } else { wrong(place, "a unique id", &id) }
        };
        for (index, psu) in seed.psus.iter().enumerate() {
            own(format!("/psus/{index}/psuId"), psu.id.to_ascii_lowercase())?;
        }
        for (index, customer) in seed.customers.iter().enumerate() {
            own(format!("/customers/{index}/customerId"), customer.id.clone())?;
        }
        for (index, account) in seed.accounts.iter().enumerate() {
            let place = |member: &str| format!("/accounts/{index}/{member}");
            if !seed.customers.iter().any(|customer| customer.id == account.owner) {
                return wrong(place("owner"), "the id of a customer", &account.owner);
            }
            let Some(currency) = Currency::listed(&account.currency) else {
                return wrong(place("currency"), "a currency of the document", &account.currency);
            };
            if let Some(balance) = &account.balance
                && money::balance(balance, currency).is_none()
            {
                return wrong(place("balance"), "a decimal with the digits of its currency", balance);
            }
            own(place("resourceId"), account.resource_id.clone())?;
        }
        for (index, transaction) in seed.transactions.iter().enumerate() {
            let place = |member: &str| format!("/transactions/{index}/{member}");
            if !seed.accounts.iter().any(|account| account.resource_id == transaction.account) {
                return wrong(place("account"), "the resource id of an account", &transaction.account);
            }
            if transaction.id().is_empty() {
                return wrong(place("details/transactionId"), "an id", "");
            }
            let id = format!("{} of {}", transaction.id(), transaction.account);
            own(place("details/transactionId"), id)?;
        }
        for (index, payment) in seed.payments.iter().enumerate() {
            own(format!("/payments/{index}/paymentId"), payment.payment_id.clone())?;
            if let Some(psu) = &payment.psu_id
                && !seed.psus.iter().any(|known| known.id == *psu)
            {
                return wrong(format!("/payments/{index}/psuId"), "the id of a PSU", psu);
            }
        }
        Ok(seed)
    }

    /// Returns the built-in data.
    pub fn built_in() -> Arc<Self> {
        // The compiled-in file is valid, so the fallback is not used.
        static BUILT_IN: LazyLock<Arc<Seed>> = LazyLock::new(|| {
            Arc::new(Seed::read(include_str!("../seed.json")).unwrap_or(Seed {
                psus: vec![],
                customers: vec![],
                accounts: vec![],
                transactions: vec![],
                payments: vec![],
            }))
        });
        Arc::clone(&BUILT_IN)
    }
}

/// Returns a new Norwegian account number with bank number 0000, or None if the number does not exist.
///
/// The eleventh digit makes the weighted sum of the first ten a multiple of 11. A number that would need 10
/// there does not exist.
pub(crate) fn bban(number: u64) -> Option<String> {
    let digits = format!("0000{:06}", number % 1_000_000);
    let weights = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2];
    let sum: u32 =
        digits.chars().filter_map(|digit| digit.to_digit(10)).zip(weights).map(|(a, b)| a * b).sum();
    let last = (11 - sum % 11) % 11;
    (last < 10).then(|| format!("{digits}{last}"))
}

/// Returns the iban of a Norwegian account number (ISO 13616-1: N is 23, O is 24, and the remainder modulo 97
/// is 1).
pub(crate) fn iban(bban: &str) -> String {
    let remainder = format!("{bban}232400")
        .bytes()
        .fold(0, |remainder, digit| (remainder * 10 + u32::from(digit - b'0')) % 97);
    format!("NO{:02}{bban}", 98 - remainder)
}

#[cfg(test)]
pub(crate) const PRIVATE_PSU: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";
#[cfg(test)]
pub(crate) const CORPORATE_PSU: &str = "7b1e4d2a-9c80-4f36-a5d4-1f0e2d3c4b5a";
#[cfg(test)]
pub(crate) const CORPORATE_ID: &str = "AGR-310000019";
#[cfg(test)]
pub(crate) const PRIVATE_ACCOUNT: &str = "acc-private-0001";
#[cfg(test)]
pub(crate) const CORPORATE_ACCOUNT: &str = "acc-corporate-0001";

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> Seed {
        Seed::read(include_str!("../seed.json")).unwrap()
    }

    fn ends_with_check_digit(number: &str, weights: &[u32]) -> bool {
        let (digits, last) = number.split_at(number.len() - 1);
        let sum: u32 =
            digits.chars().zip(weights).map(|(digit, weight)| digit.to_digit(10).unwrap() * weight).sum();
        last == ((11 - sum % 11) % 11).to_string()
    }

    #[test]
    fn the_readme_names_the_seed_data() {
        let readme = include_str!("../README.md");
        let seed = built_in();
        let mut ids: Vec<&str> = Vec::new();
        ids.extend(seed.psus.iter().flat_map(|psu| [&*psu.id, &psu.identity]));
        ids.extend(
            seed.accounts.iter().flat_map(|account| [&*account.resource_id, &account.iban, &account.bban]),
        );
        ids.extend(seed.customers.iter().flat_map(|known| [&*known.id, &known.number]));
        ids.extend(seed.transactions.iter().map(Transaction::id));
        ids.extend(seed.payments.iter().map(|payment| &*payment.payment_id));
        ids.push(CORPORATE_ID);
        for id in ids {
            assert!(readme.contains(&format!("`{id}`")), "{id}");
        }
    }

    #[test]
    fn account_numbers_are_well_formed() {
        for account in built_in().accounts {
            assert!(account.bban.starts_with("0000"), "where a bank's number would be");
            assert_eq!(bban(account.bban[4..10].parse().unwrap()), Some(account.bban.clone()));
            assert_eq!(iban(&account.bban), account.iban);
        }
        let none = (0..100).filter(|number| bban(*number).is_none()).count();
        assert!((1..20).contains(&none), "{none} of a hundred numbers do not exist");
    }

    #[test]
    fn person_and_organisation_numbers_are_synthetic() {
        let seed = built_in();
        for psu in &seed.psus {
            assert!(psu.identity[2..4].parse::<u32>().unwrap() > 80);
            assert!(ends_with_check_digit(&psu.identity[..10], &[3, 7, 6, 1, 8, 9, 4, 5, 2]));
            assert!(ends_with_check_digit(&psu.identity, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]));
        }
        let organisation = &seed.customers[1].number;
        assert!(organisation.starts_with('3'));
        assert!(ends_with_check_digit(organisation, &[3, 2, 7, 6, 5, 4, 3, 2]));
    }

    #[test]
    fn data_that_do_not_fit_together_are_refused_with_their_place() {
        let changed = |from: &str, to: &str| {
            let text = include_str!("../seed.json");
            assert!(text.contains(from), "{from}");
            Seed::read(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        for (from, to, expected) in [
            (
                "\"owner\": \"customer-0001\"",
                "\"owner\": \"nobody\"",
                "/accounts/0/owner: expected the id of a customer",
            ),
            ("\"balance\": \"0.00\"", "\"balance\": \"0.001\"", "/accounts/1/balance: expected a decimal"),
            ("\"currency\": \"NOK\"", "\"currency\": \"XXY\"", "/accounts/0/currency: expected a currency"),
            (
                "\"account\": \"acc-private-0001\"",
                "\"account\": \"x\"",
                "/transactions/0/account: expected the resource",
            ),
            (
                "20250211-0000001",
                "20250212!0000002=",
                "/transactions/1/details/transactionId: expected a unique id",
            ),
            ("payment-rejected-0001", "payment-pending-0001", "/payments/2/paymentId: expected a unique id"),
            (
                "\"status\": \"RJCT\",\n   \"psuId\": \"0c5d",
                "\"status\": \"RJCT\",\n   \"psuId\": \"1c5d",
                "/payments/2/psuId: expected the id of a PSU",
            ),
            ("\"psus\"", "\"persons\"", "unknown field `persons`"),
        ] {
            let error = changed(from, to);
            assert!(error.contains(expected), "{error}");
        }
        assert!(Seed::read("{").unwrap_err().to_string().contains("line 1 column 1"));
    }
}
