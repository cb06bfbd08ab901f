//! Reports of a record that exceeds memory. It is read once for its summary, and once for its cases.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use xs2aspec_record::{
    CaseEvents, Entry, ReadError, RecordReader,
    outputs::{self, Output},
};

pub use crate::error::ReportsError;
use crate::{
    format::{Report, har},
    reporter::Reporter,
    summary::{RunSummary, SummaryBuilder},
};

/// Reads the summary of a record.
pub fn summary(record: RecordReader<'_>) -> Result<RunSummary, ReportsError> {
    let mut builder = SummaryBuilder::default();
    for entry in record {
        builder.add(&entry?)?;
    }
    Ok(builder.finish()?)
}

/// Renders one report of a record with this summary.
pub fn draw(
    record: RecordReader<'_>,
    summary: &RunSummary,
    reporter: &mut dyn Reporter,
    out: &mut dyn Write,
) -> Result<(), ReportsError> {
    reporter.begin(summary, out).map_err(ReportsError::Draw)?;
    for entry in record {
        if let Entry::Case(case) = entry? {
            reporter.show(summary, &case, out).map_err(ReportsError::Draw)?;
        }
    }
    reporter.finish(summary, out).map_err(ReportsError::Draw)
}

/// Renders one of the reports that belong next to a record with this summary. Data needed at the end is
/// stored in `folder`, or else in memory.
pub fn report(
    record: RecordReader<'_>,
    summary: &RunSummary,
    (report, folder): (Report, Option<&Path>),
    out: &mut dyn Write,
) -> Result<(), ReportsError> {
    match report.reporter(folder) {
        Some(mut reporter) => draw(record, summary, reporter.as_mut(), out),
        None => har::write(record.events(), summary, out),
    }
}

/// Shows the cases of a record to reporters that write only at the end.
pub fn show(
    record: RecordReader<'_>,
    summary: &RunSummary,
    reporters: &mut [&mut dyn Reporter],
) -> Result<(), ReportsError> {
    for entry in record {
        if let Entry::Case(case) = entry? {
            show_case(summary, &case, reporters);
        }
    }
    Ok(())
}

pub(crate) fn show_case(summary: &RunSummary, case: &CaseEvents, reporters: &mut [&mut dyn Reporter]) {
    for reporter in reporters {
        // The reporter writes nothing here.
        drop(reporter.show(summary, case, &mut io::sink()));
    }
}

/// Writes these reports of the record in `folder` next to it, and shows its cases to the reporters in
/// `beside`, which write only at the end. If one report cannot be written, the others still are. Removes the
/// other reports of an earlier run in this folder.
pub fn write(
    folder: &Path,
    summary: &RunSummary,
    reports: &[Report],
    beside: &mut [&mut dyn Reporter],
) -> Vec<ReportsError> {
    let open = || RecordReader::open(&folder.join(outputs::RECORD)).map_err(ReadError::Io);
    let record = match open() {
        Ok(record) => record,
        Err(error) => return vec![error.into()],
    };
    let (written, others): (Vec<_>, Vec<_>) =
        Report::ALL.into_iter().partition(|report| reports.contains(report));
    let mut errors: Vec<_> =
        others.into_iter().filter_map(|report| remove(folder.join(report.file())).err()).collect();
    let mut files: Vec<_> =
        written.iter().filter_map(|report| ReportFile::create(*report, folder, summary)).collect();
    for entry in record {
        match entry {
            Ok(Entry::Case(case)) => {
                for file in &mut files {
                    file.step(|reporter, out| reporter.show(summary, &case, out));
                }
                show_case(summary, &case, beside);
            }
            Ok(Entry::Run(_)) => {}
            Err(error) => {
                errors.push(error.into());
                return errors;
            }
        }
    }
    errors.extend(files.into_iter().filter_map(|file| file.finish(summary).err()));
    if written.contains(&Report::Har) {
        let path = folder.join(Report::Har.file());
        let archived = open().map_err(Into::into).and_then(|record| write_archive(&path, record, summary));
        errors.extend(archived.err());
    }
    errors
}

/// Removes a file that may be missing. Devices stay.
fn remove(path: PathBuf) -> Result<(), ReportsError> {
    if !fs::symlink_metadata(&path).is_ok_and(|file| file.is_file()) {
        return Ok(());
    }
    fs::remove_file(&path).map_err(|error| ReportsError::Write { path, error })
}

fn write_archive(path: &Path, record: RecordReader<'_>, summary: &RunSummary) -> Result<(), ReportsError> {
    let unwritable = |error| ReportsError::Write { path: path.to_owned(), error };
    let mut out = Output::in_folder(path).map_err(unwritable)?;
    har::write(record.events(), summary, &mut out).map_err(|error| match error {
        ReportsError::Draw(error) => unwritable(error),
        other => other,
    })?;
    out.finish().map_err(unwritable)
}

/// A report that is being written.
struct ReportFile {
    path: PathBuf,
    reporter: Box<dyn Reporter>,
    /// The output, or the error that ended it.
    out: io::Result<Output>,
}

impl ReportFile {
    fn create(report: Report, folder: &Path, summary: &RunSummary) -> Option<Self> {
        let (path, reporter) = (folder.join(report.file()), report.reporter(Some(folder))?);
        let out = Output::in_folder(&path);
        let mut file = Self { path, reporter, out };
        file.step(|reporter, out| reporter.begin(summary, out));
        Some(file)
    }

    fn step(&mut self, step: impl FnOnce(&mut dyn Reporter, &mut dyn Write) -> io::Result<()>) {
        if let Ok(out) = &mut self.out
            && let Err(error) = step(self.reporter.as_mut(), out)
        {
            self.out = Err(error);
        }
    }

    fn finish(mut self, summary: &RunSummary) -> Result<(), ReportsError> {
        self.step(|reporter, out| reporter.finish(summary, out));
        let Self { path, out, .. } = self;
        out.and_then(Output::finish).map_err(|error| ReportsError::Write { path, error })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use xs2aspec_record::{Event, RecordWriter, Role};

    use super::*;
    use crate::{Run, sample};

    fn kept(folder: &Path, events: &[Event]) -> PathBuf {
        let path = folder.join(outputs::RECORD);
        let mut writer = RecordWriter::new(File::create(&path).unwrap());
        for event in events {
            writer.write(event).unwrap();
        }
        path
    }

    fn read(path: &Path) -> Result<RunSummary, ReportsError> {
        summary(RecordReader::open(path).unwrap())
    }

    #[test]
    fn the_files_are_those_of_a_record_in_memory() {
        for events in [sample::mixed(), sample::hostile()] {
            let folder = tempfile::TempDir::new().unwrap();
            let path = kept(folder.path(), &events);
            let summary = read(&path).unwrap();
            assert!(write(folder.path(), &summary, &Report::ALL, &mut []).is_empty());
            let run = Run::of(&events).unwrap();
            assert_eq!(summary.conclusion(), run.summary().conclusion());
            for one in Report::ALL {
                let file = std::fs::read(folder.path().join(one.file())).unwrap();
                let mut drawn = Vec::new();
                report(RecordReader::open(&path).unwrap(), &summary, (one, None), &mut drawn).unwrap();
                assert!(drawn == file, "{one:?}");
                if let Some(mut reporter) = one.reporter(None) {
                    assert!(run.draw(reporter.as_mut()) == file, "{one:?}");
                    continue;
                }
                let read: serde_json::Value = serde_json::from_slice(&file).unwrap();
                let sent = events.iter().filter(|event| matches!(event, Event::Exchange(_))).count();
                assert_eq!(read["log"]["entries"].as_array().map(Vec::len), Some(sent));
            }
            let names = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(names, Report::ALL.len() + 1, "nothing else is left");
            // Reports of an earlier run would contradict the record.
            assert!(write(folder.path(), &summary, &Report::USUAL, &mut []).is_empty());
            for one in Report::ALL {
                assert_eq!(folder.path().join(one.file()).exists(), Report::USUAL.contains(&one), "{one:?}");
            }
        }
    }

    #[test]
    fn what_is_no_run_has_no_summary() {
        let folder = tempfile::TempDir::new().unwrap();
        let events = sample::mixed();
        let mut more = events.clone();
        more.insert(events.len() - 1, events[1].clone());
        let mut lost = events;
        lost.retain(|event| !matches!(event, Event::Verdict(verdict) if verdict.role == Role::Selected));
        for events in [more, lost] {
            let error = read(&kept(folder.path(), &events)).unwrap_err();
            assert_eq!(error.to_string(), Run::of(&events).unwrap_err().to_string());
        }
    }
}
