//! What the bank knows when it starts: PSUs, accounts and sandbox customers, all made up. The booked transactions
//! are in `seed/transactions.rs`.
//!
//! Person numbers carry their month plus 80 and organisation numbers begin with 3, as synthetic test numbers do.
//! Account numbers have the structure and check digits of Norwegian ones, with 0000 in place of a bank's number.

mod transactions;

use crate::currency::Currency;
use crate::operation::Product;
use crate::state::Status;
pub(crate) use transactions::{Transaction, transactions};

/// A PSU who can be named in a request.
pub(crate) struct Psu {
    /// PSU-ID, a UUID.
    pub(crate) id: &'static str,
    /// National identity number, for X-PSU-IDENTITY.
    pub(crate) identity: &'static str,
    /// Whether this PSU is a corporate user, who always acts under an agreement.
    pub(crate) is_corporate: bool,
}

/// An account with the bank.
pub(crate) struct Account {
    /// The `{id}` of account paths.
    pub(crate) resource_id: &'static str,
    pub(crate) iban: &'static str,
    pub(crate) bban: &'static str,
    pub(crate) currency: Currency,
    /// Whether its owner is the corporate customer.
    pub(crate) is_corporate: bool,
    /// What may be paid from it, in minor units; without limit if nothing is said.
    pub(crate) available: Option<u128>,
}

/// A payment that was made before the bank opened.
pub(crate) struct EarlierPayment {
    pub(crate) id: &'static str,
    pub(crate) product: Product,
    pub(crate) status: Status,
}

/// A customer of the sandbox, as the customer list shows it.
pub(crate) struct Customer {
    pub(crate) id: &'static str,
    /// What the customer signs in with: a person number or an organisation number.
    pub(crate) number: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    pub(crate) agreements: &'static [Agreement],
    pub(crate) accounts: &'static [&'static str],
    pub(crate) card_accounts: &'static [&'static str],
}

/// An agreement of a corporate customer.
pub(crate) struct Agreement {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) engagements: &'static [&'static str],
}

pub(crate) const PRIVATE_PSU: Psu =
    Psu { id: "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", identity: "01819000391", is_corporate: false };

pub(crate) const CORPORATE_PSU: Psu =
    Psu { id: "7b1e4d2a-9c80-4f36-a5d4-1f0e2d3c4b5a", identity: "12848500257", is_corporate: true };

/// The agreement under which the corporate PSU acts: the value of PSU-Corporate-ID.
pub(crate) const CORPORATE_ID: &str = "AGR-310000019";

pub(crate) const PRIVATE_ACCOUNT: Account = Account {
    resource_id: "acc-private-0001",
    iban: "NO1400004200179",
    bban: "00004200179",
    currency: Currency::NOK,
    is_corporate: false,
    available: None,
};

/// The account from which nothing can be paid.
pub(crate) const EMPTY_ACCOUNT: Account = Account {
    resource_id: "acc-private-0002",
    iban: "NO8900004200187",
    bban: "00004200187",
    currency: Currency::NOK,
    is_corporate: false,
    available: Some(0),
};

/// The account with every kind of booked transaction.
pub(crate) const CORPORATE_ACCOUNT: Account = Account {
    resource_id: "acc-corporate-0001",
    iban: "NO1100004200330",
    bban: "00004200330",
    currency: Currency::NOK,
    is_corporate: true,
    available: None,
};

/// Payments in the two statuses that this bank itself never gives.
pub(crate) const EARLIER_PAYMENTS: [EarlierPayment; 2] = [
    EarlierPayment { id: "payment-pending-0001", product: Product::Ncbct, status: Status::Pdng },
    EarlierPayment { id: "payment-rejected-0001", product: Product::Ncbct, status: Status::Rjct },
];

/// Every sandbox customer.
pub(crate) const CUSTOMERS: [Customer; 2] = [
    Customer {
        id: "customer-0001",
        number: PRIVATE_PSU.identity,
        kind: "PRIVATE",
        name: "Synthetic Private Customer",
        agreements: &[],
        accounts: &[PRIVATE_ACCOUNT.bban, EMPTY_ACCOUNT.bban],
        card_accounts: &["card-0001"],
    },
    Customer {
        id: "customer-0002",
        number: "310000019",
        kind: "CORPORATE",
        name: "Synthetic Corporate Customer AS",
        agreements: &[Agreement {
            id: CORPORATE_ID,
            name: "Synthetic agreement",
            engagements: &[CORPORATE_ACCOUNT.bban],
        }],
        accounts: &[CORPORATE_ACCOUNT.bban],
        card_accounts: &[],
    },
];

/// The account with this resource id.
pub(crate) fn account(resource_id: &str) -> Option<&'static Account> {
    ACCOUNTS.iter().find(|account| account.resource_id == resource_id)
}

/// The account with this iban or bban.
pub(crate) fn account_by_number(number: &str) -> Option<&'static Account> {
    ACCOUNTS.iter().find(|account| account.iban == number || account.bban == number)
}

/// The PSU with this PSU-ID; the case of a UUID's digits does not count (RFC 9562 section 4).
pub(crate) fn psu_by_id(id: &str) -> Option<&'static Psu> {
    PSUS.iter().find(|psu| psu.id.eq_ignore_ascii_case(id))
}

/// The PSU with this national identity number.
pub(crate) fn psu_by_identity(identity: &str) -> Option<&'static Psu> {
    PSUS.iter().find(|psu| psu.identity == identity)
}

static PSUS: [Psu; 2] = [PRIVATE_PSU, CORPORATE_PSU];
static ACCOUNTS: [Account; 3] = [PRIVATE_ACCOUNT, EMPTY_ACCOUNT, CORPORATE_ACCOUNT];

#[cfg(test)]
mod tests {
    use super::*;

    /// The digit that makes the weighted sum of the digits before it a multiple of 11.
    fn check_digit(digits: &str, weights: &[u32]) -> u32 {
        let sum: u32 =
            digits.chars().zip(weights).map(|(digit, weight)| digit.to_digit(10).unwrap() * weight).sum();
        (11 - sum % 11) % 11
    }

    fn ends_with_check_digit(number: &str, weights: &[u32]) -> bool {
        let (digits, last) = number.split_at(number.len() - 1);
        last == check_digit(digits, weights).to_string()
    }

    #[test]
    fn the_readme_names_the_seed_data() {
        let readme = include_str!("../README.md");
        let psus = PSUS.iter().flat_map(|psu| [psu.id, psu.identity]);
        let accounts = ACCOUNTS.iter().flat_map(|account| [account.resource_id, account.iban, account.bban]);
        let customers = CUSTOMERS.iter().flat_map(|customer| [customer.id, customer.number]);
        let booked = transactions().into_iter().map(|booked| booked.id);
        let payments = EARLIER_PAYMENTS.iter().map(|payment| payment.id);
        for id in psus.chain(accounts).chain(customers).chain(booked).chain(payments).chain([CORPORATE_ID]) {
            assert!(readme.contains(&format!("`{id}`")), "{id}");
        }
    }

    #[test]
    fn account_numbers_are_well_formed() {
        for account in &ACCOUNTS {
            assert_eq!(account.bban.len(), 11);
            assert!(account.bban.starts_with("0000"), "where a bank's number would be");
            assert!(ends_with_check_digit(account.bban, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]));
            assert_eq!(&account.iban[4..], account.bban);
            // ISO 13616: the country's letters become numbers (N = 23, O = 24), and the remainder by 97 is 1.
            let moved = format!("{}2324{}", account.bban, &account.iban[2..4]);
            assert_eq!(moved.parse::<u64>().unwrap() % 97, 1, "{}", account.iban);
        }
    }

    #[test]
    fn person_and_organisation_numbers_are_synthetic() {
        for psu in &PSUS {
            assert!(psu.identity[2..4].parse::<u32>().unwrap() > 80);
            assert!(ends_with_check_digit(&psu.identity[..10], &[3, 7, 6, 1, 8, 9, 4, 5, 2]));
            assert!(ends_with_check_digit(psu.identity, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]));
        }
        let organisation = CUSTOMERS[1].number;
        assert!(organisation.starts_with('3'));
        assert!(ends_with_check_digit(organisation, &[3, 2, 7, 6, 5, 4, 3, 2]));
    }
}
