//! An input of which each part is bounded: a text of an archive may be as long as the file.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

use xs2aspec_record::lines::{LONGEST, LONGEST_WORDS};

/// How many bytes may still be read before the next part begins.
#[derive(Debug, Clone)]
pub(super) struct Budget(Rc<Cell<u64>>);

impl Budget {
    /// As many as a line of a record has at most.
    pub(super) fn new() -> Self {
        Self(Rc::new(Cell::new(LONGEST)))
    }

    /// Begins the next part.
    pub(super) fn renew(&self) {
        self.0.set(LONGEST);
    }

    /// Returns true if a part was longer.
    pub(super) fn is_used_up(&self) -> bool {
        self.0.get() == 0
    }

    /// Bounds what is read.
    pub(super) fn of<R>(&self, inner: R) -> Within<R> {
        Within { inner, budget: self.clone() }
    }
}

/// An input within a budget.
#[derive(Debug)]
pub(super) struct Within<R> {
    inner: R,
    budget: Budget,
}

impl<R: Read> Read for Within<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_used_up() {
            return Err(io::Error::other(format!("it is longer than {LONGEST_WORDS}")));
        }
        let read = self.inner.read(into)?;
        self.budget.0.set(self.budget.0.get().saturating_sub(read as u64));
        Ok(read)
    }
}
