//! `xs2aspec report` and `xs2aspec diff`: what a record says, drawn again; and what two records say differently.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use xs2aspec_record::{
    Changes, Event, Exit, Spool,
    outputs::{self, Output, RECORD},
};
use xs2aspec_report::{
    Run as Shown,
    compare::{
        diff,
        merge::{self as merging, MergeError},
    },
    format::{Report as Drawn, annotations::Github, terminal::Terminal},
    reporter::Reporter as _,
    reports::{self, ReportsError},
};

use crate::{
    Failure,
    args::{Diff as DiffArgs, Format, Gate, Merge, Report},
};

/// Draws one format from a record.
pub(crate) fn report(args: &Report) -> Result<Exit, Failure> {
    let path = record(&args.record);
    let opened = reports::open(&path).map_err(|error| wrong(&path, &error))?;
    let Some(out) = &args.out else {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let drawn = draw(opened, args.format, &mut stdout);
        return match drawn.and_then(|()| stdout.flush().map_err(ReportsError::Draw)) {
            Ok(()) => Ok(Exit::Conforms),
            // Whoever reads may stop reading.
            Err(ReportsError::Draw(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Conforms),
            Err(ReportsError::Draw(error)) => Err(cannot_write(Path::new("the output"), &error)),
            Err(error) => Err(wrong(&path, &error)),
        };
    };
    outputs::may_write(out, &[&path]).map_err(Failure::input)?;
    let mut file = Output::create(out).map_err(|error| cannot_write(out, &error))?;
    draw(opened, args.format, &mut file).map_err(|error| match error {
        ReportsError::Draw(error) => cannot_write(out, &error),
        error => wrong(&path, &error),
    })?;
    file.finish().map_err(|error| cannot_write(out, &error))?;
    Ok(Exit::Conforms)
}

/// Draws one format of a record.
fn draw(record: Spool, format: Format, out: &mut dyn Write) -> Result<(), ReportsError> {
    let drawn = match format {
        Format::Junit => Drawn::Junit,
        Format::Markdown => Drawn::Markdown,
        Format::Html => Drawn::Html,
        Format::Ctrf => Drawn::Ctrf,
        Format::Har => Drawn::Har,
        Format::Github => return reports::draw(record, &mut Github::default(), out),
        Format::Terminal => return reports::draw(record, &mut Terminal::default(), out),
    };
    match drawn.reporter(Some(&std::env::temp_dir())) {
        Some(mut sheet) => reports::draw(record, sheet.as_mut(), out),
        None => reports::archive(record, out),
    }
}

/// Makes one record of those of all shards, and its reports.
pub(crate) fn merge(args: &Merge) -> Result<Exit, Failure> {
    let records = args.records.iter().map(|path| events(path)).collect::<Result<Vec<_>, _>>()?;
    let paths: Vec<PathBuf> = args.records.iter().map(|path| record(path)).collect();
    let reads: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    outputs::may_write_run(&args.out, &names(), &reads).map_err(Failure::input)?;
    let merged = merging::merge(&records).map_err(|error| match error {
        MergeError::NoShard { number } => {
            let path = args.records.get(number.saturating_sub(1)).map(|path| path.display().to_string());
            Failure::input(format!("{}: {error}", path.unwrap_or_default()))
        }
        error => Failure::input(error),
    })?;
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::input(format!("{}: cannot be written: {error}", args.out.display())))?;
    let mut terminal = Terminal::default();
    let (head, written) = reports::write(&args.out, &mut [&mut terminal], |tell| {
        merged.into_iter().for_each(tell);
        Ok(())
    });
    if let Ok(head) = &head {
        say_on!("{}", String::from_utf8_lossy(&terminal.render(head)));
    }
    let exit = head.map_err(Failure::input)?.exit();
    written.map_err(|unwritten| {
        let came_to = format!("the run itself came to exit {}", exit.code());
        Failure::input(format!("{unwritten}\n{came_to}; its other files are in {}", args.out.display()))
    })?;
    say!("reports in {}", args.out.display());
    Ok(exit)
}

/// Says what differs.
pub(crate) fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let changes = changes(&events(&args.base)?, &events(&args.head)?)?;
    say_on!("{}", diff::markdown(&changes));
    let is_red = args.gate == Gate::New && !changes.newly_broken.is_empty();
    Ok(if is_red { Exit::Violation } else { Exit::Conforms })
}

/// What differs between the events of an earlier run and these.
pub(crate) fn changes(base: &[Event], head: &[Event]) -> Result<Changes, Failure> {
    let run = |events| Shown::of(events).map_err(Failure::input);
    Ok(diff::of(&run(base)?, &run(head)?))
}

/// Writes a file whole, if it is none of those that the command reads, and nothing that cannot be made again.
pub(crate) fn write(path: &Path, reads: &[&Path], content: &[u8]) -> Result<(), Failure> {
    outputs::may_write(path, reads).map_err(Failure::input)?;
    outputs::write(path, content).map_err(|error| cannot_write(path, &error))
}

/// The names of the reports beside a record.
pub(crate) fn names() -> [&'static str; Drawn::ALL.len()] {
    Drawn::ALL.map(Drawn::file)
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: cannot be written: {error}", path.display()))
}

/// The events of a record, or of the one in a folder.
pub(crate) fn events(path: &Path) -> Result<Vec<Event>, Failure> {
    let path = record(path);
    let file = File::open(&path).map_err(|error| wrong(&path, &format!("cannot be read: {error}")))?;
    xs2aspec_record::read(BufReader::new(file)).map_err(|error| wrong(&path, &error))
}

/// What an earlier run is compared by: its events without its exchanges, which are nearly all of its length.
pub(crate) fn verdicts(path: &Path) -> Result<Vec<Event>, Failure> {
    let mut events = events(path)?;
    events.retain(|event| !matches!(event, Event::Exchange(_)));
    Shown::of(&events).map_err(|error| wrong(path, &error))?;
    Ok(events)
}

/// The file of a record, or of the one in a folder.
fn record(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(RECORD) } else { path.to_owned() }
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}
