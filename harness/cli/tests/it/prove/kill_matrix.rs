//! `xs2aspec prove` fails if the cases of a clause are missing. README.md and the book show its results.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use proptest::{
    sample::subsequence,
    strategy::{Strategy as _, ValueTree as _},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use tempfile::TempDir;
use xs2aspec_reference::Fault;
use xs2aspec_suite::{Coverage, Suite, Tree};

use crate::support::{command, printed};

fn prove(arguments: &[String]) -> (Option<i32>, String) {
    let out = TempDir::new().unwrap();
    let output = command().arg("prove").args(arguments).arg("--out").arg(out.path()).output().unwrap();
    let said = printed(&output);
    assert!(!fs::read_to_string(out.path().join("matrix.tsv")).unwrap().is_empty());
    (output.status.code(), said)
}

/// Returns the clauses with their own cases and with a fault.
fn shown_by_cases() -> Vec<String> {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let every_answer = suite.answers().of_every_answer();
    let coverage = Coverage::of(&suite);
    let broken: BTreeSet<&str> = Fault::all().map(Fault::clause).collect();
    coverage
        .statements()
        .filter(|statement| statement.is_demanded() && !every_answer.contains(statement.clause.as_str()))
        .map(|statement| statement.clause.clone())
        .filter(|clause| broken.contains(clause.as_str()))
        .collect()
}

#[test]
#[ignore = "two minutes with optimisation"]
fn without_the_cases_of_any_of_ten_clauses_it_is_red() {
    is_red_without(10);
}

/// Asserts that without the cases of `count` random clauses, their faults are missed.
fn is_red_without(count: usize) {
    let clauses = shown_by_cases();
    assert!(clauses.len() > 200, "{}", clauses.len());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let drawn = subsequence(clauses, count).new_tree(&mut runner).unwrap().current();
    let arguments = |skip: bool| -> Vec<String> {
        let option = |option: &str, value: String| [option.to_owned(), value];
        let only = drawn.iter().flat_map(|clause| option("--only", format!("{clause}/")));
        let skip = drawn.iter().filter(|_| skip).flat_map(|clause| option("--skip", format!("{clause}/*")));
        only.chain(skip).collect()
    };
    let (exit, said) = prove(&arguments(false));
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = prove(&arguments(true));
    assert_eq!(exit, Some(1), "{said}");
    for clause in &drawn {
        let missed = said.lines().any(|line| line.starts_with(&format!("fault {clause}/")));
        assert!(missed, "{clause} has no cases, and still all its faults are caught:\n{said}");
    }
}

/// A part of the matrix cannot be compared with the whole. The command must reject this instead of ignoring
/// the file.
#[test]
fn a_matrix_that_would_not_be_looked_at_is_refused() {
    for part in [["--only", "basket.mix"], ["--skip", "basket.mix"]] {
        let output = command().args(["prove", "--matrix", "none.tsv"]).args(part).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--matrix"), "{said}");
    }
}

/// README.md shows what the demo finds and the last bank of strangers. The book shows the totals of the kill
/// matrix and of the matrix of places. Each is between two markers.
#[test]
fn the_numbers_in_the_readme_are_current() {
    let matrix = fs::read_to_string(root().join("fixtures/kill-matrix/matrix.tsv")).unwrap();
    let numbers = matrix.lines().next().unwrap().trim_start_matches("# ");
    assert!(numbers.contains(" 0 false alarms "), "{numbers}");
    let depths = fs::read_to_string(root().join("fixtures/kill-matrix/depths.tsv")).unwrap();
    let depth = |name: &str| {
        let line = depths.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        line.unwrap_or_else(|| panic!("depths.tsv has no {name}")).to_owned()
    };
    let caught = ["quick", "exhaustive"].map(|name| {
        let line = depth(name);
        let (faults, cases) = (line.split(';').next().unwrap(), line.rsplit("; ").next().unwrap());
        assert!(line.contains(" 0 false alarms "), "{name}: {line}");
        format!("`{name}`, {cases}: {faults}")
    });
    // The first number in a line of `prove`, and the number of all faults.
    let first = |line: &str| line.split(' ').next().unwrap().parse::<usize>().unwrap();
    let faults = |line: &str| line.split(' ').nth(2).unwrap().parse::<usize>().unwrap();
    let curve = [100, 300, 1000, 1500].map(|requests| {
        let line = depth(&format!("{requests} requests"));
        assert!(line.contains(" 0 false alarms "), "{requests}: {line}");
        let (caught, known, cases) = (first(&line), faults(&line), line.rsplit("; ").next().unwrap());
        format!("`--requests {requests}`, {cases}: {caught} of {known} faults, {} %", caught * 100 / known)
    });
    let drawn = command().args(["coverage", "--matrix"]).output().unwrap();
    let drawn = String::from_utf8(drawn.stdout).unwrap();
    let cells: Vec<&str> = drawn.lines().filter(|line| line.contains("cells, each decided: ")).collect();
    let cells = cells.join("\n>\n> ");
    assert!(cells.contains("responses: "), "{cells}");
    let (table, last) = strangers();
    let page = root().join("docs/src/trust.md");
    let mut trust = fs::read_to_string(&page).unwrap();
    for (mark, numbers) in [
        ("prove", format!("> {numbers}")),
        ("depths", format!("> {}", caught.join("\n>\n> "))),
        ("requests", format!("> {}", curve.join("\n>\n> "))),
        ("matrix", format!("> {cells}")),
        ("strangers", table),
    ] {
        trust = between(&trust, mark, &numbers);
    }
    is_current(&page, &trust);
    let path = root().join("README.md");
    let readme = between(&fs::read_to_string(&path).unwrap(), "held-out", &last);
    // The first lines of what the demo finds, except for the response time.
    let folder = tempfile::TempDir::new().unwrap();
    let demo = command().arg("demo").current_dir(folder.path()).output().unwrap();
    let shown = String::from_utf8(demo.stdout).unwrap();
    let finding = shown.lines().skip_while(|line| !line.starts_with("deny  "));
    let finding = finding.take_while(|line| !line.starts_with("   | response")).map(without_time);
    let finding: Vec<String> = finding.collect();
    assert!(finding.len() == 5 && demo.status.success(), "{shown}");
    assert!(shown.contains("\n$ xs2aspec explain ") && shown.contains("\ncontrol    "), "{shown}");
    let finding = format!("```text\n{}\n```", finding.join("\n"));
    is_current(&path, &between(&readme, "demo", &finding));
}

/// Returns the table of the banks that strangers wrote, and a sentence about the last one.
fn strangers() -> (String, String) {
    let measured = fs::read_to_string(root().join("fixtures/kill-matrix/strangers.tsv")).unwrap();
    let rows = measured.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t'));
    let mut table = "| day | bank | faults | denied | warned about | conforming banks accused |\n".to_owned();
    table += "|---|---|--:|--:|--:|--:|";
    let mut last = String::new();
    for row in rows {
        let [day, bank, faults, denied, warned, accused] = row.collect::<Vec<_>>().try_into().unwrap();
        let [all, deny, warn] = [faults, denied, warned].map(|number| number.parse::<f64>().unwrap());
        let percent = |part: f64| format!("{:.0} %", part / all * 100.0);
        _ = write!(table, "\n| {day} | {bank} | {faults} | {denied} | {warned} | {accused} |");
        last = format!(
            "The measure is a bank that the authors have never seen. The last one ({day}, {bank}) had {faults} faults.\n\
             xs2aspec denied {} of them and warned about {}. It accused {accused} conforming banks.",
            percent(deny),
            percent(warn),
        );
    }
    (table, last)
}

/// Returns a page with these lines between its two markers.
fn between(page: &str, mark: &str, lines: &str) -> String {
    let mark = format!("<!-- {mark} -->\n");
    let (before, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("no {mark}"));
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}{mark}{lines}\n<!-- end -->{after}")
}

/// Asserts that a generated page is current, or writes it.
fn is_current(path: &Path, current: &str) {
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(path, current).unwrap();
    } else {
        let page = fs::read_to_string(path).unwrap();
        assert!(page == current, "{} is not current: bash .ci/bless", path.display());
    }
}

/// Replaces the time and the request number in a line of a finding.
fn without_time(line: &str) -> String {
    match line.rsplit_once(" in ") {
        Some((before, time)) if time.contains(" ms, request ") => format!("{before} in 1.6 ms, request 58"),
        _ => line.to_owned(),
    }
}

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
