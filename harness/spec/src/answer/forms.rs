//! Test values for each kind of field, by name: invalid ones, and the valid ones next to them.

use serde_json::{Map, Value, json};

use super::node::Node;

/// The sample value of a place and what the schema says about it.
pub(super) struct Facts<'a> {
    pub(super) value: &'a Value,
    words: Vec<&'a str>,
    most: Option<usize>,
    least: Option<usize>,
    writing: Writing,
}

/// The notation of a string.
enum Writing {
    Free,
    /// Defined by a pattern.
    Pattern,
    Date,
    /// The number of an amount.
    Amount,
}

impl<'a> Facts<'a> {
    /// Reads what a node of a schema says about a value. The rules for amounts are not part of a schema.
    pub(super) fn new(node: &Node<'a>, value: &'a Value, is_amount: bool) -> Self {
        let number = |name: &str| node.keyword(name)?.as_u64()?.try_into().ok();
        let is_date = node.keyword("format").is_some_and(|format| format == "date");
        let words = node.keyword("enum").and_then(Value::as_array).into_iter().flatten();
        Self {
            value,
            words: words.filter_map(Value::as_str).collect(),
            most: number("maxLength"),
            least: number("minLength"),
            writing: match node.keyword("pattern") {
                _ if is_amount => Writing::Amount,
                _ if is_date => Writing::Date,
                Some(_) => Writing::Pattern,
                None => Writing::Free,
            },
        }
    }

    /// Returns a value of another JSON type.
    pub(super) fn of_another_type(&self) -> Value {
        if self.value.is_object() { json!("?") } else { json!({"?": 1}) }
    }
}

fn named<T: Into<Value>>(forms: impl IntoIterator<Item = (&'static str, T)>) -> Vec<(String, Value)> {
    forms.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Returns values of every JSON type other than that of the sample.
pub(super) fn types(facts: &Facts<'_>) -> Vec<(String, Value)> {
    let own = std::mem::discriminant(facts.value);
    let all = named([
        ("null", json!(null)),
        ("type-true", json!(true)),
        ("type-false", json!(false)),
        ("type-number", json!(3)),
        ("type-zero", json!(0)),
        ("type-fraction", json!(17.5)),
        ("type-text", json!("?")),
        ("type-empty-text", json!("")),
        ("type-list", json!(["?"])),
        ("type-empty-list", json!([])),
        ("type-object", json!({"?": 1})),
        ("type-empty-object", json!({})),
    ]);
    let is_other = |value: &Value| std::mem::discriminant(value) != own;
    let mut all: Vec<_> = all.into_iter().filter(|(_, value)| is_other(value)).collect();
    match facts.value {
        Value::String(text) => all.push(("type-list-of-it".to_owned(), json!([text]))),
        Value::Bool(flag) => all.push(("type-word".to_owned(), json!(flag.to_string()))),
        Value::Number(number) => {
            all.push(("type-digits".to_owned(), json!(number.to_string())));
            if number.is_i64() {
                all.push(("type-fraction".to_owned(), json!(17.5)));
            }
        }
        Value::Object(_) => all.push(("type-list-of-it".to_owned(), json!([facts.value]))),
        Value::Array(items) => {
            all.extend(items.first().map(|item| ("type-element".to_owned(), item.clone())));
        }
        Value::Null => {}
    }
    all
}

/// Returns numbers of other magnitudes.
pub(super) fn numbers() -> Vec<(String, Value)> {
    named([("zero", json!(0)), ("negative", json!(-1)), ("huge", json!(1e30))])
}

/// Returns lists of another length, in another order, or with a repeated element.
pub(super) fn lists(items: &[Value]) -> Vec<(String, Value)> {
    let with = |item: Value| json!(items.iter().cloned().chain([item]).collect::<Vec<_>>());
    let last = items.last().cloned().unwrap_or_default();
    let reversed: Vec<_> = items.iter().rev().cloned().collect();
    named([
        ("empty", json!([])),
        ("repeated", with(last)),
        ("null-in-it", with(Value::Null)),
        ("list-in-it", with(json!(items))),
        ("other-order", json!(reversed)),
    ])
}

/// Returns objects with other fields.
pub(super) fn objects(members: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut more = members.clone();
    more.insert("further".to_owned(), json!({"member": [1]}));
    let reversed: Map<String, Value> =
        members.iter().rev().map(|(name, value)| (name.clone(), value.clone())).collect();
    named([("empty", json!({})), ("further-member", json!(more)), ("other-order", json!(reversed))])
}

/// Returns strings for any field, and those for the kind that the schema defines.
pub(super) fn texts(text: &str, facts: &Facts<'_>) -> Vec<(String, Value)> {
    let (start, end) = middle(text);
    let mut all = named([
        ("empty", String::new()),
        ("blank", " ".to_owned()),
        ("blank-before", format!(" {text}")),
        ("blank-after", format!("{text} ")),
        ("hard-blank-after", format!("{text}\u{a0}")),
        ("line-break-after", format!("{text}\n")),
        ("control-inside", format!("{start}\u{7}{end}")),
        ("small-letters", text.to_lowercase()),
        ("capitals", text.to_uppercase()),
        ("not-ascii", "æøå".to_owned()),
        ("very-long", "A".repeat(5000)),
    ]);
    if let Some(most) = facts.most {
        all.extend(named([
            ("at-limit", "A".repeat(most)),
            ("at-limit-of-two-bytes", "ø".repeat(most)),
            ("at-limit-of-four-bytes", "🙂".repeat(most)),
            ("one-more", "A".repeat(most + 1)),
            ("one-more-of-two-bytes", "ø".repeat(most + 1)),
            ("one-more-of-four-bytes", "🙂".repeat(most + 1)),
            ("one-more-with-blank", "A".repeat(most) + " "),
            ("twice-as-many", "A".repeat(2 * most)),
        ]));
    }
    if let Some(least) = facts.least.filter(|least| *least > 0) {
        all.extend(named([("at-least", "A".repeat(least)), ("one-less", "A".repeat(least - 1))]));
    }
    all.extend(words(&facts.words));
    match facts.writing {
        Writing::Free => {}
        Writing::Date => all.extend(dates()),
        Writing::Amount => all.extend(amounts(text)),
        Writing::Pattern => all.extend(named([
            ("first-left-out", text.chars().skip(1).collect()),
            ("last-left-out", start_of(text)),
            ("letter-before", format!("A{text}")),
            ("letter-after", format!("{text}A")),
            ("digit-before", format!("1{text}")),
            ("sign-inside", format!("{start}-{end}")),
        ])),
    }
    all
}

/// Splits a string in the middle.
fn middle(text: &str) -> (&str, &str) {
    let at = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    text.split_at(at)
}

/// Returns a string without its last character.
fn start_of(text: &str) -> String {
    let count = text.chars().count();
    text.chars().take(count.saturating_sub(1)).collect()
}

/// Length of the longest list whose words are all sent. Of longer lists, only the first and the last are
/// sent.
const LISTED: usize = 30;

/// Returns strings close to the words of a list but not in it, and words of the list.
fn words(words: &[&str]) -> Vec<(String, Value)> {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return Vec::new() };
    let mut near = named([
        ("letter-before", format!("X{first}")),
        ("letter-after", format!("{last}S")),
        ("first-left-out", first.chars().skip(1).collect()),
        ("last-left-out", start_of(last)),
        ("two-words", format!("{first}{last}")),
        ("two-with-comma", format!("{first},{last}")),
        ("turned-round", first.chars().rev().collect()),
        ("unlisted", "UNKNOWN".to_owned()),
    ]);
    near.retain(|(_, value)| !words.iter().any(|word| value == word));
    let is_sent = |number: usize| words.len() <= LISTED || number == 0 || number + 1 == words.len();
    let sent = words.iter().enumerate().filter(|(number, _)| is_sent(*number));
    near.extend(sent.map(|(_, word)| (format!("word-{word}"), json!(word))));
    near
}

/// Returns strings that are not calendar dates in the extended format of ISO 8601, and two that are.
fn dates() -> Vec<(String, Value)> {
    named([
        ("leap-day", "2024-02-29"),
        ("last-of-year", "2031-12-31"),
        ("words", "tomorrow"),
        ("no-leap-day", "2031-02-29"),
        ("30-february", "2031-02-30"),
        ("31-april", "2031-04-31"),
        ("month-0", "2031-00-05"),
        ("month-13", "2031-13-05"),
        ("day-0", "2031-02-00"),
        ("day-32", "2031-01-32"),
        ("one-digit", "2031-2-5"),
        ("two-digits-of-year", "31-02-05"),
        ("five-digits-of-year", "12031-02-05"),
        ("other-order", "05-02-2031"),
        ("points", "05.02.2031"),
        ("slashes", "2031/02/05"),
        ("basic", "20310205"),
        ("week", "2031-W06-3"),
        ("day-of-year", "2031-036"),
        ("month-alone", "2031-02"),
        ("with-time", "2031-02-05T10:00:00Z"),
        ("with-zone", "2031-02-05Z"),
        ("negative", "-2031-02-05"),
        ("other-digits", "٢٠٣١-٠٢-٠٥"),
        ("seconds-since-1970", "1928016000"),
    ])
}

/// Returns strings that are not amounts, and amounts with other digits. The sample is a number with a point.
fn amounts(text: &str) -> Vec<(String, Value)> {
    let unsigned = text.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "00"));
    named([
        ("words", "much".to_owned()),
        ("not-a-number", "NaN".to_owned()),
        ("infinity", "Infinity".to_owned()),
        ("comma", format!("{whole},{fraction}")),
        ("comma-of-thousands", format!("1,0{whole}.{fraction}")),
        ("blank-of-thousands", format!("1 000.{fraction}")),
        ("two-points", format!("1.{whole}.{fraction}")),
        ("with-currency", format!("{unsigned} NOK")),
        ("other-digits", format!("٢٥.{fraction}")),
        ("hexadecimal", "0x10".to_owned()),
        ("one-more-digit", format!("{unsigned}1")),
        ("two-more-zeros", format!("{unsigned}00")),
        ("six-digits", format!("{whole}.123456")),
        ("one-digit-less", format!("{whole}.{}", start_of(fraction))),
        ("no-fraction", whole.to_owned()),
        ("bare-point-after", format!("{whole}.")),
        ("bare-point-before", format!(".{fraction}")),
        ("plus-sign", format!("+{unsigned}")),
        ("minus-sign", format!("-{unsigned}")),
        ("two-signs", format!("--{unsigned}")),
        ("sign-after", format!("{unsigned}-")),
        ("exponent", format!("{whole}{fraction}e-2")),
        ("leading-zeros", format!("00{unsigned}")),
        ("zero", format!("0.{}", "0".repeat(fraction.len()))),
        ("14-before-the-point", format!("{}.{fraction}", "9".repeat(14))),
        ("19-before-the-point", format!("{}.{fraction}", "9".repeat(19))),
    ])
}
