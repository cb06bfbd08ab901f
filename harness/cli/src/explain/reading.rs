//! Readings and strengths of clauses, in sentences.

use xs2aspec_suite::Strength;

/// The shorthand of the table of readings, in words.
const WORDS: [(&str, &str); 9] = [
    ("**", ""),
    ("STATED", "stated"),
    ("DERIVED", "derived"),
    ("CHOICE", "choice of the bank"),
    ("EXPECTED", "expected"),
    ("OBSERVED", "only recorded"),
    ("UNTESTABLE", "not testable"),
    (" refusal", " rejection"),
    ("refused", "rejected"),
];

/// Returns a reading as sentences: no Markdown, no capitals for strengths, `line 242` for `L242`.
pub(super) fn sentence(reading: &str) -> String {
    let mut text = reading.to_owned();
    for (from, to) in WORDS {
        text = text.replace(from, to);
    }
    let mut sentences = Vec::new();
    for part in lines_in_words(&text).split("; ") {
        let part = part.trim().trim_end_matches('.');
        let mut letters = part.chars();
        if let Some(first) = letters.next() {
            sentences.push(format!("{}{}.", first.to_uppercase(), letters.as_str()));
        }
    }
    sentences.join(" ")
}

/// Returns the text with `line 242` for each `L242`.
fn lines_in_words(text: &str) -> String {
    let (mut shown, mut before) = (String::with_capacity(text.len()), ' ');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_line =
            letter == 'L' && !before.is_alphanumeric() && letters.peek().is_some_and(char::is_ascii_digit);
        if is_line {
            shown.push_str("line ");
        } else {
            shown.push(letter);
        }
        before = letter;
    }
    shown
}

/// Returns the meaning of a strength in a sentence.
pub(super) fn strength(strength: &Strength) -> &'static str {
    match strength {
        Strength::Stated => "stated: the document says so, in words or in a table",
        Strength::Derived(_) => "derived: it follows from a standard that the document names",
        Strength::Expected => {
            "expected: the plain reading, though another is possible; a violation is a warning"
        }
        Strength::Choice(_) => "choice: the document leaves it to the bank, and its profile decides",
        Strength::Observed(_) => "observed: the document expects nothing; the behavior is only recorded",
        Strength::Untestable(_) => "untestable: no request can show it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_told_in_sentences() {
        let reading = "**months** \"1 to 11\" of L242; STATED acceptance of 1..11; value 12: CHOICE [observe]; \
                       XL3 stays; neither: STATED refusal";
        assert_eq!(
            sentence(reading),
            "Months \"1 to 11\" of line 242. Stated acceptance of 1..11. Value 12: choice of the bank \
             [observe]. XL3 stays. Neither: stated rejection."
        );
        assert_eq!(sentence(""), "");
    }
}
