//! Functions in test values that generate a new value for each use.

use serde_json::{Map, Value, json};

use crate::iban;

/// Returns a value with every function replaced by its result. `number` returns a random number below its
/// argument, which is not zero.
///
/// - `$letters`, `$digits`: a number of characters, or a random number between two
/// - `$words`: a number of words
/// - `$number`: a number between two
/// - `$fraction`: a decimal point and a number of digits, the last of them not zero
/// - `$one-of`, `$some-of`, `$shuffled`: one, some or all items of a list
/// - `$with-again`: a list with one of its items repeated
/// - `$with-last`: a list with one more item
/// - `$one-letter-else`: a word of a list with one letter changed
/// - `$without-first`: a string without its first character
/// - `$text`: a value as a string
/// - `$concat`: strings joined together
/// - `$zero`: one more zero, after a point if there are no fraction digits
/// - `$with`: an object with one more field
/// - `$iban`: an IBAN that `begins` with a country and has a BBAN of this `form`. The check digits are
///   correct, or shifted by `off`.
/// - `$merge`, next to other fields: the fields of another object
pub fn draw(value: &Value, number: &mut dyn FnMut(u64) -> u64) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| draw(item, number)).collect(),
        Value::Object(members) => {
            let mut drawn: Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), draw(member, number))).collect();
            if let Some(Value::Object(more)) = drawn.shift_remove("$merge") {
                drawn.extend(more);
            }
            let call = drawn.iter().next().filter(|_| drawn.len() == 1);
            call.and_then(|(name, argument)| computed(name, argument, number)).unwrap_or(Value::Object(drawn))
        }
        other => other.clone(),
    }
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Returns the result of a function, or `None` if no such function exists.
fn computed(name: &str, argument: &Value, number: &mut dyn FnMut(u64) -> u64) -> Option<Value> {
    Some(match name {
        "$letters" => json!(word(count(argument, number)?, number)),
        // No account number starts with these digits.
        "$digits" => json!(letters("1279", count(argument, number)?, number)),
        "$words" => {
            let words = (0..count(argument, number)?).map(|_| {
                let length = 1 + number(9);
                word(length, number)
            });
            json!(words.collect::<Vec<_>>().join(" "))
        }
        "$number" => json!(count(argument, number)?),
        "$fraction" => match whole(argument)? {
            0 => json!(""),
            digits => {
                let front = letters("0159", digits - 1, number);
                json!(format!(".{front}{}", 1 + number(9)))
            }
        },
        "$one-of" => pick(argument.as_array()?, number)?.clone(),
        "$some-of" => {
            let items = argument.as_array()?;
            let kept = number(items.len() as u64);
            let is_kept = |at: usize, number: &mut dyn FnMut(u64) -> u64| at as u64 == kept || number(2) == 0;
            let some: Vec<Value> = items
                .iter()
                .enumerate()
                .filter(|(at, _)| is_kept(*at, number))
                .map(|(_, item)| item.clone())
                .collect();
            json!(some)
        }
        "$shuffled" => {
            let mut rest = argument.as_array()?.clone();
            let mut shuffled = Vec::new();
            while !rest.is_empty() {
                shuffled.push(rest.remove(below(rest.len(), number)));
            }
            json!(shuffled)
        }
        "$with-again" => {
            let mut items = argument.get("of")?.as_array()?.clone();
            let (again, place) = match argument.get("which")?.as_str()? {
                "first" => (0, items.len()),
                "last" => (items.len() - 1, items.len()),
                _ => (below(items.len(), number), below(items.len() + 1, number)),
            };
            items.insert(place, items.get(again)?.clone());
            json!(items)
        }
        "$with-last" => {
            let mut items = argument.get("of")?.as_array()?.clone();
            items.push(argument.get("item")?.clone());
            json!(items)
        }
        "$one-letter-else" => {
            let mut word: Vec<char> = pick(argument.as_array()?, number)?.as_str()?.chars().collect();
            let at = below(word.len(), number);
            word[at] = if word[at] == 'X' { 'Y' } else { 'X' };
            json!(word.into_iter().collect::<String>())
        }
        "$without-first" => json!(argument.as_str()?.chars().skip(1).collect::<String>()),
        "$concat" => json!(argument.as_array()?.iter().map(crate::cell::shown).collect::<String>()),
        "$text" => json!(crate::cell::shown(argument)),
        "$zero" => json!(if whole(argument)? == 0 { ".0" } else { "0" }),
        "$with" => {
            let mut members = argument.get("of")?.as_object()?.clone();
            members.insert(argument.get("member")?.as_str()?.to_owned(), argument.get("value")?.clone());
            Value::Object(members)
        }
        "$iban" => {
            let country = argument.get("begins")?.as_str()?;
            let bban =
                iban::bban(argument.get("form")?.as_str()?, &mut |of, count| letters(of, count, number))?;
            let off = argument.get("off").and_then(Value::as_u64).unwrap_or(0);
            json!(iban::with_check_digits(country, &bban, off)?)
        }
        _ => return None,
    })
}

fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns a number, or a random one between two.
fn count(value: &Value, number: &mut dyn FnMut(u64) -> u64) -> Option<u64> {
    match value.as_array().map(Vec::as_slice) {
        Some([least, most]) => {
            let least = whole(least)?;
            Some(least + number(whole(most)?.checked_sub(least)? + 1))
        }
        Some(_) => None,
        None => whole(value),
    }
}

/// Returns random letters and digits that start with a letter, since a bank may reject a name without one.
fn word(count: u64, number: &mut dyn FnMut(u64) -> u64) -> String {
    letters(&LETTERS[..52], count.min(1), number) + &letters(LETTERS, count.saturating_sub(1), number)
}

fn letters(of: &str, count: u64, number: &mut dyn FnMut(u64) -> u64) -> String {
    (0..count).map(|_| char::from(of.as_bytes()[below(of.len(), number)])).collect()
}

fn below(length: usize, number: &mut dyn FnMut(u64) -> u64) -> usize {
    usize::try_from(number(length as u64)).unwrap_or(0)
}

fn pick<'a>(items: &'a [Value], number: &mut dyn FnMut(u64) -> u64) -> Option<&'a Value> {
    if items.is_empty() { None } else { items.get(below(items.len(), number)) }
}
