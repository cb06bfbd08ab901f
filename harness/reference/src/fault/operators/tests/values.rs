//! Values that satisfy the condition of a treatment, derived from the condition where possible.

use serde_json::{Value, json};

use crate::rules::{Count, Likeness, When};

/// Strings of every form that a condition asks for.
const TEXTS: &[&str] = &[
    "",
    "x",
    "text",
    "Text 5",
    "12 B",
    "EC1A 1BB",
    "1-3",
    "å",
    "東京",
    "\u{1f600}",
    "x€y",
    "St. Olav's",
    "2030-05-01T00:00:00Z",
    "2030-05-01Z",
    "2030-05-01+01:00",
    "2030-05-01\n",
    "2030-05-01 ",
    " 2030-05-01",
    "20300501",
    "2030-W40-1",
    "2030-121",
    "2032-02-29",
    "9999-12-31",
    "2030/05/01",
    "2030.05.01",
    "2030 05 01",
    "01-05-2030",
    "01.05.2030",
    "05/01/2030",
    "30-05-01",
    "2030-5-1",
    "2030-05",
    "tomorrow",
    "2030-13-01",
    "2030-00-01",
    "2030-05-00",
    "2030-05-32",
    "2030-02-30",
    "2030-05-31",
    "2030-12-01",
    "2030-08-31",
    "1e5",
    "1E5",
    "1e+5",
    "+100.00",
    "100,00",
    " 250000.00",
    "250 000.00",
    "1.000.00",
    "١٢٣٤.٠٠",
    "1.00 NOK",
    "1.00x",
    "free",
    "0x1F",
    "-1.00",
    "100.00000",
    "1234567890123456789.00",
    "12345678901234567.00",
    "0.00",
    "100.000",
    "125000",
    "125000.5",
    "1.23",
    "100.000000",
    "1\n",
    " 1",
    "१",
    "+1",
    "-1",
    "32",
    "0",
    "00",
    "31",
    "29",
    "30",
    "01",
    "33",
    "99",
    "100",
    "1x",
    "28",
    "testdeff",
    "TESTDEF",
    "TESTDEFFX",
    "TESTDEFFXX",
    "TESTDEFFXXX",
    "TESTDEFFXXXX",
    "TESTDEFF ",
    "TESTDE1F",
    "1ESTDEFF",
    "TEST DEFF",
    "TESTDEFFxxx",
    "TESTDEFFXXXMORE",
    "TEST1EFF",
    "NO6200004200594",
    "NO1500004200179",
    "DE94999999990000000001",
    "GB82WEST12345698765432",
    "AE070331234567890123456",
    "MT84MALT011000012345MTLCAST001S",
    "BR1800360305000010009795493C1",
    "XK831234567890123456789012345678900",
    "WEST123",
    "west123",
    "ABCD",
    "XK",
    "AAA",
    "99",
    "13",
    "preceding",
    "Yearly",
    "something-else",
    "0123456789012345678901234567890123456789",
    "a.b_c:d",
    "a b",
    "12345678",
    "2001:db8::1",
    "2001:DB8::1",
    "::ffff:192.0.2.1",
    "tpp.app:/back",
    "http://tpp.example/back",
    "https://tpp.example:8443/a?b#c",
    "https://tpp.example/%20",
    "99435C7E-AD88-49EC-A2AD-99DDCB1F5555",
    "longer-name",
    "amount-as-string, longer-name",
    "cash-account-type-iso",
    "amount-as-string, longer-name, cash-account-type-iso",
    "41819000466",
    "12848500257",
    "LOCALHOST",
    "localhost:80",
    "application/json; charset=UTF-8",
    "application/json;q=0.5",
    "*/*",
    "cardaccount-switch-originalamount-and-transactionamount",
    "get",
    "Post",
];

/// An iban of the maximum length with valid check digits.
const IBAN: &str = "XK83123456789012345678901234567890";

/// Returns values that satisfy a condition, for the field of this name.
pub(super) fn meant(when: When, name: &str) -> Vec<Value> {
    let text = |count: usize| match name {
        "iban" => IBAN.chars().chain(std::iter::repeat('0')).take(count).collect(),
        _ => "x".repeat(count),
    };
    let texts = |texts: Vec<String>| texts.into_iter().map(Value::from).collect::<Vec<_>>();
    match when {
        When::Null => vec![Value::Null],
        When::Is(value) => vec![json!(value)],
        When::Among(list) => list.iter().map(|word| json!(word)).collect(),
        When::Like(likeness, list) => texts(list.iter().flat_map(|word| like(likeness, word)).collect()),
        When::Characters(count) | When::Between(count, _) => texts(vec![text(count)]),
        When::Longer(count) => texts(vec![text(count + 1)]),
        When::Forgiven(count, most) => texts(vec![match count {
            Count::Ascii => text(most) + "å",
            Count::WithoutMarks => text(most) + "\u{30a}",
            Count::LongestLine => text(most) + "\na",
            _ => text(most) + " ",
        }]),
        When::Overcounted(Count::Units, most) => texts(vec!["\u{1f600}".repeat(most)]),
        When::Overcounted(_, most) => texts(vec!["ß".repeat(most)]),
        When::Items(count) => vec![json!(vec!["payment-pending-0001"; count])],
        When::Has(number, times) => vec![json!(vec![number; times])],
        When::Absent | When::AbsentWith(_) => vec![],
        _ => every(),
    }
}

/// Returns strings that resemble a word.
fn like(likeness: Likeness, word: &str) -> Vec<String> {
    match likeness {
        Likeness::LetterCase => vec![word.to_lowercase(), word.to_uppercase()],
        Likeness::Blanks => vec![format!(" {word}")],
        Likeness::Beginning => vec![format!("{word}x")],
        Likeness::End => vec![format!("x{word}")],
        Likeness::Inside => vec![format!("x{word}x")],
        Likeness::Part => vec![word[..1].to_owned()],
        Likeness::OneLetter => vec![format!("{}#", &word[..word.len() - 1])],
    }
}

/// Returns all strings.
pub(super) fn texts() -> impl Iterator<Item = String> {
    TEXTS.iter().map(|text| (*text).to_owned()).chain([71, 256, 300].map(|count| "x".repeat(count)))
}

/// Returns values of every JSON type.
fn every() -> Vec<Value> {
    static EVERY: std::sync::LazyLock<Vec<Value>> = std::sync::LazyLock::new(make_every);
    EVERY.clone()
}

fn make_every() -> Vec<Value> {
    let mut values =
        vec![json!(7), json!(true), json!([]), json!({}), json!("text"), json!(1.5), Value::Null];
    values.extend(texts().map(Value::from));
    for list in [
        "[1,1]",
        "[2,1,2]",
        "[1,2,1]",
        "[1,2,2]",
        "[2,2,3]",
        "[1,2,3,1]",
        "[\"1\"]",
        "[1.5]",
        "[true]",
        "[13]",
        "[1,13]",
        "[13,1]",
        "[0]",
        "[12]",
        "[11]",
        "[1]",
        "[-1]",
        "[1,2,3,4,5,6,7]",
        "[3,2,1]",
        "[1,{}]",
        "[{},1]",
        "[\"a\",{}]",
        "[{},\"a\"]",
        "[\"a\",1]",
        "[100]",
        "[1,1,1]",
        "[5,6,5,7]",
        "[null]",
        "[16]",
        "[\"payment-pending-0001\",{}]",
        "[{},\"payment-pending-0001\"]",
    ] {
        values.push(serde_json::from_str(list).unwrap());
    }
    let amounts = TEXTS.iter().filter(|text| text.bytes().any(|byte| byte.is_ascii_digit()));
    for (amount, currency) in
        amounts.flat_map(|amount| ["NOK", "JPY", "KWD", "EUR", "XDR"].map(|code| (amount, code)))
    {
        values.push(json!({ "amount": amount, "currency": currency }));
    }
    values.push(json!({ "currency": "NOK" }));
    values.push(json!({ "bban": "00004200594", "currency": "NOK" }));
    values
}
