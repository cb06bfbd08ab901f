//! Standard output of all commands. Lost output is reported once, at the end.

use std::{
    fmt,
    io::{self, Write as _},
    sync::OnceLock,
};

use anstyle::{AnsiColor, Style};
use xs2aspec_record::Exit;
use xs2aspec_report::text;

use crate::Failure;

/// The first error that lost output.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// The first words of headings, with their color.
const HEADINGS: [(&str, AnsiColor); 10] = [
    ("deny  ", AnsiColor::Red),
    ("FAIL  ", AnsiColor::Red),
    ("does not conform", AnsiColor::Red),
    ("warn  ", AnsiColor::Yellow),
    ("FLAKY  ", AnsiColor::Yellow),
    ("INCONCLUSIVE  ", AnsiColor::Yellow),
    ("WAIVER  ", AnsiColor::Red),
    ("incomplete", AnsiColor::Yellow),
    ("nothing ran", AnsiColor::Yellow),
    ("conforms", AnsiColor::Green),
];

/// Writes to standard output. Escapes control characters, so that values of a record, a bank or a certificate
/// cannot move the cursor or change the writing direction.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    written(io::stdout().write_all(text::visible(&text.to_string()).as_bytes()));
}

/// Writes a report to standard output, in color on a terminal that has it. A line that is not indented is a
/// heading, and its first words decide its color.
pub(crate) fn print_report(report: &str) {
    let mut out = anstream::AutoStream::auto(io::stdout()).lock();
    for line in text::visible(report).split_inclusive('\n') {
        let heading = HEADINGS.iter().find(|(words, _)| line.starts_with(words));
        let style = heading.map_or(Style::new(), |(_, color)| color.on_default().bold());
        written(write!(out, "{style}{}{style:#}", line.trim_end_matches('\n')));
        if line.ends_with('\n') {
            written(writeln!(out));
        }
    }
}

/// Writes to standard error. Ignores failures, since no caller depends on it.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    drop(io::stderr().write_all(text::visible(&text.to_string()).as_bytes()));
}

/// Keeps the error of a write. A reader that closes the pipe early (`| head`) is not an error.
pub(crate) fn written(result: io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        _ = LOST.set(error);
    }
}

/// Flushes the output. Returns the result of the command, or a failure if some of its output was lost.
pub(crate) fn finish(done: Result<Exit, Failure>) -> Result<Exit, Failure> {
    written(io::stdout().flush());
    match (done, LOST.get()) {
        (Ok(exit), Some(error)) => Err(Failure::input(format!(
            "cannot write to standard output: {error}; otherwise the exit code would be {}",
            exit.code()
        ))),
        (done, _) => done,
    }
}
