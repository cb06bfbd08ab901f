//! `serve` prints its address, supports TLS, works as a target, and ends when it is interrupted.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use crate::support::{REFERENCE, command, printed, xs2aspec};

struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        let mut child =
            command().args(["serve", "--quiet"]).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    /// Sends a signal, and returns the exit code.
    fn end(&mut self, signal: &str) -> Option<i32> {
        let interrupted = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
    }
}

#[test]
fn a_style_says_where_it_is_and_what_its_profile_says() {
    let folder = TempDir::new().unwrap();
    let mut child =
        command().args(["serve", "--quiet", "--style", "other"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.next().unwrap();
    let _serving = Serving { child, url: url.clone() };
    // Missing choices come first in the output, and paths last.
    let mut profile = REFERENCE.to_owned();
    let decided = loop {
        let line = lines.next().unwrap();
        let Some(key) = line.strip_prefix("# without choices.") else { break line };
        let key = format!("{} = ", key.trim_matches('"'));
        let kept = profile.lines().filter(|line| !line.replace('"', "").starts_with(&key));
        profile = kept.collect::<Vec<_>>().join("\n");
    };
    assert!(decided.starts_with("paths.\"basket\" = ") && profile.len() < REFERENCE.len(), "{decided}");
    let own = profile.replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {url:?}\n{decided}"));
    fs::write(folder.path().join("bank.toml"), own).unwrap();
    let ran = command()
        .current_dir(folder.path())
        .args(["run", "--quiet", "--only", "basket.body/plain", "--only", "transaction.path/plain"])
        .args(["--target", "bank.toml"])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", printed(&ran));
}

#[test]
fn a_bank_behind_tls_is_a_target_like_any_other() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    fs::write(path("authority.pem"), authority.pem()).unwrap();
    fs::write(path("bank.pem"), params.signed_by(&key, &authority).unwrap().pem()).unwrap();
    fs::write(path("key.pem"), key.serialize_pem()).unwrap();
    let mut serving =
        Serving::start(&["--tls-certificate", &path("bank.pem"), "--tls-key", &path("key.pem")]);
    assert!(serving.url.starts_with("https://127.0.0.1:"), "{}", serving.url);

    let profile = REFERENCE;
    let profile =
        profile.replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {:?}", serving.url));
    fs::write(path("bank.toml"), format!("authorities = \"authority.pem\"\n{profile}")).unwrap();
    let run = |target: &str| {
        command()
            // Over the client that reuses connections, and with exact header names.
            .args(["run", "--quiet", "--only", "ncbct.path", "--only", "http.field-names/ncbct"])
            .args(["--out", &path("out"), "--target", target])
            .output()
            .unwrap()
    };
    let ran = run(&path("bank.toml"));
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
    // Without the CA, the bank could be an impostor.
    fs::write(path("bank.toml"), profile).unwrap();
    assert_ne!(run(&path("bank.toml")).status.code(), Some(0));
    assert_eq!(serving.end("-INT"), Some(0));
}

#[test]
fn a_bank_that_asks_for_a_client_certificate_gets_it_and_a_gateway_its_header() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let authority = || {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (banks, clients) = (authority(), authority());
    for (name, by) in [("bank", &banks), ("client", &clients)] {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        fs::write(path(&format!("{name}.pem")), params.signed_by(&key, by).unwrap().pem()).unwrap();
        fs::write(path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }
    fs::write(path("banks.pem"), banks.pem()).unwrap();
    fs::write(path("clients.pem"), clients.pem()).unwrap();
    let mut serving = Serving::start(&[
        "--tls-certificate",
        &path("bank.pem"),
        "--tls-key",
        &path("bank.key"),
        "--client-authorities",
        &path("clients.pem"),
        "--client-certificate-required",
    ]);
    let profile = REFERENCE;
    let profile =
        profile.replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {:?}", serving.url));
    let run = |more: &str| {
        let tables = "\n[headers]\nX-Api-Key = { env = \"XS2ASPEC_TEST_KEY\" }\n";
        fs::write(path("bank.toml"), format!("authorities = \"banks.pem\"\n{profile}{tables}{more}"))
            .unwrap();
        command()
            .args(["run", "--quiet", "--only", "ncbct.path", "--only", "http.field-names/ncbct"])
            .args(["--out", &path("out"), "--target", &path("bank.toml")])
            .env("XS2ASPEC_TEST_KEY", "canary-of-the-gateway")
            .output()
            .unwrap()
    };
    assert_ne!(run("").status.code(), Some(0), "the bank talks to nobody without one");
    let ran = run("[tls]\ncertificate = \"client.pem\"\nkey = \"client.key\"\n");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
    let record = crate::support::read_record(path("out/record.jsonl")).unwrap();
    assert!(record.contains("X-Api-Key\",\"x-api-key~"), "it was sent, and is masked");
    for file in ["record.jsonl", "junit.xml", "summary.md"] {
        assert!(
            !crate::support::read_record(path(&format!("out/{file}"))).unwrap().contains("canary"),
            "{file}"
        );
    }
    assert_eq!(serving.end("-INT"), Some(0));
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = TempDir::new().unwrap();
    let pem = folder.path().join("none.pem");
    fs::write(&pem, "none").unwrap();
    let output =
        command().args(["serve", "--tls-certificate"]).arg(&pem).arg("--tls-key").arg(&pem).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(said.contains("expected a certificate in PEM"), "{said}");
}

#[test]
fn a_slow_response_is_a_warning_by_the_profile_alone() {
    let serving = Serving::start(&["--variation", "http.response-headers/slow"]);
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let run = |limits: &str, more: &[&str]| {
        let lines: Vec<&str> = REFERENCE.lines().filter(|line| !line.starts_with("base-url")).collect();
        let file = folder.path().join("bank.toml");
        let text = format!("base-url = {:?}\n{limits}\n{}", serving.url, lines.join("\n"));
        fs::write(&file, text).unwrap();
        let only = ["--only", "customers.path"];
        let output = command()
            .args(["run", "--quiet", "--target", file.to_str().unwrap(), "--out", out.to_str().unwrap()])
            .args([&only[..], more].concat())
            .output()
            .unwrap();
        (output.status.code(), printed(&output))
    };
    let (exit, said) = run("", &[]);
    assert!(exit == Some(0) && !said.contains("slow-ms"), "no limit was set: {said}");
    let (exit, said) = run("limits = { slow-ms = 50 }", &[]);
    assert!(exit != Some(1) && said.contains("warn  limits.slow-ms"), "{said}");
    assert!(said.contains("`[limits] slow-ms` of the profile allows (50 ms)"), "{said}");
    let (exit, said) = run("limits = { slow-ms = 50 }", &["--deny", "warnings"]);
    assert_eq!(exit, Some(1), "{said}");
    for (file, text) in [
        ("summary.md", "| time | responses | p50"),
        ("report.html", "slow-ms"),
        ("record.jsonl", "\"slow-ms\":50"),
    ] {
        let written = crate::support::read_record(out.join(file)).unwrap();
        assert!(written.contains(text), "{file}");
    }
    let (exit, said) = run("limits = { slow-ms = 0 }", &[]);
    assert!(exit == Some(2) && said.contains("`[limits] slow-ms` is 0: expected 1 to 300000"), "{said}");
}

/// A bank gets no warning if earlier calls of the day may have used part of a quota.
#[test]
fn a_quota_that_was_used_before_the_run_accuses_nobody() {
    let folder = TempDir::new().unwrap();
    let run = |serving: &Serving, profile: &str, only: &[&str]| {
        let lines: Vec<&str> = profile.lines().filter(|line| !line.starts_with("base-url")).collect();
        let file = folder.path().join("bank.toml");
        fs::write(&file, format!("base-url = {:?}\n{}", serving.url, lines.join("\n"))).unwrap();
        let only = only.iter().flat_map(|only| ["--only", only]).collect::<Vec<_>>();
        let output = command()
            .args(["run", "--quiet", "--target", file.to_str().unwrap(), "--out"])
            .arg(folder.path().join("out"))
            .args(only)
            .output()
            .unwrap();
        printed(&output)
    };
    let earlier = ["header.psu-ip-address.transaction/absent"];
    let quota = ["limit.without-psu-ip", "limit.without-psu-ip.four"];
    let unknown = REFERENCE.replace("quota-unused = true\n", "");
    assert_ne!(unknown, REFERENCE);
    let serving = Serving::start(&[]);
    run(&serving, &unknown, &earlier);
    let said = run(&serving, &unknown, &quota);
    assert!(said.contains("the daily calls may be used up"), "{said}");
    assert!(!said.contains("warn  limit") && !said.contains("deny  limit"), "{said}");
    // A profile that declares the quota unused is believed.
    let serving = Serving::start(&[]);
    run(&serving, REFERENCE, &earlier);
    let said = run(&serving, REFERENCE, &quota);
    assert!(said.contains("deny  limit.without-psu-ip.four"), "{said}");
}

#[test]
fn the_page_of_a_run_is_served_while_the_run_goes_on_and_to_nobody_elsewhere() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let serving = Serving::start(&["--report", out]);
    let port = serving.url.trim_end_matches('/').rsplit(':').next().unwrap();
    let get = |host: &str| {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let own = format!("127.0.0.1:{port}");
    let waiting = get(&own);
    assert!(waiting.contains("The run has not started yet") && waiting.contains("refresh: 3"), "{waiting}");
    let (exit, said) = xs2aspec(&["run", "--quiet", "--seed", "1", "--only", "basket.mix", "--out", out]);
    assert_eq!(exit, Some(0), "{said}");
    let whole = get(&own);
    assert!(whole.contains("id=\"clause:basket.mix\"") && !whole.contains("refresh: 3"), "the run is over");
    // The record before its last event.
    let record = crate::support::read_record(folder.path().join("record.jsonl")).unwrap();
    let lines: Vec<&str> = record.split_inclusive('\n').collect();
    fs::write(folder.path().join("record.jsonl"), lines[..lines.len() - 4].concat()).unwrap();
    let begun = get(&own);
    assert!(begun.contains("the run did not finish") && begun.contains("refresh: 3"), "it asks again");
    assert!(begun.contains("<progress max=") && !whole.contains("<progress "), "how far it is");
    assert!(get("evil.test").starts_with("HTTP/1.1 404"), "a name from elsewhere gets nothing");
    let (exit, said) = xs2aspec(&["serve", "--report", out, "--address", "0.0.0.0:0"]);
    assert!(exit == Some(2) && said.contains("expected a loopback address"), "{said}");
}

#[test]
fn each_signal_that_ends_a_command_ends_it_in_order() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let mut serving = Serving::start(&["--address", "127.0.0.1:0", "--record", out.to_str().unwrap()]);
        assert_eq!(serving.end(signal), Some(4), "{signal}: nothing was asked");
        let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
        assert!(record.lines().last().unwrap().contains("run-finished"), "{signal}");
        let explored = folder.path().join("explored");
        let mut exploring = command();
        exploring.args(["explore", "--budget", "1000000", "--out", explored.to_str().unwrap()]);
        let exploring = exploring.stdout(Stdio::piped()).spawn().unwrap();
        let record = explored.join("record.jsonl");
        let begun = Instant::now();
        while fs::metadata(&record).map_or(0, |file| file.len()) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "nothing is recorded");
            std::thread::sleep(Duration::from_millis(20));
        }
        Command::new("kill").args([signal, &exploring.id().to_string()]).status().unwrap();
        let ended = exploring.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stdout).unwrap();
        assert!(ended.status.code() == Some(3) && said.contains("interrupted"), "{signal}: {said}");
        let record = crate::support::read_record(record).unwrap();
        assert!(record.lines().last().unwrap().contains("run-finished"), "{signal}");
    }
}
