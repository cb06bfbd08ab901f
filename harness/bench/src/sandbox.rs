//! Measures what a choice of cases takes and finds on a realistic test system: slow, with an announced rate
//! limit, and sometimes unavailable.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, process::Command, time::Instant};

use tempfile::TempDir;
use xs2aspec_record::{Event, RecordReader, Verdict};

use crate::{
    section,
    table::{Server, suite, wrong},
};

/// The speed of the bank, as a multiple of a sandbox with 200 ms and 5 requests per second. There, the whole
/// suite would take most of an hour.
const SCALE: f64 = 10.0;
const LATENCY_MS: &str = "20";
const PER_SECOND: &str = "50";
/// One response in this many is 503.
const UNAVAILABLE: &str = "100";
/// Number of faults of the bank.
const FAULTS: usize = 10;

const PROFILE: &str = include_str!("../../../fixtures/targets/reference.toml");
const MATRIX: &str = include_str!("../../../fixtures/kill-matrix/matrix.tsv");

/// Measures, and writes the section of the file.
pub(crate) fn sandbox(path: &str) -> Result<String, String> {
    let program = suite()?;
    let folder = TempDir::new().map_err(wrong)?;
    let faults = faults();
    if faults.len() < FAULTS {
        return Err(format!("the kill matrix names {} denied faults, fewer than {FAULTS}", faults.len()));
    }
    let mut text = format!(
        "## A slow sandbox\n\nMade by `cargo run --release -p xs2aspec-bench -- sandbox harness/bench/RESULTS.md`.\n\nThe reference bank with {LATENCY_MS} \
         ms per response, a limit of {PER_SECOND} requests per second in its headers, and 503 for one\nresponse in {UNAVAILABLE}: a tenth of the \
         latency and ten times the rate of a sandbox with 200 ms and 5 requests per second,\nwhich the last column assumes. First without \
         a fault, then with {} faults at once, each of another clause.\n\n| options | requests | in % of the limit | 429 | findings, clean | judged | of {} \
         faults found | time | at 5 requests a second |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        faults.len(),
        faults.len()
    );
    for choice in [&["--requests", "300"][..], &["--depth", "quick"], &["--depth", "standard"]] {
        let clean = Asked::of(&program, folder.path(), choice, &[])?;
        let broken = Asked::of(&program, folder.path(), choice, &faults)?;
        let clauses: BTreeSet<&str> = faults.iter().filter_map(|fault| fault.split('/').next()).collect();
        let found = clauses.iter().filter(|clause| broken.broken.contains(**clause)).count();
        let limit: f64 = PER_SECOND.parse().map_err(wrong)?;
        let share = f64::from(clean.requests) / clean.seconds / limit * 100.0;
        let _ = writeln!(
            text,
            "| `{}` | {} | {share:.0} | {} | {} | {:.1} % | {found} | {:.0} s | {:.1} min |",
            choice.join(" "),
            clean.requests,
            clean.busy,
            clean.broken.len(),
            clean.judged * 100.0,
            clean.seconds,
            clean.seconds * SCALE / 60.0
        );
    }
    section::write(path, "sandbox", &text)?;
    Ok(text.trim_end().to_owned())
}

/// Returns faults that the suite denies, each of another clause, spread over all of them.
fn faults() -> Vec<&'static str> {
    let denied = |line: &'static str| {
        let mut columns = line.split('\t');
        match (columns.next()?, columns.next()?, columns.next()?) {
            ("fault", name, "denied") => Some(name),
            _ => None,
        }
    };
    let mut clauses = BTreeSet::new();
    let names = MATRIX.lines().filter_map(denied).filter(|name| clauses.insert(name.split('/').next()));
    let names: Vec<&str> = names.collect();
    let step = (names.len() / FAULTS).max(1);
    names.into_iter().skip(step / 2).step_by(step).take(FAULTS).collect()
}

/// The result of a run.
struct Asked {
    requests: u32,
    seconds: f64,
    /// Responses with 429.
    busy: usize,
    /// Violated clauses.
    broken: BTreeSet<String>,
    /// The share of cases that could be judged.
    judged: f64,
}

impl Asked {
    fn of(program: &Path, folder: &Path, choice: &[&str], faults: &[&str]) -> Result<Self, String> {
        let mut serve = vec!["serve", "--quiet", "--latency-ms", LATENCY_MS, "--per-second", PER_SECOND];
        serve.extend(["--unavailable", UNAVAILABLE]);
        serve.extend(faults.iter().flat_map(|fault| ["--fault", *fault]));
        let server = Server::start(program, &serve)?;
        let base_url = format!("base-url = {:?}", server.url);
        let lines = PROFILE.lines().map(|line| if line.starts_with("base-url") { &base_url } else { line });
        let (profile, out) = (folder.join("sandbox.toml"), folder.join("out"));
        fs::write(&profile, lines.collect::<Vec<_>>().join("\n")).map_err(wrong)?;
        let begun = Instant::now();
        let output = Command::new(program)
            .args(["run", "--quiet", "--seed", "1", "--target"])
            .arg(&profile)
            .arg("--out")
            .arg(&out)
            .args(choice)
            .output()
            .map_err(wrong)?;
        let seconds = begun.elapsed().as_secs_f64();
        if !matches!(output.status.code(), Some(0 | 1 | 3)) {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let record = RecordReader::open(&out.join("record.jsonl")).map_err(wrong)?;
        let mut asked = Self { requests: 0, seconds, busy: 0, broken: BTreeSet::new(), judged: 0.0 };
        let (mut cases, mut judged) = (0_u32, 0_u32);
        for event in record.events() {
            match event.map_err(wrong)? {
                Event::Exchange(exchange) => {
                    asked.busy += usize::from(exchange.response.is_some_and(|answer| answer.status == 429));
                }
                Event::Verdict(verdict) => {
                    cases += 1;
                    judged += u32::from(!matches!(verdict.verdict, Verdict::Inconclusive | Verdict::Error));
                    if verdict.verdict == Verdict::Fail {
                        asked.broken.extend(verdict.findings.into_iter().map(|finding| finding.clause));
                    }
                }
                Event::RunFinished(finished) => {
                    asked.requests = u32::try_from(finished.exchanges).map_err(wrong)?;
                }
                _ => {}
            }
        }
        asked.judged = f64::from(judged) / f64::from(cases.max(1));
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_denied_faults_of_as_many_clauses_are_taken() {
        let clauses: BTreeSet<_> = faults().iter().filter_map(|fault| fault.split('/').next()).collect();
        assert_eq!(clauses.len(), FAULTS);
    }
}
