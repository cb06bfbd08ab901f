//! Shell commands: one that reruns a case, and one that sends its request.

use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::text;

/// Quotes an argument for a shell such as bash, if it needs quotes.
///
/// Characters that would control a terminal are written in `$'...'` as octal escapes of their bytes, so that
/// the command is both harmless and correct.
pub fn quoted(argument: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    if !argument.chars().any(text::is_hostile) {
        return format!("'{}'", argument.replace('\'', "'\\''"));
    }
    let mut quoted = String::from("$'");
    for letter in argument.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            letter if text::is_hostile(letter) => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

/// Limit of the bytes of a body that is part of the command. A longer one could exceed what the system
/// accepts as an argument.
const MOST_PLAIN: usize = 64 * 1024;

/// Returns a curl command that sends a request unchanged: exactly these headers, these bytes as body, and no
/// redirects. It contains what the headers contain, which is never a private key.
pub fn curl(method: &str, url: &str, headers: &[(String, String)], body: &[u8]) -> String {
    let has = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let mut words =
        vec!["curl", "--http1.1", "--globoff", "--path-as-is", "--silent", "--show-error", "--include"]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
    words.extend(["--request".to_owned(), quoted(method), quoted(url)]);
    for (name, value) in headers {
        // A header without a value is written with a semicolon. With a colon, curl would omit it.
        let field = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        words.extend(["--header".to_owned(), quoted(&field)]);
    }
    // Remove the headers that curl adds by default.
    for name in ["User-Agent", "Accept", "Content-Type", "Expect"] {
        if !has(name) && (!body.is_empty() || !matches!(name, "Content-Type" | "Expect")) {
            words.extend(["--header".to_owned(), quoted(&format!("{name}:"))]);
        }
    }
    if body.is_empty() {
        return words.join(" ");
    }
    let plain = |text: &&str| text.len() <= MOST_PLAIN && !text.contains('\0');
    if let Some(text) = std::str::from_utf8(body).ok().filter(plain) {
        words.extend(["--data-raw".to_owned(), quoted(text)]);
        return words.join(" ");
    }
    words.push("--data-binary @-".to_owned());
    format!("printf %s {} | base64 --decode | {}", BASE64_STANDARD.encode(body), words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_where_needed() {
        for (argument, shown) in [
            ("--target", "--target"),
            ("periodic.months.duplicate/adjacent", "periodic.months.duplicate/adjacent"),
            ("", "''"),
            ("my bank.toml", "'my bank.toml'"),
            ("it's; rm -rf $HOME", r"'it'\''s; rm -rf $HOME'"),
            ("*", "'*'"),
            ("~/bank.toml", "'~/bank.toml'"),
            ("a\n'\\\u{9b}", r"$'a\012\'\\\302\233'"),
        ] {
            assert_eq!(quoted(argument), shown);
        }
    }

    #[test]
    fn a_line_for_curl_has_the_headers_and_nothing_else() {
        let headers = [("PSU-ID".to_owned(), "a b".to_owned()), ("X-Empty".to_owned(), String::new())];
        let line = curl("GET", "http://127.0.0.1/v1?a=b&c", &headers, b"");
        let end = "--request GET 'http://127.0.0.1/v1?a=b&c' --header 'PSU-ID: a b' --header 'X-Empty;' --header User-Agent: --header Accept:";
        assert!(line.ends_with(end), "{line}");
        let line = curl("POST", "http://127.0.0.1", &headers, b"{\"a\":\"it's\"}");
        assert!(
            line.ends_with(r#"--header Content-Type: --header Expect: --data-raw '{"a":"it'\''s"}'"#),
            "{line}"
        );
        let line = curl("POST", "http://127.0.0.1", &headers, b"\xff\0");
        assert!(line.starts_with("printf %s /wA= | base64 --decode | curl "), "{line}");
    }

    #[test]
    #[cfg(unix)]
    fn a_shell_reads_the_same_argument() {
        for argument in ["it's; echo $HOME", "a\n'\\\u{9b}\u{1b}[2J", "$(date)`date`", "ø \"x\" !"] {
            let script = format!("printf %s {}", quoted(argument));
            let Ok(output) = std::process::Command::new("bash").args(["-c", &script]).output() else {
                return;
            };
            assert_eq!(String::from_utf8(output.stdout).unwrap(), argument);
        }
    }
}
