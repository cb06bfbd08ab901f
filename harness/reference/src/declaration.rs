//! Declarations in the target profile of a bank with a variation.

/// One declaration of a target profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Declaration {
    /// Sets a choice to a value.
    Choice(&'static str, &'static str),
    /// Leaves a choice undeclared.
    NoChoice(&'static str),
    /// Sets the path of an operation.
    Path(&'static str, &'static str),
    /// Declares that the bank lacks a capability.
    Lacks(&'static str),
    /// Leaves it open whether the bank has a capability.
    MayLack(&'static str),
    /// Sets the prefix of all paths.
    Prefix(&'static str),
}
