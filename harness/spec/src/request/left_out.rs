//! Forms that a place lacks although places like it have them, each with its reason.

use std::sync::Arc;

use super::form::Written;

/// A form that makes no sense at a place, although other places of the same kind have it.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The place. Empty for the request as a whole.
    pub place: String,
    /// Its name as written, with `<item>` if it has an `each`.
    pub name: String,
    /// The block and name that define it, as in [`super::Form::written`].
    pub written: Arc<str>,
    /// The reason why the place has no such form.
    pub reason: String,
}

/// Returns the forms that a place lacks. Of several forms with the same name, one is enough. The error names
/// a form without a reason.
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
                "the form `{}` is skipped at `{place}`, by its `only` or because its `each` has no item: \
                 add an `else` with the reason",
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
