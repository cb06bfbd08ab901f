//! Shared by all tests: the command, the files that they start from, and the network around it.

pub(crate) mod counting;
pub(crate) mod network;
pub(crate) mod stub;

use std::{
    fs,
    io::{self, BufReader, Read as _},
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use xs2aspec_record::{CaseVerdict, Entry, Event, Exchange, HashChain, Look, RecordReader, compressed};

/// The test key of a TPP.
pub(crate) const KEY: &str = include_str!("../../../../../fixtures/keys/tpp.key.pem");
/// The certificate of the test key.
pub(crate) const CERTIFICATE: &str = include_str!("../../../../../fixtures/keys/tpp.cert.pem");
/// A key of pseudonyms, for comparing records.
pub(crate) const MASK_KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys/mask.key");
/// The profile of the reference bank.
pub(crate) const REFERENCE: &str = include_str!("../../../../../fixtures/targets/reference.toml");
/// A profile with only the values that every bank needs.
pub(crate) const ANY_BANK: &str = include_str!("../../../../../fixtures/spec/any-bank.toml");

/// The start of a command line whose run gives the same verdicts each time.
pub(crate) const FIXED: [&str; 6] = ["run", "--quiet", "--seed", "1", "--now", "2030-01-31T12:00:00Z"];

/// Returns the command without arguments. Its environment and folder are set for one process only, so tests
/// can run in parallel.
pub(crate) fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_xs2aspec"))
}

/// Runs the command with these arguments.
pub(crate) fn execute(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

/// Returns everything that a command printed: standard output, then standard error.
pub(crate) fn printed(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("what is printed is UTF-8");
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs the command with these arguments. Returns its exit code and everything that it printed.
pub(crate) fn xs2aspec(arguments: &[&str]) -> (Option<i32>, String) {
    let output = execute(arguments);
    (output.status.code(), printed(&output))
}

/// Returns the record with this path, which the end of the run compresses.
pub(crate) fn read_record(path: impl AsRef<Path>) -> io::Result<String> {
    io::read_to_string(compressed::open_record(path.as_ref())?)
}

/// Returns the content of a file, which may be compressed.
pub(crate) fn content(path: &Path) -> Vec<u8> {
    let mut content = Vec::new();
    compressed::open(path, |_| true).unwrap().read_to_end(&mut content).unwrap();
    content
}

/// Renders a report of the run in a folder.
pub(crate) fn rendered(folder: &Path, format: &str) -> String {
    let output = command().arg("report").arg(folder).args(["--format", format]).output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Reads the events of the record in a folder, case by case, like reports do.
pub(crate) fn by_case(out: &Path) -> Vec<Event> {
    let record = RecordReader::open(&out.join("record.jsonl")).unwrap();
    let events = record.flat_map(|entry| match entry.unwrap() {
        Entry::Run(event) => vec![event],
        Entry::Case(case) => case.into_events().collect(),
    });
    events.collect()
}

/// Returns the verdicts and exchanges of the record in a folder. `said` is the output of the run, for the
/// message if there is no record.
pub(crate) fn recorded(out: &Path, said: &str) -> (Vec<CaseVerdict>, Vec<Exchange>) {
    let record = xs2aspec_record::compressed::open_record(&out.join("record.jsonl"))
        .unwrap_or_else(|_| panic!("{said}"));
    let (mut verdicts, mut exchanges) = (Vec::new(), Vec::new());
    for event in xs2aspec_record::read(BufReader::new(record)).unwrap() {
        match event {
            Event::Verdict(verdict) => verdicts.push(verdict),
            Event::Exchange(exchange) => exchanges.push(exchange),
            _ => {}
        }
    }
    (verdicts, exchanges)
}

/// Returns true if a step repeats an earlier request, in between or at the end of a run. Such repetitions
/// depend on the order in which requests end.
pub(crate) fn is_again(look: Option<Look>) -> bool {
    matches!(look, Some(Look::StillAccepting | Look::Alone))
}

/// Returns the record with a valid hash chain, as an attacker would leave it after edits.
pub(crate) fn chained(record: &str) -> String {
    let (mut chain, mut text) = (HashChain::default(), String::new());
    for line in record.split_inclusive('\n') {
        let mut line = line.as_bytes().to_vec();
        let event: Value = serde_json::from_slice(&line).unwrap();
        if event["event"] == "run-finished" {
            let mut event = event;
            event.as_object_mut().unwrap().remove("chain");
            line = event.to_string().into_bytes();
            chain.seal(&mut line);
            line.push(b'\n');
        }
        chain.add(&line);
        text.push_str(std::str::from_utf8(&line).unwrap());
    }
    text
}

/// Copies a folder with its contents.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
