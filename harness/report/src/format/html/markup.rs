//! Text as HTML. Everything that the page shows passes through here.

use crate::text;

/// Limit of the characters of one header or string.
pub(super) const LINE: usize = 2_000;

/// Escapes text for use between tags or in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Makes text from elsewhere harmless, cuts it to the length of a line, and escapes it.
pub(crate) fn shown(text: &str) -> String {
    escaped(&cut(text, LINE))
}

/// Makes text harmless and cuts it to `most` characters. Line ends stay.
pub(super) fn cut(text: &str, most: usize) -> String {
    let shown = |text: &str| {
        let lines: Vec<String> =
            text.split('\n').map(|line| text::harmless(line.trim_end_matches('\r'))).collect();
        lines.join("\n")
    };
    match text.char_indices().nth(most) {
        None => shown(text),
        Some((end, _)) => {
            format!("{}\n... ({} characters more)", shown(&text[..end]), text[end..].chars().count())
        }
    }
}

/// Renders a list of items, which are HTML, or an empty string if there are none.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("<li>{item}</li>")).collect();
    if items.is_empty() { String::new() } else { format!("<ul>{}</ul>", items.concat()) }
}

/// Renders a part of the page under a heading.
pub(super) fn section(id: &str, title: &str, content: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>{content}</section>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_element_or_its_attribute() {
        assert_eq!(escaped("<b a=\"'&\">"), "&lt;b a=&quot;'&amp;&quot;&gt;");
        assert_eq!(shown("\u{202e}a\r\nb"), "\\u{202e}a\nb");
        assert_eq!(cut("abcdef", 4), "abcd\n... (2 characters more)");
        assert_eq!(list(std::iter::empty()), "");
    }
}
