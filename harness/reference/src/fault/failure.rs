//! Failures inside: requests that a bank answers with a 5xx (RFC 9110 section 15.6), and JSON that it reads
//! in another way.

use serde_json::{Map, Value, json};

use crate::operation::{Operation, Product};
use crate::rules::{
    Alteration, Beside, Breach, Change, Effect, Entry, JsonBreach, Place, Then, Treatment, Variance, When,
};

/// What the status of a payment without funds says instead: name, member, and a sentence.
const STATUSES: [(&str, &str, Change, &str); 3] = [
    (
        "error.funds/unmarked",
        "/fundsAvailable",
        Change::Remove,
        "The status of a payment has no fundsAvailable.",
    ),
    (
        "error.funds/marked-available",
        "/fundsAvailable",
        Change::Set("true"),
        "The status of a payment always says that there are funds.",
    ),
    (
        "error.funds.rejected/stays-received",
        "/transactionStatus",
        Change::Set("\"RCVD\""),
        "The status of a payment stays RCVD whatever becomes of it.",
    ),
];

/// What becomes of a payment without funds.
const FUNDS: [(&str, Breach, &str); 4] = [
    ("error.funds.no-server-error/fails", Breach::FundsFail, "The bank fails on an account without funds."),
    (
        "error.funds.no-server-error/above-a-million",
        Breach::LargeFundsFail,
        "The bank fails on more than a million from an account without funds.",
    ),
    (
        "error.funds.no-server-error/unavailable",
        Breach::FundsUnavailable,
        "The bank says that it has no time (503) where an account has no funds.",
    ),
    (
        "error.funds.rejected/paid",
        Breach::FundsIgnored,
        "A payment from an account without funds is received like any other.",
    ),
];

/// Other ideas of what a JSON text is.
const READINGS: [(&str, JsonBreach, &str); 12] = [
    ("json.trailing/passed-over", JsonBreach::Trailing, "What follows the JSON text is passed over."),
    ("json.trailing/another-value", JsonBreach::TrailingValue, "Another value may follow the JSON text."),
    ("json.utf-8/lossy", JsonBreach::Lossy, "Bytes that are no UTF-8 become replacement characters."),
    ("json.utf-8/latin-1", JsonBreach::Latin1, "A body that is no UTF-8 is ISO-8859-1."),
    (
        "json.duplicate-keys/first",
        JsonBreach::FirstOfDuplicates,
        "Of members with one name the first counts.",
    ),
    (
        "json.extensions/raw-controls",
        JsonBreach::RawControls,
        "Tabs and line breaks may stand in a text as they are.",
    ),
    ("json.escapes/no-numbers", JsonBreach::NoNumbers, "No letter may be written by its number."),
    ("json.escapes/no-solidus", JsonBreach::NoEscapedSolidus, "No solidus may be escaped."),
    ("json.escapes/names-as-written", JsonBreach::NamesAsWritten, "Names of members may have no escapes."),
    (
        "json.escapes/short-as-written",
        JsonBreach::ShortAsWritten,
        "No text may be longer than 280 bytes as it is written.",
    ),
    ("json.whitespace/one-line", JsonBreach::OneLine, "A body may have one line only."),
    (
        "json.whitespace/before-a-colon",
        JsonBreach::NoBlankBeforeColon,
        "No blank may stand in front of a colon.",
    ),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = vec![Entry::breach(
        "http.no-server-error/no-object",
        Breach::BodyFails,
        "The bank fails on a body that is no JSON object.",
    )];
    faults.extend(FUNDS.map(|(name, breach, says)| Entry::breach(name, breach, says)));
    faults.extend(READINGS.map(|(name, breach, says)| Entry::breach(name, Breach::Json(breach), says)));
    faults.push(Entry::new(
        "json.duplicate-keys/last",
        vec![Effect::Variance(Variance::LastOfDuplicates)],
        "Of members with one name the last counts.",
    ));
    faults.extend(STATUSES.map(|(name, pointer, change, says)| {
        let operation = Operation::Status(Product::Ncbct);
        Entry::new(name, vec![Effect::Alters(Alteration { operation, pointer, change })], says)
    }));
    for operation in [Operation::Ncbct, Operation::Periodic] {
        let by_bban = Treatment {
            operation,
            place: Place::Body("/debtorAccount/bban"),
            when: When::Is("00004200187"),
            then: Then::Fail,
        };
        let name = format!("error.funds.no-server-error/by-bban-{operation}");
        let says =
            format!("The bank fails on an account without funds that is named by its bban ({operation}).");
        faults.push(Entry::treats(name, by_bban, says).only(Beside::Value(by_bban.place)));
        let on = |name: &str, pointer, when, says: &str| {
            let treatment = Treatment { operation, place: Place::Body(pointer), when, then: Then::Fail };
            Entry::treats(
                format!("http.no-server-error/{name}-{operation}"),
                treatment,
                format!("The bank fails on {says} ({operation})."),
            )
        };
        faults.extend([
            on(
                "non-ascii-name",
                "/creditorName",
                When::Text(|text| !text.is_ascii()),
                "a creditorName that is not ASCII",
            ),
            on("null-name", "/creditorName", When::Null, "null as creditorName"),
            on("number-name", "/creditorName", When::Value(Value::is_number), "a number as creditorName"),
            on("long-name", "/creditorName", When::Longer(255), "a creditorName of more than 255 characters"),
            on("unknown-member", "/synthetic", When::Present, "a member that it does not know"),
            on("no-account", "/debtorAccount", When::Absent, "a missing debtorAccount"),
            on(
                "text-account",
                "/creditorAccount",
                When::Value(Value::is_string),
                "a text as creditorAccount",
            ),
            on(
                "list-amount",
                "/instructedAmount",
                When::Value(Value::is_array),
                "a list as instructedAmount",
            ),
            on(
                "text-of-no-number",
                "/instructedAmount/amount",
                When::Text(|text| text.parse::<f64>().is_err()),
                "an amount that is no number",
            ),
            on(
                "three-decimals",
                "/instructedAmount/amount",
                When::Text(|text| decimals(text) > 2),
                "an amount of more than two decimals",
            ),
        ]);
    }
    for (name, operation) in
        [("header-value-of-the-list", Operation::Transaction), ("header-value", Operation::Basket)]
    {
        let treatment = Treatment {
            operation,
            place: Place::Header("psu-http-method"),
            when: When::Text(|value| value.bytes().any(|byte| byte.is_ascii_lowercase())),
            then: Then::Fail,
        };
        let says = format!("The bank fails on a PSU-HTTP-Method in small letters ({operation}).");
        faults.push(Entry::treats(format!("http.no-server-error/{name}"), treatment, says));
    }
    faults.extend(calendars());
    let with_user_agent = [Operation::Basket, Operation::Ncbct, Operation::Periodic, Operation::Transaction];
    faults.extend(with_user_agent.map(user_agent));
    faults
}

/// Whoever decodes the bytes of a header as ASCII (RFC 9110 section 5.5).
fn user_agent(operation: Operation) -> Entry {
    let (place, when) = (Place::Header("psu-user-agent"), When::Text(|value| !value.is_ascii()));
    Entry::treats(
        format!("http.no-server-error/non-ascii-user-agent-{operation}"),
        Treatment { operation, place, when, then: Then::Fail },
        format!("The bank fails on a PSU-User-Agent that is not ASCII ({operation})."),
    )
}

/// Whoever counts on from a day, and does not find another one in the calendar.
fn calendars() -> Vec<Entry> {
    let on = |name: &str, operation, pointer, when, says: &str| {
        let treatment = Treatment { operation, place: Place::Body(pointer), when, then: Then::Fail };
        let name = format!("http.no-server-error/{name}");
        Entry::treats(name, treatment, format!("The bank fails on {says}."))
    };
    let (periodic, start) = (Operation::Periodic, "/startDate");
    let is_last_day = When::Text(|text| text == "9999-12-31");
    vec![
        on(
            "leap-day-and-a-year",
            periodic,
            start,
            When::Together(|body| says(body, "startDate", "-02-29") && says(body, "frequency", "Annual")),
            "29 February plus one year",
        ),
        on(
            "leap-day-and-three-months",
            periodic,
            start,
            When::Together(|body| says(body, "startDate", "-02-29") && says(body, "frequency", "Quarterly")),
            "29 February plus three months",
        ),
        on(
            "30-february",
            periodic,
            "/dayOfExecution",
            When::Together(|body| {
                says(body, "dayOfExecution", "30") && body.get("monthsOfExecution") == Some(&json!([2]))
            }),
            "the 30th as the day of a series in February alone",
        ),
        on(
            "last-day-of-the-calendar-periodic",
            periodic,
            "/endDate",
            is_last_day,
            "the day after 9999-12-31",
        ),
        on(
            "last-day-of-the-calendar-ncbct",
            Operation::Ncbct,
            "/requestedExecutionDate",
            is_last_day,
            "the day after 9999-12-31",
        ),
    ]
}

/// Whether a member is a text that ends so.
fn says(body: &Map<String, Value>, name: &str, end: &str) -> bool {
    body.get(name).and_then(Value::as_str).is_some_and(|text| text.ends_with(end))
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}
