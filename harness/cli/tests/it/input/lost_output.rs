//! Lost output is an error of every command, but a reader that closes the pipe early is not.

use std::{
    fs::OpenOptions,
    io::pipe,
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::support::{command, xs2aspec};

/// Runs a command with this standard output. Returns its exit code and its standard error.
fn printing(arguments: &[&str], stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let output = command().args(arguments).stdout(stdout).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn no_command_succeeds_whose_output_is_lost() {
    let folder = TempDir::new().unwrap();
    let certificate = folder.path().join("cert.pem");
    std::fs::write(&certificate, crate::support::CERTIFICATE).unwrap();
    let (out, certificate) =
        (folder.path().join("out").display().to_string(), certificate.display().to_string());
    let (out, certificate) = (out.as_str(), certificate.as_str());
    let run = ["run", "--only", "ncbct.path/plain", "--out", out];
    let (code, said) = xs2aspec(&run);
    assert_eq!(code, Some(0), "{said}");
    let commands: [&[&str]; 16] = [
        &run,
        &["--help"],
        &["--version"],
        &["run", "--help"],
        &["list"],
        &["explain", "ncbct.path"],
        &["coverage"],
        &["coverage", "--json"],
        &["lint"],
        &["client", "checklist"],
        &["completions", "bash"],
        &["init", "--schema"],
        &["keys", "show", certificate],
        &["diff", out, out],
        &["rejudge", out],
        &["report", out, "--format", "junit"],
    ];
    for arguments in commands {
        let (code, said) = printing(arguments, Stdio::null());
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        // A full disk.
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, said) = printing(arguments, full);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(
            said.contains("error: ") && said.contains("No space left on device"),
            "{arguments:?}: {said}"
        );
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let (code, said) = printing(arguments, writer);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_record_that_grows_beyond_the_limit_of_files_is_an_error() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let line = r#"ulimit -f 100; exec "$0" run --quiet --depth quick --out "$1""#;
    let program = env!("CARGO_BIN_EXE_xs2aspec");
    let output = Command::new("sh").args(["-c", line, program]).arg(&out).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("record.jsonl: File too large"), "{said}");
}

#[test]
fn what_a_file_says_cannot_steer_a_terminal() {
    let folder = TempDir::new().unwrap();
    let (steering, shown) = ("a\u{1b}]0;b\u{7}\u{202e}c", "a\\u001b]0;b\\u0007\\u202ec");
    let path = folder.path().join(format!("{steering}.toml"));
    std::fs::write(&path, format!("base-url = \"{steering}\"")).unwrap();
    let (code, said) = xs2aspec(&["doctor", "--target", path.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(shown) && !said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    let (code, said) = xs2aspec(&["explain", steering]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(shown) && !said.contains('\u{1b}'), "{said:?}");
}
