//! Checks a request against earlier exchanges: ids that were created, listed, deleted or used up.

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

/// Statuses of a rejection that may be caused by an id.
const OF_AN_ID: [u16; 6] = [400, 403, 404, 409, 410, 422];

/// An id that an earlier request created.
#[derive(Debug)]
struct Made {
    id: String,
    operation: String,
    /// The path of the request that created it.
    path: String,
    psu: Vec<(String, u64)>,
}

/// A request with a request id.
#[derive(Debug)]
struct Call {
    number: u64,
    began: DateTime<Utc>,
    asks: u64,
    is_answered: bool,
}

/// The state of a client's session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    made: Bounded<Made>,
    deleted: Bounded<()>,
    statuses: Bounded<String>,
    /// Hashes of the strings in the listed transactions, by account.
    listed: Bounded<HashSet<u64>>,
    calls: Bounded<Call>,
    rejected: Bounded<u64>,
    /// Times of the calls that count against a quota, by account.
    counted: Bounded<Vec<DateTime<Utc>>>,
}

/// An exchange with the properties that a session needs.
pub(crate) struct Exchange<'a> {
    pub(crate) number: u64,
    pub(crate) began: DateTime<Utc>,
    pub(crate) operation: Option<&'a str>,
    /// Placeholder values in its path, by name.
    pub(crate) ids: &'a [(String, String)],
    /// The account whose transactions it lists.
    pub(crate) lists: Option<String>,
    pub(crate) sent: &'a Sent,
    /// Hash of the request, from [`asks`].
    pub(crate) asks: u64,
    pub(crate) status: Option<u16>,
    pub(crate) document: Option<&'a Value>,
    /// True if the client has no other violation.
    pub(crate) is_clean: bool,
    /// Returns true if the bank is known to have the resource with this id.
    pub(crate) is_known: &'a dyn Fn(&str) -> bool,
}

/// A result about a request.
pub(crate) enum Told {
    Wrong(Wrong),
    /// A place that cannot be judged, with the reason.
    Unsure(String, Untold),
    Seen(Observation),
}

impl Exchange<'_> {
    fn has(&self, family: u16) -> bool {
        self.status.is_some_and(|status| status / 100 == family)
    }

    /// Returns true if the bank may have rejected it because of an id.
    fn is_rejected(&self) -> bool {
        self.is_clean && self.status.is_some_and(|status| OF_AN_ID.contains(&status))
    }

    fn named(&self, id: &NamedId) -> Option<&str> {
        let found = self.ids.iter().find(|(name, _)| name.ends_with(&id.name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the payment id in its path.
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

/// Returns a hash of the method, target and body of a request.
pub(crate) fn asks(sent: &Sent) -> u64 {
    hash(&(&sent.method, sent.target(), sent.body.bytes()))
}

/// Returns the violation that a client sent `value` at a place, or nothing, instead of `send`.
pub(crate) fn wrong(at: &str, clause: &str, send: &str, value: Option<&str>) -> Wrong {
    let value = value.map(str::to_owned);
    Wrong { at: at.to_owned(), clause: clause.to_owned(), send: send.to_owned(), value, is_warning: false }
}

fn denied(at: &str, clause: &str, send: &str, value: &str) -> Told {
    Told::Wrong(wrong(at, clause, send, Some(value)))
}

/// Returns a warning instead, because another reading is possible.
fn warned(at: &str, clause: &str, send: &str, value: &str) -> Told {
    Told::Wrong(Wrong { is_warning: true, ..wrong(at, clause, send, Some(value)) })
}

/// Description of an id without further evidence.
const UNKNOWN: &str = "an id that no earlier response contained and that the bank does not know";

/// The status of a bank that does not know an id (RFC 9110 section 15.5.5).
const NOT_FOUND: u16 = 404;

/// The status of a bank with a conflicting resource state (RFC 9110 section 15.5.10).
const CONFLICT: u16 = 409;

/// The status of a bank that did not process a request (RFC 6585 section 4).
const TOO_MANY: u16 = 429;

/// The place of the path of a request.
pub(crate) const PATH: &str = "path";

impl Session {
    /// Returns the results of checking an exchange against earlier ones.
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
            // The document names no time zone, so a day must be the same in Oslo and in UTC.
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

    /// Returns a violation if an earlier call had the same X-Request-ID.
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
            // An archive lists it twice.
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
        let send = "the id of a payment that was created at this path";
        if rules.no_id.is_match(id) {
            return Some(denied(PATH, &of.clause, send, "an invalid id"));
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
            let value = "one whose deletion was rejected before";
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
                let value = format!("the id of a resource that {} created", made.path);
                Some(denied(PATH, &of.clause, send, &value))
            }
            Some(made) if is_another(&made.psu, psu) => {
                Some(denied(PATH, &of.another, "the id of a payment of the same PSU", "one of another PSU"))
            }
            Some(_) => None,
            None if self.is_nearly_made(id) => {
                Some(denied(PATH, &of.clause, send, "a misspelled or truncated id"))
            }
            // Payments from before the recorded traffic are not in the session.
            None => (exchange.status == Some(NOT_FOUND)).then(|| warned(PATH, &of.clause, send, UNKNOWN)),
        }
    }

    /// Checks the account whose transactions are listed.
    fn list(&self, exchange: &Exchange<'_>, rules: &IdRules) -> Option<Told> {
        let (account, clause) = (exchange.lists.as_deref()?, &rules.account.clause);
        let send = "the id of an account of the PSU";
        if rules.no_id.is_match(account) {
            return Some(denied(PATH, clause, send, "an invalid id"));
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
        let send = "ids of payments that were created";
        for id in &basket(exchange, rules)? {
            if rules.no_id.is_match(id) {
                return Some(denied(at, &of.clause, send, "an invalid id"));
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
                Some((&of.clause, "a misspelled or truncated id"))
            } else {
                None
            };
            if let Some((clause, value)) = found {
                return Some(denied(at, clause, send, value));
            }
        }
        None
    }

    /// Returns true if the session has seen the creation of all payments in a basket.
    pub(crate) fn made_all(&self, exchange: &Exchange<'_>, rules: &ClientRules) -> bool {
        let ids = rules.ids.as_ref().and_then(|ids| basket(exchange, ids));
        ids.is_some_and(|ids| ids.iter().all(|id| self.made.get(hash(id.as_str())).is_some()))
    }

    fn transaction(&self, exchange: &Exchange<'_>, rules: &IdRules) -> Option<Told> {
        let (account, id) = (exchange.named(&rules.account)?, exchange.named(&rules.transaction)?);
        let (of_account, of_id) = (&rules.account.clause, &rules.transaction.clause);
        let send = "the id of a listed transaction";
        if rules.no_id.is_match(account) {
            return Some(denied(PATH, of_account, "the account id of the transaction list", "an invalid id"));
        }
        if rules.no_id.is_match(id) {
            return Some(denied(PATH, of_id, send, "an invalid id"));
        }
        if !exchange.is_rejected() {
            return None;
        }
        let own = hash(id);
        if let Some(listed) = self.listed.get(hash(account)) {
            (!listed.contains(&own)).then(|| denied(PATH, of_id, send, "one that was not listed"))
        } else {
            let is_listed = self.listed.values().any(|listed| listed.contains(&own));
            let send = "the account whose list contains the transaction";
            is_listed.then(|| denied(PATH, of_account, send, "an account that was not listed"))
        }
    }

    /// Returns true if an id is that of a created resource in another case or truncated.
    fn is_nearly_made(&self, id: &str) -> bool {
        let is_near = |made: &Made| {
            made.id.eq_ignore_ascii_case(id)
                || (id.len() > 3 && (made.id.starts_with(id) || made.id.ends_with(id)))
                || id.contains(&made.id)
        };
        self.made.values().any(is_near)
    }

    /// Remembers an exchange. `made` holds the ids of created resources in its response.
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

/// Returns the ids of the payments in a basket.
fn basket(exchange: &Exchange<'_>, rules: &IdRules) -> Option<Vec<String>> {
    let pointer = rules.in_basket.at.as_deref()?.strip_prefix("body")?;
    let body: Value = serde_json::from_slice(exchange.sent.body.bytes()?).ok()?;
    let ids = body.pointer(pointer)?.as_array()?.iter().filter_map(Value::as_str);
    Some(ids.map(str::to_owned).collect())
}

/// Returns a hash of a request's TPP and request id.
fn call(exchange: &Exchange<'_>, signing: &SigningSpec) -> Option<u64> {
    let header = |name: &Option<String>| name.as_deref().and_then(|name| exchange.sent.header(name));
    let id = header(&signing.request_id_header)?;
    Some(hash(&(id, header(&signing.certificate_header))))
}

/// Returns true if a call counts against a quota.
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
