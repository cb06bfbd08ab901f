//! A machine with a wrong clock.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::support::{command, printed};

/// Returns the library that fakes the system clock for one process.
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

/// The system clock jumps two days forward or back during a run. The run reads that clock once, and then uses
/// the monotonic clock. So no date in a request and no duration is wrong.
#[test]
#[ignore = "needs libfaketime: --include-ignored where it is installed"]
fn a_clock_that_jumps_in_the_middle_of_a_run() {
    let library = faketime();
    let mut bank = Bank(command().args(["serve", "--quiet"]).stdout(Stdio::piped()).spawn().unwrap());
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
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let seconds = || -> i64 {
            let said = faked(Command::new("date").arg("+%s")).wait_with_output().unwrap().stdout;
            String::from_utf8(said).unwrap().trim().parse().unwrap()
        };
        let (before, begun) = (seconds(), Instant::now());
        let run = faked(
            command()
                .args(["run", "--quiet", "--depth", "quick", "--jobs", "2", "--target", url.trim(), "--out"])
                .arg(&out),
        );
        let record = || crate::support::read_record(out.join("record.jsonl")).unwrap_or_default();
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
        // A URL alone does not provide every value, so some cases are not tested. All others pass.
        assert_eq!(output.status.code(), Some(3), "{jump}: {}", printed(&output));
        assert!(printed(&output).contains(" passed, 0 violated, "), "{jump}: {}", printed(&output));
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
