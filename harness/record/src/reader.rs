//! Reading a record.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use crate::{
    case_events::{Entry, Grouping, OutOfOrder},
    chain::HashChain,
    event::{Event, RunStarted},
};

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file ends or breaks.
    #[error("cannot read the record: {0}")]
    Io(#[from] std::io::Error),
    /// A line that is no event; the last line of a killed run may be cut, any other is a defect.
    #[error("line {line} of the record is no event: {source}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A verdict that its own findings speak against: no run writes one, so the record was edited.
    #[error("line {line} of the record contradicts itself: {what}, so that it was edited")]
    Contradiction {
        /// Line, from 1.
        line: usize,
        /// What speaks against what.
        what: String,
    },
    /// Cases in another order than that of a record.
    #[error("line {line} of the record: {source}: no run writes that, so that it was edited or cut")]
    Order {
        /// Line, from 1.
        line: usize,
        /// What is out of order.
        source: OutOfOrder,
    },
    /// A format from another time.
    #[error(
        "the record has format {found}, this version reads formats {} to {}",
        RunStarted::OLDEST,
        RunStarted::FORMAT
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// The first line is not `run-started`.
    #[error("the record does not begin with `run-started`")]
    NoStart,
}

/// A record, entry by entry: one case is in memory at a time. A last line without its line end is the mark of
/// a killed run and is left out.
#[derive(Debug)]
pub struct RecordReader<R> {
    input: R,
    line: Vec<u8>,
    /// Lines so far.
    number: usize,
    is_over: bool,
    grouping: Grouping,
    /// The hash chain, where it is looked at.
    chain: Option<HashChain>,
    is_changed: bool,
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
            chain: None,
            is_changed: false,
        }
    }

    /// Follows the hash chain as well.
    #[must_use]
    pub fn with_chain(self) -> Self {
        Self { chain: Some(HashChain::default()), ..self }
    }

    /// Whether lines that were read [with their chain](Self::with_chain) are not those that the run had
    /// written, as its last line says.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// The events one by one, in whatever order they stand.
    pub fn events(mut self) -> impl Iterator<Item = Result<Event, ReadError>> {
        std::iter::from_fn(move || self.event().transpose())
    }

    /// The next event.
    fn event(&mut self) -> Result<Option<Event>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        self.line.clear();
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            self.is_over = true;
            return if self.number == 0 { Err(ReadError::NoStart) } else { Ok(None) };
        }
        self.number += 1;
        let line = self.number;
        let event = match serde_json::from_slice::<Event>(&self.line) {
            Ok(event) => event,
            Err(_) if !self.line.ends_with(b"\n") => {
                self.is_over = true;
                return if line == 1 { Err(ReadError::NoStart) } else { Ok(None) };
            }
            Err(source) => return Err(ReadError::Line { line, source }),
        };
        match &event {
            Event::RunStarted(start)
                if line == 1 && !(RunStarted::OLDEST..=RunStarted::FORMAT).contains(&start.format) =>
            {
                return Err(ReadError::Format { found: start.format });
            }
            Event::RunStarted(_) => {}
            _ if line == 1 => return Err(ReadError::NoStart),
            Event::Verdict(verdict) => {
                if let Some(what) = verdict.contradiction() {
                    return Err(ReadError::Contradiction { line, what });
                }
            }
            Event::RunFinished(finished) => {
                let links = finished.chain.as_deref().zip(self.chain.as_ref());
                self.is_changed = links.is_some_and(|(link, chain)| link != chain.link());
            }
            _ => {}
        }
        if let Some(chain) = &mut self.chain {
            chain.add(&self.line);
        }
        Ok(Some(event))
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
mod tests {
    use super::*;
    use crate::RecordWriter;

    fn start(format: u32) -> Event {
        Event::RunStarted(RunStarted { format, ..RunStarted::default() })
    }

    fn written(events: &[Event]) -> Vec<u8> {
        let mut writer = RecordWriter::new(Vec::new());
        for event in events {
            writer.write(event).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let source =
            Event::Source(crate::CaseSource { file: "cases/a.yaml".into(), text: "a: \"ø\"\n".into() });
        let document = crate::DocumentText {
            text: "# One\n".into(),
            readings: vec![crate::Reading { row: 12, text: "so".into() }],
            columns: [("basket".to_owned(), "B".to_owned())].into(),
        };
        let events = vec![start(RunStarted::FORMAT), Event::Document(document), source];
        assert_eq!(read(written(&events).as_slice()).unwrap(), events);
    }

    #[test]
    fn a_cut_last_line_is_left_out_and_a_broken_line_is_an_error() {
        let mut bytes = written(&[start(RunStarted::FORMAT)]);
        bytes.extend_from_slice(b"{\"event\":\"ver");
        assert_eq!(read(bytes.as_slice()).unwrap().len(), 1);
        bytes.extend_from_slice(b"\n");
        assert!(matches!(read(bytes.as_slice()), Err(ReadError::Line { line: 2, .. })));
    }

    #[test]
    fn a_verdict_that_its_findings_speak_against_is_an_edit() {
        let verdict = |word: &str, findings: &str| {
            let line = format!(
                r#"{{"event":"verdict","case":"a/b","clause":"a","area":"b","operation":"c","role":"selected","place":{{"file":"d","line":1,"column":1}},"verdict":"{word}","expected":"accepted","checks":1,"findings":[{findings}],"micros":1}}"#
            );
            let mut bytes = written(&[start(RunStarted::FORMAT)]);
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            read(bytes.as_slice()).map(drop).map_err(|error| error.to_string())
        };
        let finding = r#"{"clause":"a","expected":"a refusal","actual":"201","at":"status"}"#;
        for (word, with, without) in [
            ("pass", false, true),
            ("observed", false, true),
            ("inconclusive", false, true),
            ("not-applicable", false, true),
            ("error", false, true),
            ("fail", true, false),
            ("waived", true, false),
            ("warn", false, false),
        ] {
            assert_eq!(
                (verdict(word, finding).is_ok(), verdict(word, "").is_ok()),
                (with, without),
                "{word}"
            );
        }
        let warned = finding.replace('}', r#","level":"warn"}"#);
        assert!(verdict("warn", &warned).is_ok() && verdict("waived", &warned).is_ok());
        let said = verdict("fail", &warned).unwrap_err();
        assert!(said.contains("the verdict of `a/b` is `fail` beside findings of a `warn`"), "{said}");
        let said = verdict("pass", finding).unwrap_err();
        assert_eq!(
            said,
            "line 2 of the record contradicts itself: the verdict of `a/b` is `pass` beside 1 finding, so that it was edited"
        );
        assert!(
            verdict("fail", "").unwrap_err().contains("the verdict of `a/b` is `fail` without a finding")
        );
    }

    #[test]
    fn another_format_and_a_missing_start_are_refused() {
        assert!(matches!(read(written(&[start(9)]).as_slice()), Err(ReadError::Format { found: 9 })));
        assert!(matches!(read(b"".as_slice()), Err(ReadError::NoStart)));
    }

    #[test]
    fn a_line_that_was_changed_or_cut_out_is_seen_at_the_end() {
        let source =
            |text: &str| Event::Source(crate::CaseSource { file: "cases/a.yaml".into(), text: text.into() });
        let finished = Event::RunFinished(crate::RunFinished::default());
        let bytes = written(&[start(RunStarted::FORMAT), source("one"), source("two"), finished]);
        let text = String::from_utf8(bytes).unwrap();
        let is_changed = |text: &str| {
            let mut reader = RecordReader::new(text.as_bytes()).with_chain();
            assert!(reader.by_ref().all(|entry| entry.is_ok()));
            reader.is_changed()
        };
        assert!(!is_changed(&text));
        assert!(is_changed(&text.replace("one", "two")));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert!(is_changed(&[lines[0], lines[2], lines[3]].concat()), "a line was cut out");
        assert!(is_changed(&[lines[0], lines[2], lines[1], lines[3]].concat()), "two lines changed places");
        // A record of before has no chain.
        let (before, link) = lines[3].split_once(",\"chain\":").unwrap();
        assert!(link.len() > 64);
        assert!(!is_changed(&[lines[0], lines[2], before, "}\n"].concat()));
    }
}
