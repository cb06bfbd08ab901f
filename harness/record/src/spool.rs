//! The record of a run that goes on: every event is written at once, and those of cases, which are nearly all of its length, are not
//! kept in memory.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    event::Event,
    file::{ReadError, Writer, each},
    order::{Rest, VERDICT, of_case},
};

/// Lines that are put in order in memory; more of them are kept in files.
const IN_MEMORY: usize = 1 << 16;

/// A record that is written to a file as the run goes on, and put in order at its end.
#[derive(Debug)]
pub struct Spool {
    writer: Writer<Counted>,
    /// Where there is room for more files.
    folder: PathBuf,
    /// Lines of cases, as they were written.
    lines: Vec<Line>,
    /// How many of them are put in order in memory.
    in_memory: usize,
    /// Lines that memory is too small for: each file has its own in order.
    sorted: Vec<File>,
    /// Whether something could not be written.
    is_broken: bool,
    /// Events of cases that could not be written.
    unwritten: Vec<Event>,
    rest: Rest,
}

/// Where an event of a case stands. Lines are ordered as their events are in a record that is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Line {
    case: String,
    /// See [`of_case`].
    rank: u64,
    /// In bytes, without the line end.
    start: u64,
    length: u64,
}

impl Spool {
    /// Begins a record in this file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Ok(Self::of(file, folder.unwrap_or(Path::new("."))))
    }

    fn of(file: File, folder: &Path) -> Self {
        Self {
            writer: Writer::new(Counted { out: BufWriter::with_capacity(1 << 16, file), written: 0 }),
            folder: folder.to_owned(),
            lines: Vec::new(),
            in_memory: IN_MEMORY,
            sorted: Vec::new(),
            is_broken: false,
            unwritten: Vec::new(),
            rest: Rest::default(),
        }
    }

    /// A record that was written before, to be told in order. Each of its events is shown as it stands there.
    pub fn open<E: From<ReadError>>(
        path: &Path,
        mut show: impl FnMut(&Event) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut spool = Self::of(File::open(path).map_err(ReadError::Io)?, &std::env::temp_dir());
        let input = BufReader::new(File::open(path).map_err(ReadError::Io)?);
        each(input, |event, place| {
            show(&event)?;
            if let Some((case, rank)) = of_case(&event) {
                let line =
                    Line { case: case.to_owned(), rank, start: place.start, length: place.end - place.start };
                spool.add_line(line).map_err(|error| E::from(ReadError::Io(error)))?;
            } else {
                drop(spool.rest.add(event));
            }
            Ok::<_, E>(())
        })?;
        Ok(spool)
    }

    /// Writes an event. One that cannot be written is kept in memory: the run is to end then, and what it came to is to be said.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        let start = self.writer.get_ref().written;
        let written = self.writer.write(event);
        self.is_broken |= written.is_err();
        let Some((case, rank)) = of_case(event) else {
            drop(self.rest.add(event.clone()));
            return written;
        };
        if self.is_broken {
            self.unwritten.push(event.clone());
            return written;
        }
        let length = (self.writer.get_ref().written - start).saturating_sub(1);
        self.add_line(Line { case: case.to_owned(), rank, start, length })
    }

    fn add_line(&mut self, line: Line) -> io::Result<()> {
        self.lines.push(line);
        if self.lines.len() == self.in_memory { self.put_down() } else { Ok(()) }
    }

    /// Puts the lines that are in memory into a file, in order.
    fn put_down(&mut self) -> io::Result<()> {
        let file = tempfile::tempfile_in(&self.folder)?;
        self.lines.sort_unstable();
        let mut out = BufWriter::with_capacity(1 << 16, &file);
        for line in &self.lines {
            serde_json::to_writer(&mut out, line)?;
        }
        out.flush()?;
        drop(out);
        self.lines.clear();
        self.sorted.push(file);
        Ok(())
    }

    /// All events so far but the exchanges, in the order of a record: as many as there are cases.
    pub fn events(&mut self) -> io::Result<Vec<Event>> {
        self.writer.flush()?;
        let mut file = self.writer.get_ref().out.get_ref();
        self.lines.sort_unstable();
        let (mut events, last) = self.rest.around();
        for line in in_order(&self.lines, &self.sorted)? {
            let line = line?;
            if line.rank == VERDICT {
                events.push(line.read(file)?);
            }
        }
        events.extend_from_slice(last);
        file.seek(SeekFrom::End(0))?;
        Ok(events)
    }

    /// Adds an event that is written only when the record is put in order, before the last one.
    pub fn add(&mut self, event: Event) {
        self.rest.add_before_end(event);
    }

    /// Tells the events of the record in the order in which it is kept ([`crate::settled`]), those of cases from the file. If some could
    /// not be written they come at the end of the cases, and lines that cannot be read again are left out.
    pub fn settle(self, tell: impl FnMut(Event) -> io::Result<()>) -> io::Result<()> {
        let Self { mut writer, mut lines, sorted, is_broken, mut unwritten, rest, .. } = self;
        match writer.flush() {
            Err(error) if !is_broken => return Err(error),
            _ => {}
        }
        // What could not be written must not be tried again where the file is read now.
        let (file, _) = writer.into_inner().out.into_parts();
        lines.sort_unstable();
        unwritten.sort_by(|one, other| of_case(one).cmp(&of_case(other)));
        let cases = in_order(&lines, &sorted)?
            .map(|line| line?.read(&file))
            .filter(|event| !is_broken || event.is_ok())
            .chain(unwritten.into_iter().map(Ok));
        rest.settle(cases, tell)
    }
}

impl Line {
    /// The event.
    fn read(&self, mut file: &File) -> io::Result<Event> {
        let mut line = vec![0; usize::try_from(self.length).unwrap_or_default()];
        file.seek(SeekFrom::Start(self.start))?;
        file.read_exact(&mut line)?;
        let event: Event = serde_json::from_slice(&line)?;
        if of_case(&event) == Some((&self.case, self.rank)) {
            Ok(event)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the record was changed"))
        }
    }
}

type Lines<'a> = Box<dyn Iterator<Item = io::Result<Line>> + 'a>;

/// All lines in order: those in memory and those of each file, which are in order themselves.
fn in_order<'a>(lines: &'a [Line], sorted: &'a [File]) -> io::Result<Lines<'a>> {
    if sorted.is_empty() {
        return Ok(Box::new(lines.iter().cloned().map(Ok)));
    }
    let mut sources: Vec<Lines<'a>> = vec![Box::new(lines.iter().cloned().map(Ok))];
    for mut file in sorted {
        file.rewind()?;
        let lines = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, file));
        sources.push(Box::new(lines.into_iter().map(|line| line.map_err(io::Error::from))));
    }
    let mut next = BinaryHeap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        if let Some(line) = source.next() {
            next.push(Reverse((line?, number)));
        }
    }
    Ok(Box::new(std::iter::from_fn(move || {
        let Reverse((line, number)) = next.pop()?;
        match sources[number].next() {
            Some(Ok(following)) => next.push(Reverse((following, number))),
            Some(Err(error)) => {
                next.clear();
                return Some(Err(error));
            }
            None => {}
        }
        Some(Ok(line))
    })))
}

/// Knows how many bytes were written.
#[derive(Debug)]
struct Counted {
    out: BufWriter<File>,
    written: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.written += u64::try_from(count).unwrap_or_default();
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CaseVerdict, RunFinished, RunStarted, settled};

    fn events() -> Vec<Event> {
        let exchange = |number, case: &str| -> Event {
            let text = format!(
                r#"{{"event":"exchange","number":{number},"case":"{case}","step":"request","micros":1,
                    "request":{{"method":"GET","url":"/ø","headers":[]}}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let verdict = |case: &str, exchange| -> Event {
            let text = format!(
                r#"{{"case":"{case}","clause":"a","area":"b","operation":"c","role":"selected","place":{{"file":"d","line":1,"column":1}},
                    "verdict":"pass","expected":"accepted","checks":1,"exchange":{exchange},"micros":1}}"#
            );
            Event::Verdict(serde_json::from_str::<CaseVerdict>(&text).unwrap())
        };
        vec![
            Event::RunStarted(RunStarted { format: RunStarted::FORMAT, ..RunStarted::default() }),
            exchange(2, "b"),
            exchange(4, "a"),
            verdict("b", 2),
            exchange(3, "a"),
            verdict("a", 4),
            exchange(1, "lost"),
            Event::RunFinished(serde_json::from_str::<RunFinished>(
                r#"{"counts":{"pass":2,"fail":0,"waived":0,"inconclusive":0,"not-applicable":0,"observed":0,"error":0},"exchanges":4,"micros":1,"exit":0}"#,
            ).unwrap()),
        ]
    }

    #[test]
    fn what_was_written_as_it_happened_is_told_in_order() {
        for in_memory in [1, 2, 3, IN_MEMORY] {
            let folder = tempfile::TempDir::new().unwrap();
            let path = folder.path().join("record.jsonl");
            let mut spool = Spool { in_memory, ..Spool::create(&path).unwrap() };
            for event in events() {
                spool.write(&event).unwrap();
            }
            let of_cases = events().iter().filter(|event| of_case(event).is_some()).count();
            assert_eq!(spool.sorted.len(), of_cases / in_memory, "files for what memory is too small for");
            let mut without = events();
            without.retain(|event| !matches!(event, Event::Exchange(_)));
            let verdicts = |events: Vec<Event>| {
                let ids = events.into_iter().map(|event| of_case(&event).map(|(case, _)| case.to_owned()));
                ids.collect::<Vec<_>>()
            };
            assert_eq!(verdicts(spool.events().unwrap()), verdicts(settled(without)));
            assert_eq!(told(spool).unwrap(), settled(events()));
            let unsettled = crate::read(std::fs::read(&path).unwrap().as_slice()).unwrap();
            assert_eq!(unsettled, events(), "the file has them as they happened");
        }
    }

    #[test]
    fn a_record_that_was_written_before_is_told_in_order() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("record.jsonl");
        let mut writer = Writer::new(File::create(&path).unwrap());
        for event in events() {
            writer.write(&event).unwrap();
        }
        let mut shown = Vec::new();
        let open = |shown: &mut Vec<Event>| {
            Spool::open(&path, |event| {
                shown.push(event.clone());
                Ok::<_, ReadError>(())
            })
        };
        assert_eq!(told(open(&mut shown).unwrap()).unwrap(), settled(events()));
        assert_eq!(shown, events());
        std::fs::write(&path, "{}\n").unwrap();
        assert!(matches!(open(&mut shown), Err(ReadError::Line { line: 1, .. })));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_written_is_told_all_the_same() {
        let mut spool = Spool::create(Path::new("/dev/full")).unwrap();
        let written: Vec<bool> = events().iter().map(|event| spool.write(event).is_ok()).collect();
        assert!(!written[0], "the start is flushed");
        let verdicts =
            |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Verdict(_))).count();
        let told = told(spool).unwrap();
        assert_eq!(verdicts(&told), verdicts(&events()));
        assert!(matches!(told.last(), Some(Event::RunFinished(_))));
    }

    fn told(spool: Spool) -> io::Result<Vec<Event>> {
        let mut told = Vec::new();
        spool.settle(|event| {
            told.push(event);
            Ok(())
        })?;
        Ok(told)
    }

    #[test]
    fn a_file_that_was_changed_meanwhile_is_an_error() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("record.jsonl");
        let mut spool = Spool::create(&path).unwrap();
        for event in events() {
            spool.write(&event).unwrap();
        }
        File::options().write(true).truncate(true).open(&path).unwrap();
        assert!(spool.settle(|_| Ok(())).is_err());
    }
}
