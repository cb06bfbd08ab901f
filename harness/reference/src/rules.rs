//! What the bank keeps to: the whole document, or that with a fault or a variation, each of them an [`Entry`]
//! in a list.
//!
//! What an entry does are its [`Effect`]s. Most take a value of a request for another ([`Treatment`]), alter
//! an answer ([`Alteration`]) or give answers another form ([`Form`]), each at one place for all of them; a
//! [`Breach`] or [`Variance`] has a branch of its own at the place of its rule, which asks [`Rules`].

mod alteration;
mod beside;
mod breach;
mod entry;
mod form;
pub(crate) mod rows;
mod same;
mod state_breach;
mod treatment;
mod wrapper;

use std::sync::LazyLock;

use axum::http::{StatusCode, Uri};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::rows::decimal;
use crate::header::{fields::Fields, table::Header};
use crate::operation::{Operation, Product};
use crate::policy::Policy;
use crate::refusal::{Code, Refusal};
use crate::state::State;

pub(crate) use alteration::{Alteration, Change};
#[cfg(test)]
pub(crate) use beside::is_of_every_second;
pub(crate) use beside::{Beside, Head, Turn};
pub(crate) use breach::{
    Corporate, DigestBreach, FlagBreach, Hash, JsonBreach, List, MonthsBreach, Narrowness, SignatureBreach,
    TwinBreach, Unreported, Values, Variance,
};
pub use entry::UnknownName;
pub(crate) use entry::{Entry, near};
pub use form::REASON;
pub(crate) use form::{Form, Plain};
pub(crate) use state_breach::{IdLikeness, ReferenceBreach, StateBreach, StateVariance};
pub(crate) use treatment::{Count, Likeness, Place, Then, Treatment, When};
pub(crate) use wrapper::{Call, Wrapper};

/// What a fault or a variation does to the bank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// A rule with a branch of its own, that is broken.
    Breach(Breach),
    /// A freedom with a branch of its own, that is used in another way.
    Variance(Variance),
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
}

/// What a rule with a branch of its own does. A variant is asked for at exactly one place, which is where its
/// rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Breach {
    /// The operation accepts a request without this required header.
    HeaderNotRequired(Header, Operation),
    /// The form of this header's value is not looked at.
    HeaderForm(Header),
    /// A UUID in this header may be in braces, as a URN or without hyphens.
    UuidNotation(Header),
    /// Amounts in this currency, or in all where there is none, may have so many fraction digits and no more.
    FractionDigits(Option<&'static str>, usize),
    /// A currency without minor units may have two fraction digits.
    TwoFractionDigitsForZero,
    /// The regulatory fields are required from this amount in NOK.
    ReportingFrom(#[serde(deserialize_with = "decimal")] Decimal),
    /// Of which transfers nothing is reported.
    Unreported(Unreported),
    /// Which months are noticed as duplicates.
    Months(MonthsBreach),
    /// Who is a corporate user in this way need not name an agreement in this operation.
    NoAgreement(Operation, Corporate),
    /// Amounts may have more than eighteen digits, if no more stand before the point.
    WholeDigitsOnly,
    /// The day of this member may be so many days past.
    PastDays(&'static str, i64),
    /// What an earlier payment that is the same means.
    Twins(TwinBreach),
    /// A PSU-ID that nobody has is accepted in this operation.
    UnknownPsu(Operation),
    /// A pending payment of this product is deleted.
    PendingDeleted(Product),
    /// The deletion of a pending payment is refused, and done.
    PendingCancelled,
    /// A parameter of the customer list works in another way.
    Flags(FlagBreach),
    /// This text is a boolean as well.
    Boolean(&'static str),
    /// In this parameter alone, this text is.
    BooleanOf(&'static str, &'static str),
    /// This member shows in private context.
    ShownInPrivate(&'static str),
    /// This member shows in corporate context where there is no batch.
    ShownOfNoBatch(&'static str),
    /// An unknown transaction is answered with another one of the account.
    AnyTransaction,
    /// A transaction is found in whatever account it is.
    AnyAccount,
    /// X-PSU-IDENTITY stands for PSU-ID on the basket as well.
    IdentityOnBasket,
    /// What is no digit does not count in X-PSU-IDENTITY.
    IdentityDigits,
    /// An X-PSU-IDENTITY that nobody has is accepted in this operation.
    UnknownIdentity(Operation),
    /// Payments show to anyone.
    ShownToAnyone,
    /// An account without funds makes the bank fail.
    FundsFail,
    /// More than a million from an account without funds makes the bank fail.
    LargeFundsFail,
    /// The same with 503.
    FundsUnavailable,
    /// An account without funds pays all the same.
    FundsIgnored,
    /// So many calls a day without PSU-IP-Address are allowed.
    UnattendedCalls(u32),
    /// What the Digest header says is checked in another way.
    Digest(DigestBreach),
    /// Any signature is accepted in this operation.
    NotVerified(Operation),
    /// The signature is checked in another way.
    Signature(SignatureBreach),
    /// Header names in this letter case are not known.
    FieldNames(FieldNames),
    /// A body is read in another way.
    Json(JsonBreach),
    /// A body that is no JSON object makes the bank fail.
    BodyFails,
    /// A body that is no JSON object is taken for a valid one of this operation.
    BodyNotRead(Operation),
    /// What was before is remembered in another way.
    State(StateBreach),
}

/// Another idea of the names of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FieldNames {
    /// Those in capital letters alone are not known, but for those that the document writes so.
    NoCapitals,
    /// Those that begin with a small letter and have a capital one are not known.
    NoMixture,
    /// An underscore is a hyphen.
    Underscores,
}

impl FieldNames {
    pub(crate) fn are_unknown(self, name: &[u8]) -> bool {
        let has_capitals = name.iter().any(u8::is_ascii_uppercase);
        match self {
            Self::NoCapitals => {
                has_capitals
                    && !name.iter().any(u8::is_ascii_lowercase)
                    && !matches!(name, b"PSU-ID" | b"X-PSU-IDENTITY")
            }
            Self::NoMixture => has_capitals && name.first().is_some_and(u8::is_ascii_lowercase),
            Self::Underscores => false,
        }
    }
}

/// What a bank keeps to: the whole document, in its own way or another, or all but one clause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    entries: &'static [&'static Entry],
    /// The settings that follow from them.
    policy: &'static Policy,
    /// Those that follow from all but the first.
    policy_of_others: &'static Policy,
}

impl Rules {
    /// The rules of a bank that differs in these ways, the fault first if there is one. They are kept as long
    /// as the process lives: rules are handed around by the thousand, and banks are few.
    pub(crate) fn of(entries: Vec<&'static Entry>) -> Self {
        let entries: &'static [&'static Entry] = entries.leak();
        let policy: &'static Policy = Box::leak(Box::new(policy_of(entries)));
        let others = entries.get(1..).unwrap_or_default();
        let policy_of_others =
            if others.is_empty() { plain() } else { Box::leak(Box::new(policy_of(others))) };
        Self { entries, policy, policy_of_others }
    }

    /// The whole document, in this bank's usual way.
    pub(crate) fn plain() -> Self {
        let policy = plain();
        Self { entries: &[], policy, policy_of_others: policy }
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

    /// The rules as they are for one request: without the fault, where that is there beside something else
    /// alone, and the request does not have it. The fault is the first entry.
    pub(crate) fn within(self, operation: Operation, head: Head<'_>, body: &[u8], state: &State) -> Self {
        match self.entries.split_first() {
            Some((Entry { beside: Some(beside), .. }, rest))
                if !beside.is_so(operation, head, body, state) =>
            {
                Self { entries: rest, policy: self.policy_of_others, ..self }
            }
            _ => self,
        }
    }

    fn effects(self) -> impl Iterator<Item = &'static Effect> {
        self.entries.iter().flat_map(|entry| &entry.effects)
    }

    /// The rules with a branch of their own that this bank breaks, or does not have.
    pub(crate) fn breaches(self) -> impl Iterator<Item = Breach> {
        self.effects().filter_map(|effect| match effect {
            Effect::Breach(breach) => Some(*breach),
            _ => None,
        })
    }

    /// The first of them.
    pub(crate) fn breach(self) -> Option<Breach> {
        self.breaches().next()
    }

    /// Whether the rule that asks is one that this bank breaks.
    pub(crate) fn broken_by(self, breach: Breach) -> bool {
        self.breaches().any(|own| own == breach)
    }

    /// What this bank does with what was before, if that is what it breaks.
    pub(crate) fn state_breach(self) -> Option<StateBreach> {
        self.breaches().find_map(|breach| match breach {
            Breach::State(breach) => Some(breach),
            _ => None,
        })
    }

    /// Whether this bank remembers what was before in this other lawful way.
    pub(crate) fn remembers_by(self, variance: StateVariance) -> bool {
        self.varied_by(Variance::State(variance))
    }

    /// Whether this bank uses any freedom with a branch of its own in another way.
    pub(crate) fn is_varied(self) -> bool {
        self.effects().any(|effect| matches!(effect, Effect::Variance(_)))
    }

    /// Whether the freedom that asks is one that this bank uses in another way.
    pub(crate) fn varied_by(self, variance: Variance) -> bool {
        self.effects().any(|effect| matches!(effect, Effect::Variance(own) if *own == variance))
    }

    /// Treats what is meant in the head of a request.
    pub(crate) fn treat_head(
        self,
        operation: Operation,
        fields: Fields<'_>,
        uri: &Uri,
    ) -> Result<(), Refusal> {
        self.treatments().try_for_each(|(clause, treatment)| {
            treatment.head(operation, fields, uri).map_err(|refusal| refusal.by(clause))
        })
    }

    /// Treats what is meant in the body of a request.
    pub(crate) fn treat_body(
        self,
        operation: Operation,
        members: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        self.treatments().try_for_each(|(clause, treatment)| {
            treatment.body(operation, members).map_err(|refusal| refusal.by(clause))
        })
    }

    /// The treatments, each with the clause that it breaks or uses.
    fn treatments(self) -> impl Iterator<Item = (&'static str, &'static Treatment)> {
        self.named().filter_map(|(clause, effect)| match effect {
            Effect::Treats(treatment) => Some((clause, treatment)),
            _ => None,
        })
    }

    fn named(self) -> impl Iterator<Item = (&'static str, &'static Effect)> {
        let entries = self.entries.iter();
        entries.flat_map(|entry| entry.effects.iter().map(|effect| (entry.clause(), effect)))
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

/// The settings of a bank that differs from the document in nothing.
fn plain() -> &'static Policy {
    static PLAIN: LazyLock<Policy> = LazyLock::new(Policy::default);
    &PLAIN
}

/// The settings that follow from entries, which tests hold to be settings of the policy.
fn policy_of(entries: &[&'static Entry]) -> Policy {
    let settings = entries.iter().flat_map(|entry| &entry.effects).filter_map(|effect| match effect {
        Effect::Policy(settings) => Some(*settings),
        _ => None,
    });
    Policy::with(settings).unwrap_or_else(|error| panic!("the settings of a fault: {error}"))
}

#[cfg(test)]
impl Rules {
    pub(crate) fn kept() -> Self {
        Self::plain()
    }

    pub(crate) fn broken(breach: Breach) -> Self {
        Self::with(Effect::Breach(breach))
    }

    pub(crate) fn varied(variance: Variance) -> Self {
        Self::with(Effect::Variance(variance))
    }

    pub(crate) fn set(settings: &Value) -> Self {
        Self::with(Effect::policy(settings.clone()))
    }

    fn with(effect: Effect) -> Self {
        Self::of(vec![Box::leak(Box::new(Entry::new("a.test/of-rules", vec![effect], "It is a test.")))])
    }
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

/// Holds a list and its table in a file of this crate to each other, and its entries to their form.
#[cfg(test)]
pub(crate) fn assert_table_is_current(list: &[Entry], title: &str, file: &str) {
    use std::fmt::Write as _;

    let mut names = std::collections::BTreeSet::new();
    let mut table = format!(
        "# {title}\n\nMade by `bash .ci/bless`.\n\n\
         | name | what the bank then does |\n|---|---|\n"
    );
    for Entry { name, says, .. } in list {
        let (clause, what) = name.split_once('/').expect("a clause and what is special");
        let is_kebab = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        assert!(clause.split('.').all(is_kebab) && is_kebab(what), "{name}");
        assert!(says.len() > 15 && says.ends_with('.'), "{name}");
        assert!(names.insert(name), "{name} twice");
        writeln!(table, "| `{name}` | {says} |").unwrap();
    }
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == table, "{file} is not current: bash .ci/bless");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::policy::Looked;
    use crate::variation::Variation;

    fn of(fault: &str) -> Rules {
        Rules::of(vec![fault.parse::<Fault>().unwrap().entry()])
    }

    #[test]
    fn rules_are_broken_by_their_own_fault_only() {
        assert_eq!(of("basket.mix/first-payment-only").policy().baskets.mix, Looked::First);
        assert_eq!(Rules::plain().policy().baskets.mix, Looked::All);
        let family = of("header.x-request-id.ncbct/not-required");
        assert!(family.broken_by(Breach::HeaderNotRequired(Header::XRequestId, Operation::Ncbct)));
        assert!(!family.broken_by(Breach::HeaderNotRequired(Header::XRequestId, Operation::Periodic)));
        assert!(!family.broken_by(Breach::HeaderNotRequired(Header::Digest, Operation::Ncbct)));
    }

    #[test]
    fn freedoms_are_used_otherwise_by_their_own_variation_only() {
        let variation: Variation = "json.null.request/absent".parse().unwrap();
        let rules = Rules::of(vec![variation.entry()]);
        assert!(rules.varied_by(Variance::NullIsAbsent));
        assert!(!rules.varied_by(Variance::LastOfDuplicates));
        assert_eq!(rules.breach(), None);
    }
}
