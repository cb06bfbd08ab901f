//! The Digest header (section Authentication; RFC 3230).

use serde::{Deserialize, Serialize};

/// What the bank decides about digests.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Digest {}
