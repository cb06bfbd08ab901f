//! The profile of a reference bank with variations, which declares the bank's decisions.

use xs2aspec_judge::{Profile, profile::Offered};
use xs2aspec_reference::{Declaration, Variation};

/// Adds the decisions of a bank with these variations to a profile.
pub fn declare(profile: &mut Profile, variations: &[Variation]) {
    for declaration in variations.iter().copied().flat_map(Variation::declares) {
        match *declaration {
            Declaration::Choice(key, value) => {
                profile.choices.insert(key.to_owned(), value.to_owned());
            }
            Declaration::NoChoice(key) => {
                profile.choices.remove(key);
            }
            Declaration::Path(operation, path) => {
                profile.paths.insert(operation.to_owned(), path.to_owned());
            }
            Declaration::Lacks(capability) => {
                profile.capabilities.insert(capability.to_owned(), Offered::No);
            }
            Declaration::MayLack(capability) => {
                profile.capabilities.insert(capability.to_owned(), Offered::Ask);
            }
            Declaration::Prefix(prefix) => profile.base_url.push_str(prefix),
        }
    }
}
