//! The record of a command that is no plain run, and the reports drawn from it. Its cases come in no order,
//! and stand in that of their ids: they wait in a file until all of them are there.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _},
    ops::Range,
    path::Path,
};

use xs2aspec_record::{
    CaseVerdict, Event, Exchange, RecordWriter, RunFolder, outputs,
    run_folder::{Doubt, Files},
};
use xs2aspec_report::stream::{self, Live};

use crate::{
    Failure,
    report::{cannot_write, names},
};

/// Makes a folder this command's, if the command may write a run there.
pub(crate) fn claim(folder: &Path, reads: &[&Path]) -> Result<RunFolder, Failure> {
    RunFolder::begin(folder, Files { reports: &names(), reads }, Doubt::Fail).map_err(Failure::input)
}

/// A record whose events come as they happen.
pub(crate) struct Recording<'a> {
    folder: &'a Path,
    claimed: RunFolder,
    /// What is said of the run as a whole, before its cases and after them.
    before: Vec<Event>,
    after: Vec<Event>,
    /// The events of cases, as JSON, and how long they are.
    waiting: BufWriter<fs::File>,
    length: u64,
    /// Where those of each case are.
    cases: BTreeMap<String, Vec<Range<u64>>>,
    broken: Option<io::Error>,
}

impl<'a> Recording<'a> {
    /// Begins the record of a folder, if the command may write there.
    pub(crate) fn create(folder: &'a Path, reads: &[&Path]) -> Result<Self, Failure> {
        let claimed = claim(folder, reads)?;
        let wrong = |error: io::Error| cannot_write(folder, &error);
        Ok(Self {
            folder,
            claimed,
            before: vec![],
            after: vec![],
            waiting: BufWriter::new(tempfile::tempfile_in(folder).map_err(wrong)?),
            length: 0,
            cases: BTreeMap::new(),
            broken: None,
        })
    }

    /// Takes the next event. What cannot be kept is told at the end.
    pub(crate) fn write(&mut self, event: &Event) {
        let case = match event {
            Event::RunStarted(_)
            | Event::Profile(_)
            | Event::Document(_)
            | Event::Clause(_)
            | Event::Source(_) => {
                return self.before.push(event.clone());
            }
            Event::Resumed(_)
            | Event::OrderOfTime(_)
            | Event::AnswerChecks(_)
            | Event::Changes(_)
            | Event::RunFinished(_) => {
                return self.after.push(event.clone());
            }
            Event::Exchange(exchange) => &exchange.case,
            Event::Verdict(verdict) => &verdict.case,
        };
        if let Err(error) = self.wait(case, event) {
            self.broken.get_or_insert(error);
        }
    }

    fn wait(&mut self, case: &str, event: &Event) -> io::Result<()> {
        let line = serde_json::to_vec(event)?;
        self.waiting.write_all(&line)?;
        let start = self.length;
        self.length += line.len() as u64;
        self.cases.entry(case.to_owned()).or_default().push(start..self.length);
        Ok(())
    }

    /// Writes the record, and the reports beside it.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let wrong = |error: io::Error| cannot_write(self.folder, &error);
        self.broken.map_or(Ok(()), Err).map_err(wrong)?;
        let mut waiting = self.waiting.into_inner().map_err(|error| wrong(error.into_error()))?;
        let mut record = Writing::create(&self.folder.join(outputs::RECORD)).map_err(wrong)?;
        let write = || {
            self.before.into_iter().try_for_each(|event| record.add(event))?;
            let mut last = 0;
            for places in self.cases.values() {
                let (exchanges, verdict) = numbered(read(&mut waiting, places)?, &mut last);
                exchanges.into_iter().map(Event::Exchange).try_for_each(|event| record.add(event))?;
                verdict.map(Event::Verdict).into_iter().try_for_each(|event| record.add(event))?;
            }
            self.after.into_iter().try_for_each(|event| record.add(event))
        };
        write().map_err(wrong)?;
        record.finish(self.folder)?;
        self.claimed.end().map_err(wrong)
    }
}

/// A record whose cases come in the order of their ids: nothing of it waits.
pub(crate) struct InOrder<'a> {
    folder: &'a Path,
    claimed: RunFolder,
    writing: Writing,
    broken: Option<io::Error>,
}

impl<'a> InOrder<'a> {
    /// Begins the record of a folder, if the command may write there.
    pub(crate) fn create(folder: &'a Path, reads: &[&Path]) -> Result<Self, Failure> {
        let claimed = claim(folder, reads)?;
        let writing = Writing::create(&folder.join(outputs::RECORD));
        let writing = writing.map_err(|error| cannot_write(folder, &error))?;
        Ok(Self { folder, claimed, writing, broken: None })
    }

    /// Writes the next event. What cannot be written is told at the end.
    pub(crate) fn write(&mut self, event: &Event) {
        if self.broken.is_none()
            && let Err(error) = self.writing.add(event.clone())
        {
            self.broken = Some(error);
        }
    }

    /// Ends the record, and writes the reports beside it.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let wrong = |error: io::Error| cannot_write(self.folder, &error);
        self.broken.map_or(Ok(()), Err).map_err(wrong)?;
        self.writing.finish(self.folder)?;
        self.claimed.end().map_err(wrong)
    }
}

/// The record as it is written, and what it says of the run as a whole.
struct Writing {
    writer: RecordWriter<BufWriter<fs::File>>,
    live: Live<'static>,
}

impl Writing {
    fn create(path: &Path) -> io::Result<Self> {
        let writer = RecordWriter::new(BufWriter::with_capacity(1 << 16, fs::File::create(path)?));
        Ok(Self { writer, live: Live::new(vec![]) })
    }

    fn add(&mut self, event: Event) -> io::Result<()> {
        self.writer.write(&event)?;
        self.live.add(event);
        Ok(())
    }

    /// Ends the record, and writes the reports into the same folder.
    fn finish(self, folder: &Path) -> Result<(), Failure> {
        self.writer.finish().map_err(|error| cannot_write(folder, &error))?;
        let summary = self.live.finish().map_err(Failure::input)?;
        let errors: Vec<String> = stream::write(folder, &summary).iter().map(ToString::to_string).collect();
        if errors.is_empty() { Ok(()) } else { Err(Failure::input(errors.join("\n"))) }
    }
}

/// The events of a case: its exchanges in the order in which they were sent, and its verdict.
fn read(waiting: &mut fs::File, places: &[Range<u64>]) -> io::Result<(Vec<Exchange>, Option<CaseVerdict>)> {
    let (mut exchanges, mut verdict) = (Vec::new(), None);
    for place in places {
        let mut line = Vec::new();
        waiting.seek(SeekFrom::Start(place.start))?;
        (&*waiting).take(place.end - place.start).read_to_end(&mut line)?;
        match serde_json::from_slice(&line)? {
            Event::Exchange(exchange) => exchanges.push(exchange),
            Event::Verdict(one) => verdict = Some(one),
            _ => {}
        }
    }
    exchanges.sort_by_key(|exchange| exchange.number);
    Ok((exchanges, verdict))
}

/// Numbers the exchanges in the order of the record, after the last one. The verdict names its own by the new
/// number.
fn numbered(
    (mut exchanges, verdict): (Vec<Exchange>, Option<CaseVerdict>),
    last: &mut u64,
) -> (Vec<Exchange>, Option<CaseVerdict>) {
    let mut numbers = HashMap::new();
    for exchange in &mut exchanges {
        *last += 1;
        numbers.insert(std::mem::replace(&mut exchange.number, *last), *last);
    }
    let verdict = verdict.map(|verdict| {
        let exchange = verdict.exchange.and_then(|old| numbers.get(&old).copied());
        CaseVerdict { exchange, ..verdict }
    });
    (exchanges, verdict)
}
