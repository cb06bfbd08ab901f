//! Runs an executable of the user and reads its standard output: a signer with a key in hardware, or a step
//! that a profile prepares.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

/// Limit of the bytes of the output.
const MOST: u64 = 1024 * 1024;
/// Interval at which a running command is polled.
const STEP: Duration = Duration::from_millis(2);
/// Time limit for the last bytes of output after the command has ended.
const LAST_BYTES: Duration = Duration::from_millis(100);

/// The reason that a command gave no result. Its standard error is inherited.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The command has no executable.
    #[error("expected a command, found an empty list")]
    Empty,
    /// The command could not be started, or its pipes failed.
    #[error("`{program}` cannot be run: {source}")]
    Start {
        /// The executable.
        program: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The command failed.
    #[error("`{program}` ended with {status}")]
    Failed {
        /// The executable.
        program: String,
        /// Exit code or signal.
        status: String,
    },
    /// The command exceeded its time limit and was stopped.
    #[error("`{program}` did not end within {} s", limit.as_secs())]
    Slow {
        /// The executable.
        program: String,
        /// The time limit.
        limit: Duration,
    },
    /// The command printed too much.
    #[error("`{program}` printed more than {MOST} bytes")]
    Long {
        /// The executable.
        program: String,
    },
}

/// Runs a command in a folder, passes `input` to it, and returns its output. An executable whose name
/// contains a `/` is resolved from that folder. Blocks until the command ends.
pub fn run(
    command: &[String],
    folder: &Path,
    input: &[u8],
    limit: Duration,
) -> Result<Vec<u8>, CommandError> {
    let (program, arguments) = command.split_first().ok_or(CommandError::Empty)?;
    let path = if program.contains('/') { folder.join(program) } else { PathBuf::from(program) };
    let start = |source| CommandError::Start { program: program.clone(), source };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Some systems would resolve a relative path from the new folder, others from the old one.
    let path = if path.is_relative() && program.contains('/') {
        std::env::current_dir().map_err(start)?.join(path)
    } else {
        path
    };
    let mut command = Command::new(path);
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    // The processes that it starts end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(start)?;
    let group = Group::begin(&child);
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let input = input.to_owned();
    // A command may ignore its input. Only its output counts.
    thread::spawn(move || drop(stdin.map(|mut stdin| stdin.write_all(&input))));
    let (sender, output) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut printed = Vec::new();
        let read = stdout.map_or(Ok(0), |stdout| stdout.take(MOST + 1).read_to_end(&mut printed));
        // The receiver is gone if the time is over.
        drop(sender.send(read.map(|_| printed)));
    });
    let status = ended(&mut child, limit);
    drop(group);
    let slow = || CommandError::Slow { program: program.clone(), limit };
    let status = status.map_err(start)?.ok_or_else(slow)?;
    // A process that left the group may keep the output open.
    let left = limit.saturating_sub(begun.elapsed()).max(LAST_BYTES);
    let printed = output.recv_timeout(left).map_err(|_| slow())?.map_err(start)?;
    if printed.len() as u64 > MOST {
        return Err(CommandError::Long { program: program.clone() });
    }
    if !status.success() {
        return Err(CommandError::Failed { program: program.clone(), status: status.to_string() });
    }
    Ok(printed)
}

/// The process groups of the running commands.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Kills the running commands, with all processes that they started.
pub fn end_all() {
    std::mem::take(&mut *running()).into_iter().for_each(end);
}

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn end(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(group).ok().and_then(Pid::from_raw);
    // It may already have ended.
    _ = group.map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(not(unix))]
fn end(_: u32) {}

/// The process group of a command, which is killed when this is dropped.
struct Group(u32);

impl Group {
    fn begin(child: &Child) -> Self {
        running().insert(child.id());
        Self(child.id())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        running().remove(&self.0);
        end(self.0);
    }
}

/// Waits for a child to end. Returns None if it exceeded the limit and was killed.
fn ended(child: &mut Child, limit: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &[u8]) -> Result<Vec<u8>, String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        run(&command, Path::new(""), input, Duration::from_millis(500)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_answers_or_says_why_not() {
        assert_eq!(shell("cat", b"in"), Ok(b"in".to_vec()));
        assert_eq!(
            shell("echo out", &vec![0; 100_000]),
            Ok(b"out\n".to_vec()),
            "ignoring the input is not a failure"
        );
        assert_eq!(shell("exit 3", b""), Err("`sh` ended with exit status: 3".to_owned()));
        assert_eq!(shell("sleep 20", b""), Err("`sh` did not end within 0 s".to_owned()));
        assert!(shell("yes | head -c 2000000", b"").unwrap_err().contains("more than 1048576 bytes"));
        let none = run(&["./no-such-file".to_owned()], Path::new("/"), b"", STEP).unwrap_err().to_string();
        assert!(none.starts_with("`./no-such-file` cannot be run: "), "{none}");
        assert!(run(&[], Path::new(""), b"", STEP).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_a_command_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark").display().to_string();
        for (end, expected) in [("sleep 20", None), ("exit 3", None), ("echo out", Some(b"out\n".to_vec()))] {
            let begun = Instant::now();
            let printed = shell(&format!("(sleep 1; touch '{mark}') & {end}"), b"");
            assert_eq!(printed.ok(), expected, "{end}");
            assert!(begun.elapsed() < Duration::from_secs(1), "{end}");
        }
        thread::sleep(Duration::from_millis(1500));
        assert!(!folder.path().join("mark").exists());
    }

    #[test]
    fn an_executable_with_a_slash_is_looked_for_from_the_folder() {
        let printed =
            run(&["./sh".to_owned(), "-c".into(), "pwd".into()], Path::new("/bin"), b"", STEP * 500);
        assert!(String::from_utf8(printed.unwrap()).unwrap().trim_end().ends_with("bin"));
    }
}
