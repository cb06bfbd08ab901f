//! `xs2aspec report`, `merge` and `diff`: render one record, and combine or compare several.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::Command,
};

use xs2aspec_record::{
    Exit, RecordReader, RunFolder, compressed,
    outputs::{self, Output, RECORD},
    run_folder::{Doubt, Files},
};
use xs2aspec_report::{
    compare::{
        diff::{self, DiffError},
        gate,
    },
    format::{
        Report as FileFormat,
        annotations::Github,
        markdown::LARGEST,
        terminal::{Scope, Terminal},
    },
    locate::Locator,
    merge::{self, MergeError},
    reporter::Reporter,
    stream::{self, ReportsError},
    summary::RunSummary,
};

use crate::{
    Failure,
    args::{Denied, Diff as DiffArgs, Format, Gate, Merge, Report},
    locate, output,
};

/// Renders one format from a record.
pub(crate) fn report(args: &Report) -> Result<Exit, Failure> {
    let path = record(&args.record);
    let locator = args.locate.as_deref().map(locate::read).transpose()?;
    let draw = |format, out: &mut dyn Write| draw(&path, format, locator.as_ref(), out);
    let beside = path.with_file_name(FileFormat::Html.file());
    let out = args.out.as_ref().or_else(|| args.open.then_some(&beside));
    let format = args.format.unwrap_or(Format::Html);
    let Some(out) = out else {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let drawn = draw(format, &mut stdout);
        return match drawn.and_then(|()| stdout.flush().map_err(ReportsError::Draw)) {
            Ok(()) => Ok(Exit::Conforms),
            // A reader may close the pipe early.
            Err(ReportsError::Draw(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Conforms),
            Err(ReportsError::Draw(error)) => Err(cannot_write(Path::new("to standard output"), &error)),
            Err(error) => Err(wrong(&path, &error)),
        };
    };
    outputs::may_write(out, &[&path]).map_err(Failure::input)?;
    open(&path)?;
    let mut file = Output::create(out).map_err(|error| cannot_write(out, &error))?;
    draw(format, &mut file).map_err(|error| match error {
        ReportsError::Draw(error) => cannot_write(out, &error),
        error => wrong(&path, &error),
    })?;
    file.finish().map_err(|error| cannot_write(out, &error))?;
    if args.open { show(out) } else { Ok(Exit::Conforms) }
}

/// Opens a page in the browser that `BROWSER` names, or in the default one.
fn show(page: &Path) -> Result<Exit, Failure> {
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let program = std::env::var_os("BROWSER").unwrap_or_else(|| usual.into());
    let page = std::path::absolute(page).map_err(Failure::input)?;
    Command::new(&program).arg(&page).spawn().map_err(|error| {
        let (program, page) = (program.display(), page.display());
        Failure::input(format!(
            "cannot start {program}: {error}; open {page} yourself, or set BROWSER to another program"
        ))
    })?;
    say!("{}", page.display());
    Ok(Exit::Conforms)
}

/// Renders one format of a record. A locator replaces the recorded places of findings.
fn draw(
    path: &Path,
    format: Format,
    locator: Option<&Locator>,
    out: &mut dyn Write,
) -> Result<(), ReportsError> {
    let open = || RecordReader::open(path).map_err(|error| ReportsError::Record(error.into()));
    let mut summary = stream::summary(open()?)?;
    if let Some(locator) = locator {
        summary.set_places(locator.places(&summary));
    }
    match (file_of(format), format) {
        (Some(report), _) => stream::report(open()?, &summary, (report, Some(&std::env::temp_dir())), out),
        (None, Format::Github) => stream::draw(open()?, &summary, &mut Github::default(), out),
        (None, _) => stream::draw(
            open()?,
            &summary,
            &mut Terminal::new(Scope { is_verbose: true, folder: folder_of(path), ends_later: false }),
            out,
        ),
    }
}

/// Returns the folder of a record, for the commands that read its findings.
fn folder_of(record: &Path) -> Option<String> {
    record.parent().map(|folder| folder.display().to_string())
}

/// Returns the report that a run writes to a file for this format. Returns None for a format that it prints.
pub(crate) fn file_of(format: Format) -> Option<FileFormat> {
    Some(match format {
        Format::Junit => FileFormat::Junit,
        Format::Markdown => FileFormat::Markdown,
        Format::Html => FileFormat::Html,
        Format::Ctrf => FileFormat::Ctrf,
        Format::Har => FileFormat::Har,
        Format::Sarif => FileFormat::Sarif,
        Format::Gitlab => FileFormat::Gitlab,
        Format::Github | Format::Terminal => return None,
    })
}

/// Merges the records of all shards into one, and writes its reports.
pub(crate) fn merge(args: &Merge) -> Result<Exit, Failure> {
    let paths: Vec<PathBuf> = args.records.iter().map(|path| record(path)).collect();
    paths.iter().try_for_each(|path| open(path).map(drop))?;
    let reads: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let claimed = claim(&args.out, &reads)?;
    let whole = args.out.join(RECORD);
    let unwritable = |error: io::Error| cannot_write(&whole, &error);
    let mut output = Output::create(&whole).map_err(unwritable)?;
    let summary = merge::merge(&paths, &mut output).map_err(|error| match error {
        MergeError::NoShard { number } | MergeError::Record { number, .. } => {
            let path = args.records.get(number.saturating_sub(1)).map(|path| path.display().to_string());
            Failure::input(format!("{}: {error}", path.unwrap_or_default()))
        }
        MergeError::Write(error) => unwritable(error),
        error => Failure::input(error),
    })?;
    output.finish().map_err(unwritable)?;
    let folder = Some(args.out.display().to_string());
    let mut terminal = Terminal::new(Scope { folder, ..Scope::default() });
    let errors = stream::write(&args.out, &summary, &FileFormat::USUAL, &mut [&mut terminal]);
    claimed.end().map_err(|error| cannot_write(&args.out, &error))?;
    say_reporter(&mut terminal, &summary);
    let exit = summary.exit();
    if !errors.is_empty() {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(unwritten(&errors, exit.code(), &args.out));
    }
    say!("reports in {}", args.out.display());
    Ok(exit)
}

/// Returns the failure for files that could not be written, with the exit code of the run itself.
pub(crate) fn unwritten(errors: &[String], exit: u8, out: &Path) -> Failure {
    let rest =
        format!("the run itself ended with exit code {exit}; its other files are in {}", out.display());
    Failure::input(format!("{}\n{rest}", errors.join("\n")))
}

/// Prints the final output of a reporter.
pub(crate) fn say_reporter(reporter: &mut dyn Reporter, summary: &RunSummary) {
    let mut said = Vec::new();
    // Writing to memory does not fail.
    drop(reporter.finish(summary, &mut said));
    output::print_report(&String::from_utf8_lossy(&said));
}

/// Prints the differences between two runs.
pub(crate) fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let (base, head) = (record(&args.base), record(&args.head));
    let changes = diff::diff(open(&base)?, open(&head)?).map_err(|error| match error {
        DiffError::Base(error) => wrong(&base, &error),
        DiffError::Head(error) => wrong(&head, &error),
    })?;
    say_on!("{}", diff::markdown(&changes, diff::Part::All, LARGEST));
    if args.gate == Gate::None {
        return Ok(Exit::Conforms);
    }
    let (before, after) = (summary(&base)?, summary(&head)?);
    let gate::Outcome { exit, says } =
        gate::outcome(&before, &after, &changes, args.deny == Some(Denied::Warnings));
    // A comparison fails for what is new, and not for what the later run could not judge, such as a quota
    // that is used up. Standard output is Markdown, for a comment.
    let is_red = exit == Exit::Violation;
    if is_red || exit == Exit::Conforms {
        note!("{says}");
    }
    Ok(if is_red { exit } else { Exit::Conforms })
}

/// Writes a whole file. Fails if the command reads that file, or if the file cannot be recreated, such as a
/// key.
pub(crate) fn write(path: &Path, reads: &[&Path], content: &[u8]) -> Result<(), Failure> {
    outputs::may_write(path, reads).map_err(Failure::input)?;
    outputs::write(path, content).map_err(|error| cannot_write(path, &error))
}

/// Writes a file like [`write()`] in a folder of the command line, without following links out of it.
pub(crate) fn write_in(path: &Path, content: &[u8]) -> Result<(), Failure> {
    outputs::may_write(path, &[]).map_err(Failure::input)?;
    outputs::write_in_folder(path, content).map_err(|error| cannot_write(path, &error))
}

/// Returns the file names of the reports next to a record.
pub(crate) fn names() -> [&'static str; FileFormat::ALL.len()] {
    FileFormat::ALL.map(FileFormat::file)
}

/// Claims a folder for this command, if it may write a run there.
pub(crate) fn claim(folder: &Path, reads: &[&Path]) -> Result<RunFolder, Failure> {
    RunFolder::begin(folder, Files { reports: &names(), reads }, Doubt::Fail).map_err(Failure::input)
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot write {}: {error}", path.display()))
}

/// Opens the record in this file.
pub(crate) fn open(path: &Path) -> Result<RecordReader<'static>, Failure> {
    RecordReader::open(path).map_err(|error| wrong(path, &format!("cannot read the record: {error}")))
}

/// Returns the summary of a record, or of the one in a folder.
pub(crate) fn summary(path: &Path) -> Result<RunSummary, Failure> {
    let path = record(path);
    stream::summary(open(&path)?).map_err(|error| wrong(&path, &error))
}

/// Returns the path of a record, or of the one in a folder. Follows `latest`.
pub(crate) fn record(path: &Path) -> PathBuf {
    compressed::record_of(path)
}

pub(crate) fn wrong(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}
