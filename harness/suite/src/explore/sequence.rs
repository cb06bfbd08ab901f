//! Sequences of requests over what a bank remembers: payments, baskets, what was deleted, an account without
//! funds, a quota.

pub use proptest::sample::Index;
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
    test_runner::TestRunner,
};

use serde_json::Value;

use super::class::drawn;
use crate::definition::{Change, Signing};

/// Commands of one sequence, at most.
const LONGEST: usize = 10;

/// One request of a sequence. Payments are meant by how they were made: the index is taken among those that
/// are there.
#[derive(Debug, Clone)]
pub enum Command {
    /// Creates a cross-border payment, or a periodic one.
    Create {
        /// A periodic payment.
        periodic: bool,
        /// By the corporate PSU.
        corporate: bool,
    },
    /// Sends the request of an earlier cross-border payment again, and says that logical duplicates are
    /// allowed (L198).
    Again(Index),
    /// Sends a payment that breaks a rule.
    Refused {
        /// A periodic payment.
        periodic: bool,
    },
    /// Creates a payment from an account without funds (L306).
    WithoutFunds,
    /// Puts payments in a basket.
    Basket(Vec<Index>),
    /// Reads the status of a payment (L188).
    Status(Index),
    /// Reads the status of a payment as another PSU.
    StatusOfAnother(Index),
    /// Reads the status of a payment as another TPP.
    StatusByAnother(Index),
    /// Deletes a payment.
    Delete(Index),
    /// Deletes the payment of the profile that is under way (L305).
    DeletePending,
    /// Reads a transaction without PSU-IP-Address, five times (L316).
    WithoutAddress,
}

impl Command {
    /// In words.
    pub fn says(&self) -> String {
        match self {
            Self::Create { periodic, corporate } => format!(
                "a {} payment of a {} PSU is created",
                if *periodic { "periodic" } else { "cross-border" },
                if *corporate { "corporate" } else { "private" }
            ),
            Self::Again(_) => "the same request is sent again with allowLogicalDuplicate=true".to_owned(),
            Self::Refused { periodic } => {
                format!(
                    "a {} payment that breaks a rule is sent",
                    if *periodic { "periodic" } else { "cross-border" }
                )
            }
            Self::WithoutFunds => "a payment from an account without funds is sent".to_owned(),
            Self::Basket(of) => format!("a basket of {} payments is made", of.len()),
            Self::Status(_) => "the status of a payment is read".to_owned(),
            Self::StatusOfAnother(_) => "the status of another PSU's payment is read".to_owned(),
            Self::StatusByAnother(_) => "the status of another TPP's payment is read".to_owned(),
            Self::Delete(_) => "a payment is deleted".to_owned(),
            Self::DeletePending => "a payment under way is deleted".to_owned(),
            Self::WithoutAddress => "a transaction is read five times without PSU-IP-Address".to_owned(),
        }
    }
}

/// A request of a sequence, as it was made from a baseline.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Name of the baseline.
    pub baseline: &'static str,
    /// What was different, in order.
    pub changes: Vec<Change>,
    /// How it was signed, where not as the document says.
    pub signing: Signing,
    /// The id of the payment that it made.
    pub made: Option<String>,
    /// Whether it was accepted.
    pub accepted: bool,
}

impl Sent {
    /// The request of a baseline, unchanged.
    pub fn plain(baseline: &'static str) -> Self {
        Self { baseline, changes: Vec::new(), signing: Signing::default(), made: None, accepted: false }
    }

    /// Gives a place of the request this value.
    #[must_use]
    pub fn set(mut self, at: &str, to: Value) -> Self {
        self.changes.push(Change { set: Some(at.to_owned()), to: Some(to), ..Change::default() });
        self
    }

    /// Takes something out of the request.
    #[must_use]
    pub fn without(mut self, at: &str) -> Self {
        self.changes.push(Change { remove: Some(at.to_owned()), ..Change::default() });
        self
    }
}

/// Draws a sequence.
pub(super) fn draw(runner: &mut TestRunner) -> Vec<Command> {
    let index = any::<Index>;
    let command = prop_oneof![
        4 => (any::<bool>(), any::<bool>()).prop_map(|(periodic, corporate)| Command::Create { periodic, corporate }),
        1 => index().prop_map(Command::Again),
        2 => any::<bool>().prop_map(|periodic| Command::Refused { periodic }),
        2 => Just(Command::WithoutFunds),
        3 => vec(index(), 1..=4).prop_map(Command::Basket),
        4 => index().prop_map(Command::Status),
        1 => index().prop_map(Command::StatusOfAnother),
        1 => index().prop_map(Command::StatusByAnother),
        1 => index().prop_map(Command::Delete),
        1 => Just(Command::DeletePending),
        1 => Just(Command::WithoutAddress),
    ];
    drawn(&vec(command, 2..=LONGEST), runner)
}

/// Shorter sequences that may show the same.
pub fn shorter(commands: &[Command]) -> Vec<Vec<Command>> {
    let without = |gone: usize| {
        let kept = commands.iter().enumerate().filter(|(at, _)| *at != gone);
        kept.map(|(_, command)| command.clone()).collect()
    };
    (0..commands.len()).map(without).collect()
}
