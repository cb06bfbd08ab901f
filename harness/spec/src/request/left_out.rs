//! Forms that a place has not, though others like it have: each with its reason.

use std::sync::Arc;

use super::form::Written;

/// A form that is tried at other places of the same kind and makes no sense at this one.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The place; none for the request as a whole.
    pub place: String,
    /// Its name as it is written, with `<item>` where it has an `each`.
    pub name: String,
    /// Where it is written, as [`super::Form::written`] has it.
    pub written: Arc<str>,
    /// Why there is no such form at the place.
    pub reason: String,
}

/// Those of a place that have no form there; of several that have the same name one is enough. The error says
/// which of them has no reason.
pub(super) fn left_out(at: &str, all: &[Written]) -> Result<Vec<LeftOut>, String> {
    let mut left_out: Vec<LeftOut> = Vec::new();
    for one in all {
        let mut alike = all.iter().filter(|other| other.name == one.name);
        if left_out.iter().any(|known| known.name == one.name)
            || alike.clone().any(|other| !other.forms.is_empty())
        {
            continue;
        }
        let Some((key, reason)) = alike.find_map(|other| Some((&other.key, other.reason.as_ref()?))) else {
            let place = if at.is_empty() { "the whole request" } else { at };
            return Err(format!(
                "the form `{}` is left out at `{place}`, by its `only` or because its `each` has no item, and has \
                 no `else` that says why",
                one.key
            ));
        };
        left_out.push(LeftOut {
            place: at.to_owned(),
            name: one.name.clone(),
            written: Arc::clone(key),
            reason: reason.clone(),
        });
    }
    Ok(left_out)
}
