//! The ways in which the bank can break the document, one at a time.
//!
//! A fault is one [`Entry`] in the file of its subject under `fault/`, and one branch at the place of the rule, which
//! asks [`Rules::broken_by`]. What a fault does is a [`Breach`]; a breach with fields is a whole family of faults that
//! shares one branch, so that a further member of a family is one entry and nothing else.

mod amount;
mod basket;
mod header;
mod ncbct;
mod periodic;

use std::fmt;
use std::str::FromStr;

use crate::header::Header;
use crate::operation::Operation;

/// One named way in which the bank breaks one clause.
#[derive(Clone, Copy)]
pub struct Fault(&'static Entry);

impl Fault {
    /// Every fault, in the order of the README.
    pub fn all() -> impl Iterator<Item = Self> {
        SUBJECTS.iter().flat_map(|entries| entries.iter()).map(Self)
    }

    /// The name, `<clause>/<what is wrong>`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The id of the clause that is broken: the name up to its slash.
    pub fn clause(self) -> &'static str {
        self.0.name.split_once('/').map_or(self.0.name, |(clause, _)| clause)
    }

    /// One sentence about what the bank then does.
    pub fn says(self) -> &'static str {
        self.0.says
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

/// What a fault does to the bank. A variant is asked for at exactly one place, which is where its rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breach {
    /// The operation accepts a request without this required header.
    HeaderNotRequired(Header, Operation),
    /// A currency without minor units may have two fraction digits.
    TwoFractionDigitsForZero,
    /// The NCBCT's creditor name may have one character too many.
    NcbctCreditorNameSeventyOne,
    /// Only duplicate months that stand side by side are noticed.
    PeriodicMonthsOnlyAdjacent,
    /// Only the first payment of a basket is looked at for the mix rule.
    BasketMixFirstPaymentOnly,
}

/// What a bank keeps to: the whole document, or all but one clause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    breach: Option<Breach>,
}

impl Rules {
    pub(crate) fn of(fault: Option<Fault>) -> Self {
        Self { breach: fault.map(|fault| fault.0.breach) }
    }

    /// Whether the rule that asks is the one that this bank breaks.
    pub(crate) fn broken_by(self, breach: Breach) -> bool {
        self.breach == Some(breach)
    }
}

#[cfg(test)]
impl Rules {
    pub(crate) fn kept() -> Self {
        Self { breach: None }
    }

    pub(crate) fn broken(breach: Breach) -> Self {
        Self { breach: Some(breach) }
    }
}

/// A fault as its subject's file declares it.
struct Entry {
    name: &'static str,
    breach: Breach,
    says: &'static str,
}

const SUBJECTS: [&[Entry]; 5] =
    [header::FAULTS, amount::FAULTS, ncbct::FAULTS, periodic::FAULTS, basket::FAULTS];

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
            assert!(fault.says().len() > 20 && fault.says().ends_with('.'), "{fault}");
            assert!(names.insert(fault.name()), "{fault} twice");
        }
        for (index, fault) in Fault::all().enumerate() {
            let twin = Fault::all().skip(index + 1).find(|other| other.0.breach == fault.0.breach);
            assert_eq!(twin, None, "{fault} does what another does");
        }
    }

    #[test]
    fn the_readme_has_a_row_for_every_fault() {
        let readme = include_str!("../README.md");
        for fault in Fault::all() {
            let row = format!("| `{}` | {} |", fault.name(), fault.says());
            assert!(readme.contains(&row), "{row}");
        }
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
        assert!(rules.broken_by(Breach::BasketMixFirstPaymentOnly));
        assert!(!rules.broken_by(Breach::PeriodicMonthsOnlyAdjacent));
        assert!(!Rules::of(None).broken_by(Breach::BasketMixFirstPaymentOnly));
        let family = Rules::of(Some("header.x-request-id.ncbct/not-required".parse().unwrap()));
        assert!(family.broken_by(Breach::HeaderNotRequired(Header::XRequestId, Operation::Ncbct)));
        assert!(!family.broken_by(Breach::HeaderNotRequired(Header::XRequestId, Operation::Periodic)));
        assert!(!family.broken_by(Breach::HeaderNotRequired(Header::Digest, Operation::Ncbct)));
    }
}
