//! Preparation before a run: by a command, and by a PSU who returns from the bank.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::Stdio,
};

use tempfile::TempDir;
use xs2aspec_reference::{Config, start};

use crate::support::{REFERENCE, command};

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_takes_what_a_command_prints() {
    let bank = start(Config::default()).await.unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("bank.toml");
    let script = r#"#!/bin/sh
echo asked >> asked.txt
echo "{\"account\": {\"id\": \"acc-private-0001\"}, \"days\": 90, \"for\": \"$1\"}"
"#;
    fs::write(folder.path().join("consent.sh"), script).unwrap();
    let steps = r#"
[[prepare]]
name = "login"
command = ["echo", "{\"session\": \"1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11\"}"]

[[prepare]]
name = "consent"
command = ["sh", "consent.sh", "${prepare.login.session}"]
"#;
    let profile = REFERENCE
        .replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {:?}", bank.base_url()))
        .replace("\"acc-private-0001\"", "\"${prepare.consent.account.id}\"")
        .replace(
            "\"1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11\"",
            "\"${prepare.consent.for}\" # ${prepare.login.session}",
        );
    assert!(profile.contains("account.id}") && profile.contains("consent.for}"));
    let run = |profile: String| {
        fs::write(&file, profile + steps).unwrap();
        let run = command()
            .args(["run", "--quiet", "--only", "transaction.path", "--target"])
            .arg(&file)
            .arg("--out")
            .arg(folder.path().join("out"))
            .output()
            .unwrap();
        (run.status.code(), String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap())
    };
    tokio::task::block_in_place(|| {
        let (exit, said) = run(profile.clone());
        assert_eq!(exit, Some(0), "{said}");
        // A command may ask a PSU for a consent, so it must run only once.
        assert_eq!(fs::read_to_string(folder.path().join("asked.txt")).unwrap(), "asked\n");
        let (exit, said) = run(profile.replace("consent.account.id", "consent.account.number"));
        assert_eq!(exit, Some(2), "{said}");
        assert!(
            said.contains("`consent` printed no string, number or boolean at `account.number`"),
            "{said}"
        );
    });
    bank.shutdown().await.unwrap();
}

/// Requests a path from the listener, and returns the status line.
fn get(address: &str, path: &str) -> String {
    get_with(address, path, &format!("Host: {address}"))
}

fn get_with(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_psu_who_comes_back_is_waited_for() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("return.json");
    assert_eq!(returned(&out), Some(0));
    #[cfg(unix)]
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o077, 0, "a code is its owner's");
    let written = fs::read_to_string(out).unwrap();
    assert_eq!(written, RETURNED);
    // A code works only once, so it is printed even if the file cannot be written.
    assert_eq!(returned(&folder.path().join("missing/return.json")), Some(2));
}

/// The output for the redirect of the PSU.
const RETURNED: &str = "{\"path\":\"/back\",\"query\":{\"code\":\"a b\",\"state\":\"1\"}}\n";

/// Waits for a PSU who returns, checks the output, and returns the exit code.
fn returned(out: &Path) -> Option<i32> {
    let mut child = command()
        .args(["listen", "--address", "127.0.0.1:0", "--path", "/back", "--timeout-s", "60", "--out"])
        .arg(out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    assert_eq!(get(address, "/favicon.ico"), "HTTP/1.1 404 Not Found");
    // Requests from other web pages do not count as the redirect.
    for headers in ["Host: bank.example", &format!("Host: {address}\r\nSec-Fetch-Mode: no-cors")] {
        assert_eq!(get_with(address, "/back?code=other", headers), "HTTP/1.1 404 Not Found", "{headers}");
    }
    assert_eq!(get(address, "/back?code=a%20b&state=1"), "HTTP/1.1 200 OK");
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RETURNED);
    output.status.code()
}

#[test]
fn nobody_is_waited_for_for_ever_or_elsewhere() {
    let listen = |arguments: &[&str]| {
        let output = command().arg("listen").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (exit, said) = listen(&["--address", "127.0.0.1:0", "--timeout-s", "0"]);
    assert_eq!(exit, Some(3));
    assert!(said.contains("the PSU did not return within 0 s"), "{said}");
    let (exit, said) = listen(&["--address", "0.0.0.0:0"]);
    assert_eq!(exit, Some(2));
    assert!(said.contains("expected a loopback address"), "{said}");
}
