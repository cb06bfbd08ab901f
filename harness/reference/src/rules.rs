//! The rules of the bank: the whole document, changed by faults and variations. Each of these is an
//! [`Entry`].
//!
//! An entry has [`Effect`]s. Most replace a value of a request ([`Treatment`]), alter a response
//! ([`Alteration`]), change the form of responses ([`Form`]), or change a setting of the bank ([`Policy`]). A
//! [`Wrapper`] is code around the bank, for behavior that no setting describes.

mod alteration;
mod beside;
mod entry;
mod form;
mod reading;
pub(crate) mod rows;
mod treatment;
mod when;
mod wrapper;

use std::borrow::Cow;

use axum::http::{StatusCode, Uri};
use serde_json::{Map, Value};
use xs2aspec_bank::header::fields::Fields;
use xs2aspec_bank::json::JsonError;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::operations::{Between, Head};
use xs2aspec_bank::policy::Policy;
use xs2aspec_bank::refusal::{Code, Refusal};
use xs2aspec_bank::state::State;

pub(crate) use alteration::{Alteration, Change};
pub(crate) use beside::Beside;
#[cfg(test)]
pub(crate) use beside::is_of_every_second;
pub use entry::UnknownName;
#[cfg(test)]
pub(crate) use entry::assert_well_formed;
pub(crate) use entry::{Entry, near};
pub use form::REASON;
pub(crate) use form::{Form, Plain};
pub(crate) use reading::Reading;
pub(crate) use treatment::{Place, Then, Treatment};
pub(crate) use when::{Count, Likeness, Pattern, Sort, When};
pub(crate) use wrapper::{Call, Wrapper};

/// An effect of a fault or a variation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Parses a body as JSON in another way.
    Reads(Reading),
    /// Replaces a value of a request, or rejects it or fails on it.
    Treats(Treatment),
    /// Alters a response.
    Alters(Alteration),
    /// Changes status and code of rejections by this rule.
    Refuses(&'static str, StatusCode, Code),
    /// Changes the form of responses.
    Forms(Form),
    /// Changes settings of the bank.
    Policy(&'static Value),
    /// Runs code around the bank.
    Wraps(Wrapper),
}

impl Effect {
    /// Returns an effect that changes settings.
    pub(crate) fn policy(settings: Value) -> Self {
        Self::Policy(Box::leak(Box::new(settings)))
    }

    /// Returns true if the effect changes how header names are read, which shows only over a connection.
    pub(crate) fn is_of_names(&self) -> bool {
        matches!(self, Self::Policy(settings) if settings.pointer("/headers/names").is_some())
    }
}

/// The rules of a bank: the document, with faults and variations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    entries: &'static [&'static Entry],
    /// The entries whose condition does not hold, one bit for each entry with a condition.
    absent: u64,
    /// The current settings.
    policy: &'static Policy,
    /// The settings for each set of absent entries with settings.
    policies: &'static [(u64, Policy)],
}

impl Rules {
    /// Returns the rules with these entries. They are leaked, because rules are copied often and banks are
    /// few.
    pub(crate) fn of(entries: Vec<&'static Entry>) -> Self {
        let mut sets = vec![0];
        for (entry, at) in entries.iter().filter(|entry| entry.beside.is_some()).zip(0..64) {
            if entry.effects.iter().any(|effect| matches!(effect, Effect::Policy(_))) {
                sets.extend(sets.clone().into_iter().map(|absent: u64| absent | 1 << at));
            }
        }
        let rules = Self { entries: entries.leak(), ..Self::plain() };
        let policies = sets.into_iter().map(|absent| (absent, policy_of(Self { absent, ..rules })));
        let policies: &'static [(u64, Policy)] = policies.collect::<Vec<_>>().leak();
        Self { policy: &policies[0].1, policies, ..rules }
    }

    /// Returns the rules without faults and variations.
    pub(crate) fn plain() -> Self {
        Self { entries: &[], absent: 0, policy: Policy::document(), policies: &[] }
    }

    /// Returns the settings of the bank.
    pub(crate) fn policy(self) -> &'static Policy {
        self.policy
    }

    /// Returns the wrappers around the bank.
    pub(crate) fn wrappers(self) -> impl Iterator<Item = Wrapper> {
        self.effects().filter_map(|effect| match effect {
            Effect::Wraps(wrapper) => Some(*wrapper),
            _ => None,
        })
    }

    /// Returns the rules for one request, without the entries whose condition it does not satisfy.
    pub(crate) fn within(self, operation: Operation, head: Head<'_>, body: &[u8], state: &State) -> Self {
        let conditions = self.conditions().zip(0..64);
        let absent = conditions
            .filter(|(beside, _)| !beside.is_so(operation, head, body, state))
            .fold(0, |absent: u64, (_, at)| absent | 1 << at);
        let counts = self.policies.iter().fold(0, |all, (set, _)| all | set);
        let policy = self.policies.iter().find(|(set, _)| *set == absent & counts);
        Self { absent, policy: policy.map_or(self.policy, |(_, policy)| policy), ..self }
    }

    /// Records that a request succeeded, for conditions that count.
    pub(crate) fn note_answer(self, operation: Operation, head: Head<'_>, state: &State) {
        self.conditions().for_each(|beside| beside.note_answer(operation, head, state));
    }

    fn conditions(self) -> impl Iterator<Item = Beside> {
        self.entries.iter().filter_map(|entry| entry.beside)
    }

    /// Returns the entries whose condition holds.
    fn present(self) -> impl Iterator<Item = &'static Entry> {
        let mut at = 0;
        self.entries.iter().copied().filter(move |entry| {
            at += u32::from(entry.beside.is_some());
            entry.beside.is_none() || self.absent & 1 << (at - 1) == 0
        })
    }

    fn effects(self) -> impl Iterator<Item = &'static Effect> {
        self.present().flat_map(|entry| &entry.effects)
    }

    /// Returns the treatments, each with its clause.
    fn treatments(self) -> impl Iterator<Item = (&'static str, &'static Treatment)> {
        let all =
            self.present().flat_map(|entry| entry.effects.iter().map(|effect| (entry.clause(), effect)));
        all.filter_map(|(clause, effect)| match effect {
            Effect::Treats(treatment) => Some((clause, treatment)),
            _ => None,
        })
    }

    /// Alters a response.
    pub(crate) fn alter(self, operation: Operation, answer: &mut Value) {
        for effect in self.effects() {
            if let Effect::Alters(alteration) = effect {
                alteration.apply(operation, answer);
            }
        }
    }

    /// Changes status and code of a rejection.
    pub(crate) fn refuse(self, mut refusal: Refusal) -> Refusal {
        for effect in self.effects() {
            if let Effect::Refuses(rule, status, code) = effect
                && refusal.rule.starts_with(rule)
            {
                (refusal.status, refusal.code) = (*status, *code);
            }
        }
        refusal
    }

    /// Returns the forms of responses.
    pub(crate) fn forms(self) -> impl Iterator<Item = Form> {
        self.effects().filter_map(|effect| match effect {
            Effect::Forms(form) => Some(*form),
            _ => None,
        })
    }
}

impl Between for Rules {
    fn head(&self, operation: Operation, fields: Fields<'_>, uri: &Uri) -> Result<(), Refusal> {
        self.treatments().try_for_each(|(clause, treatment)| {
            treatment.head(operation, fields, uri).map_err(|refusal| refusal.by(clause))
        })
    }

    fn bytes<'a>(&self, operation: Operation, body: &'a [u8]) -> Result<Cow<'a, [u8]>, JsonError> {
        self.effects().try_fold(Cow::Borrowed(body), |body, effect| match effect {
            Effect::Reads(reading) => reading
                .reread(operation, body.into_owned())
                .map(Cow::Owned)
                .ok_or_else(|| JsonError::Malformed("its spelling is not accepted".to_owned())),
            _ => Ok(body),
        })
    }

    fn members(&self, operation: Operation, members: &mut Map<String, Value>) -> Result<(), Refusal> {
        self.treatments().try_for_each(|(clause, treatment)| {
            treatment.body(operation, members).map_err(|refusal| refusal.by(clause))
        })
    }
}

/// Returns the settings of the entries. Tests check that all of them are valid.
fn policy_of(rules: Rules) -> Policy {
    let settings = rules.effects().filter_map(|effect| match effect {
        Effect::Policy(settings) => Some(*settings),
        _ => None,
    });
    Policy::with(settings).unwrap_or_else(|error| panic!("invalid settings of a fault: {error}"))
}

/// Returns the fields of a valid body of an operation that creates something.
pub(crate) fn valid(operation: Operation) -> Map<String, Value> {
    let json = match operation {
        Operation::Basket => r#"{"paymentIds":["payment-pending-0001"]}"#,
        Operation::Ncbct => {
            r#"{"instructedAmount":{"amount":"100000.00","currency":"NOK"},"creditorName":"Synthetic",
                "creditorAccount":{"iban":"NO6100004200594","currency":"NOK"},
                "debtorAccount":{"iban":"NO1400004200179","currency":"NOK"},
                "regulatoryReportingCode":"14","regulatoryReportingInformation":"Machine parts"}"#
        }
        _ => {
            r#"{"instructedAmount":{"amount":"250.00","currency":"NOK"},"creditorName":"Synthetic",
                "creditorAccount":{"iban":"NO6100004200594","currency":"NOK"},
                "debtorAccount":{"iban":"NO1400004200179","currency":"NOK"},
                "startDate":"2030-03-01","frequency":"Monthly"}"#
        }
    };
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::variation::Variation;
    use xs2aspec_bank::header::table::Header;
    use xs2aspec_bank::policy::Looked;

    fn of(fault: &str) -> Rules {
        Rules::of(vec![fault.parse::<Fault>().unwrap().entry()])
    }

    #[test]
    fn rules_are_broken_by_their_own_fault_only() {
        assert_eq!(of("basket.mix/first-payment-only").policy().baskets.mix, Looked::First);
        assert_eq!(Rules::plain().policy().baskets.mix, Looked::All);
        let family = of("header.x-request-id.ncbct/not-required");
        let may_lack = |header, operation| family.policy().headers.may_lack(header, operation);
        assert!(may_lack(Header::XRequestId, Operation::Ncbct));
        assert!(!may_lack(Header::XRequestId, Operation::Periodic));
        assert!(!may_lack(Header::Digest, Operation::Ncbct));
    }

    #[test]
    fn entries_are_there_where_their_conditions_hold() {
        let on = |operation, settings: Value| {
            let entry = Entry::new("a.test/of-rules", vec![Effect::policy(settings)], "It is a test.");
            &*Box::leak(Box::new(entry.only(Beside::On(operation))))
        };
        let limit = |limit| serde_json::json!({ "baskets": { "limit": limit } });
        let rules = Rules::of(vec![on(Operation::Basket, limit(9)), on(Operation::Ncbct, limit(8))]);
        let (headers, uri) = (axum::http::HeaderMap::new(), Uri::from_static("/v1"));
        let state = State::new(0, &xs2aspec_bank::seed::Seed::built_in(), chrono::NaiveDate::default());
        let limit_on = |operation| {
            let head = Head { fields: Fields(&headers), uri: &uri, turn: 0 };
            rules.within(operation, head, b"", &state).policy().baskets.limit
        };
        let limits = [Operation::Basket, Operation::Ncbct, Operation::Periodic].map(limit_on);
        assert_eq!(limits, [9, 8, 10]);
    }

    #[test]
    fn freedoms_are_used_otherwise_by_their_own_variation_only() {
        let variation: Variation = "json.null.request/absent".parse().unwrap();
        let rules = Rules::of(vec![variation.entry()]);
        let read = |rules: Rules| rules.bytes(Operation::Ncbct, br#"{"a":null}"#).map(Cow::into_owned);
        assert_eq!(read(rules), Ok(b"{}".to_vec()));
        assert_eq!(read(Rules::plain()), Ok(br#"{"a":null}"#.to_vec()));
    }
}
