//! The ways in which the bank can break the document, one at a time. Each is an [`Entry`]: a row in
//! the file of its rule (`cases/AREA/RULE.yaml`), or made of a row of the bank's tables by an operator.

mod operators;

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::rules::{Beside, Effect, Entry, UnknownName, rows::ROWS};

/// One named way in which the bank breaks one clause.
#[derive(Clone, Copy)]
pub struct Fault(&'static Entry);

impl Fault {
    /// Every fault that somebody wrote, in the order of names.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.faults.iter().map(Self)
    }

    /// Faults that show only where two things of a request come together. No written case has both, so that
    /// they are not among [`Fault::all`]: they are there for requests that nobody wrote.
    pub fn interactions() -> impl Iterator<Item = Self> {
        ROWS.interactions.iter().map(Self)
    }

    /// Faults that operators make of every row of the bank's tables. Nobody thought of them one by one, so
    /// that they say more of what the cases miss.
    pub fn derived() -> impl Iterator<Item = Self> {
        DERIVED.iter().map(Self)
    }

    /// The name, `<clause>/<what is wrong>`.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The id of the clause that is broken: the name up to its slash.
    pub fn clause(self) -> &'static str {
        self.0.clause()
    }

    /// The operator that made it of a row of the bank's tables; none of a fault that somebody wrote.
    pub fn operator(self) -> Option<&'static str> {
        self.0.operator
    }

    /// The name of the fault that somebody wrote of which it is a part: the same in fewer requests.
    pub fn whole(self) -> Option<&'static str> {
        self.0.whole.as_deref()
    }

    /// One sentence about what the bank then does.
    pub fn says(self) -> &'static str {
        &self.0.says
    }

    /// Whether it shows only to those who ask over a connection.
    pub fn is_of_http(self) -> bool {
        matches!(self.0.beside, Some(Beside::Turn(_))) || self.0.effects.iter().any(Effect::is_of_names)
    }

    pub(crate) fn entry(self) -> &'static Entry {
        self.0
    }
}

impl FromStr for Fault {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        // The derived ones are many, and made when they are first asked for.
        let found = Entry::find(&ROWS.faults, "fault", name);
        let others = || ROWS.interactions.iter().chain(DERIVED.iter()).find(|entry| entry.name == name);
        found.or_else(|unknown| others().ok_or(unknown)).map(Self)
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

/// Every fault of an operator.
static DERIVED: LazyLock<Vec<Entry>> = LazyLock::new(|| operators::faults(&ROWS.faults));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_well_formed() {
        crate::rules::assert_well_formed(&ROWS.faults);
        assert!(ROWS.faults.len() >= 200, "{}", ROWS.faults.len());
        crate::rules::assert_well_formed(&ROWS.interactions);
        assert!(ROWS.interactions.iter().all(|one| ROWS.faults.iter().all(|other| one.name != other.name)));
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
        // Nothing is like it; there is one that begins with it.
        let begins = |name: &&str| name.starts_with("ncbct");
        let near = "NCBCT".parse::<Fault>().unwrap_err().near;
        assert_eq!((near, near.is_some()), (Fault::all().map(Fault::name).find(begins), true));
        let error = "zzz".parse::<Fault>().unwrap_err();
        assert_eq!(error.to_string(), "expected the name of a fault, found \"zzz\"");
    }
}
