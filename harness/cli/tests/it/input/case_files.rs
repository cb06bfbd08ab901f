//! A hundred thousand case files, circular links, and exploding documents.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::text;
use crate::support::{execute, printed};

/// Writes this many case files with one plain case each, a thousand to a folder.
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
#[ignore = "half a minute with optimisation"]
fn a_hundred_thousand_case_files_are_read() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 100_000);
    let begun = Instant::now();
    let output = execute(&[
        "run",
        "--quiet",
        "--cases",
        text(folder.path()),
        "--only",
        "ncbct.path/n-99999",
        "--out",
        text(&folder.path().join("out")),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    // One mistake among them is found, with its place.
    fs::write(folder.path().join("area-50/50500.yaml"), "title: wrong\ncases:\n  - {clause: none}\n")
        .unwrap();
    let output = execute(&["list", "ncbct.path", "--cases", text(folder.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).contains("area-50/50500.yaml:3"), "{}", printed(&output));
}

#[test]
fn links_that_go_round_in_circles_are_not_followed() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 3);
    symlink(folder.path(), folder.path().join("area-0/again")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    symlink("/dev/zero", folder.path().join("area-0/endless.yaml")).unwrap();
    let output = execute(&[
        "run",
        "--quiet",
        "--cases",
        text(folder.path()),
        "--out",
        text(&folder.path().join("out")),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    assert!(
        printed(&output).contains("3 cases (2 of them share the response to a baseline request), "),
        "{}",
        printed(&output)
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
        let output = execute(&["list", "ncbct.path", "--cases", text(folder.path())]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", printed(&output));
        assert!(printed(&output).contains("a/b.yaml"), "{name}: {}", printed(&output));
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}: {:?}", begun.elapsed());
    }
}
