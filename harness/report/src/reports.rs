//! A record that is longer than memory, and every report of it, written as its events are told.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use xs2aspec_record::{
    Event, Exchange, ReadError, Role, Spool, Writer,
    outputs::{self, Output},
};

use crate::{
    format::{Report, har::Archive},
    reporter::{CaseReport, Reporter},
    summary::{RunError, RunSummary},
};

/// Why the files of a run are not whole.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// A file or the folder.
    #[error("{}: cannot be written: {error}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A record that cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// A record that could be read once, and not a second time.
    #[error("cannot read the record: {0}")]
    Read(#[source] io::Error),
    /// What is drawn cannot be written.
    #[error("cannot be written: {0}")]
    Draw(#[source] io::Error),
    /// The events are no run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ReportsError {
    fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Write { path, error }
    }
}

/// Shows the events of a record as they are told, in the order of a record that is kept. The exchanges of one case are in memory at a
/// time.
#[derive(Debug)]
struct Teller {
    summary: Result<Option<RunSummary>, RunError>,
    exchanges: Vec<Exchange>,
    /// The case whose verdict was told last.
    case: String,
}

impl Default for Teller {
    fn default() -> Self {
        Self { summary: Ok(None), exchanges: Vec::new(), case: String::new() }
    }
}

impl Teller {
    /// Tells the next event, and shows a selected case, or a control that is a violation, when its verdict is told. After an event that does not belong there nothing more is
    /// shown, and [`Self::finish`] says why.
    fn tell(&mut self, event: Event, mut show: impl FnMut(&RunSummary, &CaseReport<'_>)) {
        let Ok(summary) = &mut self.summary else { return };
        let Some(summary) = summary else {
            self.summary = RunSummary::begin(Some(&event)).map(Some);
            return;
        };
        let told = summary.add(&event).and_then(|()| match event {
            Event::Exchange(exchange) => {
                self.exchanges.retain(|other| other.case == exchange.case);
                self.exchanges.push(exchange);
                Ok(())
            }
            Event::Verdict(verdict) if verdict.case == self.case => {
                Err(RunError::Twice { what: "verdict of", id: verdict.case })
            }
            Event::Verdict(verdict) => {
                summary.count(&verdict)?;
                let exchanges =
                    self.exchanges.iter().filter(|exchange| exchange.case == verdict.case).collect();
                let told = CaseReport { verdict: &verdict, exchanges };
                if verdict.role == Role::Selected || verdict.is_broken_control() {
                    show(summary, &told);
                }
                self.exchanges.clear();
                self.case = verdict.case;
                Ok(())
            }
            _ => Ok(()),
        });
        if let Err(error) = told {
            self.summary = Err(error);
        }
    }

    /// What was told of the run as a whole.
    fn finish(self) -> Result<RunSummary, RunError> {
        let summary = self.summary?.ok_or(RunError::NoStart { found: "no event" })?;
        summary.check()?;
        Ok(summary)
    }
}

/// The record of an earlier run, to be told in order.
pub fn open(path: &Path) -> Result<Spool, ReportsError> {
    let mut summary = None;
    Spool::open(path, |event| match &mut summary {
        None => {
            summary = Some(RunSummary::begin(Some(event))?);
            Ok(())
        }
        Some(summary) => Ok(summary.add(event)?),
    })
}

/// Draws one report of a record.
pub fn draw(record: Spool, reporter: &mut dyn Reporter, out: &mut dyn Write) -> Result<(), ReportsError> {
    let mut teller = Teller::default();
    let told = record.settle(|event| {
        teller.tell(event, |summary, told| reporter.show(summary, told));
        Ok(())
    });
    told.map_err(ReportsError::Read)?;
    reporter.finish(&teller.finish()?, out).map_err(ReportsError::Draw)
}

/// Draws the archive of the exchanges of a record.
pub fn archive(record: Spool, out: impl Write) -> Result<(), ReportsError> {
    let mut archive = Archive::new(out);
    let told = record.settle(|event| archive.tell(&event));
    told.and_then(|()| archive.finish().map(drop)).map_err(ReportsError::Draw)
}

/// What of the files of a run could not be written; everything else was.
#[derive(Debug)]
pub struct Unwritten {
    /// Whether the record is among it.
    pub is_record_lost: bool,
    /// Why, for each file.
    pub errors: Vec<ReportsError>,
}

impl std::error::Error for Unwritten {}

impl std::fmt::Display for Unwritten {
    /// A line for each file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<String> = self.errors.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Writes the events that are told in the order of a record that is kept as the record of this folder, in place of what stands there,
/// and every report; shows them these reporters too. What was told of the run is there even where it cannot be written, and whatever can
/// be written is.
pub fn write(
    folder: &Path,
    more: &mut [&mut dyn Reporter],
    tell: impl FnOnce(&mut dyn FnMut(Event)) -> io::Result<()>,
) -> (Result<RunSummary, RunError>, Result<(), Unwritten>) {
    let (part, whole) = (folder.join(outputs::PART), folder.join(outputs::RECORD));
    let har = folder.join(Report::Har.file());
    let mut reports: Vec<(PathBuf, Box<dyn Reporter>)> = Report::ALL
        .into_iter()
        .filter_map(|report| Some((folder.join(report.file()), report.reporter(Some(folder))?)))
        .collect();
    let mut teller = Teller::default();
    // These grow with every exchange.
    let mut record = File::create(&part)
        .map(|file| Writer::new(BufWriter::with_capacity(1 << 16, file)))
        .map_err(ReportsError::write(&part));
    let mut archive = Output::create(&har).map(Archive::new).map_err(ReportsError::write(&har));
    let told = tell(&mut |event| {
        go_on(&mut record, |record| record.write(&event).map_err(ReportsError::write(&part)));
        go_on(&mut archive, |archive| archive.tell(&event).map_err(ReportsError::write(&har)));
        teller.tell(event, |summary, told| {
            for (_, reporter) in &mut reports {
                reporter.show(summary, told);
            }
            for reporter in more.iter_mut() {
                reporter.show(summary, told);
            }
        });
    });
    let summary = teller.finish();
    let mut errors = Vec::new();
    let is_whole = told.map_err(ReportsError::write(&whole)).and(record).and_then(|record| {
        record.finish().map_err(ReportsError::write(&part))?;
        std::fs::rename(&part, &whole).map_err(ReportsError::write(&whole))
    });
    let is_record_lost = is_whole.is_err();
    errors.extend(is_whole.err());
    let archived = archive.and_then(|archive| {
        let written = archive.finish().and_then(Output::finish);
        written.map_err(ReportsError::write(&har))
    });
    errors.extend(archived.err());
    match &summary {
        Err(error) => errors.push(error.clone().into()),
        Ok(summary) => errors.extend(reports.iter_mut().filter_map(|(path, reporter)| {
            let wrote = Output::create(path).and_then(|mut out| {
                reporter.finish(summary, &mut out)?;
                out.finish()
            });
            wrote.map_err(ReportsError::write(path)).err()
        })),
    }
    (summary, if errors.is_empty() { Ok(()) } else { Err(Unwritten { is_record_lost, errors }) })
}

/// The next step of a file that is written, unless one before has failed.
fn go_on<T>(file: &mut Result<T, ReportsError>, step: impl FnOnce(&mut T) -> Result<(), ReportsError>) {
    if let Ok(open) = file
        && let Err(error) = step(open)
    {
        *file = Err(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, sample};

    #[test]
    fn the_files_are_those_of_a_record_in_memory() {
        for events in [sample::mixed(), sample::hostile()] {
            let events = xs2aspec_record::settled(events);
            let folder = tempfile::TempDir::new().unwrap();
            let (summary, written) = write(folder.path(), &mut [], |tell| {
                events.iter().cloned().for_each(tell);
                Ok(())
            });
            written.unwrap();
            let run = Run::of(&events).unwrap();
            assert_eq!(summary.unwrap().conclusion(), run.summary().conclusion());
            let file = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
            assert_eq!(xs2aspec_record::read(file("record.jsonl").as_slice()).unwrap(), events);
            for report in Report::ALL {
                assert!(file(report.file()) == report.draw(&run, &events), "{report:?}");
            }
            let names = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(names, Report::ALL.len() + 1, "nothing else is left");
        }
    }

    #[test]
    fn a_record_is_drawn_as_from_memory_and_one_that_is_none_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("record.jsonl");
        let kept = |events: &[Event]| {
            let mut writer = Writer::new(File::create(&path).unwrap());
            for event in events {
                writer.write(event).unwrap();
            }
            open(&path)
        };
        let events = xs2aspec_record::settled(sample::mixed());
        let run = Run::of(&events).unwrap();
        for report in Report::ALL {
            let mut drawn = Vec::new();
            match report.reporter(Some(folder.path())) {
                Some(mut reporter) => draw(kept(&events).unwrap(), reporter.as_mut(), &mut drawn).unwrap(),
                None => archive(kept(&events).unwrap(), &mut drawn).unwrap(),
            }
            assert!(drawn == report.draw(&run, &events), "{report:?}");
        }
        let mut more = events.clone();
        more.push(events[1].clone());
        let (wrong, wanted) = (kept(&more).unwrap_err(), Run::of(&more).unwrap_err());
        assert_eq!(wrong.to_string(), wanted.to_string());
        let mut lost = events.clone();
        lost.retain(|event| !matches!(event, Event::Verdict(verdict) if verdict.role == Role::Selected));
        let wrong =
            draw(kept(&lost).unwrap(), &mut crate::format::terminal::Terminal::default(), &mut io::sink());
        assert_eq!(wrong.unwrap_err().to_string(), Run::of(&lost).unwrap_err().to_string());
    }

    #[test]
    fn what_is_no_run_is_report_and_nothing_is_taken_for_whole() {
        let events = xs2aspec_record::settled(sample::mixed());
        let at = events.iter().position(|event| matches!(event, Event::Verdict(_))).unwrap();
        let told = |events: &[Event]| {
            let mut teller = Teller::default();
            events.iter().cloned().for_each(|event| teller.tell(event, |_, _| {}));
            teller.finish().map(drop)
        };
        assert_eq!(told(&events), Ok(()));
        assert_eq!(told(&[]), Run::of(&[]).map(drop));
        let mut lost = events.clone();
        lost.remove(at);
        assert_eq!(told(&lost), Run::of(&lost).map(drop));
        let mut twice = events.clone();
        twice.insert(at, twice[at].clone());
        assert_eq!(told(&twice), Run::of(&twice).map(drop));
        assert!(told(&lost).is_err() && told(&twice).is_err());
    }
}
