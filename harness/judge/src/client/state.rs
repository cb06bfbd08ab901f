//! What is to be said of an item.

/// What is to be said of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is shown, by the exchange with this number.
    Shown(u64),
    /// It is not.
    NotShown,
    /// What would show it is masked or cut off in the record.
    Unknown,
    /// It is broken, by the exchange with this number, in these words.
    Broken(u64, String),
}
