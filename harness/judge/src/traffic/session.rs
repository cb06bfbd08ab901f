//! What earlier exchanges say of a request: ids that were made, listed, deleted and used up.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use xs2aspec_record::{Observation, Untold};
use xs2aspec_spec::{
    ClientRules, SigningSpec,
    client::{Counted, IdRules, NamedId, Wrong},
    masks::MaskSpec,
};

use super::{
    memory::{Bounded, hash, texts},
    message::Sent,
    signature::is_masked,
};

/// Statuses of a rejection that may be one of an id.
const OF_AN_ID: [u16; 6] = [400, 403, 404, 409, 410, 422];

/// An id that an earlier request made.
#[derive(Debug)]
struct Made {
    id: String,
    operation: String,
    /// The path of the request that made it.
    path: String,
    psu: Vec<(String, u64)>,
}

/// A request with an id of its own.
#[derive(Debug)]
struct Call {
    number: u64,
    began: DateTime<Utc>,
    asks: u64,
    is_answered: bool,
}

/// What earlier exchanges say.
#[derive(Debug, Default)]
pub(crate) struct Session {
    made: Bounded<Made>,
    deleted: Bounded<()>,
    statuses: Bounded<String>,
    /// The strings in the transactions of an account that were listed, as numbers, by the account.
    listed: Bounded<HashSet<u64>>,
    calls: Bounded<Call>,
    rejected: Bounded<u64>,
    /// When calls were made that are counted, by the account.
    counted: Bounded<Vec<DateTime<Utc>>>,
}

/// An exchange, as a session looks at it.
pub(crate) struct Exchange<'a> {
    pub(crate) number: u64,
    pub(crate) began: DateTime<Utc>,
    pub(crate) operation: Option<&'a str>,
    /// What its path has at the placeholders of its operation, by their names.
    pub(crate) ids: &'a [(String, String)],
    /// The account whose transactions it lists.
    pub(crate) lists: Option<String>,
    pub(crate) sent: &'a Sent,
    /// What it asks for, as [`asks`] has it.
    pub(crate) asks: u64,
    pub(crate) status: Option<u16>,
    pub(crate) document: Option<&'a Value>,
    /// Returns true if a client broke nothing else.
    pub(crate) is_clean: bool,
    /// Returns true if the bank is known to have what this is the id of.
    pub(crate) is_known: &'a dyn Fn(&str) -> bool,
}

/// What is found.
pub(crate) enum Told {
    Wrong(Wrong),
    /// What cannot be told of a place, and why.
    Unsure(String, Untold),
    Seen(Observation),
}

impl Exchange<'_> {
    fn has(&self, family: u16) -> bool {
        self.status.is_some_and(|status| status / 100 == family)
    }

    /// Returns true if its bank may have rejected it for an id.
    fn is_rejected(&self) -> bool {
        self.is_clean && self.status.is_some_and(|status| OF_AN_ID.contains(&status))
    }

    fn named(&self, id: &NamedId) -> Option<&str> {
        let found = self.ids.iter().find(|(name, _)| name.ends_with(&id.name));
        found.map(|(_, value)| value.as_str())
    }

    /// The payment of its path.
    fn payment(&self, rules: &IdRules) -> Option<&str> {
        let is_other =
            |name: &str| [&rules.account, &rules.transaction].iter().any(|id| name.ends_with(&id.name));
        let found =
            self.ids.iter().find(|(name, _)| name.rsplit('.').next() == Some("id") && !is_other(name));
        found.map(|(_, value)| value.as_str())
    }

    fn psu(&self, signing: &SigningSpec, masks: &MaskSpec) -> Vec<(String, u64)> {
        let personal = signing.signed_headers.iter().filter(|name| masks.is_personal_header(name));
        personal.filter_map(|name| Some((name.clone(), hash(self.sent.header(name)?)))).collect()
    }
}

/// Returns a number that requests with the same method, target and body have in common.
pub(crate) fn asks(sent: &Sent) -> u64 {
    hash(&(&sent.method, sent.target(), sent.body.bytes()))
}

/// Returns that a client sent `value` at a place, or nothing, instead of `send`.
pub(crate) fn wrong(at: &str, clause: &str, send: &str, value: Option<&str>) -> Wrong {
    let value = value.map(str::to_owned);
    Wrong { at: at.to_owned(), clause: clause.to_owned(), send: send.to_owned(), value, is_warning: false }
}

fn denied(at: &str, clause: &str, send: &str, value: &str) -> Told {
    Told::Wrong(wrong(at, clause, send, Some(value)))
}

/// The same, where another reading is left.
fn warned(at: &str, clause: &str, send: &str, value: &str) -> Told {
    Told::Wrong(Wrong { is_warning: true, ..wrong(at, clause, send, Some(value)) })
}

/// What a client sends of which nothing else is known.
const UNKNOWN: &str = "an id that no earlier response gave, and that the bank does not know";

/// The status of a bank that does not know an id (RFC 9110 section 15.5.5).
const NOT_FOUND: u16 = 404;

/// The status of a bank where something is in the way of what is asked for (RFC 9110 section 15.5.10).
const CONFLICT: u16 = 409;

/// The status of a bank that did not look at a request (RFC 6585 section 4).
const TOO_MANY: u16 = 429;

/// Where the path of a request is.
pub(crate) const PATH: &str = "path";

impl Session {
    /// Returns what earlier exchanges say of this one.
    pub(crate) fn look(
        &self,
        exchange: &Exchange<'_>,
        rules: &ClientRules,
        (signing, masks): (&SigningSpec, &MaskSpec),
    ) -> Vec<Told> {
        let mut told = Vec::new();
        let Some(ids) = &rules.ids else { return told };
        told.extend(self.reuse(exchange, ids, signing));
        let psu = exchange.psu(signing, masks);
        if let Some(id) = exchange.payment(ids) {
            told.extend(self.payment(exchange, id, ids, &psu));
        }
        told.extend(self.in_basket(exchange, ids, &psu));
        told.extend(self.transaction(exchange, ids));
        told.extend(self.list(exchange, ids));
        if let Some(counted) = rules.counted.as_ref().filter(|rule| is_counted(rule, exchange)) {
            let account = exchange.named(&ids.account).unwrap_or_default();
            let earlier = self.counted.get(hash(account)).into_iter().flatten();
            // The document names no time zone: a day is the same in Oslo and in UTC.
            let days = |at: DateTime<Utc>| (at.date_naive(), (at + TimeDelta::hours(2)).date_naive());
            let times = earlier.filter(|at| days(**at) == days(exchange.began)).count();
            if times >= counted.most {
                let send = format!("at most {} calls a day without {}", counted.most, counted.header);
                let value = format!("call {} of the day for this account", times + 1);
                told.push(denied("", &counted.clause, &send, &value));
            }
        }
        if exchange.has(4) && self.rejected.get(exchange.asks).is_some() && exchange.sent.method != "GET" {
            told.push(Told::Seen(Observation::SentAgain));
        }
        told
    }

    /// An X-Request-ID that an earlier call had.
    fn reuse(&self, exchange: &Exchange<'_>, rules: &IdRules, signing: &SigningSpec) -> Option<Told> {
        let header = signing.request_id_header.as_deref()?;
        let id = exchange.sent.header(header)?;
        let earlier = self
            .calls
            .get(call(exchange, signing)?)
            .filter(|_| !id.trim().is_empty() && !id.contains('*'))?;
        let is_same = earlier.asks == exchange.asks;
        let at = format!("header/{header}");
        if is_same && earlier.began == exchange.began {
            // An archive has it twice.
            None
        } else if is_same && !earlier.is_answered {
            Some(Told::Unsure(at, Untold::Unanswered { number: earlier.number }))
        } else {
            let value = format!("that of exchange {}", earlier.number);
            Some(denied(&at, &rules.reused.clause, &rules.reused.send, &value))
        }
    }

    fn payment(
        &self,
        exchange: &Exchange<'_>,
        id: &str,
        rules: &IdRules,
        psu: &[(String, u64)],
    ) -> Option<Told> {
        let of = &rules.payment;
        let send = "the id of a payment that was made on this path";
        if rules.no_id.is_match(id) {
            return Some(denied(PATH, &of.clause, send, "what is no id"));
        }
        let is_deletion = exchange.sent.method == "DELETE";
        let pending = &rules.pending;
        if is_deletion && exchange.has(4) && self.statuses.get(hash(id)) == Some(&pending.is) {
            let value = format!("one whose status is {}", pending.is);
            return Some(denied(
                PATH,
                &pending.clause,
                "the deletion of a payment with another status",
                &value,
            ));
        }
        if is_deletion && exchange.status == Some(CONFLICT) && self.rejected.get(exchange.asks).is_some() {
            let value = "one whose deletion was refused before";
            let send = "the deletion of a payment with another status";
            return Some(warned(PATH, &pending.clause, send, value));
        }
        if !exchange.is_rejected() || (exchange.is_known)(id) {
            return None;
        }
        if is_deletion && self.deleted.get(hash(id)).is_some() {
            return Some(denied(PATH, &of.clause, send, "one that was deleted before"));
        }
        match self.made.get(hash(id)) {
            Some(made) if !exchange.sent.target().0.starts_with(&made.path) => {
                let value = format!("the id of what {} made", made.path);
                Some(denied(PATH, &of.clause, send, &value))
            }
            Some(made) if is_another(&made.psu, psu) => {
                Some(denied(PATH, &of.another, "the id of a payment of the same PSU", "one of another PSU"))
            }
            Some(_) => None,
            None if self.is_nearly_made(id) => Some(denied(PATH, &of.clause, send, "nearly the id of one")),
            // What was made before the history began is not in it.
            None => (exchange.status == Some(NOT_FOUND)).then(|| warned(PATH, &of.clause, send, UNKNOWN)),
        }
    }

    /// The account whose transactions are listed.
    fn list(&self, exchange: &Exchange<'_>, rules: &IdRules) -> Option<Told> {
        let (account, clause) = (exchange.lists.as_deref()?, &rules.account.clause);
        let send = "the id of an account of the PSU";
        if rules.no_id.is_match(account) {
            return Some(denied(PATH, clause, send, "what is no id"));
        }
        let is_unknown = exchange.is_clean
            && exchange.status == Some(NOT_FOUND)
            && !(exchange.is_known)(account)
            && self.listed.get(hash(account)).is_none();
        is_unknown.then(|| warned(PATH, clause, send, UNKNOWN))
    }

    fn in_basket(&self, exchange: &Exchange<'_>, rules: &IdRules, psu: &[(String, u64)]) -> Option<Told> {
        let of = &rules.in_basket;
        let at = of.at.as_deref()?;
        let send = "ids of payments that were made";
        for id in &basket(exchange, rules)? {
            if rules.no_id.is_match(id) {
                return Some(denied(at, &of.clause, send, "what is no id"));
            }
            if !exchange.is_rejected() || (exchange.is_known)(id) {
                continue;
            }
            let made = self.made.get(hash(id.as_str()));
            let found = if let (Some(clause), Some(())) = (&of.deleted, self.deleted.get(hash(id.as_str()))) {
                Some((clause, "one that was deleted"))
            } else if made.is_some_and(|made| Some(made.operation.as_str()) == exchange.operation) {
                Some((&of.clause, "the id of a basket"))
            } else if made.is_some_and(|made| is_another(&made.psu, psu)) {
                Some((&of.another, "one of another PSU"))
            } else if made.is_none() && self.is_nearly_made(id) {
                Some((&of.clause, "nearly the id of one"))
            } else {
                None
            };
            if let Some((clause, value)) = found {
                return Some(denied(at, clause, send, value));
            }
        }
        None
    }

    /// Returns true if it is known of all payments of this basket how they were made.
    pub(crate) fn made_all(&self, exchange: &Exchange<'_>, rules: &ClientRules) -> bool {
        let ids = rules.ids.as_ref().and_then(|ids| basket(exchange, ids));
        ids.is_some_and(|ids| ids.iter().all(|id| self.made.get(hash(id.as_str())).is_some()))
    }

    fn transaction(&self, exchange: &Exchange<'_>, rules: &IdRules) -> Option<Told> {
        let (account, id) = (exchange.named(&rules.account)?, exchange.named(&rules.transaction)?);
        let (of_account, of_id) = (&rules.account.clause, &rules.transaction.clause);
        let send = "an id of the transactions that were listed";
        if rules.no_id.is_match(account) {
            return Some(denied(PATH, of_account, "the account id of the transaction list", "what is no id"));
        }
        if rules.no_id.is_match(id) {
            return Some(denied(PATH, of_id, send, "what is no id"));
        }
        if !exchange.is_rejected() {
            return None;
        }
        let own = hash(id);
        if let Some(listed) = self.listed.get(hash(account)) {
            (!listed.contains(&own)).then(|| denied(PATH, of_id, send, "one that was not listed"))
        } else {
            let is_listed = self.listed.values().any(|listed| listed.contains(&own));
            let send = "the account in whose list the transaction is";
            is_listed.then(|| denied(PATH, of_account, send, "an account that was not listed"))
        }
    }

    /// Returns true if an id is that of something that was made, in other letters or cut off.
    fn is_nearly_made(&self, id: &str) -> bool {
        let is_near = |made: &Made| {
            made.id.eq_ignore_ascii_case(id)
                || (id.len() > 3 && (made.id.starts_with(id) || made.id.ends_with(id)))
                || id.contains(&made.id)
        };
        self.made.values().any(is_near)
    }

    /// Remembers an exchange. `made` are the ids that its answer gives to what it made.
    pub(crate) fn add(
        &mut self,
        exchange: &Exchange<'_>,
        rules: &ClientRules,
        (signing, masks): (&SigningSpec, &MaskSpec),
        made: BTreeSet<String>,
    ) {
        let Some(ids) = &rules.ids else { return };
        if let Some(call) = call(exchange, signing) {
            let Exchange { number, began, .. } = *exchange;
            let is_answered = exchange.status.is_some();
            self.calls.insert(call, Call { number, began, asks: exchange.asks, is_answered });
        }
        if exchange.has(4) && exchange.status != Some(TOO_MANY) {
            self.rejected.insert(exchange.asks, exchange.number);
        }
        if !exchange.has(2) {
            return;
        }
        let path = exchange.sent.target().0;
        let status = exchange.document.and_then(|body| body.get(&ids.pending.member)?.as_str());
        let own = exchange.payment(ids);
        for id in made.iter().map(String::as_str).chain(own) {
            if let Some(status) = status {
                self.statuses.insert(hash(id), status.to_owned());
            }
        }
        if let Some(id) = own.filter(|_| exchange.sent.method == "DELETE") {
            self.deleted.insert(hash(id), ());
        }
        for id in made {
            let operation = exchange.operation.unwrap_or_default().to_owned();
            let psu = exchange.psu(signing, masks);
            self.made.insert(hash(id.as_str()), Made { id, operation, path: path.to_owned(), psu });
        }
        if let (Some(account), Some(document)) = (&exchange.lists, exchange.document) {
            texts(document, self.listed.entry(hash(account.as_str())));
        }
        if rules.counted.as_ref().is_some_and(|rule| is_counted(rule, exchange)) {
            let account = hash(exchange.named(&ids.account).unwrap_or_default());
            let times = self.counted.entry(account);
            times.retain(|at| exchange.began.signed_duration_since(*at) < TimeDelta::days(1));
            times.push(exchange.began);
        }
    }
}

/// Returns the ids of the payments of a basket.
fn basket(exchange: &Exchange<'_>, rules: &IdRules) -> Option<Vec<String>> {
    let pointer = rules.in_basket.at.as_deref()?.strip_prefix("body")?;
    let body: Value = serde_json::from_slice(exchange.sent.body.bytes()?).ok()?;
    let ids = body.pointer(pointer)?.as_array()?.iter().filter_map(Value::as_str);
    Some(ids.map(str::to_owned).collect())
}

/// Returns a number for the TPP of a request and the id that it chose.
fn call(exchange: &Exchange<'_>, signing: &SigningSpec) -> Option<u64> {
    let header = |name: &Option<String>| name.as_deref().and_then(|name| exchange.sent.header(name));
    let id = header(&signing.request_id_header)?;
    Some(hash(&(id, header(&signing.certificate_header))))
}

/// Returns true if a call is counted.
fn is_counted(rule: &Counted, exchange: &Exchange<'_>) -> bool {
    let has_value = |text: &str| !text.trim().is_empty() || is_masked(text);
    exchange.operation == Some(rule.operation.as_str())
        && !exchange.sent.header(&rule.header).is_some_and(has_value)
}

/// Returns true if two requests name different PSUs.
fn is_another(one: &[(String, u64)], other: &[(String, u64)]) -> bool {
    one.iter().any(|(name, value)| other.iter().any(|(known, own)| known == name && own != value))
}

#[cfg(test)]
mod tests;
