//! Files: unwritable output, protected files, unreadable keys.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::text;
use crate::support::{ANY_BANK, KEY, MASK_KEY, command, execute, printed, recorded};

const ONLY: [&str; 4] = ["--only", "periodic.execution-rule.listed", "--only", "ncbct.path"];

/// All reports that a run can write.
const ALL: &str = "html,junit,sarif,markdown,ctrf,har";

fn run(out: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output =
        execute(&[&["run", "--quiet", "--out", text(out), "--format", ALL][..], &ONLY, more].concat());
    (output.status.code(), printed(&output))
}

/// `/dev/full` behaves like a full disk.
#[test]
fn a_disk_that_is_full_loses_no_result() {
    let files = [
        "junit.xml",
        "summary.md",
        "report.html",
        "ctrf.json",
        "exchanges.har",
        "results.sarif",
        "record.jsonl.gz",
    ];
    for file in ["record.jsonl", "exchanges.har", "junit.xml", "report.html"] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        symlink("/dev/full", out.join(file)).unwrap();
        let (code, said) = run(&out, &[]);
        assert_eq!(code, Some(2), "{file}: {said}");
        assert!(said.contains(file) && said.contains("No space left on device"), "{file}: {said}");
        // A run without a record sends nothing.
        if file == "record.jsonl" {
            continue;
        }
        assert!(said.contains("exchanges, ") || said.contains("exchange, "), "{file}: {said}");
        // All other files exist.
        assert!(
            said.contains("the run itself ended with exit code 0; its other files are in "),
            "{file}: {said}"
        );
        for other in files.iter().filter(|other| **other != file) {
            assert!(fs::metadata(out.join(other)).is_ok_and(|kept| kept.len() > 0), "{file}: {other}");
        }
        assert_eq!(fs::read_dir(&out).unwrap().count(), files.len(), "{file}");
    }
    // A record that can no longer grow, as on a full disk. It has all earlier responses, and the run can be
    // resumed.
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let limited = |blocks: u32| {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let line =
            ["run", "--quiet", "--seed", "1", "--only", "ncbct", "--mask-key", MASK_KEY, "--out", text(&out)];
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_xs2aspec")])
            .args(line)
            .output()
            .unwrap();
        (output.status.code(), printed(&output))
    };
    let (code, said) = limited(2_000);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("record.jsonl: File too large"), "{said}");
    let (verdicts, exchanges) = recorded(&out, &said);
    assert!(
        verdicts.len() > 5 && exchanges.len() >= verdicts.len(),
        "{} {}",
        verdicts.len(),
        exchanges.len()
    );
    let output = execute(&["run", "--quiet", "--mask-key", MASK_KEY, "--resume", text(&out)]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    // Each file that cannot be written is named.
    let folder = TempDir::new().unwrap();
    symlink("/dev/full", folder.path().join("ctrf.json")).unwrap();
    symlink("/dev/full", folder.path().join("summary.md")).unwrap();
    let (code, said) = run(folder.path(), &[]);
    assert_eq!((code, said.matches("cannot be written: ").count()), (Some(2), 2), "{said}");
}

/// Returns every file below a folder with its bytes.
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

/// Runs a command line in a folder. Returns its exit code and output.
fn line(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output =
        command().current_dir(folder).args(line.split(' ').filter(|word| !word.is_empty())).output().unwrap();
    (output.status.code(), printed(&output))
}

/// Returns a folder with a run, its shards, a run that was killed during a payment, a real key, and links to
/// all of these.
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
    let record = crate::support::read_record(path("doubt/record.jsonl")).unwrap();
    let lines = record.split_inclusive('\n').filter(|line| {
        let is_verdict = line.starts_with("{\"event\":\"verdict\",\"case\":\"ncbct.path/plain\"");
        !(is_verdict || line.starts_with("{\"event\":\"run-finished\""))
    });
    fs::write(path("doubt/record.jsonl"), lines.collect::<String>()).unwrap();
    fs::create_dir(path("real")).unwrap();
    for name in ["key.pem", "other.pem", "real/tpp.key.pem"] {
        fs::write(path(name), KEY).unwrap();
    }
    fs::write(path("passphrase"), "secret").unwrap();
    fs::write(path("bank.toml"), "base-url = \"http://127.0.0.1:1\"\n").unwrap();
    fs::write(path("waivers.toml"), "").unwrap();
    fs::write(path("matrix.tsv"), "kept\n").unwrap();
    fs::write(path("file"), "").unwrap();
    fs::hard_link(path("run/record.jsonl.gz"), path("hard")).unwrap();
    symlink("run/record.jsonl.gz", path("soft")).unwrap();
    fs::remove_file(path("named/summary.md")).unwrap();
    fs::hard_link(path("waivers.toml"), path("named/summary.md")).unwrap();
    fs::remove_file(path("linked/junit.xml")).unwrap();
    symlink("../key.pem", path("linked/junit.xml")).unwrap();
    fs::create_dir(path("manual")).unwrap();
    symlink("../key.pem", path("manual/xs2aspec.1")).unwrap();
    folder
}

/// No command overwrites its input, a key, or a run with pending payments. Each of these lines leaves every
/// byte unchanged.
#[test]
fn nothing_is_written_over_that_cannot_be_made_again() {
    let folder = precious();
    let before = bytes(folder.path());
    let read = "which the command reads: choose another path";
    let key = "refusing to overwrite a private key";
    let goes_on = "1 of its cases may have created resources at the target: resume it with `xs2aspec run --resume doubt`";
    for (command, expected) in [
        ("report run --format html --out run/record.jsonl", read),
        ("report run --format html --out run/../run/record.jsonl", read),
        ("report run --format har --out hard", read),
        ("report run --format terminal --out soft", read),
        ("report run/record.jsonl --format junit --out key.pem", key),
        ("report run --format junit --out doubt/record.jsonl", "refusing to overwrite the record of a run"),
        ("report run --format junit --out run", "cannot write run"),
        ("merge 1 2 --out 1", read),
        ("merge 1 2 --out 2", read),
        ("merge 1 2 --out doubt", goes_on),
        ("merge 1 2 --out linked", key),
        ("bundle run --key key.pem --out key.pem", read),
        ("bundle run --key key.pem --out other.pem", key),
        ("bundle run --key key.pem --out run/record.jsonl", read),
        ("bundle run --key key.pem --out hard", read),
        ("bundle run --key key.pem --out 1/record.jsonl", "refusing to overwrite the record of a run"),
        ("bundle run --key key.pem --passphrase-file passphrase --out passphrase", read),
        ("run --only ncbct.path --out doubt", goes_on),
        ("run --only ncbct.path --out doubt", "--force overwrites it"),
        ("run --only ncbct.path --waivers waivers.toml --out named", read),
        ("run --only ncbct.path --out linked", key),
        ("run --resume doubt --force", "cannot be used with"),
        ("coverage --page key.pem", key),
        ("coverage --page 1/record.jsonl", "refusing to overwrite the record of a run"),
        ("man --out manual", key),
        ("init bank.toml", "refusing to overwrite bank.toml"),
        ("init key.pem", "refusing to overwrite key.pem"),
        ("keys new --out real", "pass --overwrite, or choose another folder"),
        ("keys new --out real --overwrite", "it is not test material of this program"),
        ("listen --address 127.0.0.1:0 --timeout-s 1 --out key.pem", key),
        ("prove --matrix none.tsv", "cannot read none.tsv"),
        ("prove --matrix matrix.tsv --only periodic.months", "cannot be used with"),
        ("prove --matrix matrix.tsv --out .", read),
        ("prove --matrix matrix.tsv --update --out .", read),
        ("prove --matrix key.pem --update", key),
        ("explore --budget 100 --save file/below", "cannot write file/below"),
        ("explore --budget 100 --save /proc/none", "cannot write /proc/none"),
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
    // Intended writes succeed.
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
        ("keys new --out made", 0),
        ("keys new --out made --overwrite", 0),
        ("init other.toml", 0),
    ] {
        let (code, said) = line(folder.path(), command);
        assert_eq!(code, Some(exit), "{command}: {said}");
    }
    let (code, said) = line(folder.path(), "run --quiet --seed 1 --only ncbct.path --out doubt");
    assert_eq!(code, Some(0), "nothing is in doubt any more: {said}");
}

/// Later runs keep the saved files of earlier ones, and add new files next to them.
#[test]
fn kept_requests_stay_and_what_cannot_be_kept_is_told() {
    let folder = TempDir::new().unwrap();
    let fixed = "explore --seed 7 --now 2030-01-31T12:00:00Z --budget 1500 --fail-fast --only periodic --save kept --out";
    let fault = "--fault periodic.months.duplicate/only-adjacent";
    let out = TempDir::new().unwrap();
    let hunt = || line(folder.path(), &format!("{fixed} {} {fault}", text(out.path())));
    let names = || bytes(folder.path()).into_keys().map(|path| path.file_name().unwrap().to_owned());
    let (code, said) = hunt();
    assert_eq!(code, Some(1), "{said}");
    let first = bytes(folder.path());
    assert_eq!(names().collect::<Vec<_>>(), ["found-1.yaml"], "{said}");
    // The same violation is saved once, and other files with that name are kept.
    assert_eq!((hunt().0, bytes(folder.path())), (Some(1), first.clone()));
    let path = first.keys().next().unwrap();
    fs::write(path, "somebody's").unwrap();
    assert_eq!(hunt().0, Some(1));
    assert_eq!(fs::read(path).unwrap(), b"somebody's");
    assert_eq!(names().collect::<Vec<_>>(), ["found-1.yaml", "found-2.yaml"]);
    // The disk is full when a violation is found.
    fs::remove_file(path).unwrap();
    symlink("/dev/full", path).unwrap();
    let (code, said) = hunt();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("BROKEN  ") && said.contains("found-1.yaml: No space left on device"), "{said}");
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

/// The output folder is deleted during a run. Open files can still be written, and all others are reported.
#[test]
fn a_folder_that_goes_in_the_middle_of_a_run() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let child = command()
        .args(["run", "--quiet", "--out", text(&out)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    // The run is under way once the record, which is opened last, has content.
    let is_under_way = || out.join("record.jsonl").metadata().is_ok_and(|record| record.len() > 0);
    while !is_under_way() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::remove_dir_all(&out).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("record.jsonl: No such file or directory"), "{said}");
    assert!(said.contains(" exchanges, "), "what it came to is said: {said}");
}

#[test]
fn keys_that_cannot_be_read_are_named() {
    let folder = TempDir::new().unwrap();
    let key = |name: &str, content: &[u8]| {
        fs::write(folder.path().join(name), content).unwrap();
        name.to_owned()
    };
    let good = KEY;
    let certificate = key("certificate.pem", include_bytes!("../../../../../fixtures/keys/tpp.cert.pem"));
    fs::create_dir(folder.path().join("folder")).unwrap();
    symlink("/dev/null", folder.path().join("null")).unwrap();
    symlink("circle", folder.path().join("circle")).unwrap();
    for name in [
        key("empty.pem", b""),
        key("cut.pem", &good.as_bytes()[..good.len() / 2]),
        key("bytes.pem", b"\xff\xfe\0\0"),
        key("other.pem", include_bytes!("../../../../../fixtures/keys/tpp.cert.pem")),
        "folder".to_owned(),
        "null".to_owned(),
        "circle".to_owned(),
        "absent".to_owned(),
    ] {
        let profile = folder.path().join("bank.toml");
        fs::write(
            &profile,
            format!("base-url = \"http://127.0.0.1\"\n{ANY_BANK}\n[signing]\nkey = {name:?}\ncertificate = {certificate:?}\n"),
        )
        .unwrap();
        let (code, said) = run(&folder.path().join("out"), &["--target", text(&profile)]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains(&name) || said.contains("[signing]"), "{name}: {said}");
        let line = good.lines().nth(5).unwrap();
        assert!(!said.contains(line), "{name}: {said}");
    }
}

#[test]
fn a_folder_belongs_to_the_run_that_writes_into_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let arguments = ["run", "--quiet", "--seed", "1", "--jobs", "1", "--out", text(&out)];
    let mut first = command().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = out.join("run.lock");
    let begun = Instant::now();
    while !lock.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the first run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (code, said) = run(&out, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("another command is writing to this folder"), "{said}");
    let (code, said) = run(&folder.path().join("other"), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(first.wait().unwrap().code(), Some(0), "the first run is as it was");
    let (verdicts, _) = recorded(&out, &said);
    assert!(verdicts.iter().any(|verdict| verdict.case == "transaction.path/plain"));
    let (code, said) = run(&out, &[]);
    assert_eq!(code, Some(0), "{said}");
}
