//! Writes a record. Events are appended as they happen, and extend the hash chain.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use crate::{
    chain::HashChain,
    compressed,
    event::{Event, RunFinished},
    lines::{NextLine, read_line},
    outputs::folder_of,
};

/// Size of the write buffer, in bytes.
const BUFFER: usize = 1 << 16;

/// Writes events, one JSON line each. Requests, responses and verdicts are handed to the operating system
/// before [`Self::write`] returns, so they survive the process. The last line contains the link of the hash
/// chain.
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    out: W,
    line: Vec<u8>,
    chain: HashChain,
}

impl RecordWriter<BufWriter<File>> {
    /// Starts the record in this file and discards the previous one, plain or compressed.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        compressed::remove(folder_of(path))?;
        Ok(Self::new(BufWriter::with_capacity(BUFFER, file)))
    }

    /// Continues the record in this file. Removes a last line that was cut when the run was killed. Unpacks
    /// a compressed record first.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or written, or has a line that is longer than any line of a run.
    pub fn go_on(path: &Path) -> io::Result<Self> {
        compressed::unpack_record(folder_of(path))?;
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
    /// Returns a writer to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self { out, line: Vec::new(), chain: HashChain::default() }
    }

    /// Appends one event.
    ///
    /// # Errors
    ///
    /// Fails if the output cannot be written.
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
            // Further events follow immediately.
            Event::Profile(_) | Event::Document(_) | Event::Clause(_) | Event::Source(_) => Ok(()),
            _ => self.out.flush(),
        }
    }

    /// Flushes and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
