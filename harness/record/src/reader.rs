//! Reads a record. Its events are in order of time, but reports show one case after the other. An index,
//! built in one pass, locates the lines of each case.

use std::{
    collections::{BTreeMap, HashMap, VecDeque, hash_map},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take},
    path::Path,
};

use serde::Deserialize;

use crate::{
    case_events::{CaseEvents, Entry},
    compressed,
    event::Event,
    events::{Events, Lines, Mark, Marked, sound},
    lines::read_line,
    parts::Parts,
    read_error::ReadError,
};

/// Size of the read buffer, in bytes. Most lines fit, and the lines of a case are often close together.
const BUFFER: usize = 1 << 13;

/// A record as entries: the events of the run as a whole, the cases sorted by id, each with its last verdict,
/// then the end. Only one case is in memory at a time.
///
/// All code reads records through this type. It checks each line, and the hash chain at the end of the run.
/// The concatenated records of all shards of a run are read as one run.
#[derive(Debug)]
pub struct RecordReader<'a>(State<Box<dyn Source + 'a>>);

/// A source of the bytes of a record.
pub trait Source: Read + Seek + Send + std::fmt::Debug {}

impl<R: Read + Seek + Send + std::fmt::Debug> Source for R {}

#[derive(Debug)]
enum State<R> {
    /// The record, and the number of bytes to read.
    Unread(R, u64),
    /// The cases are sorted by id, so no index is needed.
    InOrder(Box<InOrder<R>>),
    Indexed(Box<Indexed<R>>),
    Over,
}

impl RecordReader<'static> {
    /// Opens the record in this file, which may be compressed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(compressed::open_record(path)?))
    }
}

impl<'a> RecordReader<'a> {
    /// Reads a record from its start.
    pub fn new(input: impl Source + 'a) -> Self {
        Self::until(input, u64::MAX)
    }

    /// Reads the first `length` bytes of a record, which may grow meanwhile.
    pub fn until(input: impl Source + 'a, length: u64) -> Self {
        Self(State::Unread(Box::new(input), length))
    }

    /// Returns the events in order of time instead of the entries.
    pub fn events(self) -> impl Iterator<Item = Result<Event, ReadError>> + 'a {
        let input = if let State::Unread(input, length) = self.0 { Some((input, length)) } else { None };
        input
            .into_iter()
            .flat_map(|(input, length)| Events::new(BufReader::with_capacity(1 << 16, input).take(length)))
    }

    fn entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            match &mut self.0 {
                State::Unread(..) => self.begin()?,
                State::InOrder(record) => return record.entry(),
                State::Indexed(record) => return record.entry(),
                State::Over => return Ok(None),
            }
        }
    }

    fn begin(&mut self) -> Result<(), ReadError> {
        let State::Unread(mut input, length) = std::mem::replace(&mut self.0, State::Over) else {
            return Ok(());
        };
        let mut index = Index::default();
        let mut pass = |index: Option<&mut Index>| {
            input.rewind()?;
            is_in_order(BufReader::with_capacity(1 << 16, &mut input).take(length), index)
        };
        let is_in_order =
            pass(None).and_then(|is| if is { Ok(true) } else { pass(Some(&mut index)).map(|_| false) });
        input.rewind()?;
        let is_in_order = match is_in_order {
            Ok(is_in_order) => is_in_order,
            // An earlier line may contain a more specific sign of editing.
            Err(error) => {
                let mut events = Events::new(BufReader::new(input).take(length));
                return Err(events.find_map(Result::err).unwrap_or(error));
            }
        };
        self.0 = if is_in_order {
            let events = Events::new(BufReader::with_capacity(1 << 16, input).take(length));
            State::InOrder(Box::new(InOrder { events, open: None, ready: VecDeque::new() }))
        } else {
            State::Indexed(Box::new(Indexed::new(input, index)?))
        };
        Ok(())
    }
}

/// Stops after the first error.
impl Iterator for RecordReader<'_> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.entry();
        if next.is_err() {
            self.0 = State::Over;
        }
        next.transpose()
    }
}

/// The part of a line that the index needs.
#[derive(Debug, Deserialize)]
struct Head {
    event: String,
    case: Option<String>,
    format: Option<u32>,
    shard: Option<String>,
    chain: Option<String>,
}

impl Marked for Head {
    fn parse(line: &[u8]) -> serde_json::Result<Self> {
        let mut head: Self = serde_json::from_slice(line)?;
        // Other events name a case but do not belong to it.
        head.case.take_if(|_| !matches!(head.event.as_str(), "sending" | "exchange" | "verdict"));
        Ok(head)
    }

    fn mark(&self) -> Mark<'_> {
        match self.event.as_str() {
            "run-started" => {
                Mark::Started { format: self.format.unwrap_or_default(), is_shard: self.shard.is_some() }
            }
            "resumed" => Mark::Resumed,
            "run-finished" => Mark::Finished(self.chain.as_deref()),
            _ => Mark::Other,
        }
    }
}

/// The location of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Offset of its first byte.
    start: u64,
    /// Line number, from 1.
    line: u32,
    /// Position of its case.
    case: u32,
}

/// The locations of the lines of a record.
#[derive(Debug, Default)]
struct Index {
    /// The start of each part.
    starts: Vec<Place>,
    run: Vec<Place>,
    cases: Vec<Place>,
    end: Vec<Place>,
    ids: HashMap<String, u32>,
}

impl Index {
    fn add(&mut self, head: Head, start: u64, line: u32) {
        let place = Place { start, line, case: 0 };
        match (head.case, head.event.as_str()) {
            // This event describes the request, not the verdict.
            (Some(_), "sending") => {}
            (Some(id), _) => {
                let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
                let case = match self.ids.entry(id) {
                    hash_map::Entry::Occupied(known) => *known.get(),
                    hash_map::Entry::Vacant(new) => *new.insert(next),
                };
                self.cases.push(Place { case, ..place });
            }
            (None, "asked-alone" | "refused-since" | "answer-checks" | "changes" | "run-finished") => {
                self.end.push(place);
            }
            (None, event) => {
                if event == "run-started" {
                    self.starts.push(place);
                }
                if event == "resumed" {
                    // Resuming discards the end that was written before.
                    let start = self.starts.last().map_or(0, |start| start.line);
                    self.end.retain(|end| end.line < start);
                }
                self.run.push(place);
            }
        }
    }

    /// Returns the locations of all cases, sorted by id.
    fn sorted(mut cases: Vec<Place>, ids: HashMap<String, u32>) -> VecDeque<Place> {
        let mut ids: Vec<(String, u32)> = ids.into_iter().collect();
        ids.sort_unstable();
        let mut ranks = vec![0; ids.len()];
        for (rank, (_, case)) in (0..).zip(&ids) {
            ranks[*case as usize] = rank;
        }
        for place in &mut cases {
            place.case = ranks[place.case as usize];
        }
        cases.sort_unstable_by_key(|place| (place.case, place.line));
        cases.into()
    }
}

/// Reads a record once. Adds each line to the index, if there is one. Without an index, returns false if the
/// cases are not sorted by id with their lines together. Also returns false where the run was resumed or
/// another part starts.
fn is_in_order(input: impl BufRead, mut index: Option<&mut Index>) -> Result<bool, ReadError> {
    let mut lines = Lines::new(input);
    let (mut start, mut last, mut is_open) = (0, String::new(), false);
    while let Some(head) = lines.next::<Head>()? {
        let line = u32::try_from(lines.number()).unwrap_or(u32::MAX);
        if let Some(index) = &mut index {
            index.add(head, start, line);
        } else if let Some(case) = head.case {
            if case < last || case == last && !is_open {
                return Ok(false);
            }
            (last, is_open) = (case, true);
        } else if line > 1 && matches!(head.mark(), Mark::Resumed | Mark::Started { .. }) {
            return Ok(false);
        } else {
            is_open = false;
        }
        start += lines.length() as u64;
    }
    Ok(true)
}

/// A record whose cases are sorted by id.
#[derive(Debug)]
struct InOrder<R> {
    events: Events<Take<BufReader<R>>>,
    open: Option<CaseEvents>,
    ready: VecDeque<Entry>,
}

impl<R: Read> InOrder<R> {
    fn entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            let Some(event) = self.events.next().transpose()? else {
                return Ok(self.open.take().map(Entry::Case));
            };
            if matches!(event, Event::Sending(_)) {
                continue;
            }
            let Some(case) = event.case().map(str::to_owned) else {
                self.ready.extend(self.open.take().map(Entry::Case));
                self.ready.push_back(Entry::Run(event));
                continue;
            };
            if self.open.as_ref().is_some_and(|open| open.case != case) {
                self.ready.extend(self.open.take().map(Entry::Case));
            }
            self.open.get_or_insert_with(|| CaseEvents::of(case)).add(event);
        }
    }
}

/// A record in order of time, with its index.
#[derive(Debug)]
struct Indexed<R> {
    input: BufReader<R>,
    /// The position in the input.
    at: u64,
    line: Vec<u8>,
    starts: Vec<Place>,
    run: VecDeque<Place>,
    cases: VecDeque<Place>,
    end: VecDeque<Event>,
    /// Combines several parts.
    parts: Option<Box<Parts>>,
}

impl<R: Read + Seek> Indexed<R> {
    fn new(input: R, index: Index) -> Result<Self, ReadError> {
        let Index { starts, run, cases, end, ids } = index;
        let mut record = Self {
            input: BufReader::with_capacity(BUFFER, input),
            at: 0,
            line: Vec::new(),
            starts,
            run: run.into(),
            cases: Index::sorted(cases, ids),
            end: VecDeque::new(),
            parts: None,
        };
        let ends = end.into_iter().map(|place| record.event(place)).collect::<Result<Vec<_>, _>>()?;
        if record.starts.len() == 1 {
            record.end = ends.into();
            return Ok(record);
        }
        let mut starts = Vec::new();
        for place in record.starts.clone() {
            if let Event::RunStarted(start) = record.event(place)? {
                starts.push(start);
            }
        }
        record.parts = Some(Box::new(Parts::new(&starts, ends)?));
        Ok(record)
    }

    fn entry(&mut self) -> Result<Option<Entry>, ReadError> {
        while let Some(place) = self.run.pop_front() {
            let event = self.event(place)?;
            let event = match &mut self.parts {
                Some(parts) => parts.introduce(event, &self.line)?,
                None => Some(event),
            };
            if let Some(event) = event {
                return Ok(Some(Entry::Run(event)));
            }
        }
        let Some(first) = self.cases.front().copied() else {
            self.end.extend(self.parts.take().into_iter().flat_map(|parts| parts.end()));
            return Ok(self.end.pop_front().map(Entry::Run));
        };
        let mut runs = BTreeMap::new();
        while let Some(place) = self.cases.front().copied().filter(|place| place.case == first.case) {
            self.cases.pop_front();
            let event = self.event(place)?;
            let part = self.starts.partition_point(|start| start.line < place.line) - 1;
            let case = || CaseEvents::of(event.case().unwrap_or_default().to_owned());
            runs.entry(part).or_insert_with(case).add(event);
        }
        let case = match &mut self.parts {
            Some(parts) => parts.case(runs)?,
            None => runs.into_values().next(),
        };
        Ok(case.map(Entry::Case))
    }

    fn event(&mut self, place: Place) -> Result<Event, ReadError> {
        match i64::try_from(i128::from(place.start) - i128::from(self.at)) {
            Ok(offset) => self.input.seek_relative(offset)?,
            Err(_) => drop(self.input.seek(SeekFrom::Start(place.start))?),
        }
        read_line(&mut self.input, &mut self.line)?;
        self.at = place.start + self.line.len() as u64;
        let line = place.line as usize;
        let event = Event::parse(&self.line).map_err(|source| ReadError::Line { line, source })?;
        sound(event, line)
    }
}

/// Returns the events of a record in order of time. Stops after the first error.
pub fn events(input: impl BufRead) -> impl Iterator<Item = Result<Event, ReadError>> {
    Events::new(input)
}

/// Reads a whole record in order of time. Meant for small records.
pub fn read(input: impl BufRead) -> Result<Vec<Event>, ReadError> {
    events(input).collect()
}

#[cfg(test)]
mod tests;
