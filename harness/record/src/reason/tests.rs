//! Tests of the texts and the data of reasons.

use super::*;
use crate::LevelSource;

fn rejected() -> PlainRejected {
    let codes = vec!["NO1400004200179".to_owned()];
    PlainRejected {
        plain: "a.path/plain".to_owned(),
        came: Came::Got(Got { codes, ..Got::status(400) }),
        culprit: None,
        hint: Some(Hint::TestKey),
        is_given_up: true,
    }
}

/// Reasons with every kind of data.
fn table() -> Vec<(Reason, &'static str)> {
    let unknown = Suspicion::Unknown {
        values: vec!["psu.id".to_owned(), "account.iban".to_owned()],
        got: Got::status(401),
        take: "psu.other".to_owned(),
        other: Got::status(201),
        is_taken: true,
    };
    let set_up = Reason::SetUpRejected { step: "payment".to_owned(), got: Got::status(403) };
    let came = Came::Nothing(Box::new(set_up));
    let excuse = Excuse::Level { by: LevelSource::Profile };
    vec![
        (
            Reason::PlainRejected(Box::new(rejected())),
            "the baseline request a.path/plain was not accepted: it got 400 with code NO1400004200179; the target may \
             not know the suite's test key and values: set your own in a profile (`xs2aspec init`); the target accepted \
             no baseline request in this run, so the requests that depend on one were not sent",
        ),
        (Reason::DailyCalls, "the daily calls may be used up"),
        (
            Reason::ControlRejected { control: "a/b".to_owned(), came },
            "its control a/b was not accepted: set-up step `payment` got 403",
        ),
        (
            Reason::ControlExcused { control: "a/b".to_owned(), excuse },
            "its control a/b was not accepted, which is allowed by [levels] of the target profile",
        ),
        (
            Reason::ProfileDoubted { by: Box::new(unknown) },
            "the profile may be wrong: the target responds with 401 to `psu.id` or `account.iban` and to an invented \
             value, and accepts `psu.other`",
        ),
        (
            Reason::Unsteady { got: vec![Got::status(503), Got::status(400)] },
            "it got 503, then 400 for the same request with other values",
        ),
        (
            Reason::GivenUp { because: Box::new(Reason::DailyCalls) },
            "the daily calls may be used up; the target accepted no baseline request in this run, so the requests \
             that depend on one were not sent",
        ),
    ]
}

#[test]
fn a_reason_is_read_as_it_was_written_and_told_in_words() {
    for (reason, words) in table() {
        assert_eq!(reason.to_string(), words);
        let line = serde_json::to_value(&reason).unwrap();
        assert!(line["code"].is_string(), "{line}");
        assert_eq!(serde_json::from_value::<Reason>(line).unwrap(), reason);
    }
}

#[test]
fn masking_changes_texts_and_no_code() {
    for (reason, _) in table() {
        assert_eq!(reason.with_texts(&str::to_owned), reason);
    }
    let masked = Reason::PlainRejected(Box::new(rejected()))
        .with_texts(&|text| text.replace("NO1400004200179", "***"));
    let Reason::PlainRejected(rejected_then) = masked else { panic!("{masked}") };
    assert_eq!(rejected_then.came.to_string(), "it got 400 with code ***");
    // If masking breaks the structure of a reason, it becomes a sentence.
    let all = Reason::PlainRejected(Box::new(rejected())).with_texts(&|_| "***".to_owned());
    assert_eq!(all, Reason::InWords { says: "***".to_owned() });
}
