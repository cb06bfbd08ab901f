//! What the target profile of a bank says of a freedom that the bank uses.

/// One thing that the target profile of a bank declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Declaration {
    /// The choice of this key has this value.
    Choice(&'static str, &'static str),
    /// The choice of this key is not declared.
    NoChoice(&'static str),
    /// The operation of this name is at this path.
    Path(&'static str, &'static str),
    /// The bank lacks this capability.
    Lacks(&'static str),
    /// Whether the bank has this capability is to be asked.
    MayLack(&'static str),
    /// All paths begin so.
    Prefix(&'static str),
}
