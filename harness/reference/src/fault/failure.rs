//! Faults of payments without funds, and of how JSON is read.

use axum::http::StatusCode;

use crate::refusal::Code;
use crate::rules::{Effect, Entry, Reading};

/// Other ideas of what a JSON text is.
const READINGS: [(&str, Reading, &str); 12] = [
    ("json.trailing/passed-over", Reading::Trailing, "What follows the JSON text is passed over."),
    ("json.trailing/another-value", Reading::TrailingValue, "Another value may follow the JSON text."),
    ("json.utf-8/lossy", Reading::Lossy, "Bytes that are no UTF-8 become replacement characters."),
    ("json.utf-8/latin-1", Reading::Latin1, "A body that is no UTF-8 is ISO-8859-1."),
    ("json.duplicate-keys/first", Reading::FirstOfDuplicates, "Of members with one name the first counts."),
    (
        "json.extensions/raw-controls",
        Reading::RawControls,
        "Tabs and line breaks may stand in a text as they are.",
    ),
    ("json.escapes/no-numbers", Reading::NoNumbers, "No letter may be written by its number."),
    ("json.escapes/no-solidus", Reading::NoEscapedSolidus, "No solidus may be escaped."),
    ("json.escapes/names-as-written", Reading::NamesAsWritten, "Names of members may have no escapes."),
    (
        "json.escapes/short-as-written",
        Reading::ShortAsWritten,
        "No text may be longer than 280 bytes as it is written.",
    ),
    ("json.whitespace/one-line", Reading::OneLine, "A body may have one line only."),
    (
        "json.whitespace/before-a-colon",
        Reading::NoBlankBeforeColon,
        "No blank may stand in front of a colon.",
    ),
];

pub(super) fn faults() -> Vec<Entry> {
    let fails = |rule| Effect::Refuses(rule, StatusCode::INTERNAL_SERVER_ERROR, Code::SystemError);
    let mut faults = vec![Entry::new(
        "http.no-server-error/no-object",
        ["basket.body", "ncbct.body", "periodic.body"].map(fails).into(),
        "The bank fails on a body that is no JSON object.",
    )];
    faults.extend(READINGS.map(|(name, reading, says)| Entry::new(name, vec![Effect::Reads(reading)], says)));
    faults.push(Entry::new(
        "json.duplicate-keys/last",
        vec![Effect::Reads(Reading::LastOfDuplicates)],
        "Of members with one name the last counts.",
    ));
    faults
}
