//! Typical calls of the program: twice a day, in shards, or with the command that a finding prints.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use super::{condition::Scenario, outcome::Outcome};

/// Seed of the values of all runs.
const SEED: &str = "7";
const OTHER_SEED: &str = "8";

/// Shards of a run.
const SHARDS: usize = 3;

/// Number of record lines after which a run is killed, and the longest time to wait for them.
const KILLED_AFTER: usize = 60;
const PATIENCE: Duration = Duration::from_secs(30);

/// The way in which the program is called in one folder.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// The program.
    pub(super) program: PathBuf,
    /// The folder in which it runs. It has `bank.toml` and receives the folders of the runs.
    pub(super) folder: PathBuf,
    /// Options of every run, such as `--depth quick`.
    pub(super) options: Vec<String>,
}

impl Caller {
    /// Calls the program according to the scenario, and returns the outcomes of the judged runs.
    pub(super) fn play(&self, scenario: Scenario) -> io::Result<Vec<Outcome>> {
        match scenario {
            Scenario::Once => Ok(vec![self.run("run", &[])?]),
            Scenario::Twice => Ok(vec![self.run("first", &[])?, self.run("second", &[])?]),
            Scenario::TwiceOtherSeed => {
                Ok(vec![self.run("first", &[])?, self.run_with("second", OTHER_SEED, &[])?])
            }
            Scenario::Shards => self.shards(),
            Scenario::Again => self.again(),
            Scenario::Failed => self.failed(),
            Scenario::Resumed => self.resumed(),
        }
    }

    fn run(&self, out: &str, options: &[&str]) -> io::Result<Outcome> {
        self.run_with(out, SEED, options)
    }

    fn run_with(&self, out: &str, seed: &str, options: &[&str]) -> io::Result<Outcome> {
        let output = self.command(out, seed, options).output()?;
        Ok(Outcome::read(&output, &self.folder.join(out)))
    }

    fn command(&self, out: &str, seed: &str, options: &[&str]) -> Command {
        let mut command = self.called(&["run", "--target", "bank.toml", "--seed", seed, "--out", out]);
        command.args(&self.options).args(options);
        command
    }

    fn called(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn shards(&self) -> io::Result<Vec<Outcome>> {
        let parts: Vec<(String, String)> =
            (1..=SHARDS).map(|part| (format!("part-{part}"), format!("{part}/{SHARDS}"))).collect();
        let started = parts.iter().map(|(out, part)| {
            let mut command = self.command(out, SEED, &["--shard", part]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        });
        let started: Vec<_> = started.collect::<io::Result<_>>()?;
        let mut outcomes = Vec::new();
        for (child, (out, _)) in started.into_iter().zip(&parts) {
            outcomes.push(Outcome::read(&child.wait_with_output()?, &self.folder.join(out)));
        }
        let mut merge = self.called(&["merge", "--out", "merged"]);
        merge.args(parts.iter().map(|(out, _)| out));
        outcomes.push(Outcome::read(&merge.output()?, &self.folder.join("merged")));
        Ok(outcomes)
    }

    /// Runs, then runs the command that each finding prints.
    fn again(&self) -> io::Result<Vec<Outcome>> {
        let first = self.run("run", &[])?;
        let mut outcomes = Vec::new();
        for (clause, command) in &first.again {
            let arguments = command.trim_start_matches("xs2aspec");
            let line = format!("'{}'{arguments}", self.program.display());
            let output = Command::new("sh").args(["-c", &line]).current_dir(&self.folder).output()?;
            let outcome = Outcome::read(&output, &self.folder.join("reports/again"));
            outcomes.push(Outcome { repeats: clause.clone(), ..outcome });
        }
        // Without findings there is no command, and the run itself is judged.
        Ok(if outcomes.is_empty() { vec![first] } else { outcomes })
    }

    fn failed(&self) -> io::Result<Vec<Outcome>> {
        let first = self.run("run", &[])?;
        let arguments = ["run", "--target", "bank.toml", "--seed", SEED, "--out", "run", "--failed"];
        let second = Outcome::read(&self.called(&arguments).output()?, &self.folder.join("again"));
        // Exit code 4: nothing failed, so nothing ran.
        Ok(vec![if second.exit == Some(4) { first } else { second }])
    }

    fn resumed(&self) -> io::Result<Vec<Outcome>> {
        let mut command = self.command("run", SEED, &["--jobs", "2"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let record = self.folder.join("run/record.jsonl");
        let start = Instant::now();
        while lines(&record) < KILLED_AFTER && child.try_wait()?.is_none() && start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(5));
        }
        child.kill()?;
        child.wait()?;
        let resumed = self.called(&["run", "--resume", "run", "--target", "bank.toml"]).output()?;
        Ok(vec![Outcome::read(&resumed, &self.folder.join("run"))])
    }
}

fn lines(file: &Path) -> usize {
    fs::read_to_string(file).map_or(0, |text| text.lines().count())
}
