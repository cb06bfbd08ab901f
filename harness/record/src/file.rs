//! Reading and writing `record.jsonl`.

use std::{
    io::{BufRead, Write},
    ops::Range,
};

use crate::event::{Event, RunStarted};

/// Writes events, one JSON line each, and flushes after every verdict so that a killed run leaves a readable record.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// A writer onto `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Appends one event.
    pub fn write(&mut self, event: &Event) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")?;
        match event {
            Event::Verdict(_) | Event::RunStarted(_) | Event::Resumed(_) | Event::RunFinished(_) => {
                self.out.flush()
            }
            Event::Profile(_)
            | Event::Clause(_)
            | Event::Source(_)
            | Event::Exchange(_)
            | Event::AnswerChecks(_)
            | Event::Changes(_) => Ok(()),
        }
    }

    /// The output.
    pub(crate) fn get_ref(&self) -> &W {
        &self.out
    }

    /// Writes what a buffer holds.
    pub(crate) fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }

    /// The output, as it is.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    /// The output, flushed.
    pub fn finish(mut self) -> std::io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

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

/// Reads a whole record. A last line without its line end is the mark of a killed run and is left out.
pub fn read(input: impl BufRead) -> Result<Vec<Event>, ReadError> {
    let mut events = Vec::new();
    each(input, |event, _| {
        events.push(event);
        Ok::<_, ReadError>(())
    })?;
    Ok(events)
}

/// Tells the events of a record, and where in the file each of them stands, in bytes without the line end. A last line without its line
/// end is the mark of a killed run and is left out.
pub(crate) fn each<E: From<ReadError>>(
    mut input: impl BufRead,
    mut tell: impl FnMut(Event, Range<u64>) -> Result<(), E>,
) -> Result<(), E> {
    let mut line = String::new();
    let (mut number, mut start) = (0, 0);
    loop {
        line.clear();
        let length = input.read_line(&mut line).map_err(ReadError::Io)?;
        if length == 0 {
            break;
        }
        number += 1;
        let event = match serde_json::from_str::<Event>(&line) {
            Ok(event) => event,
            Err(_) if !line.ends_with('\n') => break,
            Err(source) => return Err(ReadError::Line { line: number, source }.into()),
        };
        match &event {
            Event::RunStarted(start)
                if number == 1 && !(RunStarted::OLDEST..=RunStarted::FORMAT).contains(&start.format) =>
            {
                return Err(ReadError::Format { found: start.format }.into());
            }
            Event::RunStarted(_) => {}
            _ if number == 1 => return Err(ReadError::NoStart.into()),
            Event::Verdict(verdict) => {
                if let Some(what) = verdict.contradiction() {
                    return Err(ReadError::Contradiction { line: number, what }.into());
                }
            }
            _ => {}
        }
        tell(event, start..start + line.trim_end_matches('\n').len() as u64)?;
        start += length as u64;
    }
    if start == 0 { Err(ReadError::NoStart.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(format: u32) -> Event {
        Event::RunStarted(RunStarted { format, ..RunStarted::default() })
    }

    fn written(events: &[Event]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for event in events {
            writer.write(event).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let source =
            Event::Source(crate::CaseSource { file: "cases/a.yaml".into(), text: "a: \"ø\"\n".into() });
        let events = vec![start(RunStarted::FORMAT), source];
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
        ] {
            assert_eq!(
                (verdict(word, finding).is_ok(), verdict(word, "").is_ok()),
                (with, without),
                "{word}"
            );
        }
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
}
