//! A finding is named by the first digits of its id: in `explain`, `curl`, `run --only` and `waive`. The gate
//! of a run fails only for findings that an earlier run does not have.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{command, printed};

const FAULT: [&str; 2] = ["--fault", "periodic.months.duplicate/only-adjacent"];
const CLAUSE: &str = "periodic.months.duplicate";

/// Runs a command in a folder. Returns its exit code and everything that it printed.
fn ran(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = command().args(words).current_dir(folder).output().unwrap();
    (output.status.code(), printed(&output))
}

/// Returns a folder with a run in `reports/latest` that has one finding, and the first digits of its id.
fn faulty() -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let (exit, said) = ran(folder.path(), &[&["run", "--quiet", "--only", CLAUSE][..], &FAULT].concat());
    assert_eq!(exit, Some(1), "{said}");
    let (_, entries) = ran(folder.path(), &["report", "reports/latest", "--format", "gitlab"]);
    let entries: Value = serde_json::from_str(&entries).unwrap();
    let id = entries[0]["fingerprint"].as_str().unwrap()[..8].to_owned();
    (folder, id)
}

#[test]
fn the_first_digits_of_an_id_name_a_finding_everywhere() {
    let (folder, id) = faulty();
    let unknown = if id.ends_with('0') { format!("{}1", &id[..7]) } else { format!("{}0", &id[..7]) };
    for (words, exit, expected) in [
        (format!("explain {id}"), 0, "found      expected a rejection"),
        (format!("explain {id}"), 0, "\"transactionStatus\":\"RCVD\""),
        (format!("explain {id}"), 0, "  and 18 more"),
        (format!("explain {unknown}"), 2, "did you mean `"),
        ("explain 00000000 --run nowhere".to_owned(), 2, "there is no run in nowhere"),
        (format!("curl {id}"), 2, "pass the bank with --target"),
        (format!("curl {id} --target http://127.0.0.1:1"), 2, ""),
        (format!("run --quiet --only {id} {}", FAULT.join(" ")), 1, "reports in reports/again"),
        (format!("run --quiet --only {unknown}"), 2, "did you mean `"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let (code, said) = ran(folder.path(), &words);
        assert!(said.contains(expected), "{words:?}: {said}");
        assert!(code == Some(exit) || words[0] == "curl", "{words:?}: {code:?} {said}");
    }
    let heading = format!("{CLAUSE} / 2-apart");
    let (exit, said) = ran(folder.path(), &["explain", &heading]);
    assert!(exit == Some(0) && said.starts_with("case       periodic.months.duplicate/2-apart\n"), "{said}");
}

#[test]
fn a_waived_finding_is_in_the_file_and_the_run_takes_it() {
    let (folder, id) = faulty();
    let file = folder.path().join("waivers.toml");
    fs::write(&file, "# known\n").unwrap();
    let (exit, said) = ran(folder.path(), &["waive", &id, "--reason", "a", "--expires", "2020-01-01"]);
    assert!(exit == Some(2) && said.contains("that day is over"), "{said}");
    let waive = ["waive", &id, "--reason", "fixed in \"May\"", "--ticket", "T-1"];
    let (exit, said) = ran(folder.path(), &waive);
    assert!(exit == Some(0) && said.starts_with("waivers.toml:4: waived "), "{said}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# known\n") && text.contains("ticket = \"T-1\""), "{text}");
    let (exit, said) = ran(folder.path(), &waive);
    assert!(exit == Some(2) && said.contains("is already waived until"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let run = ["run", "--quiet", "--only", CLAUSE, "--waivers", "waivers.toml"];
    let (exit, said) = ran(folder.path(), &[&run[..], &FAULT].concat());
    assert_eq!(exit, Some(0), "{said}");
}

#[test]
fn a_gate_fails_only_for_what_the_base_does_not_have() {
    let (folder, id) = faulty();
    let latest = folder.path().join("reports/latest");
    fs::rename(fs::canonicalize(&latest).unwrap(), folder.path().join("base")).unwrap();
    fs::remove_file(latest).unwrap();
    let gated = ["run", "--quiet", "--only", CLAUSE, "--gate", "new", "--base"];
    let (exit, said) = ran(folder.path(), &[&gated[..], &["base"], &FAULT].concat());
    assert!(
        exit == Some(0) && said.ends_with("gate passed: no new finding; 1 known violation remains\n"),
        "{said}"
    );
    let both = ["base", "--only", "basket.status", "--fault", "basket.status.worst/of-the-first"];
    let (exit, said) = ran(folder.path(), &[&gated[..], &both, &FAULT].concat());
    let last = said.lines().last().unwrap_or_default();
    assert!(exit == Some(1) && last.contains("basket.status.worst") && !last.contains(CLAUSE), "{said}");
    let clean = ["run", "--quiet", "--only", CLAUSE, "--out", "clean"];
    assert_eq!(ran(folder.path(), &clean).0, Some(0));
    let (exit, said) = ran(folder.path(), &[&gated[..], &["clean"], &FAULT].concat());
    let last = format!("gate failed: 1 new finding: {id} {CLAUSE}\n");
    assert!(exit == Some(1) && said.ends_with(&last), "{said}");
    let (exit, said) = ran(folder.path(), &["diff", "clean", "base"]);
    assert!(exit == Some(1) && said.ends_with(&last), "{said}");
}
