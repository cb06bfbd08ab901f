//! Text as HTML. Everything that the page shows passes through here.

use std::fmt::Write as _;

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

/// Renders named facts, each with a SHA-256 at its end in small type so that it fits a line.
pub(super) fn facts(facts: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let is_digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let facts = facts.into_iter().map(|(name, text)| {
        match text.rsplit_once(' ').filter(|(_, word)| is_digest(word)) {
            Some((before, digest)) => {
                format!("<dt>{name}</dt><dd>{} <code class=\"digest\">{digest}</code></dd>", shown(before))
            }
            None => format!("<dt>{name}</dt><dd>{}</dd>", shown(&text)),
        }
    });
    let facts: String = facts.collect();
    if facts.is_empty() { facts } else { format!("<dl class=\"facts\">{facts}</dl>") }
}

/// Renders the code and the strong words of a line of Markdown. Marks that are not closed stay.
pub(super) fn inline(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['`', '*']) {
        let (mark, tag) = if rest[start..].starts_with('`') { ("`", "code") } else { ("**", "b") };
        let inside = rest[start..].strip_prefix(mark).and_then(|after| after.split_once(mark));
        let Some((inside, after)) =
            inside.filter(|(inside, _)| !inside.is_empty() && !inside.starts_with(' '))
        else {
            html.push_str(&escaped(&rest[..=start]));
            rest = &rest[start + 1..];
            continue;
        };
        // A long path may wrap at its slashes only.
        let inside = escaped(inside);
        let inside = if mark == "`" { inside.replace('/', "/<wbr>") } else { inside };
        _ = write!(html, "{}<{tag}>{inside}</{tag}>", escaped(&rest[..start]));
        rest = after;
    }
    html + &escaped(rest)
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
        assert_eq!(
            facts([("Name", "a<b".to_owned())]),
            "<dl class=\"facts\"><dt>Name</dt><dd>a&lt;b</dd></dl>"
        );
    }

    #[test]
    fn code_and_strong_words_are_rendered_and_open_marks_stay() {
        for (text, html) in [
            ("`a/<b>` is **not** `c`", "<code>a/<wbr>&lt;b&gt;</code> is <b>not</b> <code>c</code>"),
            ("2 * 3 ** 4 `", "2 * 3 ** 4 `"),
            ("a** b `**` é*", "a** b <code>**</code> é*"),
            ("``", "``"),
        ] {
            assert_eq!(inline(text), html, "{text}");
        }
    }
}
