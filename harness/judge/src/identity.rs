//! Makes the ids and amounts of a run differ from those of every other run. A bank may reject an X-Request-ID
//! that it has seen (document, L160: "unique per call"), or a payment that repeats another one.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use uuid::Uuid;
use xs2aspec_suite::Shard;

/// Maximum length of a run id, in characters.
const LONGEST: usize = 64;

/// The id of a run, new for each start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunId(String);

/// An error for a string that is not a run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to {LONGEST} letters, digits, `-`, `.` or `_`, found {0:?}")]
pub struct RunIdError(String);

impl RunId {
    /// Returns a new unique id.
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_known) {
            Ok(Self(text.to_owned()))
        } else {
            Err(RunIdError(text.to_owned()))
        }
    }
}

/// The seed, the id and the shard of a run. All ids and amounts are derived from them.
#[derive(Debug, Clone)]
pub struct Identity {
    seed: u64,
    run_id: RunId,
    shard: Option<Shard>,
    root: Root,
}

impl Identity {
    /// Returns the identity of a run or of one of its shards. Equal arguments give equal ids.
    pub fn new(seed: u64, run_id: RunId, shard: Option<Shard>) -> Self {
        let part = shard.map(|shard| shard.to_string()).unwrap_or_default();
        let root = Root(hash(&seed.to_be_bytes(), &[&run_id.0, &part]));
        Self { seed, run_id, shard, root }
    }

    /// Returns the identity of a run that starts now.
    pub fn random(seed: u64) -> Self {
        Self::new(seed, RunId::random(), None)
    }

    /// Returns the same identity for each run with this seed. Use it only for banks that start with the run
    /// and remember nothing.
    pub fn reproducible(seed: u64) -> Self {
        Self::new(seed, RunId("reproducible".to_owned()), None)
    }

    /// Returns the identity for resuming an interrupted run. Its ids are new, because the last ids that the
    /// run sent are unknown.
    #[must_use]
    pub(crate) fn resumed(self) -> Self {
        Self { root: self.root.with(&RunId::random().0), ..self }
    }

    /// Returns the seed of the values.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Returns the shard, if the run has several.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// Returns the root of all ids and amounts.
    pub(crate) fn root(&self) -> Root {
        self.root
    }
}

/// The root from which the ids and amounts of some requests are derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root([u8; 32]);

impl Root {
    /// Returns another root, which gives the same requests other ids and amounts.
    #[must_use]
    pub(crate) fn with(self, part: &str) -> Self {
        Self(hash(&self.0, &[part]))
    }

    /// Returns the UUID with this name.
    pub(crate) fn uuid(self, name: &[&str]) -> Uuid {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash(&self.0, name)[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// Returns the SHA-256 of a prefix and a list of parts. The encoding is unambiguous: different lists have
/// different bytes.
fn hash(beginning: &[u8], parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(beginning);
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn identity(seed: u64, run_id: &str, shard: Option<&str>) -> Identity {
        Identity::new(seed, run_id.parse().unwrap(), shard.map(|shard| shard.parse().unwrap()))
    }

    #[test]
    fn ids_differ_by_seed_run_and_shard_and_are_reproducible() {
        let table = [
            identity(1, "a", None),
            identity(2, "a", None),
            identity(1, "b", None),
            identity(1, "a", Some("1/2")),
            identity(1, "a", Some("2/2")),
            identity(1, "a", None).resumed(),
            identity(1, "a", None).resumed(),
            Identity::random(1),
            Identity::random(1),
        ];
        let ids: BTreeSet<Uuid> = table.iter().map(|one| one.root().uuid(&["case", "step"])).collect();
        assert_eq!(ids.len(), table.len());
        assert_eq!(identity(1, "a", Some("1/2")).root(), identity(1, "a", Some("1/2")).root());
        let root = identity(1, "a", None).root();
        assert_ne!(root.uuid(&["ab", "c"]), root.uuid(&["a", "bc"]));
        assert_ne!(root.uuid(&["a"]), root.with("other").uuid(&["a"]));
    }

    #[test]
    fn a_run_id_is_short_and_plain() {
        for text in ["7", "ci-1234.2_a", &"a".repeat(LONGEST)] {
            assert_eq!(text.parse::<RunId>().map(|id| id.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "a b", "ä", "a/b", &"a".repeat(LONGEST + 1)] {
            assert_eq!(text.parse::<RunId>(), Err(RunIdError(text.to_owned())));
        }
    }
}
