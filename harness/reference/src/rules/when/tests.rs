use axum::http::HeaderMap;
use serde_json::{Map, json};

use super::*;
use crate::rules::{Effect, Treatment};
use crate::variation::Variation;
use crate::{Fault, rules};

const P: fn(&'static str) -> Pattern = Pattern;

#[test]
fn each_condition_means_its_values_and_no_others() {
    let bodies = [
        json!({ "account": {} }),
        json!({ "account": { "name": null } }),
        json!({ "account": { "name": 7 } }),
        json!({ "account": { "name": "abc" } }),
        json!({ "account": { "name": "abcd" }, "other": "abx" }),
        json!({ "account": { "name": [1, "b", 1] } }),
    ];
    let other = Place::Body("/other");
    let table = [
        (When::Absent, [true, false, false, false, false, false]),
        (When::Present, [false, true, true, true, true, true]),
        (When::Null, [false, true, false, false, false, false]),
        (When::NotType('s'), [false, true, true, false, false, true]),
        (When::Type('n'), [false, false, true, false, false, false]),
        (When::Json(P("^(?:7|null)$")), [false, true, true, false, false, false]),
        (When::Is("abc"), [false, false, false, true, false, false]),
        (When::Among(&["abc", "x"]), [false, false, false, true, false, false]),
        (When::Like(Likeness::LetterCase, &["ABC", "x"]), [false, false, false, true, false, false]),
        (When::Like(Likeness::Beginning, &["abc"]), [false, false, false, false, true, false]),
        (When::Like(Likeness::Blanks, &["abc"]), [false; 6]),
        (When::Like(Likeness::End, &["bcd"]), [false, false, false, false, true, false]),
        (When::Like(Likeness::Part, &["abcd"]), [false, false, false, true, false, false]),
        (When::Like(Likeness::OneLetter, &["abx"]), [false, false, false, true, false, false]),
        (When::Characters(4), [false, false, false, false, true, false]),
        (When::Between(4, 9), [false, false, false, false, true, false]),
        (When::Longer(3), [false, false, false, false, true, false]),
        (When::Forgiven(Count::Trimmed, 3), [false; 6]),
        (When::Overcounted(Count::Bytes, 3), [false; 6]),
        (When::Matches(P("c$")), [false, false, false, true, false, false]),
        (When::Unmatched(P("c$")), [false, false, false, false, true, false]),
        (When::Becomes(P("c"), "x", &When::Is("abx")), [false, false, false, true, false, false]),
        (When::Becomes(P("x"), "", &When::Present), [false; 6]),
        (
            When::Against(P("^.."), "/other", P("^(..)."), Order::Equal),
            [false, false, false, false, true, false],
        ),
        (When::Against(P(".*"), "/other", P(".*"), Order::Less), [false, false, false, false, true, false]),
        (When::Against(P("^.."), "/other", P("^.."), Order::Other), [false; 6]),
        (When::Items(3), [false, false, false, false, false, true]),
        (When::Has(1, 2), [false, false, false, false, false, true]),
        (When::Item(&When::Is("b")), [false, false, false, false, false, true]),
        (When::Repeats, [false, false, false, false, false, true]),
        (When::AbsentWith("/account"), [true, false, false, false, false, false]),
        (When::At(other, &When::Present), [false, false, false, false, true, false]),
        (When::All(&[When::Type('s'), When::Longer(3)]), [false, false, false, false, true, false]),
        (When::Any(&[When::Absent, When::Longer(3)]), [true, false, false, false, true, false]),
        (When::Not(&When::Type('s')), [true, true, true, false, false, true]),
    ];
    for (when, expected) in table {
        let meant =
            bodies.each_ref().map(|body| when.holds(body.pointer("/account/name"), Around::Body(body)));
        assert_eq!(meant, expected, "{when:?}");
    }
    let is_other =
        |object: Value| When::OtherMembers(&["a", "b"]).holds(Some(&object), Around::Body(&object));
    assert!(is_other(json!({ "a": 1, "c": 2 })) && !is_other(json!({ "a": 1 })) && !is_other(json!(["c"])));
}

#[test]
fn characters_are_counted_in_other_ways() {
    let is_meant = |when: When, name: &str| when.holds(Some(&name.into()), Around::Body(&Value::Null));
    for (count, forgiven, not) in [
        (Count::Trimmed, " abc", "abcd"),
        (Count::Ascii, "aåbå", "abcd"),
        (Count::WithoutMarks, "a\u{30a}bc", "abcd"),
        (Count::LongestLine, "abc\na", "a\nabcd"),
    ] {
        assert!(is_meant(When::Forgiven(count, 3), forgiven), "{count:?}");
        assert!(!is_meant(When::Forgiven(count, 3), not), "{count:?}");
    }
    for (count, too_many, not) in [(Count::Bytes, "abå", "abc"), (Count::Units, "ab\u{1f600}", "abå")] {
        assert!(is_meant(When::Overcounted(count, 3), too_many), "{count:?}");
        assert!(!is_meant(When::Overcounted(count, 3), not), "{count:?}");
    }
}

#[test]
fn fraction_digits_are_those_of_the_currency() {
    for (amount, currency, missing) in [
        ("1.00", "NOK", Some(0)),
        ("-1.0", "NOK", Some(1)),
        ("1", "KWD", Some(3)),
        ("1", "JPY", Some(0)),
        ("1.000", "NOK", None),
        ("1", "XDR", None),
        ("1", "MRO", None),
        ("1", "XXX", None),
    ] {
        assert_eq!(missing_digits(&json!({ "amount": amount, "currency": currency })), missing, "{amount}");
    }
}

#[test]
fn sorts_are_told_apart() {
    for (sort, is, are_not) in [
        (Sort::Day, "2032-02-29", ["2030-02-29", "20300201"]),
        (Sort::Weekend, "2030-02-02", ["2030-02-01", "x"]),
        (Sort::Iban, "NO1400004200179", ["NO1500004200179", "NO"]),
        (Sort::DomesticNumber, "00004200179", ["00004200178", "1"]),
    ] {
        assert!(sort.has(is) && !are_not.iter().any(|text| sort.has(text)), "{sort:?}");
    }
}

/// Names of entries, values that satisfy the conditions in their rows, and values that do not.
#[rustfmt::skip]
const VALUES: &[(&str, &[&str], &[&str])] = &[
    ("account.bban.check-digit/eleven", &["00004200178", "abcdefghijk"], &["00004200179", "1"]),
    ("account.iban.check-digits/domestic-ncbct", &["NO1500004200179"], &["NO1400004200179", "DE94999999990000000001", "NO15"]),
    ("account.iban.length/cut-before-check-digits-creditor-iban-ncbct", &["XK831234567890123456789012345678900"], &["XK83123456789012345678901234567890"]),
    ("address.free-text/building", &["A1", ""], &["1A", "å"]),
    ("address.free-text/postal-code", &["12345678901", "1-2"], &["1234567890", "å-1"]),
    ("amount.form.exponent/exponent-on-ncbct", &["1e5", "2.5E+04"], &["100", "e5", "1e"]),
    ("amount.form/blanks-inside-on-ncbct", &["250 000.00", "1'000"], &["250000.00", " 1"]),
    ("amount.form/comma-on-ncbct", &["100,00"], &["1,0,0", "100"]),
    ("amount.form/other-digits-on-ncbct", &["١٢٣٤.٠٠"], &["12", "å"]),
    ("amount.form/trailing-text-on-ncbct", &["1.00 NOK"], &["1.00 ", "1.00x"]),
    ("amount.form/two-points-on-ncbct", &["1.000.00"], &["1.0", ".."]),
    ("amount.precision/any-on-ncbct", &["1234567890123456789.00"], &["123456789012345678.00"]),
    ("date.form/basic", &["20310205"], &["20310230", "2031-02-05"]),
    ("date.form/one-digit", &["2031-2-05", "2031-02-5", "2031-2-5"], &["2031-02-05", "2031-2-30", "2031"]),
    ("date.form/time", &["2031-02-05T10:00"], &["2031-02-05", "2031-02-30T10:00"]),
    ("header.psu-ip-port.ncbct/number", &["0", "65536", "x", ""], &["1", "443", "65535"]),
    ("header.x-request-id.format/uuid", &["8f14e45f", ""], &["8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f"]),
    ("http.no-server-error/text-of-no-number-ncbct", &["x", "", "1e", "1,0"], &["1", ".5", "1.", "-1e5", "inf"]),
    ("ncbct.creditor-agent.form/any-of-this-length", &["testdeff", "TESTNO2O"], &["TESTDEFF", "TESTDEFFXXX"]),
    ("ncbct.creditor-agent.form/beginning", &["TESTDEFFX"], &["TESTDEFF", "TESTDEFFXXX", "X"]),
    ("ncbct.creditor-agent.form/small-letters", &["testdeff", "Testdeffxxx"], &["TESTDEFF", "testde1f", "test"]),
    ("ncbct.requested-execution-date.past/no-weekend", &["2030-02-02"], &["2030-02-01", "x"]),
    ("periodic.day.impossible/above-thirty-two", &["33", "99"], &["32", "100", "x"]),
    ("periodic.day.impossible/taken", &["0", "32"], &["31", "x", "100"]),
    ("periodic.start-date.format/other-orders", &["05/01/2030", "20300501"], &["2030-05-01", "2030-5-1"]),
    ("periodic.start-date.format/impossible-days", &["2030-02-30"], &["2030-02-28", "2030-2-30"]),
    ("signature.headers.date-absent/refused-on-ncbct", &["headers=\"digest host\""], &["headers=\"digest date\"", "headers=\"\"", "x"]),
    ("signature.headers.order/date-first-on-ncbct", &["headers=\"digest date\"", "headers=\"a date b\""], &["headers=\"date digest\"", "date"]),
];

/// The same for fields of a body, or several of them.
#[rustfmt::skip]
const MEMBERS: &[(&str, &[&str], &[&str])] = &[
    ("amount.digits.fewer/one-less-on-ncbct", &[r#"{"instructedAmount":{"amount":"1.0","currency":"NOK"}}"#], &[r#"{"instructedAmount":{"amount":"1","currency":"NOK"}}"#, r#"{"instructedAmount":{"amount":"1.00","currency":"NOK"}}"#]),
    ("amount.digits.fewer/taken", &[r#"{"instructedAmount":{"amount":"1","currency":"NOK"}}"#], &[r#"{"instructedAmount":{"amount":"0","currency":"NOK"}}"#, r#"{"instructedAmount":{"amount":"1.00","currency":"NOK"}}"#]),
    ("amount.form.unusual/taken", &[r#"{"instructedAmount":{"amount":".50","currency":"NOK"}}"#], &[r#"{"instructedAmount":{"amount":"+.5","currency":"NOK"}}"#, r#"{"instructedAmount":{"amount":"1..","currency":"NOK"}}"#]),
    ("amount.negative/taken", &[r#"{"instructedAmount":{"amount":"-1.00","currency":"NOK"}}"#], &[r#"{"instructedAmount":{"amount":"-1","currency":"NOK"}}"#, r#"{"instructedAmount":{"amount":"1.00","currency":"NOK"}}"#]),
    ("amount.precision.total/whole-digits-on-ncbct", &[r#"{"instructedAmount":{"amount":"12345678901234567.00","currency":"NOK"}}"#], &[r#"{"instructedAmount":{"amount":"1234567890123456.00","currency":"NOK"}}"#]),
    ("amount.zero/taken", &[r#"{"instructedAmount":{"amount":"0.00","currency":"NOK"}}"#], &[r#"{"instructedAmount":{"amount":"0","currency":"NOK"}}"#, r#"{"instructedAmount":{"amount":"0.01","currency":"NOK"}}"#]),
    ("basket.payment-ids.duplicate/refused", &[r#"{"paymentIds":["a","b","a"]}"#], &[r#"{"paymentIds":["a","b"]}"#]),
    ("json.order/amount-first-ncbct", &[r#"{"instructedAmount":null,"a":1}"#], &[r"{}"]),
    ("json.unknown-members/refused", &[r#"{"synthetic":1}"#], &[r#"{"creditorName":1}"#]),
    ("json.unknown-members/refused-inside", &[r#"{"instructedAmount":{"synthetic":1}}"#], &[r#"{"creditorAddress":{"city":"A"},"synthetic":1}"#]),
    ("ncbct.creditor-agent.beside-iban/of-the-country", &[r#"{"creditorAgent":"TESTDEFF"}"#], &[r#"{"creditorAgent":"TESTNO22"}"#, r#"{"creditorAgent":"x"}"#]),
    ("periodic.day.end-of-month/months-alone", &[r#"{"frequency":"Weekly","dayOfExecution":"1"}"#], &[r#"{"frequency":"Monthly","dayOfExecution":"1"}"#, r#"{"frequency":"Weekly"}"#]),
    ("periodic.day.end-of-month/no-31-from-a-month-of-30", &[r#"{"startDate":"2030-04-01","dayOfExecution":"31"}"#], &[r#"{"startDate":"2030-05-01","dayOfExecution":"31"}"#, r#"{"startDate":"2030-04-31","dayOfExecution":"31"}"#]),
    ("periodic.end-date.before-start/same-year", &[r#"{"startDate":"2030-02-02","endDate":"2030-01-01"}"#], &[r#"{"startDate":"2030-02-02","endDate":"2029-12-31"}"#, r#"{"startDate":"2030-02-02","endDate":"2030-02-02"}"#]),
    ("periodic.months.absent/taken", &[r#"{"frequency":"MonthlyVariable"}"#], &[r#"{"frequency":"Monthly"}"#]),
    ("periodic.months.range/last", &[r#"{"monthsOfExecution":[1,13]}"#], &[r#"{"monthsOfExecution":[13,1]}"#, r#"{"monthsOfExecution":[1,12]}"#]),
    ("periodic.months/at-most-six", &[r#"{"monthsOfExecution":[1,2,3,4,5,6,7]}"#], &[r#"{"monthsOfExecution":[1,2,3,4,5,6]}"#]),
];

#[test]
fn values_are_told_apart() {
    for (name, meant, others) in VALUES {
        for (value, expected) in
            meant.iter().map(|one| (one, true)).chain(others.iter().map(|one| (one, false)))
        {
            assert_eq!(is_treated(name, Value::from(*value)), expected, "{name}: {value}");
        }
    }
    for (name, meant, others) in MEMBERS {
        for (members, expected) in
            meant.iter().map(|one| (one, true)).chain(others.iter().map(|one| (one, false)))
        {
            let members: Map<String, Value> = serde_json::from_str(members).unwrap();
            let treatment = treatment(name);
            let mut body = rules::valid(treatment.operation);
            for (name, member) in members {
                let removed = body.shift_remove(&name);
                body.insert(name, if member.is_null() { removed.unwrap_or_default() } else { member });
            }
            assert_eq!(changes(treatment, &body), expected, "{name}");
        }
    }
}

fn treatment(name: &str) -> &'static Treatment {
    let fault = name.parse::<Fault>().map(Fault::entry);
    let entry = fault.unwrap_or_else(|_| name.parse::<Variation>().unwrap().entry());
    let treats = entry.effects.iter().find_map(|effect| match effect {
        Effect::Treats(treatment) => Some(treatment),
        _ => None,
    });
    treats.unwrap()
}

/// Returns true if a request with this value is treated.
fn is_treated(name: &str, value: Value) -> bool {
    let treatment = treatment(name);
    let mut body = rules::valid(treatment.operation);
    match treatment.place {
        Place::Header(header) => {
            let mut headers = HeaderMap::new();
            headers.insert(header, value.as_str().unwrap().parse().unwrap());
            treatment.head(treatment.operation, Fields(&headers), &Uri::default()).is_err()
        }
        Place::Query(_) => unreachable!("no such condition is tried"),
        Place::Body(pointer) => {
            match pointer[1..].split_once('/') {
                None => drop(body.insert(pointer[1..].to_owned(), value)),
                Some((parent, key)) => body.entry(parent).or_insert_with(|| json!({}))[key] = value,
            }
            changes(treatment, &body)
        }
    }
}

fn changes(treatment: &Treatment, body: &Map<String, Value>) -> bool {
    let mut treated = body.clone();
    treatment.body(treatment.operation, &mut treated).is_err() || treated != *body
}
