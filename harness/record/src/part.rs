//! The record of a run that goes on. It is written beside the record of its earlier part, whose cases it
//! takes over one after the other, and takes its place at the end. A run that is killed before leaves both.

use std::{fs, io, path::Path};

use crate::{
    case_events::Entry,
    event::Event,
    outputs::{Output, PART, RECORD},
    read_error::ReadError,
    reader::RecordReader,
    writer::RecordWriter,
};

/// Makes one record again of those that such a run left in this folder: what it had come to, and the later
/// cases of the part before it. Nothing is done where no run left two.
pub fn restore(folder: &Path) -> Result<(), ReadError> {
    let (part, whole) = (folder.join(PART), folder.join(RECORD));
    if !part.exists() {
        return Ok(());
    }
    if went_on(&part, &whole)? {
        let mut writer = RecordWriter::new(Output::create(&whole)?);
        let mut last = String::new();
        // It ends in the middle of a line or a case.
        for entry in RecordReader::open(&part)?.map_while(Result::ok) {
            match entry {
                Entry::Run(
                    Event::OrderOfTime(_)
                    | Event::AnswerChecks(_)
                    | Event::Changes(_)
                    | Event::RunFinished(_),
                ) => {}
                Entry::Run(event) => writer.write(&event)?,
                Entry::Case(case) if case.verdict.is_none() => break,
                Entry::Case(case) => {
                    last.clone_from(&case.case);
                    case.into_events().try_for_each(|event| writer.write(&event))?;
                }
            }
        }
        for entry in RecordReader::open(&whole)? {
            if let Entry::Case(case) = entry?
                && case.case > last
            {
                case.into_events().try_for_each(|event| writer.write(&event))?;
            }
        }
        writer.finish()?.finish()?;
    }
    Ok(remove(folder)?)
}

/// Removes what such a run left: another run begins in this folder.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(PART)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a part goes on with a record, and has come to its cases.
fn went_on(part: &Path, whole: &Path) -> Result<bool, ReadError> {
    let mut part = RecordReader::open(part)?.map_while(Result::ok);
    let first = RecordReader::open(whole)?.next().transpose()?;
    Ok(part.next() == first && part.any(|entry| matches!(entry, Entry::Run(Event::Resumed(_)))))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::{CaseVerdict, Resumed, RunStarted, Verdict, verdict::sample};

    fn verdict(case: &str, micros: u64) -> Event {
        let verdict = sample("a", Verdict::Pass);
        Event::Verdict(CaseVerdict { case: case.to_owned(), micros, ..verdict })
    }

    fn start(seed: u64) -> Event {
        Event::RunStarted(RunStarted { format: RunStarted::FORMAT, seed, ..RunStarted::default() })
    }

    fn restored(whole: &[Event], part: &[Event]) -> Vec<Event> {
        let folder = tempfile::TempDir::new().unwrap();
        for (name, events) in [(RECORD, whole), (PART, part)] {
            let mut writer = RecordWriter::new(File::create(folder.path().join(name)).unwrap());
            for event in events {
                writer.write(event).unwrap();
            }
        }
        restore(folder.path()).unwrap();
        restore(folder.path()).unwrap();
        assert!(!folder.path().join(PART).exists());
        let record = RecordReader::open(&folder.path().join(RECORD)).unwrap();
        record.events().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_run_that_went_on_and_was_killed_has_one_record_again() {
        let resumed = Event::Resumed(Resumed { now: String::new(), kept: 2, in_doubt: vec!["b".into()] });
        let whole = [start(1), verdict("a", 1), verdict("c", 1), verdict("d", 1)];
        let part = [start(1), resumed.clone(), verdict("a", 2), verdict("b", 2), verdict("c", 2)];
        let both = [&part[..], &whole[3..]].concat();
        assert_eq!(restored(&whole, &part), both);
        // It had not come to its first case.
        assert_eq!(restored(&whole, &part[..2]), [&part[..2], &whole[1..]].concat());
        // It had not come so far, or is of another run.
        assert_eq!(restored(&whole, &part[..1]), whole);
        assert_eq!(restored(&whole, &[start(2), resumed, verdict("a", 2)]), whole);
    }
}
