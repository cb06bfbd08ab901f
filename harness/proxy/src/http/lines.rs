//! Checks the lines of a head (RFC 9112 section 5).

/// Maximum number of malformed lines listed per head, and of characters of each.
const MOST_MALFORMED: usize = 8;
const MOST_SHOWN: usize = 80;

/// Replaces each control character except tabs and line endings with a space. Keeps the length.
pub(super) fn without_controls(bytes: &[u8]) -> Vec<u8> {
    let of_line = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    let space = |(at, byte): (usize, &u8)| if is_stray(*byte) && !of_line(at) { b' ' } else { *byte };
    bytes.iter().enumerate().map(space).collect()
}

/// Returns the head of a request with `%20` for each space in its target. Returns `None` if there are none.
pub(super) fn with_one_target(head: &[u8]) -> Option<Vec<u8>> {
    let end = head.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&head[..end]).ok()?;
    let (method, rest) = line.split_once(' ')?;
    let (target, version) = rest.trim_end().rsplit_once(' ')?;
    let is_split = target.contains(' ') && version.starts_with("HTTP/1.");
    let whole = || format!("{method} {} {version}\r", target.replace(' ', "%20"));
    is_split.then(|| [whole().as_bytes(), &head[end..]].concat())
}

/// Returns true if a line ends with a bare LF.
pub(super) fn has_bare_end(head: &[u8]) -> bool {
    head.iter().enumerate().any(|(at, byte)| *byte == b'\n' && (at == 0 || head[at - 1] != b'\r'))
}

/// Returns true for a control character that is only allowed at the end of a line.
fn is_stray(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n')
}

/// Joins a value on several lines into one line (RFC 9112 section 5.2).
pub(super) fn unfolded(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    text.lines().map(|line| line.trim_matches([' ', '\t'])).collect::<Vec<_>>().join(" ")
}

/// Returns true for a valid header name (RFC 9110 section 5.6.2).
fn is_token(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_letter)
}

/// Returns the malformed lines of a header section (RFC 9112 section 5), without the values.
pub(super) fn malformed(head: &[u8]) -> Vec<String> {
    let lines = head.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii_end);
    let mut before = String::new();
    let found = lines.filter(|line| !line.is_empty()).filter_map(|line| {
        let has_control = line.iter().any(|byte| is_stray(*byte));
        let line = String::from_utf8_lossy(line);
        if line.starts_with([' ', '\t']) {
            return Some(format!("{before}: (in several lines)"));
        }
        let Some((name, _)) = line.split_once(':') else {
            return Some(line.chars().take(MOST_SHOWN).collect());
        };
        name.trim_end().clone_into(&mut before);
        if has_control {
            return Some(format!("{before}: (with a control character)"));
        }
        (!is_token(name)).then(|| format!("{name}:"))
    });
    found.take(MOST_MALFORMED).collect()
}
