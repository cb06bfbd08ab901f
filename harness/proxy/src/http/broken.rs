//! Why a message cannot be read.

/// Why a message cannot be read, in words that follow on `the request` or `the answer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) String);

impl Broken {
    pub(crate) fn new(says: impl Into<String>) -> Self {
        Self(says.into())
    }
}
