//! Smaller requests that may reveal the same violation.

use serde_json::{Value, json};

use crate::{AppliedForm, Combination, Edit};

/// Returns smaller combinations that may reveal the same violation, the smallest first: without half of the
/// forms, without one form, without one edit of a form, or with shorter strings.
pub fn smaller(whole: &Combination) -> Vec<Combination> {
    let count = whole.forms.len();
    let with = |keep: &dyn Fn(usize) -> bool| {
        let kept = whole.forms.iter().enumerate().filter(|(at, _)| keep(*at));
        Combination { operation: whole.operation.clone(), forms: kept.map(|(_, one)| one.clone()).collect() }
    };
    let mut smaller = Vec::new();
    if count > 3 {
        smaller.push(with(&|at| at >= count / 2));
        smaller.push(with(&|at| at < count / 2));
    }
    smaller.extend((0..count).map(|gone| with(&|at| at != gone)));
    for (at, one) in whole.forms.iter().enumerate().filter(|(_, one)| one.edits.len() > 1) {
        smaller.extend((0..one.edits.len()).map(|gone| {
            let mut combination = whole.clone();
            combination.forms[at].edits.remove(gone);
            combination
        }));
    }
    for (at, one) in whole.forms.iter().enumerate() {
        for (edit, value) in simpler_edits(one) {
            let mut combination = whole.clone();
            combination.forms[at].edits[edit] = value;
            smaller.push(combination);
        }
        for (step, before) in one.before.iter().enumerate().filter(|(_, before)| before.times > 1) {
            let mut combination = whole.clone();
            combination.forms[at].before[step].times = before.times / 2;
            smaller.push(combination);
        }
    }
    smaller
}

fn simpler_edits(one: &AppliedForm) -> Vec<(usize, Edit)> {
    let mut edits = Vec::new();
    for (at, edit) in one.edits.iter().enumerate() {
        if let Edit::Set(place, value) = edit {
            edits.extend(simpler(value).into_iter().map(|value| (at, Edit::Set(place.clone(), value))));
        }
    }
    edits
}

/// Returns simpler values: shorter strings, strings of one letter, fewer items or fields.
fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) if !text.contains("${") && text.chars().count() > 1 => {
            let length = text.chars().count();
            let plain = "A".repeat(length);
            let shorter = |count: usize| json!(text.chars().take(count).collect::<String>());
            let mut values = vec![shorter(length / 2), shorter(length - 1)];
            if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) && *text != plain && length > 3 {
                values.push(json!(plain));
            }
            values
        }
        Value::Array(items) if items.len() > 1 => (0..items.len())
            .map(|gone| {
                items.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, item)| item.clone()).collect()
            })
            .collect(),
        Value::Object(members) if members.len() > 1 => members
            .keys()
            .map(|gone| {
                let kept = members.iter().filter(|(name, _)| *name != gone);
                Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
            })
            .collect(),
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edit_of_a_form_of_several_is_left_out_once() {
        let set = |at: &str| Edit::Set(at.to_owned(), json!(1));
        let form = |edits| AppliedForm { edits, ..AppliedForm::default() };
        let several = form(vec![Edit::Remove("a".to_owned()), set("b"), set("c")]);
        let forms = vec![several, form(vec![set("d")])];
        let whole = Combination { operation: "any".to_owned(), forms };
        for gone in 0..3 {
            let mut without = whole.clone();
            without.forms[0].edits.remove(gone);
            assert_eq!(smaller(&whole).iter().filter(|one| **one == without).count(), 1, "{gone}");
        }
        // A form with a single edit is removed as a whole.
        assert!(smaller(&whole).iter().all(|one| one.forms.iter().all(|form| !form.edits.is_empty())));
    }
}
