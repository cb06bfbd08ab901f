//! The ways in which the bank can break the document, one at a time.
//!
//! A fault is one [`Entry`] in the file of its subject under `fault/`. What it does is its [`Effect`]: most take a value of a request
//! for another ([`Treatment`]) or alter an answer ([`Alteration`]), each at one place for all of them; a [`Breach`] has a branch of
//! its own at the place of its rule, which asks [`Rules::broken_by`].

mod alteration;
mod amount;
mod answers;
mod basket;
mod failure;
mod header;
mod lists;
mod members;
mod periodic;
mod signing;
mod treatment;

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use axum::http::{StatusCode, Uri};
use serde_json::{Map, Value};

use crate::header::{Fields, Header};
use crate::operation::Operation;
use crate::refusal::{Code, Refusal};

pub(crate) use alteration::{Alteration, Change};
pub(crate) use treatment::{Place, Then, Treatment, When};

/// One named way in which the bank breaks one clause.
#[derive(Clone, Copy)]
pub struct Fault(&'static Entry);

impl Fault {
    /// Every fault, in the order of the README.
    pub fn all() -> impl Iterator<Item = Self> {
        FAULTS.iter().map(Self)
    }

    /// The name, `<clause>/<what is wrong>`.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The id of the clause that is broken: the name up to its slash.
    pub fn clause(self) -> &'static str {
        self.0.name.split_once('/').map_or(self.name(), |(clause, _)| clause)
    }

    /// One sentence about what the bank then does.
    pub fn says(self) -> &'static str {
        &self.0.says
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        Self::all().find(|fault| fault.name() == name).ok_or_else(|| UnknownFault {
            name: name.to_owned(),
            near: near(name, Self::all().map(Self::name)),
        })
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Fault {}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({:?})", self.name())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no fault has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a fault, found {name:?}{}", suggestion(*near))]
pub struct UnknownFault {
    /// The name that was asked for.
    pub name: String,
    /// The fault whose name is nearest, if one is near.
    pub near: Option<&'static str>,
}

/// What a fault does to the bank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// A rule with a branch of its own.
    Breach(Breach),
    /// A value of a request that is taken for another, or stumbled over.
    Treats(Treatment),
    /// An answer that is not what the document says.
    Alters(Alteration),
    /// A refusal by this rule that has another status and code.
    Refuses(&'static str, StatusCode, Code),
}

/// What a rule with a branch of its own does. A variant is asked for at exactly one place, which is where its rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breach {
    /// The operation accepts a request without this required header.
    HeaderNotRequired(Header, Operation),
    /// The form of this header's value is not looked at.
    HeaderForm(Header),
    /// Amounts in this currency, or in all where there is none, may have so many fraction digits and no more.
    FractionDigits(Option<&'static str>, usize),
    /// A currency without minor units may have two fraction digits.
    TwoFractionDigitsForZero,
    /// From how many kroner on the regulatory fields are required, in hundredths.
    ReportingFrom(u64),
    /// Which months are noticed as duplicates.
    Months(MonthsBreach),
    /// Which payments of a basket are looked at for the mix rule.
    Mix(MixBreach),
    /// Baskets may have at most so many payments.
    BasketLimit(usize),
    /// A basket is received whatever its payments are.
    BasketStatus,
    /// A corporate user need not name an agreement.
    NoAgreement,
    /// A pending payment is deleted.
    PendingDeleted,
    /// An account without funds makes the bank fail.
    FundsFail,
    /// So many calls a day without PSU-IP-Address are allowed.
    UnattendedCalls(u32),
    /// What the Digest header says is checked in another way.
    Digest(DigestBreach),
    /// The signature is checked in another way.
    Signature(SignatureBreach),
    /// A body that is no JSON object makes the bank fail.
    BodyFails,
    /// A body that is no JSON object is taken for a valid one of this operation.
    BodyNotRead(Operation),
}

/// Another idea of duplicate months.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MonthsBreach {
    /// Only those side by side.
    OnlyAdjacent,
    /// Only that of the first month.
    OnlyOfFirst,
    /// None: they are dropped silently.
    Dropped,
    /// Only in lists of two.
    OnlyPairs,
}

/// Another idea of which payments may not be in a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MixBreach {
    /// Only the first payment is looked at.
    FirstOnly,
    /// Only the last payment is looked at.
    LastOnly,
    /// Periodic payments alone are accepted, and only the mix is refused.
    OnlyMixed,
    /// No payment is looked at.
    Never,
    /// Cross-border payments are refused as well.
    CrossBorderToo,
}

/// Another idea of a Digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DigestBreach {
    /// Nothing is compared.
    Unchecked,
    /// The hash of the JSON as the bank would write it is accepted and demanded.
    Rewritten,
    /// Only SHA-256 is known.
    Only256,
    /// Only SHA-512 is known.
    Only512,
    /// Another algorithm is passed over.
    UnknownPasses,
    /// A hash of another length is compared as far as it goes.
    AnyLength,
    /// What is no base64 is passed over.
    NoBase64,
    /// A value without `=` is passed over.
    NoForm,
    /// The algorithm has to be in capital letters.
    Capitals,
    /// Only periodic payments have theirs looked at.
    OnlyPeriodic,
    /// Only cross-border payments have theirs looked at.
    OnlyNcbct,
}

/// Another idea of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureBreach {
    /// The value is not verified.
    Unchecked,
    /// The value is verified only if it is base64.
    OnlyForm,
    /// The header is not read.
    NotRead,
    /// A signature by the key over anything is accepted.
    AnyValues,
    /// This header need not be in the list although the request has it.
    NotListed(&'static str),
    /// One of the listed headers need not be in the signing string.
    OneUnsigned,
    /// A signature that is no base64 is passed over.
    NoBase64,
    /// An empty signature is passed over.
    Empty,
    /// A listed header that the request does not have is passed over.
    AbsentPasses,
    /// keyId is not read.
    AnyKeyId,
    /// keyId must have its form, and may name another certificate's serial number.
    AnySerial,
    /// keyId may name another authority.
    AnyIssuer,
    /// keyId may be absent.
    NoKeyId,
    /// The signature parameter may be absent.
    NoSignature,
    /// Without a list of headers all of them are taken to be signed.
    NoHeaders,
    /// Any algorithm is accepted.
    AnyAlgorithm,
    /// `rsa-sha256` is refused.
    NoRsaSha256,
    /// The list of signed headers must be sorted.
    SortedList,
    /// Encoded words in encoding Q are not understood.
    NoQ,
    /// Encoded words in encoding B are not understood.
    NoB,
    /// Encoded words in iso-8859-1 are not understood.
    NoLatin1,
    /// A bare header is not understood.
    NoBare,
    /// A signature by the key of any certificate that was seen before is accepted.
    AnyKnownKey,
}

/// What a bank keeps to: the whole document, or all but one clause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    effect: Option<Effect>,
}

impl Rules {
    pub(crate) fn of(fault: Option<Fault>) -> Self {
        Self { effect: fault.map(|fault| fault.0.effect) }
    }

    /// The rule that this bank breaks, if it is one with a branch of its own.
    pub(crate) fn breach(self) -> Option<Breach> {
        match self.effect {
            Some(Effect::Breach(breach)) => Some(breach),
            _ => None,
        }
    }

    /// Whether the rule that asks is the one that this bank breaks.
    pub(crate) fn broken_by(self, breach: Breach) -> bool {
        self.breach() == Some(breach)
    }

    /// Treats what the fault means in the head of a request.
    pub(crate) fn treat_head(
        self,
        operation: Operation,
        fields: Fields<'_>,
        uri: &Uri,
    ) -> Result<(), Refusal> {
        match self.effect {
            Some(Effect::Treats(treatment)) => treatment.head(operation, fields, uri),
            _ => Ok(()),
        }
    }

    /// Treats what the fault means in the body of a request.
    pub(crate) fn treat_body(
        self,
        operation: Operation,
        members: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        match self.effect {
            Some(Effect::Treats(treatment)) => treatment.body(operation, members),
            _ => Ok(()),
        }
    }

    /// Alters an answer as the fault has it.
    pub(crate) fn alter(self, operation: Operation, answer: &mut Value) {
        if let Some(Effect::Alters(alteration)) = self.effect {
            alteration.apply(operation, answer);
        }
    }

    /// The refusal as the fault has it.
    pub(crate) fn refuse(self, mut refusal: Refusal) -> Refusal {
        if let Some(Effect::Refuses(rule, status, code)) = self.effect
            && refusal.rule == rule
        {
            (refusal.status, refusal.code) = (status, code);
        }
        refusal
    }
}

#[cfg(test)]
impl Rules {
    pub(crate) fn kept() -> Self {
        Self { effect: None }
    }

    pub(crate) fn broken(breach: Breach) -> Self {
        Self { effect: Some(Effect::Breach(breach)) }
    }
}

/// A fault as its subject's file declares it.
#[derive(Debug)]
struct Entry {
    name: String,
    says: String,
    effect: Effect,
}

impl Entry {
    fn breach(name: impl Into<String>, breach: Breach, says: impl Into<String>) -> Self {
        Self { name: name.into(), says: says.into(), effect: Effect::Breach(breach) }
    }

    fn treats(name: impl Into<String>, treatment: Treatment, says: impl Into<String>) -> Self {
        Self { name: name.into(), says: says.into(), effect: Effect::Treats(treatment) }
    }

    fn alters(name: impl Into<String>, alteration: Alteration, says: impl Into<String>) -> Self {
        Self { name: name.into(), says: says.into(), effect: Effect::Alters(alteration) }
    }
}

/// Every fault. The list is made once, since whole families are written as one line.
static FAULTS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let subjects = [
        header::faults(),
        signing::faults(),
        amount::faults(),
        members::faults(),
        lists::faults(),
        periodic::faults(),
        basket::faults(),
        failure::faults(),
        answers::faults(),
    ];
    subjects.into_iter().flatten().collect()
});

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

/// The operation in words, as the sentences of faults have it.
fn title(operation: Operation) -> &'static str {
    match operation {
        Operation::Basket => "Basket creation",
        Operation::Ncbct => "NCBCT creation",
        Operation::Periodic => "Periodic NDCT creation",
        Operation::Customers => "The customer list",
        Operation::Transaction => "Reading transaction details",
        _ => "The operation",
    }
}

/// The candidate most like `name`, if it is like it at all.
fn near(name: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    candidates
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn suggestion(near: Option<&str>) -> String {
    near.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_is_well_formed_and_unique() {
        let mut names = BTreeSet::new();
        for fault in Fault::all() {
            let (clause, variation) = fault.name().split_once('/').expect("a clause and what is wrong");
            let is_kebab = |part: &str| {
                !part.is_empty()
                    && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            };
            assert!(clause.split('.').all(is_kebab) && is_kebab(variation), "{fault}");
            assert_eq!(fault.clause(), clause);
            assert!(fault.says().len() > 15 && fault.says().ends_with('.'), "{fault}");
            assert!(names.insert(fault.name()), "{fault} twice");
        }
        let effects: BTreeSet<String> = FAULTS.iter().map(|entry| format!("{:?}", entry.effect)).collect();
        assert_eq!(effects.len(), FAULTS.len(), "two faults do the same");
        assert!(FAULTS.len() >= 200, "{}", FAULTS.len());
    }

    #[test]
    fn the_table_of_faults_is_current() {
        let rows = Fault::all().map(|fault| format!("| `{}` | {} |\n", fault.name(), fault.says()));
        let rows: String = rows.collect();
        let head = "# Faults of the reference bank\n\nMade by `UPDATE_GENERATED=1 cargo test -p xs2aspec-reference`.\n\n\
                    | name | what the bank then does |\n|---|---|\n";
        let table = format!("{head}{rows}");
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/faults.md"), &table).unwrap();
        }
        let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/faults.md")).unwrap();
        assert!(
            kept == table,
            "faults.md is not current: UPDATE_GENERATED=1 cargo test -p xs2aspec-reference"
        );
    }

    #[test]
    fn faults_are_found_by_name() {
        for fault in Fault::all() {
            assert_eq!(fault.name().parse::<Fault>().unwrap(), fault);
        }
    }

    #[test]
    fn an_unknown_name_suggests_a_near_one() {
        let error = "basket.mix/first-payment".parse::<Fault>().unwrap_err();
        assert_eq!(error.near, Some("basket.mix/first-payment-only"));
        assert_eq!(
            error.to_string(),
            "expected the name of a fault, found \"basket.mix/first-payment\"; \
             did you mean \"basket.mix/first-payment-only\"?"
        );
        let error = "zzz".parse::<Fault>().unwrap_err();
        assert_eq!(error.to_string(), "expected the name of a fault, found \"zzz\"");
    }

    #[test]
    fn rules_are_broken_by_their_own_fault_only() {
        let rules = Rules::of(Some("basket.mix/first-payment-only".parse().unwrap()));
        assert!(rules.broken_by(Breach::Mix(MixBreach::FirstOnly)));
        assert!(!rules.broken_by(Breach::Months(MonthsBreach::OnlyAdjacent)));
        assert!(!Rules::of(None).broken_by(Breach::Mix(MixBreach::FirstOnly)));
        let family = Rules::of(Some("header.x-request-id.ncbct/not-required".parse().unwrap()));
        assert!(family.broken_by(Breach::HeaderNotRequired(Header::XRequestId, Operation::Ncbct)));
        assert!(!family.broken_by(Breach::HeaderNotRequired(Header::XRequestId, Operation::Periodic)));
        assert!(!family.broken_by(Breach::HeaderNotRequired(Header::Digest, Operation::Ncbct)));
    }
}
