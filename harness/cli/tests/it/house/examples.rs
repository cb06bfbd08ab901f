//! The examples in `reports/examples` are the output of a run with a fault, exact except for times and the
//! port. `bash .ci/bless` writes them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::RecordWriter;

use crate::support::{MASK_KEY, execute};

const ONLY: [&str; 5] = [
    "periodic.months.duplicate/adjacent",
    "periodic.months.duplicate/3-apart",
    "ncbct.path",
    "certificate.validity",
    "basket.mix",
];

fn xs2aspec(arguments: &[&str]) -> Vec<u8> {
    let output = execute(arguments);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn run(folder: &Path, more: &[&str]) -> String {
    let out = folder.to_str().unwrap();
    let only = ONLY.iter().flat_map(|pattern| ["--only", pattern]).collect::<Vec<_>>();
    let ids = ["--seed", "1", "--run-id", "example", "--now", "2030-01-31T12:00:00Z", "--mask-key", MASK_KEY];
    // One case at a time, so that each run has the same order.
    let fixed = [&["run", "--quiet", "--jobs", "1", "--out", out][..], &ids].concat();
    xs2aspec(&[&fixed[..], &only, more].concat());
    out.to_owned()
}

/// Removes what differs between runs: times, the port, and values derived from them.
fn settle(folder: &Path) {
    let path = folder.join("record.jsonl");
    let record = crate::support::read_record(&path).unwrap();
    let start: Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    // Host headers contain the authority, too.
    let authority = start["base_url"].as_str().unwrap().trim_start_matches("http://");
    let record = record.replace(authority, "127.0.0.1:8080");
    let events: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut settled = RecordWriter::new(Vec::new());
    for mut event in events {
        for name in ["at", "micros"] {
            if event.get(name).is_some_and(Value::is_number) {
                event[name] = 0.into();
            }
        }
        for times in
            event.pointer_mut("/times/operations").and_then(Value::as_array_mut).into_iter().flatten()
        {
            for name in ["p50", "p95", "p99", "largest"] {
                times[name] = 0.into();
            }
        }
        settled.write(&serde_json::from_value(event).unwrap()).unwrap();
    }
    fs::write(path, settled.finish().unwrap()).unwrap();
}

#[test]
fn the_examples_are_current() {
    let folder = TempDir::new().unwrap();
    let before = run(&folder.path().join("before"), &[]);
    let fault = ["--fault", "periodic.months.duplicate/only-adjacent", "--base", &before];
    let out = run(&folder.path().join("after"), &fault);
    settle(Path::new(&before));
    settle(Path::new(&out));
    let mut made: Vec<(&str, Vec<u8>)> = vec![(
        "record.jsonl",
        crate::support::read_record(Path::new(&out).join("record.jsonl")).map(String::into_bytes).unwrap(),
    )];
    for (name, format) in [
        ("junit.xml", "junit"),
        ("summary.md", "markdown"),
        ("report.html", "html"),
        ("ctrf.json", "ctrf"),
        ("exchanges.har", "har"),
        ("results.sarif", "sarif"),
        ("annotations.txt", "github"),
        ("terminal.txt", "terminal"),
    ] {
        let rendered = String::from_utf8(xs2aspec(&["report", &out, "--format", format])).unwrap();
        made.push((name, rendered.replace(&out, "reports/after").into_bytes()));
    }
    made.push(("diff.md", xs2aspec(&["diff", &before, &out])));
    made.push(("rejudge.txt", xs2aspec(&["rejudge", &out])));

    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reports/examples");
    let update = std::env::var_os("UPDATE_GENERATED").is_some();
    let mut stale = Vec::new();
    for (name, content) in &made {
        let path = examples.join(name);
        if update {
            fs::create_dir_all(&examples).unwrap();
            fs::write(&path, content).unwrap();
        }
        if fs::read(&path).ok().as_ref() != Some(content) {
            stale.push(*name);
        }
    }
    assert!(stale.is_empty(), "{stale:?} are not current: bash .ci/bless");
    let kept = fs::read_dir(&examples).unwrap().count();
    assert_eq!(kept, made.len(), "files in reports/examples that nothing makes");
    // Each example must show something.
    let text = |name: &str| {
        let content = made.iter().find(|(made, _)| *made == name).unwrap().1.clone();
        String::from_utf8(content).unwrap()
    };
    assert!(
        text("summary.md").contains("1 newly failing") && text("diff.md").contains("#### Newly failing (1)")
    );
    assert!(text("junit.xml").contains("<failure") && text("annotations.txt").starts_with("::error title="));
}
