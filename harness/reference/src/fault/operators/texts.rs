//! Operators on texts with a limit: one up and one down, counted otherwise, letters that are not taken.

use super::requests::made;
use super::table::{self, Kind, Member};
use super::{Made, Operator, apply, clause};
use crate::rules::{Count, Entry, Pattern, Then, When};

/// Other ways to count which make a text shorter.
const SHORTER: [(&str, Count, &str); 6] = [
    ("trimmed", Count::Trimmed, "blanks around the text"),
    ("ascii-counted", Count::Ascii, "letters beyond ASCII"),
    ("marks-not-counted", Count::WithoutMarks, "marks that combine with letters"),
    ("blanks-not-counted", Count::WithoutBlanks, "blanks"),
    ("blanks-counted-once", Count::OneBlank, "blanks that follow others"),
    ("longest-line-counted", Count::LongestLine, "lines other than the longest"),
];

/// Other ways to count which make a text longer.
const LONGER: [(&str, Count, &str); 3] = [
    ("bytes-counted", Count::Bytes, "bytes"),
    ("utf-16-counted", Count::Units, "units of UTF-16"),
    ("capitals-counted", Count::Capitals, "letters after writing them in capitals"),
];

/// Letters that some banks refuse: the operator's name, one of them, and what they are.
type Letters = (&'static str, &'static str, &'static str);

const LETTERS: [Letters; 4] = [
    ("not-ascii-refused", "[^[:ascii:]]", "letters beyond ASCII"),
    ("two-bytes-refused", r"[\x{80}-\x{7ff}]", "letters of two bytes"),
    ("three-bytes-refused", r"[\x{800}-\x{ffff}]", "letters of three bytes"),
    ("four-bytes-refused", r"[\x{10000}-\x{10ffff}]", "letters of four bytes"),
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
            let says = format!("refuses {what} in");
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
        more("limit-one-up", |limit| When::Characters(limit + 1), "takes one character more in"),
        more("limit-ten-up", |limit| When::Between(limit + 1, limit + 10), "takes ten characters more in"),
        more("limit-255", |limit| When::Between(limit + 1, 255), "takes 255 characters in"),
        more(
            "limit-doubled",
            |limit| When::Between(limit + 1, limit * 2),
            "takes twice as many characters in",
        ),
        more("limit-none", When::Longer, "takes any number of characters in"),
        more("limit-wraps", |_| When::Longer(255), "takes more than 255 characters, and not some more, in"),
        fewer("limit-one-down", When::Characters, "takes one character less in"),
        fewer("limit-five-down", |limit| When::Between(limit - 4, limit), "takes five characters less in"),
        fewer(
            "limit-halved",
            |limit| When::Between(limit / 2 + 1, limit),
            "takes half as many characters in",
        ),
    ]
}

/// What becomes of a text that is too long. A part of an IBAN is none, since its check digits are wrong.
fn cut(row: &Member, limit: usize) -> Then {
    if row.name() == "iban" { Then::TakeFor(table::valid(row)) } else { Then::Cut(limit) }
}

/// Whether an account has such a number is the bank's to say.
fn is_number(row: &Member) -> bool {
    matches!(row.name(), "iban" | "bban")
}
