//! An executable of the user's that answers on its standard output: a key in hardware that signs, or whatever
//! a profile prepares.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Most that is read of an answer, in bytes.
const MOST: u64 = 1024 * 1024;
/// How often a running command is looked after.
const STEP: Duration = Duration::from_millis(2);

/// Why a command gave no answer. Its standard error goes where ours goes.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no name of an executable.
    #[error("expected a command, found an empty list")]
    Empty,
    /// It could not be started, or not be talked to.
    #[error("`{program}` cannot be run: {source}")]
    Start {
        /// The executable.
        program: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It said itself that it failed.
    #[error("`{program}` ended with {status}")]
    Failed {
        /// The executable.
        program: String,
        /// Exit code or signal.
        status: String,
    },
    /// It took too long, and was stopped.
    #[error("`{program}` did not end within {} s", limit.as_secs())]
    Slow {
        /// The executable.
        program: String,
        /// How long it may take.
        limit: Duration,
    },
    /// It printed more than is read.
    #[error("`{program}` printed more than {MOST} bytes")]
    Long {
        /// The executable.
        program: String,
    },
}

/// Runs a command in a folder, hands it `input`, and gives what it printed. An executable named with a `/` is
/// looked for from that folder. Blocks until it ends.
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
    // A path that is relative would be looked for from the new folder by some systems, and from the old one
    // by others.
    let path = if path.is_relative() && program.contains('/') {
        std::env::current_dir().map_err(start)?.join(path)
    } else {
        path
    };
    let mut child = Command::new(path)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(start)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let input = input.to_owned();
    // A command that does not read what it is given may be right all the same; its answer says.
    let writer = thread::spawn(move || drop(stdin.map(|mut stdin| stdin.write_all(&input))));
    let reader = thread::spawn(move || {
        let mut printed = Vec::new();
        stdout.map_or(Ok(0), |stdout| stdout.take(MOST + 1).read_to_end(&mut printed)).map(|_| printed)
    });
    let status = ended(&mut child, limit).map_err(start)?;
    let Some(status) = status else {
        return Err(CommandError::Slow { program: program.clone(), limit });
    };
    drop(writer.join());
    let printed =
        reader.join().map_err(|_| start(std::io::Error::other("its output was lost")))?.map_err(start)?;
    if printed.len() as u64 > MOST {
        return Err(CommandError::Long { program: program.clone() });
    }
    if !status.success() {
        return Err(CommandError::Failed { program: program.clone(), status: status.to_string() });
    }
    Ok(printed)
}

/// The end of a child; `None` where it took too long and was stopped.
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
            "what it does not read is no failure"
        );
        assert_eq!(shell("exit 3", b""), Err("`sh` ended with exit status: 3".to_owned()));
        assert_eq!(shell("sleep 20", b""), Err("`sh` did not end within 0 s".to_owned()));
        assert!(shell("yes | head -c 2000000", b"").unwrap_err().contains("more than 1048576 bytes"));
        let none = run(&["./no-such-file".to_owned()], Path::new("/"), b"", STEP).unwrap_err().to_string();
        assert!(none.starts_with("`./no-such-file` cannot be run: "), "{none}");
        assert!(run(&[], Path::new(""), b"", STEP).is_err());
    }

    #[test]
    fn an_executable_with_a_slash_is_looked_for_from_the_folder() {
        let printed =
            run(&["./sh".to_owned(), "-c".into(), "pwd".into()], Path::new("/bin"), b"", STEP * 500);
        assert!(String::from_utf8(printed.unwrap()).unwrap().trim_end().ends_with("bin"));
    }
}
