//! Operators on closed lists: one value less, one more, and strings that resemble a value. Also operators on
//! numbers of days, months and payments.

use xs2aspec_bank::operation::Operation;

use super::requests::{fails, made};
use super::table::{self, Kind, Member, valid};
use super::{Made, Operator, apply, clause, slug};
use crate::codes::{SANCTIONED_COUNTRIES, SANCTIONED_CURRENCIES, WITHDRAWN_CURRENCIES};
use crate::rules::rows::title;
use crate::rules::{Entry, Likeness, Place, Then, Treatment, When};

/// Ways in which a string resembles a value of a list.
const LIKE: [(&str, Likeness, &str); 7] = [
    ("case-ignored", Likeness::LetterCase, "in any case"),
    ("trimmed", Likeness::Blanks, "with spaces around it"),
    ("beginning-compared", Likeness::Beginning, "with characters after it"),
    ("end-compared", Likeness::End, "with characters before it"),
    ("inside-looked-for", Likeness::Inside, "with characters around it"),
    ("abbreviated", Likeness::Part, "in abbreviated form"),
    ("one-letter-off", Likeness::OneLetter, "with one wrong letter"),
];

/// Values from other lists: newer or older editions, the whole standard, and common usage. The first value of
/// the document's list identifies the list.
const BESIDES: [(&str, &[&str]); 6] = [
    (
        "AED",
        &[
            "BYN", "MRU", "STN", "VES", "VED", "ZWG", "SLE", "XCG", "SSP", "CHE", "CHW", "CLF", "COU", "MXV",
            "USN", "UYI", "UYW", "BOV", "XAU", "XAG", "XTS", "XXX", "DEM", "ITL", "XBT",
        ],
    ),
    ("AF", &["XK", "UK", "EU", "AN", "AC", "CS", "EA", "IC", "SU", "TA", "TP", "UN", "XX", "YU", "ZZ"]),
    ("INVS", &["GDDS", "CBFF", "DIVI", "HEDG", "INTE", "OTHE", "RENT", "SCVE", "TRAD", "BONU"]),
    ("14", &["00", "01", "10", "11", "12", "13", "15", "16", "20", "21", "25", "27", "28", "30", "32", "40"]),
    ("Daily", &["Yearly", "Biweekly", "Fortnightly", "TwiceAMonth", "Bimonthly", "Once", "Never", "YEAR"]),
    ("following", &["none", "nearest", "modifiedFollowing", "previous", "FollowingOrPreceeding"]),
];

pub(super) fn faults() -> Vec<Entry> {
    let rows: Vec<Member> = table::requests().into_iter().filter(|row| row.kind == Kind::Word).collect();
    let mut operators = vec![
        Operator::several("one-more", |row: &Member| besides(row)),
        Operator::new("only-first-word", |row: &Member| {
            Some(unknown(row, &row.words[1..], "knows only the first value of"))
        }),
        Operator::new("only-last-word", |row: &Member| {
            Some(unknown(row, &row.words[..row.words.len() - 1], "knows only the last value of"))
        }),
        Operator::new("first-half-unknown", |row: &Member| {
            half_unknown(row, &row.words[..row.words.len() / 2], "first")
        }),
        Operator::new("second-half-unknown", |row: &Member| {
            half_unknown(row, &row.words[row.words.len() / 2..], "second")
        }),
        Operator::new("empty-taken", |row: &Member| {
            let of = (When::Is(""), Then::TakeFor(valid(row)));
            Some(made(row, clause::empty(row), of, "accepts an empty string as"))
        }),
        Operator::new("unlisted-fails", |row: &Member| {
            let when = When::Like(Likeness::OneLetter, row.words);
            Some(fails(row, when, "fails on a listed value with one wrong letter in"))
        }),
    ];
    operators.extend(LIKE.map(|(name, likeness, how)| {
        Operator::new(name, move |row: &Member| {
            let is_case = likeness == Likeness::LetterCase;
            // Digits have no case.
            let has_letters =
                row.words.iter().any(|word| word.bytes().any(|byte| byte.is_ascii_alphabetic()));
            let clause = match likeness {
                Likeness::LetterCase => clause::case(row),
                Likeness::OneLetter => clause::unlisted(row),
                _ => clause::longer(row),
            };
            let of = (When::Like(likeness, row.words), Then::TakeFor(valid(row)));
            (has_letters || !is_case)
                .then(|| made(row, clause, of, &format!("accepts a listed value {how} in")))
        })
    }));
    let mut faults = apply(&operators, &rows, |row| (row.operation, row.pointer));
    faults.extend(rows.iter().flat_map(one_less));
    faults.extend(apply(&of_numbers(), &table::requests(), |row| (row.operation, row.pointer)));
    faults
}

fn besides(row: &Member) -> Vec<Made> {
    let of = |(first, _): &&(&str, &[&str])| row.words.first() == Some(first);
    let more = BESIDES.iter().find(of).map(|(_, more)| *more).unwrap_or_default();
    let made = |word: &&'static str| {
        let of = (When::Is(word), Then::TakeFor(valid(row)));
        made(row, clause::unlisted(row), of, &format!("accepts {word} as")).of(slug(word))
    };
    more.iter().map(made).collect()
}

/// Returns a fault for each value of a list that the bank does not know. Names match those in rule files, so
/// that existing faults are not generated again.
fn one_less(row: &Member) -> Vec<Entry> {
    let words = row.words.iter().filter(|word| !may_refuse_all(row.operation, row.pointer, &[**word]));
    words.map(|word| of_word(row, word)).collect()
}

fn of_word(row: &Member, word: &'static str) -> Entry {
    let clause = match clause::listed(row) {
        clause if clause == "currency.listed" && WITHDRAWN_CURRENCIES.contains(&word) => {
            clause + ".withdrawn"
        }
        clause if clause == "currency.listed" && SANCTIONED_CURRENCIES.contains(&word) => {
            clause + ".sanctioned"
        }
        clause if clause == "country.listed" && SANCTIONED_COUNTRIES.contains(&word) => {
            clause + ".sanctioned"
        }
        clause => clause,
    };
    let operation = row.operation;
    let place = match (row.pointer, operation) {
        ("/debtorAccount/currency", _) => format!("-debtor-{operation}"),
        ("/instructedAmount/currency", _) => format!("-amount-{operation}"),
        ("/purposeCode", _)
        | ("/creditorAddress/country" | "/creditorAccount/currency", Operation::Periodic) => {
            format!("-{operation}")
        }
        _ => String::new(),
    };
    let treatment =
        Treatment { operation, place: Place::Body(row.pointer), when: When::Is(word), then: Then::Refuse };
    let says = format!(
        "{} does not know the value {word} of {}.",
        title(operation),
        row.pointer[1..].replace('/', " ")
    );
    Entry::treats(format!("{clause}/no-{}{place}", word.to_lowercase()), treatment, says).by("one-less")
}

/// Returns true if a conforming bank may reject all of these values. A bank knows the currency of its own
/// accounts, and which currencies a domestic payment allows. All accounts and domestic payments of this bank
/// are in `NOK`.
fn may_refuse_all(operation: Operation, pointer: &str, words: &[&str]) -> bool {
    let is_own = operation == Operation::Periodic || pointer.starts_with("/debtorAccount/");
    is_own && pointer.ends_with("/currency") && !words.contains(&"NOK")
}

fn half_unknown(row: &Member, half: &'static [&'static str], which: &str) -> Option<Made> {
    let is_open = may_refuse_all(row.operation, row.pointer, half);
    (!is_open).then(|| unknown(row, half, &format!("does not know the {which} half of the values of")))
}

fn unknown(row: &Member, words: &'static [&'static str], says: &str) -> Made {
    let when = if let [word] = words { When::Is(word) } else { When::Among(words) };
    made(row, clause::listed(row), (when, Then::Refuse), says)
}

/// The fault of a number: its clause, the condition, true if the values are accepted, and a description.
type OfNumber = (&'static str, When, bool, String);

/// Returns operators on days, months, and the number of payments in a basket.
fn of_numbers() -> Vec<Operator<Member>> {
    const DAY: &str = "dayOfExecution";
    const MONTHS: &str = "monthsOfExecution";
    const COUNT: &str = "paymentIds";
    vec![
        of_each("day-unknown", DAY, 1..=31, |day| {
            let clause = if day > 28 { "periodic.day.end-of-month" } else { "periodic.day" };
            (clause, word(day), false, format!("rejects {day} as"))
        }),
        of_each("day-taken", DAY, 32..=40, |day| {
            ("periodic.day.impossible", word(day), true, format!("accepts {day} as"))
        }),
        of_each("month-unknown", MONTHS, 1..=11, |month| {
            ("periodic.months", When::Has(month, 1), false, format!("rejects month {month} in"))
        }),
        of_each("month-taken", MONTHS, [-12, -1, 0, 13, 14, 24, 99, 100], |month| {
            ("periodic.months.range", When::Has(month, 1), true, format!("accepts month {month} in"))
        }),
        of_each("month-twice", MONTHS, 1..=11, |month| {
            (
                "periodic.months.duplicate",
                When::Has(month, 2),
                true,
                format!("accepts month {month} twice in"),
            )
        }),
        of_each("count-refused", COUNT, 2..=9, |count| {
            ("basket.payment-ids.limit.ten", items(count), false, format!("rejects {count} items of"))
        }),
        of_each("count-taken", COUNT, [11, 12, 15, 16, 20, 50, 100], |count| {
            ("basket.payment-ids.limit", items(count), true, format!("accepts {count} items of"))
        }),
    ]
}

/// Returns an operator that generates one fault for each of these numbers.
fn of_each(
    name: &'static str,
    member: &'static str,
    numbers: impl IntoIterator<Item = i64> + Clone + 'static,
    of: fn(i64) -> OfNumber,
) -> Operator<Member> {
    Operator::several(name, move |row: &Member| {
        let one = |number: i64| {
            let (clause, when, is_taken, says) = of(number);
            let then = if is_taken { Then::TakeFor(valid(row)) } else { Then::Refuse };
            made(row, clause.to_owned(), (when, then), &says).of(number.to_string().replace('-', "minus"))
        };
        numbers.clone().into_iter().filter(|_| row.name() == member).map(one).collect()
    })
}

fn word(number: i64) -> When {
    When::Is(number.to_string().leak())
}

fn items(count: i64) -> When {
    When::Items(usize::try_from(count).unwrap_or_default())
}
