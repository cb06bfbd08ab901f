//! Arguments that make the ids of a run unique.

use xs2aspec_judge::identity::{Identity, RunId};
use xs2aspec_suite::Shard;

/// The seed and the run id.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Ids {
    /// Set the seed of generated values [default: random]
    #[arg(long, value_name = "N", allow_negative_numbers = true, hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Set the run id, which makes request ids and amounts unique [default: random]
    ///
    /// With the same run id, seed and clock, the reference bank gets the same bytes again. A remote bank may
    /// rightly reject ids that it has seen, so using a run id twice there is your responsibility.
    #[arg(long, value_name = "ID", hide_short_help = true)]
    pub(crate) run_id: Option<RunId>,
}

impl Ids {
    /// Returns the seed, or a random one.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(crate::random_seed)
    }

    /// Returns the identity of a run, or of one shard of it.
    pub(crate) fn identity(&self, seed: u64, shard: Option<Shard>) -> Identity {
        Identity::new(seed, self.run_id.clone().unwrap_or_else(RunId::random), shard)
    }
}
