//! Commands between a client and a bank. They change nothing, and report violations by either side.

mod client;
pub(crate) mod coded;
mod ends;
mod lost;
mod passing;
mod patience;
mod plan;
mod session;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use xs2aspec_record::{Event, Exchange, Finding, RunFinished};

use crate::support::{REFERENCE, command};

/// A command that runs until it is interrupted, and that prints its address in the first line.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child =
            command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        stdout.read_line(&mut url).unwrap();
        Self { child, stdout, url: url.trim().to_owned() }
    }

    /// Starts the reference bank, with or without a record.
    pub(crate) fn bank(more: &[&str]) -> Self {
        Self::start(&[&["serve", "--quiet"], more].concat())
    }

    /// Starts a proxy in front of this target.
    pub(crate) fn proxy(target: &str, out: &Path, more: &[&str]) -> Self {
        let out = out.to_str().unwrap();
        Self::start(&[&["proxy", "--target", target, "--out", out], more].concat())
    }

    /// Returns the peak of resident memory, in KiB.
    pub(crate) fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
    }

    /// Interrupts the command. Returns its exit code, and its output after the address.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let interrupted = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        let mut said = String::new();
        self.stdout.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
    }
}

/// The content of a record.
pub(crate) struct Record {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) finished: Option<RunFinished>,
    pub(crate) text: String,
}

impl Record {
    pub(crate) fn read(out: &Path) -> Self {
        let text = crate::support::read_record(out.join("record.jsonl")).unwrap();
        let mut record = Self { exchanges: vec![], findings: vec![], finished: None, text };
        for event in xs2aspec_record::read(record.text.as_bytes()).unwrap() {
            match event {
                Event::Exchange(exchange) => record.exchanges.push(exchange),
                Event::Verdict(verdict) => record.findings.extend(verdict.findings),
                Event::RunFinished(finished) => record.finished = Some(finished),
                _ => {}
            }
        }
        record
    }

    /// Returns the clauses that a side violated, each once.
    pub(crate) fn broken_by(&self, end: xs2aspec_record::End) -> Vec<&str> {
        let own = self.findings.iter().filter(|finding| finding.end == end);
        let mut clauses: Vec<&str> = own.map(|finding| finding.clause.as_str()).collect();
        clauses.sort_unstable();
        clauses.dedup();
        clauses
    }
}

/// Writes the profile of the reference bank at this address to a file in this folder.
pub(crate) fn profile(folder: &Path, base_url: &str, more: &str) -> String {
    let path = folder.join("bank.toml");
    let lines: Vec<&str> = REFERENCE.lines().filter(|line| !line.starts_with("base-url")).collect();
    fs::write(&path, format!("base-url = {base_url:?}\n{more}\n{}", lines.join("\n"))).unwrap();
    path.to_str().unwrap().to_owned()
}
