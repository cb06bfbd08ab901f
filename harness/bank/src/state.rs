//! The memory of the bank between requests.

mod notes;
mod payments;

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;
use lru::LruCache;
use rust_decimal::Decimal;
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::header::Header;
use crate::policy::Looked;
use crate::random::mixed;
use crate::seed::{self, Account, Customer, CustomerType, Psu, Seed, Transaction};
pub use crate::status::Status;
pub use payments::{Owner, Payment};

/// The data of the bank, starting with its seed data.
pub struct State {
    seed: u64,
    opened: NaiveDate,
    memory: Mutex<Memory>,
}

/// The maximum number of payments, of baskets and of request hashes. Least recently used ones are dropped,
/// because a sandbox can run for months.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();

struct Memory {
    /// The number of ids created for each request.
    ids: LruCache<u64, u64>,
    /// Notes about earlier requests.
    seen: HashMap<(&'static str, String), String>,
    /// The payments of the seed data, which are never dropped.
    earlier: HashMap<String, Payment>,
    payments: LruCache<String, Payment>,
    /// The sum that payments use up on each account with a balance.
    taken: HashMap<String, Decimal>,
    /// The payments of each basket.
    baskets: LruCache<String, Vec<String>>,
    unattended_calls: HashMap<String, (NaiveDate, u32)>,
    /// The number of payments with numbers as ids.
    numbers: u64,
    psus: Vec<Psu>,
    customers: Vec<Arc<Customer>>,
    accounts: Vec<Arc<Account>>,
    transactions: Vec<Arc<Transaction>>,
}

impl State {
    /// Opens a bank on this day. Ids derive from `seed` and from a hash of their request (`origin`), so
    /// concurrent requests get the same ids in every run.
    pub fn new(seed: u64, data: &Seed, opened: NaiveDate) -> Self {
        let earlier = data.payments.iter().map(|of| (of.payment_id.clone(), Payment::earlier(of)));
        let memory = Memory {
            ids: recent(),
            seen: HashMap::new(),
            earlier: earlier.collect(),
            payments: recent(),
            taken: HashMap::new(),
            baskets: recent(),
            unattended_calls: HashMap::new(),
            numbers: 0,
            psus: data.psus.clone(),
            customers: data.customers.iter().cloned().map(Arc::new).collect(),
            accounts: data.accounts.iter().cloned().map(Arc::new).collect(),
            transactions: data.transactions.iter().cloned().map(Arc::new).collect(),
        };
        Self { seed, opened, memory: Mutex::new(memory) }
    }

    /// Returns the PSU that a header names. UUIDs are case-insensitive (RFC 9562 section 4).
    pub(crate) fn psu(&self, header: Header, value: &str) -> Option<Psu> {
        let is_named = |psu: &&Psu| match header {
            Header::XPsuIdentity => psu.identity == value,
            _ => psu.id.eq_ignore_ascii_case(value),
        };
        self.memory().psus.iter().find(is_named).cloned()
    }

    /// Returns true if a customer has the agreement, among those to which `looked` applies.
    pub(crate) fn has_agreement(&self, id: &str, looked: Looked) -> bool {
        self.memory().customers.iter().map(|customer| &customer.agreements).any(|all| {
            all.iter().enumerate().any(|(index, one)| one.id == id && looked.includes(index, all.len()))
        })
    }

    /// Returns all customers with their accounts.
    pub(crate) fn customers(&self) -> Vec<(Arc<Customer>, Vec<Arc<Account>>)> {
        let memory = self.memory();
        let of = |customer: &Customer| {
            memory.accounts.iter().filter(|account| account.owner == customer.id).cloned().collect()
        };
        memory.customers.iter().map(|customer| (Arc::clone(customer), of(customer))).collect()
    }

    /// Creates a customer and a PSU with the same number, and ids for both and for the agreements. Returns
    /// None if the number is in use.
    pub(crate) fn create_customer(
        &self,
        mut customer: Customer,
        origin: u64,
    ) -> Option<(Arc<Customer>, String)> {
        let mut memory = self.memory();
        if memory.customers.iter().any(|known| known.number == customer.number) {
            return None;
        }
        customer.id = memory.next_id(self.seed, origin);
        for agreement in &mut customer.agreements {
            agreement.id = memory.next_id(self.seed, origin);
        }
        let psu_id = memory.next_id(self.seed, origin);
        memory.psus.push(Psu {
            id: psu_id.clone(),
            identity: customer.number.clone(),
            is_corporate: customer.kind == CustomerType::Corporate,
        });
        let customer = Arc::new(customer);
        memory.customers.push(Arc::clone(&customer));
        Some((customer, psu_id))
    }

    /// Creates an account with an unused number. Returns None for an unknown customer.
    pub(crate) fn create_account(
        &self,
        owner: &str,
        currency: Currency,
        balance: Option<String>,
        today: NaiveDate,
        origin: u64,
    ) -> Option<Arc<Account>> {
        let mut memory = self.memory();
        memory.customers.iter().find(|customer| customer.id == owner)?;
        let is_new = |bban: &String| memory.accounts.iter().all(|account| account.bban != *bban);
        let bban =
            (500_000 + mixed(origin) % 400_000..).find_map(|number| seed::bban(number).filter(is_new))?;
        let account = Arc::new(Account {
            resource_id: memory.next_id(self.seed, origin),
            owner: owner.to_owned(),
            iban: seed::iban(&bban),
            bban,
            currency: currency.code().to_owned(),
            balance,
            consent_days: (self.opened - today).num_days(),
        });
        memory.accounts.push(Arc::clone(&account));
        Some(account)
    }

    /// Sets the balance of an account. Earlier payments do not count against it. Returns None for an unknown
    /// account.
    pub(crate) fn set_balance(&self, resource_id: &str, balance: String) -> Option<Arc<Account>> {
        let mut memory = self.memory();
        memory.taken.remove(resource_id);
        let account = memory.accounts.iter_mut().find(|account| account.resource_id == resource_id)?;
        Arc::make_mut(account).balance = Some(balance);
        Some(Arc::clone(account))
    }

    /// Books a transaction under a new id. Returns None for an unknown account.
    pub(crate) fn book(
        &self,
        resource_id: &str,
        mut details: Map<String, Value>,
        origin: u64,
    ) -> Option<String> {
        let mut memory = self.memory();
        memory.accounts.iter().find(|account| account.resource_id == resource_id)?;
        let id = memory.next_id(self.seed, origin);
        details.insert("transactionId".to_owned(), id.clone().into());
        memory.transactions.push(Arc::new(Transaction { account: resource_id.to_owned(), details }));
        Some(id)
    }

    /// Returns the account with this resource id.
    pub fn account(&self, resource_id: &str) -> Option<Arc<Account>> {
        self.memory().accounts.iter().find(|account| account.resource_id == resource_id).cloned()
    }

    /// Returns the days since the PSU's consent, given with SCA, to reading the account.
    pub fn consent_age(&self, account: &Account, today: NaiveDate) -> i64 {
        (today - self.opened).num_days() + account.consent_days
    }

    /// Returns the account with this iban or bban, and its remaining balance if it has one.
    pub fn account_by_number(&self, number: &str) -> Option<(Arc<Account>, Option<Decimal>)> {
        let memory = self.memory();
        let account =
            memory.accounts.iter().find(|account| account.iban == number || account.bban == number)?;
        let taken = memory.taken.get(&account.resource_id).copied().unwrap_or_default();
        let left = account.funds().map(|funds| funds - taken);
        Some((Arc::clone(account), left))
    }

    /// Returns true if the account belongs to a corporate customer.
    pub(crate) fn is_of_a_company(&self, account: &Account) -> bool {
        let memory = self.memory();
        memory.customer(&account.owner).is_some_and(|owner| owner.kind == CustomerType::Corporate)
    }

    /// Returns true if a PSU can see the account: its own, and any of a company, because agreements determine
    /// who acts for a company.
    pub(crate) fn account_shows_to(&self, account: &Account, psu_id: Option<&str>) -> bool {
        let memory = self.memory();
        let psu = psu_id.and_then(|id| memory.psus.iter().find(|psu| psu.id == id));
        let owner = memory.customer(&account.owner);
        let Some((psu, owner)) = psu.zip(owner) else { return true };
        owner.kind == CustomerType::Corporate || owner.number == psu.identity
    }

    /// Counts a call without PSU-IP-Address, and returns the number of calls on that account on that day.
    pub fn count_unattended_call(&self, account: &str, day: NaiveDate) -> u32 {
        let mut memory = self.memory();
        let (counted_on, calls) = memory.unattended_calls.entry(account.to_owned()).or_insert((day, 0));
        if *counted_on != day {
            (*counted_on, *calls) = (day, 0);
        }
        *calls = calls.saturating_add(1);
        *calls
    }

    /// Returns the booked transactions of an account.
    pub fn transactions(&self, account: &str) -> Vec<Arc<Transaction>> {
        self.memory().transactions.iter().filter(|booked| booked.account == account).cloned().collect()
    }

    /// Returns a booked transaction of an account.
    pub(crate) fn transaction(&self, account: &str, id: &str) -> Option<Arc<Transaction>> {
        let memory = self.memory();
        memory.transactions.iter().find(|booked| booked.account == account && booked.id() == id).cloned()
    }

    /// Returns a booked transaction of any account.
    pub(crate) fn transaction_anywhere(&self, id: &str) -> Option<Arc<Transaction>> {
        self.memory().transactions.iter().find(|booked| booked.id() == id).cloned()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a cache for [`REMEMBERED`] entries that allocates its memory as needed.
fn recent<K: Hash + Eq, V>() -> LruCache<K, V> {
    let mut recent = LruCache::unbounded();
    recent.resize(REMEMBERED);
    recent
}

impl Memory {
    fn customer(&self, id: &str) -> Option<&Arc<Customer>> {
        self.customers.iter().find(|customer| customer.id == id)
    }

    /// Returns the next id, a UUID of version 8 (RFC 9562 section 5.8), whose bits are free to choose. It is
    /// opaque to the TPP, and the same for the same seed and request.
    fn next_id(&mut self, seed: u64, origin: u64) -> String {
        let count = self.ids.get_or_insert_mut(origin, || 0);
        *count += 1;
        let high = mixed(seed ^ mixed(origin ^ mixed(*count)));
        let low = mixed(high ^ mixed(origin));
        let high = high & !0xf000 | 0x8000;
        let low = low & !(0b11 << 62) | 0b10 << 62;
        let hex = format!("{high:016x}{low:016x}");
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

#[cfg(test)]
mod tests;
