//! The argument for the key of pseudonyms.

use std::path::PathBuf;

use xs2aspec_judge::mask::MaskKey;

use crate::Failure;

/// The file that holds the key.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct MaskKeyFile {
    /// Read the mask key that shards share from FILE [default: a random key]
    #[arg(long = "mask-key", value_name = "FILE", hide_short_help = true)]
    pub(crate) file: Option<PathBuf>,
}

impl MaskKeyFile {
    /// Reads the key from the file. Returns a random key if there is no file.
    pub(crate) fn key(&self) -> Result<MaskKey, Failure> {
        let read = self.file.as_deref().map(MaskKey::read).transpose().map_err(Failure::input)?;
        Ok(read.unwrap_or_else(MaskKey::random))
    }
}
