//! `xs2aspec report` and `xs2aspec diff`: what a record says, drawn again; and what two records say differently.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter},
    path::Path,
};

use xs2aspec_record::{Changes, Event, Exit, Writer};
use xs2aspec_report::{
    Run as Shown, annotations, diff, files::Report as Drawn, har::Archive, keeper::Keeper, merge as merging,
    terminal,
};

use crate::{
    Failure,
    args::{Diff as DiffArgs, Format, Gate, Merge, Report},
};

/// Draws one format from a record.
pub(crate) fn report(args: &Report) -> Result<Exit, Failure> {
    let events = events(&args.record)?;
    let drawn = draw(&events, args.format)?;
    match &args.out {
        None => say_on!("{}", String::from_utf8_lossy(&drawn)),
        Some(path) => write(path, &drawn)?,
    }
    Ok(Exit::Conforms)
}

/// Makes one record of those of all shards, and its reports.
pub(crate) fn merge(args: &Merge) -> Result<Exit, Failure> {
    let records = args.records.iter().map(|path| events(path)).collect::<Result<Vec<_>, _>>()?;
    let merged = merging::merge(&records).map_err(Failure::input)?;
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::input(format!("{}: cannot be written: {error}", args.out.display())))?;
    let (kept, written) = keep(&args.out, merged);
    say_on!("{}", String::from_utf8_lossy(&draw(&kept, Format::Terminal)?));
    written?;
    say!("reports in {}", args.out.display());
    let run = Shown::of(&kept).map_err(Failure::input)?;
    Ok(run.exit())
}

/// Says what differs.
pub(crate) fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let changes = changes(&args.base, &events(&args.head)?)?;
    say_on!("{}", diff::markdown(&changes));
    let is_red = args.gate == Gate::New && !changes.newly_broken.is_empty();
    Ok(if is_red { Exit::Violation } else { Exit::Conforms })
}

/// What differs between the record of an earlier run and these events.
pub(crate) fn changes(base: &Path, head: &[Event]) -> Result<Changes, Failure> {
    let base = events(base)?;
    let run = |events| Shown::of(events).map_err(Failure::input);
    Ok(diff::of(&run(&base)?, &run(head)?))
}

/// What is left of a record once it is written: the events that every format but the archive of exchanges is drawn from, in which the
/// exchanges of cases that passed are not, and the first thing that could not be written.
pub(crate) type Settled = (Vec<Event>, Result<(), Failure>);

/// Writes a whole record, in place of what stands there, and every report.
pub(crate) fn keep(folder: &Path, events: Vec<Event>) -> Settled {
    settle(folder, |tell| {
        events.into_iter().for_each(tell);
        Ok(())
    })
}

/// Writes the events that are told in their order as the record of this folder, in place of what stands there, and every report.
pub(crate) fn settle(folder: &Path, tell: impl FnOnce(&mut dyn FnMut(Event)) -> io::Result<()>) -> Settled {
    let (part, whole) = (folder.join("record.jsonl.part"), folder.join("record.jsonl"));
    let har = folder.join(Drawn::Har.file());
    let mut keeper = Keeper::default();
    let mut written = files(&part, &har).map(|(record, har)| (Writer::new(record), Some(har), None));
    let told = tell(&mut |event| {
        if let Ok((record, out, archive)) = &mut written {
            let wrote = record.write(&event).map_err(|error| cannot_write(&part, &error));
            let wrote = wrote
                .and_then(|()| archived(&event, out, archive).map_err(|error| cannot_write(&har, &error)));
            if let Err(failure) = wrote {
                written = Err(failure);
            }
        }
        keeper.add(event);
    });
    let events = keeper.finish();
    let done =
        told.map_err(|error| cannot_write(&whole, &error)).and(written).and_then(|(record, _, archive)| {
            record.finish().map_err(|error| cannot_write(&part, &error))?;
            std::fs::rename(&part, &whole).map_err(|error| cannot_write(&whole, &error))?;
            archive.map(Archive::finish).transpose().map_err(|error| cannot_write(&har, &error))?;
            let shown = Shown::of(&events).map_err(Failure::input)?;
            for report in Drawn::ALL.into_iter().filter(|report| *report != Drawn::Har) {
                write(&folder.join(report.file()), &report.draw(&shown, &events))?;
            }
            Ok(())
        });
    (events, done)
}

type Out = BufWriter<File>;

fn files(record: &Path, har: &Path) -> Result<(Out, Out), Failure> {
    let create = |path: &Path| {
        let file = File::create(path).map_err(|error| cannot_write(path, &error));
        file.map(|file| BufWriter::with_capacity(1 << 16, file))
    };
    Ok((create(record)?, create(har)?))
}

/// Puts an event into the archive of exchanges, which begins with the run.
fn archived(event: &Event, out: &mut Option<Out>, archive: &mut Option<Archive<Out>>) -> io::Result<()> {
    if let (Event::RunStarted(start), Some(out)) = (event, out.take()) {
        *archive = Some(Archive::begin(out, start)?);
    }
    match (event, archive) {
        (Event::Exchange(exchange), Some(archive)) => archive.add(exchange),
        _ => Ok(()),
    }
}

/// One format of a record.
pub(crate) fn draw(events: &[Event], format: Format) -> Result<Vec<u8>, Failure> {
    let shown = Shown::of(events).map_err(Failure::input)?;
    Ok(match format {
        Format::Junit => Drawn::Junit.draw(&shown, events),
        Format::Markdown => Drawn::Markdown.draw(&shown, events),
        Format::Html => Drawn::Html.draw(&shown, events),
        Format::Ctrf => Drawn::Ctrf.draw(&shown, events),
        Format::Har => Drawn::Har.draw(&shown, events),
        Format::Github => annotations::github(&shown).into_bytes(),
        Format::Terminal => {
            format!("{}{}", terminal::attention(&shown), terminal::closing(&shown)).into_bytes()
        }
    })
}

/// Writes a file whole.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, content).map_err(|error| cannot_write(path, &error))
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: cannot be written: {error}", path.display()))
}

/// The events of a record, or of the one in a folder.
pub(crate) fn events(path: &Path) -> Result<Vec<Event>, Failure> {
    let path = if path.is_dir() { path.join("record.jsonl") } else { path.to_owned() };
    let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
    let file = File::open(&path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    xs2aspec_record::read(BufReader::new(file)).map_err(|error| wrong(&error))
}
