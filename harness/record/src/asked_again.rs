//! What depends on what else was asked: failing cases that were asked again alone at the end of a run, and
//! plain requests that a target refused from some request on.

use serde::{Deserialize, Serialize};

use crate::reason::Came;

/// What was wrong in cases of a run, and is asked again when nothing else is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAlone {
    /// The clause that they break.
    pub clause: String,
    /// Where, as in [`crate::Finding::at`], with `*` for an index.
    pub at: String,
    /// The first case, in the order of time, that shows it; where that kept it when it was asked alone, the
    /// one that sends the most requests itself, if that did not.
    pub case: String,
    /// The number of the first one's request ([`crate::Exchange::number`]).
    pub since: u64,
    /// The number of the last request before that could have shown it and did not; 0 where there is none.
    pub until: u64,
    /// How many requests the case sends, those that prepare it included.
    pub requests: usize,
    /// What came of asking the case again.
    pub again: Repeated,
    /// The result of its request then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<Came>,
    /// A case that did not show it before, and was asked again too, where none kept it since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// A case that kept what others break later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// The case.
    pub case: String,
    /// The number of its request.
    pub request: u64,
    /// Whether the same is wrong with it at the end of the run.
    pub again: Repeated,
}

/// A plain request that the target accepted, and then did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSince {
    /// The plain case.
    pub plain: String,
    /// Its clause.
    pub clause: String,
    /// The number of the request at which it was accepted last; 0 at the beginning.
    pub until: u64,
    /// The number of the request at which it was refused.
    pub since: u64,
    /// The result.
    pub came: Came,
    /// The number of the request at which it was accepted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// True if that breaks its clause: it reads what the target made a moment before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_broken: bool,
}

/// What came of asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// The same is wrong.
    Same,
    /// It is not wrong any more.
    Kept,
    /// It could not be asked.
    Untold,
}

impl AskedAlone {
    /// Returns true if it began at some request and stayed: what kept it before breaks it now.
    pub fn is_since(&self) -> bool {
        self.earlier.as_ref().is_some_and(|earlier| earlier.again == Repeated::Same)
    }

    /// Returns true if it depends on what was asked before, or at the same time.
    pub fn is_in_company(&self) -> bool {
        self.again == Repeated::Kept
    }
}
