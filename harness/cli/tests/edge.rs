//! Trouble at our own end: output that cannot be written, case files by the hundred thousand, links that go round in circles, documents that
//! explode, keys that are none.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
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
    let files = ["junit.xml", "summary.md", "report.html", "ctrf.json", "exchanges.har", "record.jsonl"];
    for file in ["record.jsonl", "exchanges.har", "junit.xml", "report.html"] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        symlink("/dev/full", out.join(file)).unwrap();
        let (code, said) = run(&out, &[]);
        assert_eq!(code, Some(2), "{file}: {said}");
        assert!(said.contains("cannot be written: No space left on device"), "{file}: {said}");
        // What the run came to is said all the same; one whose record is lost ends at once.
        assert!(said.contains("exchanges, ") || said.contains("exchange, "), "{file}: {said}");
        if file == "record.jsonl" {
            continue;
        }
        // Everything else is there.
        assert!(said.contains("the run itself came to exit 0; its other files are in "), "{file}: {said}");
        for other in files.iter().filter(|other| **other != file) {
            assert!(fs::metadata(out.join(other)).is_ok_and(|kept| kept.len() > 0), "{file}: {other}");
        }
        assert_eq!(fs::read_dir(&out).unwrap().count(), files.len(), "{file}");
    }
    // Of several files that cannot be written each is named.
    let folder = TempDir::new().unwrap();
    symlink("/dev/full", folder.path().join("ctrf.json")).unwrap();
    symlink("/dev/full", folder.path().join("summary.md")).unwrap();
    let (code, said) = run(folder.path(), &[]);
    assert_eq!((code, said.matches("cannot be written: ").count()), (Some(2), 2), "{said}");
}

/// Every file below a folder, with its bytes.
fn bytes(folder: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut files = std::collections::BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(bytes(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// A command line in a folder, with its exit code.
fn line(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
        .current_dir(folder)
        .args(line.split(' ').filter(|word| !word.is_empty()))
        .output()
        .unwrap();
    (output.status.code(), said(&output))
}

const KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");

/// A run, its shards, one that was killed with a payment under way, a real key, and other names of all that.
fn precious() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let fixed = "run --quiet --seed 1 --now 2030-01-31T12:00:00Z --only ncbct.path";
    for (name, more) in [
        ("run", ""),
        ("doubt", ""),
        ("1", "--shard 1/2"),
        ("2", "--shard 2/2"),
        ("named", ""),
        ("linked", ""),
    ] {
        let (code, said) = line(folder.path(), &format!("{fixed} --out {name} {more}"));
        assert!(matches!(code, Some(0 | 4)), "{name}: {said}");
    }
    let record = fs::read_to_string(path("doubt/record.jsonl")).unwrap();
    let lines = record.split_inclusive('\n').filter(|line| {
        !line.starts_with("{\"event\":\"run-finished\"") && !line.contains("\"case\":\"ncbct.path/plain\"")
    });
    fs::write(path("doubt/record.jsonl"), lines.collect::<String>()).unwrap();
    let sending = "{\"case\":\"ncbct.path/plain\",\"step\":\"request\"}\n";
    fs::write(path("doubt/sending.jsonl"), sending).unwrap();
    fs::create_dir(path("real")).unwrap();
    for name in ["key.pem", "other.pem", "real/tpp.key.pem"] {
        fs::write(path(name), KEY).unwrap();
    }
    fs::write(path("passphrase"), "secret").unwrap();
    fs::write(path("bank.toml"), "base-url = \"http://127.0.0.1:1\"\n").unwrap();
    fs::write(path("waivers.toml"), "").unwrap();
    fs::write(path("matrix.tsv"), "kept\n").unwrap();
    fs::write(path("file"), "").unwrap();
    fs::hard_link(path("run/record.jsonl"), path("hard")).unwrap();
    symlink("run/record.jsonl", path("soft")).unwrap();
    fs::remove_file(path("named/summary.md")).unwrap();
    fs::hard_link(path("waivers.toml"), path("named/summary.md")).unwrap();
    fs::remove_file(path("linked/junit.xml")).unwrap();
    symlink("../key.pem", path("linked/junit.xml")).unwrap();
    folder
}

/// No command destroys what it reads, a key, or a run of which nobody knows what it paid: each of these lines leaves every byte as it was.
#[test]
fn nothing_is_written_over_that_cannot_be_made_again() {
    let folder = precious();
    let before = bytes(folder.path());
    let read = "which the command reads: name another place to write to";
    let key = "a private key stands there, and nothing is written over one";
    let goes_on = "1 of its cases may have made payments: `xs2aspec run --resume doubt` goes on with it";
    for (command, expected) in [
        ("report run --format html --out run/record.jsonl", read),
        ("report run --format html --out run/../run/record.jsonl", read),
        ("report run --format har --out hard", read),
        ("report run --format terminal --out soft", read),
        ("report run/record.jsonl --format junit --out key.pem", key),
        ("report run --format junit --out doubt/record.jsonl", "the record of a run stands there"),
        ("report run --format junit --out run", "cannot be written"),
        ("merge 1 2 --out 1", read),
        ("merge 1 2 --out 2", read),
        ("merge 1 2 --out doubt", goes_on),
        ("merge 1 2 --out linked", key),
        ("bundle run --key key.pem --out key.pem", read),
        ("bundle run --key key.pem --out other.pem", key),
        ("bundle run --key key.pem --out run/record.jsonl", read),
        ("bundle run --key key.pem --out hard", read),
        ("bundle run --key key.pem --out 1/record.jsonl", "the record of a run stands there"),
        ("bundle run --key key.pem --passphrase-file passphrase --out passphrase", read),
        ("run --only ncbct.path --out doubt", goes_on),
        ("run --only ncbct.path --out doubt", "--force gives it up and begins anew"),
        ("run --only ncbct.path --waivers waivers.toml --out named", read),
        ("run --only ncbct.path --out linked", key),
        ("run --resume doubt --force", "cannot be used with"),
        ("init bank.toml", "a file stands there"),
        ("init key.pem", "a file stands there"),
        ("keys --out real", "a file stands there: --overwrite replaces it"),
        ("keys --out real --overwrite", "no test material of this program, and is not replaced"),
        ("listen --address 127.0.0.1:0 --timeout-s 1 --out key.pem", key),
        ("prove --matrix none.tsv", "none.tsv: cannot be read"),
        ("prove --matrix matrix.tsv --only periodic.months", "cannot be used with"),
        ("prove --matrix matrix.tsv --out .", read),
        ("prove --matrix matrix.tsv --update --out .", read),
        ("prove --matrix key.pem --update", key),
        ("explore --budget 100 --save file/below", "cannot be written"),
        ("explore --budget 100 --save /proc/none", "cannot be written"),
    ] {
        let (code, said) = line(folder.path(), command);
        assert_eq!(code, Some(2), "{command}: {said}");
        assert!(said.contains(expected), "{command}: expected {expected}: {said}");
        assert!(!said.contains(" requests, ") && !said.contains("exchanges, "), "{command}: {said}");
        let now = bytes(folder.path());
        let changed: Vec<_> =
            now.iter().filter(|(path, content)| before.get(*path) != Some(content)).collect();
        assert!(changed.is_empty() && now.len() == before.len(), "{command} changed {changed:?}");
    }
    assert!(folder.path().join("soft").is_symlink());
    // What is meant is done.
    for (command, exit) in [
        ("run --quiet --only ncbct.path --out doubt --force", 0),
        ("run --quiet --only ncbct.path --out run", 0),
        ("report run --format html --out page.html", 0),
        ("report run --format html --out page.html", 0),
        ("report run --format html --out /dev/null", 0),
        ("bundle run --key key.pem", 0),
        ("bundle run --key key.pem", 0),
        ("merge 1 2 --out merged", 0),
        ("merge 1 2 --out merged", 0),
        ("keys --out made", 0),
        ("keys --out made --overwrite", 0),
        ("init other.toml", 0),
    ] {
        let (code, said) = line(folder.path(), command);
        assert_eq!(code, Some(exit), "{command}: {said}");
    }
    assert!(!folder.path().join("doubt/sending.jsonl").exists());
}

/// What an earlier hunt kept stays, and what a later one finds stands beside it.
#[test]
fn kept_requests_stay_and_what_cannot_be_kept_is_told() {
    let folder = TempDir::new().unwrap();
    let fixed =
        "explore --seed 1 --now 2030-01-31T12:00:00Z --budget 600 --fail-fast --only periodic --save kept";
    let fault = "--fault periodic.months.duplicate/only-adjacent";
    let hunt = || line(folder.path(), &format!("{fixed} {fault}"));
    let names = || bytes(folder.path()).into_keys().map(|path| path.file_name().unwrap().to_owned());
    let (code, said) = hunt();
    assert_eq!(code, Some(1), "{said}");
    let first = bytes(folder.path());
    assert_eq!(names().collect::<Vec<_>>(), ["found-1.yaml"], "{said}");
    // The same is kept once; something else that stands in its place stays.
    assert_eq!((hunt().0, bytes(folder.path())), (Some(1), first.clone()));
    let path = first.keys().next().unwrap();
    fs::write(path, "somebody's").unwrap();
    assert_eq!(hunt().0, Some(1));
    assert_eq!(fs::read(path).unwrap(), b"somebody's");
    assert_eq!(names().collect::<Vec<_>>(), ["found-1.yaml", "found-2.yaml"]);
    // A disk that is full when something is found.
    fs::remove_file(path).unwrap();
    symlink("/dev/full", path).unwrap();
    let (code, said) = hunt();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("BROKEN  ") && said.contains("found-1.yaml: cannot be written"), "{said}");
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

/// The library that fakes the system's clock for one process.
fn faketime() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap().filter_map(|folder| Some(folder.ok()?.path()));
    let mut libraries = folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.is_file()).expect("libfaketime below /usr/lib")
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
#[ignore = "needs libfaketime: --include-ignored where it is installed"]
fn a_clock_that_jumps_in_the_middle_of_a_run() {
    let library = faketime();
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
        // What a URL alone does not tell is not asked; all that was asked is kept.
        assert_eq!(output.status.code(), Some(3), "{jump}: {}", said(&output));
        assert!(said(&output).contains(" kept, 0 broken, "), "{jump}: {}", said(&output));
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
