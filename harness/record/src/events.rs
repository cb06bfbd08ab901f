//! Reads the lines of a record one after the other and checks each against those before it.

use std::io::BufRead;

use crate::{
    chain::HashChain,
    event::{Event, RunStarted},
    lines::{NextLine, read_line},
    read_error::ReadError,
};

/// The start of the only line that may follow the end of a run.
const RESUMED: &[u8] = b"{\"event\":\"resumed\"";

/// Reads lines, and checks the start and end of the run and the hash chain. A last line without a line ending
/// is the mark of a killed run and is ignored.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// Lines read so far.
    number: usize,
    chain: HashChain,
    /// True for the record of a shard. That of another shard may follow.
    is_shard: bool,
    is_finished: bool,
    is_over: bool,
}

/// The role of a line in the record as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mark<'a> {
    /// The start of a run or of one of its shards, in this format.
    Started { format: u32, is_shard: bool },
    /// The run was resumed, possibly after its end.
    Resumed,
    /// The end, with its link of the hash chain.
    Finished(Option<&'a str>),
    /// Any other line.
    Other,
}

/// A line, parsed as far as needed.
pub(crate) trait Marked: Sized {
    /// Parses a line.
    fn parse(line: &[u8]) -> serde_json::Result<Self>;

    /// Returns the role of the line in the record.
    fn mark(&self) -> Mark<'_>;
}

impl Marked for Event {
    /// Parses the most frequent events by their first bytes. With a tag at an arbitrary position, serde must
    /// copy everything before it.
    fn parse(line: &[u8]) -> serde_json::Result<Self> {
        if line.starts_with(b"{\"event\":\"exchange\",") {
            serde_json::from_slice(line).map(Self::Exchange)
        } else if line.starts_with(b"{\"event\":\"verdict\",") {
            serde_json::from_slice(line).map(Self::Verdict)
        } else {
            serde_json::from_slice(line)
        }
    }

    fn mark(&self) -> Mark<'_> {
        match self {
            Self::RunStarted(RunStarted { format, shard, .. }) => {
                Mark::Started { format: *format, is_shard: shard.is_some() }
            }
            Self::Resumed(_) => Mark::Resumed,
            Self::RunFinished(finished) => Mark::Finished(finished.chain.as_deref()),
            _ => Mark::Other,
        }
    }
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            chain: HashChain::default(),
            is_shard: false,
            is_finished: false,
            is_over: false,
        }
    }

    /// Returns the number of the last line, from 1.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Returns the length of the last line in bytes, including its line ending.
    pub(crate) fn length(&self) -> usize {
        self.line.len()
    }

    /// Reads the next line.
    pub(crate) fn next<T: Marked>(&mut self) -> Result<Option<T>, ReadError> {
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
        if read == NextLine::TooLong {
            return Err(self.unless_finished(ReadError::Long { line }));
        }
        let parsed = match T::parse(&self.line) {
            Ok(parsed) => parsed,
            Err(_) if self.is_cut() => {
                self.is_over = true;
                return if line == 1 { Err(ReadError::NoStart) } else { Ok(None) };
            }
            Err(source) => return Err(self.unless_finished(ReadError::Line { line, source })),
        };
        self.check(&parsed.mark())?;
        self.chain.add(&self.line);
        Ok(Some(parsed))
    }

    /// Returns true if the run was killed while it wrote this line.
    fn is_cut(&self) -> bool {
        !self.line.ends_with(b"\n") && (!self.is_finished || self.line.starts_with(RESUMED))
    }

    /// Checks this line before it is added to the chain.
    fn check(&mut self, mark: &Mark<'_>) -> Result<(), ReadError> {
        let line = self.number;
        match mark {
            Mark::Started { format, is_shard }
                if line == 1 || self.is_finished && self.is_shard && *is_shard =>
            {
                (self.is_shard, self.is_finished) = (*is_shard, false);
                self.chain = HashChain::default();
                if *format != RunStarted::FORMAT {
                    return Err(ReadError::Format { found: *format });
                }
            }
            _ if line == 1 => return Err(ReadError::NoStart),
            Mark::Resumed => self.is_finished = false,
            _ if self.is_finished => return Err(ReadError::AfterEnd { line }),
            Mark::Started { .. } => return Err(ReadError::StartedTwice { line }),
            Mark::Finished(chain) => {
                self.is_finished = true;
                return match chain {
                    None => Err(ReadError::NoChain { line }),
                    Some(_) if self.chain.is_sealed(&self.line) => Ok(()),
                    Some(_) => Err(ReadError::Chain { line }),
                };
            }
            Mark::Other => {}
        }
        Ok(())
    }

    fn unless_finished(&self, error: ReadError) -> ReadError {
        if self.is_finished { ReadError::AfterEnd { line: self.number } } else { error }
    }
}

/// The events of a record in order of time.
#[derive(Debug)]
pub(crate) struct Events<R>(Lines<R>);

impl<R: BufRead> Events<R> {
    pub(crate) fn new(input: R) -> Self {
        Self(Lines::new(input))
    }

    fn event(&mut self) -> Result<Option<Event>, ReadError> {
        let event = self.0.next::<Event>()?;
        event.map(|event| sound(event, self.0.number())).transpose()
    }
}

/// Stops after the first error.
impl<R: BufRead> Iterator for Events<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.event();
        self.0.is_over |= event.is_err();
        event.transpose()
    }
}

/// Returns the event of this line, or an error if the event contradicts itself.
pub(crate) fn sound(event: Event, line: usize) -> Result<Event, ReadError> {
    match &event {
        Event::Verdict(verdict) => match verdict.contradiction() {
            Some(what) => Err(ReadError::Contradiction { line, what }),
            None => Ok(event),
        },
        _ => Ok(event),
    }
}
