//! Finds the cases of an unfinished run that may have created resources at the target. Their requests may
//! have been sent, and they have no verdict.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufReader, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use serde::Deserialize;

use crate::{
    event::Event,
    exchange::Sending,
    reader,
    verdict::{CaseVerdict, Verdict},
};

/// Cases that may have created a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doubt {
    cases: BTreeSet<String>,
    /// Cases with a verdict. Later requests for them are only reruns.
    concluded: BTreeSet<String>,
}

impl Doubt {
    /// Adds the next event of a record, in order of time.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Sending(Sending { case, method, .. })
                if method != "GET" && !self.concluded.contains(case) =>
            {
                self.cases.insert(case.clone());
            }
            Event::Verdict(CaseVerdict { case, verdict, unconfirmed, .. })
                if *verdict != Verdict::Error && !unconfirmed =>
            {
                self.cases.remove(case);
                self.concluded.insert(case.clone());
            }
            Event::Resumed(resumed) => self.cases.extend(resumed.in_doubt.iter().cloned()),
            _ => {}
        }
    }

    /// Returns the cases in doubt.
    pub fn cases(&self) -> &BTreeSet<String> {
        &self.cases
    }
}

/// Returns the number of cases in doubt in the run with this record. Returns 0 if the run is finished.
pub fn in_doubt(record: &Path) -> usize {
    // A device contains no run and may be endless.
    if !record.is_file() || has_ended(record).unwrap_or(false) {
        return 0;
    }
    let mut doubt = Doubt::default();
    let Ok(file) = File::open(record) else { return 0 };
    // Reads as far as the record is valid.
    reader::events(BufReader::new(file)).map_while(Result::ok).for_each(|event| doubt.add(&event));
    doubt.cases().len()
}

/// Number of bytes at the end of a record that contain its last line, if that is the end of a run.
const LAST: u64 = 1 << 20;

/// Returns true if the last line of a record says that the run is finished.
fn has_ended(record: &Path) -> io::Result<bool> {
    #[derive(Deserialize)]
    struct Last {
        event: String,
        #[serde(default)]
        stopped_early: bool,
    }
    let mut file = File::open(record)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let line = end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let last = serde_json::from_slice::<Last>(line);
    Ok(last.is_ok_and(|last| last.event == "run-finished" && !last.stopped_early))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Resumed, RunFinished, RunStarted, outputs::RECORD, verdict::sample, writer::RecordWriter};

    fn sending(case: &str, method: &str) -> Event {
        let (case, method) = (case.to_owned(), method.to_owned());
        Event::Sending(Sending { number: 1, case, step: "request".to_owned(), method })
    }

    fn verdict(case: &str, verdict: Verdict) -> Event {
        Event::Verdict(CaseVerdict { case: case.to_owned(), ..sample("a", verdict) })
    }

    fn end(stopped_early: bool) -> Event {
        Event::RunFinished(RunFinished { stopped_early, ..RunFinished::default() })
    }

    #[test]
    fn what_may_have_made_something_and_has_no_verdict_is_in_doubt() {
        let resumed = Event::Resumed(Resumed { now: String::new(), kept: 0, in_doubt: vec!["c".into()] });
        for (events, expected) in [
            (vec![], vec![]),
            (vec![sending("a", "GET")], vec![]),
            (vec![sending("a", "POST"), sending("b", "DELETE")], vec!["a", "b"]),
            (vec![sending("a", "POST"), verdict("a", Verdict::Pass), sending("b", "POST")], vec!["b"]),
            (vec![sending("a", "POST"), verdict("a", Verdict::Error)], vec!["a"]),
            (vec![verdict("a", Verdict::Pass), sending("a", "POST")], vec![]),
            (vec![resumed, verdict("a", Verdict::Pass)], vec!["c"]),
            (vec![sending("a", "POST"), end(true)], vec!["a"]),
            (vec![sending("a", "POST"), end(false)], vec![]),
        ] {
            let folder = tempfile::TempDir::new().unwrap();
            let path = folder.path().join(RECORD);
            let mut writer = RecordWriter::create(&path).unwrap();
            let start = Event::RunStarted(RunStarted { format: RunStarted::FORMAT, ..RunStarted::default() });
            let mut doubt = Doubt::default();
            for event in [start].iter().chain(&events) {
                writer.write(event).unwrap();
                doubt.add(event);
            }
            assert_eq!(in_doubt(&path), expected.len(), "{events:?}");
            if events.last() != Some(&end(false)) {
                assert!(doubt.cases().iter().eq(expected.iter()), "{events:?}");
            }
        }
    }

    #[test]
    fn what_is_no_record_leaves_no_doubt() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(RECORD);
        assert_eq!(in_doubt(&path), 0);
        std::fs::write(&path, "{\"event\":\"run-started\",\"format\":99}\n").unwrap();
        assert_eq!(in_doubt(&path), 0);
    }
}
