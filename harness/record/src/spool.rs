//! The record of a run that goes on: every event is written at once, and exchanges, which are nearly all of its length, are not kept in
//! memory.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::{
    event::{Event, Exchange},
    file::Writer,
    order::Rest,
};

/// A record that is written to a file as the run goes on, and put in order at its end.
#[derive(Debug)]
pub struct Spool {
    writer: Writer<Counted>,
    /// Where the exchanges of each case stand: offset and length in bytes.
    exchanges: HashMap<String, Vec<(u64, usize)>>,
    rest: Rest,
}

impl Spool {
    /// Begins a record in this file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        let writer = Writer::new(Counted { out: BufWriter::with_capacity(1 << 16, file), written: 0 });
        Ok(Self { writer, exchanges: HashMap::new(), rest: Rest::default() })
    }

    /// Writes an event.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        let start = self.writer.get_ref().written;
        let written = self.writer.write(event);
        match event {
            Event::Exchange(exchange) => {
                // The line end is no part of it.
                let length = usize::try_from(self.writer.get_ref().written - start).unwrap_or_default();
                let place = (start, length.saturating_sub(1));
                self.rest.has(&exchange.case);
                if let Some(places) = self.exchanges.get_mut(&exchange.case) {
                    places.push(place);
                } else {
                    self.exchanges.insert(exchange.case.clone(), vec![place]);
                }
            }
            other => drop(self.rest.add(other.clone())),
        }
        written
    }

    /// All events so far but the exchanges, in the order of a record.
    pub fn events(&self) -> Vec<Event> {
        self.rest.events()
    }

    /// Adds an event that is written only when the record is put in order, before the last one.
    pub fn add(&mut self, event: Event) {
        self.rest.add_before_end(event);
    }

    /// Tells the events of the record in the order in which it is kept ([`crate::settled`]). Exchanges are read from the file one case
    /// after the other.
    pub fn settle(self, tell: impl FnMut(Event) -> io::Result<()>) -> io::Result<()> {
        let Self { writer, mut exchanges, rest } = self;
        let mut file = writer.finish()?.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut line = Vec::new();
        let of = |case: &str| {
            let places = exchanges.remove(case).unwrap_or_default();
            let mut found = Vec::with_capacity(places.len());
            for (start, length) in places {
                line.resize(length, 0);
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut line)?;
                match serde_json::from_slice(&line)? {
                    Event::Exchange(exchange) => found.push(exchange),
                    _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "the record was changed")),
                }
            }
            Ok::<Vec<Exchange>, io::Error>(found)
        };
        rest.settle(of, tell)
    }
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
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("record.jsonl");
        let mut spool = Spool::create(&path).unwrap();
        for event in events() {
            spool.write(&event).unwrap();
        }
        let without: Vec<Event> =
            settled(events()).into_iter().filter(|event| !matches!(event, Event::Exchange(_))).collect();
        assert_eq!(spool.events().len(), without.len());
        let mut told = Vec::new();
        spool
            .settle(|event| {
                told.push(event);
                Ok(())
            })
            .unwrap();
        assert_eq!(told, settled(events()));
        let unsettled = crate::read(std::fs::read(&path).unwrap().as_slice()).unwrap();
        assert_eq!(unsettled, events(), "the file has them as they happened");
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
