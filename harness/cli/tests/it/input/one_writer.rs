//! The folder of a run belongs to one command at a time, and its names do not lead to other files.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::PathBuf};

use tempfile::TempDir;
use xs2aspec_record::{
    RunFolder,
    run_folder::{Doubt, Files},
};

use crate::{
    proxy::Running,
    support::{KEY, command, printed},
};

const NOTHING: Files<'_> = Files { reports: &[], reads: &[] };

/// Returns a folder with a run, a shard, traffic, a profile and a key.
fn scene() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, more) in [("run", ""), ("1", " --shard 1/1")] {
        let (code, said) =
            line(&folder, &format!("run --quiet --seed 1 --only ncbct.path --out {name}{more}"));
        assert_eq!(code, Some(0), "{said}");
    }
    let exchange = "GET /v1/sandbox/customers HTTP/1.1\nHost: b\n\nHTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2\n\n[]\n";
    fs::write(path("traffic.http"), exchange).unwrap();
    fs::write(path("bank.toml"), "base-url = \"http://127.0.0.1:1\"\n").unwrap();
    fs::write(path("key.pem"), KEY).unwrap();
    folder
}

fn line(folder: &TempDir, line: &str) -> (Option<i32>, String) {
    let output = command().current_dir(folder.path()).args(line.split(' ')).output().unwrap();
    (output.status.code(), printed(&output))
}

/// Returns every command that writes a run, with this folder.
fn writers(out: &str) -> [String; 8] {
    [
        format!("run --quiet --only ncbct.path --out {out}"),
        format!("run --quiet --only ncbct.path --force --out {out}"),
        format!("run --quiet --resume {out}"),
        format!("explore --only ncbct --budget 100 --out {out}"),
        format!("merge 1 --out {out}"),
        format!("judge traffic.http --out {out}"),
        format!("serve --quiet --record {out}"),
        format!("proxy --quiet --target bank.toml --out {out}"),
    ]
}

/// Returns every file of a folder with its bytes.
fn bytes(folder: &TempDir, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder.path().join(name)).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn a_second_command_in_the_folder_of_a_run_fails_and_changes_nothing() {
    let folder = scene();
    line(&folder, "judge traffic.http --out judged");
    let own = RunFolder::go_on(&folder.path().join("run"), NOTHING).unwrap();
    let before = bytes(&folder, "run");
    let client = "client report judged --out run".to_owned();
    for writer in writers("run").into_iter().chain([client]) {
        let (code, said) = line(&folder, &writer);
        assert_eq!(code, Some(2), "{writer}: {said}");
        assert!(said.contains("another command is writing to this folder"), "{writer}: {said}");
        assert!(bytes(&folder, "run") == before, "{writer} changed something");
    }
    // As soon as the first command ends, another one may claim the folder.
    drop(own);
    let (code, said) = line(&folder, &writers("run")[5]);
    assert_eq!(code, Some(1), "the client signed nothing: {said}");
    assert!(!bytes(&folder, "run").keys().any(|path| path.ends_with("run.lock")));
}

#[test]
fn what_a_command_records_stays_whatever_others_begin_beside_it() {
    let folder = scene();
    let out = folder.path().join("served");
    let served = Running::bank(&["--record", out.to_str().unwrap()]);
    let (code, said) = line(&folder, "run --quiet --only ncbct.path --out served");
    assert_eq!((code, said.contains("another command is writing")), (Some(2), true), "{said}");
    let (code, said) = line(&folder, "serve --quiet --record served");
    assert_eq!((code, said.contains("another command is writing")), (Some(2), true), "{said}");
    let target = format!("run --quiet --target {} --only ncbct.path --out own", served.url);
    let (_, said) = line(&folder, &target);
    assert!(said.contains("exchange"), "{said}");
    served.end();
    let (code, said) = line(&folder, "report served --format terminal");
    assert_eq!(code, Some(0), "{said}");
    assert!(bytes(&folder, "served").keys().any(|path| path.ends_with("junit.xml")));
}

/// A killed run leaves its notes, and no lock.
#[test]
fn a_folder_of_a_command_that_was_killed_is_free() {
    let folder = scene();
    let own = RunFolder::begin(&folder.path().join("killed"), NOTHING, Doubt::Fail).unwrap();
    let record = crate::support::read_record(folder.path().join("run/record.jsonl")).unwrap();
    let sent =
        r#"{"event":"sending","number":9000,"case":"ncbct.path/plain","step":"request","method":"POST"}"#;
    let first = record.lines().next().unwrap();
    fs::write(folder.path().join("killed/record.jsonl"), format!("{first}\n{sent}\n")).unwrap();
    drop(own);
    fs::write(folder.path().join("killed/run.lock"), "").unwrap();
    for (writer, expected) in [
        ("judge traffic.http --out killed", 2),
        ("run --quiet --only ncbct.path --out killed", 2),
        ("run --quiet --only ncbct.path --force --out killed", 0),
        // The client signed nothing.
        ("judge traffic.http --out killed", 1),
    ] {
        let (code, said) = line(&folder, writer);
        assert_eq!(code, Some(expected), "{writer}: {said}");
        assert!(expected != 2 || said.contains("may have created resources at the target"), "{said}");
    }
}

/// A key or another file under a file name of a run.
#[test]
fn no_name_in_the_folder_of_a_run_leads_to_something_else() {
    let folder = scene();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("notes"), "notes of somebody").unwrap();
    for (out, name, file, is_hard) in [
        ("a", "record.jsonl", "key.pem", false),
        ("b", "record.jsonl", "key.pem", true),
        ("d", "run.lock", "key.pem", false),
        ("e", "run.lock", "key.pem", true),
        ("f", "report.html", "key.pem", false),
        ("g", "record.jsonl", "notes", false),
        ("h", "run.lock", "notes", false),
    ] {
        fs::create_dir(path(out)).unwrap();
        let own = path(out).join(name);
        if is_hard {
            fs::hard_link(path(file), &own).unwrap();
        } else {
            symlink(path(file), &own).unwrap();
        }
        for writer in writers(out).into_iter().filter(|writer| !writer.contains("--resume")) {
            let (code, said) = line(&folder, &writer);
            assert_eq!(code, Some(2), "{out}/{name}: {writer}: {said}");
            assert!(said.contains("refusing to overwrite"), "{writer}: {said}");
        }
        assert_eq!(fs::read_to_string(path("key.pem")).unwrap(), KEY, "{out}/{name}");
        assert_eq!(fs::read_to_string(path("notes")).unwrap(), "notes of somebody", "{out}/{name}");
        assert_eq!(bytes(&folder, out).len(), 1, "{out}");
    }
}
