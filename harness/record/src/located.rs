//! The lines of the user's files to which findings belong.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::verdict::Place;

/// The lines of a profile, an OpenAPI description or another file to which findings belong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// The place of each finding, by the id of the finding. A finding without an entry belongs to the profile
    /// as a whole.
    pub places: BTreeMap<String, Place>,
}
