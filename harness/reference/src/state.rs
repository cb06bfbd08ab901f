//! What the bank remembers between requests, in memory.

mod counts;

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;
use lru::LruCache;
use rust_decimal::Decimal;
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::fingerprint::Fingerprint;
use crate::operation::Product;
use crate::random::mixed;
use crate::seed::{self, Account, Customer, CustomerType, EarlierPayment, Psu, Seed, Transaction};
pub(crate) use crate::status::Status;

/// Whose a payment is: the PSU and the TPP that it was made for, as far as the request named them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The PSU-ID of this bank.
    pub(crate) psu: Option<String>,
    /// The DER encoding of the subject of the TPP's certificate.
    pub(crate) tpp: Option<Vec<u8>>,
}

impl Owner {
    /// Whether what is this owner's shows to whoever asks. Where one of them names no PSU, or no TPP, there
    /// is nothing to compare.
    pub(crate) fn shows_to(&self, asking: &Self) -> bool {
        fn differ<T: PartialEq>(own: Option<&T>, other: Option<&T>) -> bool {
            own.zip(other).is_some_and(|(own, other)| own != other)
        }
        !differ(self.psu.as_ref(), asking.psu.as_ref()) && !differ(self.tpp.as_ref(), asking.tpp.as_ref())
    }
}

/// A payment as the bank keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(crate) product: Product,
    /// Whether it pays many at once. None is made here: such payments are as old as the bank.
    pub(crate) is_bulk: bool,
    /// The status that it was given; what has become of a received one is [`Payment::status_on`].
    pub(crate) status: Status,
    /// Whether the debtor account could pay it.
    pub(crate) funds_available: bool,
    /// The members it was made with, as JSON text: a fifth of what they take as values.
    pub(crate) members: Box<str>,
    /// By which payments of other members are told from it.
    pub(crate) fingerprint: Fingerprint,
    /// The day on which it was made, if the bank was open then.
    pub(crate) made: Option<NaiveDate>,
    /// The day from which on it is executed, if it was made while the bank was open.
    pub(crate) from: Option<NaiveDate>,
    /// What it takes from an account with a balance: resource id and value.
    pub(crate) takes: Option<(String, Decimal)>,
    pub(crate) owner: Owner,
}

impl Payment {
    /// A received payment is under way a day after the day of its execution, and settled a day later; a
    /// received series has begun then.
    pub(crate) fn status_on(&self, today: NaiveDate) -> Status {
        let days = self.from.map_or(0, |from| (today - from).num_days());
        match (self.status, self.product) {
            (Status::Rcvd, Product::Ncbct) if days >= 2 => Status::Acsc,
            (Status::Rcvd, Product::Ncbct) if days == 1 => Status::Pdng,
            (Status::Rcvd, Product::Periodic) if days >= 1 => Status::Actc,
            (status, _) => status,
        }
    }

    /// One that was made before the bank opened, by a TPP that nobody remembers.
    fn earlier(of: &EarlierPayment) -> Self {
        let owner = Owner { psu: of.psu_id.clone(), tpp: None };
        let funds_available = of.status != Status::Rjct;
        let (members, fingerprint, made, from, takes) =
            ("{}".into(), Fingerprint::default(), None, None, None);
        let (product, is_bulk, status) = (of.product, of.bulk, of.status);
        Self { product, is_bulk, status, funds_available, members, fingerprint, made, from, takes, owner }
    }

    /// A payment that the bank has received.
    #[cfg(test)]
    pub(crate) fn received(product: Product) -> Self {
        let (payment_id, bulk, status, psu_id) = (String::new(), false, Status::Rcvd, None);
        Self::earlier(&EarlierPayment { payment_id, product, bulk, status, psu_id })
    }
}

/// Everything that the bank knows, from its seed on.
pub(crate) struct State {
    seed: u64,
    opened: NaiveDate,
    memory: Mutex<Memory>,
}

/// Payments, baskets and requests that the bank remembers at most, each. It forgets what was asked for
/// longest ago: a sandbox may run for months.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();

struct Memory {
    /// How many ids each request was given.
    ids: LruCache<u64, u64>,
    /// Values of headers that only some banks remember.
    seen: HashMap<(&'static str, String), String>,
    /// The payments that the bank began with, which it never forgets.
    earlier: HashMap<String, Payment>,
    payments: LruCache<String, Payment>,
    /// What payments take from each account with a balance, in minor units.
    taken: HashMap<String, Decimal>,
    /// The payments of each basket.
    baskets: LruCache<String, Vec<String>>,
    unattended_calls: HashMap<String, (NaiveDate, u32)>,
    /// Answers of those that only some banks count.
    turns: u64,
    /// Wrong signatures since the last right one.
    wrong_signatures: u32,
    psus: Vec<Psu>,
    customers: Vec<Arc<Customer>>,
    accounts: Vec<Arc<Account>>,
    transactions: Vec<Arc<Transaction>>,
}

impl State {
    /// A bank that opens on this day. Its ids follow from `seed` and from the requests that they are made for
    /// (`origin`), so that requests side by side get the same ones in every run.
    pub(crate) fn new(seed: u64, data: &Seed, opened: NaiveDate) -> Self {
        let earlier = data.payments.iter().map(|of| (of.payment_id.clone(), Payment::earlier(of)));
        let memory = Memory {
            ids: recent(),
            seen: HashMap::new(),
            earlier: earlier.collect(),
            payments: recent(),
            taken: HashMap::new(),
            baskets: recent(),
            unattended_calls: HashMap::new(),
            turns: 0,
            wrong_signatures: 0,
            psus: data.psus.clone(),
            customers: data.customers.iter().cloned().map(Arc::new).collect(),
            accounts: data.accounts.iter().cloned().map(Arc::new).collect(),
            transactions: data.transactions.iter().cloned().map(Arc::new).collect(),
        };
        Self { seed, opened, memory: Mutex::new(memory) }
    }

    /// Whether the PSU with this PSU-ID is a corporate user, or nothing if there is none; the case of a
    /// UUID's digits does not count (RFC 9562 section 4).
    pub(crate) fn psu_by_id(&self, id: &str) -> Option<bool> {
        let memory = self.memory();
        memory.psus.iter().find(|psu| psu.id.eq_ignore_ascii_case(id)).map(|psu| psu.is_corporate)
    }

    /// Whether the PSU with this national identity number is a corporate user.
    pub(crate) fn psu_by_identity(&self, identity: &str) -> Option<bool> {
        self.memory().psus.iter().find(|psu| psu.identity == identity).map(|psu| psu.is_corporate)
    }

    /// The PSU-ID of the PSU with this PSU-ID, in whatever letters, or else with this national identity
    /// number.
    pub(crate) fn psu_id(&self, id: Option<&str>, identity: Option<&str>) -> Option<String> {
        let memory = self.memory();
        let found = memory.psus.iter().find(|psu| match (id, identity) {
            (Some(id), _) => psu.id.eq_ignore_ascii_case(id),
            (None, Some(identity)) => psu.identity == identity,
            (None, None) => false,
        });
        found.map(|psu| psu.id.clone())
    }

    /// Whether some customer has the agreement, be it as the first one of its own.
    pub(crate) fn has_agreement(&self, id: &str, first_alone: bool) -> bool {
        let most = if first_alone { 1 } else { usize::MAX };
        let memory = self.memory();
        memory.customers.iter().any(|customer| customer.agreements.iter().take(most).any(|one| one.id == id))
    }

    /// All customers, each with its accounts.
    pub(crate) fn customers(&self) -> Vec<(Arc<Customer>, Vec<Arc<Account>>)> {
        let memory = self.memory();
        let of = |customer: &Customer| {
            memory.accounts.iter().filter(|account| account.owner == customer.id).cloned().collect()
        };
        memory.customers.iter().map(|customer| (Arc::clone(customer), of(customer))).collect()
    }

    /// Remembers a customer, whose PSU signs in with the same number, and gives both their ids, and ids to
    /// its agreements. A number that another customer has is none.
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

    /// Opens an account for a customer, with a number that nobody has. Nothing if there is no such customer.
    pub(crate) fn create_account(
        &self,
        owner: &str,
        currency: Currency,
        balance: Option<String>,
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
            consent_days: 0,
        });
        memory.accounts.push(Arc::clone(&account));
        Some(account)
    }

    /// Gives an account another balance. Nothing if there is no such account.
    pub(crate) fn set_balance(&self, resource_id: &str, balance: String) -> Option<Arc<Account>> {
        let mut memory = self.memory();
        let account = memory.accounts.iter_mut().find(|account| account.resource_id == resource_id)?;
        Arc::make_mut(account).balance = Some(balance);
        Some(Arc::clone(account))
    }

    /// Books a transaction, with an id of its own. Nothing if there is no such account.
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

    /// The account with this resource id.
    pub(crate) fn account(&self, resource_id: &str) -> Option<Arc<Account>> {
        self.memory().accounts.iter().find(|account| account.resource_id == resource_id).cloned()
    }

    /// How many days ago the PSU consented, with SCA, to reading the account.
    pub(crate) fn consent_age(&self, account: &Account, today: NaiveDate) -> i64 {
        (today - self.opened).num_days() + i64::from(account.consent_days)
    }

    /// The account with this iban or bban, and what payments have left on it, if its balance is limited.
    pub(crate) fn account_by_number(&self, number: &str) -> Option<(Arc<Account>, Option<Decimal>)> {
        let memory = self.memory();
        let account =
            memory.accounts.iter().find(|account| account.iban == number || account.bban == number)?;
        let taken = memory.taken.get(&account.resource_id).copied().unwrap_or_default();
        let left = account.funds().map(|funds| funds - taken);
        Some((Arc::clone(account), left))
    }

    /// Whether the account with this iban or bban is that of a corporate customer.
    pub(crate) fn is_of_a_company(&self, number: &str) -> bool {
        let memory = self.memory();
        let account = memory.accounts.iter().find(|account| account.iban == number || account.bban == number);
        let owner = account.and_then(|account| memory.customer(&account.owner));
        owner.is_some_and(|owner| owner.kind == CustomerType::Corporate)
    }

    /// Whether the PSU with this PSU-ID may see the account: one's own, and any of a company, whose
    /// agreements say who acts for it.
    pub(crate) fn account_shows_to(&self, account: &Account, psu_id: Option<&str>) -> bool {
        let memory = self.memory();
        let psu = psu_id.and_then(|id| memory.psus.iter().find(|psu| psu.id == id));
        let owner = memory.customer(&account.owner);
        let Some((psu, owner)) = psu.zip(owner) else { return true };
        owner.kind == CustomerType::Corporate || owner.number == psu.identity
    }

    /// Remembers a new payment, and returns its id.
    pub(crate) fn create_payment(&self, payment: Payment, origin: u64) -> String {
        let id = self.memory().next_id(self.seed, origin);
        self.keep_payment(id, payment)
    }

    /// Remembers a new payment under this id.
    pub(crate) fn keep_payment(&self, id: String, payment: Payment) -> String {
        let mut memory = self.memory();
        if let Some((account, value)) =
            payment.takes.as_ref().filter(|_| !matches!(payment.status, Status::Rjct | Status::Canc))
        {
            *memory.taken.entry(account.clone()).or_default() += value;
        }
        memory.payments.put(id.clone(), payment);
        id
    }

    /// Remembers a new basket, and returns its id.
    pub(crate) fn create_basket(&self, payment_ids: Vec<String>, origin: u64) -> String {
        let mut memory = self.memory();
        let id = memory.next_id(self.seed, origin);
        memory.baskets.put(id.clone(), payment_ids);
        id
    }

    /// Remembers a value of a header, and says whether it was there before.
    pub(crate) fn is_new(&self, header: &'static str, value: &str) -> bool {
        self.memory().seen.insert((header, value.to_owned()), String::new()).is_none()
    }

    /// Whether this is the value that came first with a key.
    pub(crate) fn is_first(&self, kind: &'static str, key: &str, value: &str) -> bool {
        self.memory().seen.entry((kind, key.to_owned())).or_insert_with(|| value.to_owned()) == value
    }

    /// Whether a value came with this key.
    pub(crate) fn is_known(&self, kind: &'static str, key: &str) -> bool {
        self.memory().seen.contains_key(&(kind, key.to_owned()))
    }

    /// A payment that was created before.
    pub(crate) fn payment(&self, id: &str) -> Option<Payment> {
        self.memory().payment(id).cloned()
    }

    /// Whether a payment is among so many that were made or asked for last.
    pub(crate) fn is_recent(&self, id: &str, most: usize) -> bool {
        self.memory().payments.iter().take(most).any(|(recent, _)| recent == id)
    }

    /// Whether a payment is in some basket.
    pub(crate) fn is_in_a_basket(&self, id: &str) -> bool {
        self.memory().baskets.iter().any(|(_, payments)| payments.iter().any(|payment| payment == id))
    }

    /// How often this was asked, from 1.
    pub(crate) fn next_turn(&self) -> u64 {
        let mut memory = self.memory();
        memory.turns = memory.turns.wrapping_add(1);
        memory.turns
    }

    /// Whether it is the turn of the one that asks: every second time.
    pub(crate) fn is_turn(&self) -> bool {
        self.next_turn().is_multiple_of(2)
    }

    /// Remembers whether a signature was right, and says how many before it were wrong, one after the other.
    pub(crate) fn count_wrong_signatures(&self, is_right: bool) -> u32 {
        let mut memory = self.memory();
        let next = if is_right { 0 } else { memory.wrong_signatures.saturating_add(1) };
        std::mem::replace(&mut memory.wrong_signatures, next)
    }

    /// The payments of a basket.
    pub(crate) fn basket(&self, id: &str) -> Option<Vec<Payment>> {
        let mut memory = self.memory();
        let ids = memory.baskets.get(id)?.clone();
        Some(ids.iter().filter_map(|id| memory.payment(id).cloned()).collect())
    }

    /// Whether this says yes to any of the payments made last, so many at most.
    pub(crate) fn any_payment(&self, most: usize, says: impl Fn(&Payment) -> bool) -> bool {
        self.memory().payments.iter().take(most).any(|(_, payment)| says(payment))
    }

    /// "Worst case over all payments in it": rejected if one of them is, accepted if each is under way or
    /// further, otherwise received; the document gives the statuses no order. Nothing if there is no such
    /// basket.
    pub(crate) fn basket_status(&self, id: &str, today: NaiveDate) -> Option<Status> {
        let mut memory = self.memory();
        let payments = memory.baskets.get(id)?.clone();
        let status = |id: &String| memory.payment(id).map(|payment| payment.status_on(today));
        let statuses: Vec<Status> = payments.iter().filter_map(status).collect();
        let is_under_way = |status: &Status| matches!(status, Status::Pdng | Status::Acsc | Status::Actc);
        Some(if statuses.contains(&Status::Rjct) {
            Status::Rjct
        } else if !statuses.is_empty() && statuses.iter().all(is_under_way) {
            Status::Actc
        } else {
            Status::Rcvd
        })
    }

    /// Cancels a payment unless it is under way or settled: the status that it then has, or nothing if there
    /// is no such payment.
    pub(crate) fn cancel(&self, id: &str, product: Product, today: NaiveDate) -> Option<Status> {
        let mut memory = self.memory();
        let payment = memory.payment(id).filter(|payment| payment.product == product)?;
        let status = payment.status_on(today);
        if matches!(status, Status::Pdng | Status::Acsc) {
            return Some(status);
        }
        let before = std::mem::replace(&mut payment.status, Status::Canc);
        let takes = payment.takes.clone().filter(|_| !matches!(before, Status::Rjct | Status::Canc));
        if let Some((account, value)) = takes {
            let taken = memory.taken.entry(account).or_default();
            *taken = (*taken - value).max(Decimal::ZERO);
        }
        Some(Status::Canc)
    }

    /// Cancels a payment that is under way, which no bank may.
    pub(crate) fn cancel_anyway(&self, id: &str) {
        if let Some(payment) = self.memory().payment(id) {
            payment.status = Status::Canc;
        }
    }

    /// Counts a call without PSU-IP-Address, and returns how many there were on that account on that day.
    pub(crate) fn count_unattended_call(&self, account: &str, day: NaiveDate) -> u32 {
        let mut memory = self.memory();
        let (counted_on, calls) = memory.unattended_calls.entry(account.to_owned()).or_insert((day, 0));
        if *counted_on != day {
            (*counted_on, *calls) = (day, 0);
        }
        *calls = calls.saturating_add(1);
        *calls
    }

    /// The booked transactions of an account.
    pub(crate) fn transactions(&self, account: &str) -> Vec<Arc<Transaction>> {
        self.memory().transactions.iter().filter(|booked| booked.account == account).cloned().collect()
    }

    /// A booked transaction.
    pub(crate) fn transaction(&self, account: &str, id: &str) -> Option<Arc<Transaction>> {
        let memory = self.memory();
        memory.transactions.iter().find(|booked| booked.account == account && booked.id() == id).cloned()
    }

    /// A booked transaction of any account.
    pub(crate) fn transaction_anywhere(&self, id: &str) -> Option<Arc<Transaction>> {
        self.memory().transactions.iter().find(|booked| booked.id() == id).cloned()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is remembered of the last few, without room for all of them in advance.
fn recent<K: Hash + Eq, V>() -> LruCache<K, V> {
    let mut recent = LruCache::unbounded();
    recent.resize(REMEMBERED);
    recent
}

impl Memory {
    /// A payment, if it is remembered.
    fn payment(&mut self, id: &str) -> Option<&mut Payment> {
        self.earlier.get_mut(id).or_else(|| self.payments.get_mut(id))
    }

    fn customer(&self, id: &str) -> Option<&Arc<Customer>> {
        self.customers.iter().find(|customer| customer.id == id)
    }

    /// The next id, in the form of a UUID of version 8 (RFC 9562 section 5.8), which leaves its bits to
    /// whoever makes it: opaque to the TPP, and the same in every run with this seed for the same request.
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
