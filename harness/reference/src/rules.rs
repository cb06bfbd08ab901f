//! What the bank keeps to: the whole document, or that with a fault or a variation, each of them an [`Entry`]
//! in a list.
//!
//! What an entry does are its [`Effect`]s. Most take a value of a request for another ([`Treatment`]), alter
//! an answer ([`Alteration`]), give answers another form ([`Form`]) or change a setting of the bank
//! ([`Policy`]). What no bank would decide is a program around it ([`Wrapper`]).

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

/// What a fault or a variation does to the bank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// A body that is read as JSON in another way.
    Reads(Reading),
    /// A value of a request that is taken for another, or stumbled over.
    Treats(Treatment),
    /// An answer that is not what the document says.
    Alters(Alteration),
    /// A refusal by this rule that has another status and code.
    Refuses(&'static str, StatusCode, Code),
    /// Answers of another form.
    Forms(Form),
    /// Settings of the bank that are other ones.
    Policy(&'static Value),
    /// A program around the bank.
    Wraps(Wrapper),
}

impl Effect {
    /// Other settings of the bank.
    pub(crate) fn policy(settings: Value) -> Self {
        Self::Policy(Box::leak(Box::new(settings)))
    }

    /// Returns true if it decides how the names of headers are read, which shows on a connection alone.
    pub(crate) fn is_of_names(&self) -> bool {
        matches!(self, Self::Policy(settings) if settings.pointer("/headers/names").is_some())
    }
}

/// What a bank keeps to: the whole document, in its own way or another, or all but one clause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    entries: &'static [&'static Entry],
    /// Which of the entries with a condition are not there, because it does not hold: a bit for each of them.
    absent: u64,
    /// The settings that follow from the others.
    policy: &'static Policy,
    /// The settings for each set of absent entries, as far as these have any.
    policies: &'static [(u64, Policy)],
}

impl Rules {
    /// The rules of a bank that differs in these ways. They are kept as long as the process lives: rules are
    /// handed around by the thousand, and banks are few.
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

    /// The whole document, in this bank's usual way.
    pub(crate) fn plain() -> Self {
        Self { entries: &[], absent: 0, policy: Policy::document(), policies: &[] }
    }

    /// The settings of the bank.
    pub(crate) fn policy(self) -> &'static Policy {
        self.policy
    }

    /// The programs around the bank.
    pub(crate) fn wrappers(self) -> impl Iterator<Item = Wrapper> {
        self.effects().filter_map(|effect| match effect {
            Effect::Wraps(wrapper) => Some(*wrapper),
            _ => None,
        })
    }

    /// The rules as they are for one request: without the entries whose condition it does not meet.
    pub(crate) fn within(self, operation: Operation, head: Head<'_>, body: &[u8], state: &State) -> Self {
        let conditions = self.conditions().zip(0..64);
        let absent = conditions
            .filter(|(beside, _)| !beside.is_so(operation, head, body, state))
            .fold(0, |absent: u64, (_, at)| absent | 1 << at);
        let counts = self.policies.iter().fold(0, |all, (set, _)| all | set);
        let policy = self.policies.iter().find(|(set, _)| *set == absent & counts);
        Self { absent, policy: policy.map_or(self.policy, |(_, policy)| policy), ..self }
    }

    /// Notes that a request was answered, for the conditions that count answers.
    pub(crate) fn note_answer(self, operation: Operation, head: Head<'_>, state: &State) {
        self.conditions().for_each(|beside| beside.note_answer(operation, head, state));
    }

    fn conditions(self) -> impl Iterator<Item = Beside> {
        self.entries.iter().filter_map(|entry| entry.beside)
    }

    /// The entries that are there.
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

    /// The treatments, each with the clause that it breaks or uses.
    fn treatments(self) -> impl Iterator<Item = (&'static str, &'static Treatment)> {
        let all =
            self.present().flat_map(|entry| entry.effects.iter().map(|effect| (entry.clause(), effect)));
        all.filter_map(|(clause, effect)| match effect {
            Effect::Treats(treatment) => Some((clause, treatment)),
            _ => None,
        })
    }

    /// Alters an answer.
    pub(crate) fn alter(self, operation: Operation, answer: &mut Value) {
        for effect in self.effects() {
            if let Effect::Alters(alteration) = effect {
                alteration.apply(operation, answer);
            }
        }
    }

    /// The refusal with the status and code that it then has.
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

    /// What other forms answers have.
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
                .ok_or_else(|| JsonError::Malformed("not written as it should be".to_owned())),
            _ => Ok(body),
        })
    }

    fn members(&self, operation: Operation, members: &mut Map<String, Value>) -> Result<(), Refusal> {
        self.treatments().try_for_each(|(clause, treatment)| {
            treatment.body(operation, members).map_err(|refusal| refusal.by(clause))
        })
    }
}

/// The settings that follow from the entries of rules, which tests hold to be settings of the policy.
fn policy_of(rules: Rules) -> Policy {
    let settings = rules.effects().filter_map(|effect| match effect {
        Effect::Policy(settings) => Some(*settings),
        _ => None,
    });
    Policy::with(settings).unwrap_or_else(|error| panic!("the settings of a fault: {error}"))
}

/// The members of a valid body of an operation that creates.
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
