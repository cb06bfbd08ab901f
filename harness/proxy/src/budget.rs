//! Limits the bytes kept in memory. All connections share one budget, so memory stays bounded for any number
//! of connections.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Number of bytes that are kept of a body that exceeds its limit.
pub const MOST_OF_A_CUT: usize = 16 * 1024;

/// The number of bytes that may still be kept.
#[derive(Debug, Clone)]
pub struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// Returns a budget of this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Returns the number of bytes left.
    #[cfg(test)]
    pub(crate) fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Bytes that are kept while this exists. If there are too many, only the first ones are kept.
#[derive(Debug)]
pub struct Kept {
    bytes: Vec<u8>,
    most: usize,
    budget: Budget,
    is_cut: bool,
}

impl Kept {
    /// Returns an empty buffer for at most this many bytes.
    pub(crate) fn new(most: usize, budget: &Budget) -> Self {
        Self { bytes: Vec::new(), most, budget: budget.clone(), is_cut: false }
    }

    /// Adds bytes if there is room for them. Otherwise keeps only the first bytes of all.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.is_cut {
            return;
        }
        if self.bytes.len() + bytes.len() <= self.most && self.budget.take(bytes.len()) {
            self.bytes.extend_from_slice(bytes);
            return;
        }
        self.is_cut = true;
        self.budget.give_back(self.bytes.len().saturating_sub(MOST_OF_A_CUT));
        self.bytes.truncate(MOST_OF_A_CUT);
        self.bytes.shrink_to_fit();
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns true if bytes were dropped.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_given_back() {
        let budget = Budget::new(100_000);
        let mut one = Kept::new(80_000, &budget);
        one.add(&vec![1; 60_000]);
        assert_eq!((one.bytes().len(), one.is_cut(), budget.left()), (60_000, false, 40_000));
        // Beyond its own limit, it keeps only the first bytes.
        one.add(&vec![2; 30_000]);
        assert_eq!(
            (one.bytes().len(), one.is_cut(), budget.left()),
            (MOST_OF_A_CUT, true, 100_000 - MOST_OF_A_CUT)
        );
        one.add(&[3]);
        assert_eq!(one.bytes(), [1; MOST_OF_A_CUT]);
        // The same happens if others have used up the budget.
        let mut others = Kept::new(90_000, &budget);
        others.add(&vec![4; 80_000]);
        let mut late = Kept::new(80_000, &budget);
        late.add(&[5; 10_000]);
        assert!(late.is_cut() && late.bytes().is_empty());
        drop((one, others, late));
        assert_eq!(budget.left(), 100_000);
    }
}
