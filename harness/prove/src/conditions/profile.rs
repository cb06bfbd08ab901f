//! Profiles of banks as TOML: declarations, and values with one wrong character.

use toml::{Table, Value};
use xs2aspec_reference::Declaration;

/// Keys that name the bank or the run, but nothing that the bank knows.
const NAMES_NOTHING: [&str; 4] = ["name", "base-url", "redirect-uri", "session-id"];

/// Tables that describe the bank, but name nothing that it knows.
const DESCRIBES: [&str; 2] = ["capabilities", "choices"];

/// Adds the declarations of a reference bank. Returns the prefix of its paths.
pub(super) fn declare<'a>(
    profile: &mut Table,
    declarations: impl Iterator<Item = &'a Declaration>,
) -> &'static str {
    let mut prefix = "";
    for declaration in declarations {
        match *declaration {
            Declaration::Choice(key, value) => set(profile, "choices", key, value.into()),
            Declaration::Path(operation, path) => set(profile, "paths", operation, path.into()),
            Declaration::Lacks(capability) => set(profile, "capabilities", capability, false.into()),
            Declaration::NoChoice(key) => unset(profile, "choices", key),
            Declaration::MayLack(capability) => unset(profile, "capabilities", capability),
            Declaration::Prefix(paths) => prefix = paths,
        }
    }
    prefix
}

fn set(profile: &mut Table, table: &str, key: &str, value: Value) {
    let table = profile.entry(table).or_insert_with(|| Table::new().into());
    if let Some(table) = table.as_table_mut() {
        table.insert(key.to_owned(), value);
    }
}

fn unset(profile: &mut Table, table: &str, key: &str) {
    if let Some(table) = profile.get_mut(table).and_then(Value::as_table_mut) {
        table.remove(key);
    }
}

/// Returns the keys of all values that name something at the bank, such as `psu.private.id`. The entries of
/// an array are numbered from 1.
pub(super) fn values(profile: &Table) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in profile {
        if !NAMES_NOTHING.contains(&key.as_str()) && !DESCRIBES.contains(&key.as_str()) {
            collect(key, value, &mut keys);
        }
    }
    keys
}

fn collect(key: &str, value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() && !key.ends_with(".currency") => keys.push(key.to_owned()),
        Value::Table(table) => {
            for (name, value) in table {
                if name != "session-id" {
                    collect(&format!("{key}.{name}"), value, keys);
                }
            }
        }
        Value::Array(entries) => {
            for (at, value) in entries.iter().enumerate() {
                collect(&format!("{key}.{}", at + 1), value, keys);
            }
        }
        _ => {}
    }
}

/// Changes one character of the value of a key. Returns false if the profile has no such value.
pub(super) fn spoil(profile: &mut Table, key: &str) -> bool {
    let mut names = key.split('.');
    let value = names.next().and_then(|name| profile.get_mut(name));
    let value = names.try_fold(value, |value, name| match value {
        Some(Value::Table(table)) => Some(table.get_mut(name)),
        Some(Value::Array(entries)) => {
            let at: usize = name.parse().ok()?;
            Some(entries.get_mut(at.checked_sub(1)?))
        }
        _ => None,
    });
    match value.flatten() {
        Some(Value::String(text)) => {
            *text = misspelled(text);
            true
        }
        _ => false,
    }
}

/// Replaces the last letter or digit by the next one of its kind.
fn misspelled(text: &str) -> String {
    let Some(at) = text.rfind(|character: char| character.is_ascii_alphanumeric()) else {
        return format!("{text}x");
    };
    let next = match text.as_bytes()[at] {
        b'9' => b'0',
        // After `f` as well: in hexadecimal, as in a UUID, it stays a digit.
        b'f' | b'z' => b'a',
        b'F' | b'Z' => b'A',
        byte => byte + 1,
    };
    format!("{}{}{}", &text[..at], char::from(next), &text[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Table {
        toml::from_str(
            "name = 'x'\nbase-url = 'http://h'\n[psu.private]\nid = 'ab-9'\nsession-id = 's'\n[accounts.debtor]\n\
             iban = 'NO1'\ncurrency = 'NOK'\n[[transaction]]\naccount-id = '1'\n[[transaction]]\naccount-id = 'z='\n\
             [choices]\na = '201'\n",
        )
        .unwrap()
    }

    #[test]
    fn every_value_that_names_something_is_spoiled_once() {
        let keys = values(&profile());
        assert_eq!(
            keys,
            [
                "accounts.debtor.iban",
                "psu.private.id",
                "transaction.1.account-id",
                "transaction.2.account-id"
            ]
        );
        for key in &keys {
            let mut spoiled = profile();
            assert!(spoil(&mut spoiled, key), "{key}");
            assert_ne!(spoiled, profile(), "{key}");
            assert_eq!(values(&spoiled), keys, "the keys are those of before");
        }
        assert!(!spoil(&mut profile(), "psu.private.identity"));
    }

    #[test]
    fn one_character_is_wrong() {
        for (right, wrong) in [("ab-9", "ab-0"), ("z=", "a="), ("NO1", "NO2"), ("5e6f", "5e6a"), ("!", "!x")]
        {
            assert_eq!(misspelled(right), wrong);
        }
    }
}
