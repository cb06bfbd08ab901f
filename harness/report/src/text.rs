//! Makes text from the target harmless, and writes numbers in words.
//!
//! Responses of the target appear in terminals, XML and Markdown. Characters are shown as escapes (`\u{1b}`)
//! if they control a terminal, change the direction of writing, are invisible, or are illegal in XML 1.0. So
//! is the second of two `#`: the agents of Azure Pipelines act on `##vso[...]` and `##[...]` in the output of
//! a program (its manual, Logging commands).

use std::borrow::Cow;

/// Limit of the characters of one string that a report shows. The rest is cut and counted.
pub const LONGEST: usize = 240;

/// Note on recorded traffic that includes requests of a run.
pub const ON_PURPOSE: &str = "some or all of the requests come from a run, which violates clauses on purpose";

/// Returns the text on one line, with every character that is not plainly visible as an escape.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hostile(letter) || (letter == '#' && shown.ends_with('#')) {
            // `\n`, `\r`, `\t`, or else `\u{..}`.
            let short = matches!(letter, '\n' | '\r' | '\t');
            if short { shown.extend(letter.escape_default()) } else { shown.extend(letter.escape_unicode()) }
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Returns the lines with every character that is not plainly visible as an escape of JSON (RFC 8259, section
/// 7), so that JSON stays JSON.
pub fn visible(lines: &str) -> Cow<'_, str> {
    let is_shown = |letter: char| matches!(letter, '\n' | '\t') || !is_hostile(letter);
    if lines.chars().all(is_shown) {
        return Cow::Borrowed(lines);
    }
    let mut shown = String::with_capacity(lines.len());
    for letter in lines.chars() {
        if is_shown(letter) {
            shown.push(letter);
        } else {
            let mut units = [0; 2];
            shown.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(shown)
}

/// Characters beyond [`LONGEST`] up to which a string is shown whole.
const SLACK: usize = 120;

/// Makes a string [`harmless`], and cuts it after [`LONGEST`] characters unless only a few follow. The result
/// has the number of characters cut.
pub fn short(text: &str) -> String {
    match (text.char_indices().nth(LONGEST), text.chars().count().checked_sub(LONGEST)) {
        (Some((end, _)), Some(more)) if more > SLACK => {
            format!("{}... ({more} characters more)", harmless(&text[..end]))
        }
        _ => harmless(text),
    }
}

/// Returns true if a character is shown as an escape: controls (Unicode category Cc), line and paragraph
/// separators, zero-width and bidirectional marks, and what XML 1.0 section 2.2 excludes.
pub fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Formats microseconds as seconds with three decimals: `0.012`.
pub fn seconds(micros: u64) -> String {
    let millis = micros.saturating_add(500) / 1000;
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

/// Formats microseconds for people: `0.4 ms`, `12 ms`, `1.234 s`.
pub fn duration(micros: u64) -> String {
    match micros {
        0..9_950 => {
            let tenths = (micros + 50) / 100;
            format!("{}.{} ms", tenths / 10, tenths % 10)
        }
        9_950..999_500 => format!("{} ms", (micros + 500) / 1000),
        _ => format!("{} s", seconds(micros)),
    }
}

/// Formats a rate per second with one decimal. Returns None if no time passed.
pub fn rate(count: usize, micros: u64) -> Option<String> {
    let tenths = (count as u128 * 10_000_000).checked_div(u128::from(micros))?;
    Some(format!("{}.{}", tenths / 10, tenths % 10))
}

/// Formats a number with a noun: `1 case`, `2 cases`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns text from elsewhere as a code span, in which nothing is a link, a mention, HTML or emphasis
/// (`CommonMark` section 6.1). The fence is longer than any run of backticks within, and a space separates it
/// from a backtick or space at the edge.
pub(crate) fn code(text: &str) -> String {
    let text = short(text);
    if text.is_empty() {
        return "(nothing)".to_owned();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let edge = |letter: char| letter == '`' || letter == ' ';
    let blank = text.chars().all(|letter| letter == ' ');
    let pad = if !blank && (text.starts_with(edge) || text.ends_with(edge)) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_escaped_and_what_is_read_stays() {
        let table = [
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("a\r\nb\tc\0", "a\\r\\nb\\tc\\u{0}"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("a\u{202e}b\u{2066}c\u{200b}", "a\\u{202e}b\\u{2066}c\\u{200b}"),
            ("\u{fffe}\u{ffff}\u{feff}", "\\u{fffe}\\u{ffff}\\u{feff}"),
            ("##vso[task.x]y ###", "#\\u{23}vso[task.x]y #\\u{23}#"),
            ("blåbærsyltetøy \u{1f600} <&>\"'\\", "blåbærsyltetøy \u{1f600} <&>\"'\\"),
        ];
        for (text, shown) in table {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn printed_lines_stay_lines_and_json_stays_json() {
        for (lines, shown) in [
            ("a\n\tb\u{e5}", "a\n\tb\u{e5}"),
            ("\u{1b}[2J\r\u{9b}31m", "\\u001b[2J\\u000d\\u009b31m"),
            ("a\u{202e}b\u{e0001}", "a\\u202eb\\udb40\\udc01"),
        ] {
            assert_eq!(visible(lines), shown);
        }
        let text = "\u{202e}\u{e0001}\u{feff}";
        let json = serde_json::to_string(text).unwrap();
        assert_eq!(serde_json::from_str::<String>(&visible(&json)).unwrap(), text);
    }

    #[test]
    fn long_text_is_cut_between_characters_and_counted() {
        assert_eq!(short(&"ø".repeat(LONGEST)), "ø".repeat(LONGEST));
        assert_eq!(
            short(&"ø".repeat(LONGEST + SLACK + 7)),
            format!("{}... ({} characters more)", "ø".repeat(LONGEST), SLACK + 7)
        );
        assert_eq!(short(&"ø".repeat(LONGEST + SLACK)), "ø".repeat(LONGEST + SLACK));
    }

    #[test]
    fn numbers() {
        for (micros, shown) in [
            (0, "0.0 ms"),
            (420, "0.4 ms"),
            (9_949, "9.9 ms"),
            (9_950, "10 ms"),
            (12_345, "12 ms"),
            (999_499, "999 ms"),
            (999_500, "1.000 s"),
            (1_234_000, "1.234 s"),
        ] {
            assert_eq!(duration(micros), shown);
        }
        assert_eq!(
            (seconds(0), seconds(1_499), seconds(61_000_500)),
            ("0.000".into(), "0.001".into(), "61.001".into())
        );
        assert_eq!((rate(3, 2_000_000), rate(3, 0)), (Some("1.5".into()), None));
        assert_eq!((count(1, "case"), count(0, "case")), ("1 case".into(), "0 cases".into()));
    }
}
