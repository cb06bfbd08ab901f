//! Writing a record: once, in its order, with its hash chain growing as it goes.

use std::io::{self, Write};

use crate::{
    chain::HashChain,
    event::{Event, RunFinished},
};

/// Writes events, one JSON line each, and flushes after every verdict so that a killed run leaves a readable
/// record. The last line carries the link of the hash chain up to it.
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    out: W,
    line: Vec<u8>,
    chain: HashChain,
}

impl<W: Write> RecordWriter<W> {
    /// A writer onto `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self { out, line: Vec::new(), chain: HashChain::default() }
    }

    /// Appends one event.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        if let Event::RunFinished(finished) = event {
            let finished = Event::RunFinished(RunFinished { chain: None, ..finished.clone() });
            serde_json::to_writer(&mut self.line, &finished)?;
            self.chain.seal(&mut self.line);
        } else {
            serde_json::to_writer(&mut self.line, event)?;
        }
        self.line.push(b'\n');
        self.chain.add(&self.line);
        self.out.write_all(&self.line)?;
        match event {
            Event::Verdict(_) | Event::RunStarted(_) | Event::Resumed(_) | Event::RunFinished(_) => {
                self.out.flush()
            }
            Event::Profile(_)
            | Event::Document(_)
            | Event::Clause(_)
            | Event::Source(_)
            | Event::Exchange(_)
            | Event::OrderOfTime(_)
            | Event::AnswerChecks(_)
            | Event::Changes(_) => Ok(()),
        }
    }

    /// The output, flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
