//! Arguments as a shell takes them, for the line that runs a case again.

use std::fmt::Write as _;

use crate::text;

/// The argument quoted for a shell such as bash; as it stands where nothing needs a quote.
///
/// What would steer a terminal stands in `$'...'` as octal escapes of its bytes, so that the line is harmless and still right.
pub(crate) fn quoted(argument: &str) -> String {
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
