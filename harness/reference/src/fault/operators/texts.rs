//! Operators on strings with a limit: other limits, other ways to count characters, and characters that are
//! rejected.

use super::requests::made;
use super::table::{self, Kind, Member};
use super::{Made, Operator, apply, clause};
use crate::rules::{Count, Entry, Pattern, Then, When};

/// Other ways to count, which make a string shorter.
const SHORTER: [(&str, Count, &str); 6] = [
    ("trimmed", Count::Trimmed, "spaces around the text"),
    ("ascii-counted", Count::Ascii, "non-ASCII characters"),
    ("marks-not-counted", Count::WithoutMarks, "combining marks"),
    ("blanks-not-counted", Count::WithoutBlanks, "spaces"),
    ("blanks-counted-once", Count::OneBlank, "repeated spaces"),
    ("longest-line-counted", Count::LongestLine, "lines other than the longest"),
];

/// Other ways to count, which make a string longer.
const LONGER: [(&str, Count, &str); 3] = [
    ("bytes-counted", Count::Bytes, "bytes"),
    ("utf-16-counted", Count::Units, "UTF-16 code units"),
    ("capitals-counted", Count::Capitals, "characters after conversion to uppercase"),
];

/// Characters that are rejected: the operator, a pattern, and a description.
type Letters = (&'static str, &'static str, &'static str);

const LETTERS: [Letters; 4] = [
    ("not-ascii-refused", "[^[:ascii:]]", "non-ASCII characters"),
    ("two-bytes-refused", r"[\x{80}-\x{7ff}]", "two-byte characters"),
    ("three-bytes-refused", r"[\x{800}-\x{ffff}]", "three-byte characters"),
    ("four-bytes-refused", r"[\x{10000}-\x{10ffff}]", "four-byte characters"),
];

pub(super) fn faults() -> Vec<Entry> {
    let rows: Vec<Member> = table::requests().into_iter().filter(|row| row.kind == Kind::Text).collect();
    let mut operators = limits();
    operators.extend(SHORTER.map(|(name, count, what)| {
        Operator::new(name, move |row: &Member| {
            let limit = row.most?;
            let says = format!("does not count {what} in");
            let is_of_blanks = matches!(count, Count::Trimmed | Count::WithoutBlanks | Count::OneBlank);
            let clause = if is_of_blanks { "text.blanks".to_owned() } else { clause::length(row) };
            Some(made(row, clause, (When::Forgiven(count, limit), cut(row, limit)), &says))
        })
    }));
    operators.extend(LONGER.map(|(name, count, what)| {
        Operator::new(name, move |row: &Member| {
            let limit = row.most.filter(|_| !is_number(row))?;
            let says = format!("counts {what} in");
            let is_utf_16 = matches!(count, Count::Units);
            let clause = if is_utf_16 { "text.characters".to_owned() } else { clause::characters(row) };
            Some(made(row, clause, (When::Overcounted(count, limit), Then::Refuse), &says))
        })
    }));
    operators.extend(LETTERS.map(|(name, letter, what)| {
        Operator::new(name, move |row: &Member| {
            let says = format!("rejects {what} in");
            let of = (When::Matches(Pattern(letter)), Then::Refuse);
            (!is_number(row)).then(|| made(row, clause::letters(row), of, &says))
        })
    }));
    apply(&operators, &rows, |row| (row.operation, row.pointer))
}

fn limits() -> Vec<Operator<Member>> {
    let more = |name, when: fn(usize) -> When, says: &'static str| {
        Operator::new(name, move |row: &Member| {
            let limit = row.most?;
            Some(made(row, clause::length(row), (when(limit), cut(row, limit)), says))
        })
    };
    let fewer = |name, when: fn(usize) -> When, says: &'static str| {
        Operator::new(name, move |row: &Member| -> Option<Made> {
            let limit = row.most.filter(|_| !is_number(row))?;
            Some(made(row, clause::length(row), (when(limit), Then::Refuse), says))
        })
    };
    vec![
        more("limit-one-up", |limit| When::Characters(limit + 1), "accepts one more character in"),
        more(
            "limit-ten-up",
            |limit| When::Between(limit + 1, limit + 10),
            "accepts up to ten more characters in",
        ),
        more("limit-255", |limit| When::Between(limit + 1, 255), "accepts up to 255 characters in"),
        more(
            "limit-doubled",
            |limit| When::Between(limit + 1, limit * 2),
            "accepts up to twice as many characters in",
        ),
        more("limit-none", When::Longer, "accepts any number of characters in"),
        more(
            "limit-wraps",
            |_| When::Longer(255),
            "accepts more than 255 characters, but not slightly more than allowed, in",
        ),
        fewer("limit-one-down", When::Characters, "accepts one character fewer in"),
        fewer("limit-five-down", |limit| When::Between(limit - 4, limit), "accepts five characters fewer in"),
        fewer(
            "limit-halved",
            |limit| When::Between(limit / 2 + 1, limit),
            "accepts half as many characters in",
        ),
    ]
}

/// Returns the treatment of a string that is too long. A truncated iban would have wrong check digits, so it
/// is replaced with a valid one.
fn cut(row: &Member, limit: usize) -> Then {
    if row.name() == "iban" { Then::TakeFor(table::valid(row)) } else { Then::Cut(limit) }
}

/// Returns true for account numbers. A bank may reject a number that no account has.
fn is_number(row: &Member) -> bool {
    matches!(row.name(), "iban" | "bban")
}
