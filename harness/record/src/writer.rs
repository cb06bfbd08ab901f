//! Writing a record: events are appended when they happen, and the hash chain grows with them.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use crate::{
    chain::HashChain,
    event::{Event, RunFinished},
    lines::{NextLine, read_line},
};

/// Bytes of events that are written at once, where several come at once.
const BUFFER: usize = 1 << 16;

/// Writes events, one JSON line each. What was sent, what came back and what was concluded is with the system
/// when [`Self::write`] returns, and outlives the process. The last line carries the link of the hash chain
/// up to it.
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    out: W,
    line: Vec<u8>,
    chain: HashChain,
}

impl RecordWriter<BufWriter<File>> {
    /// Begins the record in this file, in place of what it holds.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self::new(BufWriter::with_capacity(BUFFER, File::create(path)?)))
    }

    /// Goes on with the record in this file. A last line that was cut when the run was killed is removed.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written, or has a line that is longer than any that a run writes.
    pub fn go_on(path: &Path) -> io::Result<Self> {
        let mut file = File::options().read(true).write(true).open(path)?;
        let (mut input, mut line) = (BufReader::with_capacity(BUFFER, &file), Vec::new());
        let (mut chain, mut length) = (HashChain::default(), 0);
        loop {
            match read_line(&mut input, &mut line)? {
                NextLine::Line if line.ends_with(b"\n") => {
                    chain.add(&line);
                    length += line.len() as u64;
                }
                NextLine::Line | NextLine::End => break,
                NextLine::TooLong => return Err(io::ErrorKind::FileTooLarge.into()),
            }
        }
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { out: BufWriter::with_capacity(BUFFER, file), line, chain })
    }
}

impl<W: Write> RecordWriter<W> {
    /// A writer onto `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self { out, line: Vec::new(), chain: HashChain::default() }
    }

    /// Appends one event.
    ///
    /// # Errors
    ///
    /// The output takes no more.
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
            // Others follow at once.
            Event::Profile(_) | Event::Document(_) | Event::Clause(_) | Event::Source(_) => Ok(()),
            _ => self.out.flush(),
        }
    }

    /// The output, flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
