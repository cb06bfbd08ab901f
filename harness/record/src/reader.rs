//! Reading a record.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use crate::{
    case_events::{Entry, Grouping},
    chain::HashChain,
    event::{Event, RunFinished, RunStarted},
    lines::{NextLine, read_line},
    read_error::ReadError,
};

/// A record, entry by entry: one case is in memory at a time. A last line without its line end is the mark of
/// a killed run and is left out.
///
/// Every reader of a record reads it through this one, which checks each line, and the hash chain where the
/// record ends.
#[derive(Debug)]
pub struct RecordReader<R> {
    input: R,
    line: Vec<u8>,
    /// Lines so far.
    number: usize,
    is_over: bool,
    grouping: Grouping,
    format: u32,
    chain: HashChain,
    is_finished: bool,
}

impl RecordReader<BufReader<File>> {
    /// The record in this file.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
    }
}

impl<R: BufRead> RecordReader<R> {
    /// A record that is read from here.
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            is_over: false,
            grouping: Grouping::default(),
            format: 0,
            chain: HashChain::default(),
            is_finished: false,
        }
    }

    /// The events one by one, in whatever order they stand. Ends after the first error.
    pub fn events(mut self) -> impl Iterator<Item = Result<Event, ReadError>> {
        std::iter::from_fn(move || {
            let event = self.event();
            self.is_over |= event.is_err();
            event.transpose()
        })
    }

    /// The next event.
    fn event(&mut self) -> Result<Option<Event>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let read = read_line(&mut self.input, &mut self.line)?;
        if read == NextLine::End {
            self.is_over = true;
            return if self.number == 0 { Err(ReadError::NoStart) } else { Ok(None) };
        }
        self.number += 1;
        let line = self.number;
        if self.is_finished {
            return Err(ReadError::AfterEnd { line });
        }
        if read == NextLine::TooLong {
            return Err(ReadError::Long { line });
        }
        let event = match serde_json::from_slice::<Event>(&self.line) {
            Ok(event) => event,
            Err(_) if !self.line.ends_with(b"\n") => {
                self.is_over = true;
                return if line == 1 { Err(ReadError::NoStart) } else { Ok(None) };
            }
            Err(source) => return Err(ReadError::Line { line, source }),
        };
        self.check(&event)?;
        self.chain.add(&self.line);
        Ok(Some(event))
    }

    /// Checks the event of this line, before the chain has the line.
    fn check(&mut self, event: &Event) -> Result<(), ReadError> {
        let line = self.number;
        match event {
            Event::RunStarted(start) if line == 1 => {
                self.format = start.format;
                if !(RunStarted::OLDEST..=RunStarted::FORMAT).contains(&start.format) {
                    return Err(ReadError::Format { found: start.format });
                }
            }
            _ if line == 1 => return Err(ReadError::NoStart),
            Event::RunStarted(_) => return Err(ReadError::StartedTwice { line }),
            Event::Verdict(verdict) => {
                if let Some(what) = verdict.contradiction() {
                    return Err(ReadError::Contradiction { line, what });
                }
            }
            Event::RunFinished(finished) => {
                self.is_finished = true;
                return self.check_chain(finished);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the hash chain, where the record ends.
    fn check_chain(&self, finished: &RunFinished) -> Result<(), ReadError> {
        let (line, format) = (self.number, self.format);
        let holds = match &finished.chain {
            None if format < RunStarted::CHAINED => true,
            None => return Err(ReadError::NoChain { line, format }),
            Some(_) if format >= RunStarted::SEALED => self.chain.is_sealed(&self.line),
            Some(link) => link == self.chain.link(),
        };
        if holds { Ok(()) } else { Err(ReadError::Chain { line }) }
    }

    /// The next entry.
    fn entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            if let Some(entry) = self.grouping.pop() {
                return Ok(Some(entry));
            }
            let Some(event) = self.event()? else {
                self.grouping.close();
                return Ok(self.grouping.pop());
            };
            let line = self.number;
            self.grouping.push(event).map_err(|source| ReadError::Order { line, source })?;
        }
    }
}

/// Ends after the first error.
impl<R: BufRead> Iterator for RecordReader<R> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.entry();
        if next.is_err() {
            self.is_over = true;
            self.grouping = Grouping::default();
        }
        next.transpose()
    }
}

/// Reads a whole record, for what is known to be small.
pub fn read(input: impl BufRead) -> Result<Vec<Event>, ReadError> {
    RecordReader::new(input).events().collect()
}

#[cfg(test)]
mod tests;
