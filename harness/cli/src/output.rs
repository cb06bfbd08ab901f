//! Standard output, as every command writes it. Output that is lost is told at the end, once.

use std::{
    fmt,
    io::{self, Write as _},
    sync::OnceLock,
};

use xs2aspec_record::Exit;
use xs2aspec_report::text;

use crate::Failure;

/// Why output was lost first.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes to standard output. What a record, a bank or a certificate says cannot move the cursor or turn the
/// direction of writing.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    written(io::stdout().write_all(text::visible(&text.to_string()).as_bytes()));
}

/// Writes to standard error. Nothing depends on it, so it may fail.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    drop(io::stderr().write_all(text::visible(&text.to_string()).as_bytes()));
}

/// Keeps the error of a write. A reader that has seen enough (`| head`) is none.
pub(crate) fn written(result: io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        _ = LOST.set(error);
    }
}

/// Writes what is left. Returns what the command returned, or a failure if some of its output was lost.
pub(crate) fn finish(done: Result<Exit, Failure>) -> Result<Exit, Failure> {
    written(io::stdout().flush());
    match (done, LOST.get()) {
        (Ok(exit), Some(error)) => Err(Failure::input(format!(
            "standard output: cannot be written: {error}; without that the exit code is {}",
            exit.code()
        ))),
        (done, _) => done,
    }
}
