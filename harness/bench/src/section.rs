//! Sections of a file that are measured at different times, each between its own markers.

use std::fs;

/// Writes the section with this name to a file. It replaces an existing one, or else is appended.
pub(crate) fn write(path: &str, name: &str, text: &str) -> Result<(), String> {
    change(path, |kept| with_section(kept, name, text))
}

/// Writes the text before the first section of a file, and keeps all sections.
pub(crate) fn write_head(path: &str, text: &str) -> Result<(), String> {
    change(path, |kept| with_head(kept, text))
}

fn change(path: &str, change: impl FnOnce(&str) -> String) -> Result<(), String> {
    let wrong = |error| format!("{path}: {error}");
    let kept = fs::read_to_string(path).map_err(wrong)?;
    fs::write(path, change(&kept)).map_err(wrong)
}

fn with_section(kept: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let (before, after) = match kept.split_once(&begin) {
        Some((before, rest)) => (before.to_owned(), rest.split_once(&end).map_or("", |(_, after)| after)),
        None => (format!("{}\n\n", kept.trim_end()), ""),
    };
    format!("{before}{begin}{text}{end}{after}")
}

fn with_head(kept: &str, text: &str) -> String {
    let sections = kept.find("<!-- ").map_or("", |at| &kept[at..]);
    let between = if sections.is_empty() { "" } else { "\n" };
    format!("{}\n{between}{sections}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_anew_leaves_the_other_sections_as_they_are() {
        let first = with_section("# Results\n", "a", "one\n");
        assert_eq!(first, "# Results\n\n<!-- a -->\none\n<!-- end of a -->\n");
        let both = with_section(&first, "b", "two\n");
        let other = with_section(&both, "a", "three\n");
        assert_eq!(other, both.replace("one", "three"));
        assert_eq!(with_head(&both, "# New\n"), both.replace("# Results", "# New"));
        assert_eq!(with_head("# Results\n", "# New\n"), "# New\n");
    }
}
