//! What records say of an item.

/// What records say of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The exchange with this number shows it.
    Shown(u64),
    /// No exchange shows it.
    NotShown {
        /// The number of an exchange after which the client could have shown it.
        met: Option<u64>,
    },
    /// What would show it is masked or cut off in the record.
    Unknown,
    /// It need not be shown.
    Skipped(Skip),
    /// The exchange with this number breaks it, in these words.
    Broken(u64, String),
}

/// Why an item need not be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// `--without` declares this part absent.
    Without(String),
    /// This alternative is shown.
    OneEnough(String),
}

impl State {
    /// Returns a number that is greater for what counts more, of the states of one item in several records.
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            Self::Broken(..) => 4,
            Self::Shown(_) => 3,
            Self::NotShown { met: Some(_) } => 2,
            Self::Unknown => 1,
            Self::NotShown { met: None } | Self::Skipped(_) => 0,
        }
    }
}
