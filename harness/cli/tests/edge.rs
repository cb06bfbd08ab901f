//! Trouble at our own end: output that cannot be written, case files by the hundred thousand, links that go round in circles, documents that
//! explode, keys that are none.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::symlink,
    path::Path,
    process::{Child, Command, Output},
    time::{Duration, Instant},
};

use tempfile::TempDir;

fn xs2aspec(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xs2aspec")).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const ONLY: [&str; 4] = ["--only", "periodic.execution-rule.listed", "--only", "ncbct.path"];

fn run(out: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = xs2aspec(&[&["run", "--quiet", "--out", text(out)][..], &ONLY, more].concat());
    (output.status.code(), said(&output))
}

/// `/dev/full` is a disk without a free byte.
#[test]
fn a_disk_that_is_full_loses_no_result() {
    for file in ["record.jsonl", "record.jsonl.part", "exchanges.har", "junit.xml", "report.html"] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        symlink("/dev/full", out.join(file)).unwrap();
        let (code, said) = run(&out, &[]);
        assert_eq!(code, Some(2), "{file}: {said}");
        assert!(said.contains("cannot be written: No space left on device"), "{file}: {said}");
        // What the run came to is said all the same; one whose record is lost ends at once.
        assert!(said.contains("exchanges, ") || said.contains("exchange, "), "{file}: {said}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_told_before_anything_is_sent() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for out in [file.join("out"), file.clone(), Path::new("/proc/xs2aspec").to_owned()] {
        let (code, said) = run(&out, &[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("cannot be written") && !said.contains("exchanges, "), "{said}");
    }
}

/// The output folder goes while the run is under way: what stands open can still be written, and what cannot is told.
#[test]
fn a_folder_that_goes_in_the_middle_of_a_run() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let child = Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
        .args(["run", "--quiet", "--out", text(&out)])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !out.join("sending.jsonl").exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::remove_dir_all(&out).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be written: No such file or directory"), "{said}");
    assert!(said.contains(" exchanges, "), "what it came to is said: {said}");
}

/// Case files with one plain case each, so many, in folders of a thousand.
fn tree(folder: &Path, files: usize) {
    for number in 0..files {
        let area = folder.join(format!("area-{}", number / 1000));
        if number % 1000 == 0 {
            fs::create_dir_all(&area).unwrap();
        }
        let case = format!(
            "title: one of many\ncases:\n  - {{clause: ncbct.path, name: n-{number}, baseline: ncbct, expect: accepted}}\n"
        );
        fs::write(area.join(format!("{number}.yaml")), case).unwrap();
    }
}

#[test]
fn a_hundred_thousand_case_files_are_read() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 100_000);
    let begun = Instant::now();
    let output = xs2aspec(&[
        "run",
        "--quiet",
        "--cases",
        text(folder.path()),
        "--only",
        "ncbct.path/n-99999",
        "--out",
        text(&folder.path().join("out")),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    // One mistake among them is found, with its place.
    fs::write(folder.path().join("area-50/50500.yaml"), "title: wrong\ncases:\n  - {clause: none}\n")
        .unwrap();
    let output = xs2aspec(&["list", "ncbct.path", "--cases", text(folder.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("area-50/50500.yaml:3"), "{}", said(&output));
}

#[test]
fn links_that_go_round_in_circles_are_not_followed() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 3);
    symlink(folder.path(), folder.path().join("area-0/again")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    symlink("/dev/zero", folder.path().join("area-0/endless.yaml")).unwrap();
    let output = xs2aspec(&[
        "run",
        "--quiet",
        "--cases",
        text(folder.path()),
        "--out",
        text(&folder.path().join("out")),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("3 cases (2 of them are the plain request, said by name), "),
        "{}",
        said(&output)
    );
}

#[test]
fn documents_that_explode_are_mistakes() {
    let mut laughs = String::from("title: lol\na0: &a0 [lol, lol]\n");
    for level in 1..40 {
        let _ = writeln!(
            laughs,
            "a{level}: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}]",
            level - 1
        );
    }
    laughs += "cases: *a39\n";
    let deep = format!("title: deep\ncases: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let hundred = (0..100).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let mut product = String::from(
        "title: product\ncases:\n  - clause: ncbct.path\n    baseline: ncbct\n    expect: accepted\n    axes:\n",
    );
    for axis in 0..8 {
        let _ = writeln!(product, "      a{axis}: {{values: [{hundred}]}}");
    }
    for (name, bomb) in [("laughs", laughs), ("deep", deep), ("product", product)] {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b.yaml"), bomb).unwrap();
        let begun = Instant::now();
        let output = xs2aspec(&["list", "ncbct.path", "--cases", text(folder.path())]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", said(&output));
        assert!(said(&output).contains("a/b.yaml"), "{name}: {}", said(&output));
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}: {:?}", begun.elapsed());
    }
}

#[test]
fn keys_that_cannot_be_read_are_named() {
    let folder = TempDir::new().unwrap();
    let key = |name: &str, content: &[u8]| {
        fs::write(folder.path().join(name), content).unwrap();
        name.to_owned()
    };
    let good = include_str!("../../../fixtures/keys/tpp.key.pem");
    let certificate = key("certificate.pem", include_bytes!("../../../fixtures/keys/tpp.cert.pem"));
    fs::create_dir(folder.path().join("folder")).unwrap();
    symlink("/dev/null", folder.path().join("null")).unwrap();
    symlink("circle", folder.path().join("circle")).unwrap();
    for name in [
        key("empty.pem", b""),
        key("cut.pem", &good.as_bytes()[..good.len() / 2]),
        key("bytes.pem", b"\xff\xfe\0\0"),
        key("other.pem", include_bytes!("../../../fixtures/keys/tpp.cert.pem")),
        "folder".to_owned(),
        "null".to_owned(),
        "circle".to_owned(),
        "absent".to_owned(),
    ] {
        let profile = folder.path().join("bank.toml");
        let any_bank = include_str!("../../../fixtures/targets/any-bank.toml");
        fs::write(
            &profile,
            format!("{any_bank}\n[signing]\nkey = {name:?}\ncertificate = {certificate:?}\n"),
        )
        .unwrap();
        let (code, said) = run(&folder.path().join("out"), &["--target", text(&profile)]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains(&name) || said.contains("[signing]"), "{name}: {said}");
        let line = good.lines().nth(5).unwrap();
        assert!(!said.contains(line), "{name}: {said}");
    }
}

/// The library that fakes the system's clock for one process, where it is installed.
fn faketime() -> Option<std::path::PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.filter_map(|folder| Some(folder.ok()?.path()));
    folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1")).find(|library| library.is_file())
}

/// A bank that ends with its test.
struct Bank(Child);

impl Drop for Bank {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The machine's clock goes two days forward, or back, while a run is under way: it reads that clock once and goes on by the one that
/// does not jump, so that no date in a request and no duration is wrong.
#[test]
fn a_clock_that_jumps_in_the_middle_of_a_run() {
    let Some(library) = faketime() else { return };
    let mut bank = Bank(
        Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
            .args(["serve", "--quiet"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut url = String::new();
    BufReader::new(bank.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    for jump in ["+2d", "-2d"] {
        let folder = TempDir::new().unwrap();
        let (clock, out) = (folder.path().join("clock"), folder.path().join("out"));
        fs::write(&clock, "+0").unwrap();
        let faked = |command: &mut Command| {
            command
                .env("LD_PRELOAD", &library)
                .env("FAKETIME_TIMESTAMP_FILE", &clock)
                .env("FAKETIME_NO_CACHE", "1")
                .env("DONT_FAKE_MONOTONIC", "1")
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        };
        let seconds = || -> i64 {
            let said = faked(Command::new("date").arg("+%s")).wait_with_output().unwrap().stdout;
            String::from_utf8(said).unwrap().trim().parse().unwrap()
        };
        let (before, begun) = (seconds(), Instant::now());
        let run = faked(
            Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
                .args(["run", "--quiet", "--depth", "quick", "--jobs", "2", "--target", url.trim(), "--out"])
                .arg(&out),
        );
        let record = || fs::read_to_string(out.join("record.jsonl")).unwrap_or_default();
        let verdicts = |record: &str| record.matches("\n{\"event\":\"verdict\"").count();
        while verdicts(&record()) < 20 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{}", record());
            std::thread::sleep(Duration::from_millis(2));
        }
        fs::write(&clock, jump).unwrap();
        let told = verdicts(&record());
        let jumped = seconds() - before;
        assert!((jumped.abs() - 2 * 86_400).abs() < 600, "the clock jumped by {jumped} s");
        let output = run.wait_with_output().unwrap();
        let took = begun.elapsed();
        assert_eq!(output.status.code(), Some(0), "{jump}: {}", said(&output));
        let record = record();
        assert!(told * 2 < verdicts(&record), "{jump}: most cases came after it");
        let dates = record.match_indices("[\"Date\",\"").map(|(at, name)| &record[at + name.len()..]);
        let dates: Vec<i64> = dates
            .filter_map(|text| chrono::DateTime::parse_from_rfc2822(text.split('"').next()?).ok())
            .map(|date| date.timestamp())
            .collect();
        assert!(dates.len() > told, "{jump}: {} dates", dates.len());
        let around = dates.iter().filter(|date| (**date - before).abs() < 600).count();
        assert!(around * 10 > dates.len() * 9, "{jump}: {around} of {} dates are of today", dates.len());
        let finished = record.lines().last().unwrap();
        let micros = finished.split("\"micros\":").nth(1).unwrap().split(',').next().unwrap();
        assert!(Duration::from_micros(micros.parse().unwrap()) < took, "{jump}: {finished}");
    }
}
