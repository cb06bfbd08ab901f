//! Masks headers word by word, so that their structure remains visible.

/// Minimum length of a digest. Names of algorithms are shorter.
const SHORTEST_DIGEST: usize = 16;

/// Prefixes of the names of digest algorithms (RFC 3230, RFC 9530).
const ALGORITHMS: [&str; 5] = ["sha", "md5", "unix", "crc", "adler"];

/// Masks the words of a header that `shows` rejects. A quoted string counts as one word, and so does the
/// content of an encoded word.
pub(super) fn masked(
    value: &str,
    shows: &dyn Fn(&str) -> bool,
    pseudonym: &dyn Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    let mut rest = value;
    while !rest.is_empty() {
        let (text, after) = if let Some((frame, text, after)) = encoded_word(rest) {
            out.push_str(frame);
            (text, after)
        } else if let Some(quoted) = rest.strip_prefix('"') {
            out.push('"');
            quoted.split_at(quoted.find('"').unwrap_or(quoted.len()))
        } else {
            rest.split_at(rest.find(separates).unwrap_or(rest.len()))
        };
        let is_shown = text.split(separates).filter(|word| !word.is_empty()).all(shows);
        out.push_str(&if is_shown { text.to_owned() } else { pseudonym(text) });
        let separator = after.chars().next().map_or(0, char::len_utf8);
        out.push_str(&after[..separator]);
        rest = &after[separator..];
    }
    out
}

/// Returns true for characters that separate words in a header. Of these, base64 uses only `=`, as padding.
fn separates(letter: char) -> bool {
    matches!(letter, '"' | '(' | ')' | ',' | ';' | '=' | '?' | ' ' | '\t')
}

/// Splits a string that starts with an encoded word into `=?charset?encoding?`, its content, and the rest
/// (RFC 2047 section 2).
fn encoded_word(text: &str) -> Option<(&str, &str, &str)> {
    let mut marks = text.strip_prefix("=?")?.match_indices('?').map(|(at, _)| at + 2);
    let (_, encoding) = (marks.next()?, marks.next()?);
    let (frame, rest) = text.split_at(encoding + 1);
    let (text, after) = rest.split_at(rest.find("?=").unwrap_or(rest.len()));
    Some((frame, text, after))
}

/// Returns true for a word of a digest header that is not part of a digest.
pub(super) fn is_algorithm(word: &str) -> bool {
    let word = word.to_lowercase();
    word == "w/" || word.len() < SHORTEST_DIGEST && ALGORITHMS.iter().any(|name| word.starts_with(name))
}

/// Masks credentials but keeps their scheme (RFC 9110 section 11.4).
pub(super) fn credentials(value: &str, pseudonym: &dyn Fn(&str) -> String) -> String {
    let is_scheme = |word: &str| {
        ["basic", "bearer", "digest", "dpop", "negotiate"].contains(&word.to_lowercase().as_str())
    };
    match value.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) => format!("{scheme} {}", pseudonym(rest)),
        _ if value.is_empty() => String::new(),
        _ => pseudonym(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        format!("<{}>", text.len())
    }

    #[test]
    fn the_structure_of_a_header_remains() {
        let shows = |word: &str| {
            ["keyId", "algorithm", "headers", "signature", "rsa-sha256", "digest", "date"].contains(&word)
        };
        for (value, expected) in [
            (
                r#"keyId="SN=1,CA=CN=A",algorithm="rsa-sha256",headers="digest date",signature="AA+/==""#,
                r#"keyId="<12>",algorithm="rsa-sha256",headers="digest date",signature="<6>""#,
            ),
            (r#"headers="digest x-secret", signature="""#, r#"headers="<15>", signature="""#),
            ("=?utf-8?B?QUJD?= =?utf-8?Q?a=3D?=", "=?utf-8?B?<4>?= =?utf-8?Q?<4>?="),
            ("keyId=SN=1a", "keyId=<2>=<2>"),
            ("QUJD/+==,QUJD/+==", "<6>==,<6>=="),
            (r#""QUJD"#, r#""<4>"#),
            ("=?utf-8?B?QU", "=?utf-8?B?<2>"),
            ("", ""),
        ] {
            assert_eq!(masked(value, &shows, &hidden), expected);
        }
    }

    #[test]
    fn a_digest_is_masked_and_its_algorithm_is_not() {
        for (value, expected) in [
            ("SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=", "SHA-256=<43>="),
            (
                "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:, md5=AA==",
                "sha-256=<44>=<1>, md5=<2>==",
            ),
            ("W/\"5f3e\"", "W/\"<4>\""),
            ("5f3e", "<4>"),
        ] {
            assert_eq!(masked(value, &is_algorithm, &hidden), expected);
        }
    }

    #[test]
    fn credentials_show_their_scheme() {
        for (value, expected) in [
            ("Bearer AAA", "Bearer <3>"),
            ("Basic QTpC", "Basic <4>"),
            ("AAA", "<3>"),
            ("my secret", "<9>"),
            ("", ""),
        ] {
            assert_eq!(credentials(value, &hidden), expected);
        }
    }
}
